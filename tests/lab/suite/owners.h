/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs in containers which work in each millisecond, and sleep. */
#ifndef CMT_LAB_OWNERS_H
#define CMT_LAB_OWNERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmt/culprit.h>
#include <cmt/usage.h>

/* What the engine calls what is in no container, and what the module does not measure. */
#define OWNER_RMID_0	(CMT_CULPRIT_NO_CGROUP | CMT_USAGE_UNATTRIBUTED)

#define KIB	1024U
#define MIB	(1024U * KIB)

struct plan {
	const char *name;
	uint32_t bytes;		/* of its memory, */
	uint32_t step;		/* and that it goes through in a millisecond; pages */
	bool random;		/* page by page; else in order */
	bool reads;		/* and writes nothing */
	bool outside;		/* in no container */
	bool later;		/* does nothing until owner_go() */
};

/* Lives in memory that the owner and the test share. */
struct owner {
	struct plan plan;
	uint64_t random;	/* never 0 */
	uint32_t page;		/* the next one in order */
	bool go, on;		/* what it is told: begin to be, and to work */
	pid_t pid;
	uint32_t space;		/* in the model */
	uint64_t steps;		/* it made */
	uint64_t id;		/* as the engine has it: of its cgroup, or OWNER_RMID_0 */
};

/*
 * One of each plan, after model_begin().  All that an owner has in the cache it fills in
 * its container and under its space's name.  Those who work at once have gone through
 * their memory when this returns.
 */
struct owner *owners_start(const struct plan *plans, unsigned int nr, uint64_t seed);
void owners_end(struct owner *owners, unsigned int nr);

void owner_go(struct owner *owner);

/* Until it made so many steps. */
void owner_wait(const struct owner *owner, uint64_t steps);

/* Bytes in the cache, by the model. */
uint64_t owner_held(const struct owner *owner);

#endif
