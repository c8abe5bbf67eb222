// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that come and go, and their domains.  CPU_ONLINE and CPU_OFFLINE are
 * written while the CPU is dead, by the CPU that steers the change: nothing can
 * follow CPU_OFFLINE, and no record precedes CPU_ONLINE.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "cmt.h"

static enum cpuhp_state prepare_state;
static enum cpuhp_state online_state;

/* Domain ids by index; changed by hotplug callbacks only, one at a time. */
static u32 domain_ids[CMT_MAX_DOMAINS];
static u32 nr_domains;

/* As resctrl numbers them: L3s, or with sub-NUMA clusters NUMA nodes. */
static u32 domain_id(void)
{
	if (cmt_caps.nodes_per_l3 > 1)
		return cpu_to_node(smp_processor_id());
	return cmt_topology_l3_id();
}

/* The index of a domain, a new one for an id that is new; or -errno. */
static int domain_index(u32 id)
{
	u32 i;
	int ret;

	for (i = 0; i < nr_domains; i++)
		if (domain_ids[i] == id)
			return i;
	if (nr_domains == CMT_MAX_DOMAINS) {
		pr_err("more than %d L3 domains\n", CMT_MAX_DOMAINS);
		return -ENOSPC;
	}
	ret = cmt_sampler_add_domain(nr_domains);
	if (ret)
		return ret;
	domain_ids[nr_domains] = id;
	return nr_domains++;
}

/*
 * Deal the RMIDs of a domain out to its CPUs that are up: a range each.  A CPU
 * in the middle of a tick may still use its old range: an RMID is then read
 * twice or not at all in this interval, and sampler.c's lock keeps the two
 * readings apart.
 */
static void domain_share_out(u32 domain)
{
	u32 nr = cmt_caps.nr_rmids, cpus = 0, i = 0;
	struct cmt_cpu *c;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		c = &per_cpu(cmt_cpus, cpu);
		cpus += c->up && c->domain == domain;
	}
	if (cmt_caps.shared_evtsel)
		cpus = min(cpus, 1U);
	for_each_possible_cpu(cpu) {
		c = &per_cpu(cmt_cpus, cpu);
		if (!c->up || c->domain != domain)
			continue;
		WRITE_ONCE(c->share, i < cpus ? CMT_SHARE(i * nr / cpus,
							  (i + 1) * nr / cpus) :
			   CMT_SHARE(0, 0));
		i++;
	}
}

/* On the CPU itself, in process context. */
static int hotplug_up(unsigned int cpu)
{
	u32 id = domain_id();
	int domain = domain_index(id);

	if (domain < 0)
		return domain;
	cmt_cpu_up(domain, id);
	domain_share_out(domain);
	cmt_scope_cpu_up(cpu);
	cmt_sampler_cpu_up();
	return 0;
}

static int hotplug_down(unsigned int cpu)
{
	cmt_sampler_cpu_down();
	cmt_scope_cpu_down(cpu);
	cmt_cpu_down();
	domain_share_out(this_cpu_read(cmt_cpus.domain));
	return 0;
}

int cmt_hotplug_init(void)
{
	int ret;

	ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "cmt:prepare",
				cmt_cpu_prepare, cmt_cpu_dead);
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
	return 0;
}

void cmt_hotplug_exit(void)
{
	cpuhp_remove_state(online_state);
	cpuhp_remove_state(prepare_state);
}
