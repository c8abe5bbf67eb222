/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The uncore PMU: the counters outside of the cores, in boxes that discovery tables list
 * (pmon.c).  The boxes of memory controllers (IMC) count the reads and writes of a
 * socket's memory channels, as CAS commands of 64 bytes each (channel.c).
 *
 * Boxes are claimed while the sampling runs and some descriptor asks for channels, except
 * boxes that another program uses; they are restored at the end.  One CPU of each socket
 * reads the socket's boxes in its ticks.
 */
#ifndef CMT_UNCORE_H
#define CMT_UNCORE_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "cmt.h"

struct cmt_ring;

/* The most channels of a socket that are read */
#define CMT_CHANNELS_MAX	16

/*
 * pmon.c: find all tables.  Never fails: cmt_pmon_get() has the reason for missing
 * tables.
 */
int cmt_pmon_init(void);
void cmt_pmon_exit(void);

/*
 * Fill the members of @arg that come from the tables, except boxes, and copy at most @room
 * boxes to @boxes.  The result is that of the load, and does not change.
 */
void cmt_pmon_get(struct cmt_uncore *arg, struct cmt_box *boxes, u32 room);
u32 cmt_pmon_count(void);

/* NULL, or why the boxes may lack a memory controller. */
const char *cmt_pmon_lacks_memory(void);

/* The channels of one socket */
struct cmt_channels;

/* The channels that this CPU reads; NULL: none */
DECLARE_PER_CPU(struct cmt_channels *, cmt_cpu_channels);

/*
 * After cmt_pmon_init().  Never fails: cmt_channels_get() has the reason for missing
 * channels.
 */
int cmt_channels_init(void);
/* There are no ticks any more. */
void cmt_channels_exit(void);

/*
 * Claim the boxes, when some descriptor asks for channels and ticks run or are about to;
 * restore them, which does nothing for boxes that are not claimed.  Ticks may run
 * meanwhile.  Process context, under the sampler mutex.
 */
void cmt_channels_claim(void);
void cmt_channels_release(void);

/*
 * By hotplug.c; may sleep.  The CPU has ticks, or not.  After such changes: find a reader
 * for each socket.
 */
void cmt_channels_set_ticks(unsigned int cpu, bool ticks);
void cmt_channels_assign(void);

/* The greatest number of records that the tick of the reader of @channels writes. */
u32 cmt_channels_due(const struct cmt_channels *channels);

/*
 * Read the channels that this CPU reads, if any, and write their records to @ring, which
 * is its own.  Interrupts off.
 */
void cmt_channels_write(struct cmt_ring *ring);

/* Fill in channels and channels_reason. */
void cmt_channels_get(struct cmt_uncore *arg);

#endif
