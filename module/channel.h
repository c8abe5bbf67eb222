/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory channels: the IMC boxes of the uncore PMU, which count what a socket reads
 * from its memory and writes there (CAS commands, 64 bytes each).
 *
 * A box is claimed when the sampling starts and somebody wants channels, unless
 * somebody else uses the box, and restored when either ends.  One CPU of each
 * socket reads the socket's boxes in its ticks.
 */
#ifndef CMT_CHANNEL_H
#define CMT_CHANNEL_H

#include <linux/types.h>

#include "uapi/cmt.h"

struct cmt_cpu;

/* Of a socket; more are not read. */
#define CMT_CHANNELS_MAX	16

/* One socket's. */
struct cmt_channels;

/* After cmt_pmon_init().  No failure: cmt_channels_get() says what is lacking. */
int cmt_channels_init(void);
/* There are no ticks any more. */
void cmt_channels_exit(void);

/*
 * Somebody wants channels, and there are ticks or soon will be; neither is so any more.
 * Beside ticks.  Process context, under the sampler mutex.  Releasing what is not
 * claimed does nothing.
 */
void cmt_channels_claim(void);
void cmt_channels_release(void);

/* CPUs have come or gone: find a reader for each socket.  By hotplug.c; may sleep. */
void cmt_channels_assign(void);

/* How many records the tick of @cpu, which reads, writes at most. */
u32 cmt_channels_due(const struct cmt_channels *channels);

/*
 * Read the channels that this CPU reads, if any, and write their records to its
 * ring.  Interrupts off.
 */
void cmt_channels_write(struct cmt_cpu *cpu);

/* Fill in channels and channels_reason. */
void cmt_channels_get(struct cmt_uncore *arg);

#endif
