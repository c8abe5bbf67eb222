// SPDX-License-Identifier: GPL-2.0-or-later
/* What cmt_culprit does with its input; how good it is, main.c measures. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <cmt/culprit.h>

#include "rng.h"
#include "unit.h"

#define MS	1000000ULL
#define KIB	1024ULL
#define VICTIM	7
#define TAKER	9
#define OTHER	11
#define NEW	13

static struct cmt_culprit *culprit;
static struct cmt_culprit_sample samples[3];
static uint64_t now_ms;

static void setup(void)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };
	const uint32_t known = CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC;

	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	memset(samples, 0, sizeof(samples));
	samples[0] = (struct cmt_culprit_sample){
		.id = VICTIM, .valid = known, .occupancy_bytes = 8192 * KIB,
		.traffic_bytes = 20 * KIB,
	};
	samples[1] = samples[0];
	samples[1].id = TAKER;
	samples[1].occupancy_bytes = 1024 * KIB;
	samples[2] = samples[1];
	samples[2].id = OTHER;
	now_ms = 1000;
}

static void teardown(void)
{
	cmt_culprit_free(culprit);
}

static int add(void)
{
	const struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = now_ms++ * MS, .nr_samples = 3,
		.sample_size = sizeof(samples[0]), .samples = samples,
	};

	return cmt_culprit_add(culprit, &slot);
}

/* How many of the verdicts that wait have a suspect. */
static int accusations(void)
{
	const struct cmt_culprit_verdict *v;
	int n = 0;

	while (cmt_culprit_next(culprit, &v))
		n += v->nr_suspects > 0;
	return n;
}

/* Each of the three runs for a whole slot. */
static void add_counters(uint64_t misses, uint64_t references)
{
	for (int i = 0; i < 3; i++) {
		samples[i].valid |= CMT_CULPRIT_CYCLES | CMT_CULPRIT_INSTRUCTIONS |
				    CMT_CULPRIT_MISSES | CMT_CULPRIT_REFERENCES;
		samples[i].cycles = 3000000;
		samples[i].instructions = 1000000;
		samples[i].misses = i == 1 ? references : misses;
		samples[i].references = references;
	}
}

static void add_quiet(uint32_t ms)
{
	while (ms--)
		ck_assert_int_eq(add(), 0);
}

/* TAKER takes 512 KiB a ms from VICTIM, which fetches 300 of it again. */
static int take(void)
{
	samples[0].occupancy_bytes -= 212 * KIB;
	samples[0].traffic_bytes = 320 * KIB;
	samples[1].occupancy_bytes += 212 * KIB;
	samples[1].traffic_bytes = 532 * KIB;
	return add();
}

/* Returns the ms until there is a verdict, at most @ms; 0: there was none. */
static uint32_t take_until(uint32_t ms)
{
	for (uint32_t i = 1; i <= ms; i++) {
		int ret = take();

		ck_assert_int_ge(ret, 0);
		if (ret > 0)
			return i;
	}
	return 0;
}

START_TEST(names_who_took)
{
	const struct cmt_culprit_verdict *v;
	uint32_t after;

	add_quiet(400);
	after = take_until(20);
	ck_assert_uint_gt(after, 1);
	ck_assert_int_eq(cmt_culprit_next(culprit, &v), 1);
	ck_assert_uint_eq(v->id, VICTIM);
	ck_assert_int_eq(v->kind, CMT_CULPRIT_CACHE);
	ck_assert_uint_eq(v->nr_suspects, 1);
	ck_assert_uint_eq(v->suspects[0].id, TAKER);
	ck_assert_uint_eq(v->ts_ns, now_ms * MS);
	ck_assert_uint_le(v->since_ns, (1402 + 2) * MS);
	ck_assert_uint_ge(v->since_ns, 1398 * MS);
	ck_assert_uint_eq(v->occupancy_before, 8192 * KIB);
	ck_assert_uint_eq(v->lost_bytes, 212 * KIB * after);
	ck_assert(v->confidence > 0 && v->confidence <= 1);
	ck_assert(isnan(v->cpi) && isnan(v->cpu_share));
	ck_assert(!(v->flags & CMT_CULPRIT_COUNTED));
	ck_assert_int_eq(cmt_culprit_next(culprit, &v), 0);
	/* the cooldown */
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(take(), 0);
}
END_TEST

START_TEST(waits_for_baselines)
{
	add_quiet(100);
	ck_assert_uint_eq(take_until(20), 0);
}
END_TEST

START_TEST(one_slot_gives_no_verdict)
{
	add_quiet(400);
	samples[0].occupancy_bytes -= 4096 * KIB;
	samples[1].occupancy_bytes += 4096 * KIB;
	samples[1].traffic_bytes = 4200 * KIB;
	ck_assert_int_eq(add(), 0);
	samples[0].occupancy_bytes += 4096 * KIB;
	samples[1].occupancy_bytes -= 4096 * KIB;
	samples[1].traffic_bytes = 20 * KIB;
	add_quiet(50);
}
END_TEST

/* A steady neighbour is not named, however large. */
START_TEST(steady_is_innocent)
{
	samples[2].traffic_bytes = 20000 * KIB;
	samples[2].occupancy_bytes = 60000 * KIB;
	add_quiet(600);
}
END_TEST

/* Unknown values are not 0: neither a loss nor a gain. */
START_TEST(unknown_is_not_zero)
{
	add_quiet(400);
	for (int i = 0; i < 40; i++) {
		samples[0].valid = i % 2 ? CMT_CULPRIT_OCCUPANCY |
					   CMT_CULPRIT_TRAFFIC : 0;
		samples[0].occupancy_bytes = i % 2 ? 8192 * KIB : 0;
		samples[0].traffic_bytes = i % 2 ? 40 * KIB : 0;
		samples[0].span = i % 2 ? 2 : 0;
		samples[1].traffic_bytes = 900 * KIB;
		ck_assert_int_ge(add(), 0);
		ck_assert_int_eq(accusations(), 0);
	}
}
END_TEST

/* The owner comes back from a calm as it was. */
START_TEST(calm_is_remembered)
{
	samples[1].traffic_bytes = 0;
	add_quiet(2000);
	ck_assert_uint_gt(take_until(20), 0);
}
END_TEST

START_TEST(gaps_are_counted)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };

	add_quiet(400);
	now_ms += 10;
	add_quiet(1);
	ck_assert_int_eq(cmt_culprit_counts(culprit, &counts), 0);
	ck_assert_uint_eq(counts.missing, 10);
	ck_assert_uint_eq(counts.slots, 401);
	ck_assert_uint_eq(counts.owners, 3);
	ck_assert_uint_eq(counts.learning, 0);
	now_ms += 1000;
	add_quiet(1);
	cmt_culprit_counts(culprit, &counts);
	ck_assert_uint_eq(counts.learning, 3);
	ck_assert_uint_eq(take_until(20), 0);
}
END_TEST

/* Traffic after idle slots is of this one, whatever the span says. */
START_TEST(idle_span_is_not_spread)
{
	samples[1].valid = CMT_CULPRIT_IDLE;
	samples[1].traffic_bytes = 0;
	add_quiet(1);
	samples[1].valid = CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC;
	add_quiet(2);
	samples[1].valid = CMT_CULPRIT_IDLE;
	add_quiet(400);
	samples[1].valid = CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC;
	samples[1].span = 32;
	ck_assert_uint_gt(take_until(20), 0);
}
END_TEST

START_TEST(owners_are_forgotten)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };

	add_quiet(10);
	for (int i = 0; i < 2100; i++) {
		samples[2].id = OTHER + i % 5;
		ck_assert_int_eq(add(), 0);
	}
	samples[2].id = OTHER;
	for (int i = 0; i < 2100; i++)
		ck_assert_int_eq(add(), 0);
	ck_assert_int_eq(cmt_culprit_counts(culprit, &counts), 0);
	ck_assert_uint_eq(counts.owners, 3);
}
END_TEST

/* The first @n samples, with flags of the slot. */
static int add_some(uint32_t n, uint32_t flags)
{
	const struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = now_ms++ * MS, .nr_samples = n,
		.sample_size = sizeof(samples[0]), .samples = samples,
		.flags = flags,
	};

	return cmt_culprit_add(culprit, &slot);
}

static uint32_t nr_owners(void)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };

	ck_assert_int_eq(cmt_culprit_counts(culprit, &counts), 0);
	return counts.owners;
}

/* An owner that never held a byte has lost none, also where the unit is not told. */
START_TEST(nothing_to_lose)
{
	const struct cmt_culprit_verdict *v;

	samples[2].valid = 0;
	add_quiet(400);
	samples[2] = samples[1];
	samples[2].id = NEW;
	samples[2].occupancy_bytes = 0;
	samples[2].traffic_bytes = 600 * KIB;
	for (int i = 0; i < 20; i++)
		take();
	while (cmt_culprit_next(culprit, &v))
		ck_assert_uint_ne(v->id, NEW);
}
END_TEST

/* A victim whose traffic rises a little with that which saturates is no suspect of its own. */
START_TEST(not_its_own_suspect)
{
	const struct cmt_culprit_verdict *v;
	uint32_t n = 0;

	add_counters(1000, 4000);
	samples[0].traffic_bytes = 500 * KIB;
	samples[1].traffic_bytes = 500 * KIB;
	add_quiet(400);
	samples[0].traffic_bytes = 1000 * KIB;
	samples[0].instructions = 700000;
	samples[1].traffic_bytes = 10000 * KIB;
	for (int i = 0; i < 100; i++)
		add();
	while (cmt_culprit_next(culprit, &v)) {
		if (v->id != VICTIM || v->kind != CMT_CULPRIT_BANDWIDTH)
			continue;
		ck_assert_uint_eq(v->nr_suspects, 1);
		ck_assert_uint_eq(v->suspects[0].id, TAKER);
		ck_assert_double_eq_tol(v->suspects[0].share, 1, 1e-6);
		n++;
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

/* Born beside a neighbour that presses already: it lost nothing before it was there. */
START_TEST(not_before_its_birth)
{
	const struct cmt_culprit_verdict *v;
	uint64_t born_ns = 0, occupancy = 0;
	uint32_t n = 0;

	add_counters(10000, 40000);
	for (uint32_t t = 0; t < 5600; t++) {
		bool burst = t % 64 >= 1 && t % 64 < 5;

		if (t == 4993)
			born_ns = now_ms * MS;
		samples[0].valid = born_ns ? samples[1].valid : 0;
		samples[0].traffic_bytes = (burst ? 2000 : t < 5050 ? 6000 : 1000) * KIB;
		samples[0].instructions = burst ? 1500000 : 3000000;
		occupancy += born_ns ? samples[0].traffic_bytes - occupancy / 40 : 0;
		if (burst)
			occupancy -= occupancy < 4000 * KIB ? occupancy : 4000 * KIB;
		samples[0].occupancy_bytes = occupancy;
		samples[1].traffic_bytes = (burst ? 40000 : 10) * KIB;
		samples[1].occupancy_bytes = (burst ? 30000 : 1000) * KIB;
		ck_assert_int_ge(add(), 0);
	}
	while (cmt_culprit_next(culprit, &v)) {
		if (v->id != VICTIM)
			continue;
		ck_assert_uint_ge(v->since_ns, born_ns);
		n++;
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

/* Who is left out is idle, and not forgotten: what it held is still known of it. */
START_TEST(part_of_a_slot)
{
	const uint32_t idle = CMT_CULPRIT_SLOT_PART | CMT_CULPRIT_SLOT_IDLE;
	uint64_t kib = samples[1].occupancy_bytes;

	add_quiet(400);
	for (int i = 0; i < 2500; i++)
		ck_assert_int_eq(add_some(1, idle), 0);
	ck_assert_uint_eq(nr_owners(), 3);
	ck_assert_uint_gt(take_until(20), 1);
	ck_assert_int_eq(accusations(), 1);
	samples[0].traffic_bytes = 20 * KIB;
	samples[1].occupancy_bytes = kib;
	samples[1].traffic_bytes = 20 * KIB;
	for (int i = 0; i < 1900; i++)
		ck_assert_int_ge(add_some(1, 0), 0);
	ck_assert_uint_eq(nr_owners(), 3);
	for (int i = 0; i < 200; i++)
		ck_assert_int_ge(add_some(1, 0), 0);
	ck_assert_uint_eq(nr_owners(), 1);
}
END_TEST

/* The engine that is told of each that is idle says the same. */
START_TEST(left_out_as_if_told)
{
	const uint32_t idle = CMT_CULPRIT_SLOT_PART | CMT_CULPRIT_SLOT_IDLE;
	struct cmt_culprit *engines[2] = { culprit, NULL };
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };
	struct cmt_slowdown slower[2];

	ck_assert_int_eq(cmt_culprit_new(&engines[1], &opts), 0);
	add_counters(10000, 20000);
	for (int i = 0; i < 1000; i++) {
		bool read = i % 7 == 0;

		samples[2].occupancy_bytes = (1024 + i) * KIB;
		samples[2].valid = CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC;
		/* a little that is lost, so that there is something to compare */
		samples[0].occupancy_bytes = (8192 - i % 100) * KIB;
		if (!read)
			samples[2].valid = CMT_CULPRIT_IDLE;
		culprit = engines[0];
		ck_assert_int_ge(add_some(3, 0), 0);
		now_ms--;
		culprit = engines[1];
		ck_assert_int_ge(add_some(read ? 3 : 2, read ? 0 : idle), 0);
	}
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(cmt_culprit_slowdown(engines[i], &slower[i], 1), 1);
	ck_assert_uint_eq(slower[0].id, slower[1].id);
	ck_assert_uint_eq(slower[0].by, slower[1].by);
	ck_assert_double_eq_tol(slower[0].share, slower[1].share, 1e-9);
	cmt_culprit_free(engines[1]);
	culprit = engines[0];
}
END_TEST

/* Its last sample says that it is not idle where it is left out, but soon forgotten. */
START_TEST(no_rest)
{
	const uint32_t idle = CMT_CULPRIT_SLOT_PART | CMT_CULPRIT_SLOT_IDLE;

	samples[2].flags = CMT_CULPRIT_NO_REST;
	samples[2].valid = 0;
	add_quiet(400);
	for (int i = 0; i < 1900; i++)
		ck_assert_int_eq(add_some(2, idle), 0);
	ck_assert_int_eq(add_some(2, 0), 0);
	ck_assert_uint_eq(nr_owners(), 3);
	for (int i = 0; i < 200; i++)
		ck_assert_int_eq(add_some(2, idle), 0);
	ck_assert_int_eq(add_some(2, 0), 0);
	ck_assert_uint_eq(nr_owners(), 2);
}
END_TEST

START_TEST(memory_is_bounded)
{
	const struct cmt_culprit_opts opts = {
		.sz = sizeof(opts), .max_owners = 2,
	};
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };

	cmt_culprit_free(culprit);
	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	add_quiet(5);
	cmt_culprit_counts(culprit, &counts);
	ck_assert_uint_eq(counts.owners, 2);
	ck_assert_uint_eq(counts.not_followed, 5);
}
END_TEST

START_TEST(domains_are_apart)
{
	samples[1].domain = 1;
	add_quiet(400);
	for (int i = 0; i < 30; i++) {
		ck_assert_int_ge(take(), 0);
		ck_assert_int_eq(accusations(), 0);
	}
}
END_TEST

/* VICTIM was throttled until now, and has a verdict. */
static void throttle(void)
{
	const struct cmt_culprit_cpu cpu = {
		.sz = sizeof(cpu), .id = VICTIM, .start_ns = 1000 * MS,
		.end_ns = 1400 * MS, .throttled_ns = 200 * MS,
		.stolen_ns = 300 * MS, .valid = CMT_CULPRIT_CPU_THROTTLED,
	};
	const struct cmt_culprit_verdict *v;

	ck_assert_int_eq(cmt_culprit_add_cpu(culprit, &cpu), 1);
	ck_assert_int_eq(cmt_culprit_next(culprit, &v), 1);
	ck_assert_int_eq(v->kind, CMT_CULPRIT_THROTTLED);
	ck_assert_uint_eq(v->nr_suspects, 0);
	ck_assert_double_eq_tol(v->cpu_share, 0.5, 1e-9);
}

START_TEST(quota_is_no_theft)
{
	add_quiet(400);
	throttle();
	for (int i = 0; i < 20; i++) {
		ck_assert_int_ge(take(), 0);
		ck_assert_int_eq(accusations(), 0);
	}
}
END_TEST

/* A pause makes no instruction slower: with counters the loss is one. */
START_TEST(theft_beside_a_quota)
{
	const struct cmt_culprit_verdict *v;

	add_counters(1000, 20000);
	add_quiet(400);
	throttle();
	samples[0].instructions = 500000;
	samples[0].misses = 10000;
	ck_assert_uint_gt(take_until(20), 1);
	ck_assert_int_eq(cmt_culprit_next(culprit, &v), 1);
	ck_assert_uint_eq(v->id, VICTIM);
	ck_assert_uint_eq(v->suspects[0].id, TAKER);
	ck_assert(v->flags & CMT_CULPRIT_COUNTED);
}
END_TEST

/* Nothing changes: VICTIM and OTHER hit half of the time, and TAKER never. */
START_TEST(slower_from_the_start)
{
	struct cmt_slowdown list[8];
	int nr;

	add_counters(10000, 20000);
	samples[0].occupancy_bytes = samples[2].occupancy_bytes = 4096 * KIB;
	samples[1].occupancy_bytes = 8192 * KIB;
	add_quiet(2000);
	nr = cmt_culprit_slowdown(culprit, list, 8);
	ck_assert_int_ge(nr, 2);
	ck_assert_uint_eq(list[0].by, TAKER);
	ck_assert_uint_eq(list[1].by, TAKER);
	ck_assert_uint_ne(list[0].id, list[1].id);
	ck_assert_int_eq(list[0].resource, CMT_SLOWDOWN_CACHE);
	for (int i = 0; i < nr; i++) {
		ck_assert(list[i].id != TAKER || list[i].share < 0.01);
		ck_assert_uint_ne(list[i].id, list[i].by);
	}
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 1), 1);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 0), -EINVAL);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 1025), -EINVAL);
}
END_TEST

/* What cannot be told without references is not guessed. */
START_TEST(slower_without_references)
{
	struct cmt_slowdown list[8];

	add_counters(10000, 20000);
	for (int i = 0; i < 3; i++) {
		samples[i].valid &= ~(uint32_t)CMT_CULPRIT_REFERENCES;
		samples[i].references = 0;
	}
	add_quiet(2000);
	ck_assert_int_eq(cmt_culprit_slowdown(culprit, list, 8), 0);
}
END_TEST

static struct cmt_culprit_sample any_sample(struct rng *rng)
{
	struct cmt_culprit_sample s = {
		.id = rng_below(rng, 40), .domain = rng_below(rng, 3),
		.valid = rng_below(rng, 128), .span = rng_below(rng, 40),
		.flags = rng_below(rng, 2),
	};
	uint64_t most = rng_below(rng, 20) ? 1 << 22 : 1ULL << 50;

	s.occupancy_bytes = rng_next(rng) % most;
	s.traffic_bytes = rng_below(rng, 3) ? rng_next(rng) % most : 0;
	s.cycles = rng_next(rng) % most;
	s.instructions = rng_below(rng, 3) ? rng_next(rng) % most : 0;
	s.misses = rng_next(rng) % most;
	s.references = rng_next(rng) % most;
	return s;
}

/* Without what is there where no value is. */
static struct cmt_culprit_sample valid_part(struct cmt_culprit_sample s)
{
	const struct {
		uint32_t flag;
		uint64_t *value;
	} values[] = {
		{ CMT_CULPRIT_OCCUPANCY, &s.occupancy_bytes },
		{ CMT_CULPRIT_TRAFFIC, &s.traffic_bytes },
		{ CMT_CULPRIT_CYCLES, &s.cycles },
		{ CMT_CULPRIT_INSTRUCTIONS, &s.instructions },
		{ CMT_CULPRIT_MISSES, &s.misses },
		{ CMT_CULPRIT_REFERENCES, &s.references },
		{ CMT_CULPRIT_RAN, &s.ran_ns },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (!(s.valid & values[i].flag))
			*values[i].value = 0;
	return s;
}

/* What is not valid is not read: an engine says the same whether anything is there or not. */
START_TEST(invalid_is_not_read)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };
	struct cmt_slowdown list[2][64];
	struct cmt_culprit *other;
	struct rng rng = { 7 };
	int nr;

	ck_assert_int_eq(cmt_culprit_new(&other, &opts), 0);
	add_counters(10000, 20000);
	for (int i = 0; i < 4000; i++) {
		const struct cmt_culprit_verdict *v, *w;
		struct cmt_culprit_sample all[3], part[3];
		struct cmt_culprit_slot slot = {
			.sz = sizeof(slot), .start_ns = (uint64_t)(1000 + i) * MS,
			.nr_samples = 3, .sample_size = sizeof(all[0]), .samples = all,
		};
		int ret;

		/* in the last second VICTIM has lost half of what it held */
		if (i == 3000) {
			samples[0].occupancy_bytes /= 2;
			samples[0].traffic_bytes *= 10;
		}
		for (int k = 0; k < 3; k++) {
			all[k] = samples[k];
			all[k].valid &= rng_below(&rng, 4) ? ~0U : (uint32_t)rng_next(&rng);
			part[k] = valid_part(all[k]);
		}
		ret = cmt_culprit_add(culprit, &slot);
		slot.samples = part;
		ck_assert_int_eq(cmt_culprit_add(other, &slot), ret);
		while (cmt_culprit_next(culprit, &v)) {
			ck_assert_int_eq(cmt_culprit_next(other, &w), 1);
			ck_assert(!memcmp(v, w, sizeof(*v)));
		}
	}
	nr = cmt_culprit_slowdown(culprit, list[0], 64);
	ck_assert_int_gt(nr, 0);
	ck_assert_int_eq(cmt_culprit_slowdown(other, list[1], 64), nr);
	ck_assert(!memcmp(list[0], list[1], (size_t)nr * sizeof(list[0][0])));
	cmt_culprit_free(other);
}
END_TEST

static void check_verdicts(void)
{
	const struct cmt_culprit_verdict *v;

	while (cmt_culprit_next(culprit, &v)) {
		ck_assert_uint_le(v->nr_suspects, CMT_CULPRIT_SUSPECTS);
		ck_assert(isnan(v->confidence) || (v->confidence > 0 &&
						   v->confidence <= 1));
		for (uint32_t i = 0; i < v->nr_suspects; i++) {
			ck_assert(v->suspects[i].share >= 0 &&
				  v->suspects[i].share <= 1.001);
			ck_assert_uint_ne(v->suspects[i].id, v->id);
		}
	}
}

/* Owners come and go, ids twice in a slot, unknown values, gaps, room for few. */
START_TEST(survives_anything)
{
	const struct cmt_culprit_opts opts = {
		.sz = sizeof(opts), .max_owners = 48, .peak_bytes = 1000000000,
		.unit_bytes = 65536,
	};
	struct cmt_culprit_sample any[40];
	struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .sample_size = sizeof(any[0]), .samples = any,
		.start_ns = MS,
	};
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };
	struct cmt_slowdown list[8];
	struct rng rng = { 1 };

	cmt_culprit_free(culprit);
	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	for (int i = 0; i < 30000; i++) {
		slot.nr_samples = rng_below(&rng, 41);
		for (uint32_t k = 0; k < slot.nr_samples; k++)
			any[k] = any_sample(&rng);
		ck_assert_int_ge(cmt_culprit_add(culprit, &slot), 0);
		check_verdicts();
		slot.start_ns += MS * (rng_below(&rng, 50) ? 1 :
				       rng_below(&rng, 100) + 1);
	}
	ck_assert_int_gt(cmt_culprit_slowdown(culprit, list, 8), 0);
	ck_assert_int_eq(cmt_culprit_counts(culprit, &counts), 0);
	ck_assert_uint_gt(counts.verdicts, 0);
	ck_assert_uint_gt(counts.not_followed, 0);
}
END_TEST

static void bad_slot(struct cmt_culprit_slot slot)
{
	ck_assert_int_eq(cmt_culprit_add(culprit, &slot), -EINVAL);
}

START_TEST(bad_input)
{
	struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = 2000 * MS, .nr_samples = 1,
		.sample_size = sizeof(samples[0]), .samples = samples,
	};
	struct cmt_culprit_opts opts = { .sz = sizeof(opts), .slot_ns = 5 };
	struct cmt_culprit *other = NULL;

	ck_assert_int_eq(cmt_culprit_new(&other, &opts), -EINVAL);
	opts.slot_ns = 0;
	opts.reserved[1] = 1;
	ck_assert_int_eq(cmt_culprit_new(&other, &opts), -EINVAL);
	ck_assert_ptr_null(other);
	ck_assert_int_eq(cmt_culprit_add(culprit, &slot), 0);
	bad_slot(slot);
	slot.start_ns += MS / 2;
	bad_slot(slot);
	slot.start_ns += MS / 2;
	slot.sample_size = 8;
	bad_slot(slot);
	slot.sample_size = sizeof(samples[0]);
	slot.sz = 9;
	bad_slot(slot);
	slot.sz = sizeof(slot);
	slot.flags = CMT_CULPRIT_SLOT_IDLE;
	bad_slot(slot);
	slot.flags = 1U << 2;
	bad_slot(slot);
	slot.flags = 0;
	slot.reserved = 1;
	bad_slot(slot);
	slot.reserved = 0;
	samples[0].domain = 1000;
	bad_slot(slot);
	samples[0].domain = 0;
	samples[0].flags = 1U << 31;
	bad_slot(slot);
	samples[0].flags = 0;
	samples[0].valid |= 1U << 31;
	bad_slot(slot);
	samples[0].valid = 0;
	ck_assert_int_eq(cmt_culprit_add(culprit, &slot), 0);
	cmt_culprit_free(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("culprit");
	TCase *tcase = tcase_create("culprit");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, names_who_took);
	tcase_add_test(tcase, waits_for_baselines);
	tcase_add_test(tcase, one_slot_gives_no_verdict);
	tcase_add_test(tcase, steady_is_innocent);
	tcase_add_test(tcase, unknown_is_not_zero);
	tcase_add_test(tcase, calm_is_remembered);
	tcase_add_test(tcase, gaps_are_counted);
	tcase_add_test(tcase, idle_span_is_not_spread);
	tcase_add_test(tcase, owners_are_forgotten);
	tcase_add_test(tcase, nothing_to_lose);
	tcase_add_test(tcase, not_its_own_suspect);
	tcase_add_test(tcase, not_before_its_birth);
	tcase_add_test(tcase, part_of_a_slot);
	tcase_add_test(tcase, left_out_as_if_told);
	tcase_add_test(tcase, no_rest);
	tcase_add_test(tcase, memory_is_bounded);
	tcase_add_test(tcase, domains_are_apart);
	tcase_add_test(tcase, quota_is_no_theft);
	tcase_add_test(tcase, theft_beside_a_quota);
	tcase_add_test(tcase, slower_from_the_start);
	tcase_add_test(tcase, slower_without_references);
	tcase_add_test(tcase, invalid_is_not_read);
	tcase_add_test(tcase, survives_anything);
	tcase_add_test(tcase, bad_input);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
