// SPDX-License-Identifier: GPL-2.0-or-later
#include <check.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "table/screen.h"
#include "table/view.h"
#include "unit.h"
#include "why/marks.h"

static struct cmt_container container;
static struct cmt_info info;
static struct row rows[3];
static struct report report;
static char *text;
static size_t text_len;

/* A good row, one whose name and values are hostile, and RMID 0's. */
static void prepare(void)
{
	container = (struct cmt_container){
		.runtime = CMT_RUNTIME_DOCKER, .name = "web",
		.path = "/system.slice/x,\"y\"\n",
		.container_name = "nginx", .pod_name = "web-0",
		.pod_namespace = "shop", .image = "localhost/web:1.0",
	};
	info = (struct cmt_info){
		.backend = CMT_BACKEND_HARDWARE, .vendor = CMT_VENDOR_INTEL,
		.events = CMT_F_OCCUPANCY,
		.rmids_usable = 55, .l3_bytes = 32 << 20,
		.reason = "CPUID 0xF",
	};
	rows[0] = (struct row){
		.seen = true, .owner = CMT_OWNER_PROCESS,
		.container = &container, .cgroup_id = 7, .pid = 42, .comm = "nginx", .rmid = 3, .generation = 9,
		.rmids = 2, .occupancy = { true, true, 1 << 20 },
		.total = { true, false, 12345678 }, .l3_bytes = 32 << 20,
		.least = { true, false, 1 << 19 }, .most = { true, false, 1 << 21 },
		.why = CMT_USAGE_WHY_ERROR, .age_ns = 17999999,
		.occupancy_part = { true, false, 1 },
		.total_part = { true, false, 1 },
		.cpu_share = { true, true, 2.5 }, .ipc = { true, false, 0.5 },
		.counters = { .known = true, .partial = true,
			      .values = CMT_F_CYCLES | CMT_F_INSTRUCTIONS,
			      .ran_ns = 2500000000, .cycles = 8000,
			      .instructions = 4000, .llc_misses = 77 },
	};
	rows[1] = (struct row){
		.seen = true, .owner = CMT_OWNER_PROCESS, .cgroup_id = 8,
		.pid = 43,
		.comm = "\033[31m\"\\\xff",
	};
	rows[2] = (struct row){ .seen = true, .kind = CMT_USAGE_UNATTRIBUTED };
	report = (struct report){
		.info = &info, .scope = CMT_SCOPE_PROCESS,
		.census = { .monitored = 63, .pending = 137 },
		.frame = { .by = VIEW_PROCESS, .end_ns = 5, .elapsed_ns = 1e9,
			   .nr_domains = 1, .nr_rows = 3, .rows = rows,
			   .interval_ns = 1000000, .nr_cpus = 2,
			   .ticks_ns = 2000000000, .busy_ns = 20000000 },
	};
}

static void print_table(struct table_opts opts)
{
	struct screen screen = { .put = screen_print, .opts = &opts };

	free(text);
	text = NULL;
	screen.to = open_memstream(&text, &text_len);
	view_table(&screen, &report);
	fclose(screen.to);
}

static void print_json(void)
{
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &text_len);
	ck_assert_int_eq(view_json(out, &report), 0);
	fclose(out);
}

static void print_csv(void)
{
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &text_len);
	view_csv_header(out, report.frame.by);
	view_csv(out, &report);
	fclose(out);
}

static void assert_has(const char *needle)
{
	ck_assert_msg(strstr(text, needle) != NULL, "no '%s' in:\n%s", needle,
		      text);
}

static void assert_lacks(const char *needle)
{
	ck_assert_msg(!strstr(text, needle), "'%s' in:\n%s", needle, text);
}

/* Only line ends and printable bytes: nothing that acts on a terminal. */
static void assert_tame(void)
{
	size_t i;

	for (i = 0; i < text_len; i++)
		ck_assert_msg(text[i] == '\n' || (text[i] >= 0x20 &&
						  text[i] < 0x7f),
			      "byte %#x at %zu", (unsigned char)text[i], i);
}

START_TEST(test_view_table_values)
{
	prepare();
	print_table((struct table_opts){ 0 });
	assert_tame();
	assert_has(">1.0 MiB");
	assert_has("12.3 MB/s");
	assert_has("docker:web");
	assert_has(" error\n");
	assert_has("\\x1b[31m\"\\\\\\xff");
	assert_has("(unattributed)");
	assert_has("sampling overhead: 2.00 % of one CPU (2 online)");
	assert_has("process scope: 63 of 200 processes with a dedicated RMID\n");
	assert_lacks("0 B/s");
	assert_lacks("EMULATED");
	assert_lacks("LOST");
}
END_TEST

/* What no row has is no column. */
START_TEST(test_view_table_counters)
{
	prepare();
	print_table((struct table_opts){ 0 });
	assert_has(" CPU %   IPC ");
	assert_has(" >250.0  0.50 ");
	assert_lacks("MPKI");
	assert_lacks("not counted");
	rows[1].mpki = (struct measure){ true, false, 12.345 };
	report.uncounted = CMT_F_CYCLES | CMT_F_LLC_REFERENCES;
	strcpy(report.counters_reason, "no\033[2J");
	print_table((struct table_opts){ 0 });
	assert_tame();
	assert_has(" CPU %   IPC   MPKI ");
	assert_has(" 12.35 ");
	assert_has("not counted: cycles, LLC references (no\\x1b[2J)\n");
	rows[1].wait_share = (struct measure){ true, true, 0.75 };
	rows[1].counters.quota = true;
	report.uncounted = CMT_F_WAITED;
	print_table((struct table_opts){ 0 });
	assert_has(" CPU % WAIT %   IPC ");
	assert_has("  >75.0 ");
	assert_has(" quota");
	assert_has("not counted: waiting (no\\x1b[2J)\n");
	/* the kernel's reason beside another one's */
	report.uncounted = CMT_F_CYCLES | CMT_F_WAITED;
	strcpy(info.wait_reason, "never\033[2J");
	print_table((struct table_opts){ 0 });
	assert_tame();
	assert_has("not counted: cycles (no\\x1b[2J)\n");
	assert_has("not counted: waiting (never\\x1b[2J)\n");
	report.uncounted = CMT_F_CYCLES;
	print_table((struct table_opts){ 0 });
	assert_lacks("never");
}
END_TEST

START_TEST(test_view_table_banners)
{
	prepare();
	report.emulated = true;
	report.lost = 3;
	report.lost_ever = 8;
	strcpy(info.reason, "no RDT \033[2J");
	print_table((struct table_opts){ 0 });
	assert_tame();
	assert_has("EMULATED: these values come from a model");
	assert_has("no RDT \\x1b[2J");
	assert_has("LOST 3 records (8 since the start)");
}
END_TEST

/* How many records a damaged part had may be unknown. */
START_TEST(test_view_table_damaged)
{
	struct replay replay = { .gaps = 501 };

	prepare();
	report.replay = &replay;
	report.lost = report.lost_ever = 1;
	report.gaps = 500;
	print_table((struct table_opts){ 0 });
	assert_has("LOST at least 1 records (at least 1 since the start)");
	assert_has("GAPS: records are missing in 500 time slots");
	report.lost = 0;
	print_table((struct table_opts){ 0 });
	assert_has("LOST 0 records (at least 1 since the start)");
}
END_TEST

/* What a number may look like on a screen of any width, with its unit. */
static const char *const whole_numbers[] = {
	"512.0 KiB", "512Ki", "1.5 GiB", "1.5Gi", "1023.0 B", "1023 B", "1023",
	"500.0 kB/s", "500k", "123.5 MB/s", "123M", "9.9 GB/s", "9.9G", "1.6", "100.0",
	"4800.0", "0.0", "4194304", "17", "250", "42", "0", "1", "2", "3",
	"250.0", "2560.0", "0.50", "3.99", "123.45",
};

static void assert_whole(const char *number, const char *line)
{
	size_t i, len;

	for (i = 0; i < sizeof(whole_numbers) / sizeof(char *); i++) {
		len = strlen(whole_numbers[i]);
		if (!strncmp(number, whole_numbers[i], len) &&
		    strchr(" \n", number[len]))
			return;
	}
	ck_abort_msg("cut: '%.20s' in\n%s\n%s", number, line, text);
}

/* Every number in the rows below the titles. */
static void assert_no_number_is_cut(void)
{
	const char *line = strstr(text, "OCC"), *byte;

	for (byte = line ? strchr(line, '\n') + 1 : ""; *byte; byte++)
		if (strchr("0123456789", *byte) &&
		    strchr(" >\n", byte[-1]))
			assert_whole(byte, byte);
}

static void prepare_numbers(enum view by, bool counted)
{
	uint32_t i;

	prepare();
	report.frame.by = by;
	strcpy(container.name, "shop/checkout-of-a-long-name/payment");
	container.pod_name = "checkout-of-a-long-name";
	rows[0].is_cpu = by == VIEW_CPU;
	rows[0].ticks = rows[0].busy_ticks = 250;
	rows[0].processes_known = true;
	rows[0].processes = 17;
	rows[0].occupancy.value = 512 << 10;
	rows[0].total.value = 500e3;
	rows[0].local = (struct measure){ true, true, 123456789 };
	rows[0].residual_known = true;
	rows[0].residual_bytes = 1023;
	rows[1].pid = 4194304;
	strcpy(rows[1].comm, "a-long-command");
	rows[1].occupancy = (struct measure){ true, true, 3ULL << 29 };
	rows[1].total = (struct measure){ true, true, 9.9e9 };
	rows[1].l3_bytes = 32 << 20;
	rows[1].why = CMT_USAGE_WHY_OVERWRITTEN;
	rows[1].residual_known = true;
	rows[1].residual_bytes = 3ULL << 29;
	rows[0].cpu_share.known = counted;
	rows[0].ipc.known = counted;
	rows[1].cpu_share = (struct measure){ counted, true, 25.6 };
	rows[1].ipc = (struct measure){ counted, false, 3.99 };
	rows[1].mpki = (struct measure){ counted, false, 123.45 };
	rows[2].total = (struct measure){ true, false, 0 };
	for (i = 0; i < 3; i++)
		rows[i].rmids = rows[i].rmid = i;
	report.frame.nr_domains = 2;
}

static void assert_fits(unsigned int width)
{
	const char *line, *end;

	for (line = text; *line; line = end + 1) {
		end = strchr(line, '\n');
		ck_assert_msg((size_t)(end - line) <= width,
			      "longer than %u:\n%s", width, text);
	}
}

/* 80, 60 and 40 columns are among them. */
START_TEST(test_view_table_cuts_no_number)
{
	unsigned int width;

	for (width = 28; width <= 220; width++) {
		prepare_numbers((enum view)_i, width % 2);
		print_table((struct table_opts){ .width = width });
		assert_fits(width);
		assert_no_number_is_cut();
		assert_has(width > 200 ? "OCCUPANCY" : "OCC");
	}
}
END_TEST

/* What is of counters only has a word where it makes a value a lower bound. */
START_TEST(test_view_table_why)
{
	uint32_t bit;

	for (bit = CMT_USAGE_WHY_ERROR; bit <= CMT_USAGE_WHY_EXCLUDED; bit <<= 1)
		ck_assert_msg(!usage_why_name(bit) ==
			      (bit == CMT_USAGE_WHY_NOT_COUNTED), "%#x", bit);
	ck_assert_str_eq(usage_why_name(CMT_USAGE_WHY_EXCLUDED |
					CMT_USAGE_WHY_OLD), "old");
	prepare();
	rows[0].why = 0;
	rows[0].counters.why = CMT_USAGE_WHY_EXCLUDED;
	print_table((struct table_opts){ .width = 140 });
	assert_has(" cpu-excluded\n");
	rows[0].counters.why = CMT_USAGE_WHY_NOT_COUNTED;
	print_table((struct table_opts){ .width = 140 });
	assert_lacks("cpu-excluded");
}
END_TEST

/* A verdict hides no reason. */
START_TEST(test_view_table_why_beside_a_mark)
{
	static const struct mark mark = {
		.verdict = { .kind = CMT_CULPRIT_CACHE }, .victim = "docker:web",
		.suspect = "docker:batch",
	};

	prepare();
	rows[0].mark = &mark;
	rows[0].suspected = true;
	rows[0].why = CMT_USAGE_WHY_PENDING;
	rows[0].total_part.value = 0.436;
	print_table((struct table_opts){ 0 });
	assert_has(" took cache of docker:web, pending, bw 43 %\n");
	rows[0].why = 0;
	rows[0].total_part.value = 1;
	print_table((struct table_opts){ 0 });
	assert_has(" took cache of docker:web\n");
}
END_TEST

/* Who counts the rest of a row, above the table also where that is brief. */
START_TEST(test_view_table_incomplete)
{
	prepare();
	print_table((struct table_opts){ .width = 140 });
	assert_lacks("INCOMPLETE");
	report.beside = (struct beside){
		.any = true, .groups = 1, .named = true, .has_cpu = true, .cpu = 1,
		.name = "mon_groups/x", .incomplete = 1, .first = "docker:\033web",
	};
	print_table((struct table_opts){ .width = 140 });
	assert_has("INCOMPLETE: docker:\\x1bweb: CPU 1 is of resctrl group mon_groups/x; cmtctl resctrl take counts it for cmt\n");
	print_json();
	assert_has("\"incomplete\":\"CPU 1 is of resctrl group mon_groups/x\",");
	report.beside.incomplete = 3;
	print_table((struct table_opts){ .width = 140, .height = 12 });
	assert_has("INCOMPLETE: 3 rows: CPU 1");
	report.beside.incomplete = 0;
	print_json();
	assert_has("\"incomplete\":null,");
}
END_TEST

/* Numbers get shorter before columns go, and columns before names. */
START_TEST(test_view_table_narrows)
{
	prepare_numbers(VIEW_CONTAINER, false);
	print_table((struct table_opts){ .width = 140 });
	assert_has("512.0 KiB");
	assert_has("123.5 MB/s");
	assert_has(" shop/checkout-of-a-long-name/payment ");
	print_table((struct table_opts){ .width = 80 });
	assert_has(" >512Ki ");
	assert_has("500k >123M ");
	assert_has("  17 ");
	assert_has(" rmid-overwritten\n");
	assert_lacks(" POD ");
	print_table((struct table_opts){ .width = 60 });
	assert_has("\nshop/checkout-of-a-long");
	assert_has(" 500k");
	assert_lacks("LOC/s");
	print_table((struct table_opts){ .width = 40 });
	assert_has("\nshop/checkout-of");
	assert_has(" >512Ki");
	assert_has(" 500k");
}
END_TEST

static char lines_of_pods[2][1024];

/* The lines of two containers in a table of @width columns */
static void print_pods(const char *a, const char *b, unsigned int width)
{
	static struct cmt_container pods[2];
	char *line;

	prepare_numbers(VIEW_CONTAINER, false);
	report.frame.nr_rows = 2;
	for (int i = 0; i < 2; i++) {
		rows[1].why = 0;
		pods[i] = container;
		pods[i].pod_name = NULL;
		snprintf(pods[i].name, sizeof(pods[i].name), "%s", i ? b : a);
		rows[i] = rows[0];
		rows[i].container = &pods[i];
	}
	print_table((struct table_opts){ .width = width });
	line = strstr(text, "NAME");
	for (int i = 0; i < 2; i++) {
		line = strchr(line, '\n') + 1;
		snprintf(lines_of_pods[i], sizeof(lines_of_pods[i]), "%.*s",
			 (int)strcspn(line, "\n"), line);
	}
}

/* Two pods of a deployment, the names of whose containers are long or short. */
START_TEST(test_view_table_cuts_names_apart)
{
	unsigned int width;

	for (width = 50; width <= 140; width++) {
		print_pods("production/payments-api-7d9f8b6c5d-x7k2p/payments-api",
			   "production/payments-api-7d9f8b6c5d-q4m9z/payments-api", width);
		ck_assert_msg(strcmp(lines_of_pods[0], lines_of_pods[1]), "%s", text);
		assert_fits(width);
		print_pods("production/payments-api-7d9f8b6c5d-x7k2p/app",
			   "production/payments-api-7d9f8b6c5d-x7k2p/log", width);
		ck_assert_msg(strcmp(lines_of_pods[0], lines_of_pods[1]), "%s", text);
	}
	print_pods("production/payments-api-7d9f8b6c5d-x7k2p/app",
		   "staging/payments-api-7d9f8b6c5d-x7k2p/app", 60);
	assert_has("\nproduction/payments-");
	assert_has("\nstaging/payments-");
}
END_TEST

/* The header goes on in another line, and is not cut either. */
START_TEST(test_view_header_wraps)
{
	prepare();
	report.census.attached = 12345;
	print_table((struct table_opts){ .width = 40 });
	assert_has("Z  hardware (Intel)\nL3: 1 x 32.0 MiB  RMIDs: 0 of 55 in use\n");
	assert_has("RMID, and 12345 attached\n");
	assert_has("sampling overhead: 2.00 %");
	assert_fits(40);
}
END_TEST

/* On a narrow screen incidents leave room for rows: the first one is there, and a count. */
START_TEST(test_view_incidents)
{
	struct window window = { 0 };

	prepare();
	report.ongoing = (struct ongoing){ .nr = 2 };
	for (uint32_t i = 0; i < 2; i++) {
		report.ongoing.list[i].share = 0.18;
		report.ongoing.list[i].worst = 0.2;
		strcpy(report.ongoing.list[i].victim, "docker:web");
	}
	print_table((struct table_opts){ .window = &window, .width = 20, .height = 24 });
	assert_has("at most 20 %\n+1 incident\n");
	/* all of it where there is room, and all of them */
	report.ongoing.nr = 2;
	print_table((struct table_opts){ .window = &window, .width = 100, .height = 24 });
	assert_has(" s, at most 20 %\nweb is 18 % slower, ");
	assert_lacks("incident\n");
}
END_TEST

/* A container with a process below it, the overflow RMID, and RMID 0. */
static void prepare_containers(void)
{
	prepare();
	report.frame.by = VIEW_CONTAINER;
	report.scope = CMT_SCOPE_CONTAINER;
	report.frame.nr_rows = 3;
	strcpy(container.name, "a\033[31m");
	rows[1] = rows[0];
	rows[0].owner = CMT_OWNER_CGROUP;
	rows[0].processes_known = true;
	rows[0].processes = 17;
	rows[1].child = true;
	strcpy(rows[1].comm, "\033]0;");
	rows[2] = (struct row){
		.seen = true, .kind = CMT_USAGE_OVERFLOW, .pending_noun = "containers",
		.pending = 137,
	};
}

static void prepare_many(struct row many[], uint32_t nr)
{
	uint32_t i;

	prepare_containers();
	for (i = 0; i < nr; i++) {
		many[i] = rows[0];
		many[i].container = NULL;
		many[i].cgroup_id = 1000 + i;
	}
	many[nr - 2] = rows[2];
	many[nr - 1] = (struct row){
		.seen = true, .kind = CMT_USAGE_UNATTRIBUTED,
	};
	report.frame.rows = many;
	report.frame.nr_rows = nr;
}

static unsigned int count_lines(void)
{
	unsigned int lines = 0;
	size_t i;

	for (i = 0; i < text_len; i++)
		lines += text[i] == '\n';
	return lines;
}

/* What does not fit is counted, and what makes the sum complete goes last. */
START_TEST(test_view_table_counts_rows_that_do_not_fit)
{
	struct row many[40];

	prepare_many(many, 40);
	print_table((struct table_opts){ .width = 120, .height = 20 });
	ck_assert_uint_eq(count_lines(), 20);
	assert_has("cgroup:1012 ");
	assert_lacks("cgroup:1013 ");
	assert_has("\n+25 rows\n");
	assert_has("(overflow: 137 containers)");
	assert_has("(unattributed)");
	print_table((struct table_opts){ .width = 120, .height = 44 });
	ck_assert_uint_eq(count_lines(), 44);
	assert_lacks("\n+");
	print_table((struct table_opts){ .width = 120, .height = 43 });
	assert_has("\n+2 rows\n");
	prepare_many(many, 4);
	print_table((struct table_opts){ .width = 120, .height = 7 });
	assert_has("\n+2 rows\n");
	assert_has("(overflow");
	report.emulated = true;
	print_table((struct table_opts){ .width = 120, .height = 5 });
	ck_assert_uint_eq(count_lines(), 5);
	assert_has("EMULATED");
	assert_lacks("(overflow");
	assert_has("\n+3 rows\n");
	assert_has("(unattributed)");
}
END_TEST

START_TEST(test_view_table_fits_screen)
{
	unsigned int height;

	for (height = 3; height < 12; height++) {
		prepare();
		report.emulated = true;
		report.lost_ever = 1;
		memset(container.name, 'n', sizeof(container.name) - 1);
		print_table((struct table_opts){ .width = 40,
						 .height = height });
		assert_fits(40);
		ck_assert_uint_le(count_lines(), height);
		assert_has("EMULATED");
	}
}
END_TEST

START_TEST(test_view_table_empty_interval)
{
	prepare();
	report.frame.unread = true;
	report.frame.nr_rows = 0;
	print_table((struct table_opts){ 0 });
	assert_has("no readings in this interval");
}
END_TEST

START_TEST(test_view_container_table)
{
	prepare_containers();
	report.census.attached = 2;
	print_table((struct table_opts){ 0 });
	assert_tame();
	assert_has("container scope: 63 of 200 containers with a dedicated RMID, and 2 attached\n");
	assert_has("\nRUNTIME  NAME");
	assert_has(" POD ");
	assert_has("\ndocker   a\\x1b[31m ");
	assert_has(" web-0    ");
	assert_has("    17    >1.0 MiB ");
	assert_has("\n           42 \\x1b]0; ");
	assert_has("(overflow: 137 containers) ");
	assert_lacks("to expand");
	report.census.attached_pending = 1;
	rows[2].pending_attached = 1;
	print_table((struct table_opts){ 0 });
	assert_has(" with a dedicated RMID, and 2 of 3 attached\n");
	assert_has("(overflow: 137 containers, 1 attached) ");
	report.census.services = 28;
	report.census.services_pending = 1;
	rows[2].pending_services = 1;
	print_table((struct table_opts){ 0 });
	assert_has("container scope: 63 of 200 containers and 28 of 29 services with a dedicated RMID, and 2 of 3 attached\n");
	assert_has("(overflow: 137 containers, 1 service, 1 attached) ");
	report.census.unknown = true;
	print_table((struct table_opts){ 0 });
	assert_has("container scope: 137 containers and 29 services without a dedicated RMID\n");
	report.census.unknown = false;
	report.census.services = report.census.services_pending = 0;
	rows[2].pending_services = 0;
	report.expand = true;
	print_table((struct table_opts){ 0 });
	assert_has("container scope: only attached processes have dedicated RMIDs to expand\n");
	report.scope = CMT_SCOPE_PROCESS;
	print_table((struct table_opts){ 0 });
	assert_lacks("to expand");
}
END_TEST

/* A column that no row has anything for takes no place. */
START_TEST(test_view_optional_columns)
{
	prepare_containers();
	container.pod_name = NULL;
	print_table((struct table_opts){ 0 });
	assert_lacks(" POD ");
	strcpy(container.pod, "0123-45");
	print_table((struct table_opts){ 0 });
	assert_has(" POD ");
	assert_has(" 0123-45 ");
	prepare();
	report.frame.by = VIEW_CPU;
	memset(&rows[0].occupancy, 0, sizeof(rows[0].occupancy));
	print_table((struct table_opts){ 0 });
	assert_lacks("OCCUPANCY");
	rows[0].occupancy.known = true;
	print_table((struct table_opts){ 0 });
	assert_has("OCCUPANCY");
}
END_TEST

static void prepare_channels(void)
{
	prepare();
	report.frame.by = VIEW_CHANNEL;
	rows[0] = (struct row){
		.seen = true, .socket = 1, .channel = 4294967295U,
		.read = { true, false, 12.3e9 }, .read_bytes = 12300000000,
		.written = { true, false, 4e9 }, .written_bytes = 4000000000,
		.total = { true, false, 16.3e9 }, .share = { true, false, 1 },
		.idle = { true, false, 0.1234 },
	};
	rows[1] = (struct row){
		.seen = true, .socket = 1, .channel = 7,
		.read = { true, true, 5e6 }, .written = { true, true, 0 },
		.total = { true, true, 5e6 }, .why = CMT_USAGE_WHY_GAP,
		.idle_why = CMT_USAGE_WHY_UNAVAILABLE,
	};
	rows[2] = (struct row){ .seen = true, .why = CMT_USAGE_WHY_OLD };
	report.frame.memory = (struct memory){
		.nr_channels = 3, .total = { true, true, 16.3e9 },
		.read = { true, true, 12.3e9 }, .written = { true, true, 4e9 },
		.rmids = { true, false, 17e9 }, .lo = -8e8, .hi = INFINITY,
	};
}

/* What is not known has no number, but a bound where there is one. */
START_TEST(test_view_memory)
{
	struct memory *memory = &report.frame.memory;

	prepare_channels();
	print_table((struct table_opts){ 0 });
	assert_has("memory: >16.3 GB/s (read >12.3 GB/s, written >4.0 GB/s), all RMIDs: 17.0 GB/s, unattributed to RMIDs: -\n");
	memory->hi = -3e8;
	print_table((struct table_opts){ 0 });
	assert_has("unattributed to RMIDs: at most -300.0 MB/s\n");
	memory->unattributed_known = true;
	memory->unattributed = -5e8;
	print_table((struct table_opts){ 0 });
	assert_has("unattributed to RMIDs: -500.0 MB/s\n");
	assert_lacks("UNAVAILABLE: ");
	strcpy(report.channels_reason, "others \033[31m");
	print_table((struct table_opts){ 0 });
	assert_tame();
	assert_has("UNAVAILABLE: some memory channels, because: others \\x1b[31m\n");
	memory->nr_channels = 0;
	report.frame.nr_rows = 0;
	print_table((struct table_opts){ 0 });
	assert_has("\nUNAVAILABLE: memory channels are not available here, because: others");
	assert_lacks("memory: ");
	report.frame.by = VIEW_CONTAINER;
	print_table((struct table_opts){ 0 });
	assert_lacks("memory channels");
	/* a screen of few lines has the rows */
	prepare_channels();
	print_table((struct table_opts){ .width = 80, .height = 6 });
	assert_lacks("memory: ");
	assert_has("4294967295");
}
END_TEST

START_TEST(test_view_channels)
{
	unsigned int width;

	prepare_channels();
	print_table((struct table_opts){ 0 });
	assert_has("\n     1 4294967295    12.3 GB/s     4.0 GB/s    16.3 GB/s   100.0      12.3\n");
	assert_has("\n     1          7    >5.0 MB/s       >0 B/s    >5.0 MB/s       -         - gap\n");
	assert_has("\n     0          0            -            -            -       -         - old\n");
	for (width = 28; width <= 100; width++) {
		print_table((struct table_opts){ .width = width });
		assert_fits(width);
		assert_has(" 4294967295 ");
		assert_has(width < 60 ? "16.3G" : "16.3");
	}
	prepare_channels();
	print_csv();
	assert_has(",16300000000,12300000000,4000000000,17000000000,true,false,,-800000000,,1,4294967295,12300000000,4000000000,16300000000,100.000,12300000000,4000000000,false,12.340,,\n");
	assert_has(",,0,0,,,,,,,false,,,old\n");
}
END_TEST

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	ck_assert_msg(json_object_object_get_ex(object, key, &value),
		      "no %s", key);
	return value;
}

/* Line @n of the output, from 0; freed by the caller. */
static struct json_object *parse_line(unsigned int n)
{
	struct json_object *object;
	const char *line = text;
	char *copy;

	while (n--) {
		line = strchr(line, '\n') + 1;
		ck_assert(*line);
	}
	copy = strndup(line, strcspn(line, "\n"));
	object = json_tokener_parse(copy);
	ck_assert_msg(object != NULL, "no JSON: %s", copy);
	free(copy);
	return object;
}

static void assert_text(struct json_object *object, const char *key,
			const char *expected)
{
	struct json_object *value = member(object, key);

	ck_assert(expected || !value);
	if (expected)
		ck_assert_str_eq(json_object_get_string(value), expected);
}

static void assert_number(struct json_object *object, const char *key,
			  int64_t expected)
{
	ck_assert_int_eq(json_object_get_int64(member(object, key)), expected);
}

/* RMIDs are only numbers: no value, and why. */
START_TEST(test_view_unavailable)
{
	struct json_object *interval;

	prepare();
	print_table((struct table_opts){ 0 });
	assert_lacks("UNAVAILABLE");
	print_json();
	assert_has("\"unavailable\":null,");
	info.backend = CMT_BACKEND_SOFTWARE;
	info.events = 0;
	strcpy(info.reason, "no RDT \033[2J");
	print_table((struct table_opts){ 0 });
	assert_tame();
	assert_has("software (Intel)");
	assert_has("UNAVAILABLE: cache occupancy and memory bandwidth: no RDT \\x1b[2J");
	assert_lacks("EMULATED");
	print_json();
	interval = parse_line(0);
	assert_text(interval, "unavailable", "no RDT \033[2J");
	json_object_put(interval);
}
END_TEST

START_TEST(test_view_json_interval)
{
	struct json_object *interval;

	prepare();
	report.emulated = true;
	report.lost = 3;
	report.frame.missed = 4;
	report.census.attached = 5;
	print_json();
	interval = parse_line(0);
	assert_text(interval, "record", "interval");
	assert_text(interval, "by", "process");
	assert_text(interval, "scope", "process");
	assert_number(interval, "end_ns", 5);
	assert_number(interval, "elapsed_ns", 1000000000);
	assert_number(interval, "monitored", 63);
	assert_number(interval, "pending", 137);
	assert_number(interval, "attached", 5);
	assert_number(interval, "emulated", 1);
	assert_number(interval, "lost", 3);
	assert_number(interval, "missed", 4);
	assert_number(interval, "sampling_interval_ns", 1000000);
	assert_number(interval, "sampling_ns", 20000000);
	assert_number(interval, "cpus", 2);
	assert_number(interval, "rows", 3);
	json_object_put(interval);
}
END_TEST

/* An interval without readings is one record, too. */
START_TEST(test_view_json_empty_interval)
{
	struct json_object *interval;

	prepare();
	report.frame.unread = true;
	report.frame.nr_rows = 0;
	print_json();
	interval = parse_line(0);
	assert_number(interval, "rows", 0);
	assert_number(interval, "end_ns", 5);
	ck_assert_ptr_null(member(interval, "elapsed_ns"));
	ck_assert_ptr_eq(strchr(text, '\n'), text + text_len - 1);
	json_object_put(interval);
}
END_TEST

START_TEST(test_view_json_values)
{
	struct json_object *first, *second, *value;

	prepare();
	report.emulated = true;
	print_json();
	first = parse_line(1);
	second = parse_line(2);
	assert_text(first, "record", "row");
	assert_number(first, "end_ns", 5);
	assert_number(first, "emulated", 1);
	assert_number(first, "occupancy_bytes", 1 << 20);
	assert_number(first, "occupancy_partial", 1);
	assert_number(first, "age_ms", 17);
	ck_assert_double_eq(json_object_get_double(member(first,
					"mbm_total_bytes_per_s")), 12345678);
	ck_assert_ptr_null(member(first, "mbm_local_bytes_per_s"));
	assert_text(first, "reason", "error");
	assert_text(first, "container_name", "nginx");
	assert_text(first, "pod_name", "web-0");
	assert_text(first, "namespace", "shop");
	assert_text(first, "image", "localhost/web:1.0");
	ck_assert(!json_object_object_get_ex(first, "lost", &value));
	ck_assert(!json_object_object_get_ex(first, "scope", &value));
	ck_assert_ptr_null(member(second, "image"));
	ck_assert_ptr_null(member(second, "occupancy_bytes"));
	assert_number(first, "mbm_total_coverage_percent", 100);
	ck_assert_ptr_null(member(first, "mbm_local_coverage_percent"));
	ck_assert_ptr_null(member(second, "occupancy_coverage_percent"));
	json_object_put(first);
	json_object_put(second);
}
END_TEST

/* A path opens as it is read, and is in hexadecimal where it is no text. */
static const struct {
	const char *path, *read, *hex;
} paths[] = {
	{ "/system.slice/dev-disk-by\\x2duuid.swap",
	  "/system.slice/dev-disk-by\\x2duuid.swap", NULL },
	{ "/x,\"y\"\n\t\033[31m", "/x,\"y\"\n\t\033[31m", NULL },
	{ "/caf\xc3\xa9\xc2\x9b\xe2\x80\xae\x7f",
	  "/caf\xc3\xa9\xc2\x9b\xe2\x80\xae\x7f", NULL },
	{ "/a\xff" "b\xc3", "/a\xef\xbf\xbd" "b\xef\xbf\xbd", "2f61ff62c3" },
};

static void assert_no_control(void)
{
	const char *byte;

	for (byte = text; *byte; byte++) {
		ck_assert((unsigned char)*byte >= 0x20 || *byte == '\n');
		ck_assert(*byte != 0x7f);
	}
	assert_lacks("\xc2\x9b");
	assert_lacks("\xe2\x80\xae");
}

START_TEST(test_view_json_paths)
{
	struct json_object *row;

	prepare();
	container.path = paths[_i].path;
	strcpy(rows[0].comm, "\\\xff");
	print_json();
	assert_no_control();
	row = parse_line(1);
	assert_text(row, "cgroup", paths[_i].read);
	assert_text(row, "cgroup_hex", paths[_i].hex);
	assert_text(row, "comm", "\\\xef\xbf\xbd");
	json_object_put(row);
}
END_TEST

static unsigned int commas(const char *line)
{
	unsigned int nr = 0;
	bool quoted = false;

	for (; *line && *line != '\n'; line++) {
		quoted ^= *line == '"';
		nr += *line == ',' && !quoted;
	}
	return nr;
}

START_TEST(test_view_csv_same_fields_in_all_lines)
{
	const char *line;
	unsigned int nr;

	prepare();
	report.frame.by = (enum view)_i;
	print_csv();
	assert_tame();
	nr = commas(text);
	ck_assert_uint_gt(nr, 10);
	for (line = text; *line; line = strchr(line, '\n') + 1)
		ck_assert_uint_eq(commas(line), nr);
}
END_TEST

START_TEST(test_view_json_containers)
{
	struct json_object *first, *second, *third;

	prepare_containers();
	print_json();
	first = parse_line(1);
	second = parse_line(2);
	third = parse_line(3);
	assert_text(first, "kind", "cgroup");
	assert_number(first, "processes", 17);
	ck_assert_ptr_null(member(first, "pid"));
	assert_text(second, "kind", "process");
	assert_number(second, "pid", 42);
	assert_text(second, "container", "docker:a\033[31m");
	assert_text(third, "kind", "overflow");
	ck_assert_ptr_null(member(third, "cgroup_id"));
	json_object_put(first);
	json_object_put(second);
	json_object_put(third);
}
END_TEST

/* Behind the reason, or without one; rounded down; of no value that is complete or missing. */
START_TEST(test_view_table_coverage)
{
	prepare();
	rows[0].total_part.value = 0.4375;
	rows[1].occupancy_part = (struct measure){ true, false, 0.5 };
	rows[1].total_part = (struct measure){ true, false, 0.9999 };
	rows[1].local_part = (struct measure){ true, false, 0.1 };
	rows[2].total_part = (struct measure){ true, false, 0 };
	print_table((struct table_opts){ 0 });
	assert_has(" error, bw 43 %\n");
	assert_has(" occ 50 %, bw 99 %\n");
	assert_lacks(" bw 0 %");
}
END_TEST

START_TEST(test_view_csv_unread)
{
	prepare();
	print_csv();
	assert_has(",5,1000000000,process,");
	report.frame.unread = true;
	print_csv();
	assert_has(",5,,process,");
	assert_lacks(",1000000000,process,");
}
END_TEST

START_TEST(test_view_csv_values)
{
	prepare();
	print_csv();
	assert_has("8000,4000,,,,,,524288,2097152,17,true,");
	rows[0].residual_known = true;
	print_csv();
	assert_has(",\"/system.slice/x,\"\"y\"\"\\x0a\",");
	assert_has(",1048576,3.125,12345678,,250.000,,0.500,,2500000000,"
		   "8000,4000,,,,,0,524288,2097152,17,true,false,false,"
		   "100.000,100.000,,true,false,error\n");
	assert_has(",\"\\x1b[31m\"\"\\\\\\xff\",");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("views");
	TCase *tc = tcase_create("views");
	int status;

	tcase_add_test(tc, test_view_table_values);
	tcase_add_test(tc, test_view_table_counters);
	tcase_add_test(tc, test_view_table_banners);
	tcase_add_test(tc, test_view_table_damaged);
	tcase_add_test(tc, test_view_table_fits_screen);
	tcase_add_loop_test(tc, test_view_table_cuts_no_number, VIEW_CONTAINER,
			    VIEW_DOMAIN + 1);
	tcase_add_test(tc, test_view_table_why);
	tcase_add_test(tc, test_view_table_why_beside_a_mark);
	tcase_add_test(tc, test_view_table_incomplete);
	tcase_add_test(tc, test_view_table_narrows);
	tcase_add_test(tc, test_view_table_cuts_names_apart);
	tcase_add_test(tc, test_view_header_wraps);
	tcase_add_test(tc, test_view_incidents);
	tcase_add_test(tc, test_view_table_counts_rows_that_do_not_fit);
	tcase_add_test(tc, test_view_table_empty_interval);
	tcase_add_test(tc, test_view_unavailable);
	tcase_add_test(tc, test_view_json_interval);
	tcase_add_test(tc, test_view_json_empty_interval);
	tcase_add_test(tc, test_view_json_values);
	tcase_add_loop_test(tc, test_view_json_paths, 0,
			    sizeof(paths) / sizeof(paths[0]));
	tcase_add_loop_test(tc, test_view_csv_same_fields_in_all_lines,
			    VIEW_CONTAINER, VIEW_CHANNEL + 1);
	tcase_add_test(tc, test_view_table_coverage);
	tcase_add_test(tc, test_view_csv_unread);
	tcase_add_test(tc, test_view_csv_values);
	tcase_add_test(tc, test_view_container_table);
	tcase_add_test(tc, test_view_optional_columns);
	tcase_add_test(tc, test_view_json_containers);
	tcase_add_test(tc, test_view_memory);
	tcase_add_test(tc, test_view_channels);
	suite_add_tcase(suite, tc);
	status = unit_run(suite);
	free(text);
	return status;
}
