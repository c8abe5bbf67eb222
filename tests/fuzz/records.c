// SPDX-License-Identifier: GPL-2.0-or-later
/* Records in any order into slots and their tracker. */
#include <cmt/slots.h>
#include <cmt/tracker.h>

#include "fuzz.h"
#include "record/record.h"

#define NR_CPUS		8
#define NR_RMIDS	64

static int read_slot(void *ctx, const struct cmt_slot *slot)
{
	uint64_t *sum = ctx;

	for (uint32_t i = 0; i < slot->nr_entries; i++) {
		const struct cmt_slot_entry *e = cmt_slot_entry_at(slot, i);

		FUZZ_CHECK(e->rmid < NR_RMIDS);
		if (e->owner)
			*sum += e->owner->tgid;
	}
	for (uint32_t i = 0; i < slot->nr_cpus; i++)
		FUZZ_CHECK(cmt_slot_cpu_at(slot, i)->cpu < NR_CPUS);
	for (uint32_t i = 0; i < slot->nr_perf; i++)
		*sum += cmt_slot_perf_at(slot, i)->cycles;
	for (uint32_t i = 0; i < slot->nr_channels; i++)
		*sum += cmt_slot_channel_at(slot, i)->socket;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .nr_rmids = NR_RMIDS, .nr_cpus = NR_CPUS,
	};
	struct cmt_slots *slots;
	struct cmt_record record;
	struct cmt_owner owner;
	uint64_t sum = 0;

	FUZZ_CHECK(!cmt_slots_new(&slots, &opts, read_slot, &sum));
	for (; size >= sizeof(record); size -= sizeof(record), data += sizeof(record)) {
		memcpy(&record, data, sizeof(record));
		cmt_record_possible(&record, NR_CPUS, NR_RMIDS);
		owner.sz = sizeof(owner);
		cmt_record_owner(&record, &owner);
		cmt_slots_add(slots, &record);
		cmt_tracker_lookup(cmt_slots_tracker(slots), record.rmid, record.ts);
	}
	cmt_slots_flush(slots);
	cmt_slots_free(slots);
	return 0;
}
