// SPDX-License-Identifier: GPL-2.0-or-later
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "unit.h"

#define MS 1000000ULL
#define ALL (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

static struct aggregate *agg;
static struct frame frame;
static struct cmt_container names[8];
static unsigned int lookups, forgotten;
static bool expand;

/* Ids 10..17; 10 and 11 are two cgroups of one container; others no name. */
static const struct cmt_container *lookup(void *ctx, uint64_t id)
{
	(void)ctx;
	lookups++;
	return id >= 10 && id < 18 ? &names[id - 10] : NULL;
}

static void forget(void *ctx, uint64_t id)
{
	(void)ctx;
	(void)id;
	forgotten++;
}

static void begin(enum aggregate_by by)
{
	struct aggregate_opts opts = {
		.by = by, .nr_rmids = 64, .nr_cpus = 4, .l3_bytes = 1000,
		.lookup = lookup, .forget = forget,
	};
	unsigned int i;

	for (i = 0; i < 8; i++) {
		names[i].cgroup_id = 10 + i;
		names[i].runtime = CMT_RUNTIME_DOCKER;
		names[i].path = "/c";
		snprintf(names[i].name, sizeof(names[i].name), "c%u", i);
		snprintf(names[i].id, sizeof(names[i].id), "id%u", i ? i : 1);
	}
	lookups = forgotten = 0;
	ck_assert_int_eq(aggregate_new(&agg, &opts), 0);
}

static void end(void)
{
	aggregate_free(agg);
	agg = NULL;
}

static struct cmt_owner owner_of(uint32_t rmid, uint64_t cgroup_id)
{
	struct cmt_owner owner = {
		.rmid = rmid, .generation = 1, .kind = CMT_OWNER_PROCESS,
		.tgid = 100 + rmid, .cgroup_id = cgroup_id,
	};

	snprintf(owner.comm, sizeof(owner.comm), "p%u", rmid);
	return owner;
}

static struct cmt_owner cgroup_of(uint32_t rmid, uint64_t cgroup_id)
{
	struct cmt_owner owner = owner_of(rmid, cgroup_id);

	owner.kind = CMT_OWNER_CGROUP;
	owner.tgid = 0;
	return owner;
}

static struct cmt_owner cpu_of(uint32_t rmid, uint32_t cpu)
{
	return (struct cmt_owner){
		.rmid = rmid, .generation = 1, .kind = CMT_OWNER_CPU,
		.cpu = cpu,
	};
}

static const struct cmt_owner rest = {
	.rmid = 63, .generation = 1, .kind = CMT_OWNER_REST,
};

static struct cmt_slot_entry entry_of(const struct cmt_owner *owner,
				      uint32_t domain, uint64_t ts,
				      uint64_t occupancy, uint64_t mbm)
{
	return (struct cmt_slot_entry){
		.rmid = owner ? owner->rmid : 0,
		.generation = owner ? owner->generation : 0,
		.domain = domain, .samples = 1, .ts = ts, .flags = ALL,
		.occupancy_bytes = occupancy, .mbm_total_bytes = mbm,
		.mbm_local_bytes = mbm / 2, .owner = owner,
	};
}

static void feed(const struct cmt_slot_entry *entries, uint32_t nr)
{
	struct cmt_slot slot = { .nr_entries = nr, .entries = entries };

	aggregate_slot(agg, &slot);
}

static void feed_one(struct cmt_slot_entry entry)
{
	feed(&entry, 1);
}

static void feed_cpu(struct cmt_slot_cpu cpu)
{
	struct cmt_slot slot = { .nr_cpus = 1, .cpus = &cpu };

	aggregate_slot(agg, &slot);
}

static void choose(enum sort_key key, const char *filter, uint32_t top)
{
	const struct selection selection = {
		.key = key, .filter = filter, .top = top, .expand = expand,
	};

	rows_select(&frame, &selection);
}

static double sum_of_rows(void)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < frame.nr_rows; i++)
		if (!frame.rows[i].child)
			sum += frame.rows[i].occupancy.value;
	return sum;
}

static const struct row *close_rows(uint32_t expected)
{
	ck_assert_int_eq(aggregate_close(agg, &frame), 0);
	choose(SORT_DEFAULT, NULL, 0);
	ck_assert_uint_eq(frame.nr_rows, expected);
	return frame.rows;
}

START_TEST(test_aggregate_sums_container)
{
	struct cmt_owner a = owner_of(1, 10), b = owner_of(2, 11);
	struct cmt_owner c = owner_of(3, 12);
	struct cmt_slot_entry entries[] = {
		entry_of(&a, 0, MS, 100, 0), entry_of(&a, 1, MS, 50, 0),
		entry_of(&b, 0, MS, 10, 0), entry_of(&c, 0, MS, 500, 0),
	};
	const struct row *rows;

	begin(BY_CONTAINER);
	feed(entries, 4);
	entries[0] = entry_of(&a, 0, 2 * MS, 200, 0);
	feed(entries, 1);
	rows = close_rows(2);
	/* the last reading of each, not the mean; largest row first */
	ck_assert(rows[0].occupancy.known && !rows[0].occupancy.partial);
	ck_assert_double_eq(rows[0].occupancy.value, 500);
	ck_assert_double_eq(rows[1].occupancy.value, 260);
	ck_assert_uint_eq(rows[1].rmids, 2);
	ck_assert_uint_eq(rows[1].l3_bytes, 2000);
	ck_assert_uint_eq(frame.nr_domains, 2);
	end();
}
END_TEST

START_TEST(test_aggregate_bandwidth_over_actual_time)
{
	struct cmt_owner a = owner_of(1, 10);
	const struct row *rows;

	begin(BY_PROCESS);
	feed_one(entry_of(&a, 0, 10 * MS, 1, 1000));
	rows = close_rows(1);
	ck_assert(!rows[0].total.known);
	ck_assert_uint_eq(rows[0].why, WHY_FIRST);
	/* late by half: the interval was to be 10 ms and took 15 */
	feed_one(entry_of(&a, 0, 20 * MS, 1, 31000));
	feed_one(entry_of(&a, 0, 25 * MS, 1, 31000));
	rows = close_rows(1);
	ck_assert(rows[0].total.known && !rows[0].total.partial);
	ck_assert_double_eq(rows[0].total.value, 30000 * 1e9 / (15 * MS));
	ck_assert_double_eq(rows[0].local.value, 15000 * 1e9 / (15 * MS));
	ck_assert_uint_eq(frame.elapsed_ns, 15 * MS);
	ck_assert_uint_eq(frame.end_ns, 25 * MS);
	end();
}
END_TEST

START_TEST(test_aggregate_short_life_spreads_over_interval)
{
	struct cmt_owner a = owner_of(1, 12), b = owner_of(2, 13);
	const struct row *rows;

	begin(BY_PROCESS);
	feed_one(entry_of(&a, 0, MS, 9, 0));
	close_rows(1);
	/* b moves 1000 bytes in 1 of the 10 ms */
	feed_one(entry_of(&b, 0, 2 * MS, 5, 0));
	b.freed = true;
	feed_one(entry_of(&b, 0, 3 * MS, 5, 1000));
	feed_one(entry_of(&a, 0, 11 * MS, 9, 0));
	rows = close_rows(2);
	ck_assert_uint_eq(rows[1].rmid, 2);
	ck_assert_double_eq(rows[1].total.value, 1000 * 1e9 / (10 * MS));
	ck_assert(!rows[1].occupancy.known);
	ck_assert(rows[1].why & WHY_ENDED);
	ck_assert_uint_eq(rows[1].rmids, 0);
	/* and it is gone afterwards */
	feed_one(entry_of(&a, 0, 12 * MS, 9, 0));
	close_rows(1);
	end();
}
END_TEST

START_TEST(test_aggregate_reused_rmid_counts_once)
{
	struct cmt_owner old = owner_of(1, 12), new = owner_of(1, 13);
	const struct row *rows;

	begin(BY_DOMAIN);
	new.generation = 2;
	feed_one(entry_of(&old, 0, MS, 700, 500));
	feed_one(entry_of(&new, 0, 5 * MS, 600, 0));
	rows = close_rows(1);
	ck_assert_double_eq(rows[0].occupancy.value, 600);
	ck_assert_uint_eq(rows[0].rmids, 1);
	end();
}
END_TEST

START_TEST(test_aggregate_failed_reading_is_no_zero)
{
	struct cmt_owner a = owner_of(1, 12), b = owner_of(2, 12);
	struct cmt_slot_entry bad = { .rmid = 1, .generation = 1, .ts = MS,
				      .flags = CMT_F_ERROR, .owner = &a };
	const struct row *rows;

	begin(BY_CONTAINER);
	feed_one(bad);
	rows = close_rows(1);
	ck_assert(!rows[0].occupancy.known && !rows[0].total.known);
	ck_assert(!rows[0].occupancy.partial);
	ck_assert_uint_eq(rows[0].why, WHY_ERROR);
	/* beside a good one the sum is a lower bound */
	bad.ts = 2 * MS;
	bad.flags = CMT_F_UNAVAILABLE | CMT_F_PQR_OVERWRITTEN;
	feed_one(bad);
	feed_one(entry_of(&b, 0, 2 * MS, 40, 0));
	rows = close_rows(1);
	ck_assert(rows[0].occupancy.known && rows[0].occupancy.partial);
	ck_assert_double_eq(rows[0].occupancy.value, 40);
	ck_assert_uint_eq(rows[0].why, WHY_UNAVAILABLE | WHY_OVERWRITTEN |
			  WHY_FIRST);
	end();
}
END_TEST

START_TEST(test_aggregate_rebase_is_a_gap)
{
	struct cmt_owner a = owner_of(1, 12);
	struct cmt_slot_entry rebased = entry_of(&a, 0, 6 * MS, 1, 90000);
	const struct row *rows;

	begin(BY_PROCESS);
	rebased.flags |= CMT_F_REBASED;
	feed_one(entry_of(&a, 0, MS, 1, 1000));
	close_rows(1);
	feed_one(entry_of(&a, 0, 2 * MS, 1, 2000));
	feed_one(rebased);
	feed_one(entry_of(&a, 0, 11 * MS, 1, 93000));
	rows = close_rows(1);
	/* 1000 + 3000 bytes are known of 10 ms; the jump is nobody's guess */
	ck_assert(rows[0].total.known && rows[0].total.partial);
	ck_assert_double_eq(rows[0].total.value, 4000 * 1e9 / (10 * MS));
	ck_assert(rows[0].why & WHY_GAP);
	end();
}
END_TEST

START_TEST(test_aggregate_first_rebase_is_no_gap)
{
	struct cmt_owner a = owner_of(1, 12);
	struct cmt_slot_entry first = entry_of(&a, 0, MS, 1, 500);
	const struct row *rows;

	begin(BY_PROCESS);
	first.flags |= CMT_F_REBASED;
	feed_one(first);
	feed_one(entry_of(&a, 0, 3 * MS, 1, 2500));
	rows = close_rows(1);
	ck_assert(rows[0].total.known && !rows[0].total.partial);
	ck_assert_double_eq(rows[0].total.value, 2000 * 1e9 / (2 * MS));
	end();
}
END_TEST

START_TEST(test_aggregate_missing_reading_breaks_the_base)
{
	struct cmt_owner a = owner_of(1, 12);
	struct cmt_slot_entry hole = { .rmid = 1, .generation = 1,
				       .ts = 2 * MS, .owner = &a,
				       .flags = CMT_F_OCCUPANCY };
	const struct row *rows;

	begin(BY_PROCESS);
	feed_one(entry_of(&a, 0, MS, 1, 1000));
	feed_one(hole);
	feed_one(entry_of(&a, 0, 3 * MS, 1, 9000));
	feed_one(entry_of(&a, 0, 5 * MS, 1, 9400));
	rows = close_rows(1);
	ck_assert(rows[0].total.partial);
	ck_assert_double_eq(rows[0].total.value, 400 * 1e9 / (4 * MS));
	end();
}
END_TEST

START_TEST(test_aggregate_nobody_and_unknown)
{
	struct cmt_owner a = owner_of(1, 99);
	struct cmt_slot_entry unknown = entry_of(&a, 0, MS, 300, 0);
	struct cmt_slot_entry nobody = entry_of(NULL, 0, MS, 900, 0);
	char buf[CONTAINER_LABEL_LEN];
	struct cmt_owner b = owner_of(2, 99);
	const struct row *rows;

	begin(BY_CONTAINER);
	unknown.owner = NULL;
	feed_one(nobody);
	feed_one(unknown);
	feed_one(entry_of(&b, 0, MS, 1, 0));
	rows = close_rows(3);
	ck_assert_str_eq(container_label(buf, &rows[0]), "cgroup:99");
	ck_assert_str_eq(container_label(buf, &rows[1]), "(unknown)");
	ck_assert_str_eq(container_label(buf, &rows[2]), "(nobody)");
	ck_assert_double_eq(rows[2].occupancy.value, 900);
	ck_assert_uint_eq(rows[2].rmids, 0);
	end();
}
END_TEST

START_TEST(test_aggregate_cgroups_without_id_stay_apart)
{
	struct cmt_owner a = owner_of(1, 14), b = owner_of(2, 15);

	begin(BY_CONTAINER);
	names[4].id[0] = names[5].id[0] = '\0';
	strcpy(names[5].name, names[4].name);
	feed_one(entry_of(&a, 0, MS, 1, 0));
	feed_one(entry_of(&b, 0, MS, 1, 0));
	close_rows(2);
	end();
}
END_TEST

START_TEST(test_aggregate_cpu_deltas)
{
	struct cmt_owner a = owner_of(1, 12);
	struct cmt_slot_cpu cpu = {
		.cpu = 2, .domain = 1, .ticks = 4, .busy_ticks = 3, .rmid = 1,
		.generation = 1, .missed = 10, .busy_ns = 1000, .owner = &a,
		.interval_ns = MS, .flags = CMT_F_EMULATED,
	};
	const struct row *rows;

	begin(BY_CPU);
	aggregate_lost(agg, 2, 5);
	feed_cpu(cpu);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].missed, 0);
	ck_assert_uint_eq(rows[0].lost, 5);
	ck_assert(frame.emulated);
	cpu.missed = 17;
	cpu.busy_ns = 4000;
	cpu.flags = CMT_F_PQR_OVERWRITTEN;
	feed_cpu(cpu);
	rows = close_rows(1);
	ck_assert_uint_eq(rows[0].cpu, 2);
	ck_assert_uint_eq(rows[0].missed, 7);
	ck_assert_uint_eq(rows[0].busy_ns, 3000);
	ck_assert_uint_eq(rows[0].lost, 0);
	ck_assert_uint_eq(rows[0].ticks, 4);
	ck_assert_uint_eq(rows[0].busy_ticks, 3);
	ck_assert_uint_eq(rows[0].pid, 101);
	ck_assert_uint_eq(rows[0].why, WHY_OVERWRITTEN);
	ck_assert_uint_eq(frame.interval_ns, MS);
	ck_assert(!frame.emulated);
	close_rows(0);
	end();
}
END_TEST

START_TEST(test_aggregate_foreign_numbers_skipped)
{
	struct cmt_owner a = owner_of(64, 12);

	begin(BY_PROCESS);
	feed_one(entry_of(&a, 0, MS, 1, 0));
	feed_cpu((struct cmt_slot_cpu){ .cpu = 4, .ticks = 1 });
	close_rows(0);
	end();
}
END_TEST

START_TEST(test_aggregate_empty_interval_has_no_end)
{
	struct cmt_owner a = owner_of(1, 12);

	begin(BY_CONTAINER);
	close_rows(0);
	ck_assert_uint_eq(frame.end_ns, 0);
	feed_one(entry_of(&a, 0, MS, 1, 0));
	close_rows(1);
	ck_assert_uint_eq(frame.end_ns, MS);
	close_rows(0);
	ck_assert_uint_eq(frame.end_ns, 0);
	ck_assert_uint_eq(frame.elapsed_ns, 0);
	end();
}
END_TEST

/* Names are asked for once, and given back a minute after the last use. */
START_TEST(test_aggregate_names_bounded)
{
	struct cmt_owner a = owner_of(1, 12), b = owner_of(2, 13);
	unsigned int i;

	begin(BY_CONTAINER);
	feed_one(entry_of(&b, 0, MS, 1, 0));
	for (i = 0; i < 100; i++)
		feed_one(entry_of(&a, 0, (2 + i) * MS, 1, 0));
	close_rows(2);
	ck_assert_uint_eq(lookups, 2);
	for (i = 1; i < 40; i++) {
		feed_one(entry_of(&a, 0, i * 2000 * MS, 1, 0));
		close_rows(1);
	}
	ck_assert_uint_eq(forgotten, 1);
	ck_assert_uint_eq(lookups, 2);
	end();
}
END_TEST

/* A cgroup may be found later, and is then called by its name. */
START_TEST(test_aggregate_asks_again_for_missing_names)
{
	struct cmt_owner a = owner_of(1, 12);

	begin(BY_CONTAINER);
	names[2].path = NULL;
	feed_one(entry_of(&a, 0, MS, 1, 0));
	feed_one(entry_of(&a, 0, 2 * MS, 1, 0));
	close_rows(1);
	ck_assert_uint_eq(lookups, 1);
	feed_one(entry_of(&a, 0, 3 * MS, 1, 0));
	names[2].path = "/c";
	close_rows(1);
	ck_assert_uint_eq(lookups, 2);
	feed_one(entry_of(&a, 0, 4 * MS, 1, 0));
	close_rows(1);
	ck_assert_uint_eq(lookups, 2);
	end();
}
END_TEST

START_TEST(test_rows_select_filter_and_top)
{
	struct cmt_owner a = owner_of(1, 12), b = owner_of(2, 13);
	struct cmt_owner c = owner_of(3, 14);
	char buf[CONTAINER_LABEL_LEN];

	begin(BY_CONTAINER);
	feed_one(entry_of(NULL, 0, MS, 900, 0));
	feed_one(entry_of(&a, 0, MS, 10, 0));
	feed_one(entry_of(&b, 0, MS, 30, 0));
	feed_one(entry_of(&c, 0, MS, 20, 0));
	ck_assert_int_eq(aggregate_close(agg, &frame), 0);
	choose(SORT_NAME, NULL, 0);
	ck_assert_uint_eq(frame.nr_rows, 4);
	ck_assert_str_eq(container_label(buf, &frame.rows[0]), "docker:c2");
	choose(SORT_OCCUPANCY, NULL, 2);
	ck_assert_uint_eq(frame.nr_rows, 3);
	ck_assert_str_eq(container_label(buf, &frame.rows[0]), "docker:c3");
	ck_assert_int_eq(frame.rows[2].kind, OWNER_NOBODY);
	choose(SORT_OCCUPANCY, "c[4]", 0);
	ck_assert_uint_eq(frame.nr_rows, 1);
	ck_assert_str_eq(container_label(buf, &frame.rows[0]), "docker:c4");
	choose(SORT_OCCUPANCY, "docker:*", 0);
	ck_assert_uint_eq(frame.nr_rows, 1);
	choose(SORT_OCCUPANCY, "none", 0);
	ck_assert_uint_eq(frame.nr_rows, 0);
	end();
}
END_TEST

/* Container scope: an RMID is a container, or the rest; all rows are all. */
START_TEST(test_aggregate_containers_and_rest)
{
	struct cmt_owner a = cgroup_of(1, 12), b = cgroup_of(2, 13);
	struct cmt_slot_entry entries[] = {
		entry_of(NULL, 0, MS, 900, 0), entry_of(&a, 0, MS, 10, 0),
		entry_of(&b, 0, MS, 30, 0), entry_of(&rest, 0, MS, 500, 0),
		entry_of(&rest, 1, MS, 7, 0),
	};
	char buf[CONTAINER_LABEL_LEN];
	const struct row *rows;

	begin(BY_CONTAINER);
	feed(entries, 5);
	rows = close_rows(4);
	ck_assert_double_eq(sum_of_rows(), 1447);
	ck_assert_str_eq(container_label(buf, &rows[0]), "docker:c3");
	ck_assert_str_eq(row_kind(&rows[0]), "cgroup");
	ck_assert_uint_eq(rows[0].rmids, 1);
	ck_assert(rows[0].whole);
	ck_assert_str_eq(row_kind(&rows[2]), "rest");
	ck_assert_str_eq(container_label(buf, &rows[2]), "(no RMID)");
	ck_assert_double_eq(rows[2].occupancy.value, 507);
	frame.rows[2].waits = "containers";
	frame.rows[2].waiting = 137;
	ck_assert_str_eq(container_label(buf, &rows[2]),
			 "(no RMID: 137 containers)");
	ck_assert_str_eq(row_kind(&rows[3]), "nobody");
	ck_assert_uint_eq(lookups, 2);
	/* what is not the biggest is not shown, but what is left always */
	feed(entries, 5);
	ck_assert_int_eq(aggregate_close(agg, &frame), 0);
	choose(SORT_DEFAULT, NULL, 1);
	ck_assert_uint_eq(frame.nr_rows, 3);
	end();
}
END_TEST

/* A process with an RMID of its own is still in its container. */
START_TEST(test_aggregate_attached_process_in_container)
{
	struct cmt_owner a = cgroup_of(1, 10), b = owner_of(2, 11);
	const struct row *rows;

	begin(BY_CONTAINER);
	b.attached = true;
	feed_one(entry_of(&a, 0, MS, 100, 0));
	feed_one(entry_of(&b, 0, MS, 11, 0));
	rows = close_rows(1);
	ck_assert_double_eq(rows[0].occupancy.value, 111);
	ck_assert_uint_eq(rows[0].nr_children, 1);
	ck_assert(!rows[0].attached);
	expand = true;
	feed_one(entry_of(&a, 0, 2 * MS, 100, 0));
	feed_one(entry_of(&b, 0, 2 * MS, 11, 0));
	rows = close_rows(2);
	expand = false;
	ck_assert(rows[1].child && rows[1].attached);
	ck_assert_uint_eq(rows[1].pid, 102);
	ck_assert_double_eq(rows[1].occupancy.value, 11);
	end();
}
END_TEST

/* Children follow their row in the same order, and are neither matched nor
 * counted by themselves.
 */
START_TEST(test_aggregate_expand)
{
	static const uint32_t pids[] = { 0, 103, 0, 102, 101 };
	struct cmt_owner a = owner_of(1, 10), b = owner_of(2, 11);
	struct cmt_owner c = owner_of(3, 12);
	struct cmt_slot_entry entries[] = {
		entry_of(&a, 0, MS, 10, 0), entry_of(&a, 1, MS, 5, 0),
		entry_of(&b, 0, MS, 20, 0), entry_of(&c, 0, MS, 500, 0),
	};
	const struct row *rows;
	uint32_t i;

	begin(BY_CONTAINER);
	expand = true;
	feed(entries, 4);
	rows = close_rows(5);
	ck_assert_double_eq(sum_of_rows(), 535);
	for (i = 0; i < 5; i++) {
		ck_assert(rows[i].child == (pids[i] != 0));
		ck_assert_str_eq(row_kind(&rows[i]),
				 pids[i] ? "process" : "cgroup");
		if (pids[i])
			ck_assert_uint_eq(rows[i].pid, pids[i]);
	}
	ck_assert_double_eq(rows[4].occupancy.value, 15);
	feed(entries, 4);
	ck_assert_int_eq(aggregate_close(agg, &frame), 0);
	choose(SORT_DEFAULT, "c3", 0);
	ck_assert_uint_eq(frame.nr_rows, 0);
	feed(entries, 4);
	ck_assert_int_eq(aggregate_close(agg, &frame), 0);
	choose(SORT_OCCUPANCY, NULL, 1);
	ck_assert_uint_eq(frame.nr_rows, 2);
	expand = false;
	end();
}
END_TEST

/* A CPU is in no container, and its number is its name. */
START_TEST(test_aggregate_cpus_among_containers)
{
	struct cmt_owner a = cpu_of(1, 3), b = cpu_of(2, 0);
	struct cmt_owner c = cgroup_of(3, 12);
	char buf[CONTAINER_LABEL_LEN];
	const struct row *rows;

	begin(BY_CONTAINER);
	feed_one(entry_of(&a, 0, MS, 100, 0));
	feed_one(entry_of(&a, 1, MS, 1, 0));
	feed_one(entry_of(&b, 0, MS, 200, 0));
	feed_one(entry_of(&c, 0, MS, 50, 0));
	rows = close_rows(3);
	ck_assert_str_eq(container_label(buf, &rows[0]), "cpu:0");
	ck_assert_str_eq(container_label(buf, &rows[1]), "cpu:3");
	ck_assert_str_eq(row_kind(&rows[1]), "cpu");
	ck_assert_double_eq(rows[1].occupancy.value, 101);
	ck_assert_uint_eq(rows[0].nr_children, 0);
	ck_assert_uint_eq(lookups, 1);
	end();
}
END_TEST

/* CPU scope: a CPU's row has what its RMID holds, and others have the rest. */
START_TEST(test_aggregate_cpu_view_has_values)
{
	struct cmt_owner a = cpu_of(1, 0), b = cpu_of(2, 1);
	struct cmt_owner p = owner_of(3, 12);
	const struct row *rows;

	begin(BY_CPU);
	feed_cpu((struct cmt_slot_cpu){ .cpu = 0, .ticks = 1, .rmid = 1,
					.generation = 1, .owner = &a });
	feed_cpu((struct cmt_slot_cpu){ .cpu = 1, .ticks = 1, .rmid = 3,
					.generation = 1, .owner = &p });
	feed_one(entry_of(NULL, 0, MS, 5, 0));
	feed_one(entry_of(&a, 0, MS, 100, 0));
	feed_one(entry_of(&a, 1, MS, 20, 0));
	feed_one(entry_of(&b, 0, MS, 1000, 0));
	feed_one(entry_of(&p, 0, MS, 300, 0));
	feed_one(entry_of(&rest, 0, MS, 7, 0));
	rows = close_rows(5);
	ck_assert_double_eq(sum_of_rows(), 1432);
	ck_assert(rows[0].is_cpu && rows[1].is_cpu && !rows[2].is_cpu);
	ck_assert_double_eq(rows[0].occupancy.value, 120);
	ck_assert_str_eq(row_kind(&rows[0]), "cpu");
	ck_assert_double_eq(rows[1].occupancy.value, 1000);
	ck_assert_str_eq(row_kind(&rows[1]), "process");
	ck_assert_uint_eq(rows[2].pid, 103);
	ck_assert_int_eq(rows[3].kind, OWNER_REST);
	ck_assert_int_eq(rows[4].kind, OWNER_NOBODY);
	end();
}
END_TEST

/* Where no CPU has an RMID, the rows are CPUs alone, and hold nothing. */
START_TEST(test_aggregate_cpu_view_of_processes)
{
	struct cmt_owner p = owner_of(3, 12);
	const struct row *rows;

	begin(BY_CPU);
	feed_cpu((struct cmt_slot_cpu){ .cpu = 1, .ticks = 1, .rmid = 63,
					.generation = 1, .owner = &rest });
	feed_one(entry_of(&p, 0, MS, 300, 0));
	rows = close_rows(1);
	ck_assert(!rows[0].occupancy.known);
	ck_assert_str_eq(row_kind(&rows[0]), "rest");
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate");
	TCase *tc = tcase_create("aggregate");

	tcase_add_test(tc, test_aggregate_sums_container);
	tcase_add_test(tc, test_aggregate_containers_and_rest);
	tcase_add_test(tc, test_aggregate_attached_process_in_container);
	tcase_add_test(tc, test_aggregate_expand);
	tcase_add_test(tc, test_aggregate_cpus_among_containers);
	tcase_add_test(tc, test_aggregate_cpu_view_has_values);
	tcase_add_test(tc, test_aggregate_cpu_view_of_processes);
	tcase_add_test(tc, test_aggregate_bandwidth_over_actual_time);
	tcase_add_test(tc, test_aggregate_short_life_spreads_over_interval);
	tcase_add_test(tc, test_aggregate_reused_rmid_counts_once);
	tcase_add_test(tc, test_aggregate_failed_reading_is_no_zero);
	tcase_add_test(tc, test_aggregate_rebase_is_a_gap);
	tcase_add_test(tc, test_aggregate_first_rebase_is_no_gap);
	tcase_add_test(tc, test_aggregate_missing_reading_breaks_the_base);
	tcase_add_test(tc, test_aggregate_nobody_and_unknown);
	tcase_add_test(tc, test_aggregate_cgroups_without_id_stay_apart);
	tcase_add_test(tc, test_aggregate_cpu_deltas);
	tcase_add_test(tc, test_aggregate_foreign_numbers_skipped);
	tcase_add_test(tc, test_aggregate_empty_interval_has_no_end);
	tcase_add_test(tc, test_aggregate_names_bounded);
	tcase_add_test(tc, test_aggregate_asks_again_for_missing_names);
	tcase_add_test(tc, test_rows_select_filter_and_top);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
