// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that ticks must not disturb.  The other CPUs of the domain read the RMIDs
 * that run there.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/sched/isolation.h>
#include <linux/string.h>

#include "compat.h"
#include "hw.h"

static char *exclude_cpus;
module_param(exclude_cpus, charp, 0444);
MODULE_PARM_DESC(exclude_cpus, "CPUs without ticks, a list such as 2-5,8, or none (default: nohz_full= and isolcpus= CPUs)");

static struct cpumask excluded;

int __init cmt_exclude_init(void)
{
	if (!exclude_cpus) {
		cpumask_and(&excluded, housekeeping_cpumask(HK_TYPE_TICK),
			    housekeeping_cpumask(CMT_HK_ISOLCPUS));
		cpumask_andnot(&excluded, cpu_possible_mask, &excluded);
		return 0;
	}
	if (!strcmp(exclude_cpus, "none"))
		return 0;
	if (cpulist_parse(exclude_cpus, &excluded)) {
		pr_err("exclude_cpus=%s is not a list of CPUs\n", exclude_cpus);
		return -EINVAL;
	}
	if (!cpumask_subset(&excluded, cpu_possible_mask) ||
	    cpumask_empty(&excluded)) {
		pr_err("exclude_cpus=%s is empty, or has CPUs that are not possible; possible: %*pbl\n",
		       exclude_cpus, cpumask_pr_args(cpu_possible_mask));
		return -EINVAL;
	}
	if (cpumask_equal(&excluded, cpu_possible_mask)) {
		pr_err("exclude_cpus=%s names all CPUs: none could read\n",
		       exclude_cpus);
		return -EINVAL;
	}
	return 0;
}

bool cmt_is_excluded(unsigned int cpu)
{
	return cpumask_test_cpu(cpu, &excluded);
}

bool cmt_excludes_any(void)
{
	return !cpumask_empty(&excluded);
}
