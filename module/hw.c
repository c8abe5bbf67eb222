// SPDX-License-Identifier: GPL-2.0
/*
 * The hardware backend: L3 monitoring of Intel RDT and AMD PQoS.
 *
 * CPUID leaf 0xF says what there is, IA32_PQR_ASSOC which RMID a CPU's fills
 * belong to; IA32_QM_EVTSEL and IA32_QM_CTR are the window to the counters
 * (SDM vol. 3B 18.18, APM vol. 2 19.3).
 *
 * Other agents use the same registers.  resctrl writes PQR_ASSOC at context
 * switches and CPU hotplug, and reads counters from work items.  Its CLOSID
 * half of PQR_ASSOC is never changed here, and EVTSEL is put back: a resctrl
 * read interrupted between EVTSEL and CTR then goes on as if nothing was.
 *
 * With sub-NUMA clusters (SNC) an L3 counts for each of its NUMA nodes by
 * itself, and a node is a domain.  The RMIDs of CPUID are divided among the
 * nodes: PQR_ASSOC takes a number below the quotient, and EVTSEL wants the
 * node's part added to it ("RMID sharing mode", Intel RDT Architecture
 * Specification).  Kernels before 6.11 do not know of that mode, so it is
 * switched on here where it is off, and off again at the end.
 *
 * EVTSEL and CTR are one pair per logical CPU on Intel.  With interrupts off
 * the kernel does not get at it, so one burst saves and restores EVTSEL once.
 * On AMD all CPUs of an L3 domain share one pair.  There every single read
 * takes the domain's lock, saves, reads and restores: a CPU which must read at
 * an RMID's allocation waits for one read of the sampler's CPU and not for its
 * burst, and resctrl on another CPU, which knows nothing of our lock, has the
 * smallest window in which it could meet us.
 */
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/types.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "backend.h"
#include "compat.h"
#include "uapi/cmt.h"

#define HW_MSR_QM_EVTSEL	0xc8d
#define HW_MSR_QM_CTR		0xc8e
#define HW_MSR_PQR_ASSOC	0xc8f
#define HW_MSR_RMID_SNC_CONFIG	0xca0

#define SNC_NOT_SHARING		BIT_ULL(0)

#define EVTSEL_RMID_SHIFT	32	/* RMID 41:32, event 7:0 */

#define CTR_ERROR		BIT_ULL(63)
#define CTR_UNAVAILABLE		BIT_ULL(62)
#define CTR_DATA_BITS		62
#define CTR_OVERFLOW		BIT_ULL(61)	/* where CPUID announces it */

#define PQR_RMID_HALF		GENMASK_ULL(31, 0)	/* RMID 9:0, else 0 */

#define CPUID_RDT_MON		0xf
#define RDT_LEAF7_EBX_PQM	BIT(12)
#define RDT_F0_EDX_L3		BIT(1)
#define RDT_F1_EAX_WIDTH	GENMASK(7, 0)
#define RDT_F1_EAX_OVERFLOW	BIT(8)
#define RDT_F1_EDX_OCCUPANCY	BIT(0)
#define RDT_F1_EDX_MBM_TOTAL	BIT(1)
#define RDT_F1_EDX_MBM_LOCAL	BIT(2)

#define WIDTH_BASE		24
#define WIDTH_DEFAULT_AMD	20	/* over the base, when EAX says 0 */
#define WIDTH_DEFAULT_HYGON	8
#define WIDTH_OFFSET_MAX	(CTR_DATA_BITS - WIDTH_BASE)

#define MODEL_BROADWELL_X	0x4f
#define MODEL_SKYLAKE_X		0x55	/* Skylake, Cascade and Cooper Lake */
#define SKYLAKE_LAST_BAD_STEPPING	4

/* How often a read is repeated when another agent changed EVTSEL meanwhile. */
#define HW_READ_TRIES		4

/* What CPUID says of one CPU, or of the least capable of several. */
struct hw_leaves {
	u32 max_rmid;
	u32 upscale;
	u32 events;		/* CMT_F_* */
	u32 width_offset;
	bool overflow_bit;
};

struct hw_probe {
	raw_spinlock_t lock;	/* protects the rest, CPUs report in parallel */
	const char *refusal;	/* the first CPU's which refused */
	bool any;		/* leaves is valid */
	struct hw_leaves leaves;
};

struct hw_domain {
	raw_spinlock_t lock;	/* the shared EVTSEL and CTR, AMD only; a leaf */
} ____cacheline_aligned_in_smp;

/* Touched by its own CPU only, interrupts off. */
struct hw_cpu {
	u64 evtsel;		/* another agent's, to be put back */
	u32 found_rmid;		/* RMID half of PQR_ASSOC at cpu_up() */
	u32 domain;
	u32 rmid_base;		/* of its node's RMIDs in EVTSEL */
	bool evtsel_saved;
	bool found;		/* found_rmid is valid */
};

/* Constant after init(). */
static struct {
	u32 nr_rmids;
	u32 events;
	u64 data_mask;		/* of CTR */
	bool shared_evtsel;
	u32 nodes_per_l3;
	bool snc_was_off;	/* the sharing mode; set by any CPU */
} hw __read_mostly;

static struct hw_domain hw_domains[CMT_MAX_DOMAINS];
static DEFINE_PER_CPU(struct hw_cpu, hw_cpus);

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

/* What this CPU's CPUID says; the refusal or NULL. */
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

	cpuid_count(CPUID_RDT_MON, 1, &eax, &ebx, &ecx, &edx);
	leaves->max_rmid = min(leaves->max_rmid, ecx);
	leaves->upscale = ebx;
	leaves->width_offset = eax & RDT_F1_EAX_WIDTH;
	leaves->overflow_bit = eax & RDT_F1_EAX_OVERFLOW;
	leaves->events = 0;
	if (edx & RDT_F1_EDX_OCCUPANCY)
		leaves->events |= CMT_F_OCCUPANCY;
	if (edx & RDT_F1_EDX_MBM_TOTAL)
		leaves->events |= CMT_F_MBM_TOTAL;
	if (edx & RDT_F1_EDX_MBM_LOCAL)
		leaves->events |= CMT_F_MBM_LOCAL;
	return NULL;
}

/* One counter unit for all CPUs, and otherwise the least any of them has. */
static const char *hw_merge_leaves(struct hw_leaves *all,
				   const struct hw_leaves *one)
{
	if (one->upscale != all->upscale ||
	    one->width_offset != all->width_offset ||
	    one->overflow_bit != all->overflow_bit)
		return "CPUs differ in counter unit or width";
	all->max_rmid = min(all->max_rmid, one->max_rmid);
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

/* The kernel's word counts too: clearcpuid= and its quirks clear these. */
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

/* NULL, or why the machine as a whole cannot be used. */
static const char *hw_refusal(const struct hw_leaves *leaves)
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
	return NULL;
}

/* Returns 0 for an offset which no counter can have. */
static u32 hw_counter_bits(const struct hw_leaves *leaves, u32 vendor)
{
	u32 offset = leaves->width_offset;
	u32 data_bits = CTR_DATA_BITS - (leaves->overflow_bit ? 1 : 0);

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

/* How many nodes an L3 counts for, each by itself. */
static u32 hw_nodes_per_l3(void)
{
	u64 config;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL ||
	    cmt_rdmsr_safe(HW_MSR_RMID_SNC_CONFIG, &config))
		return 1;
	return cmt_topology_nodes_per_l3();
}

static void hw_fill_snc(struct cmt_backend_caps *caps)
{
	u32 nodes = hw_nodes_per_l3();

	caps->nodes_per_l3 = 1;
	if (nodes == 1 || caps->nr_rmids / nodes < 2 ||
	    caps->upscale_bytes < nodes)
		return;
	caps->nodes_per_l3 = nodes;
	caps->nr_rmids /= nodes;
	caps->upscale_bytes /= nodes;
	caps->l3_bytes /= nodes;
	snprintf(caps->reason, sizeof(caps->reason),
		 "L3 monitoring in CPUID leaf 0xF, %u nodes per L3 (SNC)",
		 nodes);
}

static void hw_fill_caps(struct cmt_backend_caps *caps,
			 const struct hw_leaves *leaves)
{
	caps->backend = CMT_BACKEND_HARDWARE;
	caps->vendor = cmt_topology_vendor();
	caps->nr_rmids = min_t(u32, leaves->max_rmid, CMT_MAX_RMIDS - 1) + 1;
	caps->events = leaves->events & hw_kernel_events();
	caps->upscale_bytes = leaves->upscale;
	caps->shared_evtsel = caps->vendor == CMT_VENDOR_AMD ||
			      caps->vendor == CMT_VENDOR_HYGON;
	caps->shared_rmids = true;
	caps->l3_bytes = cmt_topology_l3_bytes();
	hw_fill_correction(caps, leaves->max_rmid);

	strscpy(caps->reason, "L3 monitoring in CPUID leaf 0xF",
		sizeof(caps->reason));
	caps->counter_bits = hw_counter_bits(leaves, caps->vendor);
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
	hw_fill_snc(caps);
}

static int hw_init(struct cmt_backend_caps *caps)
{
	struct hw_probe probe = {};
	u32 i;

	memset(caps, 0, sizeof(*caps));
	raw_spin_lock_init(&probe.lock);
	on_each_cpu(hw_probe_cpu, &probe, 1);
	if (!probe.refusal)
		probe.refusal = hw_refusal(&probe.leaves);
	if (probe.refusal) {
		snprintf(caps->reason, sizeof(caps->reason), "%s%s",
			 probe.refusal, boot_cpu_has(X86_FEATURE_HYPERVISOR) ?
			 " (in a VM)" : "");
		return -ENODEV;
	}

	hw_fill_caps(caps, &probe.leaves);
	hw.nr_rmids = caps->nr_rmids;
	hw.events = caps->events;
	hw.shared_evtsel = caps->shared_evtsel;
	hw.nodes_per_l3 = caps->nodes_per_l3;
	hw.snc_was_off = false;
	hw.data_mask = ~(CTR_ERROR | CTR_UNAVAILABLE);
	if (probe.leaves.overflow_bit)
		hw.data_mask &= ~CTR_OVERFLOW;
	for (i = 0; i < CMT_MAX_DOMAINS; i++)
		raw_spin_lock_init(&hw_domains[i].lock);
	return 0;
}

static void hw_snc_restore(void *unused)
{
	u64 config;

	if (!cmt_rdmsr_safe(HW_MSR_RMID_SNC_CONFIG, &config))
		cmt_wrmsr_safe(HW_MSR_RMID_SNC_CONFIG, config | SNC_NOT_SHARING);
}

/* cpu_down() has put back what each CPU has for itself; this is a package's. */
static void hw_exit(void)
{
	if (hw.snc_was_off)
		on_each_cpu(hw_snc_restore, NULL, true);
}

/* Any CPU of the package may come first. */
static void hw_snc_share(void)
{
	u64 config;

	if (cmt_rdmsr_safe(HW_MSR_RMID_SNC_CONFIG, &config) ||
	    !(config & SNC_NOT_SHARING))
		return;
	WRITE_ONCE(hw.snc_was_off, true);
	cmt_wrmsr_safe(HW_MSR_RMID_SNC_CONFIG, config & ~SNC_NOT_SHARING);
}

/*
 * The CLOSID half is read at every write: resctrl changes it at any time.  Who
 * has an RMID that the processor refuses runs as nobody, and not as the one
 * that ran before.
 */
static void hw_write_rmid(u32 rmid)
{
	u64 pqr;

	if (cmt_rdmsr_safe(HW_MSR_PQR_ASSOC, &pqr))
		return;
	pqr &= ~PQR_RMID_HALF;
	if (cmt_wrmsr_safe(HW_MSR_PQR_ASSOC, pqr | rmid))
		cmt_wrmsr_safe(HW_MSR_PQR_ASSOC, pqr | CMT_RMID_NONE);
}

static void hw_cpu_up(u32 domain)
{
	struct hw_cpu *cpu = this_cpu_ptr(&hw_cpus);
	u64 pqr;

	lockdep_assert_irqs_disabled();

	cpu->domain = domain;
	cpu->rmid_base = 0;
	if (hw.nodes_per_l3 > 1) {
		hw_snc_share();
		cpu->rmid_base = cpu_to_node(smp_processor_id()) %
				 hw.nodes_per_l3 * hw.nr_rmids;
	}
	cpu->evtsel_saved = false;
	cpu->found = !cmt_rdmsr_safe(HW_MSR_PQR_ASSOC, &pqr);
	if (!cpu->found)
		return;
	cpu->found_rmid = pqr & PQR_RMID_HALF;
	if (cpu->found_rmid != CMT_RMID_NONE)
		hw_write_rmid(CMT_RMID_NONE);
}

static void hw_cpu_down(void)
{
	struct hw_cpu *cpu = this_cpu_ptr(&hw_cpus);

	lockdep_assert_irqs_disabled();

	if (cpu->found)
		hw_write_rmid(cpu->found_rmid);
}

static void hw_set_rmid(u32 rmid)
{
	lockdep_assert_irqs_disabled();

	hw_write_rmid(rmid);
}

static int hw_get_rmid(u32 *rmid)
{
	u64 pqr;

	lockdep_assert_irqs_disabled();

	if (cmt_rdmsr_safe(HW_MSR_PQR_ASSOC, &pqr))
		return -EIO;
	*rmid = pqr & PQR_RMID_HALF;
	return 0;
}

static void hw_read_begin(void)
{
	struct hw_cpu *cpu = this_cpu_ptr(&hw_cpus);

	lockdep_assert_irqs_disabled();

	if (!hw.shared_evtsel)
		cpu->evtsel_saved = !cmt_rdmsr_safe(HW_MSR_QM_EVTSEL,
						    &cpu->evtsel);
}

static void hw_read_end(void)
{
	struct hw_cpu *cpu = this_cpu_ptr(&hw_cpus);

	lockdep_assert_irqs_disabled();

	if (cpu->evtsel_saved)
		cmt_wrmsr_safe(HW_MSR_QM_EVTSEL, cpu->evtsel);
	cpu->evtsel_saved = false;
}

/*
 * -EAGAIN: EVTSEL was changed under us, *ctr is anybody's and *others is what
 * the other agent wrote.  That is looked for on a private pair too: firmware
 * and a hypervisor get at it whatever we do with interrupts.
 */
static int hw_try_read(u64 evtsel, u64 *ctr, u64 *others)
{
	u64 evtsel_now;

	if (cmt_wrmsr_safe(HW_MSR_QM_EVTSEL, evtsel) ||
	    cmt_rdmsr_safe(HW_MSR_QM_CTR, ctr) ||
	    cmt_rdmsr_safe(HW_MSR_QM_EVTSEL, &evtsel_now))
		return -EIO;
	if (evtsel_now == evtsel)
		return 0;
	*others = evtsel_now;
	return -EAGAIN;
}

/* -EAGAIN: EVTSEL did not stay ours in any try, and is not ours now. */
static int hw_read_ctr(u64 evtsel, u64 *ctr, u64 *others)
{
	int i, err = -EAGAIN;

	for (i = 0; i < HW_READ_TRIES && err == -EAGAIN; i++)
		err = hw_try_read(evtsel, ctr, others);
	return err;
}

/* The same where the pair is the whole domain's; leaves it as it was. */
static int hw_read_ctr_shared(u64 evtsel, u64 *ctr, raw_spinlock_t *lock)
{
	u64 others;
	int err = -EIO;

	raw_spin_lock(lock);
	if (!cmt_rdmsr_safe(HW_MSR_QM_EVTSEL, &others)) {
		err = hw_read_ctr(evtsel, ctr, &others);
		if (err != -EAGAIN)
			cmt_wrmsr_safe(HW_MSR_QM_EVTSEL, others);
	}
	raw_spin_unlock(lock);
	return err;
}

static bool hw_has_event(enum cmt_event event)
{
	switch (event) {
	case CMT_EVENT_OCCUPANCY:
		return hw.events & CMT_F_OCCUPANCY;
	case CMT_EVENT_MBM_TOTAL:
		return hw.events & CMT_F_MBM_TOTAL;
	case CMT_EVENT_MBM_LOCAL:
		return hw.events & CMT_F_MBM_LOCAL;
	}
	return false;
}

static int hw_read(u32 rmid, enum cmt_event event, u64 *raw)
{
	struct hw_cpu *cpu = this_cpu_ptr(&hw_cpus);
	u64 evtsel = (u64)(cpu->rmid_base + rmid) << EVTSEL_RMID_SHIFT | event;
	u64 ctr;
	int err;

	lockdep_assert_irqs_disabled();

	if (!hw_has_event(event))
		return -EOPNOTSUPP;
	if (rmid >= hw.nr_rmids)
		return -EIO;

	if (hw.shared_evtsel)
		err = hw_read_ctr_shared(evtsel, &ctr,
					 &hw_domains[cpu->domain].lock);
	else
		err = hw_read_ctr(evtsel, &ctr, &cpu->evtsel);
	if (err || (ctr & CTR_ERROR))
		return -EIO;
	if (ctr & CTR_UNAVAILABLE)
		return -ENODATA;
	*raw = ctr & hw.data_mask;
	return 0;
}

const struct cmt_backend cmt_hw_backend = {
	.init		= hw_init,
	.exit		= hw_exit,
	.cpu_up		= hw_cpu_up,
	.cpu_down	= hw_cpu_down,
	.set_rmid	= hw_set_rmid,
	.get_rmid	= hw_get_rmid,
	.account	= NULL,
	.read_begin	= hw_read_begin,
	.read_end	= hw_read_end,
	.read		= hw_read,
};
