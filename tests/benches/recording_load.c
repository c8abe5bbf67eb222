// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What recording costs: bytes a sample, and ns a record, of a machine that is made up:
 * 32 CPUs in two L3 domains, 200 containers, a tick each millisecond, counters counted.
 *
 * One container at a time runs on a CPU, as a rule: at a tick another one follows it with
 * a probability of one fifth, and then both are counted.  Each RMID that ran is read by
 * the CPU where it did, and one that did not once in 32 ms.  Occupancy is a random walk
 * in units of 64 KiB, of traffic the rate varies by tens of percent from tick to tick and
 * by factors over a second, of cycles a clock that wanders, of instructions the IPC
 * varies by 5 %, and times have the jitter of a timer.  CMT_BENCH_MS: how long;
 * CMT_BENCH_COUNTERS=0: without PERF records; CMT_BENCH_BUSY=1: all CPUs always switch;
 * CMT_BENCH_EXACT=1: counts are not rounded, as by cmtstat record --exact.
 *
 * Lines "figure KEY VALUE" go to standard output.  usage: cmt-bench-recording [FILE]: the
 * recording stays in FILE.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmt/cmt.h>

#define MS		1000000ULL
#define CPUS		32U
#define DOMAIN_CPUS	16U
#define DOMAINS		(CPUS / DOMAIN_CPUS)
#define CONTAINERS	200U
#define RMIDS		256U
#define UNIT		65536U
#define TURN		32U
#define TICK_MOST	1024U
#define GHZ		2.8

struct load {
	double rate;		/* units a ms, now */
	double mean;
	double ipc;
	double sum, local;	/* units */
	double occupancy;
	bool ran;
};

struct ran {
	uint32_t rmid, ns;
};

static struct load loads[DOMAINS][RMIDS];
static uint32_t runs[CPUS];		/* RMID that a CPU runs */
static double ghz[CPUS];
static uint64_t busy_ns[CPUS], ticked_ns[CPUS];
static bool counters = true, busy;
static uint64_t seed = 88172645463325252ULL;
static struct cmt_record tick_records[TICK_MOST];
static uint32_t nr_records;
static uint64_t taken_bytes;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static double uniform(void)
{
	return (double)(any() >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307 * uniform());
}

static uint64_t used_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static struct cmt_record *next_record(uint16_t type, uint64_t ts, uint32_t cpu,
				      uint32_t rmid)
{
	struct cmt_record *r = &tick_records[nr_records++];

	*r = (struct cmt_record){
		.ts = ts, .type = type, .cpu = (uint16_t)cpu, .rmid = rmid,
		.generation = rmid ? 100 + rmid : 0, .domain = cpu / DOMAIN_CPUS,
	};
	return r;
}

static void move(struct load *l, uint32_t ns)
{
	double part = ns / 1e6, units;

	if (any() % 500 == 0)
		l->rate = l->mean * exp(normal());
	units = l->rate * part * exp(0.3 * normal());
	l->sum += units;
	l->local += units * (0.7 + 0.3 * uniform());
	l->occupancy += normal() * sqrt(1 + units) / 2;
	if (l->occupancy < 0)
		l->occupancy = 0;
	if (l->occupancy > 400)
		l->occupancy = 400;
}

static void sample(uint64_t *ts, uint32_t cpu, uint32_t rmid)
{
	const struct load *l = &loads[cpu / DOMAIN_CPUS][rmid];
	struct cmt_record *r;

	*ts += 150 + any() % 24;
	r = next_record(CMT_REC_SAMPLE, *ts, cpu, rmid);
	r->flags = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL | CMT_F_RESIDUAL;
	r->sample.occupancy_bytes = (uint64_t)l->occupancy * UNIT;
	r->sample.mbm_total_bytes = (uint64_t)l->sum * UNIT;
	r->sample.mbm_local_bytes = (uint64_t)l->local * UNIT;
}

static void perf(uint64_t ts, uint32_t cpu, const struct ran *ran)
{
	struct load *l = &loads[cpu / DOMAIN_CPUS][ran->rmid];
	struct cmt_record *r = next_record(CMT_REC_PERF, ts, cpu, ran->rmid);

	r->flags = CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES |
		   CMT_F_LLC_REFERENCES;
	r->ran_ns = ran->ns;
	r->perf.cycles = (uint64_t)(ran->ns * ghz[cpu] * (1 + 0.002 * normal()));
	r->perf.instructions = (uint64_t)((double)r->perf.cycles * l->ipc *
					  (1 + 0.05 * normal()));
	r->perf.llc_misses = (uint64_t)(l->rate * ran->ns / 1e6 * UNIT / 64 *
					exp(0.1 * normal()));
	r->perf.llc_references = (uint64_t)((double)r->perf.llc_misses *
					    (2 + 0.3 * normal()));
}

/* Returns how many ran; they have the time since the last tick between them. */
static uint32_t run(uint32_t cpu, uint64_t ts, struct ran ran[3])
{
	uint32_t left = (uint32_t)(ts - ticked_ns[cpu]), n = 0;

	ticked_ns[cpu] = ts;

	ran[n++] = (struct ran){ runs[cpu], left };
	while (n < 3 && (busy || any() % 5 == 0)) {
		uint32_t ns = (uint32_t)(any() % left);

		runs[cpu] = 1 + (uint32_t)(any() % CONTAINERS);
		if (runs[cpu] == ran[n - 1].rmid)
			break;
		ran[n - 1].ns -= ns;
		ran[n++] = (struct ran){ runs[cpu], ns };
		left = ns ? ns : 1;
	}
	return n;
}

static int cmp_ran(const void *pa, const void *pb)
{
	const struct ran *a = pa, *b = pb;

	return a->rmid < b->rmid ? -1 : a->rmid > b->rmid;
}

static void tick_cpu(uint64_t ms, uint32_t cpu)
{
	uint32_t domain = cpu / DOMAIN_CPUS, n, read = 0;
	uint64_t ts = ms * MS + 1200 + any() % 900;
	struct cmt_record *r;
	struct ran ran[3];

	n = run(cpu, ts, ran);
	qsort(ran, n, sizeof(ran[0]), cmp_ran);
	for (uint32_t i = 0; i < n; i++) {
		struct load *l = &loads[domain][ran[i].rmid];

		move(l, ran[i].ns);
		if (l->ran)
			continue;
		l->ran = true;
		sample(&ts, cpu, ran[i].rmid);
		read++;
	}
	for (uint32_t rmid = 1 + cpu % DOMAIN_CPUS; rmid <= CONTAINERS; rmid += DOMAIN_CPUS) {
		if ((rmid + ms) % TURN || loads[domain][rmid].ran)
			continue;
		sample(&ts, cpu, rmid);
		read++;
	}
	ts += 60 + any() % 20;
	busy_ns[cpu] += 900 + read * 160 + any() % 200;
	r = next_record(CMT_REC_TICK, ts, cpu, runs[cpu]);
	r->interval_ns = MS;
	r->tick.busy_ns = busy_ns[cpu];
	r->tick.read = read;
	for (uint32_t i = 0; counters && i < n; i++)
		perf(ts, cpu, &ran[i]);
	/* an hour is long: the clock comes back */
	ghz[cpu] += 0.001 * normal() + (GHZ - ghz[cpu]) / 1e4;
}

static int cmp_record(const void *pa, const void *pb)
{
	const struct cmt_record *a = pa, *b = pb;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	/* of a ring the order in memory is that of the records */
	return a < b ? -1 : 1;
}

static void tick(uint64_t ms)
{
	nr_records = 0;
	for (uint32_t d = 0; d < DOMAINS; d++)
		for (uint32_t rmid = 0; rmid < RMIDS; rmid++)
			loads[d][rmid].ran = false;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		tick_cpu(ms, cpu);
	qsort(tick_records, nr_records, sizeof(tick_records[0]), cmp_record);
}

static void begin(void)
{
	for (uint32_t d = 0; d < DOMAINS; d++) {
		for (uint32_t rmid = 0; rmid < RMIDS; rmid++) {
			loads[d][rmid] = (struct load){
				.mean = exp(2 + 1.5 * normal()), .ipc = 0.5 + 2 * uniform(),
				.occupancy = 100 * uniform(),
			};
			loads[d][rmid].rate = loads[d][rmid].mean;
		}
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		runs[cpu] = 1 + (uint32_t)(any() % CONTAINERS);
		ghz[cpu] = GHZ;
		ticked_ns[cpu] = 999 * MS;
	}
}

static int write_chunk(void *ctx, const struct cmt_chunk *chunk)
{
	taken_bytes += chunk->nr_bytes;
	return fwrite(chunk->bytes, 1, chunk->nr_bytes, ctx) == chunk->nr_bytes ? 0 : -5;
}

static const struct cmt_info info = {
	.size = sizeof(info), .abi_version = CMT_ABI_VERSION, .nr_cpus = CPUS,
	.nr_rmids = RMIDS, .rmids_usable = RMIDS - 1, .upscale_bytes = UNIT,
	.ring_records = 4096, .ring_bytes = 4096 + 4096 * 64, .interval_ns = MS,
	.interval_min_ns = 100000, .interval_max_ns = 1000 * MS, .l3_bytes = 64 << 20,
	.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
};

/* Owners and names, as they were before the first tick. */
static void own(struct cmt_recorder *recorder)
{
	struct cmt_snapshot *snapshot;

	if (cmt_snapshot_new(&snapshot, MS, NULL, CONTAINERS))
		abort();
	for (uint32_t i = 0; i < CONTAINERS; i++) {
		struct cmt_record *r = cmt_snapshot_at(snapshot, i);
		struct cmt_container c = { .sz = sizeof(c), .cgroup_id = 7001 + i };
		char path[256];

		*r = (struct cmt_record){
			.ts = any() % MS, .type = CMT_REC_EXISTING, .rmid = 1 + i,
			.generation = 101 + i, .flags = CMT_F_OWNER_CGROUP,
		};
		r->owner.cgroup_id = 7001 + i;
		snprintf(path, sizeof(path), "/machine.slice/docker-%016llx%016llx%016llx%016llx.scope",
			 (unsigned long long)any(), (unsigned long long)any(),
			 (unsigned long long)any(), (unsigned long long)any());
		c.path = path;
		cmt_container_name(path, &c);
		if (cmt_recorder_name(recorder, &c))
			abort();
	}
	if (cmt_recorder_snapshot(recorder, snapshot))
		abort();
	cmt_snapshot_free(snapshot);
}

static void state(struct cmt_recorder *recorder)
{
	static struct cmt_culprit_cpu cpus[CONTAINERS];
	const struct cmt_recording_state s = {
		.sz = sizeof(s), .cpus = cpus, .nr_cpus = CONTAINERS,
		.cpu_size = sizeof(cpus[0]),
	};

	for (uint32_t i = 0; i < CONTAINERS; i++)
		cpus[i] = (struct cmt_culprit_cpu){
			.sz = sizeof(cpus[i]), .id = 7001 + i, .start_ns = any(),
			.end_ns = any(), .valid = 7, .throttled_ns = any() % MS,
		};
	if (cmt_recorder_state(recorder, &s))
		abort();
}

/* Written, and how long that took. */
static uint64_t record(FILE *file, uint64_t ms_long, struct cmt_recorder_counts *counts)
{
	const struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .info = &info, .write = write_chunk, .ctx = file,
		.level = getenv("CMT_BENCH_LEVEL") ?
			 (uint32_t)atoi(getenv("CMT_BENCH_LEVEL")) : 0,
		.flags = getenv("CMT_BENCH_EXACT") ? 0 : CMT_RECORDER_ROUND,
	};
	struct cmt_recorder *recorder;
	uint64_t ns = 0, at;

	if (cmt_recorder_new(&recorder, &opts) || cmt_recorder_begin(recorder))
		abort();
	own(recorder);
	for (uint64_t ms = 1000; ms < 1000 + ms_long; ms++) {
		tick(ms);
		at = used_ns();
		if (cmt_recorder_add(recorder, tick_records, nr_records))
			abort();
		if (ms % 1000 == 999)
			state(recorder);
		ns += used_ns() - at;
	}
	if (cmt_recorder_end(recorder))
		abort();
	cmt_recorder_counts(recorder, counts);
	cmt_recorder_free(recorder);
	return ns;
}

static uint64_t replay(const char *path, uint64_t *records)
{
	const struct cmt_recording_item *item;
	struct cmt_recording *recording;
	uint64_t at = used_ns();

	*records = 0;
	if (cmt_recording_open(&recording, path))
		return 0;
	while (cmt_recording_next(recording, &item) > 0) {
		if (item->type == CMT_RECORDING_DAMAGE)
			abort();
		*records += item->nr_records;
	}
	cmt_recording_close(recording);
	return used_ns() - at;
}

/* Microseconds: to open, and then to the first records of a moment. */
struct times {
	double open, seek;
};

static struct times seek(const char *path, uint64_t ms)
{
	const struct cmt_recording_item *item;
	struct cmt_recording *recording;
	uint64_t begin = used_ns(), opened;
	struct times us;

	if (cmt_recording_open(&recording, path))
		abort();
	opened = used_ns();
	if (cmt_recording_seek(recording, ms * MS))
		abort();
	while (cmt_recording_next(recording, &item) > 0 && !item->nr_records)
		;
	us.open = (double)(opened - begin) / 1e3;
	us.seek = (double)(used_ns() - opened) / 1e3;
	cmt_recording_close(recording);
	return us;
}

/* The most of 20. */
static struct times seek_most(const char *path, uint64_t ms_long)
{
	struct times most = { 0 };

	for (uint64_t i = 0; i < 20; i++) {
		struct times us = seek(path, 1000 + ms_long * i / 20);

		most.open = us.open > most.open ? us.open : most.open;
		most.seek = us.seek > most.seek ? us.seek : most.seek;
	}
	return most;
}

static void print_seek(const char *what, const char *path, uint64_t ms_long)
{
	struct times us = seek_most(path, ms_long);

	printf("figure recording_%sopen_us %.0f\n", what, us.open);
	printf("figure recording_%sseek_us %.0f\n", what, us.seek);
}

/* The chunks of an hour, with few records in each; then the same without its index. */
static void hour(const char *path)
{
	const uint64_t ms_long = 3600000;
	FILE *file = fopen(path, "w");
	const struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .info = &info, .write = write_chunk, .ctx = file,
	};
	struct cmt_recorder *recorder;

	if (!file || cmt_recorder_new(&recorder, &opts) || cmt_recorder_begin(recorder))
		abort();
	own(recorder);
	for (uint64_t ms = 1000; ms < 1000 + ms_long; ms += 250) {
		tick(ms);
		if (cmt_recorder_add(recorder, tick_records, nr_records))
			abort();
		if (ms % 1000 == 0)
			state(recorder);
	}
	if (cmt_recorder_end(recorder) || fclose(file))
		abort();
	cmt_recorder_free(recorder);
	print_seek("hour_", path, ms_long);
	file = fopen(path, "r+");
	if (!file || fseek(file, 0, SEEK_END) || ftruncate(fileno(file), ftell(file) - 1))
		abort();
	fclose(file);
	print_seek("rebuilt_", path, ms_long);
	remove(path);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "recording.bench";
	char hour_path[4096];
	const char *ms = getenv("CMT_BENCH_MS");
	uint64_t ms_long = ms ? strtoull(ms, NULL, 10) : 10000, ns, read_ns, read;
	struct cmt_recorder_counts counts = { .sz = sizeof(counts) };
	FILE *file = fopen(path, "w");
	struct rusage usage;

	counters = !getenv("CMT_BENCH_COUNTERS");
	busy = getenv("CMT_BENCH_BUSY");
	if (!file)
		return 1;
	begin();
	ns = record(file, ms_long, &counts);
	fclose(file);
	getrusage(RUSAGE_SELF, &usage);
	printf("figure recording_bytes %llu\n", (unsigned long long)counts.bytes);
	printf("figure recording_records %llu\n", (unsigned long long)counts.records);
	printf("figure recording_samples %llu\n", (unsigned long long)counts.samples);
	printf("figure recording_bytes_sample %.2f\n",
	       (double)counts.bytes / (double)counts.samples);
	printf("figure recording_bytes_record %.2f\n",
	       (double)counts.bytes / (double)counts.records);
	printf("figure recording_ns_record %.0f\n", (double)ns / (double)counts.records);
	printf("figure recording_cpu_percent %.2f\n", (double)ns / (double)ms_long / 1e4);
	printf("figure recording_kib %ld\n", usage.ru_maxrss);
	read_ns = replay(path, &read);
	if (read)
		printf("figure recording_read_ns_record %.0f\n",
		       (double)read_ns / (double)read);
	print_seek("", path, ms_long);
	snprintf(hour_path, sizeof(hour_path), "%s.hour", path);
	hour(hour_path);
	if (argc < 2)
		remove(path);
	return 0;
}
