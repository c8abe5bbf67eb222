// SPDX-License-Identifier: GPL-2.0
/*
 * AMD's assignable bandwidth counters: which RMIDs have one.
 *
 * A timer samples the RMID of each CPU fifty times a second: the "heat" of an RMID
 * follows its CPU time.  A work item updates every domain ten times a second.  Free
 * counters go to the hottest RMIDs without one.  When no counter is free, the coldest
 * RMID gives its counters to an RMID that is more than twice as hot.  A counter
 * changes only while its RMID is claimed, and the next reading has no base.
 *
 * No lock is needed: counters change in calls to a CPU that is up, or on the last CPU
 * of a domain when that CPU is no longer up.  Only the work item makes these calls.
 *
 * resctrl assigns counters without reading the registers, so no counter is cmt's
 * while resctrl is mounted.  cmt never switches the mode.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "owner/owner.h"
#include "ring/ring.h"
#include "sampler.h"

#define CHECK_INTERVAL	(HZ / 10)
#define CHECK_SELDOM	HZ		/* without readers */
#define HEAT_NS		(20 * NSEC_PER_MSEC)
#define HEAT_CPUS	64U		/* in one interrupt */

/* RMIDs that one run of the work item changes in a domain, and one call to a CPU */
#define RUN_MAX		16
#define CALL_MAX	4

/* The heat from which an RMID takes the counters of a colder one */
#define HOTTER(cold)	(2 * (cold) + 256)

#define NO_RMID		HW_ABMC_NO_RMID

/* Attempts to release counters of a domain that are being read, or that fail */
#define EXIT_TRIES	1000

static void check_domains(struct work_struct *work);
static DECLARE_DELAYED_WORK(check_work, check_domains);
static struct hrtimer heat_timer;

enum abmc_what { ABMC_SCAN, ABMC_CHANGE, ABMC_SETTLE };

struct abmc_move {
	u32 from, to;	/* RMIDs; NO_RMID: none */
};

/* A call to a CPU of the domain; it runs with interrupts off. */
struct abmc_call {
	enum abmc_what what;
	u32 domain;
	u32 n;
	const struct abmc_move *moves;	/* at most CALL_MAX */
	bool done;
};

/* The changes of one domain in one run of the work item */
struct abmc_plan {
	u32 domain;
	u32 n;
	struct abmc_move moves[2 * HW_ABMC_MAX];
	DECLARE_BITMAP(assigned, CMT_MAX_RMIDS);
	DECLARE_BITMAP(lost, CMT_MAX_RMIDS);
};

static struct abmc_plan plan;		/* used by the work item, after its end by exit */

/* The counters of an RMID that is being read change in a later run. */
static void change(const struct abmc_call *call)
{
	const struct abmc_move *move = call->moves;
	u32 i;

	for (i = 0; i < call->n; i++, move++) {
		if (move->from != NO_RMID &&
		    !cmt_domain_lose_base(call->domain, move->from,
					  hw_abmc_release))
			continue;
		if (move->to != NO_RMID)
			cmt_domain_lose_base(call->domain, move->to,
					     hw_abmc_assign);
	}
}

static void call_run(void *info)
{
	const struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	struct abmc_call *call = info;

	if (!cpu->up || cpu->domain != call->domain)
		return;
	call->done = true;
	if (call->what == ABMC_SCAN)
		call->done = hw_abmc_scan(call->domain);
	else if (call->what == ABMC_CHANGE)
		change(call);
	else
		hw_abmc_settle(call->domain);
}

/* Run @call on a CPU of the domain.  False: no CPU is up, or the mode is off. */
static bool call_domain(struct abmc_call *call)
{
	int cpu = cmt_sampler_reader(call->domain, 0);

	if (cpu >= 0)
		smp_call_function_single(cpu, call_run, call, true);
	return call->done;
}

static void plan_begin(u32 domain)
{
	memset(&plan, 0, sizeof(plan));
	plan.domain = domain;
	hw_abmc_rmids(domain, plan.assigned, plan.lost);
}

static void plan_move(u32 from, u32 to)
{
	plan.moves[plan.n++] = (struct abmc_move) { from, to };
	if (from != NO_RMID)
		__clear_bit(from, plan.assigned);
	if (to != NO_RMID)
		__set_bit(to, plan.assigned);
}

static void plan_run(void)
{
	u32 i;

	for (i = 0; i < plan.n; i += CALL_MAX) {
		struct abmc_call call = {
			.what = ABMC_CHANGE,
			.domain = plan.domain,
			.n = min_t(u32, plan.n - i, CALL_MAX),
			.moves = &plan.moves[i],
		};

		call_domain(&call);
	}
	plan.n = 0;
}

/* Release all RMIDs, or those that ended or lost a counter to another agent. */
static void plan_releases(bool all)
{
	u32 rmid;

	for_each_set_bit(rmid, plan.assigned, cmt_caps.nr_rmids)
		if (all || test_bit(rmid, plan.lost) ||
		    !test_bit(rmid, cmt_table_readable()))
			plan_move(rmid, NO_RMID);
}

/* The hottest RMID that is read and has no counter, or NO_RMID. */
static u32 hottest(void)
{
	u32 rmid, heat, most = 0, found = NO_RMID;

	for (rmid = 0; rmid < cmt_caps.nr_rmids; rmid++) {
		heat = hw_abmc_heat_of(plan.domain, rmid);
		if (heat <= most || test_bit(rmid, plan.assigned) ||
		    !test_bit(rmid, cmt_table_readable()))
			continue;
		most = heat;
		found = rmid;
	}
	return found;
}

/* The coldest RMID with a counter, or NO_RMID. */
static u32 coldest(void)
{
	u32 rmid, heat, least = U32_MAX, found = NO_RMID;

	for_each_set_bit(rmid, plan.assigned, cmt_caps.nr_rmids) {
		heat = hw_abmc_heat_of(plan.domain, rmid);
		if (heat < least) {
			least = heat;
			found = rmid;
		}
	}
	return found;
}

/* Plan a counter for the next RMID, a free one or another RMID's.  False: none left. */
static bool plan_one(bool free)
{
	u32 hot = hottest(), cold = NO_RMID;

	if (hot == NO_RMID)
		return false;
	if (!free) {
		cold = coldest();
		if (cold == NO_RMID ||
		    hw_abmc_heat_of(plan.domain, hot) <
		    HOTTER(hw_abmc_heat_of(plan.domain, cold)))
			return false;
	}
	plan_move(cold, hot);
	return true;
}

static void plan_assignments(void)
{
	u32 each = hweight32(cmt_caps.events & CMT_MBM_EVENTS), rmid;
	struct hw_abmc_view view;
	s32 free;

	hw_abmc_view(plan.domain, &view);
	free = view.counters - view.ours - view.others;
	while (plan.n < RUN_MAX && plan_one(free > 0))
		free -= each;
	for (rmid = 0; rmid < cmt_caps.nr_rmids; rmid++)
		hw_abmc_cool(plan.domain, rmid);
}

/* Called as late as possible, because resctrl can be mounted at any time. */
static bool may_assign(void)
{
	return hw_abmc_usable() && !cmt_resctrl_is_mounted();
}

static void check_on(u32 domain)
{
	struct abmc_call scan = { .what = ABMC_SCAN, .domain = domain };
	bool may = may_assign();

	if (!call_domain(&scan))
		return;
	plan_begin(domain);
	plan_releases(!may);
	plan_run();
	if (!may)
		return;
	plan_begin(domain);
	plan_assignments();
	if (may_assign())
		plan_run();
}

/* The mode was switched.  MBM is unavailable until no reading has a base. */
static void check_changing(u32 domain)
{
	struct abmc_call settle = { .what = ABMC_SETTLE, .domain = domain };

	if (cmt_domain_lose_bases(domain))
		call_domain(&settle);
}

static void check_domain(u32 domain)
{
	struct hw_abmc_view view;

	hw_abmc_view(domain, &view);
	if (view.state == HW_ABMC_CHANGING) {
		check_changing(domain);
		hw_abmc_view(domain, &view);
	}
	if (view.state == HW_ABMC_ON)
		check_on(domain);
}

static bool is_on(u32 domain)
{
	struct hw_abmc_view view;

	hw_abmc_view(domain, &view);
	return view.state == HW_ABMC_ON;
}

/* Another agent's RMID may be beyond the table. */
static void heat_cpu(unsigned int cpu)
{
	const struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);
	u32 rmid = READ_ONCE(c->rmid);

	if (READ_ONCE(c->up) && rmid < cmt_caps.nr_rmids)
		hw_abmc_heat(READ_ONCE(c->domain), rmid);
}

/* On any CPU, interrupts off: with many CPUs, their parts follow each other within HEAT_NS. */
static enum hrtimer_restart heat_tick(struct hrtimer *timer)
{
	static u32 part;
	u32 parts = DIV_ROUND_UP(nr_cpu_ids, HEAT_CPUS);
	unsigned int end = min((part + 1) * HEAT_CPUS, nr_cpu_ids), cpu;

	for (cpu = part * HEAT_CPUS; cpu < end; cpu++)
		if (cpu_online(cpu))
			heat_cpu(cpu);
	part = (part + 1) % parts;
	if (!READ_ONCE(cmt_readers))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(HEAT_NS / parts));
	return HRTIMER_RESTART;
}

static void heat_start(void)
{
	u32 domain;

	for (domain = 0; domain < cmt_sampler_domains(); domain++)
		if (is_on(domain) && !hrtimer_active(&heat_timer))
			hrtimer_start(&heat_timer, ns_to_ktime(HEAT_NS),
				      HRTIMER_MODE_REL_HARD);
}

static const char *mbm_reason(void)
{
	u32 domain;

	for (domain = 0; domain < cmt_sampler_domains(); domain++) {
		if (!is_on(domain))
			continue;
		if (!hw_abmc_usable())
			return "AMD's assignable counters (ABMC) are on, and count nothing";
		if (cmt_resctrl_is_mounted())
			return "resctrl has AMD's assignable counters (ABMC) while mounted";
	}
	return "";
}

static void check_domains(struct work_struct *work)
{
	u32 domain;

	for (domain = 0; domain < cmt_sampler_domains(); domain++)
		check_domain(domain);
	WRITE_ONCE(cmt_caps.mbm_reason, mbm_reason());
	heat_start();
	queue_delayed_work(system_dfl_wq, &check_work,
			   READ_ONCE(cmt_readers) ? CHECK_INTERVAL : CHECK_SELDOM);
}

int cmt_abmc_init(void)
{
	cmt_hrtimer_setup(&heat_timer, heat_tick, HRTIMER_MODE_REL_HARD);
	if (hw_abmc_exists())
		mod_delayed_work(system_dfl_wq, &check_work, 0);
	return 0;
}

static bool has_any(u32 domain)
{
	struct hw_abmc_view view;

	hw_abmc_view(domain, &view);
	return view.ours;
}

/* There is no reader; a tick or a reading on demand can still be under way. */
void cmt_abmc_exit(void)
{
	u32 domain, tries;

	cancel_delayed_work_sync(&check_work);
	hrtimer_cancel(&heat_timer);
	for (domain = 0; domain < cmt_sampler_domains(); domain++) {
		for (tries = EXIT_TRIES; tries && has_any(domain); tries--) {
			plan_begin(domain);
			plan_releases(true);
			plan_run();
			cond_resched();
		}
	}
}

/* No CPU of the domain is up, so the work item calls none, and no reading is made. */
void cmt_abmc_domain_down(u32 domain)
{
	u32 id, rmid;

	for (id = 0; id < HW_ABMC_MAX; id++) {
		rmid = hw_abmc_rmid_of(domain, id);
		if (rmid != HW_ABMC_NO_RMID)
			cmt_domain_lose_base(domain, rmid, hw_abmc_release);
	}
}

static u32 part(u32 n)
{
	return min(n, CMT_ASSIGNABLE_MAX);
}

u32 cmt_abmc_info(void)
{
	u32 domain, all = 0, ours = 0, others = 0;
	struct hw_abmc_view view;
	bool on = false;

	for (domain = 0; domain < cmt_sampler_domains(); domain++) {
		hw_abmc_view(domain, &view);
		if (view.state != HW_ABMC_ON)
			continue;
		on = true;
		all += view.counters;
		ours += view.ours;
		others += view.others;
	}
	return on ? CMT_ASSIGNABLE_ON | part(all) | part(ours) << 10 |
		    part(others) << 20 : 0;
}
