// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * 1,000 RMIDs in use, all of their owners run before a tick, pending owners, owners
 * that begin and end, and a change of the scope.  Measures the longest time with
 * interrupts off and the longest hold of the owner lock, by the module's clock.  A
 * value is rejected if a tick took longer than it reports.
 */
#include <stdio.h>
#include <unistd.h>

#include "bench.h"

#define OWNERS		1000
#define PENDING		40	/* more than there are RMIDs */
#define ROUNDS		4	/* of all owners running */
#define TICKS		4	/* looked at, in a round */
#define PATTERN		"bench-none"

static const struct {
	const char *key;
	uint32_t interval_ns;
} intervals[] = {
	{ "irqs_off_100us", 100000 },
	{ "irqs_off_1ms", 1000000 },
	{ "irqs_off_1s", 1000000000 },
};
#define INTERVALS (sizeof(intervals) / sizeof(intervals[0]))

struct longest {
	double lock_held;
	double tick;		/* by busy_ns, in one interval */
	double rmids;		/* RMIDs in use, at least */
};

static void more(double *most, double value)
{
	if (value > *most)
		*most = value;
}

/* The ticks right after all owners ran, and the ticks that read the deferred RMIDs. */
static void run_all(struct longest *longest, struct records *records, int fd,
		    unsigned int nr)
{
	struct tick tick;
	int i;

	runners_wake(nr);
	for (i = 0; i < TICKS; i++) {
		tick_await(records, fd, &tick);
		more(&longest->tick, tick.busy);
	}
}

/* Every owner loses its RMID, and gets one again. */
static void change_scopes(int fd)
{
	device_scope(fd, CMT_SCOPE_CONTAINER, PATTERN);
	device_scope(fd, CMT_SCOPE_PROCESS, NULL);
}

static void check_rmids(struct longest *longest, int fd)
{
	struct cmt_stats stats;

	device_stats(fd, &stats);
	if (stats.rmids_active < OWNERS)
		die("%u RMIDs are in use, not %u", stats.rmids_active, OWNERS);
	if (!longest->rmids || stats.rmids_active < longest->rmids)
		longest->rmids = stats.rmids_active;
}

static void work(struct longest *longest, int fd, const struct cmt_info *info)
{
	unsigned int all = info->rmids_usable + PENDING, i;
	struct records records;

	records_open(&records, fd, info);
	runners_add(all);
	check_rmids(longest, fd);
	for (i = 0; i < ROUNDS; i++)
		run_all(longest, &records, fd, all);
	change_scopes(fd);
	check_rmids(longest, fd);
	run_all(longest, &records, fd, all);
	device_list(fd);
	runners_end();
	records_close(&records);
}

static void measure(struct longest *longest, const char *params, size_t i)
{
	struct cmt_stats stats;
	struct cmt_info info;
	int fd;

	real_time(true);
	/* some processes begin before the module is loaded, most of them later */
	runners_add(OWNERS / 4);
	module_load(params);
	fd = device_open();
	device_info(fd, &info);
	device_scope(fd, CMT_SCOPE_PROCESS, NULL);
	device_interval(fd, intervals[i].interval_ns);
	longest->tick = 0;
	work(longest, fd, &info);
	device_stats(fd, &stats);
	close(fd);
	module_unload();
	real_time(false);
	more(&longest->lock_held, stats.lock_held_ns);
	if (stats.irqs_off_ns < longest->tick)
		missing(intervals[i].key,
			"the module says %llu ns, a tick took %.0f",
			stats.irqs_off_ns, longest->tick);
	else
		figure(intervals[i].key, stats.irqs_off_ns);
}

void bench_longest(const char *params)
{
	struct longest longest = { 0 };
	size_t i;

	for (i = 0; i < INTERVALS; i++)
		measure(&longest, params, i);
	figure("longest_rmids", longest.rmids);
	if (longest.lock_held)
		figure("lock_held", longest.lock_held);
	else
		missing("lock_held", "the module says 0");
}
