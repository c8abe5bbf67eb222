/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Intervals, and the frames that are made of them. */
#ifndef LIBCMT_USAGE_FRAME_H
#define LIBCMT_USAGE_FRAME_H

#include <cmt/slots.h>
#include <cmt/usage.h>

#include "name/name.h"

#define USAGE_REASON_LEN sizeof(((struct cmt_uncore *)NULL)->channels_reason)

struct cmt_usage;

/* A growing array. */
struct usage_rows {
	struct cmt_usage_row *rows;
	uint32_t nr, room;
};

/* A complete frame: not taken yet, or taken. */
struct usage_frame {
	struct usage_frame *next;
	struct cmt_usage_frame frame;
	struct usage_rows rows, children;
	struct cmt_item **items;	/* pinned items of the rows */
	uint32_t nr_items, room_items;
	struct cmt_usage_channel *channels;
	uint32_t room_channels;
	struct cmt_usage_wait_part *waits;
	uint32_t room_waits;
	uint32_t *waits_at;	/* used while they are sorted */
	uint32_t room_waits_at;
	char channels_reason[USAGE_REASON_LEN];
};

/* The callback of the slots: @ctx is the usage. */
int usage_slot_add(void *ctx, const struct cmt_slot *slot);
/*
 * End the interval at @end_ns; the next one is that in which @now lies.  Returns 0 or
 * -ENOMEM.
 */
int usage_interval_end(struct cmt_usage *usage, uint64_t end_ns, uint64_t now);
/* The frame of the interval so far; NULL: no memory. */
struct usage_frame *usage_frame_build(struct cmt_usage *usage, uint64_t end_ns);
/* The frame can be used again. */
void usage_frame_release(struct cmt_usage *usage, struct usage_frame *frame);
void usage_frames_free(struct cmt_usage *usage);

#endif
