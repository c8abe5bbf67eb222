// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints.  They are looked up by name at run time, because the kernel
 * exports none of them.  A probe runs with preemption off; that of
 * sched_switch also with interrupts off and the run-queue lock held.
 */
#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "cmt.h"
#include "compat.h"

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	cmt_cpu_switch(prev, next);
}

static void probe_fork(void *data, struct task_struct *parent,
		       struct task_struct *child)
{
	cmt_scope_fork(parent, child);
}

static void probe_exit(CMT_EXIT_PROBE_ARGS)
{
	cmt_scope_exit(task);
}

/* exec renames the process too, after it has made its thread the leader. */
static void probe_rename(void *data, struct task_struct *task, const char *comm)
{
	cmt_scope_rename(task, comm);
}

static void probe_attach(void *data, struct cgroup *cgroup, const char *path,
			 struct task_struct *task, bool threadgroup)
{
	if (cgroup->root == &cgrp_dfl_root)
		cmt_scope_move(task, cgroup_id(cgroup));
}

/*
 * They are called with interrupts off, except on PREEMPT_RT, and with a lock held
 * under which kernfs makes paths: those must not be asked for.
 */
static void probe_mkdir(void *data, struct cgroup *cgroup, const char *path)
{
	if (cgroup->root == &cgrp_dfl_root)
		cmt_container_mkdir(cgroup);
}

static void probe_rmdir(void *data, struct cgroup *cgroup, const char *path)
{
	if (cgroup->root == &cgrp_dfl_root)
		cmt_container_rmdir(cgroup);
}

static struct probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
	bool registered;
} probes[] = {
	{ .name = "sched_switch", .function = probe_switch },
	{ .name = "sched_process_exit", .function = probe_exit },
	{ .name = "task_rename", .function = probe_rename },
	{ .name = "cgroup_attach_task", .function = probe_attach },
	{ .name = "cgroup_rmdir", .function = probe_rmdir },
	/* of one whose mkdir fails in the end, there is no other sign */
	{ .name = "cgroup_release", .function = probe_rmdir },
	{ .name = "cgroup_mkdir", .function = probe_mkdir },
	{ .name = "sched_process_fork", .function = probe_fork },
};

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tracepoint->name, probes[i].name))
			probes[i].tracepoint = tracepoint;
}

int cmt_probes_init(void)
{
	size_t i;
	int ret;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		struct probe *p = &probes[i];

		ret = p->tracepoint ? tracepoint_probe_register(p->tracepoint,
								p->function,
								NULL) : -ENOENT;
		if (ret) {
			pr_err("tracepoint %s: error %d\n", p->name, ret);
			cmt_probes_exit();
			return ret;
		}
		p->registered = true;
	}
	return 0;
}

/* When this returns, no probe runs. */
void cmt_probes_exit(void)
{
	size_t i = ARRAY_SIZE(probes);

	while (i--) {
		struct probe *p = &probes[i];

		if (!p->registered)
			continue;
		tracepoint_probe_unregister(p->tracepoint, p->function, NULL);
		p->registered = false;
	}
	tracepoint_synchronize_unregister();
}
