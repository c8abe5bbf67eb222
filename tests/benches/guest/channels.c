// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost that the memory channels add to a tick: the difference between a tick
 * without samples with channels and one without, in one boot; and the cost while no
 * program asks for channels.  An access to one of their registers is one instruction
 * here.  On silicon it leaves the core, and takes as long as hundreds.  Ticks that also
 * read cycles are counted separately.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench.h"

#define INTERVAL_NS	3100000	/* as in sample.c */

/* Until @fd is closed. */
static void ask_for_channels(int fd)
{
	struct cmt_counters arg = {
		.size = sizeof(arg), .counters = CMT_F_CHANNEL,
	};

	if (ioctl(fd, CMT_IOC_SET_COUNTERS, &arg))
		die_errno("SET_COUNTERS");
}

static struct tick idle_tick(const char *params, const char *more, bool ask)
{
	struct records records;
	struct cmt_info info;
	struct tick tick;
	char all[256];
	int fd;

	snprintf(all, sizeof(all), "%s %s", params, more);
	module_load(all);
	fd = device_open();
	device_info(fd, &info);
	device_interval(fd, INTERVAL_NS);
	if (ask)
		ask_for_channels(fd);
	records_open(&records, fd, &info);
	real_time(true);
	tick = bench_idle(&records, fd);
	real_time(false);
	records_close(&records);
	close(fd);
	module_unload();
	return tick;
}

void bench_channels(const char *params)
{
	struct tick without = idle_tick(params, "uncore=0", true);
	struct tick unasked = idle_tick(params, "", false);
	struct tick with = idle_tick(params, "", true);

	if (without.channels || unasked.channels || !with.channels)
		die("%u channels with uncore=0, %u while nobody asks, %u without",
		    without.channels, unasked.channels, with.channels);
	figure("channels_unasked_more", unasked.busy - without.busy);
	figure("channels", with.channels);
	figure("tick_channels", with.busy);
	figure("channel", (with.busy - with.cycles * with.cycles_busy -
			   without.busy) / with.channels);
	figure("channel_cycles", with.cycles_busy);
	figure("channels_cycles", with.cycles);
}
