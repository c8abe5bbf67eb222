// SPDX-License-Identifier: GPL-2.0-or-later
/* A recorder at a device whose rings are really mapped: what a recording of it says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmt/cmt.h>

#include "common/capture.h"
#include "fake_device.h"
#include "image.h"
#include "recording.h"
#include "recording/names.h"
#include "unit.h"

#define RECORDS	64
#define MS	1000000ULL
#define T0	(5000 * MS)

static struct cmt_device *dev;
static struct cmt_reader *reader;
static struct cmt_containers *containers;
static struct cmt_recorder *recorder;
static struct cmt_recording *recording;
static const struct cmt_recording_item *item;
static char root[64];
static uint64_t cgroup;
static uint8_t *bytes;
static size_t nr_bytes;

static int take(void *ctx, const struct cmt_chunk *chunk)
{
	(void)ctx;
	bytes = realloc(bytes, nr_bytes + chunk->nr_bytes);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes + nr_bytes, chunk->bytes, chunk->nr_bytes);
	nr_bytes += chunk->nr_bytes;
	return 0;
}

static bool path_of(uint64_t id, char path[FAKE_PATH_MAX])
{
	snprintf(path, FAKE_PATH_MAX, "/a.service");
	return id == cgroup;
}

static void write_stat(unsigned int throttled_us)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/a.service/cpu.stat", root);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "usage_usec 1000\nthrottled_usec %u\n", throttled_us);
	fclose(file);
}

static void make_tree(void)
{
	char path[128];
	struct stat st;

	snprintf(root, sizeof(root), "recorder-tree-%d", (int)getpid());
	ck_assert_msg(!mkdir(root, 0700), "%s: %m", root);
	snprintf(path, sizeof(path), "%s/a.service", root);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	cgroup = st.st_ino;
	write_stat(0);
}

static void setup(void)
{
	struct cmt_containers_opts names = { .sz = sizeof(names), .state_root = NULL };
	struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .write = take, .host = "h", .boot_id = "",
	};

	make_tree();
	fake_setup(2, RECORDS);
	fake.now = T0;
	fake.path_of = path_of;
	fake.existing[0] = image_event(CMT_REC_EXISTING, 0, 1, 1, 10);
	fake.existing[0].owner.cgroup_id = cgroup;
	fake.nr_existing = 1;
	fake.as_of = T0;
	ck_assert_int_eq(cmt_device_open(&dev, NULL, 0), 0);
	names.device = dev;
	opts.info = cmt_device_info(dev);
	ck_assert_int_eq(cmt_containers_new(&containers, &names), 0);
	ck_assert_int_eq(cmt_containers_set_root(containers, NULL), 0);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	ck_assert_int_eq(cmt_recorder_new(&recorder, &opts), 0);
	ck_assert_int_eq(cmt_recorder_begin(recorder), 0);
}

static void teardown(void)
{
	char command[128];

	cmt_recorder_free(recorder);
	cmt_reader_free(reader);
	cmt_containers_free(containers);
	cmt_recording_close(recording);
	cmt_device_close(dev);
	fake_teardown();
	free(bytes);
	snprintf(command, sizeof(command), "rm -r %s", root);
	unit_shell(command);
}

static void snapshot(void)
{
	struct cmt_snapshot *s;

	ck_assert_int_eq(cmt_device_snapshot(dev, &s), 0);
	ck_assert_int_eq(cmt_recorder_snapshot(recorder, s), 0);
	cmt_snapshot_free(s);
}

/* A sample and ticks at @ms, and all that the reader has goes to the recorder. */
static void run_ms(uint64_t ms)
{
	struct cmt_record r = image_sample(0, T0 + ms * MS, 1, 10), records[16];
	int n;

	image_put(fake_ring(0), &r);
	for (uint16_t cpu = 0; cpu < 2; cpu++) {
		r = image_tick(cpu, T0 + ms * MS + 10);
		image_put(fake_ring(cpu), &r);
	}
	fake.now = T0 + ms * MS + 20;
	while ((n = cmt_reader_read(reader, records, 16)) > 0)
		ck_assert_int_eq(cmt_recorder_add(recorder, records, (uint32_t)n), 0);
	ck_assert_int_eq(n, 0);
}

static void look(void)
{
	ck_assert_int_eq(cmt_recorder_collect_state(recorder, dev, reader, containers, root), 0);
}

static void finish(void)
{
	int fd;

	ck_assert_int_eq(cmt_recorder_end(recorder), 0);
	fd = made_file(bytes, nr_bytes);
	ck_assert_int_eq(cmt_recording_open_fd(&recording, fd), 0);
	close(fd);
}

/* The next item of a type. */
static void next(uint32_t type)
{
	do
		ck_assert_int_eq(cmt_recording_next(recording, &item), 1);
	while (item->type != type);
}

START_TEST(state_once_a_second)
{
	fake.stats.pending = 1;
	fake.stats.ticks = 42;
	fake.info.counters = CMT_F_CYCLES;
	fake.pending[0] = image_event(CMT_REC_ALLOC_FAIL, 0, T0, 2, 10);
	fake.nr_pending = 1;
	snprintf(fake.uncore.channels_reason, sizeof(fake.uncore.channels_reason), "none");
	snapshot();
	run_ms(1);
	look();
	write_stat(250000);
	run_ms(1001);
	look();
	finish();
	next(CMT_RECORDING_NAME);
	ck_assert_uint_eq(item->container->cgroup_id, cgroup);
	ck_assert_str_eq(item->container->path, "/a.service");
	next(CMT_RECORDING_OWNERS);
	ck_assert_uint_eq(item->owners->count, 1);
	ck_assert_uint_eq(item->owners->as_of, T0);
	next(CMT_RECORDING_RECORDS);
	next(CMT_RECORDING_STATE);
	ck_assert_uint_eq(item->state->stats->ticks, 42);
	ck_assert_uint_eq(item->state->counters, CMT_F_CYCLES);
	ck_assert_uint_eq(item->state->pending->count, 1);
	ck_assert_uint_eq(item->state->reader->lost, 0);
	ck_assert_uint_gt(item->state->reader->delivered, 0);
	ck_assert_str_eq(item->state->uncore->channels_reason, "none");
	ck_assert_uint_eq(item->state->monotonic_ns, fake.now - 1000 * MS);
	ck_assert_uint_eq(item->state->nr_cpus, 0);
	next(CMT_RECORDING_STATE);
	ck_assert_uint_eq(item->state->nr_cpus, 1);
	ck_assert_uint_eq(cmt_recording_cpu_at(item->state, 0)->id, cgroup);
	ck_assert_uint_eq(cmt_recording_cpu_at(item->state, 0)->throttled_ns, 250 * MS);
	ck_assert_uint_eq(cmt_recording_cpu_at(item->state, 0)->end_ns -
			  cmt_recording_cpu_at(item->state, 0)->start_ns, 1000 * MS);
}
END_TEST

/* What was counted is recorded with nine significant bits; times are recorded as they are. */
START_TEST(counts_are_rounded)
{
	struct cmt_recording_about about = { .sz = sizeof(about) };
	struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .write = take, .host = "h", .boot_id = "",
		.info = cmt_device_info(dev), .flags = CMT_RECORDER_ROUND << 1,
	};
	struct cmt_record r = {
		.ts = T0, .type = CMT_REC_PERF, .rmid = 1, .ran_ns = 123457,
		.perf = {
			.cycles = 511, .instructions = 1025, .waited_ns = 123457,
			.llc_misses = 4194303, .llc_references = UINT32_MAX,
		},
	};

	cmt_recorder_free(recorder);
	recorder = NULL;
	nr_bytes = 0;
	ck_assert_int_eq(cmt_recorder_new(&recorder, &opts), -EINVAL);
	opts.flags = CMT_RECORDER_ROUND;
	ck_assert_int_eq(cmt_recorder_new(&recorder, &opts), 0);
	ck_assert_int_eq(cmt_recorder_begin(recorder), 0);
	ck_assert_int_eq(cmt_recorder_add(recorder, &r, 1), 0);
	finish();
	next(CMT_RECORDING_RECORDS);
	ck_assert_uint_eq(item->records[0].ran_ns, 123457);
	ck_assert_uint_eq(item->records[0].perf.cycles, 511);
	ck_assert_uint_eq(item->records[0].perf.instructions, 1024);
	ck_assert_uint_eq(item->records[0].perf.llc_misses, 4194304);
	ck_assert_uint_eq(item->records[0].perf.llc_references, 511U << 23);
	ck_assert_uint_eq(item->records[0].perf.waited_ns, 123457);
	ck_assert_int_eq(cmt_recording_about(recording, &about), 0);
	ck_assert_uint_eq(about.counter_bits, 9);
}
END_TEST

#define ESCAPE	"\033[2J"
#define ESCAPED	"?[2J"

/* Texts of a recording, which may be anyone's, are written to terminals. */
START_TEST(texts_are_printable)
{
	struct cmt_info info = *cmt_device_info(dev);
	struct cmt_uncore uncore = {
		.size = sizeof(uncore), .reason = ESCAPE, .channels_reason = ESCAPE,
	};
	const struct cmt_recording_state state = { .sz = sizeof(state), .uncore = &uncore };
	const struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .write = take, .host = ESCAPE, .info = &info,
	};

	strcpy(info.module_version, ESCAPE);
	strcpy(info.reason, ESCAPE);
	strcpy(info.mbm_reason, ESCAPE);
	strcpy(info.perf_reason, ESCAPE);
	strcpy(info.wait_reason, ESCAPE);
	cmt_recorder_free(recorder);
	nr_bytes = 0;
	ck_assert_int_eq(cmt_recorder_new(&recorder, &opts), 0);
	ck_assert_int_eq(cmt_recorder_begin(recorder), 0);
	ck_assert_int_eq(cmt_recorder_state(recorder, &state), 0);
	finish();
	info = *cmt_recording_info(recording);
	ck_assert_str_eq(info.module_version, ESCAPED);
	ck_assert_str_eq(info.reason, ESCAPED);
	ck_assert_str_eq(info.mbm_reason, ESCAPED);
	ck_assert_str_eq(info.perf_reason, ESCAPED);
	ck_assert_str_eq(info.wait_reason, ESCAPED);
	next(CMT_RECORDING_STATE);
	ck_assert_str_eq(item->state->uncore->reason, ESCAPED);
	ck_assert_str_eq(item->state->uncore->channels_reason, ESCAPED);
}
END_TEST

/* What a state points to has a size, and each row of cpus, too. */
START_TEST(impossible_states)
{
	struct cmt_culprit_cpu cpus[2] = { { .sz = sizeof(cpus[0]) }, { .sz = 4 } };
	struct cmt_stats stats = { .size = CMT_STATS_SIZE - 1 };
	struct cmt_uncore uncore = { .size = CMT_UNCORE_SIZE - 1 };
	const struct cmt_recording_state states[] = {
		{ .sz = sizeof(states[0]), .stats = &stats },
		{ .sz = sizeof(states[0]), .uncore = &uncore },
		{ .sz = sizeof(states[0]), .nr_cpus = 1 },
		{ .sz = sizeof(states[0]), .nr_cpus = 2, .cpus = cpus },
		{ .sz = sizeof(states[0]), .nr_cpus = 1, .cpus = &cpus[1] },
		{ .sz = sizeof(states[0]), .reserved = 1 },
		{ .sz = 4 },
	};
	uint64_t before = nr_bytes;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		ck_assert_int_eq(cmt_recorder_state(recorder, &states[i]), -EINVAL);
	ck_assert_uint_eq(nr_bytes, before);
}
END_TEST

/* A module that answers nothing: that is not known, and no failure. */
START_TEST(module_without_answers)
{
	struct cmt_recording_about about = { .sz = sizeof(about) };

	snapshot();
	run_ms(1);
	fake.ioctl_errno = EIO;
	look();
	fake.ioctl_errno = 0;
	finish();
	ck_assert_int_eq(cmt_recording_about(recording, &about), 0);
	ck_assert_uint_eq(about.counter_bits, 0);
	next(CMT_RECORDING_STATE);
	ck_assert_ptr_null(item->state->stats);
	ck_assert_ptr_null(item->state->pending);
	ck_assert_ptr_null(item->state->uncore);
	ck_assert_uint_eq(item->state->scope, 0);
}
END_TEST

/* Owners are as the records leave them, in each chunk; one that ended keeps its name. */
START_TEST(owners_in_each_chunk)
{
	struct cmt_record alloc = image_event(CMT_REC_ALLOC, 0, T0 + 2 * MS, 3, 5);
	struct cmt_record update = image_event(CMT_REC_UPDATE, 0, T0 + 3 * MS, 3, 5);
	struct cmt_record end = image_event(CMT_REC_FREE, 0, T0 + 4 * MS, 1, 10);
	struct cmt_record old = image_event(CMT_REC_FREE, 0, T0 - 5, 1, 10);
	const struct cmt_record *owner;

	/* an UPDATE has the name and the kind; what was left in the cache is the begin's */
	alloc.flags |= CMT_F_RESIDUAL;
	alloc.owner.residual_bytes = 4096;
	memcpy(update.owner.comm, "renamed", 8);
	update.flags = CMT_F_OWNER_CGROUP;
	snapshot();
	/* from before the snapshot: it knows better */
	ck_assert_int_eq(cmt_recorder_add(recorder, &old, 1), 0);
	ck_assert_int_eq(cmt_recorder_add(recorder, &alloc, 1), 0);
	/* RMID 0 has no owner, and there are not so many */
	alloc.ts++;
	alloc.rmid = 0;
	ck_assert_int_eq(cmt_recorder_add(recorder, &alloc, 1), 0);
	alloc.rmid = fake.info.nr_rmids;
	ck_assert_int_eq(cmt_recorder_add(recorder, &alloc, 1), 0);
	ck_assert_int_eq(cmt_recorder_flush(recorder), 0);
	ck_assert_int_eq(cmt_recorder_add(recorder, &update, 1), 0);
	ck_assert_int_eq(cmt_recorder_add(recorder, &end, 1), 0);
	ck_assert_int_eq(cmt_recorder_flush(recorder), 0);
	run_ms(6);
	finish();
	/* each chunk says its own, which a seek shows */
	ck_assert_int_eq(cmt_recording_seek(recording, T0 + 3 * MS), 0);
	next(CMT_RECORDING_OWNERS);
	ck_assert_uint_eq(item->owners->count, 2);
	ck_assert_uint_eq(item->owners->as_of, T0 + 2 * MS);
	ck_assert_int_eq(cmt_recording_seek(recording, T0 + 6 * MS), 0);
	next(CMT_RECORDING_OWNERS);
	ck_assert_uint_eq(item->owners->count, 1);
	ck_assert_uint_eq(item->owners->as_of, T0 + 4 * MS);
	owner = cmt_snapshot_at(item->owners, 0);
	ck_assert_uint_eq(owner->type, CMT_REC_EXISTING);
	ck_assert_uint_eq(owner->rmid, 3);
	ck_assert_uint_eq(owner->ts, T0 + 2 * MS);
	ck_assert_str_eq(owner->owner.comm, "renamed");
	ck_assert_uint_eq(owner->flags, CMT_F_OWNER_CGROUP | CMT_F_RESIDUAL);
	ck_assert_uint_eq(owner->owner.residual_bytes, 4096);
}
END_TEST

/* Owners that were asked for again come again, also where all is read in order. */
START_TEST(snapshot_owners_repeat)
{
	uint32_t told = 0;
	int ret;

	snapshot();
	run_ms(1);
	ck_assert_int_eq(cmt_recorder_flush(recorder), 0);
	run_ms(2);
	fake.as_of = T0 + 3 * MS;
	snapshot();
	run_ms(4);
	finish();
	while ((ret = cmt_recording_next(recording, &item)) > 0) {
		if (item->type != CMT_RECORDING_OWNERS)
			continue;
		ck_assert_uint_eq(item->owners->as_of, told ? T0 + 3 * MS : T0);
		told++;
	}
	ck_assert_int_eq(ret, 0);
	ck_assert_uint_eq(told, 2);
}
END_TEST

/* More cgroups than there is room for: those that own nothing go first. */
START_TEST(many_names)
{
	struct cmt_recorder_counts counts = { .sz = sizeof(counts) };
	struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .write = take, .info = cmt_device_info(dev),
		.max_names = 16,
	};
	static char too_long[65537];
	char path[64];
	struct cmt_container c = { .sz = sizeof(c), .path = path };
	int refused = 0;

	cmt_recorder_free(recorder);
	nr_bytes = 0;
	ck_assert_int_eq(cmt_recorder_new(&recorder, &opts), 0);
	ck_assert_int_eq(cmt_recorder_begin(recorder), 0);
	for (uint64_t id = 1; id <= 40; id++) {
		int ret;

		snprintf(path, sizeof(path), "/n%d", (int)id);
		c.cgroup_id = id;
		ret = cmt_recorder_name(recorder, &c);
		ck_assert(!ret || ret == -ENOSPC);
		refused += ret != 0;
		if (id == 32)
			ck_assert_int_eq(cmt_recorder_flush(recorder), 0);
	}
	/* 16 fit, then none until they are written, then all that follow */
	ck_assert_int_eq(refused, 16);
	cmt_recorder_counts(recorder, &counts);
	ck_assert_uint_le(counts.names, 16);
	memset(too_long, 'x', sizeof(too_long) - 1);
	c.path = too_long;
	ck_assert_int_eq(cmt_recorder_name(recorder, &c), -EINVAL);
	c.path = NULL;
	ck_assert_int_eq(cmt_recorder_name(recorder, &c), 0);
	c.sz = 8;
	ck_assert_int_eq(cmt_recorder_name(recorder, &c), -EINVAL);
}
END_TEST

/* The CPU time to note 16,384 owners, of @nr cgroups. */
static clock_t time_to_own(struct rec_names *names, uint64_t nr)
{
	clock_t began = clock();

	for (uint64_t i = 0; i < 16384; i++)
		rec_names_own(names, 1 + i % nr);
	return clock() - began;
}

/* Owners that there is no room for take no longer than the others. */
START_TEST(owners_without_room)
{
	struct rec_names names = { .max = 2048 };

	time_to_own(&names, names.max);
	ck_assert_uint_eq(names.nr, names.max);
	ck_assert_int_lt(time_to_own(&names, 16384), 20 * time_to_own(&names, names.max) + 5000);
	rec_names_forget(&names);
	ck_assert_int_eq(rec_names_own(&names, 20000), 0);
	rec_names_free(&names);
}
END_TEST

static int refusal;
static uint32_t nr_taken;

/* Refuses chunks, or counts those with names. */
static int take_or_refuse(void *ctx, const struct cmt_chunk *chunk)
{
	(void)ctx;
	nr_taken += !refusal && chunk->kind == CMT_CHUNK_NAMES;
	return refusal;
}

/* A new name is in some chunk, also where the first one with it was not written. */
START_TEST(refused_names_come_again)
{
	const struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .write = take_or_refuse, .info = cmt_device_info(dev),
	};
	const struct cmt_container c = { .sz = sizeof(c), .cgroup_id = 1, .path = "/a" };

	cmt_recorder_free(recorder);
	ck_assert_int_eq(cmt_recorder_new(&recorder, &opts), 0);
	ck_assert_int_eq(cmt_recorder_begin(recorder), 0);
	ck_assert_int_eq(cmt_recorder_name(recorder, &c), 0);
	nr_taken = 0;
	refusal = -ENOSPC;
	ck_assert_int_eq(cmt_recorder_flush(recorder), -ENOSPC);
	refusal = 0;
	ck_assert_int_eq(cmt_recorder_flush(recorder), 0);
	ck_assert_uint_eq(nr_taken, 1);
	ck_assert_int_eq(cmt_recorder_flush(recorder), 0);
	ck_assert_uint_eq(nr_taken, 1);
}
END_TEST

/* Cgroup @id owned RMID 1 for a moment. */
static void come_and_go(uint64_t id)
{
	struct cmt_record event = image_event(CMT_REC_ALLOC, 0, T0 + 2 * id, 1, (uint32_t)id);

	event.owner.cgroup_id = id;
	ck_assert_int_eq(cmt_recorder_add(recorder, &event, 1), 0);
	event.type = CMT_REC_FREE;
	event.ts++;
	ck_assert_int_eq(cmt_recorder_add(recorder, &event, 1), 0);
}

static void put_name(struct cmt_containers *names, uint64_t id)
{
	struct cmt_container c = { .sz = sizeof(c), .cgroup_id = id, .path = "/a" };

	ck_assert_int_eq(cmt_containers_put(names, &c), 0);
}

/* Those that owned an RMID since the last call have names, also where older ones make room. */
START_TEST(names_while_others_make_room)
{
	const struct cmt_containers_opts given = {
		.sz = sizeof(given), .flags = CMT_CONTAINERS_GIVEN,
	};
	struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .write = take, .info = cmt_device_info(dev),
		.max_names = 16,
	};
	struct cmt_recorder_counts counts = { .sz = sizeof(counts) };
	struct cmt_containers *names;

	cmt_recorder_free(recorder);
	ck_assert_int_eq(cmt_containers_new(&names, &given), 0);
	ck_assert_int_eq(cmt_recorder_new(&recorder, &opts), 0);
	for (uint64_t id = 1; id <= 14; id++) {
		put_name(names, id);
		come_and_go(id);
	}
	ck_assert_int_eq(cmt_recorder_names(recorder, names), 0);
	ck_assert_int_eq(cmt_recorder_flush(recorder), 0);
	for (uint64_t id = 15; id <= 16; id++) {
		put_name(names, id);
		come_and_go(id);
	}
	ck_assert_int_eq(cmt_recorder_names(recorder, names), 0);
	ck_assert_int_eq(cmt_recorder_counts(recorder, &counts), 0);
	ck_assert_uint_eq(counts.names, 16);
	cmt_containers_free(names);
}
END_TEST

/* A capture in place of the recorder of setup() */
static void begin_capture(struct capture *capture, const char *host)
{
	const struct capture_opts opts = { .program = "test", .root = host, .write = take };

	cmt_reader_free(reader);
	reader = NULL;
	cmt_recorder_free(recorder);
	recorder = NULL;
	nr_bytes = 0;
	ck_assert_int_eq(capture_open(capture, dev, &opts), 0);
	ck_assert_int_eq(capture_begin(capture), 0);
}

static void capture_ticks(struct capture *capture, uint64_t ms)
{
	for (uint16_t cpu = 0; cpu < 2; cpu++) {
		struct cmt_record tick = image_tick(cpu, T0 + ms * MS);

		image_put(fake_ring(cpu), &tick);
	}
	fake.now = T0 + (ms + 1) * MS;
	ck_assert_int_eq(capture_pump_all(capture), 0);
}

static void finish_capture(struct capture *capture)
{
	recorder = capture->recorder;
	capture->recorder = NULL;
	capture_close(capture);
	finish();
}

/* Who comes has a name before the first record, and not with the next look. */
START_TEST(new_owner_has_name_at_once)
{
	struct cmt_record alloc = image_event(CMT_REC_ALLOC, 0, T0 + MS, 3, 5);
	struct capture capture;

	fake.nr_existing = 0;
	begin_capture(&capture, NULL);
	alloc.owner.cgroup_id = cgroup;
	image_put(fake_ring(0), &alloc);
	capture_ticks(&capture, 2);
	finish_capture(&capture);
	do {
		ck_assert_int_eq(cmt_recording_next(recording, &item), 1);
		ck_assert_uint_ne(item->type, CMT_RECORDING_RECORDS);
	} while (item->type != CMT_RECORDING_NAME);
	ck_assert_uint_eq(item->container->cgroup_id, cgroup);
	ck_assert_str_eq(item->container->path, "/a.service");
	next(CMT_RECORDING_RECORDS);
	ck_assert_uint_ge(item->nr_records, 1);
	ck_assert_uint_eq(item->records[0].type, CMT_REC_ALLOC);
}
END_TEST

/* Where the host's root is mounted, the files of its cgroups are below it. */
START_TEST(cgroups_of_the_host)
{
	struct capture capture;
	char command[512], host[80];

	snprintf(host, sizeof(host), "%s/host", root);
	snprintf(command, sizeof(command),
		 "mkdir -p %s/sys/fs/cgroup && mv %s/a.service %s/sys/fs/cgroup && ln -s host/sys/fs/cgroup/a.service %s",
		 host, root, host, root);
	unit_shell(command);
	begin_capture(&capture, host);
	capture_ticks(&capture, 1);
	write_stat(250000);
	capture_ticks(&capture, 1001);
	finish_capture(&capture);
	do
		next(CMT_RECORDING_STATE);
	while (!item->state->nr_cpus);
	ck_assert_uint_eq(cmt_recording_cpu_at(item->state, 0)->id, cgroup);
	ck_assert_uint_eq(cmt_recording_cpu_at(item->state, 0)->throttled_ns, 250 * MS);
}
END_TEST

/* A group's name is found by a thread in it, and the owner of a sole group is its own. */
START_TEST(groups_have_names)
{
	const uint64_t id = CMT_RESCTRL_GROUP | CMT_RESCTRL_RMID | 7 << 16 | 2;
	bool named = false, owned = false;
	char command[256];

	snprintf(command, sizeof(command),
		 "mkdir -p %s/proc/17 && printf 'res:/\\nmon:x\\n' >%s/proc/17/cpu_resctrl_groups",
		 root, root);
	unit_shell(command);
	ck_assert_int_eq(cmt_containers_set_root(containers, root), 0);
	fake.existing[1] = image_event(CMT_REC_EXISTING, 0, 1, 2, 7);
	fake.existing[1].flags = CMT_F_OWNER_RESCTRL;
	fake.existing[1].tgid = 17;
	fake.existing[1].owner.cgroup_id = 0;
	fake.existing[2] = image_event(CMT_REC_EXISTING, 0, 1, 3, 8);
	fake.existing[2].flags = CMT_F_OWNER_RESCTRL | CMT_F_GROUP_SOLE | CMT_F_OWNER_CGROUP;
	fake.existing[2].owner.cgroup_id = cgroup;
	fake.nr_existing = 3;
	snapshot();
	look();
	run_ms(1);
	finish();
	while (cmt_recording_next(recording, &item) > 0) {
		if (item->type == CMT_RECORDING_NAME && item->container->cgroup_id == id) {
			ck_assert_str_eq(item->container->path, "/mon_groups/x");
			named = true;
		}
		if (item->type != CMT_RECORDING_OWNERS)
			continue;
		ck_assert_uint_eq(item->owners->count, 3);
		for (uint32_t i = 0; i < 3; i++)
			ck_assert_uint_eq(cmt_snapshot_at(item->owners, i)->flags,
					  fake.existing[i].flags);
		owned = true;
	}
	ck_assert_msg(named && owned, "%d %d", named, owned);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recorder");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, state_once_a_second);
	tcase_add_test(tcase, counts_are_rounded);
	tcase_add_test(tcase, texts_are_printable);
	tcase_add_test(tcase, impossible_states);
	tcase_add_test(tcase, module_without_answers);
	tcase_add_test(tcase, owners_in_each_chunk);
	tcase_add_test(tcase, snapshot_owners_repeat);
	tcase_add_test(tcase, many_names);
	tcase_add_test(tcase, owners_without_room);
	tcase_add_test(tcase, refused_names_come_again);
	tcase_add_test(tcase, names_while_others_make_room);
	tcase_add_test(tcase, new_owner_has_name_at_once);
	tcase_add_test(tcase, cgroups_of_the_host);
	tcase_add_test(tcase, groups_have_names);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
