// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CMT_USAGE_BRIEF leaves rows and parts out, and nothing else: two usages take the same records,
 * made up at random but for a seed, and are compared frame by frame; and so are the
 * engines that follow them.  And a long frame is compared with the short ones in it.
 */
#include <check.h>
#include <cmt/cmt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "usage/state.h"

#define MS	1000000ULL
#define RMIDS	48U
#define CPUS	3U
#define GROUPS	20U	/* cgroups */
#define END	400	/* ms */
#define VALUES	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define COUNTED	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES)

/* What happens, in so many of 1,000 cases. */
struct rates {
	uint32_t runs;		/* an owner in a millisecond */
	uint32_t changes;	/* some owner ends, comes or is called otherwise */
	uint32_t untold;	/* values are not available */
	uint32_t unticked;	/* a CPU has no tick */
	uint32_t lost;		/* records of a CPU are */
	bool counted;
	bool unread;		/* the machine has no L3 monitoring */
};

static const struct rates all_rates[] = {
	{ .runs = 100 },
	{ .runs = 100, .counted = true },
	{ .runs = 300, .changes = 100, .counted = true },
	{ .runs = 30, .changes = 20, .untold = 10, .counted = true },
	{ .runs = 100, .changes = 20, .unticked = 20, .lost = 5 },
	{ .runs = 50, .changes = 5, .unticked = 20, .lost = 5, .counted = true },
	{ .runs = 100, .changes = 100, .counted = true, .unread = true },
	{ .runs = 50, .changes = 5, .unticked = 20, .lost = 5, .counted = true, .unread = true },
};

struct owner {
	bool there;
	uint32_t generation;
	uint64_t cgroup_id;
	uint64_t moved[CPUS], held[CPUS];	/* by domain, one for each CPU */
};

static struct cmt_usage *usage[2];	/* all rows, brief */
static struct cmt_culprit *culprit[2];
static struct owner owners[RMIDS];
static uint64_t seed;
static bool unread;
static uint32_t nr_brief, nr_left_out, nr_parts_left_out, nr_verdicts;

static uint32_t chance(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % below;
}

static void add(struct cmt_record record)
{
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(cmt_usage_add(usage[i], &record), 0);
}

static void begin(struct cmt_usage_opts opts)
{
	const struct cmt_culprit_opts engine = { .sz = sizeof(engine) };

	opts.sz = sizeof(opts);
	opts.nr_rmids = RMIDS;
	opts.nr_cpus = CPUS;
	opts.interval_ns = opts.interval_ns ? opts.interval_ns : MS;
	memset(owners, 0, sizeof(owners));
	nr_brief = nr_left_out = nr_parts_left_out = nr_verdicts = 0;
	for (int i = 0; i < 2; i++) {
		opts.flags |= i ? CMT_USAGE_BRIEF : 0;
		ck_assert_int_eq(cmt_usage_new(&usage[i], &opts), 0);
		usage[i]->unread = unread;	/* as of a device without values */
		ck_assert_int_eq(cmt_culprit_new(&culprit[i], &engine), 0);
	}
}

static void end(void)
{
	for (int i = 0; i < 2; i++) {
		cmt_usage_free(usage[i]);
		cmt_culprit_free(culprit[i]);
	}
}

static void lifecycle(uint16_t type, uint64_t ts, uint32_t rmid)
{
	struct cmt_record record = {
		.ts = ts, .type = type, .rmid = rmid,
		.generation = owners[rmid].generation, .tgid = 1000 + rmid,
	};

	/* the last one is in no cgroup */
	if (rmid == RMIDS - 1)
		record.flags = CMT_F_OWNER_OVERFLOW;
	else
		record.owner.cgroup_id = owners[rmid].cgroup_id;
	add(record);
}

static void change(uint64_t ts, uint32_t rmid)
{
	struct owner *owner = &owners[rmid];

	if (owner->there && chance(2)) {
		owner->cgroup_id = 1 + chance(GROUPS);
		lifecycle(CMT_REC_UPDATE, ts, rmid);
	} else if (owner->there) {
		lifecycle(CMT_REC_FREE, ts, rmid);
		owner->there = false;
	} else {
		*owner = (struct owner){
			.there = true, .generation = owner->generation + 1,
			.cgroup_id = 1 + chance(GROUPS),
		};
		lifecycle(CMT_REC_ALLOC, ts, rmid);
	}
}

static void read_at(const struct rates *rates, uint64_t ts, uint32_t rmid,
		    uint16_t cpu, bool runs)
{
	uint32_t domain = cpu;
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_SAMPLE, .flags = VALUES,
		.cpu = cpu, .domain = domain, .rmid = rmid,
		.generation = owners[rmid].generation,
	};

	if (runs)
		/* no two are alike: lists of the greatest keep who came first */
		owners[rmid].moved[domain] += chance(1200000);
	if (chance(1000) < rates->untold) {
		/* all values, or the traffic alone */
		record.flags = CMT_F_UNAVAILABLE | (chance(2) ? CMT_F_OCCUPANCY : 0);
		record.sample.occupancy_bytes = owners[rmid].held[domain];
		add(record);
		return;
	}
	if (runs)
		owners[rmid].held[domain] = 65536 * rmid + chance(1000000);
	record.sample.occupancy_bytes = owners[rmid].held[domain];
	record.sample.mbm_total_bytes = owners[rmid].moved[domain];
	record.sample.mbm_local_bytes = owners[rmid].moved[domain] / 2;
	add(record);
}

static void ran(uint64_t ts, uint32_t rmid, uint16_t cpu)
{
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_PERF, .flags = COUNTED, .cpu = cpu,
		.domain = cpu, .rmid = rmid,
		.generation = owners[rmid].generation,
	};

	record.ran_ns = 90000;
	record.perf.instructions = 100000 + chance(1000);
	record.perf.cycles = 100000 * (1 + chance(3));
	record.perf.llc_misses = chance(1000);
	add(record);
}

static void cpu_ms(const struct rates *rates, uint64_t ms, uint16_t cpu)
{
	uint64_t ts = ms * MS + 10000 * cpu;
	struct cmt_record tick = {
		.ts = ts + 900, .type = CMT_REC_TICK, .cpu = cpu,
		.domain = cpu, .interval_ns = MS,
	};

	if (chance(1000) < rates->unticked)
		return;
	for (uint32_t rmid = cpu; rmid < RMIDS; rmid += CPUS) {
		bool runs = chance(1000) < rates->runs;

		if (rmid && !owners[rmid].there)
			continue;
		if (runs && rates->counted)
			ran(ts + rmid, rmid, cpu);
		/* some that ran are not read, as past the budget of a tick */
		if (unread)
			continue;
		if ((runs && chance(20)) || (rmid + ms) % 32 == 0 || !rmid)
			read_at(rates, ts + rmid, rmid, cpu, runs);
	}
	add(tick);
}

static void one_ms(const struct rates *rates, uint64_t ms)
{
	struct cmt_record lost = {
		.ts = ms * MS, .type = CMT_REC_LOST,
		.cpu = (uint16_t)chance(CPUS),
	};

	if (chance(1000) < rates->changes)
		change(ms * MS - 300000, 1 + chance(RMIDS - 1));
	if (chance(1000) < rates->lost) {
		memcpy(lost.payload, (uint64_t[]){ 1, ms * MS, ms * MS + 500 },
		       24);
		add(lost);
	}
	for (uint16_t cpu = 0; cpu < CPUS; cpu++)
		cpu_ms(rates, ms, cpu);
}

static const struct cmt_usage_row *find(const struct cmt_usage_frame *frame,
					const struct cmt_usage_row *like)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		if (cmt_culprit_id(frame, row) == cmt_culprit_id(frame, like))
			return row;
	}
	return NULL;
}

/* NANs, too. */
static bool same_rate(const struct cmt_usage_rate *a,
		      const struct cmt_usage_rate *b)
{
	return a->known == b->known && a->partial == b->partial &&
	       a->why == b->why && a->bytes == b->bytes &&
	       !memcmp(&a->rate, &b->rate, sizeof(a->rate)) &&
	       !memcmp(&a->lo, &b->lo, sizeof(a->lo)) &&
	       !memcmp(&a->hi, &b->hi, sizeof(a->hi));
}

static void same_row(const struct cmt_usage_row *a, const struct cmt_usage_row *b)
{
	ck_assert(a->kind == b->kind && a->flags == b->flags &&
		  a->why == b->why && a->cgroup_id == b->cgroup_id &&
		  a->domain == b->domain && a->rmids == b->rmids);
	ck_assert(!memcmp(&a->occupancy, &b->occupancy, sizeof(a->occupancy)));
	ck_assert(same_rate(&a->total, &b->total));
	ck_assert(same_rate(&a->local, &b->local));
	ck_assert(!memcmp(&a->counters, &b->counters, sizeof(a->counters)));
}

/* Nothing of it is news. */
static void may_be_left_out(const struct cmt_usage_frame *frame,
			    const struct cmt_usage_row *row)
{
	ck_assert(row->occupancy.known != unread);
	ck_assert(unread || (!row->occupancy.partial && row->occupancy.age_ns));
	ck_assert(row->kind == CMT_USAGE_OWNER && !row->total.known &&
		  !row->total.bytes && !row->pending && !row->counters.ran_ns &&
		  (!row->counters.known || frame->counted_ns));
	/* why a value is not known is news in each frame */
	ck_assert(unread || !(row->why & CMT_USAGE_WHY_UNAVAILABLE));
}

/* Parts with nothing new are left out, unless that are all. */
static void same_parts(const struct cmt_usage_frame *all, const struct cmt_usage_row *row,
		       const struct cmt_usage_frame *brief, const struct cmt_usage_row *same)
{
	uint32_t k, found = 0;

	for (k = 0; k < row->nr_children; k++) {
		const struct cmt_usage_row *a = cmt_usage_child_at(all, row->first_child + k);
		const struct cmt_usage_row *b =
			cmt_usage_child_at(brief, same->first_child + found);

		if (found < same->nr_children && a->domain == b->domain) {
			same_row(a, b);
			found++;
			continue;
		}
		ck_assert(brief->brief);
		may_be_left_out(all, a);
		nr_parts_left_out++;
	}
	ck_assert_uint_eq(found, same->nr_children);
	ck_assert(!found == !row->nr_children);
}

static void same_frame(const struct cmt_usage_frame *all,
		       const struct cmt_usage_frame *brief)
{
	uint32_t found = 0;

	ck_assert(!all->brief);
	ck_assert_uint_eq(all->start_ns, brief->start_ns);
	ck_assert_uint_eq(all->nr_cpus, brief->nr_cpus);
	ck_assert_uint_eq(all->counted_ns, brief->counted_ns);
	ck_assert_uint_eq(all->nr_gaps, brief->nr_gaps);
	nr_brief += brief->brief;
	for (uint32_t i = 0; i < all->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(all, i);
		const struct cmt_usage_row *same = find(brief, row);

		if (!same) {
			ck_assert(brief->brief);
			may_be_left_out(all, row);
			nr_left_out++;
			continue;
		}
		found++;
		same_row(row, same);
		same_parts(all, row, brief, same);
	}
	ck_assert_uint_eq(found, brief->nr_rows);
}

static int cmp_verdict(const void *pa, const void *pb)
{
	const struct cmt_culprit_verdict *a = pa, *b = pb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static uint32_t verdicts_of(struct cmt_culprit *engine,
			    struct cmt_culprit_verdict all[64])
{
	const struct cmt_culprit_verdict *next;
	uint32_t n = 0;

	while (cmt_culprit_next(engine, &next) > 0)
		all[n++] = *next;
	qsort(all, n, sizeof(*all), cmp_verdict);
	return n;
}

/* Of one slot; they come as owners do. */
static void same_verdicts(void)
{
	static struct cmt_culprit_verdict all[2][64];
	uint32_t n = verdicts_of(culprit[0], all[0]);

	ck_assert_uint_eq(n, verdicts_of(culprit[1], all[1]));
	nr_verdicts += n;
	while (n--) {
		const struct cmt_culprit_verdict *a = &all[0][n], *b = &all[1][n];

		ck_assert_int_eq(cmp_verdict(a, b), 0);
		ck_assert_uint_eq(a->nr_suspects, b->nr_suspects);
		ck_assert(!a->nr_suspects ||
			  a->suspects[0].id == b->suspects[0].id);
	}
}

/* Of all owners together */
static double slower(struct cmt_culprit *engine)
{
	static struct cmt_slowdown list[1024];
	int n = cmt_culprit_slowdown(engine, list, 1024);
	double sum = 0;

	ck_assert_int_ge(n, 0);
	for (int i = 0; i < n; i++)
		sum += list[i].share;
	return sum;
}

/* But for what comes of adding in another order. */
static void same_engines(void)
{
	struct cmt_culprit_counts counts[2];
	double a = slower(culprit[0]), b = slower(culprit[1]);

	for (int i = 0; i < 2; i++) {
		counts[i].sz = sizeof(counts[i]);
		cmt_culprit_counts(culprit[i], &counts[i]);
	}
	ck_assert_uint_eq(counts[0].slots, counts[1].slots);
	ck_assert_uint_eq(counts[0].owners, counts[1].owners);
	ck_assert_uint_eq(counts[0].learning, counts[1].learning);
	ck_assert_double_eq_tol(a, b, a / 1000 + 1e-6);
}

static void drain(void)
{
	const struct cmt_usage_frame *all, *brief;

	while (cmt_usage_next(usage[0], &all) > 0) {
		ck_assert_int_eq(cmt_usage_next(usage[1], &brief), 1);
		same_frame(all, brief);
		if (all->end_ns - all->start_ns != MS)
			continue;
		ck_assert_int_ge(cmt_culprit_add_frame(culprit[0], all), 0);
		ck_assert_int_ge(cmt_culprit_add_frame(culprit[1], brief), 0);
		same_verdicts();
		if (all->start_ns / MS % 50 == 0)
			same_engines();
	}
	ck_assert_int_eq(cmt_usage_next(usage[1], &brief), 0);
}

static void run(const struct rates *rates, struct cmt_usage_opts opts)
{
	unread = rates->unread;
	begin(opts);
	for (uint32_t rmid = 1; rmid < RMIDS; rmid++)
		change(MS - 1000, rmid);
	for (uint64_t ms = 1; ms <= unit_rounds(END); ms++) {
		one_ms(rates, ms);
		drain();
	}
	ck_assert_uint_gt(nr_brief, 0);
	ck_assert_uint_gt(nr_left_out, 0);
	/* where nothing is read, a part is new in all domains or in none */
	ck_assert(!(opts.flags & CMT_USAGE_DOMAINS) || unread || nr_parts_left_out);
	end();
}

/* What a row had in the frames of one slot each. */
struct spread {
	uint64_t id;
	uint64_t least, most, total;
	uint32_t slots;
};

static struct spread spreads[RMIDS + 2];
static uint32_t nr_spreads;

static struct spread *spread_of(uint64_t id)
{
	uint32_t i = 0;

	while (i < nr_spreads && spreads[i].id != id)
		i++;
	ck_assert_uint_lt(i, RMIDS + 2);
	if (i == nr_spreads)
		spreads[nr_spreads++] = (struct spread){ .id = id };
	return &spreads[i];
}

static void spread_add(const struct cmt_usage_frame *frame)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);
		const struct cmt_usage_occupancy *o = &row->occupancy;
		struct spread *s = spread_of(cmt_culprit_id(frame, row));

		ck_assert_uint_le(o->slots, 1);
		if (o->most_bytes > s->most)
			s->most = o->most_bytes;
		if (!o->slots)
			continue;
		if (!s->slots || o->least_bytes < s->least)
			s->least = o->least_bytes;
		s->total += o->mean_bytes;
		s->slots++;
	}
}

static void same_spreads(const struct cmt_usage_frame *frame)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);
		const struct cmt_usage_occupancy *o = &row->occupancy;
		const struct spread *s = spread_of(cmt_culprit_id(frame, row));

		ck_assert_uint_eq(o->slots, s->slots);
		ck_assert_uint_eq(o->most_bytes, s->most);
		ck_assert_uint_eq(o->least_bytes, s->least);
		ck_assert_uint_eq(o->mean_bytes,
				  s->slots ? s->total / s->slots : 0);
	}
	nr_spreads = 0;
}

static void drain_spreads(void)
{
	const struct cmt_usage_frame *part, *frame;

	while (cmt_usage_next(usage[1], &frame) > 0) {
		do {
			ck_assert_int_eq(cmt_usage_next(usage[0], &part), 1);
			ck_assert_uint_le(part->end_ns, frame->end_ns);
			spread_add(part);
		} while (part->end_ns < frame->end_ns);
		same_spreads(frame);
	}
}

/* Least, most and mean of an interval are those of its slots, whatever happens in it. */
START_TEST(test_spread)
{
	struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_CONTAINER,
		.nr_rmids = RMIDS, .nr_cpus = CPUS, .interval_ns = MS,
	};

	seed = 5;
	unread = false;
	memset(owners, 0, sizeof(owners));
	ck_assert_int_eq(cmt_usage_new(&usage[0], &opts), 0);
	opts.interval_ns = 7 * MS;
	ck_assert_int_eq(cmt_usage_new(&usage[1], &opts), 0);
	for (uint32_t rmid = 1; rmid < RMIDS; rmid++)
		change(MS - 1000, rmid);
	for (uint64_t ms = 1; ms <= unit_rounds(END / 3); ms++) {
		one_ms(&all_rates[_i], ms);
		drain_spreads();
	}
	for (int i = 0; i < 2; i++)
		cmt_usage_free(usage[i]);
}
END_TEST

START_TEST(test_brief_by_container)
{
	seed = 1;
	run(&all_rates[_i], (struct cmt_usage_opts){
		.by = CMT_USAGE_BY_CONTAINER, .flags = CMT_USAGE_DOMAINS,
	});
	seed = 2;
	run(&all_rates[_i], (struct cmt_usage_opts){
		.by = CMT_USAGE_BY_CONTAINER,
	});
}
END_TEST

START_TEST(test_brief_by_process)
{
	seed = 3;
	run(&all_rates[_i], (struct cmt_usage_opts){
		.by = CMT_USAGE_BY_PROCESS,
	});
}
END_TEST

/* Several slots in an interval. */
START_TEST(test_brief_long)
{
	seed = 4;
	run(&all_rates[_i], (struct cmt_usage_opts){
		.by = CMT_USAGE_BY_CONTAINER, .interval_ns = 3 * MS,
	});
}
END_TEST

/* cmt_usage_peek() has all rows, and so has a frame of cmt_usage_next() in each second. */
START_TEST(test_brief_and_peek)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_CONTAINER, .flags = CMT_USAGE_BRIEF,
		.nr_rmids = RMIDS, .nr_cpus = CPUS, .interval_ns = 500 * MS,
	};
	const struct cmt_usage_frame *frame;
	uint32_t nr_frames = 0, nr_complete = 0;

	ck_assert_int_eq(cmt_usage_new(&usage[0], &opts), 0);
	for (uint64_t ms = 1; ms <= 3000; ms++) {
		struct cmt_record record = {
			.ts = ms * MS, .type = CMT_REC_TICK, .interval_ns = MS,
		};

		ck_assert_int_eq(cmt_usage_add(usage[0], &record), 0);
		while (cmt_usage_next(usage[0], &frame) > 0) {
			nr_complete += nr_frames && !frame->brief;
			nr_frames++;
		}
		if (ms % 500 != 250)
			continue;
		ck_assert_int_eq(cmt_usage_peek(usage[0], &frame), 0);
		ck_assert(!frame->brief);
	}
	ck_assert_uint_ge(nr_complete, 2);
	cmt_usage_free(usage[0]);
}
END_TEST

static void add_one(struct cmt_record record)
{
	ck_assert_int_eq(cmt_usage_add(usage[0], &record), 0);
}

/* The owner ends, and another one with the RMID begins and is read. */
static void replace_owner(uint64_t ts, uint32_t rmid)
{
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_FREE, .rmid = rmid,
		.generation = owners[rmid].generation, .owner.cgroup_id = 1 + rmid,
	};

	if (record.generation)
		add_one(record);
	record.ts++;
	record.type = CMT_REC_ALLOC;
	record.generation = ++owners[rmid].generation;
	add_one(record);
	add_one((struct cmt_record){
		.ts = ts + 2, .type = CMT_REC_SAMPLE, .flags = CMT_F_OCCUPANCY,
		.rmid = rmid, .generation = record.generation,
		.sample.occupancy_bytes = 4096,
	});
}

static void churn_ms(uint64_t ms)
{
	add_one((struct cmt_record){
		.ts = ms * MS, .type = CMT_REC_TICK, .interval_ns = MS,
	});
	replace_owner(ms * MS + 1000, 1 + (uint32_t)ms % (RMIDS - 1));
}

/* Where an owner ends in each ms, a sweep is of several of them, and each is gone at once. */
START_TEST(test_sweeps_while_owners_end)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .by = CMT_USAGE_BY_PROCESS, .flags = CMT_USAGE_BRIEF,
		.nr_rmids = RMIDS, .nr_cpus = CPUS, .interval_ns = MS,
	};
	const struct cmt_usage_frame *frame;
	uint64_t swept_ns = 0;
	uint32_t nr_frames = 0, nr_sweeps = 0;

	memset(owners, 0, sizeof(owners));
	ck_assert_int_eq(cmt_usage_new(&usage[0], &opts), 0);
	for (uint32_t rmid = 1; rmid < RMIDS; rmid++)
		replace_owner(MS + 4 * rmid, rmid);
	for (uint64_t ms = 2; ms <= 1000; ms++) {
		churn_ms(ms);
		nr_sweeps += usage[0]->swept_ns != swept_ns;
		ck_assert_uint_le(usage[0]->slot_end_ns - swept_ns, 30 * MS);
		swept_ns = usage[0]->swept_ns;
		while (cmt_usage_next(usage[0], &frame) > 0) {
			nr_frames++;
			/* and the one that ended in it */
			ck_assert(frame->brief || frame->nr_rows <= RMIDS);
		}
	}
	ck_assert_uint_gt(nr_frames, 900);
	ck_assert_uint_lt(nr_sweeps, nr_frames / 10);
	cmt_usage_free(usage[0]);
}
END_TEST

int main(void)
{
	int n = sizeof(all_rates) / sizeof(all_rates[0]);
	Suite *suite = suite_create("usage_brief");
	TCase *tcase = tcase_create("usage_brief");

	tcase_add_loop_test(tcase, test_brief_by_container, 0, n);
	tcase_add_loop_test(tcase, test_brief_by_process, 0, n);
	tcase_add_loop_test(tcase, test_brief_long, 0, n);
	tcase_add_loop_test(tcase, test_spread, 0, n);
	suite_add_tcase(suite, tcase);
	UNIT_CASE(suite, test_brief_and_peek);
	UNIT_CASE(suite, test_sweeps_while_owners_end);
	return unit_run(suite);
}
