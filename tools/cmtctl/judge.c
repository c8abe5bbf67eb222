// SPDX-License-Identifier: GPL-2.0-or-later
#include "judge.h"

#include <stdlib.h>

/* Per cent of the bytes that were filled or read */
#define FILL_OFF	15
#define TRAFFIC_OFF	30	/* prefetched lines; lines that a policy of the L3 keeps */

/* Interrupts on top of a process are its RMID's, too. */
#define SLACK_MIN	(256ULL << 10)
#define SLACK_OF_L3	64

#define TICKS_MIN	16	/* of a kind, for a median */
#define ERRORS_OF	100	/* the limit is one error in this number of readings */

const char *check_state_name(enum check_state state)
{
	static const char *const names[] = {
		[CHECK_UNKNOWN] = "unknown",
		[CHECK_PASS] = "pass",
		[CHECK_FAIL] = "fail",
	};

	return names[state];
}

static enum check_state within(uint64_t value, uint64_t least, uint64_t most)
{
	return value >= least && value <= most ? CHECK_PASS : CHECK_FAIL;
}

static uint64_t less(uint64_t value, uint64_t by)
{
	return value > by ? value - by : 0;
}

static uint64_t slack(const struct cache_facts *cache)
{
	uint64_t part = cache->l3_bytes / SLACK_OF_L3;

	return (part > SLACK_MIN ? part : SLACK_MIN) + cache->unit_bytes;
}

/*
 * Lines in the L2 of a CPU need not be in its L3.  At most half of a fill may be in the
 * L2, so that a counter that is too low does not pass.
 */
void judge_fill(struct fill *fill, const struct cache_facts *cache)
{
	uint64_t off = fill->filled * FILL_OFF / 100;
	uint64_t l2 = cache->l2_bytes < fill->filled / 2 ? cache->l2_bytes :
							   fill->filled / 2;

	fill->least = less(fill->filled, off + l2 + cache->unit_bytes);
	fill->most = fill->filled + off + fill->residue + slack(cache);
	fill->state = fill->known ? within(fill->held, fill->least, fill->most) :
				    CHECK_UNKNOWN;
}

void judge_growth(struct growth *growth, const struct fill *small,
		  const struct fill *large, const struct cache_facts *cache)
{
	uint64_t off;

	*growth = (struct growth){
		.filled = large->filled - small->filled,
		.held = less(large->held, small->held),
	};
	off = growth->filled * FILL_OFF / 100;
	growth->least = less(growth->filled, off + small->residue + cache->unit_bytes);
	growth->most = growth->filled + off + slack(cache);
	if (small->known && large->known)
		growth->state = within(growth->held, growth->least, growth->most);
}

void judge_traffic(struct traffic_check *traffic)
{
	uint64_t off = traffic->read * TRAFFIC_OFF / 100;

	traffic->least = traffic->read - off;
	traffic->most = traffic->read + off;
	traffic->state = traffic->total_known ?
			 within(traffic->total, traffic->least, traffic->most) :
			 CHECK_UNKNOWN;
}

static int by_ns(const void *a, const void *b)
{
	const struct tick *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static int by_read(const void *a, const void *b)
{
	const struct tick *x = a, *y = b;

	return x->read == y->read ? by_ns(a, b) : x->read > y->read ? 1 : -1;
}

/* How many ticks from @ticks on have the same number of readings. */
static size_t run_of(const struct tick *ticks, size_t nr)
{
	size_t i = 1;

	while (i < nr && ticks[i].read == ticks[0].read)
		i++;
	return i;
}

/* @ticks: by reading and then by time */
static void compare_runs(struct tick_cost *cost, const struct tick *ticks, size_t nr)
{
	const struct tick *few = NULL, *many = NULL;
	size_t at, len;

	for (at = 0; at < nr; at += len) {
		len = run_of(ticks + at, nr - at);
		if (len < TICKS_MIN)
			continue;
		many = ticks + at + len / 2;
		few = few ? few : many;
	}
	if (!few || few == many || many->ns <= few->ns)
		return;
	cost->reading_known = true;
	cost->reading_ns = (double)(many->ns - few->ns) / (many->read - few->read);
}

void judge_ticks(struct tick_cost *cost, struct tick *ticks, size_t nr)
{
	*cost = (struct tick_cost){ .ticks = (uint32_t)nr, .known = nr };
	if (!nr)
		return;
	qsort(ticks, nr, sizeof(*ticks), by_ns);
	cost->median_ns = ticks[nr / 2].ns;
	cost->most_ns = ticks[nr - 1].ns;
	qsort(ticks, nr, sizeof(*ticks), by_read);
	compare_runs(cost, ticks, nr);
}

void judge_rates(struct rates *rates)
{
	rates->state = !rates->readings ? CHECK_UNKNOWN :
		       rates->errors * ERRORS_OF > rates->readings ? CHECK_FAIL :
								    CHECK_PASS;
}
