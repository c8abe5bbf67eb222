// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts.h"

#include "record/record.h"
#include "tracker.h"

#define ROOM_MIN	64

/* An element begins as a copy of its record. */
#define SAME_PLACE(member, of_record)					\
	CMT_SAME_PLACE(struct cmt_slot_perf, member, of_record)
SAME_PLACE(ts, ts);
SAME_PLACE(flags, flags);
SAME_PLACE(rmid, rmid);
SAME_PLACE(generation, generation);
SAME_PLACE(domain, domain);
SAME_PLACE(ran_ns, ran_ns);
SAME_PLACE(cycles, perf.cycles);
SAME_PLACE(instructions, perf.instructions);
SAME_PLACE(waited_ns, perf.waited_ns);
SAME_PLACE(llc_misses, perf.llc_misses);
SAME_PLACE(llc_references, perf.llc_references);

uint32_t cmt_counts_max(uint32_t nr_cpus, uint64_t slot_ns)
{
	uint64_t ms = (slot_ns + 999999) / 1000000;
	uint64_t max = (uint64_t)nr_cpus * CMT_COUNTS_PER_CPU * ms;

	return max < CMT_COUNTS_MAX ? (uint32_t)max : CMT_COUNTS_MAX;
}

int cmt_counts_room(struct cmt_counts *counts, uint32_t n, uint32_t max)
{
	uint32_t room = counts->room ? counts->room : ROOM_MIN;

	while (room < max && room < counts->nr + n)
		room *= 2;
	if (room > max)
		room = max;
	return cmt_array_reserve(&counts->all, &counts->room, room, sizeof(*counts->all));
}

uint32_t cmt_counts_add_run(struct cmt_counts *counts,
			    const struct cmt_record *records, uint32_t n,
			    uint64_t begin, uint64_t span)
{
	struct cmt_slot_perf *to = counts->all + counts->nr;
	uint32_t i, room = counts->room - counts->nr;

	if (n > room)
		n = room;
	for (i = 0; i < n; i++) {
		const struct cmt_record *record = &records[i];

		if (record->type != CMT_REC_PERF || record->ts - begin >= span)
			break;
		memcpy(&to[i], record, sizeof(*record));
		to[i].cpu = record->cpu;
	}
	counts->nr += i;
	return i;
}

/* The records of one CPU are in no order of RMIDs, so each is looked up. */
void cmt_counts_find_owners(struct cmt_counts *counts,
			    struct cmt_tracker *tracker)
{
	const struct cmt_hot *hot = cmt_tracker_hot(tracker);

	for (uint32_t i = 0; i < counts->nr; i++) {
		struct cmt_slot_perf *perf = &counts->all[i];
		const struct cmt_hot *of = &hot[perf->rmid];

		if (!of->events && of->generation == perf->generation)
			perf->owner = of->owner;
		else
			perf->owner = cmt_tracker_lookup_generation(
				tracker, perf->rmid, perf->generation,
				perf->ts);
	}
}
