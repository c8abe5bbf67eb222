/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Millisecond by millisecond: a second cmt_usage, in intervals of 1 ms, for histograms
 * and for the culprit engine.  It costs more than all other work of the exporter, and
 * exists only on request.
 */
#ifndef EXPORTER_FINE_H
#define EXPORTER_FINE_H

#include <cmt/cmt.h>
#include <stdint.h>

#include "culprits.h"
#include "exporter.h"
#include "histogram.h"

/* Begins as zeroes.  Sums are since the exporter began. */
struct fine {
	const struct exporter_config *config;
	struct cmt_device *dev;		/* its own: a device has one reader */
	struct cmt_usage *usage;	/* NULL: not requested, or no device */
	struct histogram_table histograms;
	struct culprits culprits;
	uint64_t due_ns;	/* CLOCK_MONOTONIC */
	uint64_t frames;	/* ms in which some CPU ticked */
	uint64_t lost;		/* records */
};

/*
 * @containers: names, must outlive @fine.  Returns 0, also without a request, or as
 * cmt_device_open() and cmt_usage_new().
 */
int fine_open(struct fine *fine, const struct exporter_config *config,
	      struct cmt_containers *containers);
/* Waiting records are dropped, and sums stay, until fine_free(). */
void fine_close(struct fine *fine);
void fine_free(struct fine *fine);

/* The latest time to process records: CLOCK_MONOTONIC, UINT64_MAX: never. */
uint64_t fine_due_ns(const struct fine *fine);

/* Take what is there, for EXPORTER_TURN_NS.  Returns 0, or -errno of cmt_usage_next(). */
int fine_take(struct fine *fine);

#endif
