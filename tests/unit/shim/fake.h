/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine for the backends to run on in user space: its CPUs, their CPUID
 * and their monitoring MSRs, its clock.  One thread; fake_cpu is where it runs.
 * Tests include it by name, the code under test through the kernel's headers
 * and, for compat.h, by the compiler's -include.
 */
#ifndef SHIM_FAKE_H
#define SHIM_FAKE_H

#include <linux/types.h>

/* Of module/compat.h only the MSR accessors are wanted; they are below. */
#define CMT_COMPAT_H

#define FAKE_CPUS	4
#define FAKE_RMIDS	256
#define FAKE_EVENTS	4

#define FAKE_MSR_EVTSEL	0xc8d
#define FAKE_MSR_CTR	0xc8e
#define FAKE_MSR_PQR	0xc8f
#define FAKE_MSR_SNC	0xca0
#define FAKE_MSR_ABMC_CFG	0xc00003fd
#define FAKE_MSR_ABMC_DSC	0xc00003fe
#define FAKE_MSR_EXT_CFG	0xc00003ff
#define FAKE_MSR_EVT_CFG	0xc0000400	/* and the next one */

#define FAKE_COUNTERS	32

/* What CPUID of one CPU says; leaves that are not here read as 0. */
struct fake_cpuid {
	u32 max_leaf;
	u32 apic_id;
	u32 pqm_ebx;		/* 7.0 */
	u32 mon_ebx, mon_edx;	/* 0xF.0 */
	u32 l3_eax, l3_ebx, l3_ecx, l3_edx;	/* 0xF.1 */
	u32 cache_eax, cache_ebx, cache_ecx;	/* L3: 4.3 or 0x8000001D.3 */
	u32 amd_qos_ebx;	/* 0x80000020.0 */
	u32 amd_types;		/* 0x80000020.3 ECX */
	u32 amd_counters;	/* 0x80000020.5 EBX */
	u32 amd_width;		/* 0x80000020.5 EAX */
};

struct fake_machine {
	u32 nr_cpus;
	struct fake_cpuid cpuid[FAKE_CPUS];
	u32 package[FAKE_CPUS];
	u32 node[FAKE_CPUS];
	bool offline[FAKE_CPUS];	/* present, and not running */
	unsigned int features;	/* bits FAKE_FEATURE_* */
	bool shared_evtsel;	/* all CPUs share CPU 0's pair */

	u64 pqr[FAKE_CPUS];
	u64 evtsel[FAKE_CPUS];
	bool has_snc;		/* there is such an MSR, one in each package */
	u64 snc[FAKE_CPUS];	/* by package */
	u64 ctr[FAKE_RMIDS][FAKE_EVENTS];
	u32 faulting_msr;	/* reads and writes of this one fail */
	/* Another agent: called before CTR and after EVTSEL is accessed. */
	void (*meddle)(void);

	u64 evt_cfg[FAKE_CPUS][2];	/* by package: what MBM total and local count */
	u64 abmc;		/* L3_QOS_EXT_CFG */
	u64 abmc_cfg;		/* L3_QOS_ABMC_CFG */
	u64 configs[FAKE_COUNTERS];	/* L3_QOS_ABMC_DSC */
	u64 assigned[FAKE_COUNTERS];	/* what the counters have */
	u32 configured;			/* how often one was */

	u32 evtsel_writes;
	u32 ctr_reads;
	u32 msr_accesses;

	u64 clock_ns;
	u32 cycles;
	u32 cycles_step;	/* at every look at them */
	void (*after_look)(void);	/* what others do right after one */
};

extern struct fake_machine fake;
extern u32 fake_cpu;

int cmt_rdmsr_safe(u32 msr, u64 *value);
int cmt_wrmsr_safe(u32 msr, u64 value);
u32 cmt_cycles_low(void);

#define cmt_msr_select_read(select, ctr, low, high, highs) do {		\
	u64 fake_value = (u64)(high) << 32 | (low);			\
									\
	if (cmt_wrmsr_safe(select, fake_value) ||			\
	    cmt_rdmsr_safe(ctr, &fake_value))				\
		(highs) = (u32)-5;					\
	(low) = fake_value;						\
	(high) = fake_value >> 32;					\
	(highs) |= (high);						\
} while (0)

/* asm/processor.h */
enum {
	X86_VENDOR_INTEL	= 0,
	X86_VENDOR_AMD		= 2,
	X86_VENDOR_HYGON	= 9,
	X86_VENDOR_UNKNOWN	= 0xff,
};

struct cpuinfo_x86 {
	u8 x86;
	u8 x86_vendor;
	u8 x86_model;
	u8 x86_stepping;
};

extern struct cpuinfo_x86 boot_cpu_data;

void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx,
		 u32 *edx);
u32 cpuid_eax(u32 leaf);
u32 cpuid_ebx(u32 leaf);

/* asm/cpufeature.h */
enum {
	X86_FEATURE_CQM,
	X86_FEATURE_CQM_LLC,
	X86_FEATURE_CQM_OCCUP_LLC,
	X86_FEATURE_CQM_MBM_TOTAL,
	X86_FEATURE_CQM_MBM_LOCAL,
	X86_FEATURE_HYPERVISOR,
	X86_FEATURE_TOPOEXT,
};

#define boot_cpu_has(feature)	(!!(fake.features & (1U << (feature))))

/* linux/percpu.h */
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name[FAKE_CPUS]
#define DECLARE_PER_CPU(type, name)	extern __typeof__(type) name[FAKE_CPUS]
#define this_cpu_ptr(pointer)		(&(*(pointer))[fake_cpu])
#define per_cpu_ptr(pointer, cpu)	(&(*(pointer))[cpu])
#define per_cpu(name, cpu)		(name[cpu])

/* linux/cpumask.h */
#define num_possible_cpus()		fake.nr_cpus
#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (u32)(cpu) < fake.nr_cpus; (cpu)++)
#define for_each_present_cpu(cpu)	for_each_possible_cpu(cpu)
#define for_each_online_cpu(cpu) \
	for_each_possible_cpu(cpu) \
		if (fake.offline[cpu]) {} else
#define cpu_online(cpu)			((u32)(cpu) < fake.nr_cpus && !fake.offline[cpu])

/* linux/cpu.h */
#define cpus_read_lock()		((void)0)
#define cpus_read_unlock()		((void)0)

/* linux/nodemask.h */
typedef u64 nodemask_t;
#define NODE_MASK_NONE			0
#define node_set(node, nodes)		((nodes) |= 1ULL << (node))
#define nodes_weight(nodes)		((u32)__builtin_popcountll(nodes))

/* linux/sched/clock.h, linux/timekeeping.h */
#define local_clock()			fake.clock_ns
#define ktime_get_mono_fast_ns()	fake.clock_ns

/* linux/sched.h, linux/mm.h */
#define PAGE_SHIFT	12

struct mm_struct {
	unsigned long rss_pages;
};

struct task_struct {
	struct mm_struct *mm;
};

#define get_mm_rss(mm_of_task)	((mm_of_task)->rss_pages)

/* linux/smp.h, linux/topology.h */
#define raw_smp_processor_id()			fake_cpu
#define smp_processor_id()			fake_cpu
#define cpu_to_node(cpu)			((int)fake.node[cpu])
#define NUMA_NO_NODE				(-1)
#define cpu_physical_id(cpu)			fake.cpuid[cpu].apic_id
#define topology_physical_package_id(cpu)	fake.package[cpu]

void on_each_cpu(void (*function)(void *), void *arg, int wait);

#endif
