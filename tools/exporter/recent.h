/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of the last ten minutes, in memory, with their names: a recording. */
#ifndef EXPORTER_RECENT_H
#define EXPORTER_RECENT_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/capture.h"
#include "common/keep.h"
#include "common/keep_file.h"
#include "exporter.h"

#define RECENT_SPAN_NS	600000000000ULL
#define RECENT_BYTES	(64ULL << 20)	/* of chunks: beyond them the oldest leave early */

/* Begins as zeroes. */
struct recent {
	struct cmt_device *dev;	/* its own: a device has one reader; NULL: none now */
	struct capture capture;
	struct keep keep;
	struct keep_file *file;	/* that is written; NULL: chunks are kept */
	uint64_t due_ns;	/* CLOCK_MONOTONIC */
};

/*
 * Begin, or begin again: what was kept of an earlier device is dropped.  @origin: as of
 * origin_open().  Returns 0 or -errno.
 */
int recent_open(struct recent *recent, const struct exporter_config *config,
		const struct origin_opts *origin);
/* There is no device: what is kept stays until the next recent_open(). */
void recent_stop(struct recent *recent);
void recent_free(struct recent *recent);

/* The latest time to process records: CLOCK_MONOTONIC, UINT64_MAX: never. */
uint64_t recent_due_ns(const struct recent *recent);

/* Process the available records, for EXPORTER_TURN_NS.  Returns 0 or -errno. */
int recent_take(struct recent *recent);

/* Keep also what the recorder still holds back.  Returns 0 or -errno. */
int recent_flush(struct recent *recent);

/* Write all to @fd as a recording.  Returns 0, -ENODATA: there is nothing, or -errno. */
int recent_write(struct recent *recent, int fd);

#endif
