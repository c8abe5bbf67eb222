// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a damaged recording lacks.  Slots of that time have no record, and so are not among
 * the slots that come: they are counted between the slot before and the slot after.  An
 * interval in which there is no slot at all makes no frame; then the next frame says that
 * something is missing.
 */
#include "state.h"

void usage_missing_add(struct cmt_usage *usage, uint64_t from_ns, uint64_t to_ns,
		       uint64_t lost)
{
	struct usage_missing *missing = &usage->missing;

	/* parts without a time between them are one */
	if (!lost && !(missing->open && missing->to_ns == UINT64_MAX))
		lost = 1;
	if (!missing->open)
		*missing = (struct usage_missing){ true, from_ns, from_ns, 0 };
	if (from_ns < missing->from_ns)
		missing->from_ns = from_ns;
	if (to_ns > missing->to_ns)
		missing->to_ns = to_ns;
	missing->lost += lost;
}

void usage_missing_until(struct cmt_usage *usage, uint64_t to_ns)
{
	struct usage_missing *missing = &usage->missing;

	if (missing->to_ns == UINT64_MAX)
		missing->to_ns = to_ns > missing->from_ns ? to_ns : missing->from_ns;
	if (!missing->from_ns)
		missing->from_ns = missing->to_ns;
}

/* How many slots that begin from @from_ns on, and before @end_ns, lack records? */
static uint64_t slots_missing(const struct cmt_usage *usage, uint64_t from_ns,
			      uint64_t end_ns)
{
	const struct usage_missing *missing = &usage->missing;
	uint64_t first = missing->from_ns / usage->slot_ns;
	uint64_t last = missing->to_ns / usage->slot_ns;
	uint64_t from = from_ns / usage->slot_ns + (from_ns % usage->slot_ns != 0);
	uint64_t end = end_ns / usage->slot_ns + (end_ns % usage->slot_ns != 0);

	if (from < first)
		from = first;
	if (end > last + 1)
		end = last + 1;
	return from < end ? end - from : 0;
}

void usage_missing_count(struct cmt_usage *usage, uint64_t until_ns)
{
	struct usage_missing *missing = &usage->missing;
	uint64_t from = usage->slot_end_ns, nr;

	if (!missing->open || missing->from_ns >= usage->end_ns)
		return;
	if (from < usage->start_ns)
		from = usage->start_ns;
	if (until_ns > usage->end_ns)
		until_ns = usage->end_ns;
	usage->lost += missing->lost;
	missing->lost = 0;
	nr = slots_missing(usage, from, until_ns);
	usage->gaps_now += (uint32_t)nr;
	/* the slot in which the interval ends belongs to it */
	if (nr)
		missing->from_ns = until_ns + usage->slot_ns - 1;
}

bool usage_missing_slot(struct cmt_usage *usage, const struct cmt_slot *slot)
{
	struct usage_missing *missing = &usage->missing;
	bool lacks;

	if (!missing->open)
		return false;
	usage_missing_count(usage, slot->start_ns);
	lacks = slots_missing(usage, slot->start_ns, slot->end_ns) ||
		(!usage->gaps_now &&
		 slots_missing(usage, usage->slot_end_ns, slot->start_ns));
	missing->open = missing->to_ns >= slot->end_ns;
	return lacks;
}

void usage_missing_end(struct cmt_usage *usage)
{
	struct usage_missing *missing = &usage->missing;

	if (!missing->open)
		return;
	usage_missing_count(usage, usage->end_ns);
	if (!usage->gaps_now)
		usage->gaps_now = 1;
	usage->lost += missing->lost;
	missing->lost = 0;
}
