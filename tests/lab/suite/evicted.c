// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "bench.h"
#include "evicted.h"

static uint64_t ever;		/* evicted before evicted_begin() */
static uint64_t fills, held;	/* likewise: filled, and in the cache; lines */

static uint32_t tracked(void)
{
	uint32_t n = (uint32_t)lab_get(LAB_CONFIG, LAB_C_EVICTIONS);

	CHECK(n, "the model does not keep who evicts whom");
	return n;
}

static uint64_t lines_of(uint64_t bytes)
{
	return bytes / lab_get(LAB_CONFIG, LAB_C_LINE);
}

static uint64_t lines_held(void)
{
	uint64_t rmids = lab_get(LAB_CONFIG, LAB_C_RMIDS), bytes = 0;

	for (uint32_t i = 0; i < rmids; i++)
		bytes += lab_get(LAB_OF_RMID, LAB_ARG(L3, i, 0));
	return lines_of(bytes);
}

void evicted_begin(void)
{
	lab_switch(false);
	ever = lab_get(LAB_EVICTED_RESET, LAB_ARG(L3, 0, 0));
	fills = lab_get(LAB_STAT, LAB_S_FILLS);
	held = lines_held();
	lab_switch(true);
}

static uint32_t place_of(const struct evicted *evicted, uint32_t space)
{
	uint32_t i;

	for (i = 0; i < evicted->nr && evicted->spaces[i] != space; i++)
		;
	return i;
}

void evicted_read(struct evicted *evicted)
{
	uint32_t n = tracked();

	evicted->at_ns = now_ns();
	for (uint32_t v = 0; v < evicted->nr; v++) {
		CHECK(evicted->spaces[v] < n, "space %u of %u",
		      evicted->spaces[v], n);
		for (uint32_t i = 0; i <= evicted->nr; i++)
			evicted->lines[v][i] = evicted->user[v][i] = 0;
		for (uint32_t by = 0; by < n; by++) {
			uint32_t place = place_of(evicted, by);
			struct lab_answer cell =
				lab_ask(LAB_EVICTED,
					LAB_ARG(L3, evicted->spaces[v], by));

			evicted->lines[v][place] += cell.first;
			evicted->user[v][place] += cell.second;
		}
	}
}

void evicted_less(struct evicted *evicted, const struct evicted *before)
{
	for (uint32_t v = 0; v < evicted->nr; v++) {
		for (uint32_t i = 0; i <= evicted->nr; i++) {
			evicted->lines[v][i] -= before->lines[v][i];
			evicted->user[v][i] -= before->user[v][i];
		}
	}
}

static uint64_t row_sum(uint32_t victim)
{
	uint32_t n = tracked();
	uint64_t sum = 0;

	for (uint32_t by = 0; by < n; by++)
		sum += lab_get(LAB_EVICTED, LAB_ARG(L3, victim, by));
	return sum;
}

/* The processor's CPUs count misses independently of the matrix. */
static void check_space(uint32_t space)
{
	struct lab_answer misses = lab_ask(LAB_SPACE_MISSES, space);
	uint64_t has = lines_of(lab_get(LAB_OF_SPACE, LAB_ARG(L3, 0, space)));
	uint64_t row = row_sum(space);

	CHECK(misses.first + misses.second == row + has,
	      "space %u filled %" PRIu64 " lines, has %" PRIu64 " and lost %" PRIu64,
	      space, misses.first + misses.second, has, row);
}

void evicted_check(const uint32_t *spaces, uint32_t nr)
{
	uint32_t n = tracked();
	uint64_t sum = 0, filled;

	lab_switch(false);
	for (uint32_t v = 0; v < n; v++)
		sum += row_sum(v);
	CHECK(sum == lab_get(LAB_STAT, LAB_S_EVICTIONS) - ever,
	      "the matrix has %" PRIu64 " lines of %" PRIu64, sum,
	      lab_get(LAB_STAT, LAB_S_EVICTIONS) - ever);
	filled = lab_get(LAB_STAT, LAB_S_FILLS) - fills;
	CHECK(filled == sum + lines_held() - held,
	      "%" PRIu64 " lines were filled, %" PRIu64 " evicted, and %" PRIu64
	      " became %" PRIu64, filled, sum, held, lines_held());
	for (uint32_t i = 0; i < nr; i++)
		check_space(spaces[i]);
	note("%" PRIu64 " lines filled, %" PRIu64 " evicted: all are in the matrix",
	     filled, sum);
	lab_switch(true);
}
