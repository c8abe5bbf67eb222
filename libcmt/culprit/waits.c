// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What owners waited for CPUs, and who ran there: sums over a second, from the waits of
 * frames.  A second is longer than the turns of a scheduler, so that each owner had its own.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#include <cmt/usage.h>

#define SECOND_NS	1000000000ULL
#define DELAY_LEAST	0.001	/* of the time in which an owner could run */

bool culprit_waits_init(struct culprit_waits *waits, uint32_t buckets)
{
	waits->pairs = calloc(buckets, sizeof(*waits->pairs));
	waits->last = calloc(buckets, sizeof(*waits->last));
	waits->mask = buckets - 1;
	return waits->pairs && waits->last;
}

void culprit_waits_free(struct culprit_waits *waits)
{
	free(waits->pairs);
	free(waits->last);
}

/* A quarter of the places stays free.  A pair without a place counts as unknown. */
static void pair_add(struct culprit_waits *waits, uint64_t victim, uint64_t by, uint64_t ns)
{
	uint64_t h = (victim + 31 * by) * 0x9e3779b97f4a7c15ULL;
	uint32_t i = (uint32_t)(h >> 32) & waits->mask;

	while (waits->pairs[i].ns &&
	       (waits->pairs[i].victim != victim || waits->pairs[i].by != by))
		i = (i + 1) & waits->mask;
	if (!waits->pairs[i].ns && 4 * (uint64_t)waits->nr > 3 * (uint64_t)waits->mask)
		return;
	waits->nr += !waits->pairs[i].ns;
	waits->pairs[i].victim = victim;
	waits->pairs[i].by = by;
	waits->pairs[i].ns += ns;
}

static void add_row(struct cmt_culprit *culprit, const struct cmt_usage_frame *frame,
		    const struct cmt_usage_row *row)
{
	const struct cmt_usage_counters *c = &row->counters;
	struct culprit_owner *owner;

	if (row->kind != CMT_USAGE_OWNER)
		return;
	owner = culprit_owner_add(culprit, cmt_culprit_id(frame, row));
	if (!owner)
		return;
	owner->wait.flags |= c->quota ? CMT_CULPRIT_QUOTA : 0;
	if (!c->known || !(c->values & CMT_F_WAITED) || c->bounds & CMT_F_WAITED)
		owner->wait.flags |= CMT_CULPRIT_PARTIAL;
	if (!(frame->counters & CMT_F_WAITED))
		return;
	/* beside another agent's RMIDs one of them may be known alone; its pairs count, too */
	if (c->known)
		owner->wait.ran_ns += c->ran_ns;
	if (c->values & CMT_F_WAITED)
		owner->wait.waited_ns += c->waited_ns;
}

/* Of an owner that has no room yet, add_row() adds nothing either. */
static void add_part(struct cmt_culprit *culprit, const struct cmt_usage_frame *frame,
		     const struct cmt_usage_wait_part *part)
{
	const struct cmt_usage_row *row = cmt_usage_row_at(frame, part->row);
	uint64_t victim = cmt_culprit_id(frame, row), by;

	if (part->by == CMT_USAGE_WAIT_UNKNOWN || !part->ns ||
	    !culprit_owner_find(culprit, victim))
		return;
	by = cmt_culprit_id(frame, cmt_usage_row_at(frame, part->by));
	pair_add(&culprit->waits, victim, by, part->ns);
}

/* By victim, and the largest first. */
static int cmp_pair(const void *pa, const void *pb)
{
	const struct culprit_pair *a = pa, *b = pb;

	if (a->victim != b->victim)
		return a->victim < b->victim ? -1 : 1;
	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

/* All pairs in order, at the begin of the table. */
static void sort_pairs(struct culprit_waits *waits)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= waits->mask; i++)
		if (waits->pairs[i].ns)
			waits->pairs[n++] = waits->pairs[i];
	qsort(waits->pairs, n, sizeof(*waits->pairs), cmp_pair);
}

/* The first pair of @victim, or of the one behind it. */
static uint32_t first_of(const struct culprit_waits *waits, uint64_t victim)
{
	uint32_t lo = 0, hi = waits->nr;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (waits->pairs[mid].victim < victim)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void add_suspect(struct cmt_culprit_verdict *verdict, const struct culprit_pair *pair)
{
	double share = (double)pair->ns / (double)verdict->waited_ns;

	if (share < CULPRIT_WAIT_PART)
		return;
	if (verdict->nr_suspects == CMT_CULPRIT_SUSPECTS) {
		verdict->flags |= CMT_CULPRIT_CLIPPED;
		return;
	}
	verdict->suspects[verdict->nr_suspects++] = (struct cmt_culprit_suspect){
		.id = pair->by, .share = share,
	};
}

/* Who had the CPUs: other owners are suspects if what they took is harm by itself. */
static void add_runners(const struct culprit_waits *waits, const struct culprit_owner *owner,
			struct cmt_culprit_verdict *verdict)
{
	uint64_t others_ns = 0, wanted_ns = owner->wait.ran_ns + owner->wait.waited_ns;

	for (uint32_t i = first_of(waits, owner->id);
	     i < waits->nr && waits->pairs[i].victim == owner->id; i++) {
		const struct culprit_pair *pair = &waits->pairs[i];

		if (pair->by == owner->id) {
			verdict->waited_self_ns = pair->ns;
			continue;
		}
		others_ns += pair->ns;
		add_suspect(verdict, pair);
	}
	verdict->waited_unknown_ns = owner->wait.waited_ns - verdict->waited_self_ns - others_ns;
	if ((double)others_ns >= CULPRIT_CPU_SHARE * (double)wanted_ns)
		return;
	verdict->nr_suspects = 0;
	verdict->flags &= ~(uint32_t)CMT_CULPRIT_CLIPPED;
}

static bool waits_much(const struct culprit_waits *waits, const struct culprit_wait *wait)
{
	double waited = (double)wait->waited_ns;

	return waited >= CULPRIT_CPU_SHARE * (double)waits->seen_ns &&
	       waited >= CULPRIT_CPU_SHARE * (waited + (double)wait->ran_ns);
}

/* Records cover the time since the ones before: a tick that did not happen misses nothing. */
static double seen_share(const struct culprit_waits *waits, uint64_t end_ns)
{
	return (double)waits->seen_ns / (double)(end_ns - waits->begin_ns);
}

static bool is_partial(const struct culprit_waits *waits, const struct culprit_wait *wait,
		       uint64_t end_ns)
{
	return wait->flags & CMT_CULPRIT_PARTIAL || waits->partial ||
	       seen_share(waits, end_ns) < CULPRIT_WAIT_SEEN;
}

/* Seconds in which only its own tasks made it wait are not in the time of its suspects. */
static uint64_t since_of(struct culprit_owner *owner, bool suspects, uint64_t begin_ns)
{
	if (!owner->waits_since_ns)
		owner->waits_since_ns = begin_ns;
	if (!suspects)
		owner->others_since_ns = 0;
	else if (!owner->others_since_ns)
		owner->others_since_ns = begin_ns;
	return suspects ? owner->others_since_ns : owner->waits_since_ns;
}

/* An owner that waits much. */
static void judge(struct cmt_culprit *culprit, struct culprit_owner *owner, uint64_t end_ns)
{
	const struct culprit_waits *waits = &culprit->waits;
	const struct culprit_wait *wait = &owner->wait;
	struct cmt_culprit_verdict verdict = {
		.kind = CMT_CULPRIT_WAIT, .ts_ns = end_ns, .confidence = 1,
		.flags = wait->flags, .waited_ns = wait->waited_ns,
	};

	if (is_partial(waits, wait, end_ns))
		verdict.flags |= CMT_CULPRIT_PARTIAL;
	verdict.cpu_share = (double)wait->waited_ns /
			    (double)(wait->waited_ns + wait->ran_ns);
	owner->wait_share = verdict.cpu_share;
	add_runners(waits, owner, &verdict);
	verdict.since_ns = since_of(owner, verdict.nr_suspects, waits->begin_ns);
	culprit_report_cpu(culprit, owner, &verdict);
}

/*
 * By pair, as shares of the time in which the victim could run.  An owner that waits little,
 * which may be most of the little that it wants, is no victim.
 */
static void keep_delays(struct cmt_culprit *culprit, uint64_t end_ns)
{
	struct culprit_waits *waits = &culprit->waits;
	double seen_ns = (double)waits->seen_ns;

	for (uint32_t i = 0; i < waits->nr; i++) {
		const struct culprit_pair *pair = &waits->pairs[i];
		const struct culprit_owner *owner = culprit_owner_find(culprit, pair->victim);
		double wanted_ns;

		if (!owner || !waits_much(waits, &owner->wait))
			continue;
		wanted_ns = (double)(owner->wait.ran_ns + owner->wait.waited_ns);
		if ((double)pair->ns < DELAY_LEAST * wanted_ns)
			continue;
		waits->last[waits->nr_last++] = (struct culprit_delay){
			.victim = pair->victim, .by = pair->by,
			.share = (double)pair->ns / wanted_ns,
			.cpus = wanted_ns / seen_ns,
			.partial = is_partial(waits, &owner->wait, end_ns),
		};
	}
}

/*
 * A second of which less than half is known says nothing, and what the one before it said
 * holds no longer.
 */
static void end_second(struct cmt_culprit *culprit, uint64_t end_ns)
{
	struct culprit_waits *waits = &culprit->waits;
	bool known = seen_share(waits, end_ns) >= 0.5;

	waits->nr_last = 0;
	if (known) {
		sort_pairs(waits);
		keep_delays(culprit, end_ns);
	}
	for (uint32_t i = 0; i < culprit->owners.nr; i++) {
		struct culprit_owner *owner = &culprit->owners.all[i];

		if (!owner->seen)
			continue;
		owner->wait_share = 0;
		if (known && waits_much(waits, &owner->wait))
			judge(culprit, owner, end_ns);
		else
			owner->waits_since_ns = owner->others_since_ns = 0;
		owner->wait = (struct culprit_wait){ 0 };
	}
	memset(waits->pairs, 0, (waits->mask + 1ULL) * sizeof(*waits->pairs));
	waits->nr = 0;
	waits->seen_ns = 0;
	waits->partial = false;
	waits->begin_ns = end_ns;
}

/*
 * Seconds end with those of CLOCK_MONOTONIC, so that overlapping recordings have the same ones.
 * The first one is a whole one; that after it, and one after a gap, has 0.5 to 1.5 s.
 */
static uint64_t second_ns(const struct cmt_culprit *culprit)
{
	uint64_t begin_ns = culprit->waits.begin_ns, more = SECOND_NS / 2 - 1;

	if (begin_ns == culprit->first_ns)
		return SECOND_NS;
	return SECOND_NS + more - (begin_ns + more) % SECOND_NS;
}

/* Behind lost records, what is known covers no more than the frame. */
static uint64_t seen_ns(const struct cmt_usage_frame *frame)
{
	uint64_t span = frame->end_ns - frame->start_ns;

	return frame->nr_gaps && frame->counted_ns > span ? span : frame->counted_ns;
}

void culprit_waits_add(struct cmt_culprit *culprit, const struct cmt_usage_frame *frame)
{
	struct culprit_waits *waits = &culprit->waits;

	if (!waits->begin_ns)
		waits->begin_ns = frame->start_ns;
	for (uint32_t i = 0; i < frame->nr_rows; i++)
		add_row(culprit, frame, cmt_usage_row_at(frame, i));
	if (frame->counters & CMT_F_WAITED)
		waits->seen_ns += seen_ns(frame);
	else
		waits->partial = true;
	waits->partial |= frame->brief && frame->brief_why;
	for (uint32_t i = 0; i < frame->nr_waits; i++)
		add_part(culprit, frame, cmt_usage_wait_part_at(frame, i));
	if (frame->end_ns - waits->begin_ns >= second_ns(culprit))
		end_second(culprit, frame->end_ns);
}
