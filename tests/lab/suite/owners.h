/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs in containers that work in each millisecond, and sleep. */
#ifndef CMT_LAB_OWNERS_H
#define CMT_LAB_OWNERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmt/culprit.h>
#include <cmt/usage.h>

/*
 * The engine's id for processes outside of containers, which the module does not
 * measure one by one.
 */
#define OWNER_RMID_0	(CMT_CULPRIT_NO_CGROUP | CMT_USAGE_UNATTRIBUTED)

#define KIB	1024U
#define MIB	(1024U * KIB)

struct plan {
	const char *name;
	uint32_t bytes;		/* size of the owner's memory */
	uint32_t step;		/* bytes that the owner accesses in a millisecond */
	uint32_t work;		/* instructions beside each line, two or more; 0: none */
	bool random;		/* random page by page; else sequential */
	bool reads;		/* reads only */
	bool outside;		/* runs in no container */
	bool later;		/* does nothing until owner_go() */
};

/* Lives in memory that the owner and the test share. */
struct owner {
	struct plan plan;
	uint64_t random;	/* never 0 */
	uint32_t page;		/* the next page in sequential order */
	bool go, on;		/* requested: start, and work */
	pid_t pid;
	uint32_t space;		/* address space in the model */
	uint64_t steps;		/* number of steps so far */
	uint64_t id;		/* the engine's id: of the cgroup, or OWNER_RMID_0 */
};

/*
 * Start one owner of each plan, after model_begin().  An owner fills all its lines in
 * its container and with the name of its space.  Owners that work at once have accessed
 * all their memory on return.
 */
struct owner *owners_start(const struct plan *plans, unsigned int nr, uint64_t seed);
void owners_end(struct owner *owners, unsigned int nr);

void owner_go(struct owner *owner);
/* Until the next owner_go(); what it holds of the cache stays until others take it. */
void owner_rest(struct owner *owner);

/* Wait until the owner has made this number of steps. */
void owner_wait(const struct owner *owner, uint64_t steps);

/* Bytes in the cache, by the model. */
uint64_t owner_held(const struct owner *owner);

#endif
