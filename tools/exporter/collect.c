// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/errors.h"

#define NAME		"cmt-exporter"
#define RETRY_NS	1000000000ULL
#define MBM		(CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

static struct origin_opts origin_of(const struct collector *collector)
{
	return (struct origin_opts){
		.origin = collector->origin, .path = collector->config->device,
		.interval_ns = collector->config->interval_ns,
	};
}

/* Print an error once, and again when another one comes. */
static void complain(struct collector *collector, const char *what, int err)
{
	const struct origin_opts opts = origin_of(collector);

	if (collector->said == err)
		return;
	collector->said = err;
	if (what)
		error_plain(stderr, NAME, what, err);
	else if (!collector->dev)
		origin_error(stderr, NAME, &opts, err);
	else
		error_reader(stderr, NAME, err);
}

static int set_root(struct collector *collector)
{
	const char *root = collector->config->root;
	int ret = root ? cmt_containers_set_root(
				 cmt_usage_containers(collector->usage), root) :
			 0;

	if (ret)
		complain(collector, root, ret);
	return ret;
}

static int open_fine(struct collector *collector)
{
	int ret = fine_open(&collector->fine, collector->config,
			    cmt_usage_containers(collector->usage));

	if (ret)
		complain(collector, NULL, ret);
	return ret;
}

static int open_recent(struct collector *collector)
{
	const struct origin_opts opts = origin_of(collector);
	int ret = collector->config->page ?
		  recent_open(&collector->recent, collector->config, &opts) : 0;

	if (ret)
		complain(collector, NULL, ret);
	return ret;
}

static int open_usage(struct collector *collector)
{
	const struct exporter_config *config = collector->config;
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .device = collector->dev,
		.by = CMT_USAGE_BY_CONTAINER,
		.flags = (config->domains ? CMT_USAGE_DOMAINS : 0) |
			 (config->culprit ? CMT_USAGE_WAITS : 0),
		.interval_ns = config->interval_ns,
		.counters = config->counters |
			    (config->channels ? CMT_F_CHANNEL : 0),
	};
	int ret = cmt_usage_new(&collector->usage, &opts);

	if (ret) {
		complain(collector, NULL, ret);
		return ret;
	}
	ret = set_root(collector);
	if (!ret)
		ret = open_fine(collector);
	if (!ret)
		ret = open_recent(collector);
	if (ret) {
		fine_close(&collector->fine);
		cmt_usage_free(collector->usage);
	}
	return ret;
}

static void look_at_device(struct collector *collector)
{
	struct machine *machine = &collector->machine;

	machine->info = *cmt_device_info(collector->dev);
	collector->set.emulated = machine->info.backend == CMT_BACKEND_EMULATED;
	machine->up = true;
	machine->opens++;
	machine->seen = false;
	collector->due_ns = 0;
	collector->version++;
}

/* Milliseconds need the module.  The source that was found first stays. */
static int check_origin(struct collector *collector)
{
	const struct exporter_config *config = collector->config;
	bool groups = origin_is_resctrl(cmt_device_info(collector->dev));

	if (groups && (config->culprit || config->histograms)) {
		fprintf(stderr, NAME ": --culprit, --histograms: not with resctrl, which is read some 10 times a second; load the cmt module\n");
		return -EOPNOTSUPP;
	}
	if (groups && collector->origin == ORIGIN_AUTO)
		fprintf(stderr, NAME ": the cmt module is not loaded: the source is resctrl\n");
	collector->origin = groups ? ORIGIN_RESCTRL : ORIGIN_DEVICE;
	return 0;
}

static int connect_device(struct collector *collector)
{
	const struct origin_opts opts = origin_of(collector);
	int ret = origin_open(&collector->dev, &opts);

	if (ret) {
		collector->dev = NULL;
		complain(collector, NULL, ret);
		return ret;
	}
	ret = check_origin(collector);
	if (!ret)
		ret = open_usage(collector);
	if (ret) {
		cmt_device_close(collector->dev);
		collector->dev = NULL;
		return ret;
	}
	collector->said = 0;
	look_at_device(collector);
	return 0;
}

static void disconnect_device(struct collector *collector)
{
	fine_close(&collector->fine);
	recent_stop(&collector->recent);
	cmt_usage_free(collector->usage);
	cmt_device_close(collector->dev);
	collector->usage = NULL;
	channels_stop(&collector->machine.channels);
	collector->dev = NULL;
	collector->machine.up = false;
	collector->machine.seen = false;
	collector->machine.stats_known = false;
	collector->retry_ns = clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
	collector->gap_ns = 0;	/* the last values end now */
	collector->version++;
}

static uint32_t window_of(const struct exporter_config *config)
{
	return (uint32_t)((config->window_ns + config->interval_ns - 1) /
			  config->interval_ns);
}

int collect_open(struct collector *collector,
		 const struct exporter_config *config)
{
	int ret;

	*collector = (struct collector){ .config = config, .origin = config->origin };
	collector->machine.waits.pairs.window_ns = config->window_ns;
	ret = series_open(&collector->set, (uint32_t)config->max_containers,
			  window_of(config));
	if (ret) {
		complain(collector, "cannot begin", ret);
		return ret;
	}
	if (config->histograms)
		collector->set.histograms = &collector->fine.histograms;
	ret = connect_device(collector);
	if (ret)
		series_close(&collector->set);
	return ret;
}

void collect_close(struct collector *collector)
{
	if (collector->dev)
		disconnect_device(collector);
	fine_free(&collector->fine);
	recent_free(&collector->recent);
	channels_free(&collector->machine.channels);
	pairs_free(&collector->machine.waits.pairs);
	series_close(&collector->set);
}

int collect_fd(const struct collector *collector)
{
	return collector->dev ? cmt_device_fd(collector->dev) : -1;
}

uint64_t collect_wait_ns(const struct collector *collector)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), due = collector->due_ns;

	if (!collector->dev)
		due = collector->retry_ns;
	else if (fine_due_ns(&collector->fine) < due)
		due = fine_due_ns(&collector->fine);
	if (recent_due_ns(&collector->recent) < due)
		due = recent_due_ns(&collector->recent);
	return due > now ? due - now : 0;
}

/*
 * Pending owners are read only where there are some: in process scope the module visits
 * every process for it.
 */
static void refresh_machine(struct collector *collector)
{
	static const struct cmt_snapshot none;
	struct machine *machine = &collector->machine;

	machine->stats = (struct cmt_stats){ .size = sizeof(machine->stats) };
	machine->stats_known = !cmt_device_stats(collector->dev,
						 &machine->stats);
	if (machine->stats_known && !machine->stats.pending)
		cmt_usage_set_pending(collector->usage, &none);
	else
		cmt_usage_refresh(collector->usage, CMT_USAGE_PENDING);
	if (cmt_device_scope(collector->dev, &machine->scope))
		machine->scope = 0;
	if (cmt_device_counters(collector->dev, &machine->counters, NULL))
		machine->counters = 0;
	machine->counters &= collector->config->counters;
	machine->counted |= machine->counters;
}

static double wall_seconds(uint64_t monotonic_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	double age = now > monotonic_ns ? (double)(now - monotonic_ns) / 1e9 : 0;

	return (double)clock_ns(CLOCK_REALTIME) / 1e9 - age;
}

static void add_frame(struct machine *machine,
		      const struct cmt_usage_frame *frame)
{
	machine->seen = true;
	machine->end = wall_seconds(frame->end_ns);
	machine->nr_cpus = frame->nr_cpus;
	machine->nr_domains = frame->nr_domains;
	machine->sampling_ns = frame->sampling_ns;
	machine->pending_known = frame->pending_known;
	machine->pending = frame->pending;
	machine->intervals++;
	machine->busy_ns += frame->busy_ns;
	machine->missed += frame->missed;
	machine->lost += frame->lost;
	machine->dropped += frame->dropped;
	machine->slots += frame->nr_slots;
	machine->gaps += frame->nr_gaps;
	channels_add(&machine->channels, frame);
}

/*
 * The values that can be missing in an interval, of those that the machine has: also while
 * other programs need its counters
 */
static uint32_t values_of(const struct collector *collector)
{
	return (collector->machine.info.events & (CMT_F_OCCUPANCY | MBM)) |
	       collector->machine.counted;
}

static int take_frames(struct collector *collector)
{
	const struct cmt_usage_frame *frame;
	int ret = cmt_usage_next(collector->usage, &frame);

	/* at once: a container that ends soon has no path then */
	cmt_usage_refresh(collector->usage, CMT_USAGE_NAMES);
	if (ret <= 0)
		return ret;
	refresh_machine(collector);
	for (; ret > 0; ret = cmt_usage_next(collector->usage, &frame)) {
		add_frame(&collector->machine, frame);
		series_frame(&collector->set, frame, values_of(collector));
		waits_add(&collector->machine.waits, frame, collector->set.emulated);
		collector->version++;
	}
	return ret;
}

static int take_intervals(struct collector *collector)
{
	int ret = take_frames(collector);
	int ms = ret < 0 ? 0 : cmt_usage_timeout(collector->usage);

	collector->due_ns = clock_ns(CLOCK_MONOTONIC) +
			    (ms < 0 ? RETRY_NS : (uint64_t)ms * 1000000);
	return ret;
}

/* Milliseconds first: the interval that ends takes them. */
static int take_in(struct collector *collector, short events)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret = 0;

	if (events & (POLLERR | POLLHUP | POLLNVAL))
		return -ENODEV;
	if (events || now >= fine_due_ns(&collector->fine))
		ret = fine_take(&collector->fine);
	if (ret >= 0 && (events || now >= recent_due_ns(&collector->recent)))
		ret = recent_take(&collector->recent);
	if (ret >= 0 && (events || now >= collector->due_ns))
		ret = take_intervals(collector);
	return ret;
}

/* Without a device time goes on, in intervals, and series end. */
static void pass_time(struct collector *collector)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < collector->gap_ns)
		return;
	collector->gap_ns = now + collector->config->interval_ns;
	series_gap(&collector->set);
	pairs_forget(&collector->machine.waits.pairs, now);
	pairs_forget(&collector->fine.culprits.pairs, now);
	collector->version++;
}

static void try_again(struct collector *collector)
{
	if (clock_ns(CLOCK_MONOTONIC) < collector->retry_ns)
		return;
	pass_time(collector);
	if (connect_device(collector))
		collector->retry_ns = clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
	else
		fprintf(stderr, NAME ": the device is back\n");
}

void collect_step(struct collector *collector, short events)
{
	int ret;

	if (!collector->dev) {
		try_again(collector);
		return;
	}
	ret = take_in(collector, events);
	if (ret >= 0)
		return;
	complain(collector, "cannot go on reading the device, and try again", ret);
	disconnect_device(collector);
	pass_time(collector);
}
