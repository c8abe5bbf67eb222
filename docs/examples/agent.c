// SPDX-License-Identifier: GPL-2.0-or-later
/* agent [ROUNDS]: what each container holds of the cache, every 10 ms, till ^C. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmt/cmt.h>

static volatile sig_atomic_t stop;
static struct cmt_containers *containers;
static unsigned long rounds;	/* 0: no end */

static void on_signal(int number)
{
	stop = number;
}

static int check(int result, const char *what)
{
	if (result >= 0 || result == -EINTR)
		return result;
	fprintf(stderr, "%s: %s%s\n", what, strerror(-result),
		result == -ENOENT ? ": is the module loaded? (modprobe cmt)" :
		result == -EACCES ? ": the group cmt may read it" : "");
	exit(EXIT_FAILURE);
}

/* Without a cgroup: a CPU, or all who wait for an RMID. */
static const char *name(const struct cmt_owner *owner)
{
	const struct cmt_container *c = NULL;

	if (owner->cgroup_id)
		c = cmt_containers_lookup(containers, owner->cgroup_id);
	return c ? c->name : "(others)";
}

/* Processes of a container may each have an RMID: add them up. */
static void print_slot(void *emulated, const struct cmt_slot *slot)
{
	struct { const char *name; uint64_t bytes; } totals[slot->nr_entries + 1];
	uint32_t n = 0, t;

	if (stop)
		return;
	for (uint32_t i = 0; i < slot->nr_entries; i++) {
		const struct cmt_slot_entry *entry = &slot->entries[i];

		if (!entry->owner || !(entry->flags & CMT_F_OCCUPANCY))
			continue;
		totals[n].name = name(entry->owner);
		totals[n].bytes = 0;
		for (t = 0; strcmp(totals[t].name, totals[n].name);)
			t++;
		totals[t].bytes += entry->occupancy_bytes;
		n += t == n;
	}
	for (t = 0; t < n; t++)
		printf("%.2f s %10.1f KiB%s  %s\n", slot->start_ns / 1e9,
		       totals[t].bytes / 1024.0, (char *)emulated, totals[t].name);
	if (slot->lost)
		printf("%llu records lost\n", (unsigned long long)slot->lost);
	stop |= rounds && !--rounds;
}

int main(int argc, char **argv)
{
	struct cmt_slots_opts opts = { sizeof(opts), .slot_ns = 10000000 };
	const struct sigaction action = { .sa_handler = on_signal,
					  .sa_flags = SA_RESTART };
	struct cmt_reader *reader;
	struct cmt_device *dev;
	struct cmt_slots *slots;
	const struct cmt_info *info;
	char *emulated = "";

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	sigaction(SIGINT, &action, NULL);
	check(cmt_device_open(&dev, NULL, 0), CMT_DEVICE_PATH);
	info = cmt_device_info(dev);
	if (info->backend == CMT_BACKEND_EMULATED) {
		emulated = " EMULATED";
		fprintf(stderr, "nothing is measured: %s\n", info->reason);
	}
	opts.nr_rmids = info->nr_rmids;
	opts.nr_cpus = info->nr_cpus;
	check(cmt_containers_new(&containers, NULL), "cgroups");
	check(cmt_slots_new(&slots, &opts, print_slot, emulated), "slots");
	check(cmt_reader_new(&reader, dev, NULL), "reader");
	while (!stop)
		if (!check(cmt_reader_feed(reader, slots), "read"))
			check(cmt_reader_wait(reader, 10), "wait");
	cmt_reader_free(reader);
	cmt_slots_free(slots);
	cmt_containers_free(containers);
	cmt_device_close(dev);
	return check(fflush(stdout) || ferror(stdout) ? -EIO : 0, "output");
}
