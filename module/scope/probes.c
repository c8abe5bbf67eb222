// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints.  They are looked up by name at run time, because the kernel
 * exports none of them.  A probe runs with preemption off; that of
 * sched_switch also with interrupts off and the run-queue lock held.
 *
 * sched_switch has its probe only while a switch can change the RMID of a CPU.  Where
 * all owners are CPUs no switch can, and sched_switch has no probe.
 */
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "owner/owner.h"
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
	{ .name = "sched_process_exit", .function = probe_exit },
	{ .name = "task_rename", .function = cmt_probe_rename },
	{ .name = "cgroup_attach_task", .function = cmt_probe_attach },
	{ .name = "cgroup_rmdir", .function = cmt_probe_rmdir },
	/* the only event of a cgroup whose mkdir fails at its end */
	{ .name = "cgroup_release", .function = cmt_probe_rmdir },
	{ .name = "cgroup_mkdir", .function = cmt_probe_mkdir },
	{ .name = "sched_process_fork", .function = cmt_probe_fork },
};

static size_t nr_registered;

static struct tracepoint *switch_tracepoint;
static DEFINE_MUTEX(switch_mutex);	/* inside the scope mutex */
static bool switch_ready;		/* between init() and exit() */
static bool switch_registered;

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	size_t i;

	if (!strcmp(tracepoint->name, "sched_switch"))
		switch_tracepoint = tracepoint;
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tracepoint->name, probes[i].name))
			probes[i].tracepoint = tracepoint;
}

/* A switch can change the RMID while there are owners that are no CPUs, or resctrl. */
static bool switch_wanted(void)
{
	u32 scope = cmt_scope();

	return switch_ready &&
	       (scope == CMT_SCOPE_PROCESS || scope == CMT_SCOPE_CONTAINER ||
		cmt_owners_joined() || cmt_owners_any(CMT_OWNER_PROCESS) ||
		cmt_owners_any(CMT_OWNER_CGROUP) || cmt_resctrl_mounted());
}

/* Returns 0, 1: the probe was added or removed, or -errno. */
static int switch_update(void)
{
	bool wanted = switch_wanted();
	int ret = 0;

	lockdep_assert_held(&switch_mutex);
	if (wanted == switch_registered)
		return 0;
	if (wanted)
		ret = tracepoint_probe_register(switch_tracepoint,
						cmt_probe_switch, NULL);
	else
		tracepoint_probe_unregister(switch_tracepoint,
					    cmt_probe_switch, NULL);
	if (ret)
		return ret;
	switch_registered = wanted;
	return 1;
}

void cmt_probes_update(void)
{
	int ret;

	mutex_lock(&switch_mutex);
	ret = switch_update();
	mutex_unlock(&switch_mutex);
	/* switches before the probe were missed, or none comes after it */
	if (ret > 0)
		cmt_cpus_refresh();
	else if (ret)
		pr_err_ratelimited("tracepoint sched_switch: error %d: RMIDs are loaded by ticks only\n",
				   ret);
}

static void switch_set_ready(bool ready)
{
	mutex_lock(&switch_mutex);
	switch_ready = ready;
	switch_update();
	mutex_unlock(&switch_mutex);
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
	if (!switch_tracepoint) {
		pr_err("tracepoint %s: error %d\n", "sched_switch", -ENOENT);
		cmt_probes_exit();
		return -ENOENT;
	}
	switch_set_ready(true);
	return 0;
}

void cmt_probes_exit(void)
{
	switch_set_ready(false);
	while (nr_registered) {
		struct probe *p = &probes[--nr_registered];

		tracepoint_probe_unregister(p->tracepoint, p->function, NULL);
	}
	tracepoint_synchronize_unregister();
}
