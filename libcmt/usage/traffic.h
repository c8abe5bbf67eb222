/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The traffic of a holding: differences of the readings of its counters. */
#ifndef LIBCMT_USAGE_TRAFFIC_H
#define LIBCMT_USAGE_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

struct usage_holding;

/* One MBM counter of one owner in one domain. */
struct usage_traffic {
	/* kept from interval to interval */
	bool ever;		/* the counter was read at least once */
	/* base is the last reading, and the next reading can continue it */
	bool based;
	uint64_t base;
	uint64_t base_ts;
	uint64_t last_ts;	/* time of the last reading, with or without a value */
	/* of this interval */
	bool known;		/* at least one difference */
	bool read;		/* at least one reading */
	bool gap;		/* traffic between two readings was not counted */
	bool linked;		/* the last difference ended at base */
	uint32_t chains;	/* sequences of adjacent differences */
	uint64_t bytes;
	uint64_t covered_ns;
	uint64_t missed_ns;	/* time between readings without a difference */
};

/*
 * Take the holding's last reading into its traffic, but a value that was carried over,
 * which is no reading.  @since: see traffic_add().
 */
void usage_traffic_settle(struct usage_holding *h, uint64_t since);
/* Begin an interval. */
void usage_traffic_begin(struct usage_holding *h);
/* Traffic from the last reading of @from on is that of @to, a new holding. */
void usage_traffic_continue(struct usage_holding *to, const struct usage_holding *from);

#endif
