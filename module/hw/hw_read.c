// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of the hardware backend: IA32_QM_EVTSEL selects RMID and event,
 * IA32_QM_CTR gives the value.
 *
 * Intel has one such pair for each logical CPU.  With interrupts off no other code of
 * the kernel accesses it, so a burst saves EVTSEL once and restores it at the end: a
 * reading of resctrl that the tick interrupted is not disturbed.  Before it restores,
 * the burst checks once that EVTSEL is what the burst wrote last.  Only firmware or a
 * hypervisor can have changed EVTSEL; then the complete burst is discarded.
 * docs/decisions/0016-burst.md says which changes this does not detect.
 *
 * AMD and Hygon have one pair for all CPUs of a domain, and resctrl on another CPU may
 * write EVTSEL at any time.  So each reading takes the lock of the domain, and checks
 * EVTSEL.  A reading of resctrl is wrong if a write of EVTSEL comes between its two
 * accesses, so cmt writes as seldom as it can: EVTSEL is restored once, at the end, and
 * only if no other agent has written it since.  sample/partition.c lets one CPU of the
 * domain read while resctrl is mounted: on kernels whose resctrl reads on a known CPU, it
 * is this CPU, and no reading of resctrl is wrong.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "backend.h"
#include "burst.h"
#include "compat.h"
#include "hw_abmc.h"
#include "hw_bmec.h"
#include "hw_mbm.h"
#include "hw_msr.h"

#define CTR_HIGH_STATUS	((u32)((CMT_RAW_ERROR | CMT_RAW_UNAVAILABLE) >> 32))

/* Attempts at a reading when another agent changes EVTSEL meanwhile */
#define HW_READ_TRIES	4

/* An L3 domain moves less in 65 us, the unit of a mark (burst.h): 1 TB/s */
#define HW_MARK_BYTES	BIT_ULL(26)

/* A raw value is stored in halves, as RDMSR returns it. */
typedef u32 __attribute__((__may_alias__)) cmt_raw_half;

struct hw_domain {
	raw_spinlock_t lock;	/* the shared EVTSEL and CTR, AMD only; a leaf */
} ____cacheline_aligned_in_smp;

static struct hw_domain hw_domains[CMT_MAX_DOMAINS];

static DECLARE_BITMAP(hw_skipped, CMT_MAX_RMIDS);	/* RMIDs; AMD only */

void hw_read_init(void)
{
	u32 i;

	bitmap_zero(hw_skipped, CMT_MAX_RMIDS);
	for (i = 0; i < CMT_MAX_DOMAINS; i++)
		raw_spin_lock_init(&hw_domains[i].lock);
}

void hw_mbm_skip(u32 rmid, bool skip)
{
	if (hw.shared_evtsel)
		assign_bit(rmid, hw_skipped, skip);
}

bool hw_mbm_skips(void)
{
	return !bitmap_empty(hw_skipped, CMT_MAX_RMIDS);
}

bool hw_mbm_skips_rmid(u32 rmid)
{
	return test_bit(rmid, hw_skipped);
}

static u64 hw_evtsel(u32 rmid, enum cmt_event event)
{
	return (u64)rmid << 32 | event;
}

/* A burst on Intel: failures are checked once, after all readings. */
struct hw_burst {
	u32 rmid_base;
	u32 events;		/* those to be read */
	u32 last;		/* RMID in EVTSEL */
	u32 highs;		/* halves of all values */
};

static __always_inline void hw_burst_event(struct hw_burst *b,
					   enum cmt_event event, u64 *raw)
{
	u32 low = event, high = b->last;

	cmt_msr_select_read(HW_MSR_QM_EVTSEL, HW_MSR_QM_CTR, low, high,
			    b->highs);
	((cmt_raw_half *)raw)[0] = low;
	((cmt_raw_half *)raw)[1] = high;
}

static __always_inline void hw_burst_read(void *context, u32 rmid,
					  struct cmt_raws *raws)
{
	struct hw_burst *b = context;

	b->last = b->rmid_base + rmid;
	hw_burst_event(b, CMT_EVENT_OCCUPANCY, &raws->occupancy);
	hw_burst_event(b, CMT_EVENT_MBM_TOTAL, &raws->total);
	hw_burst_event(b, CMT_EVENT_MBM_LOCAL, &raws->local);
}

/* The same of some events.  The tests are few beside an access, and all events have none. */
static __always_inline void hw_burst_read_some(void *context, u32 rmid,
					       struct cmt_raws *raws)
{
	struct hw_burst *b = context;

	*raws = (struct cmt_raws) {};
	b->last = b->rmid_base + rmid;
	if (b->events & CMT_F_OCCUPANCY)
		hw_burst_event(b, CMT_EVENT_OCCUPANCY, &raws->occupancy);
	if (b->events & CMT_F_MBM_TOTAL)
		hw_burst_event(b, CMT_EVENT_MBM_TOTAL, &raws->total);
	if (b->events & CMT_F_MBM_LOCAL)
		hw_burst_event(b, CMT_EVENT_MBM_LOCAL, &raws->local);
}

/* -EAGAIN: EVTSEL is no longer @evtsel, and *ctr is of another selection. */
static int hw_try_read(u64 evtsel, u64 *ctr, u64 *now)
{
	if (cmt_wrmsr_safe(HW_MSR_QM_EVTSEL, evtsel) ||
	    cmt_rdmsr_safe(HW_MSR_QM_CTR, ctr) ||
	    cmt_rdmsr_safe(HW_MSR_QM_EVTSEL, now))
		return -EIO;
	return *now == evtsel ? 0 : -EAGAIN;
}

/*
 * One event with every access checked.  The first reading saves EVTSEL, which
 * hw_evtsel_restore() restores.  The processor may have reported Unavailable for
 * @evtsel, and reports it only once, before EVTSEL was changed: so Unavailable also
 * holds for the next attempt; but not for occupancy, where it comes at each reading.
 */
static u64 hw_select_read(struct hw_cpu *cpu, u64 evtsel)
{
	u64 ctr = 0, said = 0, now;
	int i, err = -EAGAIN;

	if (!cpu->saved && cmt_rdmsr_safe(HW_MSR_QM_EVTSEL, &cpu->others))
		return CMT_RAW_ERROR;
	cpu->saved = true;
	cpu->selected = evtsel;
	for (i = 0; i < HW_READ_TRIES && err == -EAGAIN; i++) {
		err = hw_try_read(evtsel, &ctr, &now);
		if (err == -EAGAIN) {
			cpu->others = now;
			if ((u32)evtsel != CMT_EVENT_OCCUPANCY)
				said |= ctr & CMT_RAW_UNAVAILABLE;
		}
	}
	return err ? CMT_RAW_ERROR : ctr | said;
}

u64 hw_read_selected(u64 evtsel)
{
	struct hw_cpu *cpu = this_cpu_ptr(&hw_cpus);
	raw_spinlock_t *lock = &hw_domains[cpu->domain].lock;
	u64 raw;

	raw_spin_lock(lock);
	raw = hw_select_read(cpu, evtsel);
	raw_spin_unlock(lock);
	return raw;
}

static void hw_evtsel_write_back(const struct hw_cpu *cpu)
{
	u64 now;

	if (cmt_rdmsr_safe(HW_MSR_QM_EVTSEL, &now) || now == cpu->selected)
		cmt_wrmsr_safe(HW_MSR_QM_EVTSEL, cpu->others);
}

/*
 * The end of the readings on this CPU.  EVTSEL is what another agent wrote last, which may
 * be resctrl, interrupted on this CPU between its two accesses.
 */
static void hw_evtsel_restore(struct hw_cpu *cpu)
{
	raw_spinlock_t *lock = &hw_domains[cpu->domain].lock;

	if (!cpu->saved)
		return;
	cpu->saved = false;
	if (!hw.shared_evtsel) {
		hw_evtsel_write_back(cpu);
		return;
	}
	raw_spin_lock(lock);
	hw_evtsel_write_back(cpu);
	raw_spin_unlock(lock);
}

/* One event that the processor has. */
static u64 hw_read_one(struct hw_cpu *cpu, u32 rmid, enum cmt_event event)
{
	if (hw.shared_evtsel)
		return hw_read_selected(hw_evtsel(rmid, event));
	return hw_select_read(cpu, hw_evtsel(rmid, event));
}

/*
 * While assignable counters are on, a plain reading of an MBM event is none.  While they
 * are off, it is of something else where another agent chose what the event counts, and
 * of some RMIDs only resctrl may read it.
 */
static u64 hw_read_mbm(struct hw_cpu *cpu, u32 rmid, enum cmt_event event,
		       enum hw_abmc_state state)
{
	switch (state) {
	case HW_ABMC_OFF:
		if (hw_bmec_other(cpu->domain) & hw_event_flag(event) ||
		    test_bit(rmid, hw_skipped))
			return CMT_RAW_UNAVAILABLE;
		return hw_read_one(cpu, rmid, event);
	case HW_ABMC_ON:
		return hw_abmc_read(cpu->domain, rmid, event);
	default:
		return CMT_RAW_UNAVAILABLE;
	}
}

static void hw_no_mbm(struct cmt_raws *raws)
{
	raws->total = CMT_RAW_UNAVAILABLE;
	raws->local = CMT_RAW_UNAVAILABLE;
}

/*
 * AMD says once for each RMID that its counters began anew, in the next reading of either
 * event: so both did.  @read: what the processor was asked for.
 */
static bool hw_began_anew(u32 read, const struct cmt_raws *raws)
{
	return hw.shared_evtsel &&
	       ((read & CMT_F_MBM_TOTAL && raws->total & CMT_RAW_UNAVAILABLE) ||
		(read & CMT_F_MBM_LOCAL && raws->local & CMT_RAW_UNAVAILABLE));
}

/*
 * An event that is not read is 0, which counter.c does not use.  Unavailable would end the
 * base of the other MBM event in a discarded burst.
 */
static void hw_read_checked(u32 rmid, u32 events, struct cmt_raws *raws,
			    enum hw_abmc_state state)
{
	struct hw_cpu *cpu = this_cpu_ptr(&hw_cpus);

	*raws = (struct cmt_raws) {};
	rmid += cpu->rmid_base;
	if (events & CMT_F_OCCUPANCY)
		raws->occupancy = hw_read_one(cpu, rmid, CMT_EVENT_OCCUPANCY);
	if (events & CMT_F_MBM_TOTAL)
		raws->total = hw_read_mbm(cpu, rmid, CMT_EVENT_MBM_TOTAL, state);
	if (events & CMT_F_MBM_LOCAL)
		raws->local = hw_read_mbm(cpu, rmid, CMT_EVENT_MBM_LOCAL, state);
	if (state == HW_ABMC_OFF &&
	    hw_began_anew(events & ~hw_bmec_other(cpu->domain), raws)) {
		raws->total |= CMT_RAW_UNAVAILABLE;
		raws->local |= CMT_RAW_UNAVAILABLE;
	}
}

static enum hw_abmc_state hw_look_at_abmc(void)
{
	return hw_abmc_look(this_cpu_ptr(&hw_cpus)->domain);
}

/*
 * While assignable counters are off, the register does not show that they were on
 * between two checks.  But then all counters were reset: some counters are less than
 * before, and the counter with the greatest value of the burst is less when it is read
 * again after all others.  Where one counter was surely not reset, those that are less
 * began anew by themselves: the processor tracks few RMIDs, and reports that once, to any
 * agent (counter.c).
 */
struct hw_doubt {
	bool any;	/* the mode is off, and may be on */
	bool fell;	/* a counter, and none was surely kept */
	u64 greatest;
	u64 evtsel;	/* of the greatest */
};

static struct hw_doubt hw_doubt_begin(enum hw_abmc_state state)
{
	return (struct hw_doubt) {
		.any = hw.has_abmc && state == HW_ABMC_OFF,
	};
}

static void hw_doubt_value(struct hw_doubt *doubt, u32 rmid,
			   enum cmt_event event, u64 raw)
{
	if (raw & ~hw.caps->data_mask || raw <= doubt->greatest)
		return;
	doubt->greatest = raw;
	doubt->evtsel = hw_evtsel(rmid, event);
}

static void hw_doubt_add(struct hw_doubt *doubt, u32 rmid,
			 const struct cmt_raws *raws)
{
	hw_doubt_value(doubt, rmid, CMT_EVENT_MBM_TOTAL, raws->total);
	hw_doubt_value(doubt, rmid, CMT_EVENT_MBM_LOCAL, raws->local);
}

/*
 * Have the counters begun anew between the readings?  True, too, if the greatest value
 * cannot be read again.
 */
static bool hw_counters_restarted(const struct hw_doubt *doubt)
{
	u64 again;

	if (!doubt->any || doubt->fell || !doubt->greatest)
		return doubt->fell;
	again = hw_read_selected(doubt->evtsel);
	return again & ~hw.caps->data_mask || again < doubt->greatest;
}

/* After the last reading: was the mode @state all the time? */
static bool hw_mode_was(enum hw_abmc_state state, const struct hw_doubt *doubt)
{
	if (!hw_abmc_is_still(state))
		return false;
	if (!hw_counters_restarted(doubt))
		return true;
	hw_abmc_switched(this_cpu_ptr(&hw_cpus)->domain);
	return false;
}

void hw_read(u32 rmid, u32 events, struct cmt_raws *raws)
{
	enum hw_abmc_state state;
	struct hw_doubt doubt;

	lockdep_assert_irqs_disabled();

	if (READ_ONCE(hw.restored)) {
		raws->occupancy = CMT_RAW_UNAVAILABLE;
		hw_no_mbm(raws);
		return;
	}
	state = hw_look_at_abmc();
	doubt = hw_doubt_begin(state);
	hw_read_checked(rmid, events, raws, state);
	hw_doubt_add(&doubt, rmid, raws);
	if (!hw_mode_was(state, &doubt))
		hw_no_mbm(raws);
	hw_evtsel_restore(this_cpu_ptr(&hw_cpus));
}

/* The readings of a burst with each access checked */
struct hw_checked {
	u32 events;
	enum hw_abmc_state state;
};

static void hw_checked_read(void *context, u32 rmid, struct cmt_raws *raws)
{
	const struct hw_checked *c = context;

	hw_read_checked(rmid, c->events, raws, c->state);
}

/*
 * Does one RMID of the burst show that not all counters were reset since their last
 * reading?
 */
static bool hw_burst_kept(const struct cmt_burst *burst)
{
	const struct cmt_reading *reading;
	u64 units;

	for (reading = burst->readings; reading != burst->end; reading++) {
		units = (u64)((burst->mark - reading->seen) >> 1) *
			HW_MARK_BYTES / hw.caps->upscale_bytes;
		if (cmt_counter_kept(reading->counter, &reading->raws,
				     burst->events, units, hw.caps))
			return true;
	}
	return false;
}

static struct hw_doubt hw_doubt_of(const struct cmt_burst *burst,
				   enum hw_abmc_state state)
{
	struct hw_doubt doubt = hw_doubt_begin(state);
	const struct cmt_reading *reading;

	if (!doubt.any)
		return doubt;
	for (reading = burst->readings; reading != burst->end; reading++) {
		doubt.fell |= cmt_counter_fell(reading->counter,
					       &reading->raws,
					       burst->events, hw.caps);
		hw_doubt_add(&doubt, reading->counter - burst->counters,
			     &reading->raws);
	}
	doubt.fell = doubt.fell && !hw_burst_kept(burst);
	return doubt;
}

static void hw_burst_no_mbm(struct cmt_burst *burst)
{
	struct cmt_reading *reading;

	for (reading = burst->readings; reading != burst->end; reading++)
		hw_no_mbm(&reading->raws);
}

/* Check each access: on AMD, and after a failed access. */
static noinline int hw_sample_checked(struct cmt_burst *burst)
{
	struct hw_checked c = {
		.events = burst->events,
		.state = hw_look_at_abmc(),
	};
	struct hw_doubt doubt;

	cmt_burst_run(burst, hw_checked_read, &c);
	burst->flawed = true;
	doubt = hw_doubt_of(burst, c.state);
	if (!hw_mode_was(c.state, &doubt))
		hw_burst_no_mbm(burst);
	hw_evtsel_restore(this_cpu_ptr(&hw_cpus));
	return 0;
}

/*
 * Both status bits can be of two readings, or of one failed access.  So the next burst
 * checks each access.
 */
static bool hw_burst_failed(const struct hw_burst *b)
{
	return (b->highs & CTR_HIGH_STATUS) == CTR_HIGH_STATUS;
}

/* The event that a burst reads last; there is one. */
static enum cmt_event hw_last_event(u32 events)
{
	if (events & CMT_F_MBM_LOCAL)
		return CMT_EVENT_MBM_LOCAL;
	return events & CMT_F_MBM_TOTAL ? CMT_EVENT_MBM_TOTAL :
					  CMT_EVENT_OCCUPANCY;
}

/* A value of EVTSEL that another agent wrote is kept. */
static int hw_burst_end(const struct hw_burst *b, enum cmt_event last, u64 saved)
{
	bool failed = hw_burst_failed(b);
	u64 now;

	if (!failed)
		failed = cmt_rdmsr_safe(HW_MSR_QM_EVTSEL, &now);
	if (!failed && now != hw_evtsel(b->last, last))
		return -EAGAIN;
	return cmt_wrmsr_safe(HW_MSR_QM_EVTSEL, saved) ?: failed ? -EIO : 0;
}

/* Out of line: all events are read with no more instructions than without this. */
static noinline int hw_sample_some(struct cmt_burst *burst)
{
	struct hw_burst b = {
		.rmid_base = this_cpu_ptr(&hw_cpus)->rmid_base,
		.events = burst->events,
	};
	u64 saved;

	burst->end = burst->readings;
	if (cmt_rdmsr_safe(HW_MSR_QM_EVTSEL, &saved))
		return -EIO;
	cmt_burst_run(burst, hw_burst_read_some, &b);
	burst->flawed = true;
	if (burst->end == burst->readings || !b.events)
		return 0;
	return hw_burst_end(&b, hw_last_event(b.events), saved);
}

int hw_sample(struct cmt_burst *burst)
{
	struct hw_burst b = {
		.rmid_base = this_cpu_ptr(&hw_cpus)->rmid_base,
	};
	u64 saved;

	lockdep_assert_irqs_disabled();

	if (hw.shared_evtsel || burst->careful)
		return hw_sample_checked(burst);
	if (unlikely(burst->events != HW_ALL_EVENTS))
		return hw_sample_some(burst);
	burst->end = burst->readings;
	if (cmt_rdmsr_safe(HW_MSR_QM_EVTSEL, &saved))
		return -EIO;
	cmt_burst_run(burst, hw_burst_read, &b);
	burst->flawed = b.highs & ~(hw.caps->data_mask >> 32);
	if (burst->end == burst->readings)
		return 0;
	return hw_burst_end(&b, CMT_EVENT_MBM_LOCAL, saved);
}
