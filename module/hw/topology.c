// SPDX-License-Identifier: GPL-2.0
/*
 * The L3 and the vendor of the current CPU, from CPUID.  The kernel's cacheinfo has the
 * same data and is not exported to modules.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/nodemask.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/types.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "backend.h"
#include "compat.h"
#include "uapi/cmt.h"

/*
 * Deterministic cache parameters: Intel leaf 4 (SDM vol. 2A, CPUID), AMD and
 * Hygon leaf 0x8000001D (APM vol. 3, E.4.15).  Same layout in both.
 */
#define CPUID_CACHES_INTEL	0x4
#define CPUID_CACHES_AMD	0x8000001d
#define CPUID_CACHES_MAX	16	/* subleaves looked at */

#define CACHE_EAX_TYPE(eax)	((eax) & GENMASK(4, 0))		/* 0: no more */
#define CACHE_EAX_LEVEL(eax)	(((eax) & GENMASK(7, 5)) >> 5)
#define CACHE_EAX_SHARING(eax)	((((eax) & GENMASK(25, 14)) >> 14) + 1)
#define CACHE_EBX_LINE(ebx)	(((ebx) & GENMASK(11, 0)) + 1)
#define CACHE_EBX_PARTS(ebx)	((((ebx) & GENMASK(21, 12)) >> 12) + 1)
#define CACHE_EBX_WAYS(ebx)	((((ebx) & GENMASK(31, 22)) >> 22) + 1)

#define CPUID_X2APIC		0xb

/* The leaf that lists this machine's caches, or 0. */
static u32 topology_cache_leaf(void)
{
	switch (cmt_topology_vendor()) {
	case CMT_VENDOR_AMD:
	case CMT_VENDOR_HYGON:
		return boot_cpu_has(X86_FEATURE_TOPOEXT) ? CPUID_CACHES_AMD : 0;
	default:
		return cpuid_eax(0) >= CPUID_CACHES_INTEL ?
			CPUID_CACHES_INTEL : 0;
	}
}

/* Find this CPU's L3: *eax, *ebx and *sets are the registers of its subleaf. */
static bool topology_find_l3(u32 *eax, u32 *ebx, u32 *sets)
{
	u32 leaf = topology_cache_leaf();
	u32 i, edx;

	if (!leaf)
		return false;
	for (i = 0; i < CPUID_CACHES_MAX; i++) {
		cpuid_count(leaf, i, eax, ebx, sets, &edx);
		if (!CACHE_EAX_TYPE(*eax))
			return false;
		if (CACHE_EAX_LEVEL(*eax) == 3)
			return true;
	}
	return false;
}

u32 cmt_topology_apic_id(void)
{
	u32 eax, ebx, ecx, edx;

	if (cpuid_eax(0) >= CPUID_X2APIC) {
		cpuid_count(CPUID_X2APIC, 0, &eax, &ebx, &ecx, &edx);
		if (ebx & GENMASK(15, 0))	/* else the leaf is not there */
			return edx;
	}
	return cpuid_ebx(1) >> 24;
}

u32 cmt_topology_vendor(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return CMT_VENDOR_INTEL;
	case X86_VENDOR_AMD:
		return CMT_VENDOR_AMD;
	case X86_VENDOR_HYGON:
		return CMT_VENDOR_HYGON;
	default:
		return CMT_VENDOR_OTHER;
	}
}

/*
 * The number of an L3 in cacheinfo and resctrl: the APIC id without the bits that
 * distinguish the threads under one cache.
 */
u32 cmt_topology_l3_id(void)
{
	u32 eax, ebx, sets;

	if (topology_find_l3(&eax, &ebx, &sets))
		return cmt_topology_apic_id() >>
			order_base_2(CACHE_EAX_SHARING(eax));
	return topology_physical_package_id(raw_smp_processor_id());
}

u32 cmt_topology_domain_id(u32 nodes_per_l3)
{
	if (nodes_per_l3 > 1)
		return cpu_to_node(smp_processor_id());
	return cmt_topology_l3_id();
}

u64 cmt_topology_l3_bytes(void)
{
	u32 eax, ebx, sets;

	if (!topology_find_l3(&eax, &ebx, &sets))
		return 0;
	return (u64)CACHE_EBX_LINE(ebx) * CACHE_EBX_PARTS(ebx) *
	       CACHE_EBX_WAYS(ebx) * ((u64)sets + 1);
}

/* @shift: of the APIC ids under one cache */
static u32 topology_nodes_of_l3(u32 l3_id, u32 shift)
{
	nodemask_t nodes = NODE_MASK_NONE;
	unsigned int cpu;

	for_each_present_cpu(cpu)
		if (cpu_physical_id(cpu) >> shift == l3_id &&
		    cpu_to_node(cpu) != NUMA_NO_NODE)
			node_set(cpu_to_node(cpu), nodes);
	return nodes_weight(nodes);
}

/* The kernel has APIC ids and nodes from the firmware, also of CPUs that never ran. */
u32 cmt_topology_nodes_per_l3(void)
{
	u32 eax, ebx, sets, shift, most = 1;
	unsigned int cpu;

	if (!topology_find_l3(&eax, &ebx, &sets))
		return 1;
	shift = order_base_2(CACHE_EAX_SHARING(eax));
	cpus_read_lock();
	for_each_present_cpu(cpu)
		most = max(most, topology_nodes_of_l3(cpu_physical_id(cpu) >> shift, shift));
	cpus_read_unlock();
	return most;
}
