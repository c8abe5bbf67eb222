// SPDX-License-Identifier: GPL-2.0-or-later
#include "story.h"

#include "made.h"

#define PERIOD_MS	20000U
#define TAKE_MS		7000U	/* in each period, from here on batch takes cache */
#define TAKEN_MS	8000U
#define RETURN_MS	14000U	/* and web gets it back */
#define RETURNED_MS	15000U
#define TAKEN		256U	/* units */
#define RUNS_NS		900000U	/* of a millisecond */
#define CYCLES_PER_NS	3U
#define MISS_CYCLES	90U

enum { WEB = 1, BATCH };

static const char *const names[STORY_CONTAINERS] = {
	"web", "batch", "db", "search", "queue", "cache", "auth", "mail", "proxy", "metrics",
	"logs", "cron",
};

const char *story_name(uint32_t rmid)
{
	return rmid <= STORY_CONTAINERS ? names[rmid - 1] : "other";
}

static uint32_t taken_units(uint64_t ms)
{
	uint32_t at = (uint32_t)(ms % PERIOD_MS);

	if (at < TAKE_MS || at >= RETURNED_MS)
		return 0;
	if (at < TAKEN_MS)
		return (at - TAKE_MS) * TAKEN / (TAKEN_MS - TAKE_MS);
	if (at < RETURN_MS)
		return TAKEN;
	return (RETURNED_MS - at) * TAKEN / (RETURNED_MS - RETURN_MS);
}

uint64_t story_held(uint64_t ms, uint32_t rmid, uint32_t noise)
{
	uint32_t units = noise % 8;

	if (rmid == WEB)
		units += 440 - taken_units(ms);
	else if (rmid == BATCH)
		units += 100 + taken_units(ms);
	else
		units += 12 + rmid * 37 % 61;
	return (uint64_t)units * MADE_UNIT;
}

static uint32_t misses(uint64_t ms, uint32_t rmid, uint32_t noise)
{
	if (rmid == WEB)
		return 300 + taken_units(ms) * 24 + noise % 64;
	return rmid == BATCH ? 9000 + noise % 512 : 20 + noise % 16;
}

void story_count(struct cmt_record *record, uint64_t ms, uint32_t rmid, uint32_t noise)
{
	uint32_t ran_ns = rmid <= BATCH ? RUNS_NS : RUNS_NS / 20;
	uint64_t cycles = (uint64_t)ran_ns * CYCLES_PER_NS;
	uint32_t missed = misses(ms, rmid, noise);

	record->ran_ns = ran_ns;
	record->perf.cycles = cycles;
	record->perf.llc_misses = missed;
	/* batch uses nothing twice */
	record->perf.llc_references = rmid == BATCH ? missed : 20000;
	record->perf.instructions = 2 * (cycles - (uint64_t)missed * MISS_CYCLES);
	record->perf.waited_ns = 0;
}
