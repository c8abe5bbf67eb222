/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The points of one container in one block, as bytes.
 *
 * A stream is a sequence of runs.  A run is a varint, (points - 1) << 3 | STREAM_*, and
 * what its points need:
 *
 *	ABSENT, UNKNOWN, SAME	nothing; SAME: each is as the point before
 *	VALUES			for each point its values; its note is NOTE_SHARE
 *	NOTED			for each point a byte, its note, and its values
 *	BRIEF			for each point a varint, its there, and then as NOTED
 *
 * The values of a point are varints: zigzag(mean - mean of the last point that had values),
 * and of the coarser levels mean - least and most - mean; zigzag(rate - rate of that
 * point), and of the coarser levels rate_most - rate; zigzag(local - local of that point).
 * Before the first one mean, rate and local are 0.  Where mean is 0, least and most are left
 * out, and so is rate_most where rate is 0.  Unless a point is BRIEF, its there is THERE_WHOLE.
 * Points behind the last run are ABSENT.
 */
#ifndef REPORT_STREAM_H
#define REPORT_STREAM_H

#include "bytes.h"
#include "point.h"

enum {
	STREAM_ABSENT,		/* the container was not there */
	STREAM_UNKNOWN,		/* it was, and nothing is known */
	STREAM_SAME,
	STREAM_VALUES,
	STREAM_NOTED,
	STREAM_BRIEF,		/* it was there in a part of the point's time */
};

struct stream {
	struct bytes bytes;
	uint32_t at;		/* points so far */
	uint32_t run;		/* of kind, not written yet */
	uint8_t kind;		/* STREAM_ABSENT, _UNKNOWN or _SAME */
	uint8_t open_kind;	/* _VALUES or later ones, that can get longer; 0: none */
	uint8_t open_nr;
	size_t open;		/* its first byte */
	struct packed before;	/* the last point with values */
	bool is_before;		/* and nothing but SAME since */
};

/* @fine: least and most are mean, rate_most is rate */
int stream_put(struct stream *stream, uint32_t index, const struct packed *packed,
	       uint32_t nr, bool fine);

/* Write the pending bytes.  Returns 0 or -ENOMEM. */
int stream_close(struct stream *stream);

/* Empty again; its memory stays. */
void stream_clear(struct stream *stream);

#endif
