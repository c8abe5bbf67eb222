// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * usage: cmt-made (csv|ndjson|perfetto|clickhouse|recording) [option=value]...
 * The records of made.c, by what exports them, or as a recording, on standard output.
 * Options: containers, domains, ms, grain (ms), seed, hostile, later, idle, processes, channels,
 * uncounted, unaccounted, coarse, waits (ns of each ms that web waits for a CPU), by; names: a file of names that are
 * given, each ends with a zero byte, in place of containers; rounded: the recorder rounds
 * counts; clock: it is set back an hour at half of the time; timeless: it is not known;
 * beside: an agent's RMID counts work of the first two containers; story: see story.h;
 * pending: owners that are so for half of the time; each second a container is throttled.
 * CMT_MADE_HOST in the environment is the host of a recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/signals.h"
#include "export/export_format.h"
#include "made.h"

#define MS 1000000ULL
#define HOUR_NS (3600 * 1000 * MS)
#define FIRST_PENDING 100000U	/* and up: their cgroups */
#define COUNTERS (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)

struct sink {
	struct cmt_usage *usage;
	struct export_session session;
	struct cmt_recorder *recorder;
	uint64_t clock_set_ns;	/* CLOCK_MONOTONIC when the clock was set back; 0: never */
	uint32_t nr_pending;	/* until half of the time */
	uint64_t half_ns;
	const struct made *made;
	uint32_t counted;	/* what states say */
	const char *reason;
};

static struct cmt_info info = {
	.size = sizeof(info), .abi_version = CMT_ABI_VERSION,
	.backend = CMT_BACKEND_HARDWARE, .scope = CMT_SCOPE_CONTAINER,
	.instance = 1, .nr_cpus = MADE_CPUS, .nr_rmids = MADE_RMIDS,
	.rmids_usable = MADE_RMIDS - 1,
	.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
	.upscale_bytes = MADE_UNIT, .counter_bits = 32, .interval_ns = MS,
	.l3_bytes = MADE_L3, .ring_records = 16384, .ring_bytes = 2U << 20,
	.interval_min_ns = 100000, .interval_max_ns = 1000 * MS,
};

static int put_frames(struct sink *sink)
{
	const struct cmt_usage_frame *frame;
	int ret;

	while ((ret = cmt_usage_next(sink->usage, &frame)) > 0) {
		ret = sink->session.format->frame(&sink->session, frame);
		if (ret)
			return ret;
	}
	return ret;
}

static int usage_record(void *ctx, const struct cmt_record *record)
{
	struct sink *sink = ctx;
	int ret = cmt_usage_add(sink->usage, record);

	return ret || record->type != CMT_REC_TICK ? ret : put_frames(sink);
}

static int usage_name(void *ctx, const struct cmt_container *container)
{
	struct sink *sink = ctx;

	return cmt_containers_put(cmt_usage_containers(sink->usage), container);
}

static int export_made(struct made *made, const struct export_format *format,
		       uint32_t by, uint64_t grain)
{
	struct cmt_containers_opts names = {
		.sz = sizeof(names), .flags = CMT_CONTAINERS_GIVEN,
	};
	struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .nr_rmids = MADE_RMIDS, .nr_cpus = MADE_CPUS,
		.l3_bytes = MADE_L3, .unit_bytes = MADE_UNIT,
		.interval_ns = grain * MS, .by = by, .flags = CMT_USAGE_ALIGNED,
	};
	struct sink sink = { 0 };
	struct out out;
	int ret = out_open(&out, STDOUT_FILENO);

	if (!ret)
		ret = cmt_containers_new(&opts.containers, &names);
	if (!ret)
		ret = cmt_usage_new(&sink.usage, &opts);
	if (ret)
		return ret;
	sink.session = (struct export_session){
		.format = format, .columns = export_columns, .out = &out,
		.origin = { "node-1", "11111111-2222-3333-4444-555555555555",
			    MADE_BEGIN_NS, true, MADE_REAL_NS - MADE_BEGIN_NS },
		.grain_ns = grain * MS,
	};
	made->record = usage_record;
	made->name = usage_name;
	made->ctx = &sink;
	ret = format->begin ? format->begin(&sink.session) : 0;
	if (!ret)
		ret = made_run(made);
	if (!ret)
		ret = cmt_usage_flush(sink.usage);
	if (!ret)
		ret = put_frames(&sink);
	if (!ret && format->end)
		ret = format->end(&sink.session);
	cmt_usage_free(sink.usage);
	cmt_containers_free(opts.containers);
	return out_close(&out) ? out.err : ret;
}

static int write_chunk(void *ctx, const struct cmt_chunk *chunk)
{
	(void)ctx;
	return fwrite(chunk->bytes, chunk->nr_bytes, 1, stdout) == 1 ? 0 : -EIO;
}

static int recorder_record(void *ctx, const struct cmt_record *record)
{
	return cmt_recorder_add(((struct sink *)ctx)->recorder, record, 1);
}

static int recorder_name(void *ctx, const struct cmt_container *container)
{
	return cmt_recorder_name(((struct sink *)ctx)->recorder, container);
}

/* Owners that are in no other record. */
static int pending_of(uint32_t nr, uint64_t ts, struct cmt_snapshot **pending)
{
	int ret = cmt_snapshot_new(pending, ts, NULL, nr);

	for (uint32_t i = 0; !ret && i < nr; i++) {
		struct cmt_record *record = cmt_snapshot_at(*pending, i);

		*record = (struct cmt_record){
			.ts = ts, .type = CMT_REC_ALLOC_FAIL, .rmid = MADE_RMIDS - 1,
			.generation = 1, .flags = CMT_F_OWNER_CGROUP,
		};
		record->owner.cgroup_id = FIRST_PENDING + i;
	}
	return ret;
}

static int recorder_second(void *ctx, uint64_t ts)
{
	const struct sink *sink = ctx;
	uint64_t sampling_ns = made_sampling_ms(sink->made, (ts - MADE_BEGIN_NS) / MS) * MS;
	uint64_t back_ns = sink->clock_set_ns && ts >= sink->clock_set_ns ? HOUR_NS : 0;
	uint32_t second = (uint32_t)((ts - MADE_BEGIN_NS) / (1000 * MS));
	const struct cmt_culprit_cpu cpu = {
		.sz = sizeof(cpu), .id = MADE_CGROUP + 1 + second, .start_ns = ts - 1000 * MS,
		.end_ns = ts, .valid = CMT_CULPRIT_CPU_THROTTLED, .throttled_ns = 500 * MS,
	};
	struct cmt_recording_state state = {
		.sz = sizeof(state), .monotonic_ns = ts,
		.realtime_ns = sink->made->timeless ? 0 :
			       MADE_REAL_NS + (ts - MADE_BEGIN_NS) - back_ns,
		.scope = CMT_SCOPE_CONTAINER, .interval_ns = (uint32_t)sampling_ns,
		.counters = sink->counted,
		.cpus = &cpu, .nr_cpus = sink->nr_pending != 0,
	};
	struct cmt_snapshot *pending = NULL;
	int ret = 0;

	snprintf(state.counters_reason, sizeof(state.counters_reason), "%s", sink->reason);
	if (sink->nr_pending)
		ret = pending_of(ts < sink->half_ns ? sink->nr_pending : 0, ts, &pending);
	state.pending = pending;
	if (!ret)
		ret = cmt_recorder_state(sink->recorder, &state);
	cmt_snapshot_free(pending);
	return ret;
}

/* A recorder asks for all, and its first state says what it got. */
static int begin_recorder(struct sink *sink, const struct made *made)
{
	int ret = cmt_recorder_begin(sink->recorder);

	if (ret || !sink->reason[0])
		return ret;
	sink->counted = (made->uncounted ? 0 : COUNTERS) |
			(made->unaccounted ? 0 : CMT_F_WAITED);
	return recorder_second(sink, MADE_BEGIN_NS);
}

static int record_made(struct made *made, uint32_t nr_pending)
{
	bool lacking = made->uncounted || made->unaccounted;
	char host[64];
	const struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .info = &info, .write = write_chunk,
		.program = "cmt-made", .host = host, .kernel = "6.1.0",
		.boot_id = made->later ? "22222222-2222-3333-4444-555555555555" :
					 "11111111-2222-3333-4444-555555555555",
		.monotonic_ns = MADE_BEGIN_NS,
		.realtime_ns = made->timeless ? 0 : MADE_REAL_NS,
		.flags = made->rounded ? CMT_RECORDER_ROUND : 0,
		.counters = COUNTERS | (lacking ? CMT_F_WAITED : 0),
	};
	struct sink sink = {
		.nr_pending = nr_pending, .half_ns = MADE_BEGIN_NS + made->ms / 2 * MS,
		.made = made, .counted = COUNTERS, .reason = lacking ? "this processor has none" : "",
	};
	int ret;

	info.interval_ns = made_sampling_ms(made, 0) * (uint32_t)MS;
	if (made->unaccounted)
		strcpy(info.wait_reason, "the kernel has no CONFIG_SCHED_INFO");
	snprintf(host, sizeof(host), "node-%u", made->seed + 1);
	if (getenv("CMT_MADE_HOST"))
		snprintf(host, sizeof(host), "%s", getenv("CMT_MADE_HOST"));
	ret = cmt_recorder_new(&sink.recorder, &opts);
	if (ret)
		return ret;
	if (made->clock)
		sink.clock_set_ns = sink.half_ns;
	made->record = recorder_record;
	made->name = recorder_name;
	made->second = recorder_second;
	made->ctx = &sink;
	ret = begin_recorder(&sink, made);
	if (!ret)
		ret = made_run(made);
	if (!ret)
		ret = cmt_recorder_end(sink.recorder);
	cmt_recorder_free(sink.recorder);
	return ret ? ret : fflush(stdout);
}

static const char *option_text(int argc, char **argv, const char *name)
{
	size_t len = strlen(name);

	for (int i = 2; i < argc; i++)
		if (!strncmp(argv[i], name, len) && argv[i][len] == '=')
			return argv[i] + len + 1;
	return NULL;
}

static uint64_t option(int argc, char **argv, const char *name, uint64_t otherwise)
{
	const char *text = option_text(argc, argv, name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* The names of the file names=, two containers each, until the program ends. */
static int read_names(int argc, char **argv, struct made *made)
{
	static char text[MADE_RMIDS * 256], *at = text;
	static const char *names[MADE_RMIDS / 2];
	const char *path = option_text(argc, argv, "names");
	FILE *file = path ? fopen(path, "re") : NULL;
	uint32_t nr = 0;
	size_t size;

	if (!path)
		return 0;
	if (!file)
		return -errno;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	for (; at < text + size && nr < MADE_RMIDS / 2 - 1; at += strlen(at) + 1)
		names[nr++] = at;
	made->names = names;
	made->containers = 2 * nr;
	made->processes = true;
	return nr ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct export_format *const formats[] = {
		&export_csv, &export_ndjson, &export_perfetto, &export_clickhouse,
	};
	struct made made = {
		.containers = (uint32_t)option(argc, argv, "containers", 20),
		.domains = (uint32_t)option(argc, argv, "domains", 0),
		.ms = option(argc, argv, "ms", 2000),
		.seed = (uint32_t)option(argc, argv, "seed", 0),
		.hostile = option(argc, argv, "hostile", 0),
		.later = option(argc, argv, "later", 0),
		.idle = option(argc, argv, "idle", 0),
		.processes = option(argc, argv, "processes", 0),
		.clock = option(argc, argv, "clock", 0),
		.timeless = option(argc, argv, "timeless", 0),
		.uncounted = option(argc, argv, "uncounted", 0),
		.unaccounted = option(argc, argv, "unaccounted", 0),
		.coarse = (uint32_t)option(argc, argv, "coarse", 0),
		.waits = (uint32_t)option(argc, argv, "waits", 0),
		.rounded = option(argc, argv, "rounded", 0),
		.beside = option(argc, argv, "beside", 0),
		.story = option(argc, argv, "story", 0),
		.channels = (uint32_t)option(argc, argv, "channels", 0),
	};
	int ret = -EINVAL;

	signals_setup(false);
	if (read_names(argc, argv, &made))
		return EXIT_FAILURE;
	if (argc > 1 && !strcmp(argv[1], "recording"))
		ret = record_made(&made, (uint32_t)option(argc, argv, "pending", 0));
	for (size_t i = 0; argc > 1 && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(argv[1], formats[i]->name))
			ret = export_made(&made, formats[i],
					  (uint32_t)option(argc, argv, "by", 0),
					  option(argc, argv, "grain", 1000));
	if (ret)
		fprintf(stderr, "cmt-made: %s\n", strerror(-ret));
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
