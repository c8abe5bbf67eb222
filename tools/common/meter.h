/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One owner that is measured on demand: its occupancy in each L3 domain, and its
 * traffic between two readings.  Sums are over a span, which begins at a reading.
 * Pure, except meter_read().
 *
 * The only code of the tools that computes a rate: cmt_usage makes rows of ticks, and here
 * nothing ticks.  READ gives the two readings of one owner, which are subtracted.
 */
#ifndef TOOLS_METER_H
#define TOOLS_METER_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "rows.h"

#define METER_LIMBO_NS	100000000ULL	/* many times the limbo of an RMID */
#define METER_DOMAINS 64	/* further ones are counted as a gap */

/*
 * An MBM counter that is not read for some 1.1 s loses its base: the greatest time
 * between readings.
 */
#define METER_READ_NS 500000000ULL

enum meter_counter {
	METER_TOTAL,
	METER_LOCAL,
	NR_METER_COUNTERS,
};

struct meter_traffic {
	bool based;		/* there is a reading before, */
	uint64_t last;		/* this one, */
	uint32_t base;		/* of this cmt_record.base */
	/* of the span */
	bool known;		/* at least one difference */
	uint64_t bytes;
};

struct meter_domain {
	uint32_t domain;	/* as resctrl numbers them */
	bool seen;		/* in the last reading; known: with an occupancy */
	bool known;
	uint64_t occupancy;	/* bytes, then */
	bool most_known;	/* some reading of the span has an occupancy */
	uint64_t most;		/* bytes, in the span */
	struct meter_traffic traffic[NR_METER_COUNTERS];
};

/* Begins with events, the others 0. */
struct meter {
	uint32_t events;	/* cmt_info.events: the values that the machine counts */
	uint32_t rmid;		/* of the last reading that had values, */
	uint32_t generation;	/* likewise */
	bool pending;		/* the owner was, at the last reading */
	bool emulated;		/* some value is of a model */
	uint64_t last_ns;	/* CLOCK_MONOTONIC of the last reading; 0: none */
	/* of the span */
	uint64_t start_ns;	/* of the reading that it begins with */
	uint32_t why;		/* CMT_USAGE_WHY_* */
	bool gap[NR_METER_COUNTERS];	/* some traffic was not counted */
	uint32_t readings;	/* in which all domains had an occupancy */
	bool incomplete;	/* there was another one */
	double sum;		/* of the occupancies of the readings, bytes */
	uint64_t most;		/* sum over the domains, bytes */
	uint32_t nr_domains;
	struct meter_domain domains[METER_DOMAINS];
};

/*
 * Read the owner now.  Returns 0, also where the owner is pending: then pending is
 * set and nothing is known; -ENOENT: there is no such owner any more; or -errno of
 * cmt_device_read_now().
 */
int meter_read(struct meter *meter, const struct cmt_device *dev, uint32_t kind,
	       uint64_t id);

/*
 * Wait, METER_LIMBO_NS at most, for the RMID of an owner that was just registered: it is in
 * limbo where a service had it before.
 */
void meter_await_rmid(const struct cmt_device *dev, uint32_t kind, uint64_t id);

/* Add a reading: SAMPLE records, one for each L3 domain, of CMT_IOC_READ. */
void meter_add(struct meter *meter, const struct cmt_snapshot *reading);

/* The owner was pending at @now_ns: its values are in another RMID. */
void meter_add_pending(struct meter *meter, uint64_t now_ns);

/* A new span begins at the last reading. */
void meter_begin(struct meter *meter);

/* Time from the first to the last reading of the span. */
uint64_t meter_elapsed_ns(const struct meter *meter);

/* Bytes held at the last reading, all domains; and in the span. */
struct measure meter_occupancy(const struct meter *meter);
struct measure meter_most(const struct meter *meter);
struct measure meter_mean(const struct meter *meter);

/* Bytes moved in the span, all domains; and bytes a second. */
struct measure meter_bytes(const struct meter *meter, enum meter_counter nr);
struct measure meter_rate(const struct meter *meter, enum meter_counter nr);

/* The same in one domain. */
struct measure meter_domain_occupancy(const struct meter *meter,
				      const struct meter_domain *domain);
struct measure meter_domain_most(const struct meter *meter,
				 const struct meter_domain *domain);

/* Bytes moved in one domain. */
struct measure meter_domain_bytes(const struct meter *meter,
				  const struct meter_domain *domain,
				  enum meter_counter nr);

#endif
