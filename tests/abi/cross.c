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
#include <sys/mman.h>
#include <unistd.h>

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

/*
 * A copy of @from, of @size bytes, at the end of what can be read and written.  The
 * program ends without it.
 */
static void *at_the_end(const void *from, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED && size <= page);
	CHECK(!mprotect(pages + page, page, PROT_NONE));
	return memcpy(pages + page - size, from, size);
}

#define AT_THE_END(object) at_the_end(&(object), sizeof(object))

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

static const struct cmt_uncore *check_uncore(const struct cmt_device *dev)
{
	struct cmt_uncore from = { .size = sizeof(from) }, *uncore = AT_THE_END(from);
	struct cmt_box *boxes;

	CHECK(!cmt_device_uncore(dev, uncore, &boxes));
	CHECK(uncore->size == sizeof(*uncore) && uncore->channels == 3);
	CHECK(!strcmp(uncore->channels_reason, "taken"));
#ifdef CMT_TEST_NEXT
	CHECK(uncore->test_next == CMT_TEST_NEXT);
#endif
	free(boxes);
	return uncore;
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

/* A name that the program made, and one that the library did not know yet */
static struct cmt_container *make_container(void)
{
	struct cmt_container from = {
		.sz = sizeof(from),
		.cgroup_id = 77,
		.path = "/a",
		.image = "image",
		.own_len = 2,
		.uid = 1000,
	};

	return AT_THE_END(from);
}

static void check_containers(void)
{
	struct cmt_containers_opts opts = {
		.sz = sizeof(opts),
		.flags = CMT_CONTAINERS_GIVEN,
	};
	struct cmt_container *container = make_container();
	const struct cmt_container *got;
	struct cmt_containers *containers;

	CHECK(!cmt_containers_new(&containers, &opts));
	CHECK(!cmt_containers_put(containers, container));
	got = cmt_containers_find(containers, 77);
	CHECK(got && !strcmp(got->path, "/a") && !strcmp(got->image, "image"));
#ifdef CMT_TEST_NEXT
	container->test_next = 1;
	CHECK(cmt_containers_put(containers, container) ==
	      (library_is_older ? -EINVAL : 0));
#endif
	cmt_containers_free(containers);
}

#define ROWS 3U

/* Rows that are as far from each other as their sz says */
static const struct cmt_culprit_cpu *make_cpus(void)
{
	struct cmt_culprit_cpu rows[ROWS];

	memset(rows, 0, sizeof(rows));
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i].sz = sizeof(rows[i]);
		rows[i].id = 100 + i;
		rows[i].start_ns = NOW;
		rows[i].end_ns = NOW + MS;
		rows[i].valid = CMT_CULPRIT_CPU_THROTTLED;
		rows[i].throttled_ns = 1000 + i;
		rows[i].stolen_ns = 2000 + i;
	}
	return AT_THE_END(rows);
}

static void record_state(struct cmt_recorder *recorder, const struct cmt_uncore *uncore)
{
	struct cmt_stats stats = { .size = sizeof(stats), .allocs = 42 };
	struct cmt_recording_state from = {
		.sz = sizeof(from),
		.stats = AT_THE_END(stats),
		.uncore = uncore,
		.nr_cpus = ROWS,
		.cpus = make_cpus(),
		.counters_reason = "none",
	};

	CHECK(!cmt_recorder_state(recorder, AT_THE_END(from)));
}

static int write_chunk(void *ctx, const struct cmt_chunk *chunk)
{
	ssize_t n = write(*(const int *)ctx, chunk->bytes, chunk->nr_bytes);

	return n == (ssize_t)chunk->nr_bytes ? 0 : -EIO;
}

static void record(const struct cmt_device *dev, const struct cmt_uncore *uncore, int fd)
{
	struct cmt_recorder_opts opts = {
		.sz = sizeof(opts),
		.info = cmt_device_info(dev),
		.write = write_chunk,
		.ctx = &fd,
	};
	struct cmt_container *container = make_container();
	struct cmt_recorder *recorder;

	CHECK(!cmt_recorder_new(&recorder, AT_THE_END(opts)));
	CHECK(!cmt_recorder_begin(recorder));
	CHECK(!cmt_recorder_name(recorder, container));
#ifdef CMT_TEST_NEXT
	container->test_next = 1;
	CHECK(cmt_recorder_name(recorder, container) == (library_is_older ? -EINVAL : 0));
#endif
	record_state(recorder, uncore);
	CHECK(!cmt_recorder_end(recorder));
	cmt_recorder_free(recorder);
}

static void check_recorded_state(const struct cmt_recording_state *state)
{
	CHECK(!strcmp(state->counters_reason, "none"));
	CHECK(state->stats && state->stats->allocs == 42);
	CHECK(state->uncore && state->uncore->channels == 3);
	CHECK(!strcmp(state->uncore->channels_reason, "taken"));
	CHECK(state->nr_cpus == ROWS);
	for (uint32_t i = 0; i < ROWS; i++) {
		const struct cmt_culprit_cpu *cpu = cmt_recording_cpu_at(state, i);

		CHECK(cpu->id == 100 + i && cpu->valid == CMT_CULPRIT_CPU_THROTTLED);
		CHECK(cpu->start_ns == NOW && cpu->end_ns == NOW + MS);
		CHECK(cpu->throttled_ns == 1000 + i && cpu->stolen_ns == 2000 + i);
	}
}

static void check_recording(const struct cmt_device *dev, const struct cmt_uncore *uncore)
{
	const struct cmt_recording_item *item;
	struct cmt_recording *recording;
	unsigned int names = 0, states = 0;
	int fd = memfd_create("recording", MFD_CLOEXEC), ret;

	CHECK(fd >= 0);
	record(dev, uncore, fd);
	CHECK(!cmt_recording_open_fd(&recording, fd));
	while ((ret = cmt_recording_next(recording, &item)) > 0) {
		if (item->type == CMT_RECORDING_NAME) {
			CHECK(item->container->cgroup_id == 77 &&
			      !strcmp(item->container->image, "image"));
			names++;
		} else if (item->type == CMT_RECORDING_STATE) {
			check_recorded_state(item->state);
			states++;
		}
	}
	CHECK(!ret && names == 1 && states == 1);
	CHECK(cmt_recording_at_end(recording) == 1);
	cmt_recording_close(recording);
	close(fd);
}

static void setup(void)
{
	fake_setup(2, 64);
#ifdef CMT_TEST_NEXT
	fake.info.test_next = CMT_TEST_NEXT;
	fake.stats.test_next = CMT_TEST_NEXT;
	fake.uncore.test_next = CMT_TEST_NEXT;
#endif
	fake.uncore.channels = 3;
	strcpy(fake.uncore.channels_reason, "taken");
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
	check_containers();
	check_recording(dev, check_uncore(dev));
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
