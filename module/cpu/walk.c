// SPDX-License-Identifier: GPL-2.0
/* A task may be gone after a pause, so a walk goes on from an id. */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "walk.h"

/* Returns the id to go on from; 0: there are no more. */
static int walk_chunk(int id, enum pid_type type,
		      void (*see)(struct task_struct *task))
{
	struct task_struct *task;
	struct pid *pid = NULL;
	u32 n;

	rcu_read_lock();
	for (n = 0; n < CMT_WALK_CHUNK; n++) {
		pid = find_ge_pid(id, &init_pid_ns);
		if (!pid)
			break;
		task = pid_task(pid, type);
		if (task)
			see(task);
		id = pid_nr(pid) + 1;
	}
	rcu_read_unlock();
	return pid ? id : 0;
}

void cmt_walk_tasks(enum pid_type type, void (*see)(struct task_struct *task))
{
	int id = 1;

	while ((id = walk_chunk(id, type, see)))
		cond_resched();
}
