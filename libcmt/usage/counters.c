// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The counts of the processor, by owner.  An owner that ran may have no reading in the
 * interval, and an owner that was read may not have run.  So PERF records are summed by
 * owner separately from holdings, and the sums are joined with the holdings in the
 * rows.
 */
#include "state.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of a row with records there is more that has none. */
#define MISSED	(CMT_USAGE_WHY_GAP | CMT_USAGE_WHY_PENDING | \
		 CMT_USAGE_WHY_EXCLUDED | CMT_USAGE_WHY_OVERWRITTEN)

#define COUNTERS_ONLY (CMT_USAGE_WHY_NOT_COUNTED | CMT_USAGE_WHY_EXCLUDED)

/*
 * A value of PERF records: its flag, and where records and rows have it.  A further value is
 * a line here, and a member of the two structures.
 */
#define COUNT(flag, member) \
	{ flag, offsetof(struct cmt_slot_perf, member), \
	  sizeof(((struct cmt_slot_perf *)NULL)->member), \
	  offsetof(struct cmt_usage_counters, member) }

static const struct {
	uint32_t flag;
	size_t from, bytes, to;
} counts[USAGE_COUNTS] = {
	/* many records have it alone */
	COUNT(CMT_F_WAITED, waited_ns),
	COUNT(CMT_F_CYCLES, cycles),
	COUNT(CMT_F_INSTRUCTIONS, instructions),
	COUNT(CMT_F_LLC_MISSES, llc_misses),
	COUNT(CMT_F_LLC_REFERENCES, llc_references),
};

static uint64_t count_of(const struct cmt_slot_perf *p, uint32_t i)
{
	const void *from = (const char *)p + counts[i].from;

	return counts[i].bytes == sizeof(uint32_t) ? *(const uint32_t *)from :
						     *(const uint64_t *)from;
}

static uint64_t *count_in(struct cmt_usage_counters *counters, uint32_t i)
{
	return (uint64_t *)((char *)counters + counts[i].to);
}

/* @flag: that of the value beside instructions, which the record has. */
static void ratio_add(struct usage_ratio *to, const struct cmt_slot_perf *p,
		      uint32_t flag, uint64_t part, uint64_t whole)
{
	if (!(p->flags & flag))
		return;
	to->part += part;
	to->whole += whole;
}

static void counted_add(struct usage_counted *to, const struct cmt_slot_perf *p)
{
	uint32_t left = p->flags & USAGE_VALUES;

	to->nr++;
	to->flags |= p->flags;
	to->lacking |= ~p->flags;
	for (uint32_t i = 0; left; left &= ~counts[i++].flag)
		if (left & counts[i].flag)
			to->sums[i] += count_of(p, i);
	if (!(p->flags & CMT_F_INSTRUCTIONS))
		return;
	ratio_add(&to->ipc, p, CMT_F_CYCLES, p->instructions, p->cycles);
	ratio_add(&to->mpki, p, CMT_F_LLC_MISSES, p->llc_misses, p->instructions);
}

static void ratio_sum(struct usage_ratio *to, const struct usage_ratio *from)
{
	to->part += from->part;
	to->whole += from->whole;
}

static void counted_sum(struct usage_counted *to,
			const struct usage_counted *from)
{
	to->nr += from->nr;
	to->flags |= from->flags;
	to->lacking |= from->lacking;
	to->ran_ns += from->ran_ns;
	for (uint32_t i = 0; i < USAGE_COUNTS; i++)
		to->sums[i] += from->sums[i];
	ratio_sum(&to->ipc, &from->ipc);
	ratio_sum(&to->mpki, &from->mpki);
}

/* As many as there may be RMIDs or domains. */
static uint32_t nr_places(const struct cmt_usage *usage)
{
	return usage_by_owner(usage) ? usage->nr_rmids : CMT_DOMAINS_MAX;
}

static int make_places(struct cmt_usage *usage)
{
	size_t bytes = nr_places(usage) * sizeof(uint32_t);

	if (usage->perf.newest)
		return 0;
	usage->perf.newest = malloc(bytes);
	if (!usage->perf.newest)
		return -ENOMEM;
	memset(usage->perf.newest, 0xff, bytes);
	return 0;
}

/* The runner of a record at @place; NULL: there is none. */
static struct usage_runner *find_runner(const struct cmt_usage *usage, uint32_t place,
					const struct cmt_slot_perf *p)
{
	uint32_t i = usage->perf.newest[place];

	while (i != USAGE_NONE) {
		struct usage_runner *runner = &usage->perf.runners[i];

		if (!usage_by_owner(usage) ||
		    (runner->generation == p->generation &&
		     !usage_changes_hands(&runner->owner, p->owner) &&
		     (runner->domain == p->domain || !usage_in_parts(usage))))
			return runner;
		i = runner->older;
	}
	return NULL;
}

/*
 * Owners that are not known are one for each RMID, so that a stream that makes them up
 * takes no more memory than it has RMIDs, or with parts, RMIDs in 64 domains.
 */
static struct usage_runner *find_unknown(const struct cmt_usage *usage,
					 uint32_t place, uint32_t domain)
{
	uint32_t i;

	for (i = usage->perf.newest[place]; i != USAGE_NONE;
	     i = usage->perf.runners[i].older) {
		struct usage_runner *runner = &usage->perf.runners[i];

		if (runner->owner.kind == CMT_USAGE_UNKNOWN &&
		    (runner->domain == domain || !usage_in_parts(usage)))
			return runner;
	}
	return NULL;
}

static struct usage_runner *new_runner(struct cmt_usage *usage, uint32_t place,
				       const struct cmt_slot_perf *p)
{
	struct usage_perf *perf = &usage->perf;
	struct usage_runner *runner;

	if (cmt_grow(&perf->runners, perf->nr_runners, &perf->room_runners,
		     sizeof(*runner)))
		return NULL;
	runner = &perf->runners[perf->nr_runners];
	*runner = (struct usage_runner){
		.domain = p->domain, .older = perf->newest[place],
	};
	if (usage_by_owner(usage)) {
		runner->rmid = p->rmid;
		runner->generation = p->generation;
	}
	runner->owner = usage_owner_of(runner->rmid, NULL);
	perf->newest[place] = perf->nr_runners++;
	return runner;
}

/* A cgroup that is seen here first is named with the others. */
static void runner_owner(struct cmt_usage *usage, struct usage_runner *runner,
			 const struct cmt_owner *owner)
{
	bool moved = runner->owner.kind != CMT_USAGE_OWNER ||
		     runner->owner.cgroup_id != owner->cgroup_id;

	runner->freed = owner->freed;
	if (!moved && usage_owner_is(&runner->owner, owner))
		return;
	runner->owner = usage_owner_of(runner->rmid, owner);
	if (moved && usage_in_cgroup(&runner->owner))
		usage_cgroup(usage, owner->cgroup_id);
}

static struct usage_runner *runner_of(struct cmt_usage *usage,
					    const struct cmt_slot_perf *p,
					    uint32_t place)
{
	struct usage_runner *runner = find_runner(usage, place, p);

	if (!runner && usage_by_owner(usage) && p->generation && !p->owner) {
		runner = find_unknown(usage, place, p->domain);
		/* of several owners: the runner of none of them that is known later */
		if (runner)
			runner->generation = 0;
	}
	if (!runner)
		runner = new_runner(usage, place, p);
	if (runner && usage_by_owner(usage) && p->owner)
		runner_owner(usage, runner, p->owner);
	return runner;
}

/* The first records of all say how long they have counted. */
static void perf_time(struct usage_perf *perf, const struct cmt_slot_perf *p)
{
	uint64_t begin = p->ts - p->ran_ns;

	if (!perf->nr++) {
		perf->first_ns = begin;
		perf->last_ns = p->ts;
	}
	if (cmt_ts_before(begin, perf->first_ns))
		perf->first_ns = begin;
	if (cmt_ts_before(perf->last_ns, p->ts))
		perf->last_ns = p->ts;
	perf->flags |= p->flags;
	perf->lacking |= ~p->flags;
}

/* The sums to which a record is added; NULL: no memory. */
static struct usage_counted *counted_of(struct cmt_usage *usage,
					const struct cmt_slot_perf *p, uint32_t place)
{
	struct usage_runner *runner;

	if (usage->by == CMT_USAGE_BY_CPU)
		return &usage->cpus[p->cpu].counted;
	runner = runner_of(usage, p, place);
	if (!runner || (usage->waits.nr_cpus &&
			usage_waits_add(usage, (uint32_t)(runner - usage->perf.runners), p)))
		return NULL;
	return &runner->counted;
}

static int add_record(struct cmt_usage *usage, const struct cmt_slot_perf *p)
{
	struct usage_counted *to;
	uint32_t place = p->rmid;

	if (p->cpu >= usage->nr_cpus || p->rmid >= usage->nr_rmids)
		return 0;
	if (!usage_in_last_domain(usage, p->domain) &&
	    usage_domain(usage, p->domain) == USAGE_NONE) {
		usage->dropped++;
		return 0;
	}
	if (usage->by == CMT_USAGE_BY_DOMAIN)
		place = usage->last_domain;
	to = counted_of(usage, p, place);
	if (!to)
		return -ENOMEM;
	perf_time(&usage->perf, p);
	counted_add(to, p);
	/* with the idle task's time, the time of a CPU has no meaning */
	if (usage_by_owner(usage) || p->rmid != CMT_RMID_NONE)
		to->ran_ns += p->ran_ns;
	return 0;
}

int usage_perf_add(struct cmt_usage *usage, const struct cmt_slot *slot)
{
	int err = slot->nr_perf ? make_places(usage) : 0;

	for (uint32_t i = 0; !err && i < slot->nr_perf; i++)
		err = add_record(usage, cmt_slot_perf_at(slot, i));
	return err;
}

/* Of the same owner, or by domain anything in it, where that was seen. */
static const struct usage_holding *
held_in(struct cmt_usage *usage, const struct usage_runner *runner, uint32_t domain)
{
	const struct usage_holding *h;
	uint32_t i;

	if (usage_by_owner(usage)) {
		h = usage_holding_find(usage, runner, domain);
		return h && usage_seen(usage, h) ? h : NULL;
	}
	for (i = 0; i < usage->nr_holdings; i++) {
		h = &usage->holdings[i];
		if (h->domain == domain && usage_seen(usage, h))
			return h;
	}
	return NULL;
}

/* The holding of an owner that ran; NULL: it has no reading. */
static const struct usage_holding *runner_held(struct cmt_usage *usage,
					       const struct usage_runner *runner)
{
	const struct usage_holding *h = held_in(usage, runner, runner->domain);
	uint32_t i;

	if (!usage_by_owner(usage) || usage_in_parts(usage))
		return h;
	for (i = 0; !h && i < usage->nr_domains; i++)
		h = held_in(usage, runner, usage->domains[i]);
	return h;
}

static int add_blank(struct cmt_usage *usage, struct usage_runner *runner)
{
	struct usage_perf *perf = &usage->perf;
	struct usage_holding *h;

	if (cmt_grow(&perf->blanks, perf->nr_blanks, &perf->room_blanks,
		     sizeof(*h)))
		return -ENOMEM;
	h = &perf->blanks[perf->nr_blanks++];
	*h = (struct usage_holding){
		.rmid = runner->rmid, .generation = runner->generation,
		.domain = runner->domain, .owner = runner->owner,
		.absent = runner->freed, .blank = true,
	};
	if (usage_group(usage, h))
		return -ENOMEM;
	runner->group = h->group;
	runner->child = h->child;
	return 0;
}

static void group_count(struct cmt_usage *usage, uint32_t number,
			const struct usage_counted *counted)
{
	struct usage_group *group = usage_want(usage, number);

	if (!group->counts) {
		group->counts = true;
		group->counted = *counted;
	} else {
		counted_sum(&group->counted, counted);
	}
}

/* A runner with a holding has the groups of that holding. */
static int runner_end(struct cmt_usage *usage, struct usage_runner *runner)
{
	const struct usage_holding *h = runner_held(usage, runner);
	int err = 0;

	if (h) {
		runner->group = h->group;
		runner->child = h->child;
	} else {
		err = add_blank(usage, runner);
	}
	if (err)
		return err;
	group_count(usage, runner->group, &runner->counted);
	if (runner->child != USAGE_NONE)
		group_count(usage, runner->child, &runner->counted);
	return 0;
}

int usage_perf_end(struct cmt_usage *usage)
{
	struct usage_perf *perf = &usage->perf;
	uint32_t i;
	int err = 0;

	perf->nr_blanks = 0;
	for (i = 0; !err && i < perf->nr_runners; i++)
		err = runner_end(usage, &perf->runners[i]);
	return err;
}

uint64_t usage_counted_ns(const struct cmt_usage *usage)
{
	const struct usage_perf *perf = &usage->perf;

	if (!perf->nr)
		return 0;
	return perf->last_ns -
	       (perf->closed_ns ? perf->closed_ns : perf->first_ns);
}

static double quotient(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

/* Idle time is RMID 0's, and no use of a CPU. */
static double cpu_share(const struct cmt_usage *usage,
			const struct cmt_usage_row *row, uint64_t ran_ns)
{
	if (usage_by_owner(usage) && row->kind == CMT_USAGE_UNATTRIBUTED)
		return NAN;
	return quotient(ran_ns, usage_counted_ns(usage));
}

static void counters_sums(struct cmt_usage_counters *to,
			  const struct usage_counted *from)
{
	to->ran_ns = from->ran_ns;
	for (uint32_t i = 0; i < USAGE_COUNTS; i++)
		*count_in(to, i) = from->sums[i];
	to->ipc = quotient(from->ipc.part, from->ipc.whole);
	to->mpki = 1000 * quotient(from->mpki.part, from->mpki.whole);
	to->quota = from->flags & CMT_F_WAIT_QUOTA;
}

/* It may have run, or have run more, on a CPU that has no TICKs, and no PERFs. */
static bool ran_in_quiet(const struct cmt_usage *usage,
			 const struct usage_counted *counted)
{
	return usage->perf.quiet &&
	       !(usage->by == CMT_USAGE_BY_CPU && counted->nr);
}

/*
 * An owner without a record did not run where it is counted: all is 0, and known if
 * that is everywhere.
 */
static void counters_bounds(const struct cmt_usage *usage,
			    const struct cmt_usage_frame *frame,
			    const struct cmt_usage_row *row,
			    struct cmt_usage_counters *to,
			    const struct usage_counted *from)
{
	to->values = (from->nr ? from->flags : usage->perf.flags) & USAGE_VALUES;
	/* who only waits has no record of the time before waiting is accounted */
	to->bounds = to->values & (from->lacking | (usage->perf.lacking & CMT_F_WAITED));
	if ((to->values & USAGE_COUNTERS) != USAGE_COUNTERS || to->bounds)
		to->why |= CMT_USAGE_WHY_NOT_COUNTED;
	if (frame->nr_gaps || frame->dropped)
		to->why |= CMT_USAGE_WHY_GAP;
	if (row->pending)
		to->why |= CMT_USAGE_WHY_PENDING;
	/* a CPU and a domain count under the RMIDs of all agents */
	if (usage_by_owner(usage))
		to->why |= row->why & CMT_USAGE_WHY_OVERWRITTEN;
	if (to->why & MISSED)
		to->bounds = to->values;
	to->partial = to->bounds || to->why & MISSED;
}

/*
 * Another agent's RMID counted some of the work: a lower bound of 0 says nothing, and
 * ratios are those of an unknown part.
 */
static void counters_bound(struct cmt_usage_counters *to)
{
	to->known = to->ran_ns != 0;
	to->partial = to->known;
	for (uint32_t i = 0; i < USAGE_COUNTS; i++)
		if (!*count_in(to, i))
			to->values &= ~counts[i].flag;
	to->bounds = to->values;
	to->ipc = NAN;
	to->mpki = NAN;
}

void usage_row_counters(const struct cmt_usage *usage,
			const struct cmt_usage_frame *frame,
			struct cmt_usage_row *row,
			const struct usage_counted *counted)
{
	struct cmt_usage_counters *to = &row->counters;

	to->cpu_share = NAN;
	to->wait_share = NAN;
	to->ipc = NAN;
	to->mpki = NAN;
	if (!usage->perf.nr || !counted) {
		to->why = CMT_USAGE_WHY_NOT_COUNTED;
		return;
	}
	if (ran_in_quiet(usage, counted))
		to->why = CMT_USAGE_WHY_EXCLUDED;
	if (to->why && !counted->nr)
		return;
	to->known = true;
	counters_sums(to, counted);
	counters_bounds(usage, frame, row, to, counted);
	if (to->why & CMT_USAGE_WHY_OVERWRITTEN)
		counters_bound(to);
	if (to->known)
		to->cpu_share = cpu_share(usage, row, to->ran_ns);
	if (to->values & CMT_F_WAITED)
		to->wait_share = quotient(to->waited_ns, usage_counted_ns(usage));
	row->why |= to->why & ~COUNTERS_ONLY;
}

/* In a frame of a millisecond few of thousands of RMIDs ran. */
static void forget_runners(struct cmt_usage *usage)
{
	struct usage_perf *perf = &usage->perf;

	if (usage_by_owner(usage))
		for (uint32_t i = 0; i < perf->nr_runners; i++)
			perf->newest[perf->runners[i].rmid] = USAGE_NONE;
	else if (perf->nr_runners)
		memset(perf->newest, 0xff, nr_places(usage) * sizeof(uint32_t));
	perf->nr_runners = 0;
}

void usage_perf_close(struct cmt_usage *usage)
{
	struct usage_perf *perf = &usage->perf;
	uint32_t i;

	perf->closed_ns = perf->nr ? perf->last_ns : 0;
	forget_runners(usage);
	for (i = 0; perf->nr && i < usage->nr_cpus; i++)
		usage->cpus[i].counted = (struct usage_counted){ 0 };
	perf->nr = 0;
	perf->flags = 0;
	perf->lacking = 0;
}

void usage_perf_free(struct cmt_usage *usage)
{
	free(usage->perf.newest);
	free(usage->perf.runners);
	free(usage->perf.blanks);
}
