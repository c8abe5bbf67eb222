// SPDX-License-Identifier: GPL-2.0
/*
 * Enhanced RDT: the hardware backend of processors whose counters are registers in
 * memory, at the addresses in ACPI's ERDT table.  A reading selects nothing, so agents
 * do not disturb each other, and any CPU may read any domain.  PQR_ASSOC is used as with
 * the MSRs.
 *
 * RDT_CTRL of each domain says whether traffic is counted for these registers or for
 * the MSRs.  The mode is another agent's, and is never written here.  RDT_CTRL is read
 * before and after all counters of a burst, or of one RMID.  Traffic is unavailable
 * when RDT_CTRL is in MSR mode, or when another reader found MSR mode meanwhile.  It is
 * also unavailable in the first reading of each RMID after that, which has no base.
 * With MSR mode in any domain at load, hw.c reads the counters.
 *
 * A register of traffic counts the bytes to and from one region of memory.  These
 * counters have one width, so their sum wraps at that width, too.
 */
#include <linux/acpi.h>
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "backend.h"
#include "burst.h"
#include "compat.h"
#include "counter.h"
#include "erdt.h"
#include "uapi/cmt.h"

#define CPUID_RDT_MON		0xf
#define REGISTER_ONES		(~0ULL)	/* no device answers */
#define DATA_BITS		62
#define COUNTER_BITS_MIN	24	/* where nothing is counted */

static bool erdt = true;
module_param(erdt, bool, 0444);
MODULE_PARM_DESC(erdt, "read counters where ACPI's ERDT table has them (default 1)");

/* The registers of one domain. */
struct erdt_domain {
	const struct cmt_erdt_domain *is;
	void __iomem *control;
	void __iomem *cmrc;
	void __iomem *mmrc;
	u32 index;		/* of cmt's only domain with these registers, + 1 */
	atomic_t lapses;	/* the number of times that MSR mode was found */
	u32 *lapses_read;	/* as of the last reading of each RMID; its claim protects it */
};

/* Constant after init(), except the indexes of domains. */
static struct {
	u8 *table;		/* a copy */
	struct cmt_erdt parsed;
	struct erdt_domain domains[CMT_MAX_DOMAINS];
	u32 *factors;		/* by RMID; NULL: none */
	u32 regions;
	u64 mbm_mask;
	u64 most;		/* units of occupancy that fit in 64 bits of bytes */
} *state;

/* NULL: this CPU is not in the table, and its readings fail. */
static DEFINE_PER_CPU(struct erdt_domain *, erdt_domains);
/* The result of a CPU's check at load */
static DEFINE_PER_CPU(int, erdt_found);
static DEFINE_PER_CPU(u32, erdt_l3s);

/* A copy of an ACPI table, to be freed; NULL: there is none. */
static u8 *copy_table(char *signature, u32 *bytes)
{
	struct acpi_table_header *header;
	u8 *copy;

	*bytes = 0;
	if (!IS_ENABLED(CONFIG_ACPI) || acpi_disabled ||
	    ACPI_FAILURE(acpi_get_table(signature, 0, &header)))
		return NULL;
	copy = kvmalloc(header->length, GFP_KERNEL);
	if (copy) {
		memcpy(copy, header, header->length);
		*bytes = header->length;
	}
	acpi_put_table(header);
	return copy;
}

static u32 count_regions(void)
{
	u32 bytes, regions;
	u8 *mrrm = copy_table("MRRM", &bytes);

	regions = cmt_erdt_regions(mrrm, bytes);
	kvfree(mrrm);
	return regions;
}

/* RAM is not mapped as registers, whatever a table says. */
static const char *map(void __iomem **at, u64 base, u32 bytes)
{
	if (!bytes)
		return NULL;
	if (region_intersects(base, bytes, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT)
		return "registers are in RAM";
	*at = ioremap(base, bytes);
	return *at ? NULL : "registers cannot be mapped";
}

static const char *check_mode(const struct erdt_domain *d)
{
	u64 control = readq(d->control);

	if (control == REGISTER_ONES)
		return "a control register reads all ones";
	if (d->mmrc && control & CMT_ERDT_CTRL_MSR_MODE)
		return "traffic is counted for the MSRs (RDT_CTRL)";
	return NULL;
}

static const char *map_domain(struct erdt_domain *d,
			      const struct cmt_erdt_domain *is)
{
	const char *why;

	d->is = is;
	why = map(&d->control, is->control, CMT_ERDT_CONTROL_BYTES);
	why = why ?: map(&d->cmrc, is->cmrc.base, is->cmrc.bytes);
	why = why ?: map(&d->mmrc, is->mmrc.base, is->mmrc.bytes);
	return why ?: check_mode(d);
}

static const char *map_domains(void)
{
	const char *why = NULL;
	u32 i;

	for (i = 0; i < state->parsed.count && !why; i++)
		why = map_domain(&state->domains[i], &state->parsed.domains[i]);
	return why;
}

static void unmap(void __iomem *at)
{
	if (at)
		iounmap(at);
}

static void erdt_exit(void)
{
	u32 i;

	if (!state)
		return;
	for (i = 0; i < CMT_MAX_DOMAINS; i++) {
		unmap(state->domains[i].control);
		unmap(state->domains[i].cmrc);
		unmap(state->domains[i].mmrc);
		kvfree(state->domains[i].lapses_read);
	}
	kvfree(state->factors);
	kvfree(state->table);
	kvfree(state);
	state = NULL;
}

static void look_at_cpu(void *unused)
{
	*this_cpu_ptr(&erdt_found) = cmt_erdt_domain_of(&state->parsed,
							cmt_topology_apic_id());
	*this_cpu_ptr(&erdt_l3s) = cmt_topology_l3_id();
}

static const char *check_pair(int a, int b)
{
	bool one_l3 = per_cpu(erdt_l3s, a) == per_cpu(erdt_l3s, b);
	bool one_domain = per_cpu(erdt_found, a) == per_cpu(erdt_found, b);

	return one_l3 == one_domain ? NULL : "its domains are not the L3s";
}

/* Each domain of the table must have exactly the CPUs of one L3. */
static const char *check_cpus(void)
{
	const char *why = NULL;
	int cpu, other;

	cpus_read_lock();
	on_each_cpu(look_at_cpu, NULL, true);
	for_each_online_cpu(cpu) {
		if (per_cpu(erdt_found, cpu) < 0)
			why = why ?: "a CPU is in none of its domains, or in two";
		for_each_online_cpu(other) {
			if (other >= cpu || why)
				break;
			why = check_pair(cpu, other);
		}
	}
	cpus_read_unlock();
	return why;
}

static u32 count_rmids(void)
{
	u32 max_rmid = min_t(u32, state->parsed.max_rmid, CMT_MAX_RMIDS - 1);

	if (state->domains[0].mmrc)
		max_rmid = min_t(u32, max_rmid, CMT_ERDT_MBM_RMIDS - 1);
	/* PQR_ASSOC refuses RMIDs above CPUID's largest, where it has one */
	if (cpuid_eax(0) >= CPUID_RDT_MON && cpuid_ebx(CPUID_RDT_MON))
		max_rmid = min_t(u32, max_rmid, cpuid_ebx(CPUID_RDT_MON));
	return max_rmid + 1;
}

/* The number of RMIDs that PQR_ASSOC accepts; without CPUID's limit, any. */
static u32 count_loadable(void)
{
	if (cpuid_eax(0) < CPUID_RDT_MON || !cpuid_ebx(CPUID_RDT_MON))
		return CMT_MAX_RMIDS;
	return min_t(u32, cpuid_ebx(CPUID_RDT_MON), CMT_MAX_RMIDS - 1) + 1;
}

/* All domains are alike, so the factors of the first one are used. */
static int fill_factors(struct cmt_backend_caps *caps)
{
	const struct cmt_erdt_domain *first = &state->parsed.domains[0];
	u32 rmid;

	if (!first->nr_factors)
		return 0;
	state->factors = kvcalloc(caps->nr_rmids, sizeof(u32), GFP_KERNEL);
	if (!state->factors)
		return -ENOMEM;
	for (rmid = 0; rmid < caps->nr_rmids; rmid++)
		state->factors[rmid] = cmt_erdt_factor(first, rmid);
	caps->mbm_factors = state->factors;
	return 0;
}

static int alloc_lapses(u32 nr_rmids)
{
	u32 i;

	for (i = 0; i < state->parsed.count; i++) {
		u32 *read = kvcalloc(nr_rmids, sizeof(u32), GFP_KERNEL);

		if (!read)
			return -ENOMEM;
		state->domains[i].lapses_read = read;
	}
	return 0;
}

static int fill_caps(struct cmt_backend_caps *caps)
{
	const struct cmt_erdt_domain *first = &state->parsed.domains[0];

	caps->backend = CMT_BACKEND_HARDWARE;
	caps->vendor = cmt_topology_vendor();
	caps->nr_rmids = count_rmids();
	caps->rmid_room = count_loadable();
	caps->events = (first->cmrc.bytes ? CMT_F_OCCUPANCY : 0) |
		       (first->mmrc.bytes ? CMT_F_MBM_TOTAL : 0);
	caps->upscale_bytes = first->cmrc.unit ?: first->mmrc.unit;
	caps->mbm_unit_bytes = first->mmrc.unit;
	caps->counter_bits = first->width ?: COUNTER_BITS_MIN;
	caps->data_mask = GENMASK_ULL(DATA_BITS - 1, 0);
	caps->mbm_correct_above = U32_MAX;
	caps->shared_rmids = true;
	caps->nodes_per_l3 = 1;
	caps->l3_bytes = cmt_topology_l3_bytes();
	caps->mbm_reason = first->mmrc.bytes ? "" :
			   "the ERDT table has no registers of traffic";
	strscpy(caps->reason, "registers in memory, ACPI's ERDT table",
		sizeof(caps->reason));
	state->regions = count_regions();
	state->most = U64_MAX / caps->upscale_bytes;
	state->mbm_mask = GENMASK_ULL(caps->counter_bits - 1, 0);
	return alloc_lapses(caps->nr_rmids) ?: fill_factors(caps);
}

static int use_table(u8 *table, u32 bytes, struct cmt_backend_caps *caps)
{
	const char *why;

	state = kvzalloc(sizeof(*state), GFP_KERNEL);
	if (!state) {
		kvfree(table);
		return -ENOMEM;
	}
	state->table = table;
	why = cmt_erdt_parse(&state->parsed, table, bytes,
			     BIT_ULL(boot_cpu_data.x86_phys_bits));
	why = why ?: check_cpus();
	why = why ?: map_domains();
	if (!why)
		return fill_caps(caps);
	pr_warn("ERDT is not used: %s\n", why);
	return -ENODEV;
}

/* *caps gets no reason, because the caller tries the MSRs next. */
static int erdt_init(struct cmt_backend_caps *caps)
{
	u32 bytes;
	u8 *table;
	int err;

	memset(caps, 0, sizeof(*caps));
	/* clearcpuid=cqm clears the feature; without it there is no PQR_ASSOC */
	if (!erdt || !boot_cpu_has(X86_FEATURE_CQM))
		return -ENODEV;
	table = copy_table("ERDT", &bytes);
	if (!table)
		return -ENODEV;
	err = use_table(table, bytes, caps);
	if (err)
		erdt_exit();
	return err;
}

/*
 * A CPU that was offline at load is checked here: it has no counters unless its L3 is
 * the one of its registers.
 */
static void erdt_cpu_up(u32 domain)
{
	struct erdt_domain *d;
	int found;
	u32 old = 0;

	lockdep_assert_irqs_disabled();

	*this_cpu_ptr(&erdt_domains) = NULL;
	found = cmt_erdt_domain_of(&state->parsed, cmt_topology_apic_id());
	if (found < 0)
		return;
	d = &state->domains[found];
	if (!try_cmpxchg(&d->index, &old, domain + 1) && old != domain + 1)
		return;
	*this_cpu_ptr(&erdt_domains) = d;
}

/* A register as a raw value.  The overflow bit is dropped: the value shows a wrap, too. */
static u64 raw_of(u64 value, u64 mask)
{
	if (value == REGISTER_ONES)
		return CMT_RAW_ERROR;
	if (value & CMT_ERDT_UNAVAILABLE)
		return CMT_RAW_UNAVAILABLE;
	return value & mask;
}

static u64 read_occupancy(const struct erdt_domain *d, u32 rmid)
{
	u64 raw;

	if (!d->cmrc)
		return CMT_RAW_UNAVAILABLE;
	raw = raw_of(readq(d->cmrc + cmt_erdt_cmrc_offset(d->is, rmid)),
		     GENMASK_ULL(DATA_BITS - 1, 0));
	if (raw < CMT_RAW_UNAVAILABLE && raw > state->most)
		return CMT_RAW_ERROR;
	return raw;
}

static u64 read_traffic(const struct erdt_domain *d, u32 rmid)
{
	u64 sum = 0, status = 0, raw;
	u32 region;

	if (!d->mmrc)
		return CMT_RAW_UNAVAILABLE;
	for (region = 0; region < state->regions; region++) {
		raw = raw_of(readq(d->mmrc + cmt_erdt_mmrc_offset(rmid, region)),
			     state->mbm_mask);
		status |= raw & (CMT_RAW_ERROR | CMT_RAW_UNAVAILABLE);
		sum += raw;
	}
	return status ?: sum & state->mbm_mask;
}

/* What a burst or a reading on demand reads, and where */
struct erdt_read {
	struct erdt_domain *d;
	u32 events;
};

/* An event that is not read is 0: Unavailable would end the base of the total. */
static __always_inline void read_rmid(void *context, u32 rmid,
				      struct cmt_raws *raws)
{
	const struct erdt_read *r = context;

	*raws = (struct cmt_raws) {};
	if (r->events & CMT_F_OCCUPANCY)
		raws->occupancy = read_occupancy(r->d, rmid);
	if (r->events & CMT_F_MBM_TOTAL)
		raws->total = read_traffic(r->d, rmid);
}

/* On a CPU without registers in the table */
static __always_inline void read_failing(void *context, u32 rmid, struct cmt_raws *raws)
{
	raws->local = 0;
	raws->occupancy = CMT_RAW_ERROR;
	raws->total = CMT_RAW_ERROR;
}

/* Count a lapse in MSR mode.  Without traffic registers the mode does not matter. */
static void look_at_mode(struct erdt_domain *d)
{
	if (readq(d->control) & CMT_ERDT_CTRL_MSR_MODE)
		atomic_inc(&d->lapses);
}

/*
 * Traffic is the difference to the last reading of an RMID.  Drop it if there was a lapse
 * since that reading, or (not @held) since @lapses was read, before this reading.  The
 * caller has claimed the RMID.
 */
static void drop_lapsed(struct erdt_domain *d, u32 lapses, bool held, u32 rmid,
			struct cmt_raws *raws)
{
	u32 *read = &d->lapses_read[rmid];

	if (!held || *read != lapses)
		raws->total = CMT_RAW_UNAVAILABLE;
	*read = lapses;
}

static void sample_domain(struct erdt_domain *d, struct cmt_burst *burst)
{
	struct erdt_read r = { .d = d, .events = burst->events };
	u32 lapses = atomic_read(&d->lapses);
	struct cmt_reading *reading;
	bool held;

	look_at_mode(d);
	cmt_burst_run(burst, read_rmid, &r);
	look_at_mode(d);
	held = (u32)atomic_read(&d->lapses) == lapses;
	for (reading = burst->readings; reading != burst->end; reading++)
		drop_lapsed(d, lapses, held, reading->counter - burst->counters,
			    &reading->raws);
}

static int erdt_sample(struct cmt_burst *burst)
{
	struct erdt_domain *d = *this_cpu_ptr(&erdt_domains);

	lockdep_assert_irqs_disabled();

	if (d)
		sample_domain(d, burst);
	else
		cmt_burst_run(burst, read_failing, NULL);
	burst->flawed = true;
	return 0;
}

static void erdt_read(u32 rmid, u32 events, struct cmt_raws *raws)
{
	struct erdt_domain *d = *this_cpu_ptr(&erdt_domains);
	struct erdt_read r = { .d = d, .events = events };
	u32 lapses;

	lockdep_assert_irqs_disabled();

	if (!d)
		return read_failing(NULL, rmid, raws);
	lapses = atomic_read(&d->lapses);
	look_at_mode(d);
	read_rmid(&r, rmid, raws);
	look_at_mode(d);
	drop_lapsed(d, lapses, (u32)atomic_read(&d->lapses) == lapses, rmid, raws);
}

const struct cmt_backend cmt_erdt_backend = {
	.init		= erdt_init,
	.exit		= erdt_exit,
	.cpu_up		= erdt_cpu_up,
	.sample		= erdt_sample,
	.read		= erdt_read,
};
