/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The judgement of cmtctl selftest on its figures.  Pure. */
#ifndef TOOLS_JUDGE_H
#define TOOLS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check_state {
	CHECK_UNKNOWN,		/* there is no figure */
	CHECK_PASS,
	CHECK_FAIL,
};

/* "unknown", "pass" or "fail" */
const char *check_state_name(enum check_state state);

/* Of the processor, for all fills. */
struct cache_facts {
	uint64_t l3_bytes;	/* of one L3 domain */
	uint64_t l2_bytes;	/* 0: not known */
	uint64_t unit_bytes;	/* of the counter */
};

/*
 * One process that writes to a number of bytes repeatedly, and the occupancy of its
 * RMID
 */
struct fill {
	uint64_t filled;	/* bytes */
	uint32_t rmid;
	uint32_t generation;
	bool known;		/* domain, residue and held were read */
	uint32_t domain;	/* where the process runs */
	uint64_t residue;	/* held there before the first write: of former owners */
	uint64_t held;
	uint64_t least, most;	/* the range that passes */
	enum check_state state;
};

/* Sets least, most and state. */
void judge_fill(struct fill *fill, const struct cache_facts *cache);

/*
 * The occupancy beyond that of another fill of the same process.  Lines in the L2 and
 * lines of former owners are in both, and cancel out.
 */
struct growth {
	uint64_t filled, held;	/* differences, bytes */
	uint64_t least, most;
	enum check_state state;
};

void judge_growth(struct growth *growth, const struct fill *small,
		  const struct fill *large, const struct cache_facts *cache);

struct traffic_check {
	uint64_t read;		/* bytes that a process read, more than the cache holds */
	bool total_known, local_known;
	uint64_t total, local;	/* bytes, by the counters */
	uint64_t least, most;	/* total */
	enum check_state state;
};

/* Sets least, most and state. */
void judge_traffic(struct traffic_check *traffic);

/* One tick of one CPU. */
struct tick {
	uint32_t read;		/* RMIDs */
	uint32_t ns;
};

struct tick_cost {
	uint32_t ticks;		/* that were looked at */
	bool known;
	uint32_t median_ns, most_ns;
	bool reading_known;
	double reading_ns;	/* of one RMID: all its events, and the record */
};

/*
 * The cost of one reading is the difference of the medians of the ticks with the most
 * and with the fewest readings, where there are enough ticks of each kind.  Sorts
 * @ticks.
 */
void judge_ticks(struct tick_cost *cost, struct tick *ticks, size_t nr);

struct rates {
	uint64_t readings;	/* of an event of an RMID */
	uint64_t errors, unavailable;
	enum check_state state;	/* of errors only: AMD's traffic may be unavailable */
};

void judge_rates(struct rates *rates);

#endif
