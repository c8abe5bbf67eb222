/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traffic of each memory channel since the exporter began */
#ifndef EXPORTER_CHANNELS_H
#define EXPORTER_CHANNELS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#define CHANNELS_MAX 1024	/* of a machine: libcmt's limit */

struct channel {
	uint32_t socket, channel;
	bool read_known, written_known;		/* were at least once */
	uint64_t read, written;			/* bytes, sums that never decrease */
	uint64_t incomplete;	/* intervals in which one was not known, or not all */
};

/* Begins as zeroes. */
struct channels {
	struct channel *all;
	uint32_t nr;
	uint32_t now;		/* that the last interval had */
	uint64_t dropped;	/* values that there was no room or memory for */
	char reason[CMT_REASON_LEN + 1];	/* why not all are read; "": they are */
};

void channels_free(struct channels *channels);

/* There is no device: no channel is read. */
void channels_stop(struct channels *channels);

void channels_add(struct channels *channels,
		  const struct cmt_usage_frame *frame);

#endif
