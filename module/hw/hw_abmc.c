// SPDX-License-Identifier: GPL-2.0
/*
 * The registers of AMD's assignable counters.
 *
 * resctrl configures counters by writes of L3_QOS_ABMC_CFG, which each logical CPU
 * has, and remembers its writes.  So resctrl does not know the counters that cmt
 * configured, and may configure any of them at any time.  Therefore each reading
 * checks in L3_QOS_ABMC_DSC afterwards that the counter still has cmt's configuration.
 * A counter with another one, or one that has decreased or wrapped, is lost: it is not read until
 * abmc.c has released it.  One that has had no value yet may be unavailable until there is
 * traffic.
 *
 * A counter of the domain belongs to one RMID.  The counter and its "last" change only
 * while that RMID is claimed (burst.h).
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/processor.h>

#include "backend.h"
#include "compat.h"
#include "counter.h"
#include "hw_abmc.h"
#include "hw_msr.h"

#define MSR_L3_QOS_ABMC_CFG	0xc00003fd
#define MSR_L3_QOS_ABMC_DSC	0xc00003fe
#define MSR_L3_QOS_EXT_CFG	0xc00003ff

#define EXT_CFG_ABMC		BIT_ULL(0)

#define CFG_CONFIGURE		BIT_ULL(63)
#define CFG_ENABLE		BIT_ULL(62)
#define CFG_ID_SHIFT		48
#define CFG_IS_CLOSID		BIT_ULL(47)
#define CFG_RMID_SHIFT		32
#define CFG_RMID		GENMASK_ULL(43, 32)
#define CFG_TYPES		GENMASK_ULL(31, 0)
/* The bits that say what a counter counts; the other bits select the counter. */
#define CFG_MEANING		(CFG_ENABLE | CFG_IS_CLOSID | CFG_RMID | CFG_TYPES)

#define EVTSEL_EXTENDED		BIT_ULL(31)
#define EVTSEL_COUNTER		1ULL

#define SUBLEAF_COUNTERS	5	/* EAX: the width; EBX: the last counter */

#define HEAT_READ		1U	/* the least heat of an RMID that was read */
#define HEAT_SEEN		64U	/* added when the RMID is loaded on a CPU */
#define HEAT_MAX		BIT(30)

struct abmc_counter {
	u64 config;	/* the expected meaning of L3_QOS_ABMC_DSC; 0: not cmt's counter */
	u64 last;	/* the last raw value */
	bool begun;	/* there was one */
	bool lost;
};

struct abmc_domain {
	u32 state;	/* enum hw_abmc_state */
	u32 others;	/* bits of the counters that other agents use */
	struct abmc_counter counters[HW_ABMC_MAX];
	u32 *heat;	/* by RMID */
};

static struct abmc_domain *domains;	/* by index; NULL: no assignable counters */
static u32 *heats;			/* heat of all domains */
static u32 nr_domains;			/* 0: no assignable counters */
static u32 nr_counters;
static u64 data_mask;			/* the counter in a raw value */
static u64 overflow;			/* the bit of a counter that has wrapped, or 0 */

static u64 types_of(enum cmt_event event)
{
	return hw_types_of(event) & hw.types;
}

static u64 config_of(u32 rmid, enum cmt_event event)
{
	return CFG_ENABLE | (u64)rmid << CFG_RMID_SHIFT | types_of(event);
}

static int alloc_domains(u32 nr)
{
	u32 i;

	domains = kvcalloc(nr, sizeof(*domains), GFP_KERNEL);
	heats = kvcalloc(nr * hw.nr_rmids, sizeof(*heats), GFP_KERNEL);
	if (!domains || !heats) {
		hw_abmc_exit();
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++)
		domains[i].heat = &heats[i * hw.nr_rmids];
	nr_domains = nr;
	return 0;
}

/* @eax: of the subleaf.  The width is not that of the counters of RMIDs. */
static void set_width(u32 eax)
{
	bool announced = eax & HW_CPUID_OVERFLOW;
	u32 bits = hw_counter_bits(eax & HW_CPUID_WIDTH, announced,
				   CMT_VENDOR_AMD) ?: hw.caps->counter_bits;

	data_mask = GENMASK_ULL(bits - 1, 0);
	overflow = announced ? HW_CTR_OVERFLOW : 0;
}

int hw_abmc_init(void)
{
	u32 eax, ebx, ecx, edx;

	if (!hw.has_abmc)
		return 0;
	cpuid_count(HW_CPUID_AMD_QOS, SUBLEAF_COUNTERS, &eax, &ebx, &ecx, &edx);
	nr_counters = min_t(u32, (ebx & 0xffff) + 1, HW_ABMC_MAX);
	set_width(eax);
	return alloc_domains(min_t(u32, num_possible_cpus(), CMT_MAX_DOMAINS));
}

void hw_abmc_exit(void)
{
	kvfree(heats);
	kvfree(domains);
	heats = NULL;
	domains = NULL;
	nr_domains = 0;
}

/* The mode in the register; -EIO: the register cannot be read. */
static int is_on(void)
{
	u64 config;

	if (cmt_rdmsr_safe(MSR_L3_QOS_EXT_CFG, &config))
		return -EIO;
	return !!(config & EXT_CFG_ABMC);
}

static enum hw_abmc_state state_now(void)
{
	int on = is_on();

	if (on < 0)
		return HW_ABMC_CHANGING;
	return on ? HW_ABMC_ON : HW_ABMC_OFF;
}

void hw_abmc_cpu_up(u32 domain)
{
	if (domains && domains[domain].state == HW_ABMC_UNKNOWN)
		WRITE_ONCE(domains[domain].state, state_now());
}

/* Where the register cannot be read, the mode is unknown for this call. */
enum hw_abmc_state hw_abmc_look(u32 domain)
{
	u32 state;
	int on;

	if (!domains)
		return HW_ABMC_OFF;
	on = is_on();
	if (on < 0)
		return HW_ABMC_CHANGING;
	state = READ_ONCE(domains[domain].state);
	if (state == (on ? HW_ABMC_ON : HW_ABMC_OFF))
		return state;
	WRITE_ONCE(domains[domain].state, HW_ABMC_CHANGING);
	return HW_ABMC_CHANGING;
}

bool hw_abmc_is_still(enum hw_abmc_state state)
{
	return !domains || state == HW_ABMC_CHANGING || state_now() == state;
}

void hw_abmc_switched(u32 domain)
{
	WRITE_ONCE(domains[domain].state, HW_ABMC_CHANGING);
}

void hw_abmc_settle(u32 domain)
{
	struct abmc_domain *d = &domains[domain];

	memset(d->counters, 0, sizeof(d->counters));
	d->others = 0;
	/* a CPU that loads the new state finds none of the old counters */
	smp_store_release(&d->state, state_now());
}

/* Read what a counter counts now. */
static int describe(u32 id, u64 *meaning)
{
	int ret = cmt_wrmsr_safe(MSR_L3_QOS_ABMC_CFG, (u64)id << CFG_ID_SHIFT);

	ret = ret ?: cmt_rdmsr_safe(MSR_L3_QOS_ABMC_DSC, meaning);
	*meaning &= CFG_MEANING;
	return ret;
}

static int configure(u32 id, u64 meaning)
{
	return cmt_wrmsr_safe(MSR_L3_QOS_ABMC_CFG, CFG_CONFIGURE |
			      (u64)id << CFG_ID_SHIFT | meaning);
}

/* The number of the counter; nr_counters: there is none. */
static u32 counter_find(const struct abmc_domain *d, u64 config)
{
	u32 id;

	for (id = 0; id < nr_counters; id++)
		if (READ_ONCE(d->counters[id].config) == config)
			break;
	return id;
}

static u64 counter_read(struct abmc_domain *d, u32 id)
{
	struct abmc_counter *c = &d->counters[id];
	u64 raw, meaning = 0;

	raw = hw_read_selected((u64)id << 32 | EVTSEL_EXTENDED | EVTSEL_COUNTER);
	if (raw & CMT_RAW_ERROR || describe(id, &meaning))
		return CMT_RAW_ERROR;
	if (meaning == c->config && raw & CMT_RAW_UNAVAILABLE && !c->begun)
		return CMT_RAW_UNAVAILABLE;
	if (meaning != c->config || raw & (CMT_RAW_UNAVAILABLE | overflow) ||
	    (raw & data_mask) < c->last) {
		WRITE_ONCE(c->lost, true);
		return CMT_RAW_UNAVAILABLE;
	}
	raw &= data_mask;
	c->begun = true;
	c->last = raw;
	return raw;
}

u64 hw_abmc_read(u32 domain, u32 rmid, enum cmt_event event)
{
	struct abmc_domain *d = &domains[domain];
	u32 id = counter_find(d, config_of(rmid, event));

	if (!READ_ONCE(d->heat[rmid]))
		WRITE_ONCE(d->heat[rmid], HEAT_READ);
	if (id == nr_counters || d->counters[id].lost)
		return CMT_RAW_UNAVAILABLE;
	return counter_read(d, id);
}

void hw_abmc_heat(u32 domain, u32 rmid)
{
	u32 *heat = &domains[domain].heat[rmid];

	WRITE_ONCE(*heat, min(READ_ONCE(*heat) + HEAT_SEEN, HEAT_MAX));
}

void hw_abmc_cool(u32 domain, u32 rmid)
{
	u32 *heat = &domains[domain].heat[rmid];
	u32 now = READ_ONCE(*heat);

	WRITE_ONCE(*heat, now - DIV_ROUND_UP(now, 8));
}

static void scan_one(struct abmc_domain *d, u32 id, u64 meaning)
{
	struct abmc_counter *c = &d->counters[id];

	if (c->config && meaning != c->config)
		WRITE_ONCE(c->lost, true);
	if (meaning & CFG_ENABLE && meaning != c->config)
		d->others |= BIT(id);
	else
		d->others &= ~BIT(id);
}

bool hw_abmc_scan(u32 domain)
{
	struct abmc_domain *d = &domains[domain];
	u64 meaning;
	u32 id;

	if (hw_abmc_look(domain) != HW_ABMC_ON)
		return false;
	for (id = 0; id < nr_counters; id++) {
		if (describe(id, &meaning))
			return false;
		scan_one(d, id, meaning);
	}
	return true;
}

/* From the highest counter down: resctrl takes the lowest free counter. */
static int counter_free(const struct abmc_domain *d)
{
	u64 meaning;
	int id;

	for (id = nr_counters - 1; id >= 0; id--)
		if (!d->counters[id].config && !describe(id, &meaning) &&
		    !(meaning & CFG_ENABLE))
			return id;
	return -ENOSPC;
}

static int assign_event(struct abmc_domain *d, u32 rmid, enum cmt_event event)
{
	u64 config = config_of(rmid, event);
	int id;

	if (counter_find(d, config) < nr_counters)
		return 0;
	id = counter_free(d);
	if (id < 0)
		return id;
	if (configure(id, config))
		return -EIO;
	d->counters[id].last = 0;
	d->counters[id].begun = false;
	d->counters[id].lost = false;
	WRITE_ONCE(d->counters[id].config, config);
	return 0;
}

void hw_abmc_assign(u32 domain, u32 rmid)
{
	struct abmc_domain *d = &domains[domain];
	int ret = 0;

	if (READ_ONCE(d->state) != HW_ABMC_ON)
		return;
	if (hw.events & CMT_F_MBM_TOTAL)
		ret = assign_event(d, rmid, CMT_EVENT_MBM_TOTAL);
	if (!ret && hw.events & CMT_F_MBM_LOCAL)
		assign_event(d, rmid, CMT_EVENT_MBM_LOCAL);
}

/*
 * The configuration of another agent is kept.  After a failed access the counter is
 * lost, and must be released again.
 */
static void counter_give_back(struct abmc_domain *d, u32 id)
{
	struct abmc_counter *c = &d->counters[id];
	u64 meaning;

	WRITE_ONCE(c->lost, true);
	if (describe(id, &meaning) ||
	    (meaning == c->config && configure(id, 0)))
		return;
	WRITE_ONCE(c->config, 0);
	WRITE_ONCE(c->lost, false);
}

void hw_abmc_release(u32 domain, u32 rmid)
{
	struct abmc_domain *d = &domains[domain];
	u64 config;
	u32 id;

	for (id = 0; id < nr_counters; id++) {
		config = READ_ONCE(d->counters[id].config);
		if (config && (config & CFG_RMID) >> CFG_RMID_SHIFT == rmid)
			counter_give_back(d, id);
	}
}

void hw_abmc_view(u32 domain, struct hw_abmc_view *view)
{
	const struct abmc_domain *d;
	u32 id;

	*view = (struct hw_abmc_view) { .state = HW_ABMC_OFF };
	if (!domains)
		return;
	d = &domains[domain];
	view->state = READ_ONCE(d->state);
	view->counters = nr_counters;
	view->others = hweight32(READ_ONCE(d->others));
	for (id = 0; id < nr_counters; id++)
		view->ours += !!READ_ONCE(d->counters[id].config);
}

u64 hw_abmc_domains_on(void)
{
	u64 on = 0;
	u32 i;

	for (i = 0; i < nr_domains; i++)
		if (READ_ONCE(domains[i].state) == HW_ABMC_ON)
			on |= BIT_ULL(i);
	return on;
}

bool hw_abmc_exists(void)
{
	return hw.has_abmc && hw.events & CMT_MBM_EVENTS;
}

bool hw_abmc_usable(void)
{
	return domains && hw.events & CMT_MBM_EVENTS &&
	       types_of(CMT_EVENT_MBM_LOCAL);
}

u32 hw_abmc_rmid_of(u32 domain, u32 id)
{
	u64 config = domains ? READ_ONCE(domains[domain].counters[id].config) : 0;

	return config ? (config & CFG_RMID) >> CFG_RMID_SHIFT : HW_ABMC_NO_RMID;
}

void hw_abmc_rmids(u32 domain, unsigned long *assigned, unsigned long *lost)
{
	const struct abmc_domain *d = &domains[domain];
	u32 id, rmid;

	for (id = 0; id < nr_counters; id++) {
		rmid = hw_abmc_rmid_of(domain, id);
		if (rmid == HW_ABMC_NO_RMID)
			continue;
		__set_bit(rmid, assigned);
		if (READ_ONCE(d->counters[id].lost))
			__set_bit(rmid, lost);
	}
}

u32 hw_abmc_heat_of(u32 domain, u32 rmid)
{
	return READ_ONCE(domains[domain].heat[rmid]);
}
