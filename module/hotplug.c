// SPDX-License-Identifier: GPL-2.0
/*
 * CPU hotplug.  The CPU that steers the change writes CPU_ONLINE and
 * CPU_OFFLINE while the changing CPU is dead: no record precedes CPU_ONLINE, and none
 * follows CPU_OFFLINE.
 *
 * A CPU without memory, or without a domain, still comes up.  It has no ticks, and no
 * RMID is loaded there.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include "cpu/cpu.h"
#include "hotplug.h"
#include "hw/hw.h"
#include "ring/ring.h"
#include "sample/sample.h"
#include "scope/scope.h"
#include "uncore/uncore.h"

static enum cpuhp_state prepare_state;
static enum cpuhp_state online_state;

/* Changed by hotplug callbacks only, one at a time. */
static struct cmt_domain_ids domains;

/* The index of the domain with this id, a new one for a new id, or -errno. */
static int domain_index(u32 id)
{
	int index = cmt_domain_find(&domains, id), ret;

	if (index < 0 || index < domains.nr)
		return index;
	ret = cmt_sampler_add_domain(index, id);
	if (ret)
		return ret;
	domains.ids[index] = id;
	domains.nr++;
	return index;
}

/* The ring is allocated last: a CPU whose ring has slots is prepared. */
static int cpu_prepare(unsigned int cpu)
{
	return cmt_sampler_prepare(cpu) ?: cmt_ring_prepare(cpu);
}

/* A lack of memory does not keep the CPU offline: hotplug_up() tries again. */
static int hotplug_prepare(unsigned int cpu)
{
	cpu_prepare(cpu);
	return 0;
}

static int hotplug_dead(unsigned int cpu)
{
	cmt_ring_dead(cpu);
	return 0;
}

/* The CPU is online, and has no RMID and no samples. */
static void cpu_refuse(unsigned int cpu, u32 id, int err)
{
	this_cpu_write(cmt_cpus.unread, true);
	if (err == -ENOSPC)
		pr_warn_once("CPU %u is in L3 domain %u, which is one more than %d: such CPUs are not sampled\n",
			     cpu, id, CMT_MAX_DOMAINS);
	else
		pr_warn("no memory for CPU %u: it is not sampled\n", cpu);
}

/* On the CPU itself, in process context. */
static int hotplug_up(unsigned int cpu)
{
	u32 id = cmt_topology_domain_id(cmt_caps.nodes_per_l3);
	int domain = domain_index(id), ret = min(domain, 0);

	if (!ret && !this_cpu_read(cmt_rings.slots))
		ret = cpu_prepare(cpu);
	if (ret) {
		cpu_refuse(cpu, id, ret);
		return 0;
	}
	cmt_cpu_up(domain, id);
	cmt_sampler_cpu_up(domain);
	cmt_scope_cpu_up(cpu);
	return 0;
}

static int hotplug_down(unsigned int cpu)
{
	u32 domain = this_cpu_read(cmt_cpus.domain);

	this_cpu_write(cmt_cpus.unread, false);
	if (!this_cpu_read(cmt_cpus.up))
		return 0;
	cmt_perf_cpu_down(cpu);
	cmt_channels_set_ticks(cpu, false);
	cmt_scope_cpu_down(cpu);
	cmt_cpu_down();
	cmt_test_delay(mdelay, 1);
	cmt_sampler_cpu_down(domain);
	return 0;
}

int cmt_hotplug_init(void)
{
	int ret;

	ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "cmt:prepare",
				hotplug_prepare, hotplug_dead);
	if (ret < 0)
		return ret;
	prepare_state = ret;

	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "cmt:online",
				hotplug_up, hotplug_down);
	if (ret < 0) {
		cpuhp_remove_state(prepare_state);
		return ret;
	}
	online_state = ret;
	cpus_read_lock();
	cmt_rings_sizes_are_known();
	cpus_read_unlock();
	cmt_sampler_cpus_are_up();
	return 0;
}

void cmt_hotplug_exit(void)
{
	cmt_sampler_cpus_go();
	cpuhp_remove_state(online_state);
	cpuhp_remove_state(prepare_state);
}
