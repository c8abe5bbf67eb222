// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The numbers of the full screen agree with the JSON of the same interval.  Frames are
 * made up at random but for a seed; each is drawn, and printed as JSON, and each cell is
 * read back and compared with its field, within what it was rounded to.  Which field
 * that is, is written down here anew.  The curve of the last minute is of no interval.
 */
#include <check.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "frame/frame.h"
#include "table/columns.h"
#include "table/glyphs.h"
#include "unit.h"
#include "why/slower.h"

#define ROWS	9U
#define ROUNDS	40
#define LINE	1024
#define HEIGHT	40
#define COUNTED	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)

enum what { NUMBER, TEXT, BAR, CURVE };

/* What a title stands for in JSON; a field that stands for both is the same in all views. */
static const struct shown {
	const char *title, *brief;
	const char *field;
	enum what what;
	const char *partial;	/* '>' is there where this is true; NULL: never */
	bool may;		/* or is not: some other counter may be one */
} all_shown[] = {
	{ "OCCUPANCY", "OCC", "occupancy_bytes", NUMBER, "occupancy_partial", false },
	{ "% L3", NULL, "occupancy_percent", NUMBER, "occupancy_partial", false },
	{ "OF L3", NULL, "occupancy_percent", BAR, NULL, false },
	{ "LEAST", NULL, "occupancy_least_bytes", NUMBER, "occupancy_partial", false },
	{ "MOST", NULL, "occupancy_most_bytes", NUMBER, "occupancy_partial", false },
	{ "LAST MINUTE", NULL, NULL, CURVE, NULL, false },
	{ "MBM TOTAL", "TOT/s", "mbm_total_bytes_per_s", NUMBER, "mbm_total_partial", false },
	{ "MBM LOCAL", "LOC/s", "mbm_local_bytes_per_s", NUMBER, "mbm_local_partial", false },
	{ "CPU %", NULL, "cpu_percent", NUMBER, "counters_partial", true },
	{ "WAIT %", NULL, "wait_percent", NUMBER, "wait_partial", false },
	{ "IPC", NULL, "ipc", NUMBER, NULL, false },
	{ "MPKI", NULL, "mpki", NUMBER, NULL, false },
	{ "RESIDUE", "RES", "residual_bytes", NUMBER, NULL, false },
	{ "PROCS", NULL, "processes", NUMBER, NULL, false },
	{ "RMID", NULL, "rmid", NUMBER, NULL, false },
	{ "RMIDS", NULL, "rmids", NUMBER, NULL, false },
	{ "PID", NULL, "pid", NUMBER, NULL, false },
	{ "CPU", NULL, "cpu", NUMBER, NULL, false },
	{ "DOMAIN", NULL, "domain", NUMBER, NULL, false },
	{ "BUSY %", NULL, "busy_percent", NUMBER, NULL, false },
	{ "TICKS", NULL, "ticks", NUMBER, NULL, false },
	{ "MISSED", NULL, "missed", NUMBER, NULL, false },
	{ "LOST", NULL, "cpu_lost", NUMBER, NULL, false },
	{ "SOCKET", NULL, "socket", NUMBER, NULL, false },
	{ "CHANNEL", "CH", "channel", NUMBER, NULL, false },
	{ "READ", "RD/s", "read_bytes_per_s", NUMBER, "partial", false },
	{ "WRITTEN", "WR/s", "written_bytes_per_s", NUMBER, "partial", false },
	{ "TOTAL", "TOT/s", "total_bytes_per_s", NUMBER, "partial", false },
	{ "SHARE %", NULL, "share_percent", NUMBER, NULL, false },
	{ "RD IDLE %", "IDLE %", "read_idle_percent", NUMBER, NULL, false },
	{ "NAME", NULL, NULL, TEXT, NULL, false },
	{ "RUNTIME", NULL, NULL, TEXT, NULL, false },
	{ "POD", NULL, NULL, TEXT, NULL, false },
	{ "COMM", NULL, NULL, TEXT, NULL, false },
	{ "CONTAINER", NULL, NULL, TEXT, NULL, false },
	{ "SLOWER", NULL, NULL, TEXT, NULL, false },
	{ "NOTE", NULL, NULL, TEXT, NULL, false },
};

#define NR_SHOWN (sizeof(all_shown) / sizeof(all_shown[0]))

static struct cmt_container containers[ROWS];
static struct cmt_usage_row from[ROWS];
static struct cmt_usage_channel channels[ROWS];
static struct cmt_info info;
static struct frame_room room;
static struct report report;
static struct slowers slowers;
static struct board board;
static struct canvas canvas;
static struct json_object *json[ROWS];
static uint64_t seed;
static uint32_t compared[NR_SHOWN];	/* cells with a value */

static uint64_t next(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 20;
}

static bool chance(unsigned int percent)
{
	return next() % 100 < percent;
}

/* Of any size, often at a border of a unit. */
static uint64_t amount(unsigned int bits)
{
	uint64_t n = next() & ((1ULL << (next() % bits + 1)) - 1);
	uint64_t border = chance(50) ? 1ULL << (10 * (next() % 4)) :
				       (uint64_t)pow(1000, (double)(next() % 4));

	if (chance(70))
		return n;
	return border * (1 + next() % 1024) - next() % 2;
}

static void make_rate(struct cmt_usage_rate *rate)
{
	*rate = (struct cmt_usage_rate){ .rate = NAN };
	if (chance(20))
		return;
	rate->known = true;
	rate->partial = chance(25);
	rate->bytes = amount(44);
	rate->rate = (double)rate->bytes * (0.9 + (double)(next() % 1000) / 5000);
}

static void make_occupancy(struct cmt_usage_occupancy *o)
{
	*o = (struct cmt_usage_occupancy){ .known = chance(80) };
	o->most_bytes = amount(40);
	if (!o->known)
		return;
	o->partial = chance(25);
	o->last_bytes = amount(40);
	o->residual_known = chance(70);
	o->residual_bytes = o->residual_known ? amount(30) : 0;
	o->slots = (uint32_t)(next() % 3);
	o->least_bytes = amount(30);
	o->age_ns = chance(50) ? amount(40) : 0;
}

static void make_counters(struct cmt_usage_counters *c)
{
	*c = (struct cmt_usage_counters){ .ipc = NAN, .mpki = NAN, .cpu_share = NAN,
					 .wait_share = NAN };
	if (chance(20))
		return;
	c->known = true;
	c->partial = chance(30);
	c->why = c->partial ? CMT_USAGE_WHY_GAP : 0;
	c->values = COUNTED | (chance(70) ? CMT_F_WAITED : 0);
	c->ran_ns = amount(40);
	c->cpu_share = (double)amount(20) / 4096;
	c->bounds = c->partial && chance(50) ? CMT_F_WAITED : 0;
	c->wait_share = chance(90) ? (double)amount(20) / 4096 : NAN;
	c->ipc = chance(90) ? (double)amount(16) / 8192 : NAN;
	c->mpki = chance(90) ? (double)amount(20) / 2048 : NAN;
}

static void make_container(uint32_t i)
{
	struct cmt_container *c = &containers[i];

	*c = (struct cmt_container){
		.sz = sizeof(*c), .path = "/made/up", .own_len = 8,
		.runtime = chance(70) ? CMT_RUNTIME_DOCKER : CMT_RUNTIME_NONE,
		.pod_name = chance(30) ? "shop-0" : NULL,
	};
	snprintf(c->name, sizeof(c->name), "web-%u-%llu", i,
		 (unsigned long long)next() % 1000);
}

/* A quarter, a half and so on: the JSON rounds nothing. */
static double make_part(void)
{
	return chance(30) ? NAN : (double)(next() % 5) / 4;
}

static void make_row(uint32_t i, enum view view)
{
	static const uint32_t owners[] = {
		CMT_OWNER_PROCESS, CMT_OWNER_CGROUP, CMT_OWNER_CPU,
		CMT_OWNER_RESCTRL,
	};
	struct cmt_usage_row *row = &from[i];

	*row = (struct cmt_usage_row){
		.kind = i == 0 ? CMT_USAGE_UNATTRIBUTED :
			i == 1 ? CMT_USAGE_OVERFLOW : CMT_USAGE_OWNER,
		.owner = view == VIEW_CONTAINER ? CMT_OWNER_CGROUP :
						  owners[next() % 4],
		.flags = CMT_USAGE_ROW_SEEN, .cgroup_id = 100 + i,
		.pid = (uint32_t)amount(22), .rmid = i, .generation = 1,
		.domain = i, .cpu = i, .rmids = (uint32_t)amount(12),
		.ticks = (uint32_t)amount(30), .missed = amount(20),
		.lost = amount(40), .l3_bytes = chance(90) ? 48 << 20 : 0,
		.why = chance(30) ? CMT_USAGE_WHY_ERROR : 0,
	};
	if (view == VIEW_CPU)
		row->flags |= CMT_USAGE_ROW_CPU;
	row->busy_ticks = row->ticks ? (uint32_t)(next() % row->ticks) : 0;
	if (chance(80))
		snprintf(row->comm, sizeof(row->comm), "comm-%u", i);
	make_container(i);
	if (row->kind == CMT_USAGE_OWNER && row->owner != CMT_OWNER_CPU &&
	    row->owner != CMT_OWNER_RESCTRL && chance(80))
		row->container = &containers[i];
	row->coverage = (struct cmt_usage_coverage){
		.occupancy = make_part(), .total = make_part(),
		.local = make_part(),
	};
	make_occupancy(&row->occupancy);
	make_rate(&row->total);
	make_rate(&row->local);
	make_counters(&row->counters);
}

static void make_channel(uint32_t i)
{
	struct cmt_usage_channel *c = &channels[i];

	*c = (struct cmt_usage_channel){
		.socket = i / 4, .channel = i,
		.why = chance(30) ? CMT_USAGE_WHY_GAP : 0,
	};
	/* they are known, or are not, together */
	make_rate(&c->read);
	c->written = c->total = c->read;
	c->written.bytes /= 3;
	c->written.rate /= 3;
	c->total.rate += c->written.rate;
	c->idle.known = chance(70);
	c->idle.share = (double)(next() % 1001) / 1000;
}

/* Some rows are slower because of the next one. */
static void make_slowers(void)
{
	slowers.known = true;
	slowers.complete = chance(70);
	slowers.nr = 0;
	for (uint32_t i = 0; i < ROWS; i++) {
		struct slower *slower = &slowers.list[slowers.nr];
		double share = (double)(next() % 99 + 1) / 100;

		if (chance(50))
			continue;
		slowers.nr++;
		*slower = (struct slower){
			.id = report.frame.rows[i].culprit_id, .share = share,
			.nr_parts = 1, .parts[0] = {
				.resource = (enum cmt_slowdown_resource)(next() % 3),
				.share = share,
			},
		};
		snprintf(slower->parts[0].by.label, CONTAINER_LABEL_LEN, "batch-%u", i);
	}
	slowers_set(&slowers, &report.frame);
}

static void make_report(enum view view)
{
	struct cmt_usage_frame frame = {
		.by = (uint32_t)view, .last_ns = 1000000000, .start_ns = 1,
		.elapsed_ns = 1000000000, .end_ns = 1000000001,
		.rows = from, .row_size = sizeof(from[0]), .nr_rows = ROWS,
		.channels = channels, .channel_size = sizeof(channels[0]),
		.nr_channels = ROWS, .nr_cpus = 2, .nr_domains = 1,
		.channels_reason = "",
	};
	uint32_t i;

	for (i = 0; i < ROWS; i++) {
		make_row(i, view);
		make_channel(i);
	}
	make_rate(&frame.memory.total);
	report = (struct report){
		.info = &info, .scope = CMT_SCOPE_CONTAINER,
	};
	ck_assert_int_eq(frame_copy(&report.frame, &room, &frame, view), 0);
	for (i = 0; i < ROWS && view == VIEW_CONTAINER; i++) {
		report.frame.rows[i].processes_known = chance(70);
		report.frame.rows[i].processes = (uint32_t)amount(20);
	}
	make_slowers();
}

/* The rows, in the order in which they were drawn. */
static void read_json(void)
{
	char *text = NULL, *line, *left;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	uint32_t nr = 0;

	ck_assert_int_eq(view_json(out, &report), 0);
	fclose(out);
	/* the first one is the interval's */
	strtok_r(text, "\n", &left);
	while ((line = strtok_r(NULL, "\n", &left))) {
		ck_assert_uint_lt(nr, ROWS);
		json[nr] = json_tokener_parse(line);
		ck_assert_msg(json[nr] != NULL, "%s", line);
		nr++;
	}
	ck_assert_uint_eq(nr, ROWS);
	free(text);
}

/* NULL: null. */
static struct json_object *field(uint32_t row, const char *name)
{
	struct json_object *value = NULL;

	ck_assert_msg(json_object_object_get_ex(json[row], name, &value),
		      "no field %s", name);
	return value;
}

static const char *text_of(uint32_t row, const char *name)
{
	struct json_object *value = field(row, name);

	return value ? json_object_get_string(value) : NULL;
}

static void put_part(char *buf, size_t size, const char *what, uint32_t row,
		     const char *name)
{
	struct json_object *part = field(row, name);
	size_t len = strlen(buf);

	if (part && json_object_get_double(part) > 0 &&
	    json_object_get_double(part) < 100)
		snprintf(buf + len, size - len, "%s%s %d %%", len ? ", " : "", what,
			 (int)json_object_get_double(part));
}

/* Of what is no channel: the reason, and how complete values are that are there in part. */
static const char *expected_note(uint32_t row)
{
	static char note[128];
	const char *reason = text_of(row, "reason");

	snprintf(note, sizeof(note), "%s", reason ? reason : "");
	if (board.by == VIEW_CHANNEL)
		return note;
	put_part(note, sizeof(note), "occ", row, "occupancy_coverage_percent");
	put_part(note, sizeof(note), "bw", row, "mbm_total_coverage_percent");
	return note;
}

static const char *expected_slower(uint32_t row)
{
	static char text[CONTAINER_LABEL_LEN];
	struct json_object *slower = field(row, "slower"), *first;
	double share;

	if (!slower)
		return NULL;
	share = json_object_get_double(json_object_object_get(slower, "share"));
	if (share < 0.01)
		return "<1%";
	first = json_object_array_get_idx(json_object_object_get(slower, "because_of"), 0);
	snprintf(text, sizeof(text), "%s%.0f%% %s %s",
		 json_object_get_boolean(json_object_object_get(slower, "partial")) ? ">" : "",
		 100 * share,
		 json_object_get_string(json_object_object_get(first, "container")),
		 json_object_get_string(json_object_object_get(first, "resource")));
	return text;
}

/* What a text of the screen is made of. */
static const char *expected_text(const char *title, uint32_t row)
{
	const char *container, *kind, *name;
	bool in_cgroup;

	if (!strcmp(title, "NOTE"))
		return expected_note(row);
	if (!strcmp(title, "SLOWER"))
		return expected_slower(row);
	if (!strcmp(title, "RUNTIME"))
		return text_of(row, "runtime");
	container = text_of(row, "container");
	kind = text_of(row, "kind");
	in_cgroup = !strcmp(kind, "process") || !strcmp(kind, "cgroup");
	if (!strcmp(title, "CONTAINER"))
		return in_cgroup || board.by == VIEW_CPU ? container : NULL;
	if (!strcmp(title, "COMM") && board.by == VIEW_PROCESS)
		return in_cgroup ? text_of(row, "comm") : container;
	if (!strcmp(title, "COMM"))
		return text_of(row, "comm");
	if (!strcmp(title, "POD"))
		return text_of(row, "pod_name") ? text_of(row, "pod_name") :
						  text_of(row, "pod");
	name = text_of(row, "name");
	return name ? name : container;
}

/* A text that is cut ends in '+'; what is said in parentheses may go. */
static void compare_text(const char *cell, const char *title, uint32_t row)
{
	const char *text = expected_text(title, row);
	size_t len = strlen(cell);

	if (!text)
		text = "-";
	if (len && cell[len - 1] == '+')
		len--;
	else if (cell[0] == '(' && strchr(text, ':'))
		len = strcspn(text, ":");
	else
		ck_assert_str_eq(cell, text);
	ck_assert_msg(!strncmp(cell, text, len), "%s: %s, %s", title, cell, text);
}

static double unit_of(const char *unit)
{
	static const char prefixes[] = "kMGTPE";
	const char *at = *unit && strchr("kKMGTPE", *unit) ?
			 strchr(prefixes, *unit == 'K' ? 'k' : *unit) : NULL;

	return at ? pow(unit[1] == 'i' ? 1024 : 1000, (double)(at - prefixes + 1)) :
		    1;
}

/* @exact: half of the last digit that JSON has. */
static void compare_number(const char *cell, const struct shown *shown,
			   uint32_t row)
{
	struct json_object *value = field(row, shown->field);
	bool partial = cell[0] == '>', told = false;
	const char *point;
	double screen, exact, half;
	char *unit;

	if (!value) {
		ck_assert_msg(!strcmp(cell, "-"), "%s: %s, null", shown->title, cell);
		return;
	}
	screen = strtod(cell + partial, &unit);
	ck_assert_msg(unit != cell + partial, "%s: '%s'", shown->title, cell);
	point = strchr(cell, '.');
	half = point && point < unit ? 0.5 * pow(10, -(double)(unit - point - 1)) : 0.5;
	while (*unit == ' ')
		unit++;
	half *= unit_of(unit);
	screen *= unit_of(unit);
	exact = json_object_get_double(value);
	/* JSON has whole bytes a second, and thousandths */
	half += strstr(shown->field, "per_s") ? 0.5 : 0.0005;
	ck_assert_msg(fabs(screen - exact) <= half + 1e-9 * fabs(exact),
		      "%s: %s, %f", shown->title, cell, exact);
	if (shown->partial)
		told = json_object_get_boolean(field(row, shown->partial));
	ck_assert_msg(shown->may ? told || !partial : partial == told,
		      "%s: %s, %d", shown->title, cell, told);
}

/* Filled to an eighth of a cell; what is more than nothing is seen. */
static void compare_bar(unsigned int line, unsigned int begin, unsigned int end,
			uint32_t row)
{
	const struct canvas_cell *cells = &canvas.cells[line * canvas.width];
	struct json_object *value = field(row, "occupancy_percent");
	unsigned int i, eighths = 0, all = GLYPH_STEPS * (end - begin - 1);
	double part = value ? json_object_get_double(value) / 100 : 0;

	for (i = begin; i < end - 1; i++)
		if (cells[i].byte > GLYPH_BAR &&
		    cells[i].byte <= GLYPH_BAR + GLYPH_STEPS)
			eighths += cells[i].byte - GLYPH_BAR;
	part = (part > 1 ? 1 : part) * all;
	ck_assert_msg(fabs(part - eighths) <= 0.51 || (part < 1 && eighths == 1),
		      "%f and %u eighths of %u", part, eighths, all);
}

/* The bytes of a line from @begin to @end, without spaces around them. */
static char *cut(unsigned int line, unsigned int begin, unsigned int end,
		 char text[LINE])
{
	const struct canvas_cell *cells = &canvas.cells[line * canvas.width];
	unsigned int i, n = 0;

	while (begin < end && cells[begin].byte == ' ')
		begin++;
	for (i = begin; i < end && i < canvas.width; i++)
		text[n++] = (char)cells[i].byte;
	while (n && text[n - 1] == ' ')
		n--;
	text[n] = '\0';
	return text;
}

static const struct shown *shown_of(const char *title)
{
	bool channel = board.by == VIEW_CHANNEL;
	size_t i;

	for (i = 0; i < NR_SHOWN; i++) {
		const struct shown *shown = &all_shown[i];

		/* "TOT/s" is of both */
		if (shown->brief && !strcmp(title, "TOT/s") &&
		    channel != !strcmp(shown->title, "TOTAL"))
			continue;
		if (!strcmp(title, shown->title) ||
		    (shown->brief && !strcmp(title, shown->brief)))
			return shown;
	}
	ck_abort_msg("a column that is not compared: '%s'", title);
	return NULL;
}

static void compare_cell(const struct shown *shown, unsigned int line,
			 unsigned int place, uint32_t row)
{
	unsigned int begin = board.window.places[place].begin;
	unsigned int end = board.window.places[place].end;
	char cell[LINE];

	cut(line, begin, end, cell);
	compared[shown - all_shown] += strcmp(cell, "-") && *cell;
	switch (shown->what) {
	case NUMBER:
		compare_number(cell, shown, row);
		break;
	case TEXT:
		compare_text(cell, shown->title, row);
		break;
	case BAR:
		compare_bar(line, begin, end, row);
		break;
	case CURVE:
		break;
	}
}

static void compare(unsigned int width)
{
	unsigned int place, row;
	char title[LINE];

	ck_assert_int_eq(canvas_size(&canvas, width, HEIGHT), 0);
	board_draw(&board, &report, &canvas);
	ck_assert_uint_eq(board.window.shown, ROWS);
	read_json();
	for (place = 0; place < board.window.nr_places; place++) {
		const struct shown *shown;

		cut(board.window.titles, board.window.places[place].begin,
		    board.window.places[place].end, title);
		/* the letter of the bar of the cache, which is no value */
		if (!title[0])
			continue;
		shown = shown_of(title);
		for (row = 0; row < ROWS; row++)
			compare_cell(shown, board.window.titles + 1 + row,
				     place, row);
	}
	for (row = 0; row < ROWS; row++)
		json_object_put(json[row]);
}

static void begin(enum view view)
{
	static const enum sort_key sorts[] = {
		SORT_OCCUPANCY, SORT_TOTAL, SORT_NAME, SORT_IPC, SORT_NUMBER,
	};

	info = (struct cmt_info){
		.backend = CMT_BACKEND_HARDWARE, .vendor = CMT_VENDOR_INTEL,
		.events = CMT_F_OCCUPANCY, .l3_bytes = 48 << 20,
		.rmids_usable = 55,
	};
	board = (struct board){
		.by = view, .interval_ns = 1000000000,
		.sort = sorts[next() % 5], .reverse = chance(50),
	};
	board_begin(&board);
	make_report(view);
}

static const enum view views[] = {
	VIEW_CONTAINER, VIEW_PROCESS, VIEW_CPU, VIEW_DOMAIN, VIEW_CHANNEL,
};

/* Each column of a view, wherever there is room for it. */
START_TEST(test_agree)
{
	static const unsigned int widths[] = { 400, 160, 110, 80, 60 };
	const struct column *column;
	int round, width;

	seed = 14 + (uint64_t)_i;
	memset(compared, 0, sizeof(compared));
	for (round = 0; round < ROUNDS; round++)
		for (width = 0; width < 5; width++) {
			begin(views[_i]);
			compare(widths[width]);
			board_end(&board);
		}
	for (column = columns_of(views[_i]); column->get; column++)
		if (column->title && strcmp(column->title, " ") && !column_stretches(column))
			ck_assert_msg(compared[shown_of(column->title) -
					       all_shown] > ROUNDS,
				      "%s is hardly compared", column->title);
	frame_room_free(&room);
	canvas_free(&canvas);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agree");
	TCase *tcase = tcase_create("agree");

	tcase_add_loop_test(tcase, test_agree, 0, sizeof(views) / sizeof(views[0]));
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
