/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of cmtstat export: each writes frames, or incidents, one after the other. */
#ifndef TOOLS_EXPORT_FORMAT_H
#define TOOLS_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "export_columns.h"
#include "out.h"

struct export_format;

/* The time and the machine of a frame */
struct export_origin {
	const char *node, *boot;	/* "": not known */
	uint64_t begin_ns;		/* CLOCK_MONOTONIC of the recording's begin */
	bool clock_known;
	uint64_t clock_ns;	/* CLOCK_REALTIME less CLOCK_MONOTONIC, modulo 2^64 */
};

struct export_session {
	const struct export_format *format;
	const struct export_column *columns;	/* of rows */
	struct out *out;
	struct export_origin origin;
	uint64_t grain_ns;	/* of intervals */
	void *state;		/* the format's */
	uint64_t rows, frames;	/* written so far */
};

struct export_format {
	const char *name;
	uint64_t grain_ns;	/* where the user names none */
	bool bounded;		/* a viewer reads it: at most EXPORT_POINTS points */
	bool needs_clock;	/* rows without a time are of no use */
	/* Before, and after, all frames; NULL: nothing to do.  0 or -errno. */
	int (*begin)(struct export_session *session);
	int (*frame)(struct export_session *session,
		     const struct cmt_usage_frame *frame);
	int (*end)(struct export_session *session);
	/* One row of session->columns; NULL: the format has frames only. */
	void (*row)(const struct export_session *session, const struct export_row *row);
};

extern const struct export_format export_csv, export_ndjson, export_clickhouse,
	export_perfetto;

/* Points of curves that a viewer in a browser still shows with ease. */
#define EXPORT_POINTS	1000000U

/* Points that a row of a frame can have in a bounded format. */
#define EXPORT_ROW_POINTS 6U

/* Write each row of a frame by format->row.  Returns out->err. */
int export_rows(struct export_session *session, const struct cmt_usage_frame *frame);

/* Write a row for each neighbour and resource of an incident.  Returns out->err. */
int export_incident(struct export_session *session, const struct why_incident *incident,
		    bool emulated);

/*
 * Decode the character that @text begins with for a format that has UTF-8 only: U+FFFD
 * for a byte that is none.  Returns the bytes that it takes.
 */
unsigned int export_utf8(const char *text, uint32_t *code);

#endif
