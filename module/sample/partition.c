// SPDX-License-Identifier: GPL-2.0
/* Which CPUs of an L3 domain have ticks, and which of them read. */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/printk.h>

#include "compat.h"
#include "ring/ring.h"
#include "sampler.h"
#include "uncore/uncore.h"

/* All CPUs that were online at load are up, and no unload has begun. */
static bool loaded;

static void domain_warn(u32 domain, unsigned int reader)
{
	pr_warn("all CPUs of L3 domain %u are excluded: CPU %u reads\n",
		cmt_sampler_domain(domain)->id, reader);
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
	    (!READ_ONCE(cmt_settings.resctrl_mounted) && cmt_is_excluded(cpu)))
		return -ENXIO;
	if (cmt_is_excluded(cpu))
		pr_notice("resctrl reads L3 domain %u on CPU %u: this excluded CPU has ticks until the unmount\n",
			  cmt_sampler_domain(domain)->id, cpu);
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

void cmt_sampler_cpu_up(u32 domain)
{
	domain_partition(domain);
}

static bool is_domain_down(u32 domain)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (is_up_in(cpu, domain))
			return false;
	return true;
}

void cmt_sampler_cpu_down(u32 domain)
{
	cmt_sampler_retire(domain);
	if (is_domain_down(domain)) {
		cmt_abmc_domain_down(domain);
		hw_bmec_forget(domain);
	}
	domain_partition(domain);
}

/* Before all CPUs are up a domain may have only excluded ones. */
void cmt_sampler_cpus_are_up(void)
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

void cmt_sampler_cpus_go(void)
{
	loaded = false;
}

void cmt_sampler_follow_resctrl(void)
{
	u32 domain;

	if (!cmt_caps.shared_evtsel)
		return;
	cpus_read_lock();
	for (domain = 0; domain < cmt_sampler_domains(); domain++)
		domain_partition(domain);
	cpus_read_unlock();
}

u32 cmt_sampler_evtsel(void)
{
	u32 domain;

	if (!cmt_caps.shared_evtsel)
		return CMT_EVTSEL_OWN;
	for (domain = 0; domain < cmt_sampler_domains(); domain++)
		if (!is_domain_down(domain) && resctrl_reader(domain) == nr_cpu_ids)
			return CMT_EVTSEL_EXPOSED;
	return CMT_EVTSEL_FOLLOWED;
}
