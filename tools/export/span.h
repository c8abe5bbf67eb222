/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of a recording as intervals, for export and diff */
#ifndef TOOLS_SPAN_H
#define TOOLS_SPAN_H

#include <cmt/cmt.h>
#include <cmt/recording.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/progress.h"
#include "replay/excerpt.h"

#define SPAN_MIN_GRAIN_NS 1000000ULL
#define SPAN_MAX_GRAIN_NS 3600000000000ULL

/* The wanted part */
struct span_opts {
	struct excerpt excerpt;	/* first, for options; output: of export */
	const char *program;	/* for messages: "cmtstat export" */
	const char *path;
	int fd;			/* of span_file() */
	uint32_t by;		/* enum cmt_usage_by */
	uint64_t grain_ns;
	bool aligned;		/* CMT_USAGE_ALIGNED */
};

struct span {
	struct span_opts opts;
	struct cmt_recording *recording;
	struct cmt_recording_about about;
	struct cmt_usage *usage;
	uint64_t first_ns, end_ns;	/* CLOCK_MONOTONIC; end_ns is at most the end */
	bool clock_known;
	uint64_t clock_ns;	/* CLOCK_REALTIME less CLOCK_MONOTONIC, modulo 2^64 */
	bool emulated;		/* some value so far is of a model */
	char what[256];
	struct progress progress;
};

/*
 * Open the recording of opts->path without a read: as replay_file().  Prints errors on
 * standard error.  Returns 0 or -errno; opts->fd is for the caller to close.
 */
int span_file(struct span_opts *opts);

/*
 * Read what opts->fd has.  Prints errors on standard error.  Returns 0 or -errno; call
 * span_close() in any case.
 */
int span_open(struct span *span, const struct span_opts *opts);
void span_close(struct span *span);

/* Print why reading it failed, with its path.  Returns @err, -errno. */
int span_complain(const struct span *span, int err);

/* Begin to read, or begin again, with intervals of opts.grain_ns.  0 or -errno. */
int span_begin(struct span *span);

/*
 * The next interval of the part.  Returns 1, 0: there is no more, -EINTR: a signal
 * stopped it, or -errno as cmt_usage_next().
 */
int span_next(struct span *span, const struct cmt_usage_frame **frame);

/* The recording as what a watch reads: valid until span_close(), with one position. */
struct replay span_replay(const struct span *span);

/* For what reads the recording without span_next(): how far it is */
void span_show_progress(struct span *span, uint64_t at_ns);

/* As replay_rounded_bits(). */
uint32_t span_rounded_bits(const struct span *span);

/*
 * Print on standard error the data that is missing in the part, and the exactness of
 * counts.
 */
void span_report(struct span *span);

#endif
