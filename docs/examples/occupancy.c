// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints what each container holds of the cache, every 10 ms, till ^C. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmt/cmt.h>

static void print_slot(void *ctx, const struct cmt_slot *slot)
{
	if (slot->lost)
		printf("%" PRIu64 " records lost\n", slot->lost);
	for (uint32_t i = 0; i < slot->nr_entries; i++) {
		const struct cmt_slot_entry *entry = &slot->entries[i];
		const struct cmt_container *container;

		if (!entry->owner || !(entry->flags & CMT_F_OCCUPANCY))
			continue;
		container = cmt_containers_lookup(ctx, entry->owner->cgroup_id);
		printf("%" PRIu64 " %s %.16s domain %" PRIu32 " %" PRIu64
		       " bytes%s\n", slot->start_ns,
		       container ? container->name : "?", entry->owner->comm,
		       entry->domain, entry->occupancy_bytes,
		       entry->flags & CMT_F_EMULATED ? " (emulated)" : "");
	}
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
	struct cmt_slots_opts opts = { .sz = sizeof(opts), .slot_ns = 10000000 };
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
