// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints.  They are looked up by name at run time, because the kernel
 * exports none of them.  Linux 7 calls a probe with preemption as in the traced code, older
 * kernels with preemption off.  The probe of sched_switch has interrupts off, and the
 * run-queue lock is held.
 *
 * sched_switch has its probe only while a switch can change the RMID of a CPU, or waiting
 * is accounted.  Where all owners are CPUs no switch changes an RMID.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "owner/owner.h"
#include "scope.h"

/* Until the next attempt, where the probe of sched_switch could not be added */
#define RETRY_MS	1000

static void update_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(update_work, update_fn);

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

/* While waiting is accounted */
static struct probe wait_probes[] = {
	{ .name = "sched_wakeup", .function = cmt_probe_wakeup },
	{ .name = "sched_wakeup_new", .function = cmt_probe_wakeup_new },
};

typedef void (switch_probe_t)(void *data, bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state);

static struct tracepoint *switch_tracepoint;
static DEFINE_MUTEX(switch_mutex);	/* inside the scope mutex */
static bool switch_ready;		/* between init() and exit() */
static bool switch_waits;		/* it accounts waiting */
static switch_probe_t *switch_registered;	/* NULL: none */

static void probes_match(struct probe *table, size_t n, struct tracepoint *tracepoint)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(tracepoint->name, table[i].name))
			table[i].tracepoint = tracepoint;
}

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		switch_tracepoint = tracepoint;
	probes_match(probes, ARRAY_SIZE(probes), tracepoint);
	probes_match(wait_probes, ARRAY_SIZE(wait_probes), tracepoint);
}

/* A switch can change the RMID while there are owners that are no CPUs, or resctrl. */
static bool switch_changes_rmid(void)
{
	u32 scope = cmt_scope();

	return scope == CMT_SCOPE_PROCESS || scope == CMT_SCOPE_CONTAINER ||
	       cmt_owners_joined() || cmt_owners_any(CMT_OWNER_PROCESS) ||
	       cmt_owners_any(CMT_OWNER_CGROUP) || cmt_resctrl_mounted();
}

static switch_probe_t *switch_wanted(void)
{
	if (!switch_ready)
		return NULL;
	if (switch_waits)
		return cmt_probe_switch_waits;
	return switch_changes_rmid() ? cmt_probe_switch : NULL;
}

/*
 * Returns 0, 1: the probe was added, removed or replaced, or -errno.  Both probes may see a
 * switch: the second one finds the RMID loaded.
 */
static int switch_update(void)
{
	switch_probe_t *wanted = switch_wanted();
	int ret = 0;

	lockdep_assert_held(&switch_mutex);
	if (wanted == switch_registered)
		return 0;
	if (wanted)
		ret = tracepoint_probe_register(switch_tracepoint, wanted, NULL);
	/* the accounts that the other probe uses may be freed after this */
	if (ret && switch_registered != cmt_probe_switch_waits)
		return ret;
	if (switch_registered)
		tracepoint_probe_unregister(switch_tracepoint,
					    switch_registered, NULL);
	WRITE_ONCE(switch_registered, ret ? NULL : wanted);
	return ret ?: 1;
}

int cmt_probes_update(void)
{
	bool lacks;
	int ret;

	mutex_lock(&switch_mutex);
	ret = switch_update();
	lacks = ret < 0 && !switch_registered && switch_changes_rmid();
	mutex_unlock(&switch_mutex);
	/* not after the exit, which adds no probe */
	if (ret < 0)
		queue_delayed_work(system_dfl_wq, &update_work,
				   msecs_to_jiffies(RETRY_MS));
	/* switches before the probe were missed, or none comes after it */
	if (ret > 0)
		cmt_cpus_refresh();
	if (lacks)
		pr_err_ratelimited("tracepoint sched_switch: error %d: RMIDs are loaded by ticks only\n",
				   ret);
	return min(ret, 0);
}

static void update_fn(struct work_struct *work)
{
	cmt_probes_update();
}

void cmt_probes_owner_ended(void)
{
	if (READ_ONCE(switch_registered) == cmt_probe_switch &&
	    !switch_changes_rmid())
		queue_delayed_work(system_dfl_wq, &update_work, 0);
}

int cmt_probes_account_waits(bool waits)
{
	mutex_lock(&switch_mutex);
	switch_waits = waits;
	mutex_unlock(&switch_mutex);
	return cmt_probes_update();
}

static void switch_set_ready(bool ready)
{
	mutex_lock(&switch_mutex);
	switch_ready = ready;
	switch_update();
	mutex_unlock(&switch_mutex);
}

/* When this returns, none of these probes runs. */
static void probes_remove(const struct probe *table, size_t n)
{
	while (n--)
		tracepoint_probe_unregister(table[n].tracepoint, table[n].function,
					    NULL);
	tracepoint_synchronize_unregister();
}

static int probes_add(const struct probe *table, size_t n)
{
	size_t i;
	int ret;

	for (i = 0; i < n; i++) {
		const struct probe *p = &table[i];

		ret = p->tracepoint ? tracepoint_probe_register(p->tracepoint,
								p->function,
								NULL) : -ENOENT;
		if (ret) {
			pr_err("tracepoint %s: error %d\n", p->name, ret);
			probes_remove(table, i);
			return ret;
		}
	}
	return 0;
}

int cmt_probes_add_wakeup(void)
{
	return probes_add(wait_probes, ARRAY_SIZE(wait_probes));
}

void cmt_probes_remove_wakeup(void)
{
	probes_remove(wait_probes, ARRAY_SIZE(wait_probes));
}

int cmt_probes_init(void)
{
	int ret;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!switch_tracepoint) {
		pr_err("tracepoint %s: error %d\n", "sched_switch", -ENOENT);
		return -ENOENT;
	}
	ret = probes_add(probes, ARRAY_SIZE(probes));
	if (!ret)
		switch_set_ready(true);
	return ret;
}

void cmt_probes_exit(void)
{
	switch_set_ready(false);
	probes_remove(probes, ARRAY_SIZE(probes));
	cancel_delayed_work_sync(&update_work);
}
