// SPDX-License-Identifier: LGPL-2.1-or-later
/* A usage over a device: the reader feeds its slots, and the module is asked for the rest. */
#include "state.h"

#include <errno.h>
#include <limits.h>

#include "ring/ring.h"

#define LATE_DEFAULT_NS	500000000ULL	/* the reader's default is at most this */
#define FEEDS		64	/* in one call */
#define POLL_MS		5	/* while a frame is overdue */

/* Feed until an interval is complete, or nothing is there, or it takes too long. */
static int feed(struct cmt_usage *usage)
{
	int i, n;

	usage->more = false;
	for (i = 0; i < FEEDS && !usage->first; i++) {
		n = cmt_reader_feed(usage->reader, usage->slots);
		if (n <= 0)
			return n;
	}
	usage->more = true;
	return 0;
}

/* The greatest delay of a record: see cmt_reader_opts.latency_ns. */
static uint64_t lateness(uint64_t latency_ns, uint64_t slot_ns)
{
	return latency_ns + 2 * slot_ns;
}

static void renew_late(struct cmt_usage *usage)
{
	struct cmt_reader_counts counts = { .sz = sizeof(counts) };

	if (!cmt_reader_counts(usage->reader, &counts) && counts.latency_ns)
		usage->late_ns = lateness(counts.latency_ns, usage->slot_ns);
}

static bool is_overdue(const struct cmt_usage *usage, uint64_t now)
{
	return !cmt_ts_before(now, usage->end_ns + usage->late_ns);
}

/*
 * The clock is read before the rings: all that the module wrote until then is in the
 * interval that the clock ends, however long the process stands still in between.
 */
static int live_read(struct cmt_usage *usage)
{
	uint64_t now = cmt_now_ns();
	int err = feed(usage);

	if (err || usage->first || usage->more)
		return err;
	if (!is_overdue(usage, now))
		return 0;
	/* with another sampling interval the rings hold more of the time, or less */
	renew_late(usage);
	if (!is_overdue(usage, now))
		return 0;
	return usage_interval_end(usage, usage->end_ns, now - usage->late_ns);
}

static int live_timeout(const struct cmt_usage *usage)
{
	uint64_t due, now, ms;

	/* the interval ends with the first slot after it */
	due = usage->end_ns + 2 * usage->slot_ns + usage->sampling_ns;
	now = cmt_now_ns();
	if (!cmt_ts_before(now, due))
		return POLL_MS;
	ms = (due - now + 999999) / 1000000;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void live_counts(struct cmt_usage *usage, struct cmt_reader_counts *counts)
{
	struct cmt_reader_counts cpu = { .sz = sizeof(cpu) };
	uint32_t i;

	cmt_reader_counts(usage->reader, counts);
	if (counts->lost == usage->lost_base)
		return;
	for (i = 0; i < usage->nr_cpus; i++)
		if (!cmt_reader_cpu_counts(usage->reader, i, &cpu))
			usage->cpus[i].lost = cpu.lost;
}

static int refresh_pending(struct cmt_usage *usage)
{
	struct cmt_snapshot *pending;
	int err = cmt_device_pending(usage->device, &pending);

	if (err)
		cmt_usage_set_pending(usage, NULL);
	if (err)
		return err == -EAGAIN ? 0 : err;
	err = cmt_usage_set_pending(usage, pending);
	cmt_snapshot_free(pending);
	return err;
}

static int live_refresh(struct cmt_usage *usage, unsigned int what)
{
	if (what & CMT_USAGE_NAMES)
		usage_refresh_names(usage);
	return what & CMT_USAGE_PENDING ? refresh_pending(usage) : 0;
}

static void live_close(struct cmt_usage *usage)
{
	cmt_reader_free(usage->reader);
	if (usage->counting)
		cmt_device_set_counters(usage->device, 0);
	if (usage->choosing)
		cmt_device_set_values(usage->device, USAGE_SAMPLED);
}

static const struct usage_source live = {
	.read = live_read,
	.timeout = live_timeout,
	.counts = live_counts,
	.refresh = live_refresh,
	.close = live_close,
};

/* Of the reader, before there is one. */
static uint64_t latency_of(const struct cmt_usage_opts *opts)
{
	uint64_t share = cmt_ring_share(cmt_device_info(opts->device)->ring_hold_ns);

	if (opts->reader && opts->reader->latency_ns)
		return opts->reader->latency_ns;
	return share && share < LATE_DEFAULT_NS ? share : LATE_DEFAULT_NS;
}

/* Before the reader starts the sampling.  A module that cannot count is an older one. */
static int ask_counters(struct cmt_usage *usage, uint64_t counters)
{
	int err;

	if (!counters)
		return 0;
	err = cmt_device_set_counters(usage->device, (uint32_t)counters);
	usage->counting = !err;
	usage->channels.wanted = !!(counters & CMT_F_CHANNEL);
	return err == -ENOTTY ? 0 : err;
}

/* An older module reads all values. */
static int ask_values(struct cmt_usage *usage, uint64_t values)
{
	int err;

	if (!values)
		return 0;
	err = cmt_device_set_values(usage->device, (uint32_t)values);
	usage->choosing = !err;
	return err == -ENOTTY ? 0 : err;
}

/*
 * The present owners are read at once, so that names can be refreshed.  A device with a reader
 * is refused before it is asked: what it counts is for the usage that has the reader.
 */
int usage_live(struct cmt_usage *usage, const struct cmt_usage_opts *opts)
{
	int ret;

	if (cmt_device_has_reader(opts->device))
		return -EBUSY;
	usage->source = &live;
	usage->device = opts->device;
	ret = ask_counters(usage, opts->counters);
	if (!ret)
		ret = ask_values(usage, opts->values);
	if (ret)
		return ret;
	usage->late_ns = lateness(latency_of(opts), opts->slot_ns);
	usage->started = true;
	usage->origin_ns = cmt_now_ns();
	usage->start_ns = usage->origin_ns;
	usage->end_ns = usage->start_ns + usage->interval_ns;
	ret = cmt_reader_new(&usage->reader, opts->device, opts->reader);
	if (!ret)
		ret = cmt_reader_feed(usage->reader, usage->slots);
	return ret < 0 ? ret : 0;
}
