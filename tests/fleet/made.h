/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine that is made up: its records, the same ones at every run. */
#ifndef TEST_MADE_H
#define TEST_MADE_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#define MADE_RMIDS	512U
#define MADE_CPUS	4U
#define MADE_CGROUP	9000U	/* and its RMID: the id of a container's cgroup */
#define MADE_L3		(64ULL << 20)
#define MADE_UNIT	65536U
#define MADE_DEVICES	(16 * MADE_UNIT)	/* bytes a ms */

struct made {
	uint32_t containers;	/* docker:web, docker:batch, then docker:c3, ... */
	uint64_t ms;		/* how long */
	uint32_t seed;		/* another machine */
	bool hostile;		/* names, values and losses as nobody wants them */
	bool later;		/* another boot, where batch holds more and c4 is gone */
	bool idle;		/* most containers do not run most of the time */
	bool processes;		/* c3 and what follows are two processes each */
	bool clock;		/* the recorder sees it set back an hour */
	bool timeless;		/* the recorder does not know it */
	bool uncounted;		/* there are no counters of the processor, which were asked for */
	bool unaccounted;	/* nor is waiting, because the kernel cannot */
	uint32_t coarse;	/* 1, 2: it is sampled every 10 ms in that half, 3: in both */
	uint32_t waits;		/* ns of each ms that web waits for its CPU; 0: hardly any */
	bool story;		/* batch slows down web, of containers with names: story.h */
	bool rounded;		/* the recorder rounds counts */
	bool beside;		/* an agent's RMID counts all of web, and a part of batch */
	/* Two containers each: a cgroup of that name in a user's slice, and one of docker,
	 * whose name and image it is; a process of that name in both.  NULL: none of it.
	 */
	const char *const *names;
	uint32_t domains;	/* of L3, each with as much as another one; later: and one unit more */
	uint32_t channels;	/* of memory: what RMIDs move, and MADE_DEVICES beside */
	/* Take a record, or a name.  0, or what stops made_run(). */
	int (*record)(void *ctx, const struct cmt_record *record);
	int (*name)(void *ctx, const struct cmt_container *container);
	/* Once a second; NULL: not called. */
	int (*second)(void *ctx, uint64_t ts);
	void *ctx;
};

/* CLOCK_MONOTONIC of the first record, and CLOCK_REALTIME then. */
/* Intervals of 1, 64, 256, 1,000 and 1,024 ms begin then. */
#define MADE_BEGIN_NS	(1024 * 1000000000ULL)
#define MADE_REAL_NS	(1780272000ULL * 1000000000ULL)	/* 2026-06-01T00:00:00Z */

/* ms between its samples */
uint32_t made_sampling_ms(const struct made *made, uint64_t ms);

int made_run(const struct made *made);

#endif
