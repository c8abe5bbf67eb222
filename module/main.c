// SPDX-License-Identifier: GPL-2.0
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cpu/cpu.h"
#include "cqm/cqm.h"
#include "dev/dev.h"
#include "hotplug.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "ring/ring.h"
#include "sample/sample.h"
#include "scope/scope.h"
#include "uncore/uncore.h"
#include "version.h"

static char *backend = "auto";
module_param(backend, charp, 0444);
MODULE_PARM_DESC(backend, "auto (default): hw, or else software; hw; software: no occupancy and no bandwidth; or emulated: a model, nothing is measured");

static unsigned int interval_us = 1000;
module_param(interval_us, uint, 0444);
MODULE_PARM_DESC(interval_us, "sampling interval at load, microseconds, 100 to 1000000 (default 1000)");

static unsigned int ring_records;
module_param(ring_records, uint, 0444);
MODULE_PARM_DESC(ring_records, "records in each CPU's ring, a power of two, 256 to 65536 (default 0: a quarter of a second's)");

static char *scope = "container";
module_param(scope, charp, 0444);
MODULE_PARM_DESC(scope, "what an owner is at load: container (default), process, cpu or manual");

static char *containers;
module_param(containers, charp, 0444);
MODULE_PARM_DESC(containers, "patterns of the cgroups that are containers, instead of those built in");

static char *resctrl = "respect";
module_param(resctrl, charp, 0444);
MODULE_PARM_DESC(resctrl, "whose RMID a task of a resctrl group, on a CPU of one, or on a CPU to which another program wrote an RMID, runs with: respect (default): theirs, or take: cmt's");

static char *counters = "last";
module_param(counters, charp, 0444);
MODULE_PARM_DESC(counters, "whose events get the processor's counters where there are too few: last (default): those of other programs, or first: cmt's");

static const char *const backends[] = { "auto", "hw", "software", "emulated" };

static const char *const resctrl_modes[] = {
	[0] = "",
	[CMT_RESCTRL_RESPECT] = "respect",
	[CMT_RESCTRL_TAKE] = "take",
};

static const char *const scopes[] = {
	[0] = "",
	[CMT_SCOPE_PROCESS] = "process",
	[CMT_SCOPE_CONTAINER] = "container",
	[CMT_SCOPE_CPU] = "cpu",
	[CMT_SCOPE_MANUAL] = "manual",
};

static const char *const counters_sides[] = { "last", "first" };

/* The values of resctrl=, scope= and counters=, set by check_params(). */
static int resctrl_mode, scope_at_load, counters_first;

/* Read containers= into a new set, which the caller owns. */
static int __init make_patterns(struct cmt_pattern_set **set)
{
	const char *text = containers ?: cmt_pattern_defaults;
	u32 bad_at = CMT_PATTERNS_MAX;
	int ret;

	*set = kvmalloc(sizeof(**set), GFP_KERNEL);
	if (!*set)
		return -ENOMEM;
	ret = cmt_pattern_parse(*set, text, strlen(text), &bad_at);
	if (!ret)
		return 0;
	pr_err("containers=%s: byte %u is wrong\n", text, bad_at);
	kvfree(*set);
	return -EINVAL;
}

static int __init check_params(void)
{
	if (interval_us < CMT_INTERVAL_MIN_NS / 1000 ||
	    interval_us > CMT_INTERVAL_MAX_NS / 1000) {
		pr_err("interval_us=%u is out of range: 100 to 1000000\n",
		       interval_us);
		return -EINVAL;
	}
	if (ring_records && (!is_power_of_2(ring_records) ||
			     ring_records < CMT_RING_RECORDS_MIN ||
			     ring_records > CMT_RING_RECORDS_MAX)) {
		pr_err("ring_records=%u must be 0 or a power of two, %d to %d\n",
		       ring_records, CMT_RING_RECORDS_MIN,
		       CMT_RING_RECORDS_MAX);
		return -EINVAL;
	}
	if (match_string(backends, ARRAY_SIZE(backends), backend) < 0) {
		pr_err("backend=%s must be auto, hw, software or emulated\n",
		       backend);
		return -EINVAL;
	}
	resctrl_mode = match_string(resctrl_modes, ARRAY_SIZE(resctrl_modes),
				    resctrl);
	if (resctrl_mode <= 0) {
		pr_err("resctrl=%s must be respect or take\n", resctrl);
		return -EINVAL;
	}
	scope_at_load = match_string(scopes, ARRAY_SIZE(scopes), scope);
	if (scope_at_load <= 0) {
		pr_err("scope=%s must be container, process, cpu or manual\n",
		       scope);
		return -EINVAL;
	}
	counters_first = match_string(counters_sides, ARRAY_SIZE(counters_sides),
				      counters);
	if (counters_first < 0) {
		pr_err("counters=%s must be last or first\n", counters);
		return -EINVAL;
	}
	return 0;
}

static int __init backend_init(void)
{
	return cmt_backend_init(backend);
}

static void backend_exit(void)
{
	cmt_backend->exit();
}

static int __init sampler_init(void)
{
	return cmt_sampler_init(interval_us * 1000);
}

static int __init rings_init(void)
{
	return cmt_rings_init(ring_records, interval_us * 1000);
}

static int __init containers_init(void)
{
	struct cmt_pattern_set *patterns;
	int ret = make_patterns(&patterns);

	if (ret)
		return ret;
	mutex_lock(&cmt_scope_mutex);
	cmt_containers_set(patterns);
	mutex_unlock(&cmt_scope_mutex);
	return 0;
}

static int __init perf_init(void)
{
	return cmt_perf_init(counters_first);
}

static int __init resctrl_init(void)
{
	return cmt_resctrl_init(resctrl_mode);
}

static int __init scope_init(void)
{
	cmt_scope_set(scope_at_load, NULL);
	return 0;
}

/*
 * A kexec resets no register: what is programmed now is another agent's for the next kernel.
 * With kexec -e programs still run, so the sampling ends first.
 */
static int restart_prepare(struct notifier_block *nb, unsigned long action,
			   void *unused)
{
	if (action != SYS_RESTART)
		return NOTIFY_DONE;
	cmt_sampler_suspend();
	cmt_abmc_exit();
	if (cmt_backend->restore)
		cmt_backend->restore();
	return NOTIFY_DONE;
}

static struct notifier_block restart_nb = {
	.notifier_call = restart_prepare,
};

static int __init restart_init(void)
{
	return register_reboot_notifier(&restart_nb);
}

static void restart_exit(void)
{
	unregister_reboot_notifier(&restart_nb);
}

/*
 * Exit undoes init in exactly the reverse order, also after a failed init.  NULL: no
 * function.
 */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} steps[] = {
	{ cmt_clock_init,	NULL },
	{ cmt_exclude_init,	NULL },
	{ backend_init,		backend_exit },
	{ cmt_pmon_init,	cmt_pmon_exit },
	{ cmt_channels_init,	cmt_channels_exit },
	{ cmt_owners_init,	cmt_owners_exit },
	{ sampler_init,		cmt_sampler_exit },
	{ rings_init,		cmt_rings_exit },
	{ cmt_rdtgroups_init,	cmt_rdtgroups_exit },
	{ cmt_cpus_init,	cmt_cpus_exit },
	{ cmt_pending_init,	NULL },
	{ containers_init,	cmt_containers_exit },
	{ cmt_hotplug_init,	cmt_hotplug_exit },
	/* a work item does not write records while hotplug's exit writes those of all CPUs */
	{ NULL,			cmt_pending_stop },
	{ NULL,			cmt_scope_stop },
	{ perf_init,		cmt_perf_stop },
	{ NULL,			cmt_waits_stop },
	{ resctrl_init,		cmt_resctrl_exit },
	{ cmt_foreign_init,	cmt_foreign_exit },
	{ cmt_abmc_init,	cmt_abmc_exit },
	{ cmt_probes_init,	cmt_probes_exit },
	{ scope_init,		NULL },
	{ cmt_procfs_init,	cmt_procfs_exit },
	{ cmt_device_init,	cmt_device_exit },
	{ cmt_cqm_init,		cmt_cqm_exit },
	{ restart_init,		restart_exit },
};

static void steps_undo(size_t n)
{
	while (n--)
		if (steps[n].exit)
			steps[n].exit();
}

static int __init cmt_init(void)
{
	static const char *const kinds[] = {
		[CMT_BACKEND_HARDWARE] = "hardware",
		[CMT_BACKEND_EMULATED] = "EMULATED: nothing is measured",
		[CMT_BACKEND_SOFTWARE] = "software: no occupancy and no bandwidth",
	};
	size_t i;
	int ret = check_params();

	for (i = 0; !ret && i < ARRAY_SIZE(steps); i++) {
		ret = steps[i].init ? steps[i].init() : 0;
		if (ret)
			steps_undo(i);
	}
	if (ret)
		return ret;

	pr_info("%s, %s, %u RMIDs (%s)\n", CMT_VERSION,
		kinds[cmt_caps.backend], cmt_caps.nr_rmids, cmt_caps.reason);
	return 0;
}

static void __exit cmt_exit(void)
{
	steps_undo(ARRAY_SIZE(steps));
}

module_init(cmt_init);
module_exit(cmt_exit);

MODULE_DESCRIPTION("L3 cache occupancy and memory bandwidth by RMID, in shared-memory rings");
MODULE_LICENSE("GPL");
MODULE_VERSION(CMT_VERSION);
