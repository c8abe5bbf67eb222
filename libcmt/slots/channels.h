/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory channels of one open slot: the last values of each channel */
#ifndef LIBCMT_CHANNELS_H
#define LIBCMT_CHANNELS_H

#include "slots.h"

struct cmt_channels {
	struct cmt_slot_channel *all;	/* sorted by socket and channel */
	uint32_t nr, room;
	uint32_t next;		/* expected index of the next record's channel */
	uint32_t dropped;	/* dropped: channels beyond the limit */
};

/* Add a CHANNEL record.  Returns 1, 0: the record is dropped, or -ENOMEM. */
int cmt_channels_add(struct cmt_channels *channels,
		     const struct cmt_record *record);

/* Drop all records.  The memory stays for the next slot. */
static inline void cmt_channels_clear(struct cmt_channels *channels)
{
	channels->nr = 0;
	channels->next = 0;
	channels->dropped = 0;
}

#endif
