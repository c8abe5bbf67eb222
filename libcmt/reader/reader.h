/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reader, for what takes the records of its sources otherwise than in one order. */
#ifndef LIBCMT_READER_H
#define LIBCMT_READER_H

#include <cmt/reader.h>

#include "device/device.h"
#include "ring/ring.h"

struct cmt_merge;

struct cmt_reader {
	struct cmt_device *dev;
	struct cmt_sources *sources;
	struct cmt_merge *merge;
	bool latency_default;
	bool taken;		/* readiness, for the records being read */
	bool ready;		/* the last call returned another value than 0 */
	uint32_t least_records;	/* of the smallest ring */
	uint32_t nr_rings;
	const void *rings[];
};

/*
 * Set the time of the sources, whose records are then taken one ring after the other.
 * Returns 0 or -errno; then cmt_reader_end() is called.
 */
int cmt_reader_begin_feed(struct cmt_reader *reader);

/* @ret: what the caller returns; > 0: it found something */
void cmt_reader_end(struct cmt_reader *reader, int ret);

#endif
