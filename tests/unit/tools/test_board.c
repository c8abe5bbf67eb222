// SPDX-License-Identifier: GPL-2.0-or-later
/* The full screen without a terminal: keys, and what is drawn for a size. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "board/board.h"
#include "board/frozen_report.h"
#include "table/glyphs.h"
#include "unit.h"
#include "why/slower.h"

#define SECOND 1000000000ULL
#define MANY 10000
#define LINE 1024

static struct cmt_info info;
static struct cmt_container containers[3];
static struct row rows[2 * MANY + 8];
static struct report report;
static struct board board;
static struct canvas canvas;
static struct history history;
static struct frozen_report frozen;
static char text[200 * LINE];

static void set_row(struct row *row, uint32_t i)
{
	containers[i] = (struct cmt_container){
		.sz = sizeof(containers[i]), .runtime = CMT_RUNTIME_DOCKER,
		.path = i == 0 ? "/a" : i == 1 ? "/b" : "/c", .own_len = 2,
	};
	snprintf(containers[i].name, sizeof(containers[i].name), "%s",
		 i == 0 ? "web" : i == 1 ? "batch" : "\xe2\x80\xaeq\033[31m");
	*row = (struct row){
		.seen = true, .owner = CMT_OWNER_CGROUP, .cgroup_id = i + 1,
		.container = &containers[i], .l3_bytes = 32 << 20,
		.processes_known = true, .processes = i + 1,
		.occupancy = { true, false, (double)(4 << 20 << i) },
		.least = { true, false, 1 << 20 },
		.most = { true, false, 16 << 20 },
		.total = { true, i == 1, 1.5e9 / (i + 1) },
		.local = { true, false, 123456789 },
		.cpu_share = { true, false, 0.5 }, .wait_share = { true, false, 0.125 }, .ipc = { true, false, 1.25 },
		.mpki = { true, false, 10.5 * i },
	};
}

static void prepare(void)
{
	uint32_t i;

	info = (struct cmt_info){
		.backend = CMT_BACKEND_HARDWARE, .vendor = CMT_VENDOR_INTEL,
		.events = CMT_F_OCCUPANCY, .rmids_usable = 55,
		.l3_bytes = 32 << 20,
	};
	for (i = 0; i < 3; i++)
		set_row(&rows[i], i);
	rows[3] = (struct row){ .seen = true, .kind = CMT_USAGE_UNATTRIBUTED };
	rows[0].nr_children = 1;
	rows[4] = (struct row){
		.seen = true, .owner = CMT_OWNER_PROCESS, .pid = 42,
		.comm = "nginx", .child = true, .l3_bytes = 32 << 20,
		.container = &containers[0],
		.occupancy = { true, false, 1 << 20 },
	};
	report = (struct report){
		.info = &info, .scope = CMT_SCOPE_PROCESS,
		.frame = { .by = VIEW_CONTAINER, .end_ns = 100 * SECOND,
			   .elapsed_ns = SECOND, .nr_domains = 1, .nr_rows = 4,
			   .rows = rows, .children = rows + 4,
			   .nr_children = 1, .flat = rows + 5,
			   .interval_ns = 1000000, .nr_cpus = 2,
			   .ticks_ns = 2 * SECOND, .busy_ns = 20000000 },
	};
	board_end(&board);
	board = (struct board){
		.by = VIEW_CONTAINER, .interval_ns = SECOND,
	};
	board_begin(&board);
	history_clear(&history);
}

/* As the screen does with each report; trails of the last one stay. */
static void take_caches(void)
{
	struct caches old = report.caches;

	caches_set(&report.caches, &report.frame);
	for (uint32_t i = 0; i < old.nr && i < report.caches.nr; i++)
		report.caches.list[i].trail = old.list[i].trail;
}

/* All lines, each ended; @unicode as in canvas_text(). */
static void draw(unsigned int width, unsigned int height, bool unicode)
{
	unsigned int i;
	char line[LINE * 4];

	ck_assert_int_eq(canvas_size(&canvas, width, height), 0);
	take_caches();
	board_draw(&board, &report, &canvas);
	text[0] = '\0';
	for (i = 0; i < height; i++) {
		canvas_text(&canvas, i, unicode, line, sizeof(line));
		strcat(strcat(text, line), "\n");
	}
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

static void assert_order(const char *first, const char *second)
{
	assert_has(first);
	assert_has(second);
	ck_assert_msg(strstr(text, first) < strstr(text, second),
		      "%s is not before %s:\n%s", first, second, text);
}

static enum board_change press(const char *keys)
{
	enum board_change change = BOARD_NOTHING;

	for (; *keys; keys++)
		change = board_key(&board, *keys);
	return change;
}

START_TEST(test_board_has_what_rows_have)
{
	prepare();
	draw(250, 24, true);
	assert_has("hardware (Intel)  L3: 1 x 32.0 MiB");
	assert_has("sampling overhead: 2.00 %");
	assert_has(" docker   web ");
	assert_has("OCCUPANCY");
	assert_has(" 4.0 MiB   12.5 \u2588\u258e\u2591\u2591\u2591 ");
	assert_has(" 1.0 MiB   16.0 MiB ");
	assert_has(">750.0 MB/s");
	assert_has(" 10.50");
	assert_has("\\xe2\\x80\\xaeq\\x1b[31m");
	assert_lacks("\033");
	assert_has("sort: occupancy");
	draw(250, 24, false);
	assert_has(" 4.0 MiB   12.5 #-::: ");
	assert_lacks("\xe2");
}
END_TEST

/* 40, 80, 132 and 250 columns, and all between: columns go whole. */
START_TEST(test_board_cuts_no_number)
{
	static const char *const numbers[] = {
		"4.0 MiB", "4.0Mi", "8.0 MiB", "8.0Mi", "16.0 MiB", "16.0Mi",
		"1.5 GB/s", "1.5G", "750.0 MB/s", "750M", "500.0 MB/s", "500M",
	};
	unsigned int width;
	const char *line;
	size_t i, found;

	for (width = 40; width <= 250; width++) {
		prepare();
		draw(width, 24, false);
		line = strstr(text, "web");
		ck_assert_ptr_nonnull(line);
		for (i = found = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			if (strstr(text, numbers[i]))
				found++;
		ck_assert_msg(found >= 3, "%u:\n%s", width, text);
		for (line = text; *line; line = strchr(line, '\n') + 1)
			ck_assert_uint_le(strcspn(line, "\n"), width);
	}
}
END_TEST

/* The least screens: one message, or titles and a row. */
START_TEST(test_board_is_small)
{
	unsigned int width, height;

	prepare();
	draw(9, 2, false);
	ck_assert_str_eq(text, "too small\n\n");
	draw(1, 1, false);
	ck_assert_str_eq(text, "t\n");
	draw(10, 2, false);
	assert_has("too small");
	draw(10, 3, false);
	assert_lacks("too small");
	for (width = 1; width < 60; width += 3)
		for (height = 1; height < 20; height++)
			draw(width, height, false);
	canvas_free(&canvas);
	board_draw(&board, &report, &canvas);
}
END_TEST

START_TEST(test_board_without_a_report)
{
	prepare();
	ck_assert_int_eq(canvas_size(&canvas, 40, 10), 0);
	board_draw(&board, NULL, &canvas);
	canvas_text(&canvas, 0, false, text, sizeof(text));
	ck_assert_str_eq(text, "reading...");
	report.frame.nr_rows = report.frame.nr_children = 0;
	board_key(&board, BOARD_KEY_DOWN);
	board_key(&board, BOARD_KEY_ENTER);
	draw(80, 24, false);
	board_key(&board, BOARD_KEY_END);
	draw(80, 24, false);
}
END_TEST

START_TEST(test_board_sorts)
{
	prepare();
	draw(132, 24, false);
	assert_order("docker  \\xe2", "docker  batch");
	assert_order("docker  batch", "docker  web");
	press("r");
	draw(132, 24, false);
	assert_order("docker  web", "docker  batch");
	assert_order("docker  batch", "(unattributed)");
	assert_has("reversed");
	press("rs");
	draw(132, 24, false);
	assert_has("sort: total");
	assert_order("docker  web", "docker  batch");
	press("S");
	draw(132, 24, false);
	assert_has("sort: occupancy");
	/* what is not known stays behind in either direction */
	rows[0].container = NULL;
	prepare();
	rows[1].occupancy.known = false;
	draw(132, 24, false);
	assert_order("docker  web", "docker  batch");
	press("r");
	draw(132, 24, false);
	assert_order("docker  web", "docker  batch");
}
END_TEST

/* What a view has no column of is no order of it; what has no value is last, both ways. */
START_TEST(test_board_sorts_by_columns)
{
	prepare();
	for (int i = 0; i < 12; i++) {
		press("s");
		ck_assert_int_ne(board.sort, SORT_BUSY);
		ck_assert_int_ne(board.sort, SORT_RMIDS);
	}
	board.by = report.frame.by = VIEW_PROCESS;
	for (int i = 0; i < 3; i++) {
		rows[i].pid = i == 1 ? 0 : 100 + (uint32_t)i;
		snprintf(rows[i].comm, sizeof(rows[i].comm), "comm%d", i);
	}
	board.sort = SORT_NUMBER;
	draw(132, 14, false);
	assert_order("comm0", "comm2");
	assert_order("comm2", "comm1");
	press("r");
	draw(132, 14, false);
	assert_order("comm2", "comm0");
	assert_order("comm0", "comm1");
	prepare();
	board.by = report.frame.by = VIEW_CPU;
	for (uint32_t i = 0; i < 3; i++) {
		rows[i].is_cpu = true;
		rows[i].cpu = i;
		snprintf(rows[i].comm, sizeof(rows[i].comm), "comm%u", i);
		rows[i].ticks = i == 1 ? 0 : 100;
		rows[i].busy_ticks = i;
		rows[i].pid = 1;
	}
	board.sort = SORT_BUSY;
	draw(132, 14, false);
	assert_order("comm2", "comm0");
	assert_order("comm0", "comm1");
	press("r");
	draw(132, 14, false);
	assert_order("comm0", "comm2");
	assert_order("comm2", "comm1");
	press("s");
	ck_assert_int_ne(board.sort, SORT_NAME);
}
END_TEST

START_TEST(test_board_searches)
{
	prepare();
	press("/AT");
	draw(132, 24, false);
	assert_has("/AT_");
	assert_has("docker  batch");
	assert_lacks("docker  web");
	/* keys of commands are characters here */
	press("q");
	ck_assert(!board.quit);
	draw(132, 24, false);
	assert_lacks("docker  batch");
	board_key(&board, BOARD_KEY_ERASE);
	board_key(&board, BOARD_KEY_ENTER);
	draw(132, 24, false);
	assert_has("/AT  ");
	assert_has("docker  batch");
	board_key(&board, BOARD_KEY_ESCAPE);
	draw(132, 24, false);
	assert_has("docker  web");
	press("/web");
	board_key(&board, BOARD_KEY_ESCAPE);
	ck_assert_str_eq(board.search, "");
	press("/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	ck_assert_uint_eq(strlen(board.search), BOARD_SEARCH_LEN - 1);
}
END_TEST

/* Of a search that is longer than the line, its end is where the next character comes. */
START_TEST(test_board_has_the_end_of_a_search)
{
	prepare();
	press("/abcdefghijklmnopqrstuvwxyz0123456789");
	draw(30, 12, false);
	assert_has("\n/+lmnopqrstuvwxyz0123456789_\n");
	board_key(&board, BOARD_KEY_ENTER);
	draw(30, 12, false);
	assert_has("\n/+klmnopqrstuvwxyz0123456789\n");
	press(" ");
	draw(30, 12, false);
	assert_has("\nFROZEN  /+stuvwxyz0123456789\n");
	draw(60, 12, false);
	assert_has("\nFROZEN  /abcdefghijklmnopqrstuvwxyz0123456789 ");
	draw(10, 12, false);
	assert_has("\nFROZEN\n");
}
END_TEST

START_TEST(test_board_says_what_the_command_line_leaves_out)
{
	prepare();
	draw(100, 20, false);
	assert_lacks("filter:");
	assert_lacks("top:");
	board.filter = "w\033*";
	draw(100, 20, false);
	assert_has("help  filter: w\\x1b*  sort: occupancy");
	assert_has("\nno row matches\n");
	board.filter = "web";
	board.top_rows = 1;
	draw(100, 20, false);
	assert_has("help  filter: web  top: 1  sort: occupancy");
	assert_lacks("no row matches");
	board.filter = NULL;
	strcpy(board.search, "nobody");
	draw(100, 20, false);
	assert_has("\nno row matches\n");
	report.frame.nr_rows = 0;
	draw(100, 20, false);
	assert_lacks("no row matches");
}
END_TEST

/* Enter on a row that the search hides is on the first one of those it shows. */
START_TEST(test_board_opens_what_is_shown)
{
	prepare();
	draw(132, 24, false);
	board_key(&board, BOARD_KEY_DOWN);
	draw(132, 24, false);
	assert_has("\n>a docker");
	press("/bat");
	board_key(&board, BOARD_KEY_ENTER);
	board_key(&board, BOARD_KEY_ENTER);
	draw(132, 24, false);
	assert_lacks("not there any more");
	ck_assert_int_eq(board.pane, BOARD_DETAIL);
	ck_assert_uint_eq(board.selected, 0);
	assert_has("batch");
	board_key(&board, BOARD_KEY_ESCAPE);
	draw(132, 24, false);
	assert_has("\n>b docker  batch");
	/* where none is shown, and where the row has ended meanwhile */
	press("/nothing");
	board_key(&board, BOARD_KEY_ENTER);
	board_key(&board, BOARD_KEY_ENTER);
	draw(132, 24, false);
	assert_has("not there any more");
}
END_TEST

/* The selected owner stays selected when the order changes. */
START_TEST(test_board_selects)
{
	prepare();
	draw(132, 24, false);
	board_key(&board, BOARD_KEY_DOWN);
	draw(132, 24, false);
	ck_assert_uint_eq(board.selected, 0);
	board_key(&board, BOARD_KEY_DOWN);
	draw(132, 24, false);
	assert_has("\n>b docker  batch");
	press("r");
	rows[1].occupancy.value = 1;
	draw(132, 24, false);
	assert_has("\n>b docker  batch");
	board_key(&board, BOARD_KEY_END);
	draw(132, 24, false);
	assert_has("\n>  -       (unattributed)");
	board_key(&board, BOARD_KEY_HOME);
	draw(132, 24, false);
	ck_assert_uint_eq(board.selected, 0);
	board_key(&board, BOARD_KEY_UP);
	ck_assert_uint_eq(board.selected, 0);
	draw(132, 24, false);
	/* it is gone for an interval, and there again */
	rows[1].cgroup_id = 77;
	containers[1].path = "/other";
	containers[1].own_len = 6;
	draw(132, 24, false);
	assert_lacks("\n>");
	containers[1].path = "/b";
	containers[1].own_len = 2;
	draw(132, 24, false);
	assert_has("\n>b docker  batch");
	board_key(&board, BOARD_KEY_ESCAPE);
	draw(132, 24, false);
	assert_lacks("\n>");
}
END_TEST

/* A PID that is used again is another process's: neither the mark nor the curve is its own. */
START_TEST(test_board_knows_a_process_by_its_rmid)
{
	prepare();
	board.by = report.frame.by = VIEW_PROCESS;
	report.frame.nr_rows = 1;
	report.frame.nr_children = 0;
	rows[0] = (struct row){
		.seen = true, .owner = CMT_OWNER_PROCESS, .pid = 42, .comm = "old",
		.rmid = 5, .generation = 7, .l3_bytes = 32 << 20,
		.occupancy = { true, false, 4 << 20 },
	};
	history_add(&history, &report.frame);
	draw(132, 24, false);
	board_key(&board, BOARD_KEY_DOWN);
	draw(132, 24, false);
	assert_has("\n>a  42 old");
	report.frame.end_ns += SECOND;
	rows[0].generation++;
	strcpy(rows[0].comm, "new");
	history_add(&history, &report.frame);
	ck_assert(isnan(trail_at(rows[0].trail, report.frame.end_ns, 1)));
	draw(132, 24, false);
	assert_has("42 new");
	assert_lacks("\n>");
	rows[0].generation--;
	rows[0].rmid++;
	draw(132, 24, false);
	assert_lacks("\n>");
	rows[0].rmid--;
	draw(132, 24, false);
	assert_has("\n>");
}
END_TEST

START_TEST(test_board_has_a_detail_pane)
{
	prepare();
	history_add(&history, &report.frame);
	draw(80, 30, false);
	board_key(&board, BOARD_KEY_END);
	board_key(&board, BOARD_KEY_UP);
	board_key(&board, BOARD_KEY_ENTER);
	draw(80, 40, false);
	assert_has("docker:web\n");
	assert_has("cgroup     /a\n");
	assert_has("occupancy  4.0 MiB, least 1.0 MiB, most 16.0 MiB, of it residue at most -\n");
	assert_has("bandwidth  total 1.5 GB/s, local 123.5 MB/s");
	assert_has("CPU 50.00 %, WAIT 12.50 %, IPC 1.25, MPKI 0.00");
	assert_has("the highest is 16.0 MiB");
	assert_has("42 nginx");
	assert_lacks("incomplete");
	assert_lacks("note  ");
	rows[0].residual_known = rows[1].residual_known = rows[2].residual_known = true;
	draw(80, 40, false);
	assert_has("of it residue at most 0 B\n");
	rows[0].why = rows[1].why = rows[2].why = CMT_USAGE_WHY_OVERWRITTEN;
	draw(80, 40, false);
	assert_has("incomplete: an RMID of another program counts some of it\n");
	assert_has("note       rmid-overwritten\n");
	rows[0].why = rows[1].why = rows[2].why = 0;
	/* it scrolls, and not beyond its end */
	board_key(&board, BOARD_KEY_DOWN);
	draw(80, 40, false);
	assert_lacks("docker:web\n");
	board_key(&board, BOARD_KEY_END);
	draw(80, 40, false);
	assert_has("42 nginx");
	board_key(&board, BOARD_KEY_HOME);
	rows[0].container = NULL;
	rows[1].container = NULL;
	rows[2].container = NULL;
	draw(80, 40, false);
	assert_has("not there any more");
	board_key(&board, BOARD_KEY_ESCAPE);
	ck_assert_int_eq(board.pane, BOARD_ROWS);
}
END_TEST

/* What is no owner has no values of an owner: its pane has the columns of its table. */
START_TEST(test_board_has_columns_of_what_is_no_owner)
{
	prepare();
	board.by = report.frame.by = VIEW_CHANNEL;
	report.frame.nr_rows = 1;
	rows[0] = (struct row){
		.seen = true, .socket = 1, .channel = 2, .read = { true, false, 2e9 },
		.written = { true, false, 1e9 }, .total = { true, true, 3e9 },
		.share = { true, false, 0.25 },
	};
	draw(80, 24, false);
	board_key(&board, BOARD_KEY_ENTER);
	draw(80, 24, false);
	assert_has("socket 1, channel 2\n");
	assert_has("\nREAD       2.0 GB/s\nWRITTEN    1.0 GB/s\nTOTAL      >3.0 GB/s\n"
		   "SHARE %    25.0\nRD IDLE %  -\n");
	assert_lacks("\noccupancy");
	assert_lacks("CPU");
	assert_lacks("NOTE");
	prepare();
	board.by = report.frame.by = VIEW_CPU;
	report.frame.nr_rows = 1;
	rows[0] = (struct row){
		.seen = true, .is_cpu = true, .cpu = 3, .domain = 1, .ticks = 100,
		.busy_ticks = 25, .rmid = 9, .missed = 2, .lost = 4, .why = CMT_USAGE_WHY_PENDING,
	};
	draw(80, 24, false);
	board_key(&board, BOARD_KEY_ENTER);
	draw(80, 24, false);
	assert_has("\nDOMAIN     1\nBUSY %     25.0\nRMID       9\n");
	assert_has("\nTICKS      100\nMISSED     2\nLOST       4\nNOTE       ");
	assert_lacks("\noccupancy");
	assert_lacks("OCCUPANCY");
	assert_lacks("note");
}
END_TEST

/* The highest of values that are not known is not 0. */
START_TEST(test_board_has_curves_of_known_values)
{
	prepare();
	rows[0].culprit_id = 7;
	follow_id(&report.follow, 7);
	report.follow.newest = 1000;
	for (uint32_t i = 0; i < FOLLOW_SLOTS; i++) {
		report.follow.occupancy[i] = 4096;
		report.follow.traffic[i] = (float)NAN;
	}
	press("/web");
	board_key(&board, BOARD_KEY_ENTER);
	draw(80, 40, false);
	board_key(&board, BOARD_KEY_ENTER);
	draw(80, 40, false);
	assert_has("last 80 ms, occupancy; the highest is 4.0 KiB\n");
	assert_has("last 80 ms, bandwidth: not known\n");
	for (uint32_t i = 0; i < FOLLOW_SLOTS; i++)
		report.follow.traffic[i] = 0;
	draw(80, 40, false);
	assert_has("last 80 ms, bandwidth; the highest is 0 B/s\n");
}
END_TEST

/* In the pane of a row, as in the table. */
START_TEST(test_board_has_bounds_of_parts)
{
	prepare();
	rows[0].culprit_id = 7;
	follow_id(&report.follow, 7);
	report.follow.nr_parts = 2;
	report.follow.parts[0] = (struct follow_part){
		.occupancy = 10 << 20, .occupancy_partial = true,
		.rate = 6e8, .rate_partial = true,
	};
	report.follow.parts[1] = (struct follow_part){
		.domain = 1, .occupancy = (double)NAN, .rate = 6e8,
	};
	press("/web");
	board_key(&board, BOARD_KEY_ENTER);
	draw(80, 40, false);
	board_key(&board, BOARD_KEY_ENTER);
	draw(80, 40, false);
	assert_has("domain 0   >10.0 MiB, >600.0 MB/s\n");
	assert_has("domain 1   -, 600.0 MB/s\n");
	/* the overflow RMID has values of pending owners */
	rows[0].why = rows[1].why = rows[2].why = CMT_USAGE_WHY_PENDING;
	draw(80, 40, false);
	assert_has("domain 1   -, >600.0 MB/s\n");
}
END_TEST

START_TEST(test_board_helps)
{
	prepare();
	press("?");
	draw(80, 24, false);
	assert_has("freeze");
	assert_lacks("web");
	board_key(&board, BOARD_KEY_END);
	draw(80, 24, false);
	assert_has("a blank second");
	assert_lacks("LAST MINUTE: the most");
	board_key(&board, BOARD_KEY_UP);
	draw(80, 24, false);
	assert_has("LAST MINUTE: the most");
	press("h");
	draw(80, 24, false);
	assert_has("web");
	press("Q");
	ck_assert(board.quit);
}
END_TEST

START_TEST(test_board_changes_what_is_read)
{
	prepare();
	ck_assert_int_eq(press("3"), BOARD_REOPEN);
	ck_assert_int_eq(board.by, VIEW_CPU);
	ck_assert_int_eq(board.sort, SORT_NUMBER);
	ck_assert_int_eq(press("3"), BOARD_NOTHING);
	ck_assert_int_eq(press("e"), BOARD_NOTHING);
	ck_assert_int_eq(press("vv"), BOARD_REOPEN);
	ck_assert_int_eq(board.by, VIEW_CHANNEL);
	ck_assert_int_eq(press("v"), BOARD_REOPEN);
	ck_assert_int_eq(board.by, VIEW_CONTAINER);
	ck_assert_int_eq(press("+"), BOARD_REOPEN);
	ck_assert_uint_eq(board.interval_ns, 2 * SECOND);
	ck_assert_int_eq(press("--"), BOARD_REOPEN);
	ck_assert_uint_eq(board.interval_ns, SECOND / 2);
	ck_assert_int_eq(press("---"), BOARD_NOTHING);
	ck_assert_uint_eq(board.interval_ns, SECOND / 10);
	/* what takes ticks is not there without */
	board.light = true;
	ck_assert_int_eq(press("3"), BOARD_NOTHING);
	ck_assert_int_eq(press("5"), BOARD_NOTHING);
	ck_assert_int_eq(press("vv"), BOARD_REOPEN);
	ck_assert_int_eq(board.by, VIEW_DOMAIN);
	ck_assert_int_eq(press("v"), BOARD_REOPEN);
	ck_assert_int_eq(board.by, VIEW_CONTAINER);
	/* resctrl has containers and domains */
	board.light = false;
	board.groups = true;
	ck_assert_int_eq(press("235e"), BOARD_NOTHING);
	ck_assert_int_eq(press("v"), BOARD_REOPEN);
	ck_assert_int_eq(board.by, VIEW_DOMAIN);
	ck_assert_int_eq(press("v"), BOARD_REOPEN);
	ck_assert_int_eq(board.by, VIEW_CONTAINER);
}
END_TEST

/* Any key in any state draws something. */
/* Keys that only a recording knows. */
START_TEST(test_board_moves_in_a_recording)
{
	struct board b = { .by = VIEW_CONTAINER, .interval_ns = 1000000, .speed = 1 };

	board_begin(&b);
	ck_assert_int_eq(board_key(&b, BOARD_KEY_LEFT), BOARD_NOTHING);
	ck_assert_int_eq(board_key(&b, '.'), BOARD_NOTHING);
	b.replay = true;
	ck_assert_int_eq(board_key(&b, BOARD_KEY_LEFT), BOARD_REOPEN);
	ck_assert_int_eq(b.jump, -10);
	ck_assert_uint_eq(b.steps, 0);
	ck_assert_int_eq(board_key(&b, '.'), BOARD_DRAW);
	ck_assert(b.frozen && b.steps == 1);
	ck_assert_int_eq(board_key(&b, '>'), BOARD_REOPEN);
	ck_assert(b.jump == BOARD_JUMP_END && b.steps == 1);
	board_key(&b, ']');
	ck_assert(b.speed == 2);
	for (int i = 0; i < 20; i++)
		board_key(&b, '[');
	ck_assert(b.speed == 1.0 / 64);
	/* what the command line gave is within reach again, and nothing is faster than the fastest */
	b.speed = 1.0 / 1024;
	ck_assert_int_eq(board_key(&b, '['), BOARD_NOTHING);
	ck_assert_int_eq(board_key(&b, ']'), BOARD_DRAW);
	ck_assert(b.speed == 1.0 / 512);
	b.speed = 100000;
	ck_assert_int_eq(board_key(&b, ']'), BOARD_NOTHING);
	ck_assert_int_eq(board_key(&b, '['), BOARD_DRAW);
	ck_assert(b.speed == 50000);
	b.speed = 0;
	ck_assert_int_eq(board_key(&b, ']'), BOARD_NOTHING);
	ck_assert_int_eq(board_key(&b, '['), BOARD_DRAW);
	ck_assert(b.speed == 1);
	board_end(&b);
}
END_TEST

START_TEST(test_board_takes_any_key)
{
	unsigned int i, seed = 1;

	prepare();
	for (i = 0; i < 600; i++) {
		seed = seed * 1103515245 + 12345;
		board_key(&board, (int)(seed >> 16) % 0x110);
		board_click(&board, (seed >> 8) % 90, seed % 30);
		board.by = report.frame.by;
		draw(40 + seed % 90, 1 + (seed >> 4) % 30, i % 2);
	}
}
END_TEST

/* Keys that other programs of this kind have, too: a search takes none of them as text. */
START_TEST(test_board_takes_function_keys)
{
	prepare();
	ck_assert_int_eq(board_key(&board, BOARD_KEY_HELP), BOARD_DRAW);
	ck_assert_int_eq(board.pane, BOARD_HELP);
	board_key(&board, BOARD_KEY_SEARCH);
	ck_assert(board.typing);
	ck_assert_int_eq(board.pane, BOARD_ROWS);
	board_key(&board, BOARD_KEY_QUIT);
	ck_assert(!board.quit);
	board_key(&board, BOARD_KEY_OPTIONS);
	board_key(&board, BOARD_KEY_EXPAND);
	board_key(&board, BOARD_KEY_SORT);
	ck_assert_str_eq(board.search, "");
	ck_assert(board.typing && !board.expand && board.sort == SORT_OCCUPANCY);
	board_key(&board, BOARD_KEY_ENTER);
	board_key(&board, BOARD_KEY_EXPAND);
	board_key(&board, BOARD_KEY_SORT);
	ck_assert(board.expand && board.sort == SORT_TOTAL);
	board_key(&board, BOARD_KEY_QUIT);
	ck_assert(board.quit);
}
END_TEST

/* What is changed in it is kept when it is closed; what is changed elsewhere is not. */
START_TEST(test_board_has_options)
{
	struct settings settings;

	prepare();
	board.color = board.color_allowed = true;
	press("sr");
	ck_assert(!board_take_changed(&board, &settings));
	ck_assert_int_eq(board_key(&board, BOARD_KEY_OPTIONS), BOARD_DRAW);
	draw(80, 24, false);
	assert_has("\n> by         container ");
	assert_has("\n  sort       total ");
	assert_has("\n  reverse    yes ");
	assert_has("\n  interval   1 ");
	assert_lacks("web");
	board_key(&board, BOARD_KEY_UP);
	draw(80, 24, false);
	assert_has("\n> color      yes ");
	ck_assert_int_eq(press(" "), BOARD_DRAW);
	ck_assert(!board.color && !board.frozen);
	board_key(&board, BOARD_KEY_UP);
	board_key(&board, BOARD_KEY_UP);
	ck_assert_int_eq(board_key(&board, BOARD_KEY_LEFT), BOARD_REOPEN);
	ck_assert_uint_eq(board.interval_ns, SECOND / 2);
	ck_assert(!board_take_changed(&board, &settings));
	draw(80, 24, false);
	assert_has("\n> interval   0.5 ");
	board_key(&board, BOARD_KEY_ESCAPE);
	ck_assert_int_eq(board.pane, BOARD_ROWS);
	ck_assert(board_take_changed(&board, &settings));
	ck_assert_uint_eq(settings.given, 1U << SETTING_INTERVAL | 1U << SETTING_COLOR);
	ck_assert_uint_eq(settings.interval_ns, SECOND / 2);
	ck_assert(!settings.color);
	ck_assert(!board_take_changed(&board, &settings));
}
END_TEST

/* The keys of the table are those of the options, too; another view has its own order. */
START_TEST(test_board_changes_options_by_their_keys)
{
	struct settings settings;

	prepare();
	press("o");
	ck_assert_int_eq(press("2"), BOARD_REOPEN);
	ck_assert_int_eq(board.by, VIEW_PROCESS);
	ck_assert_int_eq(press("1"), BOARD_REOPEN);
	ck_assert_int_eq(press("V"), BOARD_REOPEN);
	ck_assert_int_eq(board.by, VIEW_CHANNEL);
	ck_assert_int_eq(board.pane, BOARD_OPTIONS);
	press("ec");
	draw(80, 24, false);
	assert_has("off by NO_COLOR or --no-color");
	press("q");
	ck_assert(board.quit && board_take_changed(&board, &settings));
	ck_assert_uint_eq(settings.given, 1U << SETTING_BY | 1U << SETTING_SORT);
	ck_assert_int_eq(settings.by, VIEW_CHANNEL);
	ck_assert_int_eq(settings.sort, SORT_NUMBER);
}
END_TEST

/* Where it is kept, or why not, in the last line until the next key. */
START_TEST(test_board_has_a_notice)
{
	prepare();
	strcpy(board.notice, "not kept: for a reason");
	draw(80, 24, false);
	assert_has("\nnot kept: for a reason\n");
	board_key(&board, BOARD_KEY_DOWN);
	draw(80, 24, false);
	assert_has("\nq quit ");
}
END_TEST

START_TEST(test_board_takes_clicks)
{
	unsigned int column, line;

	prepare();
	draw(132, 24, false);
	line = board.window.titles;
	column = (unsigned int)(strstr(text, "TOT/s") -
				strstr(text, "   RUNTIME"));
	ck_assert_int_eq(board_click(&board, column, line), BOARD_DRAW);
	ck_assert_int_eq(board.sort, SORT_TOTAL);
	ck_assert(!board.reverse);
	board_click(&board, column, line);
	ck_assert(board.reverse);
	ck_assert_int_eq(board_click(&board, column, line + 2), BOARD_DRAW);
	ck_assert_uint_eq(board.selected, 1);
	ck_assert_int_eq(board_click(&board, column, line + 20), BOARD_NOTHING);
	ck_assert_int_eq(board_click(&board, column, 0), BOARD_NOTHING);
}
END_TEST

/* The rows below "+N rows" are the last of the table. */
START_TEST(test_board_takes_clicks_below_hidden_rows)
{
	unsigned int line;

	prepare();
	draw(132, 6, false);
	assert_order("\n+2 rows\n", "(unattributed)");
	line = board.window.titles + board.window.shown;
	ck_assert_int_eq(board_click(&board, 5, line + 1), BOARD_NOTHING);
	ck_assert_int_eq(board_click(&board, 5, line + 3), BOARD_NOTHING);
	ck_assert_int_eq(board_click(&board, 5, line + 2), BOARD_DRAW);
	ck_assert_uint_eq(board.selected, 3);
	draw(132, 6, false);
	assert_has("\n>-       (unattributed)");
}
END_TEST

/* The attribute of the first byte of @needle */
static enum attribute attribute_of(const char *needle)
{
	const char *line = text, *found = strstr(text, needle);
	unsigned int row = 0;

	ck_assert_msg(found != NULL, "no '%s' in:\n%s", needle, text);
	for (; strchr(line, '\n') < found; row++)
		line = strchr(line, '\n') + 1;
	return (enum attribute)canvas.cells[(size_t)row * canvas.width +
					    (size_t)(found - line)].attribute;
}

START_TEST(test_board_shows_heat)
{
	prepare();
	rows[3].occupancy = (struct measure){ true, false, 30 << 20 };
	rows[3].l3_bytes = 32 << 20;
	draw(250, 24, false);
	ck_assert_int_eq(attribute_of("OCCUPANCY"), ATTRIBUTE_TITLE);
	ck_assert_int_eq(attribute_of("4.0 MiB   12.5"), ATTRIBUTE_NONE);
	ck_assert_int_eq(attribute_of("8.0 MiB   25.0"), ATTRIBUTE_WARM);
	ck_assert_int_eq(attribute_of("16.0 MiB   50.0"), ATTRIBUTE_HOT);
	ck_assert_int_eq(attribute_of("30.0 MiB   93.8"), ATTRIBUTE_NONE);
	board_key(&board, BOARD_KEY_DOWN);
	draw(250, 24, false);
	ck_assert_int_eq(attribute_of("16.0 MiB   50.0"), ATTRIBUTE_REVERSE);
}
END_TEST

START_TEST(test_board_shows_heat_of_slowdown)
{
	static const double shares[] = { 0.2, 0.05, 0.049 };
	struct slower slower[3] = { 0 };
	uint32_t i;

	prepare();
	for (i = 0; i < 3; i++) {
		strcpy(slower[i].parts[0].by.label, "docker:batch");
		slower[i].nr_parts = 1;
		slower[i].share = shares[i];
		rows[i].slowed = (struct measure){ true, false, shares[i] };
		rows[i].slower = &slower[i];
	}
	draw(250, 24, false);
	ck_assert_int_eq(attribute_of("20% batch"), ATTRIBUTE_HOT);
	ck_assert_int_eq(attribute_of("5% batch"), ATTRIBUTE_NONE);
	ck_assert_int_eq(attribute_of("docker   web "), ATTRIBUTE_NONE);
	/* sorted: the first is what was the last */
	rows[0].slowed.known = false;
	rows[0].slower = NULL;
	draw(250, 24, false);
	ck_assert_int_eq(attribute_of("5% batch"), ATTRIBUTE_WARM);
}
END_TEST

static void add_incident(const char *victim, const char *by, double share, bool before)
{
	struct ongoing_incident incident = {
		.share = share, .by_share = share - 0.02, .worst = 0.2 + share,
		.resource = CMT_SLOWDOWN_CACHE, .begin_ns = 59 * SECOND, .before = before,
	};

	strcpy(incident.victim, victim);
	strcpy(incident.by, by);
	ongoing_add(&report.ongoing, &incident);
}

/* The slowest first, in one place, on a screen of 24 lines as well; names are escaped. */
START_TEST(test_board_has_incidents)
{
	prepare();
	add_incident("docker:web", "docker:batch", 0.06, false);
	add_incident("docker:\033[31m", "", 0.21, true);
	draw(80, 24, false);
	assert_has("held\n\\x1b[31m is 21 % slower, for at least 41 s, at most 41 %\n"
		   "web is 6 % slower, 4 % by batch (cache, an estimate), for 41 s, at most 26 %\n");
	ck_assert_int_eq(attribute_of("\\x1b[31m is"), ATTRIBUTE_HOT);
	ck_assert_int_eq(attribute_of("web is 6"), ATTRIBUTE_WARM);
	add_incident("docker:third", "docker:batch", 0.07, false);
	draw(80, 24, false);
	assert_has("at most 41 %\n+2 incidents\n");
	draw(120, 36, false);
	assert_order("third is 7 %", "web is 6 %");
	draw(80, 9, false);
	assert_lacks("slower,");
}
END_TEST

START_TEST(test_ongoing_keeps_the_slowest)
{
	uint32_t i;

	prepare();
	for (i = 0; i < 2 * ONGOING_MOST; i++)
		add_incident("docker:web", "docker:batch", 0.3 + 0.01 * (i % 8 + 8 * (i < 8)), false);
	ck_assert_uint_eq(report.ongoing.nr, ONGOING_MOST);
	ck_assert_uint_eq(report.ongoing.more, ONGOING_MOST);
	for (i = 0; i < ONGOING_MOST; i++)
		ck_assert_double_eq_tol(report.ongoing.list[i].share, 0.45 - 0.01 * i, 1e-9);
}
END_TEST

static struct row *row_of(uint64_t cgroup_id)
{
	uint32_t i = 0;

	while (rows[i].cgroup_id != cgroup_id)
		ck_assert_uint_lt(++i, 4);
	return &rows[i];
}

/* A part of the cache has its owner's letter and colour, which the row has, too. */
START_TEST(test_board_has_a_bar_of_the_cache)
{
	prepare();
	draw(80, 24, false);
	assert_has("L3 [a \\xe2\\x80\\xaeq\\x1b[31m a");
	assert_has("ab batch bbbbbbbbc web c        ] >87.5 % held\n");
	ck_assert_int_eq(attribute_of("b batch b"), ATTRIBUTE_OWNER + 1);
	ck_assert_int_eq(attribute_of("        ] >87.5"), ATTRIBUTE_NONE);
	draw(250, 24, false);
	ck_assert_int_eq(attribute_of("b docker "), ATTRIBUTE_OWNER + 1);
	rows[3].occupancy = (struct measure){ true, false, 1 << 20 };
	rows[3].l3_bytes = 32 << 20;
	report.emulated = true;
	draw(80, 24, false);
	assert_has("??     ] 90.6 % held, EMULATED\n");
	draw(24, 24, false);
	assert_lacks("L3 [");
}
END_TEST

START_TEST(test_board_keeps_the_letters_of_owners)
{
	prepare();
	draw(80, 24, false);
	row_of(1)->occupancy.value = 17 << 20;
	row_of(3)->occupancy.value = 2 << 20;
	draw(80, 24, false);
	assert_has("bc web cccc");
	row_of(2)->occupancy.value = 0;
	draw(80, 24, false);
	assert_lacks("batch b");
	row_of(2)->occupancy.value = 1 << 20;
	row_of(2)->cgroup_id = 4;
	draw(132, 24, false);
	assert_has(" b docker ");
}
END_TEST

START_TEST(test_board_says_that_shares_are_not_known)
{
	uint32_t i;

	prepare();
	for (i = 0; i < 4; i++)
		rows[i].occupancy.known = false;
	draw(80, 24, false);
	assert_has("\nL3: what owners hold of it is not known\n");
	prepare();
	report.frame.by = board.by = VIEW_DOMAIN;
	draw(80, 24, false);
	assert_lacks("L3 [");
	assert_lacks("L3: what");
}
END_TEST

static struct row_part parts[3 * 48];

/* Row i holds an equal part of what it holds in each of @nr domains, but for web in one. */
static void prepare_domains(uint32_t nr, uint32_t webs)
{
	uint32_t i, d;

	prepare();
	for (i = 0; i < 3; i++) {
		rows[i].first_part = i * nr;
		rows[i].nr_parts = nr;
		rows[i].l3_bytes = (uint64_t)nr * (32 << 20);
		for (d = 0; d < nr; d++)
			parts[i * nr + d] = (struct row_part){
				.domain = d, .l3_bytes = 32 << 20,
				.occupancy = { true, false, rows[i].occupancy.value / nr },
			};
	}
	parts[webs].occupancy.value = 16 << 20;
	rows[3].occupancy = (struct measure){ true, false, 0 };
	report.frame.parts = parts;
	report.frame.nr_parts = 3 * nr;
	report.frame.nr_domains = nr;
}

/* Where they fit, each L3 domain has a bar, and an owner the same letter in each. */
START_TEST(test_board_has_a_bar_for_each_domain)
{
	prepare_domains(2, 1);
	draw(120, 36, false);
	assert_order("\nL3 0 [", "\nL3 1 [");
	assert_has("]   43.8 % held\nL3 1 [a web aaaa");
	assert_has("]   87.5 % held\n");
	assert_lacks("L3 all");
	draw(80, 24, false);
	assert_has("\nL3 all [");
	assert_lacks("\nL3 0 [");
	/* the letters are of those in the bars */
	rows[1].nr_parts = 0;
	draw(120, 36, false);
	assert_has("]  >31.2 % held\nL3 1");
	assert_lacks("b batch");
	ck_assert_int_eq(row_of(2)->letter, 0);
}
END_TEST

/* Of more domains than lines, those in which the selected row holds most. */
START_TEST(test_board_has_bars_of_the_selected_row)
{
	prepare_domains(48, 17);
	draw(80, 24, false);
	assert_has("\nL3 all [");
	press("/web");
	board_key(&board, BOARD_KEY_ENTER);
	board_key(&board, BOARD_KEY_DOWN);
	draw(80, 24, false);
	assert_has("\nL3 17 [");
	assert_has("c web ccccccc");
	assert_lacks("L3 all");
	draw(120, 36, false);
	assert_order("\nL3  0 [", "\nL3  1 [");
	assert_order("\nL3  2 [", "\nL3 17 [");
	assert_lacks("L3  3 [");
	draw(250, 60, false);
	assert_order("\nL3  8 [", "\nL3 17 [");
	assert_lacks("L3  9 [");
	board_key(&board, BOARD_KEY_ESCAPE);
	draw(120, 36, false);
	assert_has("\nL3 all [");
}
END_TEST

/* What limits the values is above the position of a recording, whatever there is room for. */
START_TEST(test_board_is_low_and_emulated)
{
	struct replay replay = {
		.about = { .start_ns = SECOND, .end_ns = 200 * SECOND }, .speed = 1,
	};

	prepare();
	info.backend = CMT_BACKEND_EMULATED;
	report.emulated = true;
	report.replay = &replay;
	draw(80, 5, false);
	ck_assert_msg(!strncmp(text, "EMULATED: ", 10), "%s", text);
	report.lost = report.lost_ever = 7;
	draw(200, 7, false);
	assert_order("EMULATED: ", "\nLOST 7 records");
	assert_order("\nLOST 7 records", "\nRECORDING of an unknown host");
}
END_TEST

/* As the rows have it: readings of several moments may be more than the cache has. */
START_TEST(test_board_has_more_than_a_full_cache)
{
	prepare();
	rows[0].occupancy.value = 40 << 20;
	draw(80, 24, false);
	assert_has("] >200.0 % held\n");
}
END_TEST

/* Behind a bar are the seconds of its cache, up to a full one. */
START_TEST(test_board_has_a_curve_of_the_cache)
{
	uint32_t i;

	prepare();
	draw(80, 24, false);
	assert_has("% held\n");
	for (i = 0; i < 4; i++) {
		report.frame.end_ns = (100 + i) * SECOND;
		row_of(3)->occupancy.value = i < 2 ? 4 << 20 : 20 << 20;
		caches_set(&report.caches, &report.frame);
		history_add_caches(&history, &report.caches, &report.frame);
	}
	draw(80, 24, true);
	assert_has(">100.0 % held       \u2584\u2584\u2588\u2588\n");
	ck_assert_int_eq(frozen_report_copy(&frozen, &report), 0);
	history_clear(&history);
	report = frozen.report;
	draw(80, 24, true);
	assert_has(">100.0 % held       \u2584\u2584\u2588\u2588\n");
	frozen_report_drop(&frozen);
}
END_TEST

static void prepare_many(void)
{
	uint32_t i;

	prepare();
	for (i = 0; i < MANY; i++) {
		set_row(&rows[i], 0);
		rows[i].container = NULL;
		rows[i].cgroup_id = 1000 + i;
		rows[i].occupancy.value = i * 37 % 9973;
	}
	report.frame.nr_rows = MANY;
	report.frame.nr_children = 0;
	report.frame.children = rows + MANY;
	report.frame.flat = rows + MANY;
}

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A screen of 10,000 rows: some 3 ms without sanitizers. */
START_TEST(test_board_draws_many_rows)
{
	double begin;
	unsigned int i;

	prepare_many();
	history_add(&history, &report.frame);
	begin = cpu_seconds();
	for (i = 0; i < 3; i++) {
		report.frame.end_ns += SECOND;
		history_add(&history, &report.frame);
		board_key(&board, BOARD_KEY_PAGE_DOWN);
		draw(132, 50, false);
	}
	ck_assert_double_lt((cpu_seconds() - begin) / 3, 1.0);
	assert_has("+9");
	board_key(&board, BOARD_KEY_END);
	draw(132, 50, false);
	ck_assert_uint_eq(board.selected, MANY - 1);
	assert_has("\n>");
}
END_TEST

START_TEST(test_history_is_of_a_minute)
{
	const struct trail *trail;
	uint64_t now;
	uint32_t i;

	prepare();
	for (i = 0; i < 70; i++) {
		report.frame.end_ns = (100 + i) * SECOND;
		rows[0].most.value = i;
		history_add(&history, &report.frame);
	}
	now = report.frame.end_ns;
	trail = rows[0].trail;
	ck_assert_ptr_nonnull(trail);
	ck_assert_double_eq(trail_at(trail, now, 0), 69);
	ck_assert_double_eq(trail_at(trail, now, 59), 10);
	ck_assert(isnan(trail_at(trail, now, 60)));
	ck_assert_double_eq(trail_most(trail, now), 69);
	/* seconds without a table are blank */
	report.frame.end_ns += 10 * SECOND;
	history_add(&history, &report.frame);
	now = report.frame.end_ns;
	ck_assert_double_eq(trail_at(trail, now, 0), 69);
	ck_assert(isnan(trail_at(trail, now, 1)));
	ck_assert(isnan(trail_at(trail, now, 9)));
	ck_assert_double_eq(trail_at(trail, now, 10), 69);
	/* an interval of several seconds has one most for all of them */
	report.frame.end_ns += 5 * SECOND;
	report.frame.elapsed_ns = 5 * SECOND;
	rows[0].most.value = 7;
	history_add(&history, &report.frame);
	now = report.frame.end_ns;
	ck_assert_double_eq(trail_at(trail, now, 0), 7);
	ck_assert_double_eq(trail_at(trail, now, 4), 7);
	ck_assert_double_eq(trail_at(trail, now, 5), 69);
	/* a clock that jumps leaves nothing behind */
	report.frame.end_ns += 1000 * SECOND;
	history_add(&history, &report.frame);
	ck_assert(isnan(trail_at(rows[0].trail, report.frame.end_ns, 59)));
	ck_assert_double_eq(trail_at(rows[0].trail, report.frame.end_ns, 0), 7);
}
END_TEST

/* Of an interval after a gap, only what was measured: from 13 s to 14 s, and 9 s stays. */
START_TEST(test_history_leaves_a_gap_blank)
{
	const struct trail *trail;
	uint64_t now = 14 * SECOND;

	prepare();
	for (uint32_t i = 1; i < 10; i++) {
		report.frame.start_ns = (i - 1) * SECOND;
		report.frame.end_ns = i * SECOND;
		history_add(&history, &report.frame);
	}
	rows[0].most.value = 7;
	report.frame.start_ns = 13 * SECOND;
	report.frame.end_ns = now;
	report.frame.elapsed_ns = 5 * SECOND;
	history_add(&history, &report.frame);
	trail = rows[0].trail;
	ck_assert_double_eq(trail_at(trail, now, 0), 7);
	for (uint32_t age = 2; age < 5; age++)
		ck_assert(isnan(trail_at(trail, now, age)));
	ck_assert_double_eq(trail_at(trail, now, 5), 16 << 20);
}
END_TEST

/* An interval has its first second, which begins with it, and after a gap as well. */
START_TEST(test_history_has_the_first_second)
{
	uint64_t now = 20 * SECOND - 1;

	prepare();
	report.frame.start_ns = 15 * SECOND;
	report.frame.end_ns = now;
	report.frame.elapsed_ns = 9 * SECOND;
	history_add(&history, &report.frame);
	ck_assert_double_eq(trail_at(rows[0].trail, now, 4), 16 << 20);
	ck_assert(isnan(trail_at(rows[0].trail, now, 5)));
}
END_TEST

START_TEST(test_history_keeps_no_unknown_value)
{
	prepare();
	rows[1].occupancy.known = rows[1].most.known = false;
	history_add(&history, &report.frame);
	ck_assert_ptr_nonnull(rows[0].trail);
	ck_assert_ptr_null(rows[1].trail);
	ck_assert_ptr_null(rows[3].trail);
	draw(250, 24, false);
	report.frame.end_ns += 100 * SECOND;
	rows[0].occupancy.known = rows[0].most.known = false;
	history_add(&history, &report.frame);
	ck_assert_ptr_null(rows[0].trail);
}
END_TEST

START_TEST(test_hold_outlives_the_report)
{
	char first[sizeof(text)];

	prepare();
	containers[0].image = strdup("an image");
	history_add(&history, &report.frame);
	draw(132, 24, false);
	strcpy(first, text);
	ck_assert_int_eq(frozen_report_copy(&frozen, &report), 0);
	free((char *)containers[0].image);
	history_clear(&history);
	memset(containers, 0x55, sizeof(containers));
	memset(rows, 0x55, sizeof(rows));
	report = frozen.report;
	draw(132, 24, false);
	ck_assert_str_eq(text, first);
	frozen_report_drop(&frozen);
}
END_TEST

START_TEST(test_glyphs)
{
	char bar[11];

	glyph_bar(bar, 10, 0.5, 0.75);
	ck_assert_int_eq((unsigned char)bar[4], GLYPH_BAR + GLYPH_STEPS);
	ck_assert_int_eq((unsigned char)bar[5], GLYPH_SHADE);
	ck_assert_int_eq((unsigned char)bar[7], GLYPH_SHADE);
	ck_assert_int_eq(bar[8], ' ');
	glyph_bar(bar, 10, 0.0001, 0.0001);
	ck_assert_int_eq((unsigned char)bar[0], GLYPH_BAR + 1);
	glyph_bar(bar, 10, 17, NAN);
	ck_assert_int_eq((unsigned char)bar[9], GLYPH_BAR + GLYPH_STEPS);
	glyph_bar(bar, 0, 1, 1);
	ck_assert_str_eq(bar, "");
	ck_assert_int_eq(glyph_height(NAN, 1), ' ');
	ck_assert_uint_eq((unsigned char)glyph_height(0, 1), GLYPH_HEIGHT);
	ck_assert_uint_eq((unsigned char)glyph_height(1e-9, 1), GLYPH_HEIGHT + 1);
	ck_assert_uint_eq((unsigned char)glyph_height(1, 1), GLYPH_HEIGHT + 8);
	ck_assert_uint_eq((unsigned char)glyph_height(1, 0), GLYPH_HEIGHT);
	ck_assert_uint_eq(glyph_unicode(GLYPH_BAR + 8), 0x2588);
	ck_assert_uint_eq(glyph_unicode(GLYPH_HEIGHT + 8), 0x2588);
	ck_assert_int_eq(glyph_ascii(0xff), '?');
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("board");

	UNIT_CASE(suite, test_board_has_what_rows_have);
	UNIT_CASE(suite, test_board_cuts_no_number);
	UNIT_CASE(suite, test_board_is_small);
	UNIT_CASE(suite, test_board_without_a_report);
	UNIT_CASE(suite, test_board_sorts);
	UNIT_CASE(suite, test_board_sorts_by_columns);
	UNIT_CASE(suite, test_board_searches);
	UNIT_CASE(suite, test_board_has_the_end_of_a_search);
	UNIT_CASE(suite, test_board_says_what_the_command_line_leaves_out);
	UNIT_CASE(suite, test_board_opens_what_is_shown);
	UNIT_CASE(suite, test_board_selects);
	UNIT_CASE(suite, test_board_knows_a_process_by_its_rmid);
	UNIT_CASE(suite, test_board_has_a_detail_pane);
	UNIT_CASE(suite, test_board_has_columns_of_what_is_no_owner);
	UNIT_CASE(suite, test_board_has_curves_of_known_values);
	UNIT_CASE(suite, test_board_has_bounds_of_parts);
	UNIT_CASE(suite, test_board_helps);
	UNIT_CASE(suite, test_board_changes_what_is_read);
	UNIT_CASE(suite, test_board_moves_in_a_recording);
	UNIT_CASE(suite, test_board_takes_any_key);
	UNIT_CASE(suite, test_board_has_options);
	UNIT_CASE(suite, test_board_changes_options_by_their_keys);
	UNIT_CASE(suite, test_board_has_a_notice);
	UNIT_CASE(suite, test_board_takes_clicks);
	UNIT_CASE(suite, test_board_takes_clicks_below_hidden_rows);
	UNIT_CASE(suite, test_board_takes_function_keys);
	UNIT_CASE(suite, test_board_shows_heat);
	UNIT_CASE(suite, test_board_has_a_bar_of_the_cache);
	UNIT_CASE(suite, test_board_has_a_bar_for_each_domain);
	UNIT_CASE(suite, test_board_has_bars_of_the_selected_row);
	UNIT_CASE(suite, test_board_is_low_and_emulated);
	UNIT_CASE(suite, test_board_has_more_than_a_full_cache);
	UNIT_CASE(suite, test_board_has_a_curve_of_the_cache);
	UNIT_CASE(suite, test_board_has_incidents);
	UNIT_CASE(suite, test_ongoing_keeps_the_slowest);
	UNIT_CASE(suite, test_board_keeps_the_letters_of_owners);
	UNIT_CASE(suite, test_board_says_that_shares_are_not_known);
	UNIT_CASE(suite, test_board_shows_heat_of_slowdown);
	UNIT_CASE(suite, test_board_draws_many_rows);
	UNIT_CASE(suite, test_history_is_of_a_minute);
	UNIT_CASE(suite, test_history_leaves_a_gap_blank);
	UNIT_CASE(suite, test_history_has_the_first_second);
	UNIT_CASE(suite, test_history_keeps_no_unknown_value);
	UNIT_CASE(suite, test_hold_outlives_the_report);
	UNIT_CASE(suite, test_glyphs);
	return unit_run(suite);
}
