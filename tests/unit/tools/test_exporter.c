// SPDX-License-Identifier: GPL-2.0-or-later
/* The series of cmt-exporter, and the pages that are made of them. */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "exporter/collect.h"
#include "exporter/expose.h"
#include "exporter/http.h"
#include "exporter/labels.h"
#include "unit.h"

#define VALUES (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define MAX_ROWS 4096

static struct cmt_usage_row rows[MAX_ROWS];
static struct cmt_container containers[MAX_ROWS];
static char paths[MAX_ROWS][64];
static struct cmt_usage_frame frame;
static struct series_set set;
static struct machine machine;
static struct fine fine;
static struct exporter_config config;
static char *page;

static void begin(uint32_t max, uint32_t window)
{
	ck_assert_int_eq(series_open(&set, max, window), 0);
	machine = (struct machine){
		.up = true, .info.events = VALUES, .pending_known = true,
	};
}

static void finish(void)
{
	series_close(&set);
	histogram_table_free(&fine.histograms);
	culprits_free(&fine.culprits);
	channels_free(&machine.channels);
	pairs_free(&machine.waits.pairs);
	free(page);
	page = NULL;
	config = (struct exporter_config){ .culprit = false };
}

static void new_frame(void)
{
	frame = (struct cmt_usage_frame){
		.end_ns = 1000000000, .row_size = sizeof(rows[0]), .rows = rows,
	};
}

/* A container that holds @held and moved @moved bytes. */
static struct cmt_usage_row *add_row(uint32_t number, uint64_t held,
				     uint64_t moved)
{
	struct cmt_usage_row *row = &rows[frame.nr_rows];
	struct cmt_container *c = &containers[frame.nr_rows];
	char *path = paths[frame.nr_rows++];

	sprintf(path, "/c%" PRIu32, number);
	*c = (struct cmt_container){
		.sz = sizeof(*c), .path = path, .own_len = strlen(path),
	};
	sprintf(c->name, "c%" PRIu32, number);
	*row = (struct cmt_usage_row){
		.owner = CMT_OWNER_CGROUP, .container = c, .rmids = 1,
		.cgroup_id = number,
		.occupancy = {
			.known = true, .last_bytes = held, .least_bytes = held,
			.most_bytes = held, .slots = 1000,
		},
		.total = { .known = true, .bytes = moved },
		.local = { .known = true, .bytes = moved / 2 },
		.counters.cpu_share = NAN,
	};
	return row;
}

static void end_frame(void)
{
	series_frame(&set, &frame, VALUES);
}

static const char *render(bool openmetrics)
{
	const struct exposition exposition = {
		.machine = &machine, .set = &set, .fine = &fine,
		.config = &config, .pages = 1,
	};
	struct body body = { .len = 0 };

	free(page);
	ck_assert_int_eq(expose(&body, &exposition, openmetrics), 0);
	body_put(&body, "", 1);
	page = body.bytes;
	return page;
}

static bool has(const char *line)
{
	return strstr(render(false), line) != NULL;
}

static const struct series *find_series(const char *labels)
{
	uint32_t i;

	for (i = 0; i < set.nr; i++)
		if (!strcmp(set.all[i]->labels, labels))
			return set.all[i];
	return NULL;
}

#define LABELS_OF(name) "id=\"/" name "\",container=\"" name "\""
#define ONE LABELS_OF("c1")

START_TEST(test_values)
{
	begin(10, 3);
	new_frame();
	add_row(1, 100, 7)->occupancy.residual_known = true;
	rows[0].occupancy.residual_bytes = 3;
	rows[0].occupancy.least_bytes = 50;
	rows[0].occupancy.most_bytes = 900;
	end_frame();
	ck_assert(has("\ncmt_l3_occupancy_bytes{" ONE "} 100\n"));
	ck_assert(has("\ncmt_l3_occupancy_least_bytes{" ONE "} 50\n"));
	ck_assert(has("\ncmt_l3_occupancy_most_bytes{" ONE "} 900\n"));
	ck_assert(has("\ncmt_l3_occupancy_residual_bytes{" ONE "} 3\n"));
	ck_assert(has("\ncmt_l3_occupancy_degraded{" ONE "} 0\n"));
	ck_assert(has("\ncmt_memory_bytes_total{" ONE ",kind=\"total\"} 7\n"));
	ck_assert(has("\ncmt_memory_bytes_total{" ONE ",kind=\"local\"} 3\n"));
	ck_assert(has("\ncmt_container_rmids{" ONE "} 1\n"));
	ck_assert(!has("cmt_cycles_total{"));
	ck_assert(!has("cmt_l3_domain_size_bytes 0"));
	finish();
}
END_TEST

/* One unknown residue makes the sum of several rows no upper bound, until all are known. */
START_TEST(test_residue)
{
	begin(10, 3);
	new_frame();
	add_row(1, 100, 7);
	add_row(2, 100, 7)->occupancy.residual_known = true;
	add_row(2, 20, 7);
	add_row(3, 0, 0)->occupancy.known = false;
	add_row(3, 100, 0)->occupancy.residual_known = true;
	end_frame();
	ck_assert(has("\ncmt_l3_occupancy_bytes{" ONE "} 100\n"));
	ck_assert(!has("cmt_l3_occupancy_residual_bytes{" ONE));
	ck_assert(has("cmt_l3_occupancy_bytes{" LABELS_OF("c2") "} 120\n"));
	ck_assert(!has("cmt_l3_occupancy_residual_bytes{" LABELS_OF("c2")));
	ck_assert(has("cmt_l3_occupancy_residual_bytes{" LABELS_OF("c3") "} 0\n"));
	new_frame();
	add_row(1, 100, 7)->occupancy.residual_known = true;
	end_frame();
	ck_assert(has("cmt_l3_occupancy_residual_bytes{" ONE "} 0\n"));
	finish();
}
END_TEST

/* What is not known has no line, and is never 0. */
START_TEST(test_unknown)
{
	struct cmt_usage_row *row;

	begin(10, 3);
	new_frame();
	row = add_row(1, 0, 0);
	row->occupancy = (struct cmt_usage_occupancy){
		.why = CMT_USAGE_WHY_ERROR,
	};
	row->total = (struct cmt_usage_rate){ .rate = NAN };
	row->local = row->total;
	end_frame();
	ck_assert(!has("cmt_l3_occupancy_bytes{"));
	ck_assert(!has("cmt_l3_occupancy_least_bytes{"));
	ck_assert(!has("cmt_l3_occupancy_most_bytes{"));
	ck_assert(!has("cmt_l3_occupancy_degraded{"));
	ck_assert(!has("cmt_memory_bytes_total{"));
	ck_assert(!has("nan"));
	ck_assert(has("cmt_incomplete_intervals_total{" ONE ",value=\"occupancy\"} 1\n"));
	ck_assert(has("cmt_incomplete_intervals_total{" ONE ",value=\"memory\"} 1\n"));
	ck_assert(!has("value=\"counters\"} "));
	machine.pending_known = false;
	ck_assert(!has("cmt_container_pending_owners{"));
	finish();
}
END_TEST

/* A lower bound, or a value that is older than the interval, says so. */
START_TEST(test_degraded)
{
	begin(10, 3);
	new_frame();
	add_row(1, 5, 5)->occupancy.partial = true;
	add_row(2, 6, 6)->occupancy.age_ns = 1000000001;
	rows[1].total.partial = true;
	add_row(3, 7, 7)->occupancy.age_ns = 1000000000;
	end_frame();
	ck_assert(has("cmt_l3_occupancy_degraded{" ONE "} 1\n"));
	ck_assert(has("cmt_l3_occupancy_degraded{id=\"/c2\",container=\"c2\"} 1\n"));
	ck_assert(has("cmt_l3_occupancy_degraded{id=\"/c3\",container=\"c3\"} 0\n"));
	ck_assert(has("container=\"c2\",value=\"memory\"} 1\n"));
	ck_assert(has("container=\"c1\",value=\"memory\"} 0\n"));
	finish();
}
END_TEST

/* Local traffic that was not counted is none of other nodes, and is said to be missing. */
START_TEST(test_local_incomplete)
{
	begin(10, 3);
	new_frame();
	add_row(1, 5, 10)->local = (struct cmt_usage_rate){
		.why = CMT_USAGE_WHY_UNAVAILABLE, .rate = NAN,
	};
	add_row(2, 5, 10)->local.partial = true;
	add_row(3, 5, 10);
	add_row(4, 5, 10)->local = (struct cmt_usage_rate){
		.why = CMT_USAGE_WHY_FIRST, .rate = NAN,
	};
	end_frame();
	ck_assert(has("\ncmt_incomplete_intervals_total{" ONE ",value=\"memory\"} 0\n"));
	ck_assert(has("\ncmt_incomplete_intervals_total{" ONE ",value=\"memory_local\"} 1\n"));
	ck_assert(has("container=\"c2\",value=\"memory_local\"} 1\n"));
	ck_assert(has("container=\"c3\",value=\"memory_local\"} 0\n"));
	ck_assert(has("container=\"c4\",value=\"memory_local\"} 0\n"));
	/* a machine that counts no local traffic lacks none */
	series_frame(&set, &frame, CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL);
	ck_assert(has("\ncmt_incomplete_intervals_total{" ONE ",value=\"memory_local\"} 1\n"));
	machine.info.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL;
	ck_assert(!has("cmt_incomplete_intervals_total{" ONE ",value=\"memory_local\""));
	finish();
}
END_TEST

/* Another RMID counts a part, or all: a flag and a counter say so, and 0 has no line. */
START_TEST(test_overwritten)
{
	const struct cmt_usage_occupancy nothing = { .why = CMT_USAGE_WHY_OVERWRITTEN };
	struct cmt_usage_row *row;

	begin(10, 3);
	new_frame();
	row = add_row(1, 5, 5);
	row->occupancy.partial = row->total.partial = row->local.partial = true;
	row->why = row->occupancy.why = row->total.why = CMT_USAGE_WHY_OVERWRITTEN;
	row = add_row(2, 0, 0);
	row->occupancy = nothing;
	row->why = CMT_USAGE_WHY_OVERWRITTEN;
	row->total = row->local = (struct cmt_usage_rate){
		.why = CMT_USAGE_WHY_OVERWRITTEN, .rate = (double)NAN,
	};
	end_frame();
	ck_assert(has("cmt_l3_occupancy_bytes{" ONE "} 5\n"));
	ck_assert(has("cmt_l3_occupancy_degraded{" ONE "} 1\n"));
	ck_assert(has("cmt_incomplete_intervals_total{" ONE ",value=\"occupancy\"} 1\n"));
	ck_assert(has("cmt_incomplete_intervals_total{" ONE ",value=\"memory\"} 1\n"));
	ck_assert(has("container=\"c2\",value=\"occupancy\"} 1\n"));
	ck_assert(has("container=\"c2\",value=\"memory\"} 1\n"));
	ck_assert(!has("bytes{id=\"/c2\""));
	ck_assert(!has("cmt_memory_bytes_total{id=\"/c2\""));
	finish();
}
END_TEST

/* A counter is the sum of what was known, and goes on where there is a gap. */
START_TEST(test_counters)
{
	int i;

	begin(10, 3);
	for (i = 0; i < 5; i++) {
		new_frame();
		add_row(1, 1, 10)->total.known = i != 2;
		rows[0].counters.values = CMT_F_CYCLES;
		rows[0].counters.cycles = 1000;
		rows[0].counters.known = true;
		rows[0].counters.ran_ns = 1000000001;
		end_frame();
	}
	ck_assert(has("cmt_memory_bytes_total{" ONE ",kind=\"total\"} 40\n"));
	ck_assert(has("cmt_memory_bytes_total{" ONE ",kind=\"local\"} 25\n"));
	ck_assert(has("cmt_cycles_total{" ONE "} 5000\n"));
	ck_assert(has("cmt_cpu_seconds_total{" ONE "} 5.000000005\n"));
	ck_assert(!has("cmt_instructions_total{"));
	new_frame();
	add_row(1, 1, UINT64_MAX);
	end_frame();
	ck_assert(has("kind=\"total\"} 18446744073709551615\n"));
	finish();
}
END_TEST

/* RMID 0 and a CPU have idle time, which is no CPU time; cycles are cycles. */
START_TEST(test_idle_is_no_cpu_time)
{
	struct cmt_usage_row *row;

	begin(10, 3);
	new_frame();
	row = add_row(1, 1, 1);
	row->kind = CMT_USAGE_UNATTRIBUTED;
	row->counters.known = true;
	row->counters.ran_ns = 64000000000;
	row->counters.values = CMT_F_CYCLES | CMT_F_WAITED;
	row->counters.cycles = 1000;
	row->counters.waited_ns = 5;
	row = add_row(2, 1, 1);
	row->owner = CMT_OWNER_CPU;
	row->container = NULL;
	row->cpu = 3;
	row->counters.known = true;
	row->counters.ran_ns = 1000000000;
	end_frame();
	ck_assert(!has("cmt_cpu_seconds_total{"));
	ck_assert(has("\ncmt_cycles_total{container=\"(unattributed)\"} 1000\n"));
	ck_assert(has("\ncmt_cpu_wait_seconds_total{container=\"(unattributed)\"} 0.000000005\n"));
	finish();
}
END_TEST

/* Other programs need the processor's counters: what is missing is said to be incomplete. */
START_TEST(test_counters_given_up)
{
	begin(10, 3);
	machine.counted = CMT_F_CYCLES;
	new_frame();
	add_row(1, 1, 10);
	series_frame(&set, &frame, VALUES | machine.counted);
	ck_assert(!has("cmt_cycles_total{"));
	ck_assert(has("cmt_value_available{value=\"cycles\"} 0\n"));
	ck_assert(has("cmt_incomplete_intervals_total{" ONE ",value=\"counters\"} 1\n"));
	finish();
}
END_TEST

/* A spike is there for a window, and no longer. */
START_TEST(test_spike_stays_for_a_window)
{
	int i;

	begin(10, 3);
	for (i = 0; i < 6; i++) {
		new_frame();
		add_row(1, 10, 0)->occupancy.most_bytes = i == 1 ? 99 : 10;
		rows[0].occupancy.least_bytes = i == 1 ? 2 : 10;
		end_frame();
		ck_assert_int_eq(has("_most_bytes{" ONE "} 99\n"),
				 i >= 1 && i <= 3);
		ck_assert_int_eq(has("_least_bytes{" ONE "} 2\n"),
				 i >= 1 && i <= 3);
	}
	/* least says nothing without a slot in which all was known */
	for (i = 0; i < 3; i++) {
		new_frame();
		add_row(1, 10, 0)->occupancy.slots = 0;
		end_frame();
	}
	ck_assert(!has("_least_bytes{"));
	finish();
}
END_TEST

/* Of a container that is over the counters stay for a window, and no gauge does. */
START_TEST(test_ended_container_keeps_counters)
{
	int i;

	begin(10, 3);
	new_frame();
	add_row(1, 10, 5);
	end_frame();
	for (i = 0; i < 3; i++) {
		new_frame();
		add_row(2, 10, 5);
		end_frame();
		ck_assert(!has("cmt_l3_occupancy_bytes{" ONE));
		ck_assert(!has("cmt_l3_occupancy_most_bytes{" ONE));
		ck_assert(!has("cmt_container_info{" ONE));
		ck_assert(has("cmt_memory_bytes_total{" ONE ",kind=\"total\"} 5\n"));
	}
	new_frame();
	add_row(2, 10, 5);
	end_frame();
	ck_assert(!has("id=\"/c1\""));
	ck_assert_uint_eq(set.nr, 1);
	ck_assert_uint_eq(set.nr_containers, 1);
	finish();
}
END_TEST

/* It comes back within the window, and its counter has not begun anew. */
START_TEST(test_returned_container_keeps_counter)
{
	begin(10, 3);
	new_frame();
	add_row(1, 10, 5);
	end_frame();
	series_gap(&set);
	machine.up = false;
	ck_assert(has("cmt_up 0\n"));
	ck_assert(!has("cmt_l3_occupancy_bytes{"));
	new_frame();
	add_row(1, 10, 5);
	end_frame();
	ck_assert(has("cmt_memory_bytes_total{" ONE ",kind=\"total\"} 10\n"));
	finish();
}
END_TEST

static void add_many(uint32_t n, uint64_t (*held)(uint32_t number))
{
	uint32_t i;

	new_frame();
	for (i = 1; i <= n; i++)
		add_row(i, held(i), 1);
	add_row(0, 5, 1)->kind = CMT_USAGE_UNATTRIBUTED;
	end_frame();
}

static uint64_t rising(uint32_t number)
{
	return number * 100;
}

static uint64_t all_equal(uint32_t number)
{
	return number ? 100 : 0;
}

#define OTHERS "container=\"(others)\""

/* The largest are shown from the first interval on, and nothing is lost. */
START_TEST(test_largest_containers_have_series)
{
	begin(100, 3);
	add_many(4000, rising);
	ck_assert_uint_eq(set.nr_containers, 100);
	ck_assert_uint_eq(set.nr_others, 3900);
	ck_assert_ptr_nonnull(find_series("id=\"/c4000\",container=\"c4000\""));
	ck_assert_ptr_nonnull(find_series("id=\"/c3901\",container=\"c3901\""));
	ck_assert_ptr_null(find_series("id=\"/c3900\",container=\"c3900\""));
	ck_assert(has("cmt_memory_bytes_total{" OTHERS ",kind=\"total\"} 3900\n"));
	/* 100 times the sum from 1 to 3900 */
	ck_assert(has("cmt_l3_occupancy_bytes{" OTHERS "} 760695000\n"));
	ck_assert(has("cmt_l3_occupancy_bytes{container=\"(unattributed)\"} 5\n"));
	/* the greatest sum of all of them is unknown */
	ck_assert(!has("_most_bytes{" OTHERS));
	ck_assert(!has("_least_bytes{" OTHERS));
	ck_assert(has("cmt_exporter_containers 100\n"));
	ck_assert(has("cmt_exporter_containers_hidden 3900\n"));
	finish();
}
END_TEST

/* Equal ones do not drive each other out, and their counters never decrease. */
static void check_equal(uint32_t window)
{
	uint32_t i;
	uint64_t last = 0;

	begin(10, window);
	for (i = 0; i < 12; i++) {
		add_many(20, all_equal);
		ck_assert_uint_eq(set.nr_containers, 10);
		ck_assert_ptr_nonnull(find_series(ONE));
		ck_assert_uint_eq(find_series(ONE)->counts[COUNT_TOTAL], i + 1);
		ck_assert_uint_ge(find_series(OTHERS)->counts[COUNT_TOTAL], last);
		last = find_series(OTHERS)->counts[COUNT_TOTAL];
	}
	ck_assert_uint_eq(last, 120);
	finish();
}

START_TEST(test_equal_containers_keep_series)
{
	check_equal(2);
}
END_TEST

START_TEST(test_equal_containers_window_of_one)
{
	check_equal(1);
}
END_TEST

/*
 * AMD's PLZA: the row of the kernel is no container, whatever a container is called, and
 * has a series however many containers there are.
 */
START_TEST(test_kernel)
{
	struct cmt_usage_row *row;

	begin(2, 3);
	new_frame();
	add_row(1, 1000, 100);
	add_row(2, 500, 50);
	strcpy(containers[1].name, "kernel");
	add_row(3, 400, 40);
	row = add_row(4, 10, 7);
	row->owner = CMT_OWNER_KERNEL;
	row->container = NULL;
	row->cgroup_id = 0;
	strcpy(row->comm, "kernel");
	end_frame();
	ck_assert(has("\ncmt_l3_occupancy_bytes{container=\"(kernel)\"} 10\n"));
	ck_assert(has("\ncmt_memory_bytes_total{container=\"(kernel)\",kind=\"total\"} 7\n"));
	ck_assert(has("\ncmt_container_rmids{container=\"(kernel)\"} 1\n"));
	ck_assert(has("\ncmt_l3_occupancy_bytes{id=\"/c2\",container=\"kernel\"} 500\n"));
	ck_assert(has("\ncmt_l3_occupancy_bytes{" OTHERS "} 400\n"));
	ck_assert(has("\ncmt_exporter_containers 2\n"));
	ck_assert(has("\ncmt_exporter_containers_hidden 1\n"));
	finish();
}
END_TEST

static uint64_t turned;

static uint64_t one_large(uint32_t number)
{
	return number == turned ? 1000 : 100;
}

/* Who becomes much larger has a series within a window. */
START_TEST(test_larger_container_gets_series)
{
	uint32_t i;

	begin(10, 3);
	turned = 0;
	add_many(20, one_large);
	turned = 20;
	for (i = 0; i < 3; i++)
		add_many(20, one_large);
	ck_assert_ptr_nonnull(find_series("id=\"/c20\",container=\"c20\""));
	ck_assert_uint_le(set.nr_containers, 10);
	finish();
}
END_TEST

/* Two rows that are called the same are one series. */
START_TEST(test_same_labels)
{
	const char *found;

	begin(10, 3);
	new_frame();
	add_row(1, 10, 1);
	add_row(1, 20, 2)->occupancy.known = false;
	add_row(1, 30, 3);
	end_frame();
	found = strstr(render(false), "\ncmt_l3_occupancy_bytes{" ONE "} 40\n");
	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_null(strstr(found + 2, "cmt_l3_occupancy_bytes{" ONE));
	ck_assert(!has("_most_bytes{" ONE));
	ck_assert(has("cmt_l3_occupancy_degraded{" ONE "} 1\n"));
	ck_assert(has("cmt_memory_bytes_total{" ONE ",kind=\"total\"} 6\n"));
	finish();
}
END_TEST

/* However many rows of a series are incomplete, the interval counts once. */
START_TEST(test_incomplete_counts_once)
{
	begin(1, 3);
	for (int i = 0; i < 2; i++) {
		new_frame();
		add_row(1, 100, 1)->total.partial = true;
		add_row(2, 10, 1)->total.partial = true;
		add_row(3, 10, 1)->occupancy.partial = true;
		add_row(4, 10, 1)->total.partial = true;
		end_frame();
	}
	ck_assert(has("\ncmt_incomplete_intervals_total{" ONE ",value=\"memory\"} 2\n"));
	ck_assert(has("\ncmt_incomplete_intervals_total{" OTHERS ",value=\"memory\"} 2\n"));
	ck_assert(has("\ncmt_incomplete_intervals_total{" OTHERS ",value=\"occupancy\"} 2\n"));
	finish();
}
END_TEST

/* No series of a model's value looks like one of a measured value. */
START_TEST(test_emulated)
{
	const char *line, *end;
	uint32_t i;

	begin(2, 3);
	set.emulated = true;
	add_many(4, rising);
	containers[0].image = "i:1";
	render(false);
	for (i = 0; i < set.nr; i++)
		ck_assert_ptr_nonnull(strstr(set.all[i]->labels,
					     "\",emulated=\"true\""));
	for (line = page; (line = strstr(line, "\ncmt_l3_occupancy")); line = end) {
		end = strchr(++line, '\n');
		ck_assert_ptr_nonnull(memmem(line, (size_t)(end - line), ",emulated=\"true\"", 16));
	}
	ck_assert(has("cmt_l3_occupancy_bytes{container=\"(others)\",emulated=\"true\"} 300\n"));
	ck_assert(has("cmt_l3_occupancy_bytes{container=\"(unattributed)\",emulated=\"true\"} 5\n"));
	finish();
}
END_TEST

/* The files of a runtime may have the name before the image. */
START_TEST(test_late_image)
{
	begin(10, 3);
	for (int i = 0; i < 3; i++) {
		new_frame();
		add_row(1, 10, 5);
		containers[0].image = i == 1 ? "i:1" : NULL;
		end_frame();
		ck_assert(has("cmt_container_info{" ONE ",image=\"i:1\"} 1\n") == (i > 0));
	}
	finish();
}
END_TEST

/* The device came back, and is another one: the series of the model end. */
START_TEST(test_no_longer_emulated)
{
	begin(10, 3);
	set.emulated = true;
	new_frame();
	add_row(1, 10, 5);
	containers[0].image = "i:1";
	end_frame();
	ck_assert(has("cmt_container_info{" ONE ",emulated=\"true\",image=\"i:1\"} 1\n"));
	set.emulated = false;
	new_frame();
	add_row(1, 10, 5);
	end_frame();
	ck_assert(has("\ncmt_l3_occupancy_bytes{" ONE "} 10\n"));
	ck_assert(!has("\ncmt_l3_occupancy_bytes{" ONE ",emulated"));
	ck_assert(has("cmt_memory_bytes_total{" ONE ",kind=\"total\"} 5\n"));
	finish();
}
END_TEST

/* A millisecond in which container @number held @held of 1,000 bytes. */
static struct cmt_usage_row *add_reading(uint32_t number, uint64_t held,
					 double rate)
{
	struct cmt_usage_row *row = add_row(number, held, 1);

	row->l3_bytes = 1000;
	row->total.rate = rate;
	return row;
}

static void fold(uint32_t number, uint64_t held, double rate)
{
	new_frame();
	add_reading(number, held, rate);
	histogram_table_fold(&fine.histograms, &frame);
}

#define RATIO "cmt_l3_occupancy_ratio"
#define SPEED "cmt_memory_bandwidth_bytes_per_second"

/* 5 ms of 1,000 show, however long it is until the next scrape. */
START_TEST(test_histogram)
{
	uint32_t i;

	begin(10, 3);
	set.histograms = &fine.histograms;
	for (i = 0; i < 1000; i++)
		fold(1, i < 5 ? 901 : 10, i < 5 ? 2.5e10 : 1e6);
	end_frame();
	ck_assert(has("\n" RATIO "_bucket{" ONE ",le=\"0.01\"} 995\n"));
	ck_assert(has("\n" RATIO "_bucket{" ONE ",le=\"0.75\"} 995\n"));
	ck_assert(has("\n" RATIO "_bucket{" ONE ",le=\"1.0\"} 1000\n"));
	ck_assert(has("\n" RATIO "_bucket{" ONE ",le=\"+Inf\"} 1000\n"));
	ck_assert(has("\n" RATIO "_count{" ONE "} 1000\n"));
	ck_assert(has("\n" RATIO "_sum{" ONE "} 14.45"));
	ck_assert(has("\n" SPEED "_bucket{" ONE ",le=\"1e+06\"} 995\n"));
	ck_assert(has("\n" SPEED "_bucket{" ONE ",le=\"1e+10\"} 995\n"));
	ck_assert(has("\n" SPEED "_bucket{" ONE ",le=\"3e+10\"} 1000\n"));
	ck_assert(has("\n" SPEED "_sum{" ONE "} 125995000000\n"));
	ck_assert(has("# TYPE " RATIO " histogram\n"));
	/* it goes on, and nothing counts twice */
	fold(1, 11, 0);
	end_frame();
	new_frame();
	add_row(1, 1, 1);
	end_frame();
	ck_assert(has("\n" RATIO "_bucket{" ONE ",le=\"0.01\"} 995\n"));
	ck_assert(has("\n" RATIO "_bucket{" ONE ",le=\"0.02\"} 996\n"));
	ck_assert(has("\n" RATIO "_count{" ONE "} 1001\n"));
	finish();
}
END_TEST

/* A reading that is older, a lower bound, or none is no millisecond of a histogram. */
START_TEST(test_histogram_unread)
{
	struct cmt_usage_row *row;

	begin(10, 3);
	set.histograms = &fine.histograms;
	new_frame();
	row = add_reading(1, 10, 5);
	row->occupancy.age_ns = 1;
	row->total.known = false;
	row = add_reading(2, 10, 5);
	row->occupancy.partial = true;
	row->total.partial = true;
	add_reading(3, 10, 5)->l3_bytes = 0;
	row = add_reading(4, 10, 5);
	row->occupancy.known = false;
	/* one of its RMIDs was read, and no other one ran */
	add_reading(5, 10, 5)->occupancy.age_ns = 1;
	histogram_table_fold(&fine.histograms, &frame);
	end_frame();
	ck_assert_uint_eq(fine.histograms.nr, 3);
	ck_assert(!has(RATIO "_count{" ONE));
	ck_assert(!has(SPEED "_count{" ONE));
	ck_assert(!has(RATIO "_count{id=\"/c2\""));
	ck_assert(!has(RATIO "_count{id=\"/c3\""));
	ck_assert(has(SPEED "_count{id=\"/c3\",container=\"c3\"} 1\n"));
	ck_assert(!has(RATIO "_count{id=\"/c4\""));
	ck_assert(has(RATIO "_count{id=\"/c5\",container=\"c5\"} 1\n"));
	finish();
}
END_TEST

/* A sum has no histogram, and counts without a series are dropped. */
START_TEST(test_histogram_bounded)
{
	uint32_t i, j;

	begin(10, 3);
	set.histograms = &fine.histograms;
	new_frame();
	for (i = 1; i <= 4000; i++)
		add_reading(i, i % 1000, 5);
	histogram_table_fold(&fine.histograms, &frame);
	ck_assert_uint_eq(fine.histograms.nr, 4000);
	end_frame();
	for (i = j = 0; i < set.nr; i++)
		j += set.all[i]->histograms != NULL;
	ck_assert_uint_eq(j, 10);
	ck_assert(!has(RATIO "_count{container=\"(others)\""));
	/* it has a series of its own when one that is over is gone */
	for (i = 0; i < 5; i++) {
		new_frame();
		add_reading(4001, 10, 5);
		histogram_table_fold(&fine.histograms, &frame);
		end_frame();
	}
	ck_assert_uint_eq(fine.histograms.nr, 1);
	ck_assert(has(RATIO "_count{id=\"/c4001\",container=\"c4001\"} 1\n"));
	finish();
}
END_TEST

static struct cmt_usage_row parts[2 * PARTS_MAX + 2];

/* @row has @held in domain @domain, and moved as much. */
static void add_part(struct cmt_usage_row *row, uint32_t domain, uint64_t held)
{
	frame.children = parts;
	if (!row->nr_children)
		row->first_child = frame.nr_children;
	row->nr_children++;
	parts[frame.nr_children++] = (struct cmt_usage_row){
		.flags = CMT_USAGE_ROW_PART, .domain = domain,
		.occupancy = { .known = true, .last_bytes = held },
		.total = { .known = true, .bytes = held },
	};
}

/* Who runs in one domain is not read in the other one. */
START_TEST(test_histogram_parts)
{
	begin(10, 3);
	set.histograms = &fine.histograms;
	new_frame();
	add_reading(1, 500, 5)->total.partial = true;
	add_part(&rows[0], 0, 400);
	add_part(&rows[0], 1, 100);
	parts[0].l3_bytes = parts[1].l3_bytes = 1000;
	parts[0].total.rate = 2e6;
	parts[1].occupancy.age_ns = 1;
	parts[1].total.known = false;
	histogram_table_fold(&fine.histograms, &frame);
	end_frame();
	ck_assert(has("\n" RATIO "_count{" ONE "} 1\n"));
	ck_assert(has("\n" RATIO "_sum{" ONE "} 0.4\n"));
	ck_assert(has("\n" SPEED "_sum{" ONE "} 2000000\n"));
	finish();
}
END_TEST

/* Two rows that are called the same: neither's histogram is that of both. */
START_TEST(test_histogram_sum)
{
	int i;

	begin(10, 3);
	set.histograms = &fine.histograms;
	for (i = 0; i < 2; i++) {
		new_frame();
		add_reading(1, 10, 5);
		if (!i)
			add_reading(1, 20, 5)->cgroup_id = 77;
		histogram_table_fold(&fine.histograms, &frame);
		end_frame();
		ck_assert(!has(RATIO "_count{"));
		ck_assert(!has(SPEED "_count{"));
	}
	fine.histograms.dropped = 3;	/* as without memory */
	machine.channels.dropped = 2;
	end_frame();
	end_frame();
	ck_assert(has("\ncmt_exporter_rows_dropped_total 5\n"));
	finish();
}
END_TEST

START_TEST(test_parts)
{
	uint32_t i;

	begin(1, 3);
	for (i = 0; i < 2; i++) {
		new_frame();
		add_part(add_row(1, 900, 0), 0, 300);
		add_part(&rows[0], 7, 600);
		add_part(add_row(2, 30, 0), 0, 10);
		add_part(add_row(3, 30, 0), 0, 20);
		end_frame();
	}
	ck_assert(has("\ncmt_l3_domain_occupancy_bytes{" ONE ",domain=\"0\"} 300\n"));
	ck_assert(has("\ncmt_l3_domain_occupancy_bytes{" ONE ",domain=\"7\"} 600\n"));
	ck_assert(has("\ncmt_memory_domain_bytes_total{" ONE ",domain=\"7\",kind=\"total\"} 1200\n"));
	ck_assert(!has("domain=\"7\",kind=\"local\""));
	ck_assert(has("\ncmt_l3_domain_occupancy_bytes{" OTHERS ",domain=\"0\"} 30\n"));
	/* a domain that it has left, or that is not known now */
	new_frame();
	add_part(add_row(1, 900, 0), 0, 300);
	parts[0].occupancy.known = false;
	end_frame();
	ck_assert(!has("\ncmt_l3_domain_occupancy_bytes{" ONE));
	ck_assert(has("\ncmt_memory_domain_bytes_total{" ONE ",domain=\"7\",kind=\"total\"} 1200\n"));
	finish();
}
END_TEST

/* More domains than any machine has. */
START_TEST(test_parts_bounded)
{
	uint32_t i;

	begin(10, 3);
	new_frame();
	add_row(1, 900, 0);
	for (i = 0; i < PARTS_MAX + 2; i++)
		add_part(&rows[0], i, 1);
	end_frame();
	ck_assert_uint_eq(set.all[0]->parts.nr, PARTS_MAX);
	ck_assert(has("cmt_exporter_rows_dropped_total 2\n"));
	finish();
}
END_TEST

START_TEST(test_channels)
{
	struct cmt_usage_channel channels[] = {
		{ .socket = 0, .channel = 3, .read = { .known = true, .bytes = 5 },
		  .written = { .why = CMT_USAGE_WHY_FIRST } },
		{ .socket = 1, .channel = 3, .read = { .known = true, .bytes = 7, .partial = true },
		  .written = { .known = true, .bytes = 2 } },
	};
	int i;

	begin(10, 3);
	config.channels = true;
	ck_assert(!has("cmt_memory_channel_bytes_total{"));
	for (i = 0; i < 2; i++) {
		new_frame();
		frame.channels = channels;
		frame.nr_channels = 2;
		frame.channel_size = sizeof(channels[0]);
		frame.channels_reason = "a \"box\" is in use";
		channels_add(&machine.channels, &frame);
	}
#define CHANNEL "socket=\"0\",channel=\"3\""
	ck_assert(has("\ncmt_memory_channel_bytes_total{" CHANNEL ",direction=\"read\"} 10\n"));
	ck_assert(!has(CHANNEL ",direction=\"written\""));
	ck_assert(has("\ncmt_memory_channel_incomplete_intervals_total{" CHANNEL "} 0\n"));
	ck_assert(has("_intervals_total{socket=\"1\",channel=\"3\"} 2\n"));
	ck_assert(has("\ncmt_memory_channel_bytes_total{socket=\"1\",channel=\"3\",direction=\"written\"} 4\n"));
	ck_assert(has("\ncmt_memory_channels_info{reason=\"a \\\"box\\\" is in use\"} 1\n"));
	ck_assert(has("\ncmt_value_available{value=\"memory_channels\"} 1\n"));
	channels_stop(&machine.channels);
	ck_assert(has("\ncmt_value_available{value=\"memory_channels\"} 0\n"));
	ck_assert(!has("cmt_memory_channels_info{"));
	machine.up = false;
	ck_assert(!has("cmt_memory_channel_bytes_total{"));
	finish();
}
END_TEST

/* What @row moved in this millisecond. */
static void add_traffic(struct cmt_usage_row *row, uint64_t bytes)
{
	row->occupancy.slots = 1;
	row->total = (struct cmt_usage_rate){
		.known = true, .bytes = bytes, .rate = (double)bytes * 1e3,
	};
}

/* After 500 ms the second one takes 3 of the 4 MiB of the first one, in 6 ms. */
static void steal(uint64_t start_ns)
{
	uint32_t ms, late;

	for (ms = 0; ms < 600; ms++) {
		late = ms < 500 ? 0 : ms - 499;
		late = late > 6 ? 6 : late;
		new_frame();
		frame.start_ns = start_ns + ms * 1000000ULL;
		frame.end_ns = frame.start_ns + 1000000;
		frame.nr_cpus = 1;
		add_row(1, (4 << 20) - late * (512 << 10), 0);
		add_row(2, (64 << 10) + late * (512 << 10), 0);
		add_traffic(&rows[0], late ? 700 << 10 : 1000);
		add_traffic(&rows[1], late ? 2500 << 10 : 1000);
		culprits_add(&fine.culprits, &frame, NULL);
	}
}

static const struct cmt_info emulated_info = {
	.backend = CMT_BACKEND_EMULATED, .nr_rmids = 4,
};

#define PAIR "cmt_culprit_pair_verdicts_total{kind=\"cache\"," \
	"victim_id=\"/c1\",victim=\"c1\",suspect_id=\"/c2\",suspect=\"c2\"," \
	"emulated=\"true\"}"

START_TEST(test_culprits)
{
	struct cmt_info info = emulated_info;

	begin(10, 3);
	ck_assert(!has("cmt_culprit_verdicts_total{"));
	ck_assert(has("cmt_value_available{value=\"culprit\"} 0\n"));
	config.culprit = true;
	ck_assert_int_eq(culprits_open(&fine.culprits, &emulated_info, 0), 0);
	ck_assert(has("cmt_culprit_verdicts_total{kind=\"cache\",emulated=\"true\"} 0\n"));
	machine.seen = true;
	machine.sampling_ns = 1000000;
	ck_assert(has("cmt_value_available{value=\"culprit\"} 1\n"));
	machine.sampling_ns = 2000000;
	ck_assert(has("cmt_value_available{value=\"culprit\"} 0\n"));
	steal(1000000000);
	ck_assert(has("cmt_culprit_verdicts_total{kind=\"cache\",emulated=\"true\"} 1\n"));
	ck_assert(has("\n" PAIR " 1\n"));
	/* a later device: the engine begins anew, and what was counted does not */
	culprits_close(&fine.culprits);
	ck_assert(has("\n" PAIR " 1\n"));
	ck_assert(!has("\ncmt_culprit_learning "));
	ck_assert_int_eq(culprits_open(&fine.culprits, &emulated_info, 0), 0);
	steal(100000000000);
	ck_assert(has("\n" PAIR " 2\n"));
	/* and one that is no model */
	culprits_close(&fine.culprits);
	info.backend = CMT_BACKEND_HARDWARE;
	ck_assert_int_eq(culprits_open(&fine.culprits, &info, 0), 0);
	ck_assert(has("cmt_culprit_verdicts_total{kind=\"cache\"} 0\n"));
	ck_assert(has("\n" PAIR " 2\n"));
	finish();
}
END_TEST

static void fill_pairs(struct pairs *pairs)
{
	char labels[32];

	for (uint32_t i = 0; i < PAIRS_MAX; i++) {
		snprintf(labels, sizeof(labels), "victim=\"%" PRIu32 "\"", i);
		ck_assert_int_eq(pairs_add(pairs, labels, 1, UINT64_MAX / 2), 0);
	}
}

static void open_culprits(uint32_t backend)
{
	struct cmt_info info = emulated_info;

	info.backend = backend;
	culprits_close(&fine.culprits);
	ck_assert_int_eq(culprits_open(&fine.culprits, &info, 0), 0);
}

#define OTHER_PAIR "\ncmt_culprit_pair_verdicts_total{kind=\"cache\"," \
	"victim=\"(others)\",suspect=\"(others)\""

/* From hardware to a model and back: each has its sums, and they never decrease. */
START_TEST(test_culprits_of_both)
{
	begin(10, 3);
	config.culprit = true;
	open_culprits(CMT_BACKEND_HARDWARE);
	fill_pairs(&fine.culprits.pairs);
	steal(1000000000);
	open_culprits(CMT_BACKEND_EMULATED);
	steal(100000000000);
	steal(200000000000);
	ck_assert(has("\ncmt_culprit_verdicts_total{kind=\"cache\"} 1\n"));
	ck_assert(has("\ncmt_culprit_verdicts_total{kind=\"cache\",emulated=\"true\"} 2\n"));
	ck_assert(has(OTHER_PAIR "} 1\n"));
	ck_assert(has(OTHER_PAIR ",emulated=\"true\"} 2\n"));
	open_culprits(CMT_BACKEND_HARDWARE);
	steal(300000000000);
	ck_assert(has("\ncmt_culprit_verdicts_total{kind=\"cache\"} 2\n"));
	ck_assert(has("\ncmt_culprit_verdicts_total{kind=\"cache\",emulated=\"true\"} 2\n"));
	ck_assert(has(OTHER_PAIR "} 2\n"));
	ck_assert(has(OTHER_PAIR ",emulated=\"true\"} 2\n"));
	finish();
}
END_TEST

#define COUNTED	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)

/* The first one hits half of the time, the second one misses always, for 1.1 s. */
static void slow(uint64_t start_ns)
{
	for (uint32_t ms = 0; ms < 1100; ms++) {
		new_frame();
		frame.start_ns = start_ns + ms * 1000000ULL;
		frame.end_ns = frame.start_ns + 1000000;
		frame.nr_cpus = 1;
		add_row(1, 1 << 20, 0);
		add_row(2, 3 << 20, 0);
		for (uint32_t i = 0; i < 2; i++) {
			add_traffic(&rows[i], 1000);
			rows[i].counters = (struct cmt_usage_counters){
				.known = true, .values = COUNTED, .cycles = 2000000,
				.instructions = i ? 1000000 : 2000000, .llc_misses = i ? 20000 : 8000,
				.llc_references = i ? 20000 : 16000,
			};
		}
		frame.counters = COUNTED;
		culprits_add(&fine.culprits, &frame, NULL);
	}
}

#define SLOWER "victim_id=\"/c1\",victim=\"c1\"," \
	"suspect_id=\"/c2\",suspect=\"c2\",resource=\"cache\",domain=\"0\",emulated=\"true\"}"

START_TEST(test_slowdowns)
{
	begin(10, 3);
	config.culprit = true;
	ck_assert_int_eq(culprits_open(&fine.culprits, &emulated_info, 0), 0);
	culprits_look(&fine.culprits, &frame, NULL, NULL);
	ck_assert(has("cmt_value_available{value=\"slowdown\"} 0\n"));
	ck_assert(!has("cmt_slowdown_ratio{"));
	slow(1000000000);
	slowdowns_read(&fine.culprits.slowdowns, fine.culprits.engine, &frame, NULL, true);
	ck_assert(has("\ncmt_slowdown_ratio{" SLOWER " 0."));
	ck_assert(has("\ncmt_slowdown_victim_ratio{victim_id=\"/c1\",victim=\"c1\",emulated=\"true\"} 0."));
	ck_assert(has("cmt_value_available{value=\"slowdown\"} 1\n"));
	/* a stream is told nothing of the cache */
	ck_assert(!has("victim=\"c2\",suspect_id=\"/c1\",suspect=\"c1\",resource=\"cache\""));
	/* without a device nothing of it is known */
	culprits_close(&fine.culprits);
	ck_assert(!has("cmt_slowdown_ratio{"));
	ck_assert(!has("cmt_slowdown_victim_ratio{"));
	ck_assert(has("cmt_value_available{value=\"slowdown\"} 0\n"));
	finish();
}
END_TEST

#define HOUR_NS 3600000000000ULL

START_TEST(test_pairs)
{
	struct pairs pairs = { .nr = 0 };

	fill_pairs(&pairs);
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"new\"", 1, 0), -ENOSPC);
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"7\"", 2, UINT64_MAX / 2 + 1), 0);
	ck_assert_uint_eq(pairs.nr, PAIRS_MAX);
	ck_assert_uint_eq(pairs.all[7].sum, 3);
	pairs_forget(&pairs, UINT64_MAX / 2 + HOUR_NS);
	ck_assert_uint_eq(pairs.nr, PAIRS_MAX);
	/* stale ones make room */
	pairs_forget(&pairs, UINT64_MAX / 2 + HOUR_NS + 1);
	ck_assert_uint_eq(pairs.nr, 1);
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"new\"", 1, 0), 0);
	pairs_free(&pairs);
}
END_TEST

/* Where all are in use, a new pair has the place of the one that is silent longest. */
START_TEST(test_pairs_replace)
{
	const uint64_t now = UINT64_MAX / 2;
	struct pairs pairs = { .window_ns = 15 };

	fill_pairs(&pairs);
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"7\"", 1, now - 2), 0);
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"9\"", 1, now - 1), 0);
	/* a scrape may not have the last value of it */
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"new\"", 3, now + 13), -ENOSPC);
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"new\"", 3, now + 14), 0);
	ck_assert_uint_eq(pairs.nr, PAIRS_MAX);
	ck_assert_str_eq(pairs.all[7].labels, "victim=\"new\"");
	ck_assert_uint_eq(pairs.all[7].sum, 3);
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"newer\"", 1, now + 14), -ENOSPC);
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"newer\"", 1, now + 15), 0);
	ck_assert_str_eq(pairs.all[9].labels, "victim=\"newer\"");
	ck_assert_int_eq(pairs_add(&pairs, "victim=\"new\"", 1, now + 15), 0);
	ck_assert_uint_eq(pairs.all[7].sum, 4);
	pairs_free(&pairs);
}
END_TEST

static void add_two_pairs(struct pairs *pairs, uint64_t now)
{
	ck_assert_int_eq(pairs_add(pairs, "victim=\"1\"", 1, now - HOUR_NS - 1), 0);
	ck_assert_int_eq(pairs_add(pairs, "victim=\"2\"", 1, now), 0);
}

/* Time goes on for pairs, too, while there is no device. */
START_TEST(test_pairs_without_device)
{
	const struct exporter_config gone = {
		.device = "/nonexistent", .origin = ORIGIN_DEVICE, .interval_ns = 1000000000,
	};
	struct collector collector = {
		.config = &gone, .origin = ORIGIN_DEVICE, .said = -ENOENT,
	};
	struct pairs *waits = &collector.machine.waits.pairs;
	struct pairs *verdicts = &collector.fine.culprits.pairs;

	ck_assert_int_eq(series_open(&collector.set, 10, 3), 0);
	add_two_pairs(waits, clock_ns(CLOCK_MONOTONIC));
	add_two_pairs(verdicts, clock_ns(CLOCK_MONOTONIC));
	collect_step(&collector, 0);
	ck_assert_ptr_null(collector.dev);
	ck_assert_uint_eq(waits->nr, 1);
	ck_assert_str_eq(waits->all[0].labels, "victim=\"2\"");
	ck_assert_uint_eq(verdicts->nr, 1);
	ck_assert_str_eq(verdicts->all[0].labels, "victim=\"2\"");
	collect_close(&collector);
}
END_TEST

/* Pairs without room are counted together. */
START_TEST(test_culprit_pairs)
{
	begin(10, 3);
	config.culprit = true;
	ck_assert_int_eq(culprits_open(&fine.culprits, &emulated_info, 0), 0);
	fill_pairs(&fine.culprits.pairs);
	steal(1000000000);
	ck_assert(has("\ncmt_culprit_pair_verdicts_total{kind=\"cache\",victim=\"(others)\",suspect=\"(others)\",emulated=\"true\"} 1\n"));
	ck_assert(has("cmt_culprit_verdicts_total{kind=\"cache\",emulated=\"true\"} 1\n"));
	finish();
}
END_TEST

/* Values of what tasks waited, of a row of which @bounds are lower bounds */
static void set_waited(struct cmt_usage_row *row, uint64_t ns, uint32_t bounds)
{
	row->counters.known = true;
	row->counters.ran_ns = 5;
	row->counters.values = CMT_F_WAITED;
	row->counters.bounds = bounds;
	row->counters.waited_ns = ns;
}

#define WAIT "cmt_cpu_wait_seconds_total{"

/* What is not known has no line; a lower bound counts, and is said to be incomplete. */
START_TEST(test_cpu_wait)
{
	uint32_t values = VALUES | CMT_F_WAITED;

	begin(10, 3);
	machine.counters = machine.counted = CMT_F_WAITED;
	new_frame();
	set_waited(add_row(1, 1, 1), 1500000000, 0);
	set_waited(add_row(2, 1, 1), 0, 0);
	add_row(3, 1, 1)->counters.known = true;
	series_frame(&set, &frame, values);
	ck_assert(has("\n" WAIT ONE "} 1.500000000\n"));
	ck_assert(has("\n" WAIT "id=\"/c2\",container=\"c2\"} 0.000000000\n"));
	ck_assert(!has(WAIT "id=\"/c3\""));
	ck_assert(has("\ncmt_value_available{value=\"cpu_wait\"} 1\n"));
	ck_assert(has("\ncmt_incomplete_intervals_total{" ONE ",value=\"cpu_wait\"} 0\n"));
	ck_assert(has("container=\"c3\",value=\"cpu_wait\"} 1\n"));
	ck_assert(!has("value=\"counters\"} "));
	new_frame();
	set_waited(add_row(1, 1, 1), 500000000, CMT_F_WAITED);
	series_frame(&set, &frame, values);
	ck_assert(has("\n" WAIT ONE "} 2.000000000\n"));
	ck_assert(has("\ncmt_incomplete_intervals_total{" ONE ",value=\"cpu_wait\"} 1\n"));
	machine.counters = 0;
	ck_assert(has("\ncmt_value_available{value=\"cpu_wait\"} 0\n"));
	finish();
}
END_TEST

/* That waiting is a lower bound says nothing of the processor's counters. */
START_TEST(test_cpu_wait_is_no_counter)
{
	begin(10, 3);
	machine.counted = CMT_F_WAITED | CMT_F_CYCLES;
	new_frame();
	set_waited(add_row(1, 1, 1), 5, CMT_F_WAITED);
	rows[0].counters.values |= CMT_F_CYCLES;
	rows[0].counters.partial = true;
	series_frame(&set, &frame, VALUES | machine.counted);
	ck_assert(has("\ncmt_incomplete_intervals_total{" ONE ",value=\"counters\"} 0\n"));
	ck_assert(has("\ncmt_incomplete_intervals_total{" ONE ",value=\"cpu_wait\"} 1\n"));
	finish();
}
END_TEST

/* A CPU that is excluded makes waiting a lower bound in every interval, and that is said. */
START_TEST(test_excluded_cpus)
{
	begin(10, 3);
	machine.seen = true;
	machine.counted = CMT_F_WAITED;
	new_frame();
	set_waited(add_row(1, 1, 1), 5, CMT_F_WAITED);
	add_row(2, 1, 1)->counters.why = CMT_USAGE_WHY_EXCLUDED;
	series_frame(&set, &frame, VALUES | CMT_F_WAITED);
	ck_assert(has("\ncmt_cpus_excluded 1\n"));
	ck_assert(has("\ncmt_incomplete_intervals_total{" ONE ",value=\"cpu_wait\"} 1\n"));
	new_frame();
	set_waited(add_row(1, 1, 1), 5, 0);
	series_frame(&set, &frame, VALUES | CMT_F_WAITED);
	ck_assert(has("\ncmt_cpus_excluded 0\n"));
	machine.seen = false;
	ck_assert(!has("\ncmt_cpus_excluded "));
	finish();
}
END_TEST

#define WAIT_PAIR "cmt_cpu_wait_pair_seconds_total{victim_id=\"/c1\",victim=\"c1\","
#define WAIT_OTHERS "cmt_cpu_wait_pair_seconds_total{victim=\"(others)\",runner=\"(others)\""

static struct cmt_usage_wait_part wait_parts[16];

static void add_wait(uint32_t row, uint32_t by, uint64_t ns)
{
	frame.waits = wait_parts;
	frame.wait_size = sizeof(wait_parts[0]);
	wait_parts[frame.nr_waits++] = (struct cmt_usage_wait_part){
		.row = row, .by = by, .ns = ns,
	};
}

/* Parts below 1 % of the interval are counted together: the sum is complete. */
START_TEST(test_wait_pairs)
{
	begin(10, 3);
	ck_assert(!has("cmt_cpu_wait_pair_seconds_total{"));
	for (int i = 0; i < 2; i++) {
		new_frame();
		add_row(1, 1, 1);
		add_row(2, 1, 1);
		add_wait(0, 1, 500000000);
		add_wait(0, 0, 250000000);
		add_wait(0, CMT_USAGE_WAIT_UNKNOWN, 10000000);
		add_wait(1, 0, 9999999);
		waits_add(&machine.waits, &frame, false);
	}
	ck_assert(has("\n" WAIT_PAIR "runner_id=\"/c2\",runner=\"c2\"} 1.000000000\n"));
	ck_assert(has("\n" WAIT_PAIR "runner_id=\"/c1\",runner=\"c1\"} 0.500000000\n"));
	ck_assert(has("\n" WAIT_PAIR "runner=\"(unknown)\"} 0.020000000\n"));
	ck_assert(has("\n" WAIT_OTHERS "} 0.019999998\n"));
	ck_assert(!has("victim=\"c2\""));
	finish();
}
END_TEST

/* Of a victim the largest parts have series, and of all no more than there is room for. */
START_TEST(test_wait_pairs_bounded)
{
	begin(16, 3);
	new_frame();
	for (uint32_t i = 1; i <= 10; i++)
		add_row(i, 1, 1);
	for (uint32_t i = 1; i <= 10; i++)
		add_wait(0, i - 1, 20000000 - i);
	waits_add(&machine.waits, &frame, true);
	ck_assert_uint_eq(machine.waits.pairs.nr, 8);
	ck_assert(has("\n" WAIT_OTHERS ",emulated=\"true\"} 0.039999981\n"));
	ck_assert(has("runner=\"c8\",emulated=\"true\"} 0.019999992\n"));
	pairs_free(&machine.waits.pairs);
	fill_pairs(&machine.waits.pairs);
	waits_add(&machine.waits, &frame, true);
	ck_assert(has("\n" WAIT_OTHERS ",emulated=\"true\"} 0.239999926\n"));
	/* the backend is another one now: what was measured is apart */
	waits_add(&machine.waits, &frame, false);
	ck_assert(has("\n" WAIT_OTHERS ",emulated=\"true\"} 0.239999926\n"));
	ck_assert(has("\n" WAIT_OTHERS "} 0.199999945\n"));
	finish();
}
END_TEST

/* What is refused of a window and a number of containers */
static const char *refused(uint64_t window_s, uint64_t max_containers)
{
	struct exporter_config asked;

	exporter_defaults(&asked);
	asked.window_ns = window_s * 1000000000;
	asked.max_containers = max_containers;
	return exporter_set_window(&asked);
}

/* A series has memory for each interval of the window: the service has 512 MiB. */
START_TEST(test_window_memory)
{
	const char *why;

	ck_assert_ptr_null(refused(0, 10000));
	ck_assert_ptr_null(refused(3600, 1000));
	ck_assert_ptr_null(refused(500, 10000));
	ck_assert_ptr_null(refused(1000, 5000));
	why = refused(3600, 10000);
	ck_assert_ptr_nonnull(why);
	ck_assert_ptr_nonnull(strstr(why, "--max-containers"));
	ck_assert_ptr_nonnull(refused(501, 10000));
	ck_assert_ptr_nonnull(refused(1000, 5001));
}
END_TEST

static const char *label(const char *value, size_t len)
{
	static struct labels labels;

	labels.len = 0;
	labels_add(&labels, "l", value, len);
	return labels.text;
}

#define LABEL(value) label(value, sizeof(value) - 1)

START_TEST(test_labels)
{
	ck_assert_str_eq(LABEL("a b"), "l=\"a b\"");
	ck_assert_str_eq(LABEL("\"\\\n"), "l=\"\\\"\\\\\\n\"");
	ck_assert_str_eq(LABEL("\x1b[2J\t\x7f"), "l=\"\\\\x1b[2J\\\\x09\\\\x7f\"");
	ck_assert_str_eq(LABEL("a\0b"), "l=\"a\\\\x00b\"");
	ck_assert_str_eq(LABEL("gr\xc3\xbc\xc3\x9f"), "l=\"gr\xc3\xbc\xc3\x9f\"");
	ck_assert_str_eq(LABEL("\xf0\x9f\x90\xb3"), "l=\"\xf0\x9f\x90\xb3\"");
	/* cut off, continued without a beginning, too long, a surrogate, too high */
	ck_assert_str_eq(LABEL("\xc3"), "l=\"\\\\xc3\"");
	ck_assert_str_eq(LABEL("\xe2\x82"), "l=\"\\\\xe2\\\\x82\"");
	ck_assert_str_eq(LABEL("\xbf"), "l=\"\\\\xbf\"");
	ck_assert_str_eq(LABEL("\xc0\xaf"), "l=\"\\\\xc0\\\\xaf\"");
	ck_assert_str_eq(LABEL("\xe0\x80\xaf"), "l=\"\\\\xe0\\\\x80\\\\xaf\"");
	ck_assert_str_eq(LABEL("\xe0\x9f\xbf"), "l=\"\\\\xe0\\\\x9f\\\\xbf\"");
	ck_assert_str_eq(LABEL("\xf0\x8f\xbf\xbf"), "l=\"\\\\xf0\\\\x8f\\\\xbf\\\\xbf\"");
	ck_assert_str_eq(LABEL("\xed\xa0\x80"), "l=\"\\\\xed\\\\xa0\\\\x80\"");
	ck_assert_str_eq(LABEL("\xf4\x90\x80\x80"), "l=\"\\\\xf4\\\\x90\\\\x80\\\\x80\"");
	ck_assert_str_eq(LABEL("\xff"), "l=\"\\\\xff\"");
	/* C1: a terminal takes it for an escape */
	ck_assert_str_eq(LABEL("\xc2\x9b"), "l=\"\\\\xc2\\\\x9b\"");
	ck_assert_str_eq(LABEL("\xc2\xa0"), "l=\"\xc2\xa0\"");
}
END_TEST

/* The longest path has room, and two that begin alike are not the same. */
START_TEST(test_long_labels)
{
	char one[4096], other[4096], *first;
	struct labels labels = { .len = 0 };
	int i;

	memset(one, '\xff', sizeof(one));
	memset(other, '\xff', sizeof(other));
	other[4095] = 'x';
	first = strdup(label(one, sizeof(one)));
	ck_assert_uint_lt(strlen(first), LABEL_VALUE_MAX + 32);
	ck_assert_str_ne(first, label(other, sizeof(other)));
	free(first);
	for (i = 0; i < 8; i++)
		labels_add(&labels, "namespace", one, sizeof(one));
	ck_assert_uint_lt(labels.len, sizeof(labels.text));
	ck_assert_int_eq(labels.text[labels.len - 1], '"');
}
END_TEST

START_TEST(test_row_labels)
{
	struct cmt_container c = {
		.sz = sizeof(c), .runtime = CMT_RUNTIME_CONTAINERD,
		.path = "/pod/c/nested", .own_len = 6,
		.container_name = "nginx", .pod_name = "web-0",
		.pod_namespace = "shop", .name = "shop/web-0/nginx",
		.id = "abc", .pod = "uid", .image = "i:1",
	};
	struct cmt_usage_row row = { .container = &c };
	struct labels labels;

	labels_of_row(&labels, &row, false);
	ck_assert_str_eq(labels.text, "id=\"/pod/c\",container=\"nginx\",pod=\"web-0\","
			 "namespace=\"shop\",runtime=\"containerd\"");
	ck_assert(labels_of_info(&labels, &row, false));
	ck_assert_ptr_nonnull(strstr(labels.text, ",container_id=\"abc\",pod_uid=\"uid\",image=\"i:1\""));
	c = (struct cmt_container){ .sz = sizeof(c), .name = "cgroup:9" };
	labels_of_row(&labels, &row, false);
	ck_assert_str_eq(labels.text, "container=\"cgroup:9\"");
	ck_assert(!labels_of_info(&labels, &row, false));
	row = (struct cmt_usage_row){
		.owner = CMT_OWNER_CGROUP, .cgroup_id = 12,
	};
	labels_of_row(&labels, &row, false);
	ck_assert_str_eq(labels.text, "container=\"cgroup:12\"");
	row.kind = CMT_USAGE_OVERFLOW;
	labels_of_row(&labels, &row, false);
	ck_assert_str_eq(labels.text, "container=\"(overflow)\"");
	row = (struct cmt_usage_row){ .owner = CMT_OWNER_CPU, .cpu = 3 };
	labels_of_row(&labels, &row, false);
	ck_assert_str_eq(labels.text, "container=\"cpu:3\"");
	/* a group of resctrl, of which the RMID is known, and then the path */
	row = (struct cmt_usage_row){
		.owner = CMT_OWNER_RESCTRL, .rmid = 2,
		.cgroup_id = CMT_RESCTRL_GROUP | CMT_RESCTRL_RMID | 7 << 16 | 2,
	};
	labels_of_row(&labels, &row, false);
	ck_assert_str_eq(labels.text, "container=\"resctrl:2\"");
	c = (struct cmt_container){ .sz = sizeof(c), .name = "mon_groups/x", .path = "/mon_groups/x" };
	row.container = &c;
	labels_of_row(&labels, &row, false);
	ck_assert_str_eq(labels.text, "container=\"resctrl:mon_groups/x\"");
}
END_TEST

START_TEST(test_openmetrics)
{
	const char *text;

	begin(10, 3);
	new_frame();
	add_row(1, 10, 5);
	end_frame();
	text = render(true);
	ck_assert_ptr_nonnull(strstr(text, "# TYPE cmt_memory_bytes counter\n"
				     "# UNIT cmt_memory_bytes bytes\n"
				     "cmt_memory_bytes_total{"));
	ck_assert_ptr_nonnull(strstr(text, "# TYPE cmt_build info\n"
				     "cmt_build_info{version="));
	ck_assert_str_eq(text + strlen(text) - 6, "# EOF\n");
	text = render(false);
	ck_assert_ptr_nonnull(strstr(text, "# TYPE cmt_memory_bytes_total counter\n"
				     "cmt_memory_bytes_total{"));
	ck_assert_ptr_nonnull(strstr(text, "# TYPE cmt_build_info gauge\n"));
	ck_assert_ptr_null(strstr(text, "# EOF"));
	ck_assert_ptr_null(strstr(text, "# UNIT"));
	finish();
}
END_TEST

START_TEST(test_accept)
{
	ck_assert(!http_accepts_openmetrics(NULL));
	ck_assert(!http_accepts_openmetrics(""));
	ck_assert(!http_accepts_openmetrics("*/*"));
	ck_assert(!http_accepts_openmetrics("text/plain"));
	ck_assert(http_accepts_openmetrics("application/openmetrics-text"));
	ck_assert(http_accepts_openmetrics("Application/OpenMetrics-Text ; version=1.0.0"));
	/* that of Prometheus 2.42 */
	ck_assert(http_accepts_openmetrics(
		"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
	ck_assert(!http_accepts_openmetrics(
		"application/openmetrics-text;q=0.5, text/plain"));
	ck_assert(!http_accepts_openmetrics("application/openmetrics-text;q=0"));
	ck_assert(!http_accepts_openmetrics("application/openmetrics-text;q=nan"));
	ck_assert(!http_accepts_openmetrics("application/openmetrics-texts"));
	ck_assert(!http_accepts_openmetrics(",,;;q=,;q=1e999"));
	ck_assert(!http_accepts_openmetrics("application/openmetrics-text;"
					    " q=-1"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exporter");

	UNIT_CASE(suite, test_values);
	UNIT_CASE(suite, test_residue);
	UNIT_CASE(suite, test_unknown);
	UNIT_CASE(suite, test_degraded);
	UNIT_CASE(suite, test_idle_is_no_cpu_time);
	UNIT_CASE(suite, test_local_incomplete);
	UNIT_CASE(suite, test_overwritten);
	UNIT_CASE(suite, test_counters);
	UNIT_CASE(suite, test_counters_given_up);
	UNIT_CASE(suite, test_spike_stays_for_a_window);
	UNIT_CASE(suite, test_ended_container_keeps_counters);
	UNIT_CASE(suite, test_returned_container_keeps_counter);
	UNIT_CASE(suite, test_largest_containers_have_series);
	UNIT_CASE(suite, test_equal_containers_keep_series);
	UNIT_CASE(suite, test_equal_containers_window_of_one);
	UNIT_CASE(suite, test_kernel);
	UNIT_CASE(suite, test_larger_container_gets_series);
	UNIT_CASE(suite, test_same_labels);
	UNIT_CASE(suite, test_incomplete_counts_once);
	UNIT_CASE(suite, test_emulated);
	UNIT_CASE(suite, test_late_image);
	UNIT_CASE(suite, test_no_longer_emulated);
	UNIT_CASE(suite, test_histogram);
	UNIT_CASE(suite, test_histogram_unread);
	UNIT_CASE(suite, test_histogram_bounded);
	UNIT_CASE(suite, test_histogram_parts);
	UNIT_CASE(suite, test_histogram_sum);
	UNIT_CASE(suite, test_parts);
	UNIT_CASE(suite, test_parts_bounded);
	UNIT_CASE(suite, test_channels);
	UNIT_CASE(suite, test_culprits);
	UNIT_CASE(suite, test_culprits_of_both);
	UNIT_CASE(suite, test_pairs);
	UNIT_CASE(suite, test_pairs_replace);
	UNIT_CASE(suite, test_pairs_without_device);
	UNIT_CASE(suite, test_culprit_pairs);
	UNIT_CASE(suite, test_slowdowns);
	UNIT_CASE(suite, test_cpu_wait);
	UNIT_CASE(suite, test_cpu_wait_is_no_counter);
	UNIT_CASE(suite, test_excluded_cpus);
	UNIT_CASE(suite, test_wait_pairs);
	UNIT_CASE(suite, test_wait_pairs_bounded);
	UNIT_CASE(suite, test_window_memory);
	UNIT_CASE(suite, test_labels);
	UNIT_CASE(suite, test_long_labels);
	UNIT_CASE(suite, test_row_labels);
	UNIT_CASE(suite, test_openmetrics);
	UNIT_CASE(suite, test_accept);
	return unit_run(suite);
}
