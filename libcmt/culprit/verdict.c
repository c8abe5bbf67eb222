// SPDX-License-Identifier: LGPL-2.1-or-later
/* Verdicts: their numbers, their suspects, and the queue of them. */
#include "state.h"

#include <errno.h>
#include <string.h>

static uint64_t bytes(float kib)
{
	return kib > 0 ? (uint64_t)(kib * 1024) : 0;
}

static uint64_t bytes_a_second(float kib_a_slot)
{
	return bytes(kib_a_slot) * 1000;
}

static void add_suspects(const struct cmt_culprit *culprit,
			 const struct culprit_list *list,
			 struct cmt_culprit_verdict *verdict)
{
	for (uint32_t i = 0; i < list->nr; i++) {
		const struct culprit_source *source = &list->sources[i];
		const struct culprit_cell *cell = &culprit->cells[source->cell];
		struct cmt_culprit_suspect *s = &verdict->suspects[i];

		s->id = cell->id;
		s->share = list->total > 0 ? source->kib / list->total : 0;
		if (verdict->kind == CMT_CULPRIT_CACHE)
			s->taken_bytes = bytes(source->kib);
		s->occupancy_bytes = bytes(cell->occupancy);
		s->occupancy_before = bytes(cell->occupancy50);
		s->traffic_bytes = bytes_a_second(cell->rate);
		s->traffic_before = bytes_a_second(cell->traffic90);
	}
	verdict->nr_suspects = list->nr;
	if (list->nr == CMT_CULPRIT_SUSPECTS)
		verdict->flags |= CMT_CULPRIT_CLIPPED;
}

/*
 * Is @verdict the same as one of the @recent ones, within the cooldown?  One without a suspect
 * says no more than any of them.  Otherwise it takes the place of the oldest.
 */
static bool cooling(const struct cmt_culprit *culprit, struct culprit_reported *recent,
		    const struct cmt_culprit_verdict *verdict)
{
	uint64_t suspect = verdict->nr_suspects ? verdict->suspects[0].id : 0;
	struct culprit_reported *oldest = recent;

	for (uint32_t i = 0; i < CULPRIT_REPORTED; i++) {
		if (recent[i].ts_ns && (!verdict->nr_suspects || recent[i].suspect == suspect) &&
		    verdict->ts_ns - recent[i].ts_ns < culprit->opts.cooldown_ns)
			return true;
		if (recent[i].ts_ns < oldest->ts_ns)
			oldest = &recent[i];
	}
	*oldest = (struct culprit_reported){ .suspect = suspect, .ts_ns = verdict->ts_ns };
	return false;
}

static void enqueue(struct cmt_culprit *culprit,
		    const struct cmt_culprit_verdict *verdict)
{
	uint32_t at;

	culprit->verdicts++;
	if (culprit->queue_nr == CULPRIT_QUEUE) {
		culprit->queue_at = (culprit->queue_at + 1) % CULPRIT_QUEUE;
		culprit->queue_nr--;
		culprit->verdicts_dropped++;
	}
	at = (culprit->queue_at + culprit->queue_nr) % CULPRIT_QUEUE;
	culprit->queue[at] = *verdict;
	culprit->queue_nr++;
}

static void add_pace(const struct cmt_culprit *culprit,
		     const struct culprit_cell *cell,
		     struct cmt_culprit_verdict *verdict)
{
	struct culprit_pace pace;

	culprit_pace(culprit, cell, &pace);
	verdict->cpi = pace.known ? pace.cpi : NAN;
	verdict->mpki = pace.known ? 1000 * pace.mpi : NAN;
	verdict->cpi_before = pace.known ? cell->cpi50 : NAN;
	verdict->mpki_before = pace.known ? 1000 * cell->mpi50 : NAN;
	verdict->flags |= pace.known ? CMT_CULPRIT_COUNTED : 0;
}

/*
 * The share of such verdicts that were right on the deciding set (docs/slowdown.md): by
 * the excess over the least loss that counts, and by the victim's loss.
 */
static double confidence(const struct culprit_cell *cell,
			 const struct culprit_list *suspects, uint32_t kind)
{
	static const float strong[] = { 1, 1.5f, 3 }, lost[] = { 0.1f, 0.2f };
	static const float right[4][3] = {
		{ 0.90f, 0.92f, 0.98f }, { 0.95f, 0.98f, 0.99f },
		{ 0.93f, 0.97f, 0.99f }, { 0.97f, 0.98f, 0.99f },
	};
	float gone = cell->occupancy50 - cell->occupancy;
	uint32_t row = 0, column = 0;

	if (!suspects->nr)
		return NAN;
	if (kind != CMT_CULPRIT_CACHE)
		return CULPRIT_SURE_BUSY;
	while (row < 3 && suspects->sources[0].kib >=
			  strong[row] * culprit_least(cell))
		row++;
	while (column < 2 && gone >= lost[column] * cell->occupancy50)
		column++;
	return right[row][column];
}

void culprit_report(struct cmt_culprit *culprit, struct culprit_cell *cell,
		    const struct culprit_list *suspects,
		    struct cmt_culprit_verdict *verdict)
{
	uint64_t now = culprit->start_ns + culprit->opts.slot_ns;

	verdict->id = cell->id;
	verdict->domain = cell->domain;
	verdict->ts_ns = now;
	verdict->since_ns = now - (culprit->slot - cell->onset) * culprit->opts.slot_ns;
	verdict->cpu_share = NAN;
	add_suspects(culprit, suspects, verdict);
	if (cooling(culprit, cell->reported[verdict->kind - CMT_CULPRIT_CACHE], verdict))
		return;
	verdict->occupancy_bytes = bytes(cell->occupancy);
	verdict->occupancy_before = bytes(cell->occupancy50);
	if (verdict->confidence <= 0)
		verdict->confidence = confidence(cell, suspects, verdict->kind);
	verdict->lost_bytes = bytes(cell->occupancy50 - cell->occupancy);
	verdict->refetched_bytes = bytes(cell->refetched);
	add_pace(culprit, cell, verdict);
	enqueue(culprit, verdict);
}

/* What an owner holds has no part in it, and may be unknown. */
void culprit_report_cpu(struct cmt_culprit *culprit, struct culprit_owner *owner,
			struct cmt_culprit_verdict *verdict)
{
	verdict->id = owner->id;
	verdict->cpi = NAN;
	verdict->cpi_before = NAN;
	verdict->mpki = NAN;
	verdict->mpki_before = NAN;
	if (!cooling(culprit, owner->reported[verdict->kind - CMT_CULPRIT_THROTTLED], verdict))
		enqueue(culprit, verdict);
}

int cmt_culprit_next(struct cmt_culprit *culprit,
		     const struct cmt_culprit_verdict **verdict)
{
	if (!culprit->queue_nr)
		return 0;
	culprit->shown = culprit->queue[culprit->queue_at];
	culprit->queue_at = (culprit->queue_at + 1) % CULPRIT_QUEUE;
	culprit->queue_nr--;
	*verdict = &culprit->shown;
	return 1;
}
