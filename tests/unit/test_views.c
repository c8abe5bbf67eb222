// SPDX-License-Identifier: GPL-2.0-or-later
#include <check.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"
#include "unit.h"

static struct cmt_container container;
static struct cmt_info info;
static struct row rows[3];
static struct report report;
static char *text;
static size_t text_len;

/* A good row, one whose name and values are hostile, and nobody's. */
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
		.rmids_usable = 55, .l3_bytes = 32 << 20,
		.reason = "CPUID 0xF",
	};
	rows[0] = (struct row){
		.seen = true, .owner = CMT_OWNER_PROCESS,
		.container = &container, .cgroup_id = 7, .pid = 42, .comm = "nginx", .rmid = 3, .generation = 9,
		.rmids = 2, .occupancy = { true, true, 1 << 20 },
		.total = { true, false, 12345678 }, .l3_bytes = 32 << 20,
		.why = WHY_ERROR,
	};
	rows[1] = (struct row){
		.seen = true, .owner = CMT_OWNER_PROCESS, .cgroup_id = 8,
		.pid = 43,
		.comm = "\033[31m\"\\\xff",
	};
	rows[2] = (struct row){ .seen = true, .kind = OWNER_NOBODY };
	report = (struct report){
		.info = &info, .scope = CMT_SCOPE_PROCESS,
		.census = { .monitored = 63, .waiting = 137 },
		.frame = { .by = BY_PROCESS, .end_ns = 5, .elapsed_ns = 1e9,
			   .nr_domains = 1, .nr_rows = 3, .rows = rows,
			   .interval_ns = 1000000, .nr_cpus = 2,
			   .ticks_ns = 2000000000, .busy_ns = 20000000 },
	};
}

static void print_table(struct table_opts opts)
{
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &text_len);
	opts.eol = "\n";
	view_table(out, &report, &opts);
	fclose(out);
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
	assert_has("(nobody)");
	assert_has("costs 1.00 % of 2 CPUs");
	assert_has("process scope: 63 of 200 processes individually monitored\n");
	assert_lacks("0 B/s");
	assert_lacks("EMULATED");
	assert_lacks("LOST");
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

START_TEST(test_view_table_fits_screen)
{
	unsigned int lines = 0;
	char *line;

	prepare();
	memset(container.name, 'n', sizeof(container.name) - 1);
	print_table((struct table_opts){ .width = 80, .height = 5 });
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		ck_assert_uint_le(strlen(line), 80);
		lines++;
	}
	/* three of the header, the titles, one row */
	ck_assert_uint_eq(lines, 5);
}
END_TEST

START_TEST(test_view_table_attributes_only_when_allowed)
{
	prepare();
	print_table((struct table_opts){ .attributes = true });
	assert_has("\033[1m");
	print_table((struct table_opts){ .attributes = false });
	assert_lacks("\033");
}
END_TEST

START_TEST(test_view_table_empty_interval)
{
	prepare();
	report.frame.end_ns = 0;
	report.frame.nr_rows = 0;
	print_table((struct table_opts){ 0 });
	assert_has("no readings in this interval");
}
END_TEST

/* A container with a process below it, the rest, and nobody's. */
static void prepare_containers(void)
{
	prepare();
	report.frame.by = BY_CONTAINER;
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
		.seen = true, .kind = OWNER_REST, .waits = "containers",
		.waiting = 137,
	};
}

START_TEST(test_view_container_table)
{
	prepare_containers();
	report.census.attached = 2;
	print_table((struct table_opts){ 0 });
	assert_tame();
	assert_has("container scope: 63 of 200 containers individually monitored, and 2 attached\n");
	assert_has("\nRUNTIME  NAME");
	assert_has(" POD ");
	assert_has("\ndocker   a\\x1b[31m ");
	assert_has(" web-0    ");
	assert_has("    17    >1.0 MiB ");
	assert_has("\n           42 \\x1b]0; ");
	assert_has("(no RMID: 137 containers) ");
	assert_lacks("to expand");
	report.census.attached_waiting = 1;
	rows[2].waiting_attached = 1;
	print_table((struct table_opts){ 0 });
	assert_has(" individually monitored, and 2 of 3 attached\n");
	assert_has("(no RMID: 137 containers, 1 attached) ");
	report.expand = true;
	print_table((struct table_opts){ 0 });
	assert_has("container scope: only attached processes have RMIDs of their own to expand\n");
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
	report.frame.by = BY_CPU;
	memset(&rows[0].occupancy, 0, sizeof(rows[0].occupancy));
	print_table((struct table_opts){ 0 });
	assert_lacks("OCCUPANCY");
	rows[0].occupancy.known = true;
	print_table((struct table_opts){ 0 });
	assert_has("OCCUPANCY");
}
END_TEST

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	ck_assert_msg(json_object_object_get_ex(object, key, &value),
		      "no %s", key);
	return value;
}

START_TEST(test_view_json_values)
{
	struct json_object *first, *second;
	char *line;

	prepare();
	report.emulated = true;
	print_json();
	assert_tame();
	line = strtok(text, "\n");
	first = json_tokener_parse(line);
	line = strtok(NULL, "\n");
	second = json_tokener_parse(line);
	ck_assert(first && second);
	ck_assert(json_object_get_boolean(member(first, "emulated")));
	ck_assert_int_eq(json_object_get_int64(member(first,
						      "occupancy_bytes")),
			 1 << 20);
	ck_assert(json_object_get_boolean(member(first, "occupancy_partial")));
	ck_assert_double_eq(json_object_get_double(member(first,
					"mbm_total_bytes_per_s")), 12345678);
	ck_assert_ptr_null(member(first, "mbm_local_bytes_per_s"));
	ck_assert_str_eq(json_object_get_string(member(first, "reason")),
			 "error");
	ck_assert_str_eq(json_object_get_string(member(first,
						       "container_name")),
			 "nginx");
	ck_assert_str_eq(json_object_get_string(member(first, "pod_name")),
			 "web-0");
	ck_assert_str_eq(json_object_get_string(member(first, "namespace")),
			 "shop");
	ck_assert_str_eq(json_object_get_string(member(first, "image")),
			 "localhost/web:1.0");
	ck_assert_ptr_null(member(second, "image"));
	ck_assert_str_eq(json_object_get_string(member(first, "cgroup")),
			 "/system.slice/x,\"y\"\\x0a");
	ck_assert_ptr_null(member(second, "occupancy_bytes"));
	ck_assert_str_eq(json_object_get_string(member(second, "comm")),
			 "\\x1b[31m\"\\\\\\xff");
	json_object_put(first);
	json_object_put(second);
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
	report.frame.by = (enum aggregate_by)_i;
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
	assert_tame();
	first = json_tokener_parse(strtok(text, "\n"));
	second = json_tokener_parse(strtok(NULL, "\n"));
	third = json_tokener_parse(strtok(NULL, "\n"));
	ck_assert_str_eq(json_object_get_string(member(first, "scope")),
			 "container");
	ck_assert_int_eq(json_object_get_int(member(first, "monitored")), 63);
	ck_assert_int_eq(json_object_get_int(member(first, "waiting")), 137);
	ck_assert_str_eq(json_object_get_string(member(first, "kind")),
			 "cgroup");
	ck_assert_int_eq(json_object_get_int(member(first, "processes")), 17);
	ck_assert_ptr_null(member(first, "pid"));
	ck_assert_str_eq(json_object_get_string(member(second, "kind")),
			 "process");
	ck_assert_int_eq(json_object_get_int(member(second, "pid")), 42);
	ck_assert_str_eq(json_object_get_string(member(second, "container")),
			 "docker:a\\x1b[31m");
	ck_assert_str_eq(json_object_get_string(member(third, "kind")),
			 "rest");
	ck_assert_ptr_null(member(third, "cgroup_id"));
	json_object_put(first);
	json_object_put(second);
	json_object_put(third);
}
END_TEST

START_TEST(test_view_csv_values)
{
	prepare();
	print_csv();
	assert_has(",\"/system.slice/x,\"\"y\"\"\\x0a\",");
	assert_has(",1048576,3.125,12345678,,0,true,false,false,error\n");
	assert_has(",\"\\x1b[31m\"\"\\\\\\xff\",");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("views");
	TCase *tc = tcase_create("views");
	int status;

	tcase_add_test(tc, test_view_table_values);
	tcase_add_test(tc, test_view_table_banners);
	tcase_add_test(tc, test_view_table_fits_screen);
	tcase_add_test(tc, test_view_table_attributes_only_when_allowed);
	tcase_add_test(tc, test_view_table_empty_interval);
	tcase_add_test(tc, test_view_json_values);
	tcase_add_loop_test(tc, test_view_csv_same_fields_in_all_lines,
			    BY_CONTAINER, BY_DOMAIN + 1);
	tcase_add_test(tc, test_view_csv_values);
	tcase_add_test(tc, test_view_container_table);
	tcase_add_test(tc, test_view_optional_columns);
	tcase_add_test(tc, test_view_json_containers);
	suite_add_tcase(suite, tc);
	status = unit_run(suite);
	free(text);
	return status;
}
