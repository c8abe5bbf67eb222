// SPDX-License-Identifier: GPL-2.0
/*
 * The hardware backend: L3 monitoring of Intel RDT and AMD PQoS.
 *
 * CPUID leaf 0xF lists the features.  IA32_PQR_ASSOC has the RMID that a CPU's fills
 * are counted under.  IA32_QM_EVTSEL and IA32_QM_CTR read the counters (SDM vol. 3B
 * 18.18, APM vol. 2 19.3).
 *
 * Other agents use the same registers.  resctrl writes PQR_ASSOC at context
 * switches and CPU hotplug, and reads counters from work items.  The CLOSID half of
 * PQR_ASSOC is resctrl's and is never changed here.  hw_read.c reads the counters.
 *
 * With sub-NUMA clusters (SNC) an L3 counts for each of its NUMA nodes by
 * itself, and a node is a domain.  The RMIDs of CPUID are divided among the
 * nodes: PQR_ASSOC takes a number below the quotient, and EVTSEL wants the
 * node's part added to it ("RMID sharing mode", Intel RDT Architecture
 * Specification).  Kernels before 6.11 do not know of that mode, so it is
 * switched on here where it is off, and off again at the end.
 */
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/types.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "backend.h"
#include "compat.h"
#include "hw_abmc.h"
#include "hw_bmec.h"
#include "hw_msr.h"
#include "uapi/cmt.h"

#define HW_MSR_RMID_SNC_CONFIG	0xca0

#define SNC_NOT_SHARING		BIT_ULL(0)

#define CTR_DATA_BITS		62	/* CMT_RAW_ERROR and _UNAVAILABLE above */

#define AMD_QOS_EBX_BMEC	BIT(3)
#define AMD_QOS_EBX_ABMC	BIT(5)
#define AMD_QOS_EBX_PLZA	BIT(9)
#define AMD_QOS_TYPES		3	/* subleaf; ECX */

#define CPUID_RDT_MON		0xf
#define RDT_LEAF7_EBX_PQM	BIT(12)
#define RDT_F0_EDX_L3		BIT(1)
#define RDT_F1_EDX_OCCUPANCY	BIT(0)
#define RDT_F1_EDX_MBM_TOTAL	BIT(1)
#define RDT_F1_EDX_MBM_LOCAL	BIT(2)

#define WIDTH_BASE		24
#define WIDTH_DEFAULT_AMD	20	/* over the base, when EAX says 0 */
#define WIDTH_DEFAULT_HYGON	8
#define WIDTH_OFFSET_MAX	(CTR_DATA_BITS - WIDTH_BASE)

#define MODEL_BROADWELL_X	0x4f
#define MODEL_SKYLAKE_X		0x55	/* Skylake, Cascade and Cooper Lake */
#define MODEL_ICELAKE_X		0x6a
#define MODEL_SAPPHIRERAPIDS_X	0x8f
#define MODEL_GRANITERAPIDS_X	0xad
#define MODEL_CRESTMONT_X	0xaf	/* Sierra Forest */
#define MODEL_EMERALDRAPIDS_X	0xcf
#define MODEL_DARKMONT_X	0xdd	/* Clearwater Forest */
#define SKYLAKE_LAST_BAD_STEPPING	4

/* CPUID of one CPU, or of the least capable of several */
struct hw_leaves {
	u32 max_rmid;
	u32 max_loadable;	/* of the most capable: what PQR_ASSOC takes */
	u32 upscale;
	u32 events;		/* CMT_F_* */
	u32 width_offset;
	bool overflow_bit;
};

struct hw_probe {
	raw_spinlock_t lock;	/* protects the following fields: CPUs report in parallel */
	const char *refusal;	/* of the first CPU that refused */
	bool any;		/* leaves is valid */
	struct hw_leaves leaves;
};

struct hw hw __read_mostly;
DEFINE_PER_CPU(struct hw_cpu, hw_cpus);

/*
 * MBM counts are off by a factor on Broadwell and Skylake servers, depending
 * on the number of RMIDs in the part (errata BDF102 and SKX99; table from the
 * Intel RDT Architecture Specification).  Index: (largest RMID + 1) / 8 - 1;
 * RMIDs above "above" are multiplied by millionths / 10^6.
 */
#define MBM_EXACT	1000000
static const struct {
	u16 above;
	u32 millionths;
} hw_mbm_corrections[] = {
	{   7, MBM_EXACT },	/*   8 RMIDs */
	{  15, MBM_EXACT },
	{  15,  969650 },
	{  31, MBM_EXACT },
	{  31, 1066667 },	/*  40 */
	{  31,  969650 },
	{  47, 1142857 },
	{  63, MBM_EXACT },
	{  63, 1185115 },	/*  72 */
	{  63, 1066553 },
	{  79, 1454545 },
	{  95, MBM_EXACT },
	{  95, 1230769 },	/* 104 */
	{  95, 1142857 },
	{  95, 1066667 },
	{ 127, MBM_EXACT },
	{ 127, 1254863 },	/* 136 */
	{ 127, 1185255 },
	{ 151, MBM_EXACT },
	{ 127, 1066667 },
	{ 167, MBM_EXACT },	/* 168 */
	{ 159, 1454334 },
	{ 183, MBM_EXACT },
	{ 127,  969744 },
	{ 191, 1280246 },	/* 200 */
	{ 191, 1230921 },
	{ 215, MBM_EXACT },
	{ 191, 1143118 },	/* 224 */
};

/* Read CPUID of this CPU.  Returns the refusal or NULL. */
static const char *hw_read_leaves(struct hw_leaves *leaves)
{
	u32 eax, ebx, ecx, edx;

	if (cpuid_eax(0) < CPUID_RDT_MON)
		return "no CPUID leaf 0xF";
	cpuid_count(7, 0, &eax, &ebx, &ecx, &edx);
	if (!(ebx & RDT_LEAF7_EBX_PQM))
		return "no RDT monitoring in CPUID leaf 7";

	cpuid_count(CPUID_RDT_MON, 0, &eax, &ebx, &ecx, &edx);
	if (!(edx & RDT_F0_EDX_L3))
		return "no L3 monitoring in CPUID leaf 0xF";
	leaves->max_rmid = ebx;
	leaves->max_loadable = ebx;

	cpuid_count(CPUID_RDT_MON, 1, &eax, &ebx, &ecx, &edx);
	leaves->max_rmid = min(leaves->max_rmid, ecx);
	leaves->upscale = ebx;
	leaves->width_offset = eax & HW_CPUID_WIDTH;
	leaves->overflow_bit = eax & HW_CPUID_OVERFLOW;
	leaves->events = 0;
	if (edx & RDT_F1_EDX_OCCUPANCY)
		leaves->events |= CMT_F_OCCUPANCY;
	if (edx & RDT_F1_EDX_MBM_TOTAL)
		leaves->events |= CMT_F_MBM_TOTAL;
	if (edx & RDT_F1_EDX_MBM_LOCAL)
		leaves->events |= CMT_F_MBM_LOCAL;
	return NULL;
}

/* All CPUs must have one counter unit; of other properties the least one counts. */
static const char *hw_merge_leaves(struct hw_leaves *all,
				   const struct hw_leaves *one)
{
	if (one->upscale != all->upscale ||
	    one->width_offset != all->width_offset ||
	    one->overflow_bit != all->overflow_bit)
		return "CPUs differ in counter unit or width";
	all->max_rmid = min(all->max_rmid, one->max_rmid);
	all->max_loadable = max(all->max_loadable, one->max_loadable);
	all->events &= one->events;
	return NULL;
}

static void hw_probe_cpu(void *arg)
{
	struct hw_probe *probe = arg;
	struct hw_leaves leaves = {};
	const char *refusal;
	unsigned long flags;

	refusal = hw_read_leaves(&leaves);

	raw_spin_lock_irqsave(&probe->lock, flags);
	if (!refusal && probe->any)
		refusal = hw_merge_leaves(&probe->leaves, &leaves);
	else if (!refusal)
		probe->leaves = leaves;
	probe->any |= !refusal;
	if (!probe->refusal)
		probe->refusal = refusal;
	raw_spin_unlock_irqrestore(&probe->lock, flags);
}

/*
 * The kernel's features count, too: clearcpuid= clears them.  The kernel keeps what rdt= and
 * its quirks turn off to itself.
 */
static u32 hw_kernel_events(void)
{
	u32 events = 0;

	if (!boot_cpu_has(X86_FEATURE_CQM) ||
	    !boot_cpu_has(X86_FEATURE_CQM_LLC))
		return 0;
	if (boot_cpu_has(X86_FEATURE_CQM_OCCUP_LLC))
		events |= CMT_F_OCCUPANCY;
	if (boot_cpu_has(X86_FEATURE_CQM_MBM_TOTAL))
		events |= CMT_F_MBM_TOTAL;
	if (boot_cpu_has(X86_FEATURE_CQM_MBM_LOCAL))
		events |= CMT_F_MBM_LOCAL;
	return events;
}

static bool hw_is_intel_model(u32 model)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL &&
	       boot_cpu_data.x86 == 6 && boot_cpu_data.x86_model == model;
}

/* The models on which Linux uses MSR 0xca0 (resctrl's snc_cpu_ids) */
static const u8 hw_snc_models[] = {
	MODEL_ICELAKE_X, MODEL_SAPPHIRERAPIDS_X, MODEL_EMERALDRAPIDS_X,
	MODEL_GRANITERAPIDS_X, MODEL_CRESTMONT_X, MODEL_DARKMONT_X,
};

static bool hw_is_snc_model(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hw_snc_models); i++)
		if (hw_is_intel_model(hw_snc_models[i]))
			return true;
	return false;
}

/*
 * Other models than these have nodes that share an L3, too: Haswell and Broadwell with
 * Cluster-on-Die, Skylake to Cooper Lake with SNC.  Intel says that RDT monitoring does not
 * work with these.
 */
static bool hw_counts_nodes(const struct hw_leaves *leaves, u32 nodes)
{
	u64 config;

	return hw_is_snc_model() && (leaves->max_rmid + 1) / nodes >= 2 &&
	       leaves->upscale >= nodes &&
	       !cmt_rdmsr_safe(HW_MSR_RMID_SNC_CONFIG, &config);
}

/* NULL, or why the machine as a whole cannot be used. */
static const char *hw_refusal(const struct hw_leaves *leaves, u32 nodes_per_l3)
{
	/* Counts of early Skylake servers are wrong beyond correction. */
	if (hw_is_intel_model(MODEL_SKYLAKE_X) &&
	    boot_cpu_data.x86_stepping <= SKYLAKE_LAST_BAD_STEPPING)
		return "erratum: monitoring is wrong on this Skylake stepping";
	if (!leaves->upscale)
		return "CPUID leaf 0xF gives no counter unit";
	if (!leaves->max_rmid)
		return "CPUID leaf 0xF gives no RMID but 0";
	if (!leaves->events)
		return "CPUID leaf 0xF lists no event";
	if (!(leaves->events & hw_kernel_events()))
		return "the kernel has disabled L3 monitoring";
	if (nodes_per_l3 > 1 && !hw_counts_nodes(leaves, nodes_per_l3))
		return "several NUMA nodes per L3, counted in no known way";
	return NULL;
}

/* AMD's and Hygon's EVTSEL is one for all CPUs of a domain. */
static bool hw_shares_evtsel(u32 vendor)
{
	return vendor == CMT_VENDOR_AMD || vendor == CMT_VENDOR_HYGON;
}

/*
 * Can the registers be accessed?  A hypervisor may list the leaf, and not have them.  A shared
 * EVTSEL is not written: resctrl may be reading on another CPU.
 */
static bool hw_has_registers(void)
{
	unsigned long flags;
	u64 others, value;
	int err;

	local_irq_save(flags);
	err = cmt_rdmsr_safe(CMT_MSR_PQR_ASSOC, &value) ?:
	      cmt_rdmsr_safe(HW_MSR_QM_EVTSEL, &others);
	if (!err && !hw_shares_evtsel(cmt_topology_vendor())) {
		err = cmt_wrmsr_safe(HW_MSR_QM_EVTSEL, CMT_EVENT_OCCUPANCY) ?:
		      cmt_rdmsr_safe(HW_MSR_QM_CTR, &value);
		cmt_wrmsr_safe(HW_MSR_QM_EVTSEL, others);
	}
	local_irq_restore(flags);
	return !err;
}

u32 hw_counter_bits(u32 offset, bool overflow_bit, u32 vendor)
{
	u32 data_bits = CTR_DATA_BITS - (overflow_bit ? 1 : 0);

	if (!offset && vendor == CMT_VENDOR_AMD)
		offset = WIDTH_DEFAULT_AMD;
	if (!offset && vendor == CMT_VENDOR_HYGON)
		offset = WIDTH_DEFAULT_HYGON;
	if (offset > WIDTH_OFFSET_MAX)
		return 0;
	return min(WIDTH_BASE + offset, data_bits);
}

static void hw_fill_correction(struct cmt_backend_caps *caps, u32 max_rmid)
{
	u32 i = (max_rmid + 1) / 8;
	u32 millionths;

	caps->mbm_correct_above = U32_MAX;
	caps->mbm_correct_factor = 1U << 20;
	if (!hw_is_intel_model(MODEL_BROADWELL_X) &&
	    !hw_is_intel_model(MODEL_SKYLAKE_X))
		return;
	if (i < 1 || i > ARRAY_SIZE(hw_mbm_corrections))
		return;

	millionths = hw_mbm_corrections[i - 1].millionths;
	if (millionths == MBM_EXACT)
		return;
	caps->mbm_correct_above = hw_mbm_corrections[i - 1].above;
	caps->mbm_correct_factor =
		(((u64)millionths << 20) + MBM_EXACT / 2) / MBM_EXACT;
}

static void hw_fill_snc(struct cmt_backend_caps *caps, u32 nodes)
{
	caps->nodes_per_l3 = nodes;
	if (nodes == 1)
		return;
	caps->nr_rmids /= nodes;
	caps->upscale_bytes /= nodes;
	caps->l3_bytes /= nodes;
	snprintf(caps->reason, sizeof(caps->reason),
		 "L3 monitoring in CPUID leaf 0xF, %u nodes per L3 (SNC)",
		 nodes);
}

static const char *hw_mbm_reason(const struct hw_leaves *leaves,
				 const struct cmt_backend_caps *caps)
{
	if (caps->events & CMT_MBM_EVENTS)
		return "";
	if (leaves->events & CMT_MBM_EVENTS)
		return "the kernel has disabled MBM";
	return "CPUID leaf 0xF lists no MBM event";
}

static void hw_fill_caps(struct cmt_backend_caps *caps,
			 const struct hw_leaves *leaves, u32 nodes_per_l3)
{
	caps->backend = CMT_BACKEND_HARDWARE;
	caps->vendor = cmt_topology_vendor();
	caps->nr_rmids = min_t(u32, leaves->max_rmid, CMT_MAX_RMIDS - 1) + 1;
	caps->rmid_room = min_t(u32, leaves->max_loadable, CMT_MAX_RMIDS - 1) + 1;
	caps->events = leaves->events & hw_kernel_events();
	caps->upscale_bytes = leaves->upscale;
	caps->shared_evtsel = hw_shares_evtsel(caps->vendor);
	caps->shared_rmids = true;
	caps->l3_bytes = cmt_topology_l3_bytes();
	hw_fill_correction(caps, leaves->max_rmid);

	strscpy(caps->reason, "L3 monitoring in CPUID leaf 0xF",
		sizeof(caps->reason));
	caps->counter_bits = hw_counter_bits(leaves->width_offset,
					     leaves->overflow_bit, caps->vendor);
	if (!caps->counter_bits) {
		/*
		 * As the kernel does: count modulo the architectural minimum.
		 * Too narrow is still right, since differences between two
		 * ticks are far below 2^24 units.
		 */
		caps->counter_bits = WIDTH_BASE;
		snprintf(caps->reason, sizeof(caps->reason),
			 "CPUID leaf 0xF; impossible counter width 24+%u ignored",
			 leaves->width_offset);
	}
	caps->data_mask = GENMASK_ULL(CTR_DATA_BITS - 1, 0);
	if (leaves->overflow_bit)
		caps->data_mask &= ~HW_CTR_OVERFLOW;
	hw_fill_snc(caps, nodes_per_l3);
	caps->mbm_reason = hw_mbm_reason(leaves, caps);
}

/* AMD's extensions (AMD_QOS_EBX_*); other agents switch them on and off. */
static u32 hw_amd_extensions(void)
{
	u32 eax, ebx, ecx, edx;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_AMD ||
	    cpuid_eax(0x80000000) < HW_CPUID_AMD_QOS)
		return 0;
	cpuid_count(HW_CPUID_AMD_QOS, 0, &eax, &ebx, &ecx, &edx);
	return ebx;
}

/* The types of traffic that an event or a counter can be made to count */
static u32 hw_amd_types(u32 extensions)
{
	u32 eax, ebx, ecx, edx;

	if (!(extensions & (AMD_QOS_EBX_BMEC | AMD_QOS_EBX_ABMC)))
		return 0;
	cpuid_count(HW_CPUID_AMD_QOS, AMD_QOS_TYPES, &eax, &ebx, &ecx, &edx);
	return ecx & HW_TYPES_TOTAL;
}

/* The nodes that share an L3, which only those of Intel's processors do */
static u32 hw_nodes_per_l3(void)
{
	return cmt_topology_vendor() == CMT_VENDOR_INTEL ?
		cmt_topology_nodes_per_l3() : 1;
}

/*
 * Has the package the mode off?  A kernel that knows SNC has switched it on everywhere.  This is
 * asked at load only: a resume can have reset the register of a package.
 */
static void hw_snc_look(void *unused)
{
	u64 config;

	if (!cmt_rdmsr_safe(HW_MSR_RMID_SNC_CONFIG, &config) &&
	    config & SNC_NOT_SHARING)
		WRITE_ONCE(hw.snc_was_off, true);
}

static int hw_init(struct cmt_backend_caps *caps)
{
	u32 extensions = hw_amd_extensions();
	struct hw_probe probe = {};
	u32 nodes_per_l3 = hw_nodes_per_l3();

	memset(caps, 0, sizeof(*caps));
	raw_spin_lock_init(&probe.lock);
	on_each_cpu(hw_probe_cpu, &probe, 1);
	if (!probe.refusal)
		probe.refusal = hw_refusal(&probe.leaves, nodes_per_l3);
	if (!probe.refusal && !hw_has_registers())
		probe.refusal = "the registers of RDT cannot be accessed";
	if (probe.refusal) {
		snprintf(caps->reason, sizeof(caps->reason), "%s%s",
			 probe.refusal, boot_cpu_has(X86_FEATURE_HYPERVISOR) ?
			 " (in a VM)" : "");
		return -ENODEV;
	}

	hw_fill_caps(caps, &probe.leaves, nodes_per_l3);
	caps->has_plza = extensions & AMD_QOS_EBX_PLZA;
	hw = (struct hw) {
		.caps = caps,
		.nr_rmids = caps->nr_rmids,
		.events = caps->events,
		.shared_evtsel = caps->shared_evtsel,
		.nodes_per_l3 = caps->nodes_per_l3,
		.has_abmc = extensions & AMD_QOS_EBX_ABMC,
		.types = hw_amd_types(extensions),
	};
	if (nodes_per_l3 > 1)
		on_each_cpu(hw_snc_look, NULL, 1);
	hw_read_init();
	hw_bmec_init(extensions & AMD_QOS_EBX_BMEC ? hw.events : 0, hw.types);
	return hw_abmc_init();
}

static void hw_snc_unshare(void *unused)
{
	u64 config;

	if (!cmt_rdmsr_safe(HW_MSR_RMID_SNC_CONFIG, &config))
		cmt_wrmsr_safe(HW_MSR_RMID_SNC_CONFIG, config | SNC_NOT_SHARING);
}

/*
 * cpu_down() restores the registers of CPUs; this one is of a package.  Another CPU of the
 * package may be reading.  Readings have interrupts off: after RCU's grace period, none is
 * under way that has not seen that it is Unavailable.
 */
static void hw_restore(void)
{
	if (!hw.snc_was_off)
		return;
	WRITE_ONCE(hw.restored, true);
	synchronize_rcu();
	on_each_cpu(hw_snc_unshare, NULL, true);
}

static void hw_exit(void)
{
	hw_abmc_exit();
	hw_restore();
}

/* The first CPU of the package switches the mode. */
static void hw_snc_share(void)
{
	u64 config;

	if (!cmt_rdmsr_safe(HW_MSR_RMID_SNC_CONFIG, &config) &&
	    config & SNC_NOT_SHARING)
		cmt_wrmsr_safe(HW_MSR_RMID_SNC_CONFIG, config & ~SNC_NOT_SHARING);
}

static void hw_cpu_up(u32 domain)
{
	struct hw_cpu *cpu = this_cpu_ptr(&hw_cpus);

	lockdep_assert_irqs_disabled();

	cpu->domain = domain;
	cpu->rmid_base = 0;
	if (hw.nodes_per_l3 > 1) {
		hw_snc_share();
		cpu->rmid_base = cpu_to_node(smp_processor_id()) %
				 hw.nodes_per_l3 * hw.nr_rmids;
	}
	hw_abmc_cpu_up(domain);
	hw_bmec_look(domain);
}

const struct cmt_backend cmt_hw_backend = {
	.init		= hw_init,
	.exit		= hw_exit,
	.restore	= hw_restore,
	.cpu_up		= hw_cpu_up,
	.sample		= hw_sample,
	.read		= hw_read,
};
