// SPDX-License-Identifier: LGPL-2.1-or-later
/* Verdicts: their numbers, their suspects, and the queue of them. */
#include "culprit_state.h"

#include <errno.h>
#include <string.h>

#include "internal.h"

static uint64_t bytes(float kib)
{
	return kib > 0 ? (uint64_t)(kib * 1024) : 0;
}

static uint64_t bytes_a_second(float kib_a_slot)
{
	return bytes(kib_a_slot) * 1000;
}

static void add_suspect(struct cmt_culprit_verdict *verdict,
			const struct culprit_cell *cell, float kib)
{
	struct cmt_culprit_suspect s = {
		.id = cell->id,
		.taken_bytes = bytes(kib),
		.occupancy_bytes = bytes(cell->occupancy),
		.occupancy_before = bytes(cell->occupancy50),
		.traffic_bytes = bytes_a_second(cell->rate),
		.traffic_before = bytes_a_second(cell->traffic90),
	};
	uint32_t i = verdict->nr_suspects;

	if (i == CMT_CULPRIT_SUSPECTS) {
		verdict->flags |= CMT_CULPRIT_CLIPPED;
		return;
	}
	while (i && verdict->suspects[i - 1].taken_bytes < s.taken_bytes) {
		verdict->suspects[i] = verdict->suspects[i - 1];
		i--;
	}
	verdict->suspects[i] = s;
	verdict->nr_suspects++;
}

static void add_suspects(const struct cmt_culprit *culprit,
			 const struct culprit_cell *cell,
			 struct cmt_culprit_verdict *verdict)
{
	double total = 0;

	for (uint32_t i = 0; i < cell->nr_debts; i++) {
		const struct culprit_debt *debt = &cell->debts[i];
		float kib = culprit_owed(culprit, debt);

		if (kib >= 1)
			add_suspect(verdict, &culprit->cells[debt->cell], kib);
	}
	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		total += (double)verdict->suspects[i].taken_bytes;
	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		verdict->suspects[i].share =
			(double)verdict->suspects[i].taken_bytes / total;
}

static bool cooling(const struct cmt_culprit *culprit,
		    const struct culprit_told *told,
		    const struct cmt_culprit_verdict *verdict)
{
	return told->ts_ns &&
	       (!verdict->nr_suspects ||
		told->suspect == verdict->suspects[0].id) &&
	       verdict->ts_ns - told->ts_ns < culprit->opts.cooldown_ns;
}

static void enqueue(struct cmt_culprit *culprit,
		    const struct cmt_culprit_verdict *verdict)
{
	uint32_t at;

	culprit->verdicts++;
	if (culprit->queue_nr == CULPRIT_QUEUE) {
		culprit->queue_at = (culprit->queue_at + 1) % CULPRIT_QUEUE;
		culprit->queue_nr--;
		culprit->not_told++;
	}
	at = (culprit->queue_at + culprit->queue_nr) % CULPRIT_QUEUE;
	culprit->queue[at] = *verdict;
	culprit->queue_nr++;
}

bool culprit_tell(struct cmt_culprit *culprit, struct culprit_cell *cell,
		  uint32_t kind)
{
	struct culprit_told *told = &cell->told[kind];
	struct cmt_culprit_verdict verdict = {
		.id = cell->id,
		.domain = cell->domain,
		.kind = kind,
		.ts_ns = culprit->start_ns + culprit->opts.slot_ns,
		.occupancy_bytes = bytes(cell->occupancy),
		.occupancy_before = bytes(cell->occupancy50),
		.lost_bytes = bytes(cell->occupancy50 - cell->occupancy),
		.refetched_bytes = bytes(cell->refetched),
		.cpu_share = NAN,
		.cpi = NAN, .cpi_before = NAN, .mpki = NAN, .mpki_before = NAN,
	};

	verdict.since_ns = verdict.ts_ns -
			   (culprit->slot - cell->onset) * culprit->opts.slot_ns;
	add_suspects(culprit, cell, &verdict);
	if (cooling(culprit, told, &verdict))
		return false;
	told->ts_ns = verdict.ts_ns;
	told->suspect = verdict.nr_suspects ? verdict.suspects[0].id : 0;
	enqueue(culprit, &verdict);
	return true;
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
