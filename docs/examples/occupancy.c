// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints what each container holds of the cache, every 10 ms, till ^C. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmt/cmt.h>

/* The cgroup of an entry whose occupancy is known; 0: not known. */
static uint64_t cgroup(const struct cmt_slot_entry *entry)
{
	if (!entry->owner || !(entry->flags & CMT_F_OCCUPANCY))
		return 0;
	return entry->owner->cgroup_id;
}

static void print_slot(void *ctx, const struct cmt_slot *slot)
{
	for (uint32_t i = 0; i < slot->nr_entries; i++) {
		uint64_t id = cgroup(&slot->entries[i]), bytes = 0;
		const struct cmt_container *container;
		uint32_t first = i;

		for (uint32_t k = 0; k < slot->nr_entries; k++) {
			if (cgroup(&slot->entries[k]) != id)
				continue;
			bytes += slot->entries[k].occupancy_bytes;
			if (k < first)
				first = k;
		}
		if (!id || first < i)
			continue;
		container = cmt_containers_lookup(ctx, id);
		printf("%" PRIu64 " %s %" PRIu64 " bytes%s\n", slot->start_ns,
		       container ? container->name : "?", bytes,
		       slot->entries[i].flags & CMT_F_EMULATED ?
		       " (emulated)" : "");
	}
	if (slot->lost)
		printf("%" PRIu64 " records lost\n", slot->lost);
}

static int check(int result, const char *what)
{
	if (result < 0) {
		fprintf(stderr, "%s: %s\n", what, strerror(-result));
		exit(EXIT_FAILURE);
	}
	return result;
}

int main(void)
{
	struct cmt_slots_opts opts = {
		.sz = sizeof(opts),
		.slot_ns = 10000000,
	};
	struct cmt_containers *containers;
	struct cmt_snapshot *snapshot;
	struct cmt_record records[256];
	struct cmt_reader *reader;
	struct cmt_device *dev;
	struct cmt_slots *slots;

	check(cmt_device_open(&dev, NULL, 0), CMT_DEVICE_PATH);
	check(cmt_containers_new(&containers, NULL), "cgroups");
	opts.nr_rmids = cmt_device_info(dev)->nr_rmids;
	opts.nr_cpus = cmt_device_info(dev)->nr_cpus;
	check(cmt_slots_new(&slots, &opts, print_slot, containers), "slots");
	check(cmt_reader_new(&reader, dev, NULL), "reader");

	/* Who has an RMID already; again after records were lost. */
	for (bool resync = true;;) {
		if (resync) {
			check(cmt_device_snapshot(dev, &snapshot), "snapshot");
			check(cmt_tracker_sync(cmt_slots_tracker(slots),
					       snapshot), "sync");
			free(snapshot);
			resync = false;
		}
		int n = check(cmt_reader_read(reader, records, 256), "read");

		for (int i = 0; i < n; i++) {
			check(cmt_slots_add(slots, &records[i]), "add");
			resync |= cmt_record_lost(&records[i]) > 0;
		}
		if (!n)
			check(cmt_reader_wait(reader, 10), "wait");
	}
}
