// SPDX-License-Identifier: GPL-2.0
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cmt.h"
#include "owner.h"
#include "pattern.h"
#include "version.h"

static char *backend = "auto";
module_param(backend, charp, 0444);
MODULE_PARM_DESC(backend, "auto (default), hw, or emulated: a model, nothing is measured");

static unsigned int interval_us = 1000;
module_param(interval_us, uint, 0444);
MODULE_PARM_DESC(interval_us, "sampling interval at load, microseconds, 100 to 1000000 (default 1000)");

static unsigned int ring_records;
module_param(ring_records, uint, 0444);
MODULE_PARM_DESC(ring_records, "records in each CPU's ring, a power of two, 256 to 65536 (default 0: a quarter of a second's)");

static char *scope = "process";
module_param(scope, charp, 0444);
MODULE_PARM_DESC(scope, "who is an owner at load: process (default), container, cpu or manual");

static char *containers;
module_param(containers, charp, 0444);
MODULE_PARM_DESC(containers, "patterns of the cgroups that are containers, instead of those built in");

static const char *const scopes[] = {
	[0] = "",
	[CMT_SCOPE_PROCESS] = "process",
	[CMT_SCOPE_CONTAINER] = "container",
	[CMT_SCOPE_CPU] = "cpu",
	[CMT_SCOPE_MANUAL] = "manual",
};

/* Read containers= into a new set, which belongs to who called. */
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
	if (strcmp(backend, "auto") && strcmp(backend, "hw") &&
	    strcmp(backend, "emulated")) {
		pr_err("backend=%s must be auto, hw or emulated\n", backend);
		return -EINVAL;
	}
	if (match_string(scopes, ARRAY_SIZE(scopes), scope) <= 0) {
		pr_err("scope=%s must be process, container, cpu or manual\n",
		       scope);
		return -EINVAL;
	}
	return 0;
}

/* Nobody is given an RMID any more.  After the probes are gone. */
static void owners_stop(void)
{
	cmt_scope_stop();
	cmt_foreign_stop();
	cmt_serve_stop();
	cmt_resctrl_withdraw_all();
}

static void owners_exit(void)
{
	cmt_containers_exit();
	cmt_objects_exit();
	cmt_table_exit();
}

static int __init owners_init(void)
{
	int ret = cmt_table_init();

	if (ret)
		return ret;
	ret = cmt_objects_init();
	if (ret) {
		cmt_table_exit();
		return ret;
	}
	cmt_serve_init();
	cmt_evict_init();
	cmt_scope_init();
	return 0;
}

static int __init cmt_init(void)
{
	struct cmt_pattern_set *patterns;
	int ret;

	ret = check_params() ?: make_patterns(&patterns);
	if (ret)
		return ret;

	ret = cmt_backend_init(backend);
	if (ret)
		goto err_patterns;
	ret = owners_init();
	if (ret)
		goto err_backend;
	ret = cmt_sampler_init(interval_us * 1000);
	if (ret)
		goto err_owners;
	ret = cmt_cpus_init(ring_records);
	if (ret)
		goto err_sampler;
	ret = cmt_hotplug_init();
	if (ret)
		goto err_cpus;
	ret = cmt_probes_init();
	if (ret)
		goto err_hotplug;
	cmt_scope_set(match_string(scopes, ARRAY_SIZE(scopes), scope), patterns);
	patterns = NULL;
	ret = cmt_procfs_init();
	if (ret)
		goto err_probes;
	ret = cmt_chardev_init();
	if (ret)
		goto err_procfs;

	pr_info("%s, %s, %u RMIDs (%s)\n", CMT_VERSION,
		cmt_caps.backend == CMT_BACKEND_HARDWARE ? "hardware" :
		"EMULATED: nothing is measured", cmt_caps.nr_rmids,
		cmt_caps.reason);
	return 0;

err_procfs:
	cmt_procfs_exit();
err_probes:
	cmt_resctrl_stop();
	cmt_probes_exit();
	owners_stop();
err_hotplug:
	cmt_hotplug_exit();
err_cpus:
	cmt_cpus_exit();
err_sampler:
	cmt_sampler_exit();
err_owners:
	owners_exit();
err_backend:
	cmt_backend->exit();
err_patterns:
	kvfree(patterns);
	return ret;
}

static void __exit cmt_exit(void)
{
	cmt_chardev_exit();
	cmt_procfs_exit();
	cmt_resctrl_stop();
	cmt_probes_exit();
	owners_stop();
	cmt_hotplug_exit();
	cmt_cpus_exit();
	cmt_sampler_exit();
	owners_exit();
	cmt_backend->exit();
}

module_init(cmt_init);
module_exit(cmt_exit);

MODULE_DESCRIPTION("L3 cache occupancy and memory bandwidth by RMID, in shared-memory rings");
MODULE_LICENSE("GPL");
MODULE_VERSION(CMT_VERSION);
