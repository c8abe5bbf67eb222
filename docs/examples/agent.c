// SPDX-License-Identifier: GPL-2.0-or-later
/* agent [ROUNDS]: what each container holds of the cache, every 10 ms, till ^C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmt/cmt.h>

static struct cmt_containers *containers;
static unsigned long rounds;	/* 0: no end */

static int check(int result, const char *what)
{
	if (result >= 0)
		return result;
	fprintf(stderr, "%s: %s\n", what, strerror(-result));
	exit(EXIT_FAILURE);
}

/* Processes of a container may each have an RMID: add them up. */
static void print_slot(void *unit, const struct cmt_slot *slot)
{
	struct { const char *name; uint64_t bytes; } sums[slot->nr_entries + 1];
	uint32_t n = 0, at;

	for (uint32_t i = 0; i < slot->nr_entries; i++) {
		const struct cmt_slot_entry *entry = &slot->entries[i];
		const struct cmt_container *c;

		if (!entry->owner || !(entry->flags & CMT_F_OCCUPANCY))
			continue;
		c = cmt_containers_lookup(containers, entry->owner->cgroup_id);
		sums[n].name = c && entry->owner->cgroup_id ? c->name : "(others)";
		sums[n].bytes = 0;
		for (at = 0; strcmp(sums[at].name, sums[n].name);)
			at++;
		sums[at].bytes += entry->occupancy_bytes;
		n += at == n;
	}
	for (at = 0; at < n; at++)
		printf("%.2f s %10.1f %s  %s\n", slot->start_ns / 1e9,
		       sums[at].bytes / 1024.0, (char *)unit, sums[at].name);
	if (slot->lost)
		printf("%llu records lost\n", (unsigned long long)slot->lost);
	if (!--rounds)
		exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	struct cmt_slots_opts opts = { sizeof(opts), .slot_ns = 10000000 };
	struct cmt_device *dev;
	struct cmt_slots *slots;
	struct cmt_reader *reader;

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	setlinebuf(stdout);	/* whole lines, whatever ends it */
	check(cmt_device_open(&dev, NULL, 0), CMT_DEVICE_PATH
	      ": modprobe cmt makes it, its group cmt may read it");
	opts.nr_rmids = cmt_device_info(dev)->nr_rmids;
	opts.nr_cpus = cmt_device_info(dev)->nr_cpus;
	check(cmt_containers_new(&containers, NULL), "cgroups");
	check(cmt_slots_new(&slots, &opts, print_slot, cmt_device_info(dev)->backend ==
			    CMT_BACKEND_EMULATED ? "KiB EMULATED" : "KiB"), "slots");
	check(cmt_reader_new(&reader, dev, NULL), "reader");
	for (;;)
		if (!check(cmt_reader_feed(reader, slots), "read"))
			check(cmt_reader_wait(reader, 10), "wait");
}
