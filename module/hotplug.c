// SPDX-License-Identifier: GPL-2.0
/*
 * CPU hotplug, and L3 domains.  The CPU that steers the change writes CPU_ONLINE and
 * CPU_OFFLINE while the changing CPU is dead: no record precedes CPU_ONLINE, and none
 * follows CPU_OFFLINE.
 *
 * A CPU without memory, or without a domain, still comes up.  It has no ticks, and no
 * RMID is loaded there.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include "compat.h"
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

/* All CPUs that were online at load are up, and no unload has begun. */
static bool loaded;

/* resctrl is mounted; changed with cpus_read_lock. */
static bool beside_resctrl;

static void domain_warn(u32 domain, unsigned int reader)
{
	pr_warn("all CPUs of L3 domain %u are excluded: CPU %u reads\n",
		domains.ids[domain], reader);
}

static bool is_up_in(unsigned int cpu, u32 domain)
{
	const struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);

	return c->up && c->domain == domain;
}

/* The CPU on which resctrl reads the domain; nr_cpu_ids: it may be any. */
static unsigned int resctrl_reader(u32 domain)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (is_up_in(cpu, domain) && cmt_resctrl_can_read_on(cpu))
			return cpu;
	return nr_cpu_ids;
}

/*
 * Where the CPUs of a domain share their registers, readings on the CPU of resctrl's
 * cannot come between the two accesses of one of resctrl's.  -ENXIO: any CPU can read.
 */
static int shared_reader(u32 domain)
{
	unsigned int cpu = resctrl_reader(domain);

	if (!cmt_caps.shared_evtsel || cpu == nr_cpu_ids ||
	    (!beside_resctrl && cmt_is_excluded(cpu)))
		return -ENXIO;
	if (cmt_is_excluded(cpu))
		pr_notice("resctrl reads L3 domain %u on CPU %u: this excluded CPU has ticks until the unmount\n",
			  domains.ids[domain], cpu);
	return cpu;
}

/*
 * The CPUs of a domain that read: all that are up and not excluded, or only one of them
 * where they share their registers.  If all are excluded, the first CPU reads.
 * None, where the backend has nothing to read.
 */
static u32 domain_readers(u32 domain, struct cpumask *mask)
{
	unsigned int cpu, first = nr_cpu_ids;
	int shared;
	u32 n = 0;

	cpumask_clear(mask);
	if (!cmt_backend_samples())
		return 0;
	shared = shared_reader(domain);
	if (shared >= 0) {
		cpumask_set_cpu(shared, mask);
		return 1;
	}
	for_each_possible_cpu(cpu) {
		if (!is_up_in(cpu, domain))
			continue;
		first = min(first, cpu);
		if (cmt_is_excluded(cpu) || (n && cmt_caps.shared_evtsel))
			continue;
		cpumask_set_cpu(cpu, mask);
		n++;
	}
	if (n || first == nr_cpu_ids)
		return n;
	if (loaded)
		domain_warn(domain, first);
	cpumask_set_cpu(first, mask);
	return 1;
}

/*
 * Partition the idle RMIDs of a domain across the CPUs that read.  A CPU in the middle
 * of a tick may still use its old part: then an RMID is read twice or not at all in
 * these 32 ticks.
 */
static void domain_partition(u32 domain)
{
	static struct cpumask reading;	/* static: there is one call at a time */
	u32 readers = domain_readers(domain, &reading), i = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		bool reads = cpumask_test_cpu(cpu, &reading);
		bool ticks = reads || !cmt_is_excluded(cpu);

		if (!is_up_in(cpu, domain))
			continue;
		cmt_ring_set_quiet(cpu, !ticks);
		cmt_sampler_assign(cpu, domain, ticks, reads ? i++ : 0,
				   reads ? readers : 0);
		cmt_perf_cpu_up(cpu, ticks);
		cmt_channels_set_ticks(cpu, ticks);
	}
	cmt_channels_assign();
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
static void domain_refuse(unsigned int cpu, u32 id)
{
	this_cpu_write(cmt_cpus.unread, true);
	pr_warn_once("CPU %u is in L3 domain %u, which is one more than %d: such CPUs are not sampled\n",
		     cpu, id, CMT_MAX_DOMAINS);
}

/* On the CPU itself, in process context. */
static int hotplug_up(unsigned int cpu)
{
	u32 id = cmt_topology_domain_id(cmt_caps.nodes_per_l3);
	int domain = domain_index(id);

	if (domain == -ENOSPC) {
		domain_refuse(cpu, id);
		return 0;
	}
	if (domain < 0 ||
	    (!this_cpu_read(cmt_rings.slots) && cpu_prepare(cpu))) {
		pr_warn_once("no memory for CPU %u: it is not sampled\n", cpu);
		return 0;
	}
	cmt_cpu_up(domain, id);
	domain_partition(domain);
	cmt_scope_cpu_up(cpu);
	return 0;
}

static bool is_domain_down(u32 domain)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (is_up_in(cpu, domain))
			return false;
	return true;
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
	if (is_domain_down(domain))
		cmt_abmc_domain_down(domain);
	domain_partition(domain);
	return 0;
}

/* Called after all CPUs are up: before that a domain may have only excluded ones. */
static void warn_of_domains(void)
{
	struct cmt_cpu *c;
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		c = &per_cpu(cmt_cpus, cpu);
		if (c->up && cmt_is_excluded(cpu) && cmt_sampler_has_ticks(cpu))
			domain_warn(c->domain, cpu);
	}
	loaded = true;
	cpus_read_unlock();
}

void cmt_hotplug_follow_resctrl(bool mounted)
{
	u32 domain;

	if (!cmt_caps.shared_evtsel)
		return;
	cpus_read_lock();
	beside_resctrl = mounted;
	for (domain = 0; domain < domains.nr; domain++)
		domain_partition(domain);
	cpus_read_unlock();
}

u32 cmt_hotplug_evtsel(void)
{
	u32 domain;

	if (!cmt_caps.shared_evtsel)
		return CMT_EVTSEL_OWN;
	for (domain = 0; domain < domains.nr; domain++)
		if (!is_domain_down(domain) && resctrl_reader(domain) == nr_cpu_ids)
			return CMT_EVTSEL_EXPOSED;
	return CMT_EVTSEL_FOLLOWED;
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
	warn_of_domains();
	return 0;
}

void cmt_hotplug_exit(void)
{
	loaded = false;
	cpuhp_remove_state(online_state);
	cpuhp_remove_state(prepare_state);
}
