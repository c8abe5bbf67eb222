/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to the room: the parameters of the method in docs/slowdown.md, chosen on
 * the set "deciding" of tests/culprit/.  Where a parameter has two values, _A is for
 * victims without counters, and _B for victims with counters.
 */
#ifndef LIBCMT_CULPRIT_PARAMS_H
#define LIBCMT_CULPRIT_PARAMS_H

/* Baselines */
#define CULPRIT_BLOCK	8	/* slots in a block of a baseline */
#define CULPRIT_WINDOW	32	/* blocks in a baseline */
#define CULPRIT_LEARN	20	/* blocks before a baseline is used */
#define CULPRIT_LAG	3	/* newest blocks, not yet in the baseline */
#define CULPRIT_RING	(CULPRIT_WINDOW + CULPRIT_LAG)
#define CULPRIT_RECENT	16	/* slots with separate values; a power of two */
#define CULPRIT_MEAN	4	/* slots in the mean of a rate */

/* A sudden loss */
/* excess: traffic above this multiple of its 90th percentile */
#define CULPRIT_EXCESS	1.4f
#define CULPRIT_LEAST	6.0f	/* KiB a slot: smaller losses are ignored */
/* part of the victim's occupancy that the first suspect took, at least */
#define CULPRIT_TAKEN	0.10f
#define CULPRIT_TAKEN_KIB 256.0f	/* and at least this size */
/* the first suspect's part of all that was taken, at least */
#define CULPRIT_SHARE	0.2f
/* part of the victim's occupancy that is gone, at least */
#define CULPRIT_LOST_A	0.04f
#define CULPRIT_LOST_B	0.03f
/* part of others in the loss, relative to the victim's own part, at least */
#define CULPRIT_SELF	0.5f
/* refetched bytes, as a multiple of the bytes taken, at most */
#define CULPRIT_REFETCH_A 6.0f
#define CULPRIT_REFETCH_B 4.0f
/* the first suspect's gain, as a part of what it took, at least */
#define CULPRIT_GAINED	0.2f
/* refetched bytes, as a part of the bytes taken, at least */
#define CULPRIT_HARM_A	0.5f
#define CULPRIT_HARM_KIB 64.0f	/* and at least this size */
#define CULPRIT_CPI	1.03f	/* CPI, as a multiple of the median, at least */
#define CULPRIT_CPI_MAD	1.5f	/* and this many deviations above the median */
/* misses per instruction, as a multiple of the median, at least */
#define CULPRIT_MPI	1.05f
/* of the last 3 slots the conditions held in so many, and in this slot */
#define CULPRIT_PASSED	2

/* A slow loss */
#define CULPRIT_LOW	2	/* low: this percentile; high: 100 minus this */
/* loss below the low, as a part of the victim's occupancy, at least */
#define CULPRIT_CREPT	0.04f
/* the first suspect's gain, as a part of the victim's loss, at least */
#define CULPRIT_CREPT_GAIN 0.5f
/* traffic of an owner that gains, as a multiple of its median, at least */
#define CULPRIT_CREPT_RISE 1.5f
/* a gain, as a part of the range from the owner's low to its high, at least */
#define CULPRIT_SPREAD	0.3f
/* a loss, as a part of the range from the victim's low to its high, at least */
#define CULPRIT_SPREAD_V 0.5f
#define CULPRIT_GAINER	0.5f	/* the first suspect's part of all gains, at least */

/* Load that rises everywhere */
/* load rises everywhere if more than this part of the owners rise */
#define CULPRIT_COMMON	0.6f
/* an owner rises: traffic above this multiple of its median */
#define CULPRIT_UP	1.2f
/* then a suspect's traffic is at least this multiple of its 90th percentile */
#define CULPRIT_STANDS_OUT 3.0f

/* Saturated memory */
#define CULPRIT_BUSY	0.75f	/* traffic, as a part of the peak, at least */
/* traffic, as a multiple of the usual traffic, at least */
#define CULPRIT_BUSIER	2.0f
#define CULPRIT_BUSY_KIB 1024.0f /* traffic a slot, at least */
#define CULPRIT_BUSY_SHARE 0.5f	/* one suspect's part of the excess, at least */
/* one suspect's part of the traffic above the usual, at least */
#define CULPRIT_BUSY_RISE 0.3f
#define CULPRIT_BUSY_CPI 1.08f	/* CPI, as a multiple of the median, at least */
#define CULPRIT_SURE_BUSY 0.98	/* the confidence of CMT_CULPRIT_BANDWIDTH */

/* CPU time */
#define CULPRIT_CPU_SHARE 0.05	/* of the time, at least: less is no trouble */
#define CULPRIT_WAIT_SEEN 0.99	/* part of the second that records cover, if it is complete */
#define CULPRIT_WAIT_PART 0.01	/* a suspect's part of what was waited, at least */

#endif
