/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A crowd of threads in containers.  They compute, sleep, yield, fork and are killed, and
 * are moved between CPUs, priorities and containers, all by a seed.  While the crowd rests,
 * all its threads sleep: the kernel has added up what they waited.
 */
#ifndef CMT_SUITE_CROWD_H
#define CMT_SUITE_CROWD_H

#include <stdint.h>

#include "control.h"

enum {
	CROWD_PLAIN,		/* and the next one: only moved between CPUs */
	CROWD_KILLED = 2,	/* its processes are made and killed */
	CROWD_MOVED = 3,	/* a process is now in this one, now in the next one */
	CROWD_GROUPS = 5,
};

struct crowd;

/* In the containers 0 to CROWD_GROUPS - 1, at rest. */
struct crowd *crowd_start(unsigned int seed);
void crowd_go(struct crowd *crowd);
/* One change by chance. */
void crowd_disturb(struct crowd *crowd);
void crowd_rest(struct crowd *crowd);
/*
 * At rest: what the tasks of a container have waited, those that were killed included, ns.
 * Of the last two containers together: CROWD_MOVED.
 */
uint64_t crowd_waited(const struct crowd *crowd, unsigned int group);
void crowd_stop(struct crowd *crowd);

#endif
