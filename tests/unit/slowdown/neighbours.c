// SPDX-License-Identifier: GPL-2.0-or-later
#include "slowdown/neighbours.h"

#include <check.h>

struct slowdown sums;
struct slowdown_part parts[NEIGHBOURS_PARTS];

void begin(uint32_t room)
{
	sums = (struct slowdown){ 0 };
	ck_assert(slowdown_init(&sums, room));
}

struct slowdown_values victim_in(uint32_t slot)
{
	double misses = 4000 + 1000 * (slot % 5);

	return (struct slowdown_values){
		.occupancy_kib = 8192, .counted = true, .instructions = 2e6,
		.misses = misses, .references = 15000, .cycles = 1e6 + 100 * misses,
	};
}

const struct slowdown_values streamer = {
	.occupancy_kib = 7168, .counted = true, .instructions = 1e6, .cycles = 3e6,
	.misses = 20000, .references = 20000,
};

const struct slowdown_values quiet = {
	.occupancy_kib = 1024, .counted = true, .instructions = 3e6, .cycles = 2e6,
	.misses = 0, .references = 5000,
};

static void put(uint64_t id, uint32_t domain, const struct slowdown_values *values)
{
	slowdown_add(&sums, id, domain, false, values);
}

void add_one(uint64_t id, struct slowdown_values values)
{
	slowdown_begin(&sums, 1);
	put(id, 0, &values);
	slowdown_end(&sums);
}

void add_two(const struct slowdown_values *victim, const struct slowdown_values *streams)
{
	slowdown_begin(&sums, 1);
	put(VICTIM, 0, victim);
	put(STREAMER, 0, streams);
	slowdown_end(&sums);
}

void add_three(const struct slowdown_values *victim, const struct slowdown_values *streams,
	       const struct slowdown_values *rests)
{
	slowdown_begin(&sums, 1);
	put(VICTIM, 0, victim);
	put(STREAMER, 0, streams);
	put(QUIET, 0, rests);
	slowdown_end(&sums);
}

void slot_of(uint32_t slot, bool held, uint32_t streamers_domain)
{
	struct slowdown_values v = victim_in(slot), s = streamer, q = quiet;

	if (!held)
		v.occupancy_kib = s.occupancy_kib = q.occupancy_kib = -1;
	slowdown_begin(&sums, 1);
	put(VICTIM, 0, &v);
	put(STREAMER, streamers_domain, &s);
	put(QUIET, 0, &q);
	slowdown_end(&sums);
}

void slots_of(uint32_t n, bool held, uint32_t streamers_domain)
{
	for (uint32_t i = 0; i < n; i++)
		slot_of(i, held, streamers_domain);
}

/* What is not told of a resource is less than a thousandth. */
static void check_total(const struct slowdown_part *of, int n)
{
	double most[SLOWDOWN_RESOURCES] = { 0 }, by_one = 0, all = 0.001;

	for (int i = 0; i < n; i++) {
		const struct slowdown_part *p = &parts[i];

		if (p->id != of->id)
			continue;
		ck_assert(!most[p->resource] || most[p->resource] == p->most);
		most[p->resource] = p->most;
		by_one += p->by == of->by && p->domain == of->domain ? p->share : 0;
	}
	for (uint32_t r = 0; r < SLOWDOWN_RESOURCES; r++)
		all += most[r];
	ck_assert(all >= by_one && all <= 0.951);
	ck_assert(of->resource != CMT_SLOWDOWN_CACHE || of->most >= of->share);
}

double told(uint64_t id, uint64_t by)
{
	int n = slowdown_parts(&sums, parts, NEIGHBOURS_PARTS);
	double share = 0;

	ck_assert_int_ge(n, 0);
	for (int i = 0; i < n; i++) {
		const struct slowdown_part *p = &parts[i];

		ck_assert(p->share > 0 && p->share < 1);
		check_total(p, n);
		ck_assert(p->low <= p->share && p->share <= p->high && p->high <= 1);
		ck_assert(!i || p->share <= p[-1].share);
		share += p->id == id && p->by == by ? p->share : 0;
	}
	return share;
}
