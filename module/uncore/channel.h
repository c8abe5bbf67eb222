/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory channels: the IMC boxes of the uncore PMU count the reads and writes of a
 * socket's memory (CAS commands, 64 bytes each).
 *
 * Boxes are claimed while the sampling runs and some descriptor asks for channels, except
 * boxes that another program uses; they are restored at the end.  One CPU of each socket
 * reads the socket's boxes in its ticks.
 */
#ifndef CMT_CHANNEL_H
#define CMT_CHANNEL_H

#include <linux/types.h>

#include "uapi/cmt.h"

struct cmt_cpu;

/* The most channels of a socket that are read */
#define CMT_CHANNELS_MAX	16

/* The channels of one socket */
struct cmt_channels;

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

/* CPUs came up or went down: find a reader for each socket.  By hotplug.c; may sleep. */
void cmt_channels_assign(void);

/* The greatest number of records that the tick of the reader of @channels writes. */
u32 cmt_channels_due(const struct cmt_channels *channels);

/*
 * Read the channels that this CPU reads, if any, and write their records to its
 * ring.  Interrupts off.
 */
void cmt_channels_write(struct cmt_cpu *cpu);

/* Fill in channels and channels_reason. */
void cmt_channels_get(struct cmt_uncore *arg);

#endif
