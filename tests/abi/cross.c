// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that goes through libcmt's structures, for libraries of other versions
 * than the one whose headers it is built with: tests/abi/next makes the other
 * version.  The module, a fake, is of the program's version.
 *
 *	cross older|same|newer		what the library is, compared with the program
 *
 * Exit 0: all is well; 1: the first thing that is not is printed.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmt/cmt.h>

#include "fake_device.h"
#include "image.h"

#define CHECK(cond) do {						\
	if (!(cond)) {							\
		printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
		exit(1);						\
	}								\
} while (0)

#define MS 1000000ULL
#define NOW (90 * MS)
#define BEHIND 0x5555555555555555ULL

static bool library_is_older;

/* Results: the library writes what both know, zeroes the rest, and no more. */
#define RESULT(type) struct { struct type out; uint64_t behind; }
#define PREPARE(result) do {						\
	memset(&(result), 0xff, sizeof(result));			\
	(result).behind = BEHIND;					\
	(result).out.sz = sizeof((result).out);				\
} while (0)

static void check_info(const struct cmt_device *dev)
{
	const struct cmt_info *info = cmt_device_info(dev);
	const unsigned char *room = (const unsigned char *)info;

	CHECK(info->size == sizeof(*info) && info->nr_cpus == 2);
	CHECK(!strcmp(info->reason, "test"));
	for (size_t i = info->size; i < CMT_INFO_ROOM; i++)
		CHECK(!room[i]);
#ifdef CMT_TEST_NEXT
	/* whatever the library knows */
	CHECK(info->test_next == CMT_TEST_NEXT);
#endif
}

static void check_stats(const struct cmt_device *dev)
{
	RESULT(cmt_stats) stats;

	memset(&stats, 0xff, sizeof(stats));
	stats.behind = BEHIND;
	stats.out.size = sizeof(stats.out);
	CHECK(!cmt_device_stats(dev, &stats.out));
	CHECK(stats.out.size == sizeof(stats.out));
	CHECK(stats.out.allocs == 42 && stats.behind == BEHIND);
#ifdef CMT_TEST_NEXT
	CHECK(stats.out.test_next == CMT_TEST_NEXT);
#endif
}

static void check_attach(struct cmt_device *dev)
{
	RESULT(cmt_attached) attached;

	PREPARE(attached);
	CHECK(!cmt_device_attach(dev, CMT_OWNER_CPU, 1, 0, &attached.out));
	CHECK(attached.out.sz == sizeof(attached.out));
	CHECK(attached.out.rmid == 7 && attached.out.generation == 70);
	CHECK(attached.behind == BEHIND);
#ifdef CMT_TEST_NEXT
	CHECK(!attached.out.test_next);
#endif
	CHECK(!cmt_device_detach(dev, CMT_OWNER_CPU, 1));
}

static void check_error(void)
{
	RESULT(cmt_error) error;

	PREPARE(error);
	CHECK(!cmt_error_explain(&error.out, CMT_CALL_OPEN, -ENOENT, NULL));
	CHECK(strstr(error.out.reason, "not loaded") &&
	      strstr(error.out.remedy, "modprobe"));
	CHECK(error.behind == BEHIND);
#ifdef CMT_TEST_NEXT
	CHECK(!error.out.test_next);
#endif
}

static void check_controls(struct cmt_device *dev)
{
	uint32_t number = 0;
	char path[8];

	CHECK(!cmt_device_set_interval(dev, 2 * MS));
	CHECK(!cmt_device_interval(dev, &number) && number == 2 * MS);
	CHECK(!cmt_device_set_scope(dev, CMT_SCOPE_CPU, "a b", NULL));
	CHECK(!cmt_device_scope(dev, &number) && number == CMT_SCOPE_CPU);
	CHECK(!cmt_device_set_resctrl(dev, CMT_RESCTRL_TAKE));
	CHECK(!cmt_device_cgroup_path(dev, 7001, path, sizeof(path)));
	CHECK(!strcmp(path, "/a/b"));
}

static void check_owner(const struct cmt_record *record)
{
	RESULT(cmt_owner) owner;

	PREPARE(owner);
	CHECK(!cmt_record_owner(record, &owner.out));
	CHECK(owner.out.sz == sizeof(owner.out));
	CHECK(owner.out.rmid == 2 && owner.out.kind == CMT_OWNER_PROCESS);
	CHECK(owner.behind == BEHIND);
#ifdef CMT_TEST_NEXT
	CHECK(!owner.out.test_next);
#endif
}

static void check_snapshot(const struct cmt_device *dev, struct cmt_slots *slots)
{
	struct cmt_snapshot *snapshot;

	CHECK(!cmt_device_snapshot(dev, &snapshot));
	CHECK(snapshot->as_of == NOW && snapshot->count == 2);
	for (uint32_t i = 0; i < snapshot->count; i++)
		CHECK(cmt_snapshot_at(snapshot, i)->rmid == i + 1);
	check_owner(cmt_snapshot_at(snapshot, 1));
	CHECK(!cmt_tracker_sync(cmt_slots_tracker(slots), snapshot));
	cmt_snapshot_free(snapshot);
}

static void check_reader_counts(const struct cmt_reader *reader)
{
	RESULT(cmt_reader_counts) counts;

	PREPARE(counts);
	CHECK(!cmt_reader_counts(reader, &counts.out));
	CHECK(counts.out.sz == sizeof(counts.out) && counts.out.emitted == 1);
	CHECK(counts.behind == BEHIND);
#ifdef CMT_TEST_NEXT
	CHECK(!counts.out.test_next);
#endif
	PREPARE(counts);
	CHECK(!cmt_reader_cpu_counts(reader, 1, &counts.out));
	CHECK(counts.out.sz == sizeof(counts.out) && !counts.out.emitted);
	CHECK(counts.behind == BEHIND);
}

/* Options: a member that the library does not know must be 0. */
static void check_reader(struct cmt_device *dev)
{
	struct cmt_reader_opts opts = {
		.sz = sizeof(opts),
		.latency_ns = 5 * MS,
		.watermark = 7,
		.flags = CMT_READER_OLDEST,
	};
	struct cmt_record tick = image_tick(0, NOW), read = { 0 };
	struct cmt_reader *reader;

	CHECK(!cmt_reader_new(&reader, dev, &opts));
	CHECK(fake.watermark == 7);
	image_put(fake_ring(0), &tick);
	CHECK(cmt_reader_read(reader, &read, 1) >= 0);
	check_reader_counts(reader);
	cmt_reader_free(reader);
	opts.flags = 1U << 31;
	CHECK(cmt_reader_new(&reader, dev, &opts) == -EINVAL);
#ifdef CMT_TEST_NEXT
	opts.flags = 0;
	opts.test_next = 1;
	if (library_is_older) {
		CHECK(cmt_reader_new(&reader, dev, &opts) == -EINVAL);
	} else {
		CHECK(!cmt_reader_new(&reader, dev, &opts));
		cmt_reader_free(reader);
	}
#endif
}

#define RMIDS 5U

static unsigned int slots_seen;

static int take_slot(void *ctx, const struct cmt_slot *slot)
{
	(void)ctx;
	slots_seen++;
	CHECK(slot->start_ns == 100 * MS && slot->nr_entries == RMIDS);
	for (uint32_t i = 0; i < RMIDS; i++) {
		const struct cmt_slot_entry *entry = cmt_slot_entry_at(slot, i);

		CHECK(entry->rmid == i + 1 && entry->samples == 1);
		CHECK(entry->occupancy_bytes == 1000 + i);
		CHECK(!entry->owner == (i >= 2));
		CHECK(!entry->owner || entry->owner->rmid == i + 1);
		CHECK(!entry->owner || (entry->owner->sz < sizeof(struct cmt_owner)) ==
					library_is_older);
	}
	CHECK(slot->nr_cpus == 2);
	for (uint32_t i = 0; i < 2; i++)
		CHECK(cmt_slot_cpu_at(slot, i)->cpu == i &&
		      cmt_slot_cpu_at(slot, i)->ticks == 1);
	return 0;
}

static struct cmt_slots *make_slots(void)
{
	struct cmt_slots_opts opts = {
		.sz = sizeof(opts),
		.nr_rmids = 64,
		.nr_cpus = 2,
	};
	struct cmt_slots *slots;

	CHECK(!cmt_slots_new(&slots, &opts, take_slot, NULL));
	return slots;
}

static void check_slots(struct cmt_slots *slots)
{
	RESULT(cmt_slots_counts) counts;

	for (uint32_t i = 0; i < RMIDS; i++) {
		struct cmt_record sample = {
			.type = CMT_REC_SAMPLE,
			.ts = 100 * MS + i,
			.flags = CMT_F_OCCUPANCY,
			.rmid = i + 1,
			.generation = 1,
			.sample.occupancy_bytes = 1000 + i,
		};

		CHECK(!cmt_slots_add(slots, &sample));
	}
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct cmt_record tick = image_tick(cpu, 100 * MS + RMIDS + cpu);

		CHECK(!cmt_slots_add(slots, &tick));
	}
	CHECK(!cmt_slots_flush(slots) && slots_seen == 1);
	PREPARE(counts);
	CHECK(!cmt_slots_counts(slots, &counts.out));
	CHECK(counts.out.sz == sizeof(counts.out) && counts.behind == BEHIND);
	CHECK(counts.out.added == RMIDS + 2 && counts.out.retired == 1);
#ifdef CMT_TEST_NEXT
	CHECK(!counts.out.test_next);
#endif
	cmt_slots_free(slots);
}

static void setup(void)
{
	fake_setup(2, 64);
#ifdef CMT_TEST_NEXT
	fake.info.test_next = CMT_TEST_NEXT;
	fake.stats.test_next = CMT_TEST_NEXT;
#endif
	fake.stats.allocs = 42;
	fake.nr_existing = 2;
	fake.as_of = fake.now = NOW;
	for (uint32_t i = 0; i < 2; i++)
		fake.existing[i] = (struct cmt_record){
			.type = CMT_REC_EXISTING,
			.rmid = i + 1,
			.generation = 1,
		};
}

int main(int argc, char **argv)
{
	struct cmt_slots *slots;
	struct cmt_device *dev;

	CHECK(argc == 2);
	library_is_older = !strcmp(argv[1], "older");
	setup();
	slots = make_slots();
	CHECK(!cmt_device_open(&dev, NULL, CMT_OPEN_CONTROL));
	check_info(dev);
	check_stats(dev);
	check_attach(dev);
	check_controls(dev);
	check_error();
	check_snapshot(dev, slots);
	check_reader(dev);
	check_slots(slots);
	cmt_device_close(dev);
	fake_teardown();
	return 0;
}
