// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost that the memory channels add to a tick: the difference between a tick
 * without samples with channels and one without, in one boot; and the cost while no
 * program asks for channels.  An access to one of their registers is one instruction
 * here.  On silicon it leaves the core, and takes as long as hundreds.  Ticks that also
 * read cycles are counted separately.
 */
#include "bench.h"

void bench_channels(const char *params)
{
	struct tick without = bench_idle_with(params, "uncore=0", CMT_F_CHANNEL);
	struct tick unasked = bench_idle_with(params, "", 0);
	struct tick with = bench_idle_with(params, "", CMT_F_CHANNEL);

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
