/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a frame of the library's to one that can be sorted and shown. */
#ifndef TOOLS_FRAME_H
#define TOOLS_FRAME_H

#include "common/rows.h"

/* Room for the rows of a frame; begins all 0. */
struct frame_room {
	struct row *rows;
	uint32_t nr;
	struct row_part *parts;
	uint32_t nr_parts;
};

/*
 * Copy @from, which is of @view, or of any view for VIEW_CHANNEL; its containers stay the usage's.  @to is valid until the next copy to
 * the same room.  Returns 0 or -ENOMEM.
 */
int frame_copy(struct frame *to, struct frame_room *room,
	       const struct cmt_usage_frame *from, enum view view);

void frame_room_free(struct frame_room *room);

#endif
