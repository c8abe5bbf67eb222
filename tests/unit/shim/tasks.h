/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ids for module/cpu/walk.c, and RCU.  The test has the functions. */
#ifndef SHIM_TASKS_H
#define SHIM_TASKS_H

#include <linux/types.h>

enum pid_type { PIDTYPE_PID, PIDTYPE_TGID, SHIM_PID_TYPES };

struct task_struct;

struct pid {
	int nr;
	struct task_struct *tasks[SHIM_PID_TYPES];
};

struct pid_namespace {
	int unused;
};

extern struct pid_namespace init_pid_ns;

struct pid *find_ge_pid(int nr, struct pid_namespace *ns);
struct task_struct *pid_task(struct pid *pid, enum pid_type type);
int pid_nr(struct pid *pid);
void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);
void cond_resched(void);

#endif
