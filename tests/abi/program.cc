// SPDX-License-Identifier: GPL-2.0-or-later
/* A program in C++: the headers declare C functions, and the inline ones are C++. */
#include <cmt/cmt.h>

static_assert(CMT_VERSION_AT_LEAST(0, 1, 0), "version");

static int count_entries(void *ctx, const struct cmt_slot *slot)
{
	for (uint32_t i = 0; i < slot->nr_entries; i++)
		*static_cast<uint64_t *>(ctx) +=
			cmt_slot_entry_at(slot, i)->occupancy_bytes;
	return 0;
}

int main()
{
	struct cmt_slots_opts opts = {};
	struct cmt_record record = {};
	struct cmt_snapshot *snapshot;
	struct cmt_slots *slots;
	uint64_t bytes = 0;

	record.type = CMT_REC_SAMPLE;
	record.flags = CMT_F_OCCUPANCY;
	record.rmid = 1;
	record.generation = 1;
	record.sample.occupancy_bytes = 42;
	if (cmt_snapshot_new(&snapshot, 0, &record, 1))
		return 1;
	opts.sz = sizeof(opts);
	opts.nr_rmids = 2;
	opts.nr_cpus = 1;
	if (cmt_slots_new(&slots, &opts, count_entries, &bytes) ||
	    cmt_slots_add(slots, cmt_snapshot_at(snapshot, 0)) ||
	    cmt_slots_flush(slots))
		return 1;
	cmt_slots_free(slots);
	cmt_snapshot_free(snapshot);
	return bytes == 42 && cmt_version()[0] ? 0 : 1;
}
