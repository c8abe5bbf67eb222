// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints.  They are looked up by name at run time, because the kernel
 * exports none of them.  A probe runs with preemption off; that of
 * sched_switch also with interrupts off and the run-queue lock held.
 */
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "cmt.h"
#include "compat.h"
#include "scope.h"

static void probe_exit(CMT_EXIT_PROBE_ARGS)
{
	cmt_scope_exit(task);
}

static struct probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
} probes[] = {
	{ .name = "sched_switch", .function = cmt_probe_switch },
	{ .name = "sched_process_exit", .function = probe_exit },
	{ .name = "task_rename", .function = cmt_probe_rename },
	{ .name = "cgroup_attach_task", .function = cmt_probe_attach },
	{ .name = "cgroup_rmdir", .function = cmt_probe_rmdir },
	/* of one whose mkdir fails in the end, there is no other sign */
	{ .name = "cgroup_release", .function = cmt_probe_rmdir },
	{ .name = "cgroup_mkdir", .function = cmt_probe_mkdir },
	{ .name = "sched_process_fork", .function = cmt_probe_fork },
};

static size_t nr_registered;

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tracepoint->name, probes[i].name))
			probes[i].tracepoint = tracepoint;
}

int cmt_probes_init(void)
{
	int ret;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (; nr_registered < ARRAY_SIZE(probes); nr_registered++) {
		struct probe *p = &probes[nr_registered];

		ret = p->tracepoint ? tracepoint_probe_register(p->tracepoint,
								p->function,
								NULL) : -ENOENT;
		if (ret) {
			pr_err("tracepoint %s: error %d\n", p->name, ret);
			cmt_probes_exit();
			return ret;
		}
	}
	return 0;
}

void cmt_probes_exit(void)
{
	while (nr_registered) {
		struct probe *p = &probes[--nr_registered];

		tracepoint_probe_unregister(p->tracepoint, p->function, NULL);
	}
	tracepoint_synchronize_unregister();
}
