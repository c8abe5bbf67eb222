// SPDX-License-Identifier: GPL-2.0-or-later
/* The series of cmt-exporter, and the pages that are made of them. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expose.h"
#include "http.h"
#include "labels.h"
#include "unit.h"

#define VALUES (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define MAX_ROWS 4096

static struct cmt_usage_row rows[MAX_ROWS];
static struct cmt_container containers[MAX_ROWS];
static char paths[MAX_ROWS][64];
static struct cmt_usage_frame frame;
static struct series_set set;
static struct machine machine;
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
	free(page);
	page = NULL;
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
		.machine = &machine, .set = &set, .pages = 1,
	};
	size_t len;
	FILE *out;

	free(page);
	out = open_memstream(&page, &len);
	ck_assert_int_eq(expose(out, &exposition, openmetrics), 0);
	fclose(out);
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

#define ONE "id=\"/c1\",container=\"c1\""

START_TEST(test_values)
{
	begin(10, 3);
	new_frame();
	add_row(1, 100, 7)->occupancy.residual_bytes = 3;
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
		rows[0].counters.ran_ns = 1500000000;
		end_frame();
	}
	ck_assert(has("cmt_memory_bytes_total{" ONE ",kind=\"total\"} 40\n"));
	ck_assert(has("cmt_memory_bytes_total{" ONE ",kind=\"local\"} 25\n"));
	ck_assert(has("cmt_cycles_total{" ONE "} 5000\n"));
	ck_assert(has("cmt_cpu_seconds_total{" ONE "} 7.500000000\n"));
	ck_assert(!has("cmt_instructions_total{"));
	new_frame();
	add_row(1, 1, UINT64_MAX);
	end_frame();
	ck_assert(has("kind=\"total\"} 18446744073709551615\n"));
	finish();
}
END_TEST

/* A spike is there for a window, and no longer. */
START_TEST(test_window)
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
START_TEST(test_stale)
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
START_TEST(test_gap)
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
START_TEST(test_largest)
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
	/* nobody knows when all of them were at their most together */
	ck_assert(!has("_most_bytes{" OTHERS));
	ck_assert(!has("_least_bytes{" OTHERS));
	ck_assert(has("cmt_exporter_containers 100\n"));
	ck_assert(has("cmt_exporter_containers_hidden 3900\n"));
	finish();
}
END_TEST

/* Equal ones do not drive each other out, and their counters never decrease. */
START_TEST(test_sticky)
{
	uint32_t i;
	uint64_t last = 0;

	begin(10, 2);
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
END_TEST

static uint64_t turned;

static uint64_t one_large(uint32_t number)
{
	return number == turned ? 1000 : 100;
}

/* Who becomes much larger has a series within a window. */
START_TEST(test_newcomer)
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
	ck_assert_uint_lt(strlen(first), 5 * LABEL_VALUE_MAX + 64);
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

	labels_of_row(&labels, &row);
	ck_assert_str_eq(labels.text, "id=\"/pod/c\",container=\"nginx\",pod=\"web-0\","
			 "namespace=\"shop\",runtime=\"containerd\"");
	ck_assert(labels_of_info(&labels, &row));
	ck_assert_ptr_nonnull(strstr(labels.text, ",container_id=\"abc\",pod_uid=\"uid\",image=\"i:1\""));
	c = (struct cmt_container){ .sz = sizeof(c), .name = "cgroup:9" };
	labels_of_row(&labels, &row);
	ck_assert_str_eq(labels.text, "container=\"cgroup:9\"");
	ck_assert(!labels_of_info(&labels, &row));
	row = (struct cmt_usage_row){
		.owner = CMT_OWNER_CGROUP, .cgroup_id = 12,
	};
	labels_of_row(&labels, &row);
	ck_assert_str_eq(labels.text, "container=\"cgroup:12\"");
	row.kind = CMT_USAGE_OVERFLOW;
	labels_of_row(&labels, &row);
	ck_assert_str_eq(labels.text, "container=\"(overflow)\"");
	row = (struct cmt_usage_row){ .owner = CMT_OWNER_CPU, .cpu = 3 };
	labels_of_row(&labels, &row);
	ck_assert_str_eq(labels.text, "container=\"cpu:3\"");
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
	UNIT_CASE(suite, test_unknown);
	UNIT_CASE(suite, test_degraded);
	UNIT_CASE(suite, test_counters);
	UNIT_CASE(suite, test_window);
	UNIT_CASE(suite, test_stale);
	UNIT_CASE(suite, test_gap);
	UNIT_CASE(suite, test_largest);
	UNIT_CASE(suite, test_sticky);
	UNIT_CASE(suite, test_newcomer);
	UNIT_CASE(suite, test_same_labels);
	UNIT_CASE(suite, test_labels);
	UNIT_CASE(suite, test_long_labels);
	UNIT_CASE(suite, test_row_labels);
	UNIT_CASE(suite, test_openmetrics);
	UNIT_CASE(suite, test_accept);
	return unit_run(suite);
}
