// SPDX-License-Identifier: GPL-2.0-or-later
/* Incidents: when they begin and end, what they cost, and that each is told once. */
#include <check.h>
#include <cmt/culprit.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "culprit/state.h"
#include "unit.h"

#define MS	1000000ULL
#define KIB	1024ULL
#define BEGUN	(1000 * MS)

enum { VICTIM = 100, STREAMER, QUIET };

#define COUNTED (CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC | CMT_CULPRIT_CYCLES |	\
		 CMT_CULPRIT_INSTRUCTIONS | CMT_CULPRIT_MISSES | CMT_CULPRIT_REFERENCES)

static struct cmt_culprit *culprit;
static uint64_t now;
static uint32_t victims, domains;	/* as many do the same, in so many domains */
static uint32_t spared;		/* so many of them, the first ones, are never harmed */
static uint32_t others;		/* stream as much less, with ids around the streamer's */
static double harm;		/* how much, where harmed: 0..1 */
static uint64_t ran_ns;		/* by each of them in a slot; UINT64_MAX: not known */
static uint32_t unreferenced;	/* of 100 slots, those in which their references are not known */
static uint32_t uncounted;	/* the same of their cycles */
static bool busy;		/* a miss costs more in slots in which the streamer misses more */

static void setup(void)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };

	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	now = BEGUN;
	victims = 1;
	domains = 1;
	spared = 0;
	others = 0;
	harm = 1;
	ran_ns = MS;
	unreferenced = uncounted = 0;
	busy = false;
}

static void teardown(void)
{
	cmt_culprit_free(culprit);
}

/* Is the slot now one of the @n of 100? */
static bool is_one_of(uint32_t n)
{
	return now / MS * 37 % 100 < n;
}

/* What is known of a victim */
static uint32_t valid_now(void)
{
	uint32_t valid = COUNTED | CMT_CULPRIT_RAN;

	valid &= ~(is_one_of(unreferenced) ? CMT_CULPRIT_REFERENCES : 0);
	valid &= ~(is_one_of(uncounted) ? CMT_CULPRIT_CYCLES : 0);
	return valid & ~(ran_ns == UINT64_MAX ? CMT_CULPRIT_RAN : 0);
}

/* Does the streamer miss more in the slot now? */
static bool is_busy(bool harmed)
{
	return busy && harmed && now / MS % 2;
}

/* Its misses differ from slot to slot and cost 100 cycles; alone it holds all it needs. */
static struct cmt_culprit_sample victim_in(uint32_t i, bool harmed)
{
	double bad = harmed ? harm : 0, turn = (double)(now / MS % 5);
	uint64_t misses = (uint64_t)(50 + 5 * turn + bad * (3950 + 995 * turn));
	uint32_t valid = valid_now();

	return (struct cmt_culprit_sample){
		.id = VICTIM + 10 * i, .domain = i % domains,
		.valid = valid,
		.occupancy_bytes = (uint64_t)(15000 - bad * 6808) * KIB, .traffic_bytes = 64 * misses,
		.cycles = valid & CMT_CULPRIT_CYCLES ?
				  1000000 + (is_busy(harmed) ? 200 : 100) * misses : 0,
		.instructions = 2000000, .misses = misses,
		.references = valid & CMT_CULPRIT_REFERENCES ? 15000 : 0,
		.ran_ns = ran_ns == UINT64_MAX ? 0 : ran_ns,
	};
}

static const struct cmt_culprit_sample streamer = {
	.id = STREAMER, .valid = COUNTED | CMT_CULPRIT_RAN, .occupancy_bytes = 7168 * KIB,
	.traffic_bytes = 64 * 20000, .cycles = 3000000, .instructions = 1000000,
	.misses = 20000, .references = 20000, .ran_ns = MS,
};

static struct cmt_culprit_sample streamer_in(uint32_t domain)
{
	struct cmt_culprit_sample sample = streamer;

	sample.domain = domain;
	if (busy)
		sample.misses = sample.references = is_busy(true) ? 30000 : 3000;
	return sample;
}

static const struct cmt_culprit_sample quiet = {
	.id = QUIET, .valid = COUNTED | CMT_CULPRIT_RAN, .occupancy_bytes = 1024 * KIB,
	.cycles = 2000000, .instructions = 3000000, .references = 5000, .ran_ns = MS,
};

static struct cmt_culprit_sample other(uint32_t i)
{
	struct cmt_culprit_sample sample = streamer;

	sample.id = i % 4 ? 1 + i : 500 + i;
	sample.occupancy_bytes = 256 * KIB;
	sample.misses = sample.references = 2000;
	sample.traffic_bytes = 64 * sample.misses;
	return sample;
}

static void slot_of(bool harmed)
{
	struct cmt_culprit_sample samples[200];
	struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = now, .sample_size = sizeof(samples[0]),
		.samples = samples,
	};

	for (uint32_t i = 0; i < victims; i++)
		samples[slot.nr_samples++] = victim_in(i, harmed && i >= spared);
	samples[slot.nr_samples++] = quiet;
	for (uint32_t i = 0; harmed && i < domains; i++)
		samples[slot.nr_samples++] = streamer_in(i);
	for (uint32_t i = 0; harmed && i < others; i++)
		samples[slot.nr_samples++] = other(i);
	ck_assert_int_ge(cmt_culprit_add(culprit, &slot), 0);
	now += MS;
}

static void run_for(uint32_t ms, bool harmed)
{
	while (ms--)
		slot_of(harmed);
}

/* The next event; NULL: there is none */
static const struct cmt_incident *event(void)
{
	const struct cmt_incident *incident = NULL;

	cmt_culprit_next_incident(culprit, &incident);
	return incident;
}

static double lost_s(const struct cmt_incident *incident)
{
	return (double)incident->lost_ns / 1e9;
}

/* Harm that was there in the first slot is one incident, told once. */
START_TEST(since_before)
{
	const struct cmt_incident *in;

	run_for(900, true);
	ck_assert_ptr_null(event());
	run_for(9100, true);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->number, 1);
	ck_assert_uint_eq(in->id, VICTIM);
	ck_assert_uint_eq(in->flags, CMT_INCIDENT_OPEN | CMT_INCIDENT_BEFORE | CMT_INCIDENT_LOST);
	ck_assert_uint_eq(in->begin_ns, BEGUN);
	ck_assert_uint_eq(in->parts[0].by, STREAMER);
	ck_assert_double_gt(in->share, 0.2);
	ck_assert(in->low <= in->share && in->share <= in->high);
	ck_assert_double_eq_tol(in->cpi, 0.8, 0.01);
	ck_assert_double_eq_tol(in->mpki, 3, 0.05);
	ck_assert_ptr_null(event());
	in = cmt_culprit_incident_at(culprit, 0);
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->number, 1);
	ck_assert_ptr_null(cmt_culprit_incident_at(culprit, 1));
	/* the victim has one CPU: it lost its share of each second */
	ck_assert_double_eq_tol(lost_s(in), 10 * in->share, 0.05 * 10 * in->share);
	ck_assert_uint_eq(in->end_ns, now);
}
END_TEST

START_TEST(begins_and_ends)
{
	const struct cmt_incident *in;
	uint64_t begun, ended;

	run_for(5000, false);
	ck_assert_ptr_null(event());
	begun = now;
	run_for(4000, true);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->flags & (CMT_INCIDENT_OPEN | CMT_INCIDENT_BEFORE),
			  CMT_INCIDENT_OPEN);
	ck_assert(in->begin_ns >= begun && in->begin_ns < begun + 1000 * MS);
	ended = now;
	run_for(8000, false);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->number, 1);
	ck_assert_uint_eq(in->flags & CMT_INCIDENT_OPEN, 0);
	ck_assert(in->end_ns >= ended && in->end_ns < ended + 4000 * MS);
	ck_assert_double_eq_tol(in->share, 0, 1e-9);
	ck_assert_double_gt(in->worst, 0.2);
	ck_assert_uint_eq(in->parts[0].by, STREAMER);
	ck_assert_double_gt(lost_s(in), 4 * 0.2);
	ck_assert_double_lt(lost_s(in), 4 * 0.5);
	ck_assert_ptr_null(event());
	ck_assert_ptr_null(cmt_culprit_incident_at(culprit, 0));
}
END_TEST

/* A neighbour that pauses for less than a second goes on with its incident. */
START_TEST(a_pause_is_no_end)
{
	run_for(3000, true);
	ck_assert_ptr_nonnull(event());
	for (uint32_t i = 0; i < 5; i++) {
		run_for(600, false);
		run_for(1500, true);
	}
	ck_assert_ptr_null(event());
	ck_assert_uint_eq(cmt_culprit_incident_at(culprit, 0)->number, 1);
}
END_TEST

/* The share of the victim by which it is told, while its harm rises from nothing over @ms */
static double told_in_rise(uint32_t ms)
{
	const struct cmt_incident *in = NULL;

	for (uint32_t i = 0; i < ms && !in; i++) {
		harm = (double)i / ms;
		slot_of(true);
		in = event();
	}
	ck_assert_ptr_nonnull(in);
	return in->share;
}

/* What rises is told with what it rises in a second, as a mean of a second is late. */
START_TEST(rises_slowly)
{
	double share = told_in_rise(20000);

	ck_assert_double_ge(share, CMT_INCIDENT_END);
	ck_assert_double_lt(share, CMT_INCIDENT_BEGIN - 0.005);
}
END_TEST

/* Two recordings of the same time, which begin at different ones, have the same incident. */
START_TEST(same_in_another_recording)
{
	uint64_t begins[4], ends[4];

	for (uint32_t i = 0; i < 4; i++) {
		const struct cmt_incident *in = NULL;

		teardown();
		setup();
		now += 83 * i * MS;
		run_for(5000 - 83 * i, false);
		for (uint32_t ms = 0; ms < 20000; ms++) {
			harm = ms / 20000.0;
			slot_of(true);
			in = in ? in : event();
		}
		ck_assert_ptr_nonnull(in);
		begins[i] = in->begin_ns;
		run_for(8000, false);
		in = event();
		ck_assert_ptr_nonnull(in);
		ends[i] = in->end_ns;
	}
	for (uint32_t i = 1; i < 4; i++) {
		ck_assert_uint_eq(begins[i], begins[0]);
		ck_assert_uint_eq(ends[i], ends[0]);
	}
}
END_TEST

/* The time of a victim that nobody counts is not known: its loss is not 0. */
START_TEST(lost_is_not_known)
{
	const struct cmt_incident *in;

	ran_ns = UINT64_MAX;
	run_for(3000, true);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->flags & CMT_INCIDENT_LOST, 0);
	ck_assert_double_gt(in->share, 0.2);
	ck_assert_uint_eq(in->parts[0].by, STREAMER);
	/* estimates without the victim have no pairs of it */
	victims = 0;
	run_for(12000, true);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->flags & (CMT_INCIDENT_OPEN | CMT_INCIDENT_LOST), 0);
}
END_TEST

/* What is lost meanwhile is not in it, and a tenth of it at most. */
START_TEST(lost_is_not_known_for_a_while)
{
	const struct cmt_incident *in;
	uint64_t lost;

	run_for(8000, true);
	in = cmt_culprit_incident_at(culprit, 0);
	ck_assert(in->flags & CMT_INCIDENT_LOST);
	lost = in->lost_ns;
	ran_ns = UINT64_MAX;
	run_for(1300, true);
	ck_assert(in->flags & CMT_INCIDENT_LOST);
	ck_assert_uint_gt(in->lost_ns, lost);
	run_for(1000, true);
	ck_assert_uint_eq(in->flags & CMT_INCIDENT_LOST, 0);
	ck_assert_uint_eq(in->lost_ns + in->parts[0].lost_ns, 0);
	ran_ns = MS;
	run_for(15000, true);
	ck_assert(in->flags & CMT_INCIDENT_LOST);
	ck_assert_uint_gt(in->lost_ns, 2 * lost);
}
END_TEST

/* What the streamer costs the victim by cache; share 0: that is not known */
static struct cmt_slowdown by_cache(void)
{
	struct cmt_slowdown list[8];
	int n = cmt_culprit_slowdown(culprit, list, 8);

	for (int i = 0; i < n; i++)
		if (list[i].id == VICTIM && list[i].by == STREAMER &&
		    list[i].resource == CMT_SLOWDOWN_CACHE)
			return list[i];
	return (struct cmt_slowdown){ 0 };
}

/* No estimate is lower because references are no longer counted; soon there is none. */
START_TEST(references_stop)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };
	double before, now;

	run_for(6000, true);
	before = by_cache().share;
	ck_assert_double_gt(before, 0.2);
	unreferenced = 100;
	for (uint32_t i = 0; i < 20; i++) {
		run_for(250, true);
		now = by_cache().share;
		ck_assert(i >= 4 ? now == 0 : now == 0 || fabs(now - before) < 0.1 * before);
	}
	cmt_culprit_counts(culprit, &counts);
	ck_assert_uint_eq(counts.counted, 3);
	ck_assert_uint_eq(counts.referenced, 2);
	unreferenced = 0;
	run_for(1000, true);
	ck_assert_double_eq_tol(by_cache().share, before, 0.1 * before);
	cmt_culprit_counts(culprit, &counts);
	ck_assert_uint_eq(counts.referenced, 3);
}
END_TEST

static const struct {
	uint32_t *unknown, slots;	/* of 100 */
} stops[] = { { &unreferenced, 100 }, { &uncounted, 100 }, { &uncounted, 98 } };

/* The end of what is known is no end of what is so; that of the streamer, or the victim, is. */
START_TEST(counters_stop)
{
	const struct cmt_incident *in;

	run_for(3000, true);
	ck_assert_ptr_nonnull(event());
	*stops[_i].unknown = stops[_i].slots;
	run_for(9000, true);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->flags & (CMT_INCIDENT_OPEN | CMT_INCIDENT_UNKNOWN),
			  CMT_INCIDENT_UNKNOWN);
	*stops[_i].unknown = 0;
	run_for(2000, true);
	ck_assert_ptr_nonnull(event());
	run_for(5000, false);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->flags & (CMT_INCIDENT_OPEN | CMT_INCIDENT_UNKNOWN), 0);
}
END_TEST

static uint32_t *const rare[] = { &unreferenced, &uncounted };

/* Values that are always known in a third of the slots have not stopped. */
START_TEST(counters_are_rare)
{
	const struct cmt_incident *in;

	busy = true;
	*rare[_i] = 67;
	run_for(6000, true);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(by_cache().share > 0, _i);
	run_for(8000, false);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->flags & (CMT_INCIDENT_OPEN | CMT_INCIDENT_UNKNOWN), 0);
}
END_TEST

/* The end of waits is known without counters. */
START_TEST(waits_end)
{
	const struct cmt_incident *in;

	run_for(3000, false);
	culprit->waits.last[0] = (struct culprit_delay){
		.victim = VICTIM, .by = STREAMER, .share = 0.2, .cpus = 1,
	};
	culprit->waits.nr_last = 1;
	run_for(2000, false);
	ck_assert_ptr_nonnull(event());
	*stops[_i].unknown = stops[_i].slots;
	run_for(1000, false);
	culprit->waits.nr_last = 0;
	run_for(3000, false);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->flags & (CMT_INCIDENT_OPEN | CMT_INCIDENT_UNKNOWN), 0);
}
END_TEST

/* The share of the victim's time that the streamer cost it in the last minute; 0: none */
static double in_minute(double *cpus)
{
	struct cmt_slowdown list[8];
	int n = cmt_culprit_slowdown_minute(culprit, list, 8);
	double share = 0;

	ck_assert_int_ge(n, 0);
	for (int i = 0; i < n; i++) {
		ck_assert(list[i].low <= list[i].share && list[i].share <= list[i].high);
		if (list[i].id == VICTIM && list[i].by == STREAMER) {
			share += list[i].share;
			*cpus = list[i].cpus;
		}
	}
	return share;
}

/* Where not all fit, it is those that cost most, and what they cost is not forgotten. */
START_TEST(more_than_fit)
{
	const struct cmt_incident *in;

	others = 20;
	run_for(4000, true);
	in = cmt_culprit_incident_at(culprit, 0);
	ck_assert_ptr_nonnull(in);
	ck_assert(in->flags & CMT_INCIDENT_CLIPPED);
	ck_assert_uint_eq(in->nr_parts, CMT_INCIDENT_PARTS);
	ck_assert_uint_eq(in->parts[0].by, STREAMER);
	/* from the first estimate on */
	ck_assert_double_ge((double)in->parts[0].lost_ns, 2e9 * in->parts[0].share);
}
END_TEST

/* What the streamer costs the victim now, in its open incident */
static double in_incident(void)
{
	const struct cmt_incident *in = cmt_culprit_incident_at(culprit, 0);
	double share = 0;

	ck_assert_ptr_nonnull(in);
	for (uint32_t i = 0; i < in->nr_parts; i++)
		if (in->parts[i].by == STREAMER)
			share += in->parts[i].share;
	return share;
}

/* A third of the time is a third of the share, also after it has ended. */
START_TEST(minute)
{
	double whole, third, cpus;

	ck_assert_int_eq(cmt_culprit_slowdown_minute(culprit, NULL, 0), -EINVAL);
	ck_assert_double_eq_tol(in_minute(&cpus), 0, 1e-9);
	run_for(4000, true);
	whole = in_minute(&cpus);
	ck_assert_double_eq_tol(whole, in_incident(), 0.01);
	ck_assert_double_eq_tol(cpus, 1, 0.01);
	run_for(8000, false);
	third = in_minute(&cpus);
	ck_assert_double_gt(third, 0.29 * whole);
	ck_assert_double_lt(third, 0.5 * whole);
	ck_assert_double_eq_tol(cpus, 1, 0.01);
}
END_TEST

/*
 * What was before a gap is older, and the gap is no time without harm: at the end, 30 s with
 * harm weigh 0.104, and the 20 s without, after a gap of a minute, 0.283.
 */
START_TEST(minute_of_a_gap)
{
	double whole, cpus;

	run_for(30000, true);
	whole = in_minute(&cpus);
	ck_assert_double_gt(whole, 0.2);
	now += 60000 * MS;
	ck_assert_double_eq_tol(in_minute(&cpus), whole, 1e-9);
	run_for(20000, false);
	ck_assert_double_eq_tol(in_minute(&cpus), 0.268 * whole, 0.02 * whole);
	now += 3600000 * MS;
	run_for(2000, false);
	ck_assert_double_eq_tol(in_minute(&cpus), 0, 1e-9);
}
END_TEST

/* What costs little, or comes later, is in the minute as well. */
START_TEST(minute_of_little)
{
	const struct cmt_incident *in;
	double cpus, share;

	run_for(3000, false);
	harm = 0.15;
	run_for(15000, true);
	in = cmt_culprit_incident_at(culprit, 0);
	ck_assert_ptr_nonnull(in);
	share = in->share;
	ck_assert_double_gt(share, 0.04);
	ck_assert_double_lt(share, 0.1);
	ck_assert_double_eq_tol(in_minute(&cpus), share * 15 / 18, 0.2 * share);
}
END_TEST

/* More pairs than a minute has room for: the greatest are there, whatever their ids. */
START_TEST(minute_of_many)
{
	struct cmt_slowdown pair = { .by = STREAMER, .share = 0.01, .most = 1, .cpus = 1 };
	struct cmt_slowdown list[1024];

	for (uint32_t turn = 0; turn < 4; turn++) {
		for (uint32_t i = 0; i < 1024; i++) {
			list[i] = pair;
			list[i].id = 1 + 4 * i + turn;
		}
		culprit_minute_add(&culprit->minute, list, 1024, 250 * MS);
	}
	pair.id = 10000;
	pair.share = 0.5;
	for (uint32_t turn = 0; turn < 4; turn++)
		culprit_minute_add(&culprit->minute, &pair, 1, 250 * MS);
	ck_assert_int_eq(cmt_culprit_slowdown_minute(culprit, list, 1024), 1024);
	ck_assert_uint_eq(list[0].id, pair.id);
	ck_assert_double_eq_tol(list[0].share, 0.25, 0.01);
	for (uint32_t i = 1; i < 1024; i++)
		ck_assert_double_eq_tol(list[i].share, 0.01 / 8, 0.0002);
}
END_TEST

/* Slots that are missing are before the first estimate, too: it began with the first slot. */
START_TEST(since_before_a_gap)
{
	const struct cmt_incident *in;

	run_for(500, true);
	now += 2000 * MS;
	run_for(1000, true);
	in = event();
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(in->flags & CMT_INCIDENT_BEFORE, CMT_INCIDENT_BEFORE);
	ck_assert_uint_eq(in->begin_ns, BEGUN);
}
END_TEST

static uint32_t nr_open(void)
{
	uint32_t nr = 0;

	while (cmt_culprit_incident_at(culprit, nr))
		nr++;
	return nr;
}

/* More victims than incidents, more events than are kept. */
START_TEST(many)
{
	uint32_t events = 0;

	victims = 132;
	domains = 44;
	run_for(1300, true);
	ck_assert_uint_eq(nr_open(), 128);
	for (uint32_t i = 0; i < 128; i++) {
		const struct cmt_incident *in = cmt_culprit_incident_at(culprit, i);

		ck_assert_uint_eq(in->number, i + 1);
		ck_assert_uint_le(in->nr_parts, CMT_INCIDENT_PARTS);
	}
	while (event())
		events++;
	ck_assert_uint_eq(events, 32);
	run_for(4500, false);
	ck_assert_ptr_null(cmt_culprit_incident_at(culprit, 0));
}
END_TEST

/* The victims for which there was no room have theirs when others have ended. */
START_TEST(many_by_turns)
{
	const struct cmt_incident *in;

	victims = 132;
	domains = 44;
	run_for(1300, true);
	ck_assert_uint_eq(cmt_culprit_incident_at(culprit, 127)->id, VICTIM + 10 * 127);
	spared = 8;
	run_for(6000, true);
	ck_assert_uint_eq(nr_open(), 124);
	for (uint32_t i = 0; i < 124; i++) {
		in = cmt_culprit_incident_at(culprit, i);
		ck_assert_uint_eq(in->id, VICTIM + 10 * (spared + i));
	}
	ck_assert_uint_gt(in->begin_ns, BEGUN + 1300 * MS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("culprit_incidents");
	TCase *tcase = tcase_create("incidents");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, since_before);
	tcase_add_test(tcase, begins_and_ends);
	tcase_add_test(tcase, a_pause_is_no_end);
	tcase_add_test(tcase, rises_slowly);
	tcase_add_test(tcase, same_in_another_recording);
	tcase_add_test(tcase, lost_is_not_known);
	tcase_add_test(tcase, lost_is_not_known_for_a_while);
	tcase_add_test(tcase, references_stop);
	tcase_add_loop_test(tcase, counters_stop, 0, sizeof(stops) / sizeof(stops[0]));
	tcase_add_loop_test(tcase, counters_are_rare, 0, sizeof(rare) / sizeof(rare[0]));
	tcase_add_loop_test(tcase, waits_end, 0, sizeof(stops) / sizeof(stops[0]));
	tcase_add_test(tcase, more_than_fit);
	tcase_add_test(tcase, minute);
	tcase_add_test(tcase, minute_of_a_gap);
	tcase_add_test(tcase, minute_of_little);
	tcase_add_test(tcase, minute_of_many);
	tcase_add_test(tcase, since_before_a_gap);
	tcase_add_test(tcase, many);
	tcase_add_test(tcase, many_by_turns);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
