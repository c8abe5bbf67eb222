// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

#define BATCH		4096	/* records */
#define BATCHES_MOST	256	/* at once: signals wait for them */
#define LOOK_NS		1000000000ULL
#define FLUSH_NS	500000000ULL	/* the greatest loss after a kill */
#define WAKE_NS		200000000ULL	/* and in the rings */
#define PROGRAM_LEN	64

static int open_recorder(struct capture *capture,
			 const struct capture_opts *from)
{
	char program[PROGRAM_LEN];
	const struct cmt_recorder_opts opts = {
		.sz = sizeof(opts), .info = cmt_device_info(capture->dev),
		.write = from->write, .ctx = from->ctx, .program = program,
		.flags = from->flags, .counters = from->counters,
	};

	snprintf(program, sizeof(program), "%s %s", from->program, cmt_version());
	return cmt_recorder_new(&capture->recorder, &opts);
}

/* A module that cannot count is no error, as for a usage. */
static int ask_counters(struct capture *capture, uint32_t counters)
{
	int ret = counters ? cmt_device_set_counters(capture->dev, counters) : 0;

	return ret == -ENOTTY ? 0 : ret;
}

static int set_root(struct capture *capture, const char *root)
{
	if (asprintf(&capture->cgroups, "%s/sys/fs/cgroup", root) < 0) {
		capture->cgroups = NULL;
		return -ENOMEM;
	}
	return cmt_containers_set_root(capture->names, root);
}

int capture_open(struct capture *capture, struct cmt_device *dev,
		 const struct capture_opts *opts)
{
	const struct cmt_containers_opts names = {
		.sz = sizeof(names), .device = dev,
	};
	int ret;

	*capture = (struct capture){ .dev = dev };
	capture->records = malloc(BATCH * sizeof(*capture->records));
	if (!capture->records)
		return -ENOMEM;
	ret = cmt_containers_new(&capture->names, &names);
	if (!ret && opts->root)
		ret = set_root(capture, opts->root);
	if (!ret)
		ret = open_recorder(capture, opts);
	if (!ret)
		ret = ask_counters(capture, opts->counters);
	if (!ret)
		ret = cmt_reader_new(&capture->reader, dev, NULL);
	return ret;
}

void capture_stop(struct capture *capture)
{
	cmt_reader_free(capture->reader);
	capture->reader = NULL;
	capture->dev = NULL;
}

void capture_close(struct capture *capture)
{
	cmt_reader_free(capture->reader);
	cmt_recorder_free(capture->recorder);
	cmt_containers_free(capture->names);
	free(capture->cgroups);
	free(capture->records);
	*capture = (struct capture){ 0 };
}

/* The recorder counts records without memory. */
static int taken(int ret)
{
	return ret == -ENOMEM ? 0 : ret;
}

/* Where it fails, it is tried again with the next records. */
static int ask_owners(struct capture *capture)
{
	struct cmt_snapshot *snapshot;
	int ret;

	capture->resync = cmt_device_snapshot(capture->dev, &snapshot);
	if (capture->resync)
		return 0;
	ret = cmt_recorder_snapshot(capture->recorder, snapshot);
	cmt_snapshot_free(snapshot);
	capture->resync = ret == -ENOMEM || ret == -EINVAL;
	return capture->resync ? 0 : ret;
}

int capture_begin(struct capture *capture)
{
	int ret = cmt_recorder_begin(capture->recorder);

	if (!ret)
		ret = ask_owners(capture);
	if (!ret)
		ret = capture_look(capture);
	return ret;
}

/* Lifecycle records may be among the missing ones. */
static bool is_missing_some(struct capture *capture, int n)
{
	struct cmt_reader_counts counts = { .sz = sizeof(counts) };
	bool missing = false;

	for (int i = 0; i < n; i++)
		missing |= capture->records[i].type == CMT_REC_LOST;
	if (cmt_reader_counts(capture->reader, &counts))
		return missing;
	missing |= counts.late != capture->late;
	capture->late = counts.late;
	return missing;
}

/*
 * A new owner has a name in the recording before its first record: a verdict needs the
 * name earlier than the next pass.
 */
static void name_new(struct capture *capture, int n)
{
	const struct cmt_container *container;

	for (int i = 0; i < n; i++) {
		const struct cmt_record *r = &capture->records[i];

		if ((r->type != CMT_REC_ALLOC && r->type != CMT_REC_ALLOC_FAIL) ||
		    r->flags & (CMT_F_OWNER_CPU | CMT_F_OWNER_OVERFLOW | CMT_F_OWNER_RESCTRL |
				CMT_F_OWNER_KERNEL) ||
		    !r->owner.cgroup_id ||
		    cmt_containers_find(capture->names, r->owner.cgroup_id))
			continue;
		container = cmt_containers_lookup(capture->names, r->owner.cgroup_id);
		/* an owner without room for a name has none, which is no failure */
		if (container)
			cmt_recorder_name(capture->recorder, container);
	}
}

/* Returns how many there were, or -errno. */
static int pump_batch(struct capture *capture)
{
	int n = cmt_reader_read(capture->reader, capture->records, BATCH);
	int ret;

	if (n <= 0)
		return n;
	capture->newest_ns = capture->records[n - 1].ts;
	name_new(capture, n);
	ret = taken(cmt_recorder_add(capture->recorder, capture->records,
				     (uint32_t)n));
	capture->resync |= is_missing_some(capture, n);
	if (!ret && capture->resync)
		ret = ask_owners(capture);
	return ret ? ret : n;
}

int capture_look(struct capture *capture)
{
	capture->looked_ns = clock_ns(CLOCK_MONOTONIC);
	capture->flushed_ns = capture->looked_ns;
	return taken(cmt_recorder_collect_state(capture->recorder, capture->dev,
						capture->reader, capture->names, capture->cgroups));
}

static int do_due(struct capture *capture)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now - capture->looked_ns >= LOOK_NS)
		return capture_look(capture);
	if (now - capture->flushed_ns < FLUSH_NS)
		return 0;
	capture->flushed_ns = now;
	return taken(cmt_recorder_flush(capture->recorder));
}

int capture_pump(struct capture *capture)
{
	int n = pump_batch(capture);
	int ret = n < 0 ? n : do_due(capture);

	return ret ? ret : n > 0;
}

int capture_pump_all(struct capture *capture)
{
	int ret = 1;

	for (int i = 0; i < BATCHES_MOST && ret > 0; i++)
		ret = capture_pump(capture);
	return ret;
}

uint64_t capture_wait_ns(const struct capture *capture)
{
	int ms = cmt_reader_timeout(capture->reader);
	uint64_t limit = ms < 0 ? WAKE_NS : (uint64_t)ms * 1000000;

	return limit < WAKE_NS ? limit : WAKE_NS;
}

void capture_counts(const struct capture *capture, struct capture_counts *counts)
{
	*counts = (struct capture_counts){
		.recorder.sz = sizeof(counts->recorder),
		.reader.sz = sizeof(counts->reader),
	};
	cmt_recorder_counts(capture->recorder, &counts->recorder);
	if (capture->reader)
		cmt_reader_counts(capture->reader, &counts->reader);
}
