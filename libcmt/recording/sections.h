/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HEAD and STATE chunks: sections, each with a number and a length.  A reader skips
 * unknown sections.
 */
#ifndef LIBCMT_REC_SECTIONS_H
#define LIBCMT_REC_SECTIONS_H

#include "bytes.h"
#include "recording.h"

/* The content of a HEAD chunk. */
struct rec_head {
	union {
		struct cmt_info info;
		char info_room[CMT_INFO_ROOM];
	};
	bool has_info;
	uint64_t monotonic_ns, realtime_ns;
	uint32_t counters;
	uint32_t counter_bits;
	char host[CMT_REASON_LEN + 1];
	char kernel[CMT_REASON_LEN + 1];
	char boot_id[40];
	char program[CMT_REASON_LEN + 1];
};

void rec_head_put(const struct rec_head *head, struct rec_buffer *out);
/* Returns 0, -ENOMEM or -EBADMSG. */
int rec_head_get(struct rec_head *head, const struct rec_buffer *raw);

/* May a program have provided @state, and all that it points to? */
bool rec_state_possible(const struct cmt_recording_state *state);

/* @state: possible */
void rec_state_put(const struct cmt_recording_state *state, struct rec_buffer *out);

/* @state: zero, or as left by this function.  Returns 0, -ENOMEM or -EBADMSG. */
int rec_state_get(struct rec_state *state, const struct rec_buffer *raw);

#endif
