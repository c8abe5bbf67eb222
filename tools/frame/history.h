/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last minute of the rows, a point a second.  Pure: no clock. */
#ifndef TOOLS_HISTORY_H
#define TOOLS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "caches.h"

#define TRAIL_POINTS 60
#define TRAIL_STEP_NS 1000000000ULL
#define HISTORY_ROWS 16384	/* rows beyond this number have no trail */

/* The identity of a row, from one interval to the next */
struct row_key {
	uint32_t kind;		/* enum cmt_usage_kind */
	uint32_t owner;		/* CMT_OWNER_* */
	uint64_t number;	/* PID, CPU, RMID, domain, channel, or the cgroup's id */
	uint32_t rmid, generation;	/* of a process, whose PID another one may have later */
	uint32_t path_len;	/* of a container's own cgroup; 0: number is the key */
	const char *path;
};

/* @path is the container's, and no longer valid than the row. */
void row_key_of(struct row_key *key, enum view by, const struct row *row);
int row_key_cmp(const struct row_key *a, const struct row_key *b);

/* As row_key_of(), with a copy of the path.  Returns 0 or -ENOMEM. */
int row_key_keep(struct row_key *key, const struct row_key *from);
void row_key_drop(struct row_key *key);

struct trail {
	struct row_key key;
	uint64_t newest;	/* second, of CLOCK_MONOTONIC */
	float points[TRAIL_POINTS];	/* bytes, by second modulo; NAN: not known */
};

/* The point @age seconds before @newest_ns, bytes; NAN: not known. */
double trail_at(const struct trail *trail, uint64_t newest_ns, unsigned int age);

/* The largest point that trail_at() has, bytes; 0: none. */
double trail_most(const struct trail *trail, uint64_t newest_ns);

struct history {
	struct trail **trails;	/* by key, ascending */
	uint32_t nr;
	uint32_t room;
};

/*
 * The most that rows and children held in the interval of @frame, into the seconds that
 * it covers; row.trail is set.  Where there is no memory, or are too many rows, some have
 * none.  Trails without a point in the last minute are freed.
 */
void history_add(struct history *history, const struct frame *frame);

/* The same of the caches of @frame, before history_add(); cache.trail is set. */
void history_add_caches(struct history *history, struct caches *caches,
			const struct frame *frame);

void history_clear(struct history *history);

#endif
