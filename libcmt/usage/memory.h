/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory channels. */
#ifndef LIBCMT_USAGE_MEMORY_H
#define LIBCMT_USAGE_MEMORY_H

#include <cmt/slots.h>

#include "frame.h"

/*
 * Two values of a memory channel that are read together.  The values are running sums,
 * so any two readings can be subtracted, and a lost reading loses no traffic.  Traffic
 * from before this interval is not counted in it.
 */
struct usage_series {
	/* kept from interval to interval */
	bool ever;		/* the channel was read at least once */
	/* base is the last reading, and the next reading can continue it */
	bool based;
	uint64_t base[2];
	uint64_t base_ts;
	/* of this interval */
	bool read;		/* at least one reading */
	bool broken;		/* traffic between two readings was not counted */
	uint64_t first_ns;	/* begin of the time that sums cover */
	uint64_t sums[2];
	uint64_t covered_ns;	/* 0: no difference yet */
};

struct usage_channel {
	uint32_t socket, channel;
	/* the last record is "unavailable"; kept from interval to interval */
	bool gone;
	uint32_t why;		/* of this interval */
	struct usage_series bytes;	/* read, written */
	struct usage_series cycles;	/* idle, busy */
};

/* All channels. */
struct usage_channels {
	struct usage_channel *all;	/* by socket and channel */
	uint32_t nr, room;
	uint32_t next;		/* expected index of the next record's channel */
	bool over;		/* a record was dropped, because the table was full */
	bool wanted;		/* the device was asked for channels */
	uint32_t expected;	/* channels that the module reads; 0: not known */
	/*
	 * the module's reason for missing channels; "": none is missing, or not known
	 */
	char reason[USAGE_REASON_LEN];
};

/* Store what the module reports of channels.  @uncore: NULL: nothing is known. */
void usage_set_uncore(struct cmt_usage *usage, const struct cmt_uncore *uncore);

/* Returns 0 or -ENOMEM. */
int usage_channel_add(struct cmt_usage *usage, const struct cmt_slot_channel *c);
/*
 * Fill in the channels and the memory of a frame, after its rows.  Returns 0 or
 * -ENOMEM.
 */
int usage_channels(struct cmt_usage *usage, struct usage_frame *to);
void usage_channels_close(struct cmt_usage *usage);

#endif
