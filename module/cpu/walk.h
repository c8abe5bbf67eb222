/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A walk over all processes or threads.  Users choose how many there are, so other tasks get
 * the CPU in between.
 */
#ifndef CMT_WALK_H
#define CMT_WALK_H

#include <linux/pid.h>

struct task_struct;

/* Ids that are looked at without a pause */
#define CMT_WALK_CHUNK	64

/*
 * Call @see for the leader of each process, PIDTYPE_TGID, or for each thread, PIDTYPE_PID,
 * that is there from the begin to the end, in the order of ids.  @see is called under RCU.
 * Process context; the caller may hold mutexes.
 */
void cmt_walk_tasks(enum pid_type type, void (*see)(struct task_struct *task));

#endif
