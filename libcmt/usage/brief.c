// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CMT_USAGE_BRIEF: rows that are left out, and RMIDs that are not even visited.
 *
 * An RMID with the entries of the slot before costs one comparison, and nothing where a slot
 * has the entries of the slot before, in the same interval.  Visited RMIDs are noted in the
 * news of the interval.  From these, and from the owners that ran, follow
 * the groups in the frame; the chains of these groups have the holdings of their rows.
 */
#include "state.h"

#include <errno.h>
#include <string.h>

#include "slots/slots.h"

/* A brief frame has all rows at least once in this time. */
#define WHOLE_NS	1000000000ULL
#define AHEAD		8	/* entries of a slot, to be prefetched */

/*
 * Is the entry the one of the slot before, without a new value? It may be of another
 * interval than the holding only if no value of the holding is of an interval.
 */
static inline bool is_same(const struct cmt_usage *usage,
			   const struct usage_holding *h,
			   const struct cmt_slot_entry *e, const uint64_t *news)
{
	return h->entry == e && h->held && h->seen_ns == usage->before_ns &&
	       !(news[h->rmid / 64] >> h->rmid % 64 & 1) &&
	       (h->interval == usage->interval || h->carried);
}

/*
 * Entries of holdings that follow each other, as long as there is nothing new in them.
 * Returns the first other one of the slot.
 */
static inline uint32_t skip_same(struct cmt_usage *usage,
				 const struct cmt_slot *slot,
				 const uint64_t *news, uint32_t i)
{
	const struct usage_holding *end;
	struct usage_holding *h;
	uint32_t first = i;

	/* before the first holding there is no array */
	if (!usage->nr_holdings)
		return i;
	h = &usage->holdings[usage->expected];
	end = &usage->holdings[usage->nr_holdings];
	for (; i < slot->nr_entries && h < end; i++, h++) {
		if (!is_same(usage, h, cmt_slot_entry_at(slot, i), news))
			break;
		if (h->interval != usage->interval)
			usage_count_seen(usage, h);
		h->seen_ns = slot->end_ns;
	}
	usage->expected += i - first;
	usage->shares_now += i - first;
	return i;
}

/* The holdings of the next @n entries follow each other. */
static void note_steps(struct cmt_usage *usage, uint32_t first, uint32_t n)
{
	while (n--)
		usage->steps[usage->nr_steps++] = first++;
}

/* The entry was added; usage->expected follows its holding, if it has one. */
static void note_step(struct cmt_usage *usage, const struct cmt_slot_entry *e)
{
	uint32_t number = usage->expected - 1;

	usage->in_step &= usage->expected && usage->holdings[number].entry == e &&
			  usage->holdings[number].held;
	note_steps(usage, number, 1);
}

/*
 * Visit all entries.  Where an interval has several slots, note their holdings.  One that has
 * no memory is left out.
 */
static int add_all(struct cmt_usage *usage, const struct cmt_slot *slot)
{
	const uint64_t *news = cmt_slots_news(usage->slots);
	uint32_t i, first;
	int err = 0, ret;

	usage->expected = 0;
	usage->shares_now = 0;
	usage->nr_steps = 0;
	usage->in_step = !usage->narrow &&
			 !cmt_array_reserve(&usage->steps, &usage->room_steps, slot->nr_entries,
					    sizeof(*usage->steps));
	for (i = 0;; i++) {
		first = usage->expected;
		i = skip_same(usage, slot, news, i);
		if (usage->in_step)
			note_steps(usage, first, usage->expected - first);
		if (i == slot->nr_entries)
			break;
		/* others will follow, last looked at a slot ago */
		if (i + AHEAD < slot->nr_entries)
			__builtin_prefetch(cmt_slot_entry_at(slot, i + AHEAD));
		ret = usage_holding_add(usage, cmt_slot_entry_at(slot, i),
					slot->end_ns);
		err = err ? err : ret;
		if (usage->in_step)
			note_step(usage, cmt_slot_entry_at(slot, i));
	}
	if (!usage->narrow)
		usage_sums_end(usage, usage->shares_now);
	return err;
}

/* Visit the entries with a reading only: all others are in the slot as before. */
static int add_read(struct cmt_usage *usage, const struct cmt_slot *slot,
		    const uint32_t *read, uint32_t nr)
{
	struct usage_holding *h;
	uint32_t i;
	int err = 0, ret;

	usage->behind = true;
	for (i = 0; i < nr; i++) {
		if (i + AHEAD < nr)
			__builtin_prefetch(&usage->holdings[usage->steps[read[i + AHEAD]]]);
		h = &usage->holdings[usage->steps[read[i]]];
		ret = usage_holding_take(usage, h, cmt_slot_entry_at(slot, read[i]),
					 slot->end_ns);
		err = err ? err : ret;
		usage->in_step &= h->held;
	}
	return err;
}

void usage_catch_up(struct cmt_usage *usage, uint64_t end_ns)
{
	uint32_t i;

	for (i = 0; usage->behind && i < usage->nr_steps; i++)
		usage->holdings[usage->steps[i]].seen_ns = end_ns;
	usage->behind = false;
}

int usage_entries_add(struct cmt_usage *usage, const struct cmt_slot *slot)
{
	uint32_t nr;
	const uint32_t *read = cmt_slots_read(usage->slots, &nr);
	int err;

	/* the first slot of an interval begins the values of all holdings */
	if (read && usage->in_step && usage->slots_now > 1) {
		err = add_read(usage, slot, read, nr);
	} else {
		usage_catch_up(usage, usage->before_ns);
		err = add_all(usage, slot);
	}
	usage->in_step &= !err;
	return err;
}

void usage_brief_sums(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->nr_holdings; i++) {
		struct usage_holding *h = &usage->holdings[i];

		if (!usage_seen(usage, h) || usage_ended(h) ||
		    h->seen_ns != usage->slot_end_ns)
			usage_sum_drop(usage, h);
		else
			usage_sum_add(usage, h);
	}
}

int usage_group_join(struct cmt_usage *usage, struct usage_holding *h)
{
	struct usage_group *group = &usage->groups[h->group];

	if (!usage_in_cgroup(&h->owner) && !group->odd) {
		if (cmt_grow(&usage->odd, usage->nr_odd, &usage->room_odd,
			     sizeof(*usage->odd)))
			return -ENOMEM;
		usage->odd[usage->nr_odd++] = h->group;
		group->odd = true;
	}
	if (h->chained) {
		usage->loose = usage->untidy = true;
		return 0;
	}
	h->chained = true;
	h->mate = group->first;
	group->first = (uint32_t)(h - usage->holdings);
	return 0;
}

void usage_brief_decide(struct cmt_usage *usage, struct cmt_usage_frame *frame)
{
	usage->whole_due |= usage->nr_again < usage->nr_seen_before;
	usage->brief = usage->flags & CMT_USAGE_BRIEF && usage_by_owner(usage) &&
		       !usage->whole_due &&
		       usage->slot_end_ns - usage->whole_ns < WHOLE_NS;
	frame->brief = usage->brief;
	if (usage->brief && usage->perf.quiet)
		frame->brief_why |= CMT_USAGE_WHY_EXCLUDED;
	if (usage->brief && (frame->nr_gaps || frame->dropped))
		frame->brief_why |= CMT_USAGE_WHY_GAP;
}

void usage_brief_given(struct cmt_usage *usage, const struct cmt_usage_frame *frame)
{
	if (frame->brief || !frame->nr_cpus)
		return;
	usage->whole_due = false;
	usage->whole_ns = usage->slot_end_ns;
}

bool usage_brief_news(const struct cmt_usage *usage, const struct usage_holding *h)
{
	if (usage->unread)
		return h->born || usage_ended(h) || !usage_in_cgroup(&h->owner);
	return h->read || h->born || usage_ended(h) || h->why ||
	       !h->occupancy_known || !usage_in_cgroup(&h->owner);
}

/* The groups that have a row in a brief frame; some are known already. */
void usage_brief_want(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->nr_odd; i++)
		usage_want(usage, usage->odd[i]);
	for (i = 0; i < usage->nr_news; i++) {
		const struct usage_holding *h = &usage->holdings[usage->news[i]];

		if (usage_seen(usage, h) && usage_brief_news(usage, h))
			usage_want(usage, h->group);
	}
}

/* Backwards: the chains begin with the holding that was visited last. */
uint32_t usage_brief_list(struct cmt_usage *usage, struct usage_holding **list,
			  uint32_t room)
{
	uint32_t i, at, nr = 0;

	for (i = 0; i < usage->nr_wanted; i++) {
		at = usage->groups[usage->wanted[i]].first;
		while (at != USAGE_NONE) {
			struct usage_holding *h = &usage->holdings[at];

			if (usage_seen(usage, h))
				list[room - ++nr] = h;
			at = h->mate;
		}
	}
	memmove(list, list + room - nr, nr * sizeof(*list));
	return nr;
}
