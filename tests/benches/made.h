/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up machine of any size, and the records that the module would write there.  What a
 * tick reads, in which order and how much of it waits for the next one is not made up: it
 * is the module's own source (module/hw/burst.h), which the machine runs on each CPU in each
 * millisecond.
 */
#ifndef BENCH_MADE_H
#define BENCH_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/cmt.h"

#define MADE_MS		1000000ULL

struct made {
	uint32_t cpus, domains;	/* each domain has as many CPUs */
	uint32_t containers;	/* container i has RMID i, from 1 on */
	uint32_t read_ns;	/* the time of one reading */
	uint32_t budget_ns;	/* the time for the readings of a tick */
};

struct made_counts {
	uint64_t ticks, samples, deferred;
	uint64_t loaded;	/* RMIDs that were loaded on a CPU since its last tick */
	uint64_t oldest_ms;	/* most time between two readings of an RMID in a domain */
};

/* RMIDs of the machine: enough for its containers, and a multiple of 64. */
uint32_t made_rmids(const struct made *made);

void made_begin(const struct made *made);

/* Do PERF records tell who waits? */
void made_set_waits(bool waits);

/*
 * Put the records of all CPUs in the millisecond number @ms, which begins at @ts.  Numbers
 * count from 1.
 */
void made_write(uint64_t ms, uint64_t ts, void (*put)(const struct cmt_record *record));

const struct made_counts *made_counts(void);

#endif
