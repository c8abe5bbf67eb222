// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OWNERS	20U

static uint64_t seed = 88172645463325252ULL;
static uint64_t total[MADE_RMIDS];

const struct cmt_info made_info = {
	.size = sizeof(made_info), .abi_version = CMT_ABI_VERSION, .nr_cpus = MADE_CPUS,
	.nr_rmids = MADE_RMIDS, .rmids_usable = MADE_RMIDS - 1, .upscale_bytes = MADE_UNIT,
	.ring_records = 4096, .ring_bytes = 4096 + 4096 * 64, .interval_ns = MADE_MS,
	.interval_min_ns = 100000, .interval_max_ns = 1000 * MADE_MS,
	.l3_bytes = 32 << 20, .scope = CMT_SCOPE_CONTAINER,
	.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
	.module_version = "1.2.3",
};

uint64_t made_any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int take(void *ctx, const struct cmt_chunk *chunk)
{
	struct made *made = ctx;

	if (made->refuse)
		return made->refuse;
	if (made->nr_bytes + chunk->nr_bytes > made->room) {
		made->room = 2 * (made->nr_bytes + chunk->nr_bytes);
		made->bytes = realloc(made->bytes, made->room);
		ck_assert_ptr_nonnull(made->bytes);
	}
	memcpy(made->bytes + made->nr_bytes, chunk->bytes, chunk->nr_bytes);
	ck_assert_uint_lt(made->nr_places, MADE_CHUNKS);
	made->places[made->nr_places++] = (struct cmt_chunk_place){
		.offset = made->nr_bytes, .nr_bytes = (uint32_t)chunk->nr_bytes,
		.sequence = chunk->sequence, .first_ns = chunk->first_ns,
		.last_ns = chunk->last_ns, .kind = chunk->kind, .flags = chunk->flags,
		.records = chunk->records,
	};
	made->nr_bytes += chunk->nr_bytes;
	return 0;
}

static void own(struct made *made)
{
	struct cmt_snapshot *snapshot;
	char path[64];

	ck_assert_int_eq(cmt_snapshot_new(&snapshot, MADE_START - 1, NULL, OWNERS), 0);
	for (uint32_t i = 0; i < OWNERS; i++) {
		struct cmt_record *r = cmt_snapshot_at(snapshot, i);
		struct cmt_container c = { .sz = sizeof(c), .cgroup_id = MADE_CGROUP + 1 + i };

		*r = (struct cmt_record){
			.ts = MADE_START - 100 + i, .type = CMT_REC_EXISTING, .rmid = 1 + i,
			.generation = 1, .flags = CMT_F_OWNER_CGROUP,
		};
		r->owner.cgroup_id = MADE_CGROUP + 1 + i;
		snprintf(path, sizeof(path), "/system.slice/made%u.service", i + 1);
		c.path = path;
		cmt_container_name(path, &c);
		c.image = i % 2 ? "image" : NULL;
		ck_assert_int_eq(cmt_recorder_name(made->recorder, &c), 0);
	}
	ck_assert_int_eq(cmt_recorder_snapshot(made->recorder, snapshot), 0);
	cmt_snapshot_free(snapshot);
}

void made_begin(struct made *made, uint32_t chunk_records)
{
	const struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .info = &made_info, .write = take, .ctx = made,
		.host = "made", .kernel = "6.1", .boot_id = "boot", .program = "test\n1",
		.monotonic_ns = MADE_START, .realtime_ns = 77, .repeat = 4,
		.chunk_records = chunk_records, .counters = CMT_F_CYCLES,
	};

	*made = (struct made){ 0 };
	memset(total, 0, sizeof(total));
	seed = 88172645463325252ULL;
	ck_assert_int_eq(cmt_recorder_new(&made->recorder, &opts), 0);
	ck_assert_int_eq(cmt_recorder_begin(made->recorder), 0);
	own(made);
}

void made_add(struct made *made, const struct cmt_record *records, uint32_t n)
{
	if (made->nr_records + n > made->room_records) {
		made->room_records = 2 * (made->nr_records + n);
		made->records = realloc(made->records,
					made->room_records * sizeof(*records));
		ck_assert_ptr_nonnull(made->records);
	}
	memcpy(made->records + made->nr_records, records, n * sizeof(*records));
	made->nr_records += n;
	ck_assert_int_eq(cmt_recorder_add(made->recorder, records, n), made->refuse);
}

static struct cmt_record reading(uint16_t type, uint64_t ts, uint32_t cpu, uint32_t rmid)
{
	struct cmt_record r = {
		.ts = ts, .type = type, .cpu = (uint16_t)cpu, .rmid = rmid,
		.generation = rmid ? 1 : 0,
	};

	return r;
}

void made_tick(struct made *made, uint64_t ms)
{
	struct cmt_record tick[MADE_CPUS * 7], *r = tick;

	for (uint32_t cpu = 0; cpu < MADE_CPUS; cpu++) {
		uint64_t ts = MADE_START + ms * MADE_MS + cpu * 1000 + made_any() % 200;

		for (uint32_t i = 1; i <= 5; i++) {
			uint32_t rmid = cpu * 5 + i;

			total[rmid] += made_any() % 50;
			*r = reading(CMT_REC_SAMPLE, ts += 100, cpu, rmid);
			r->flags = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
			r->sample.occupancy_bytes = (20 + made_any() % 4) * MADE_UNIT;
			r->sample.mbm_total_bytes = total[rmid] * MADE_UNIT;
			r->sample.mbm_local_bytes = total[rmid] * MADE_UNIT;
			r++;
		}
		*r = reading(CMT_REC_TICK, ts, cpu, cpu * 5 + 1);
		r->interval_ns = MADE_MS;
		r->tick.read = 5;
		r++;
		*r = reading(CMT_REC_PERF, ts, cpu, cpu * 5 + 1);
		r->flags = CMT_F_CYCLES;
		r->ran_ns = 900000 + made_any() % 1000;
		r->perf.cycles = r->ran_ns * 2;
		r++;
	}
	made_add(made, tick, (uint32_t)(r - tick));
}

void made_state(struct made *made, uint64_t ms)
{
	struct cmt_culprit_cpu cpu = {
		.sz = sizeof(cpu), .id = MADE_CGROUP + 1, .start_ns = MADE_START + 1,
		.end_ns = MADE_START + ms * MADE_MS, .valid = CMT_CULPRIT_CPU_THROTTLED | CMT_CULPRIT_CPU_STOLEN,
		.throttled_ns = 5, .stolen_ns = 6,
	};
	struct cmt_stats stats = { .size = sizeof(stats), .pending = 1, .ticks = ms };
	struct cmt_reader_counts reader = { .sz = sizeof(reader), .late = ms };
	struct cmt_uncore uncore = { .size = sizeof(uncore), .channels_reason = "none here" };
	struct cmt_record waits = {
		.ts = 1, .type = CMT_REC_ALLOC_FAIL, .rmid = MADE_RMIDS - 1, .generation = 1,
		.flags = CMT_F_OWNER_CGROUP, .owner.cgroup_id = MADE_CGROUP + 50,
	};
	struct cmt_snapshot *pending;
	struct cmt_recording_state state = {
		.sz = sizeof(state), .monotonic_ns = MADE_START + ms * MADE_MS,
		.realtime_ns = 77 + ms, .stats = &stats, .reader = &reader, .uncore = &uncore,
		.scope = CMT_SCOPE_CONTAINER, .interval_ns = MADE_MS,
		.counters = CMT_F_CYCLES, .nr_cpus = 1, .cpus = &cpu,
		.counters_reason = "why not",
	};

	ck_assert_int_eq(cmt_snapshot_new(&pending, MADE_START, &waits, 1), 0);
	state.pending = pending;
	ck_assert_int_eq(cmt_recorder_state(made->recorder, &state), made->refuse);
	cmt_snapshot_free(pending);
}

static void number_records(struct made *made)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < made->nr_places; i++) {
		made->first_record[i] = first;
		first += made->places[i].records;
	}
}

void made_end(struct made *made)
{
	ck_assert_int_eq(cmt_recorder_end(made->recorder), 0);
	number_records(made);
}

void made_free(struct made *made)
{
	cmt_recorder_free(made->recorder);
	free(made->bytes);
	free(made->records);
}

int made_file(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, n, 0), (ssize_t)n);
	return fd;
}
