/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to culprit*.c: the parameters of the method in docs/culprit.md.  They were
 * chosen on the set "deciding" of tests/culprit/.  Where there are two, _A is for
 * victims without counters, and _B for those with counters.
 */
#ifndef LIBCMT_CULPRIT_PARAMS_H
#define LIBCMT_CULPRIT_PARAMS_H

/* Baselines */
#define CULPRIT_BLOCK	8	/* slots in a block of a baseline */
#define CULPRIT_WINDOW	32	/* blocks in a baseline */
#define CULPRIT_LEARN	20	/* blocks before a baseline counts */
#define CULPRIT_LAG	3	/* blocks that are too new for a baseline */
#define CULPRIT_RING	(CULPRIT_WINDOW + CULPRIT_LAG)
#define CULPRIT_RECENT	16	/* slots kept one by one; a power of two */
#define CULPRIT_MEAN	4	/* slots that rates are means of */

/* A sudden loss */
#define CULPRIT_EXCESS	1.4f	/* traffic above so much of its 90th percentile */
#define CULPRIT_LEAST	6.0f	/* KiB a slot: who takes less is not noted */
#define CULPRIT_TAKEN	0.10f	/* of the victim's occupancy, taken by the first */
#define CULPRIT_TAKEN_KIB 256.0f	/* and at least this */
#define CULPRIT_SHARE	0.2f	/* the first suspect's part of what was taken */
#define CULPRIT_LOST_A	0.04f	/* of the victim's occupancy, gone */
#define CULPRIT_LOST_B	0.03f
#define CULPRIT_SELF	0.5f	/* others' part to its own */
#define CULPRIT_REFETCH_A 6.0f	/* refetched at most so many times what was taken */
#define CULPRIT_REFETCH_B 4.0f
#define CULPRIT_GAINED	0.2f	/* of what it took a suspect must have gained */
#define CULPRIT_HARM_A	0.5f	/* refetched at least so much of what was taken */
#define CULPRIT_HARM_KIB 64.0f	/* and at least this */
#define CULPRIT_CPI	1.03f	/* of the median */
#define CULPRIT_CPI_MAD	1.5f	/* deviations above it */
#define CULPRIT_MPI	1.05f	/* of the median misses per instruction */
#define CULPRIT_PASSED	2	/* of the last 3 slots, and this one */

/* A slow loss */
#define CULPRIT_LOW	2	/* percentile; the high is as far from the top */
#define CULPRIT_CREPT	0.04f	/* of the victim's occupancy, below its low */
#define CULPRIT_CREPT_GAIN 0.5f	/* of what the victim lost, the suspect gained */
#define CULPRIT_CREPT_RISE 1.5f	/* a gainer moves more than so much of its median */
#define CULPRIT_SPREAD	0.3f	/* a gain is so much of what the owner varies by, */
#define CULPRIT_SPREAD_V 0.5f	/* and a loss so much of what the victim does */
#define CULPRIT_GAINER	0.5f	/* the first suspect's part of what all gained */

/* Load that rises everywhere */
#define CULPRIT_COMMON	0.6f	/* so many rise: load rises everywhere, */
#define CULPRIT_UP	1.2f	/* above so much of their median, */
#define CULPRIT_STANDS_OUT 3.0f	/* and only who rises so much can be named */

/* Saturated memory */
#define CULPRIT_BUSY	0.75f	/* of the peak: the memory is saturated */
#define CULPRIT_BUSIER	2.0f	/* of the usual traffic, where no peak is known */
#define CULPRIT_BUSY_KIB 1024.0f /* a slot: less is not busy */
#define CULPRIT_BUSY_SHARE 0.5f	/* one suspect's part of the excess */
#define CULPRIT_BUSY_RISE 0.3f	/* and of all that is more than usual */
#define CULPRIT_BUSY_CPI 1.08f	/* of the median, where the memory is saturated */
#define CULPRIT_SURE_BUSY 0.98	/* confidence in CMT_CULPRIT_BANDWIDTH */

#endif
