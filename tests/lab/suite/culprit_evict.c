// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The suspects that the engine names, compared with the model, which knows who evicted
 * whose lines.  The guest's clock counts
 * instructions, so the host's load does not matter.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "engine.h"
#include "evicted.h"
#include "owners.h"
#include "tests.h"

#define MS		1000000ULL
#define LINE		64
#define BEFORE_MS	500	/* no newcomer, and no verdict */
#define NAMED_MS	1000	/* all accusations have come by then */

enum { VICTIM, SECOND, QUIET, STANDING, COMER, OWNERS };
#define OTHERS OWNERS		/* a column of the matrix: all other owners */

/* The owner with this id; OTHERS: none. */
static unsigned int who(const struct owner *owners, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < OWNERS && owners[i].id != id; i++)
		;
	return i;
}

static struct evicted truth_of(const struct owner *owners)
{
	struct evicted truth = { .nr = OWNERS };

	for (unsigned int i = 0; i < OWNERS; i++)
		truth.spaces[i] = owners[i].space;
	evicted_read(&truth);
	return truth;
}

/* What the engine has said. */
static struct {
	struct engine engine;
	/*
	 * time of the first accusation of each owner, 0: none, and the true values at
	 * that time
	 */
	uint64_t suspect[OWNERS];
	uint64_t named_ns[OWNERS];
	struct evicted truth[OWNERS];
} watch;

static void watch_open(void)
{
	memset(&watch, 0, sizeof(watch));
	engine_open(&watch.engine,
		    CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES);
}

static void watch_verdicts(const struct owner *owners)
{
	const struct cmt_culprit_verdict *verdict;

	while (cmt_culprit_next(watch.engine.culprit, &verdict) > 0) {
		unsigned int victim = who(owners, verdict->id);

		if (verdict->kind != CMT_CULPRIT_CACHE || victim == OTHERS ||
		    watch.suspect[victim])
			continue;
		watch.suspect[victim] = verdict->suspects[0].id;
		watch.named_ns[victim] = verdict->ts_ns;
		watch.truth[victim] = truth_of(owners);
	}
}

/* Read all present records. */
static void watch_read(const struct owner *owners)
{
	while (engine_next(&watch.engine))
		watch_verdicts(owners);
}

static void watch_for(const struct owner *owners, uint64_t ms)
{
	uint64_t end = now_ns() + ms * MS;

	while (now_ns() < end) {
		sleep_ms(4);
		watch_read(owners);
	}
}

static struct cmt_culprit_counts watch_counts(void)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };

	CHECK(!cmt_culprit_counts(watch.engine.culprit, &counts), "counts");
	return counts;
}

/* Wait until the engine has learned, and some time more: no owner may be accused. */
static void watch_quiet(const struct owner *owners)
{
	for (int i = 0; i < 500 && watch_counts().slots < CMT_CULPRIT_LEARN; i++)
		watch_for(owners, 10);
	watch_for(owners, BEFORE_MS);
	CHECK(!watch_counts().learning, "%u of %u are not learned",
	      watch_counts().learning, watch_counts().owners);
	for (unsigned int i = 0; i < OWNERS; i++)
		CHECK(!watch.suspect[i], "%s is a victim before the newcomer",
		      owners[i].plan.name);
}

/* The owner that took most of the victim's loss, except the victim itself. */
static unsigned int most_of(const struct evicted *truth, unsigned int victim)
{
	unsigned int most = victim == 0;

	for (unsigned int i = 0; i <= OWNERS; i++)
		if (i != victim &&
		    truth->lines[victim][i] > truth->lines[victim][most])
			most = i;
	return most;
}

static void note_row(const char *what, const struct owner *owners,
		     unsigned int victim, const double *bytes)
{
	char text[256];
	int n = 0;

	for (unsigned int i = 0; i <= OWNERS; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %s %.2f",
			      i < OWNERS ? owners[i].plan.name : "others",
			      bytes[i] / 1e6);
	note("%s, of %s by:%s", what, owners[victim].plan.name, text);
}

/* The first suspect is the owner that took most since @before. */
static void check_named(const struct owner *owners, const struct evicted *before,
			unsigned int victim)
{
	struct evicted took = watch.truth[victim];
	unsigned int most, first = who(owners, watch.suspect[victim]);
	double bytes[OWNERS + 1];

	evicted_less(&took, before);
	most = most_of(&took, victim);
	for (unsigned int i = 0; i <= OWNERS; i++)
		bytes[i] = (double)took.lines[victim][i] * LINE;
	note("%s: named after %.0f ms", owners[victim].plan.name,
	     (double)(watch.named_ns[victim] - before->at_ns) / 1e6);
	note_row("MB taken", owners, victim, bytes);
	CHECK(first == most, "%s is named for %s, and %s took most",
	      first < OWNERS ? owners[first].plan.name : "another one",
	      owners[victim].plan.name,
	      most < OWNERS ? owners[most].plan.name : "another one");
}

/* The new owner is named for the victim, and for every other reported victim. */
static void check_names(const struct owner *owners, const struct evicted *before)
{
	for (unsigned int v = VICTIM; v <= SECOND; v++)
		CHECK(watch.suspect[v], "no verdict on %s", owners[v].plan.name);
	CHECK(!watch.suspect[QUIET], "one who loses nothing is a victim");
	for (unsigned int v = 0; v < OWNERS; v++)
		if (watch.suspect[v])
			check_named(owners, before, v);
}

static void scenario(const struct plan *plans, uint64_t seed)
{
	struct evicted before, after;
	struct owner *owners;

	model_begin();
	evicted_begin();
	owners = owners_start(plans, OWNERS, seed);
	watch_open();
	watch_quiet(owners);
	before = truth_of(owners);
	owner_go(&owners[COMER]);
	watch_for(owners, NAMED_MS);
	check_names(owners, &before);
	after = truth_of(owners);
	evicted_check(after.spaces, OWNERS);
	engine_close(&watch.engine);
	owners_end(owners, OWNERS);
}

/*
 * In a cache of 4 MiB.  Until the last one comes nearly all fit.  The second victim goes
 * through its memory in 16 ms, the first one in 6, so that more of its lines go meanwhile.
 */
static const struct plan writers[OWNERS] = {
	[VICTIM] = { .name = "victim", .bytes = 1536 * KIB, .step = 256 * KIB,
		     .random = true },
	[SECOND] = { .name = "second", .bytes = 768 * KIB, .step = 48 * KIB,
		     .random = true },
	[QUIET] = { .name = "quiet", .bytes = 64 * KIB, .step = 32 * KIB },
	[STANDING] = { .name = "standing", .bytes = 16 * MIB, .step = 64 * KIB },
	[COMER] = { .name = "comer", .bytes = 16 * MIB, .step = 384 * KIB,
		    .later = true },
};

/*
 * All owners write all lines that they touch: the traffic of each is twice its fills.
 */
static void test_writers(void)
{
	scenario(writers, 1);
}

/* Only the new owner does not write: it seems to take half of the true amount. */
static void test_reading_comer(void)
{
	struct plan plans[OWNERS];

	memcpy(plans, writers, sizeof(plans));
	plans[COMER].reads = true;
	scenario(plans, 2);
}

/* Only the new owner writes: it seems to take twice the true amount. */
static void test_writing_comer(void)
{
	struct plan plans[OWNERS];

	memcpy(plans, writers, sizeof(plans));
	for (unsigned int i = 0; i < COMER; i++)
		plans[i].reads = true;
	scenario(plans, 3);
}

/*
 * With sequential access all lines of a victim go at once, or none.  The new owner's
 * access is random.
 */
static void test_in_order(void)
{
	static const struct plan plans[OWNERS] = {
		[VICTIM] = { .name = "victim", .bytes = 2 * MIB, .step = 256 * KIB },
		[SECOND] = { .name = "second", .bytes = 512 * KIB, .step = 16 * KIB,
			     .reads = true },
		[QUIET] = { .name = "quiet", .bytes = 64 * KIB, .step = 32 * KIB },
		[STANDING] = { .name = "standing", .bytes = 16 * MIB,
			       .step = 32 * KIB, .reads = true },
		[COMER] = { .name = "comer", .bytes = 16 * MIB, .step = 512 * KIB,
			    .random = true, .later = true },
	};

	scenario(plans, 4);
}

/* The new owner is in no container: RMID 0 is named, and no other owner is. */
static void test_outside(void)
{
	struct plan plans[OWNERS];

	memcpy(plans, writers, sizeof(plans));
	plans[COMER].outside = true;
	scenario(plans, 5);
}

const struct test culprit_evict_tests[] = {
	{ "evict_writers", test_writers, "scope=container", 300 },
	{ "evict_reading_newcomer", test_reading_comer, "scope=container", 300 },
	{ "evict_writing_newcomer", test_writing_comer, "scope=container", 300 },
	{ "evict_in_order", test_in_order, "scope=container", 300 },
	{ "evict_outside", test_outside, "scope=container", 300 },
	{ 0 }
};
