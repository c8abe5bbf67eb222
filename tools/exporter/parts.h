/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of a series' container in each L3 domain */
#ifndef EXPORTER_PARTS_H
#define EXPORTER_PARTS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#define PARTS_MAX 64	/* L3 domains of a machine: libcmt's limit */

/* Begins with the first interval that has something in the domain, ends with the series. */
struct part {
	uint32_t domain;
	bool occupancy_known;	/* in the last interval */
	bool total_known;	/* was at least once */
	bool local_known;
	uint64_t occupancy;	/* bytes, of the last interval */
	uint64_t total, local;	/* bytes, sums that never decrease */
};

struct parts {
	struct part *all;
	uint32_t nr;
};

void parts_free(struct parts *parts);

/* A new interval: the values of each domain are unknown. */
void parts_begin(struct parts *parts);

/*
 * Add the parts of a row.  Where only one domain has been seen there are none.
 * Returns how many there was no room or no memory for.
 */
uint32_t parts_add(struct parts *parts, const struct cmt_usage_frame *frame,
		   const struct cmt_usage_row *row);

#endif
