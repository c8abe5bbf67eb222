// SPDX-License-Identifier: GPL-2.0-or-later
/* The panes in place of the table: help, and the details of one row */
#include "board.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/format.h"
#include "table/cells.h"
#include "table/glyphs.h"
#include "table/layout.h"
#include "why/slower.h"

#define CURVE_LINES 4U
#define CURVE_MOST 500U	/* columns */
#define SLOWER_BAR 20U	/* columns, or half of them on a screen of less than */
#define SLOWER_WIDE 100U
#define VALUE_LEN (FORMAT_LEN + 8)

static const char *const help[] = {
	"Arrows, j k, PgUp, PgDn, Home, End   select a row, or scroll",
	"Enter        the selected row: names, values, milliseconds and last minute",
	"Esc          close a pane; then: all rows, none selected",
	"/, F3, F4    only rows with this in their name: Enter ends, Esc takes back",
	"s, S, F6     sort by the next, the previous value",
	"r            reverse the order",
	"v, V, 1 to 5 by container, process, CPU, L3 domain, memory channel",
	"+, -         a longer, a shorter interval",
	"Space        freeze, and go on",
	"e, F5        processes below their containers",
	"c            colour, bold and reverse text, or none",
	"o, F2        options, which are kept",
	"?, h, F1     this, and back",
	"q, F10       quit",
	"",
	"L3 [a b]     who holds the cache: a letter for an owner, which its row has, too;",
	"             + further owners, * the overflow RMID, ? unattributed;",
	"             behind it the last seconds, up to a full cache.",
	"L3 0 [a b]   of one L3 domain, on a screen with room for all; else of all domains, or",
	"             with a row selected of those in which it holds most.",
	"A value with > before it is a lower bound; - was not measured.",
	"LEAST and MOST are of the interval, OCCUPANCY is its end.",
	"OF L3: filled up to the end's value, shaded up to the most.",
	"LAST MINUTE: the most of each second, up to the row's own most;",
	"a blank second was not measured.",
};

static const char *const replay_help[] = {
	"",
	"In a recording:",
	"Space, .     stop, and one interval more; Space goes on",
	"Left, Right  ten intervals back, forward",
	"<, >         the begin, the end",
	"[, ]         half, twice as fast",
};

/* Lines from the first that is wanted on: one that there is, at least. */
struct pane {
	struct screen *screen;
	uint32_t skip;		/* UINT32_MAX: lines are counted only */
	uint32_t lines;		/* so far */
};

static void put(struct pane *pane, enum attribute attribute, const char *line)
{
	if (pane->lines++ >= pane->skip)
		screen_wrapped(pane->screen, attribute, "%s", line);
}

/* A key goes on from a line that there is. */
static void limit_top(struct board *board, uint32_t lines)
{
	if (board->detail_top >= lines)
		board->detail_top = lines - 1;
}

void board_help(struct board *board, struct screen *screen)
{
	const uint32_t nr_help = sizeof(help) / sizeof(help[0]);
	const uint32_t nr_replay = sizeof(replay_help) / sizeof(replay_help[0]);
	const uint32_t nr = nr_help + (board->replay ? nr_replay : 0);
	struct pane pane = { .screen = screen };
	uint32_t i;

	limit_top(board, nr);
	pane.skip = board->detail_top;
	for (i = 0; i < nr; i++)
		put(&pane, ATTRIBUTE_NONE,
		    i < nr_help ? help[i] : replay_help[i - nr_help]);
}

static const char *bytes_text(char buf[VALUE_LEN], const struct measure *m)
{
	char bytes[FORMAT_LEN];

	snprintf(buf, VALUE_LEN, "%s%s", m->known && m->partial ? ">" : "",
		 m->known ? format_bytes(bytes, (uint64_t)m->value) : "-");
	return buf;
}

static const char *rate_text(char buf[VALUE_LEN], const struct measure *m)
{
	char rate[FORMAT_LEN];

	snprintf(buf, VALUE_LEN, "%s%s", m->known && m->partial ? ">" : "",
		 m->known ? format_rate(rate, m->value) : "-");
	return buf;
}

static const char *ratio_text(char buf[VALUE_LEN], const struct measure *m,
			      double factor)
{
	if (m->known)
		snprintf(buf, VALUE_LEN, "%s%.2f", m->partial ? ">" : "",
			 factor * m->value);
	else
		snprintf(buf, VALUE_LEN, "-");
	return buf;
}

/* A line with a name, if there is one */
static void put_name(struct pane *pane, const char *what, const char *name)
{
	char escaped[LAYOUT_LINE / 2], line[LAYOUT_LINE];

	if (!name || !name[0])
		return;
	escape_text(escaped, sizeof(escaped), name, ESCAPE_ASCII);
	snprintf(line, sizeof(line), "%-10s %s", what, escaped);
	put(pane, ATTRIBUTE_NONE, line);
}

static void put_names(struct pane *pane, const struct row *row)
{
	const struct cmt_container *c = row->container;

	if (!c)
		return;
	put_name(pane, "id", c->id);
	put_name(pane, "pod", c->pod_name ? c->pod_name : c->pod);
	put_name(pane, "namespace", c->pod_namespace);
	put_name(pane, "image", c->image);
	put_name(pane, "cgroup", c->path);
}

static void put_values(struct pane *pane, const struct row *row)
{
	char a[VALUE_LEN], b[VALUE_LEN], c[VALUE_LEN], d[VALUE_LEN], line[LAYOUT_LINE];
	char residue[FORMAT_LEN];

	snprintf(line, sizeof(line), "occupancy  %s, least %s, most %s, of it residue at most %s",
		 bytes_text(a, &row->occupancy), bytes_text(b, &row->least),
		 bytes_text(c, &row->most), row->residual_known ?
		 format_bytes(residue, row->residual_bytes) : "-");
	put(pane, ATTRIBUTE_NONE, line);
	snprintf(line, sizeof(line), "bandwidth  total %s, local %s",
		 rate_text(a, &row->total), rate_text(b, &row->local));
	put(pane, ATTRIBUTE_NONE, line);
	snprintf(line, sizeof(line), "counters   CPU %s %%, WAIT %s %%, IPC %s, MPKI %s",
		 ratio_text(a, &row->cpu_share, 100), ratio_text(d, &row->wait_share, 100),
		 ratio_text(b, &row->ipc, 1), ratio_text(c, &row->mpki, 1));
	put(pane, ATTRIBUTE_NONE, line);
}

/* Of a curve that is @CURVE_LINES high, line @line from above. */
static char curve_byte(double value, double most, unsigned int line)
{
	double below = CURVE_LINES - 1 - line, height;

	if (isnan(value))
		return ' ';
	height = most > 0 ? value / most * CURVE_LINES : 0;
	if (height <= below)
		return below > 0 ? ' ' : (char)GLYPH_HEIGHT;
	return glyph_height(height - below, 1);
}

static void put_limits(struct pane *pane, const struct cgroup_limits *limits)
{
	char cpus[32] = "not known", memory[FORMAT_LEN] = "not known";
	char line[LAYOUT_LINE];

	if (isinf(limits->cpus))
		strcpy(cpus, "none");
	else if (!isnan(limits->cpus))
		snprintf(cpus, sizeof(cpus), "%.2f", limits->cpus);
	if (isinf(limits->memory_bytes))
		strcpy(memory, "none");
	else if (!isnan(limits->memory_bytes))
		format_bytes(memory, (uint64_t)limits->memory_bytes);
	snprintf(line, sizeof(line), "limits     CPUs: %s, memory: %s", cpus,
		 memory);
	put(pane, ATTRIBUTE_NONE, line);
}

/* A value for each column, NAN: not known; the newest is last. */
struct curve {
	unsigned int nr;
	bool known;		/* a value is */
	double most;
	double values[CURVE_MOST];
};

static void add_point(struct curve *curve, double value)
{
	curve->values[curve->nr++] = value;
	curve->known |= !isnan(value);
	if (value > curve->most)
		curve->most = value;
}

static void put_curve(struct pane *pane, const char *title,
		      const struct curve *curve)
{
	char line[CURVE_MOST + 1];
	unsigned int i, at;

	put(pane, ATTRIBUTE_TITLE, title);
	for (i = 0; i < CURVE_LINES; i++) {
		for (at = 0; at < curve->nr; at++)
			line[at] = curve_byte(curve->values[at], curve->most, i);
		line[at] = '\0';
		put(pane, ATTRIBUTE_NONE, line);
	}
}

static unsigned int curve_width(const struct pane *pane, unsigned int most)
{
	unsigned int width = pane->screen->opts->width;

	return width < most ? width : most;
}

#define HIGHEST_LEN (FORMAT_LEN + 20)

/* @text: of its highest value.  The rest of a title: of values that are not known there is none. */
static const char *highest(char buf[HIGHEST_LEN], const struct curve *curve, const char *text)
{
	if (curve->known)
		snprintf(buf, HIGHEST_LEN, "; the highest is %s", text);
	else
		strcpy(buf, ": not known");
	return buf;
}

static void put_minute(struct pane *pane, const struct trail *trail,
		       uint64_t now_ns)
{
	char title[LAYOUT_LINE], scale[FORMAT_LEN], rest[HIGHEST_LEN];
	unsigned int age = curve_width(pane, TRAIL_POINTS);
	struct curve curve = { 0 };

	while (age--)
		add_point(&curve, trail_at(trail, now_ns, age));
	snprintf(title, sizeof(title), "last %u s, the most of each%s", curve.nr,
		 highest(rest, &curve, format_bytes(scale, (uint64_t)curve.most)));
	put_curve(pane, title, &curve);
}

static void put_milliseconds(struct pane *pane, const struct follow *follow)
{
	char title[LAYOUT_LINE], scale[FORMAT_LEN], rest[HIGHEST_LEN];
	unsigned int width = curve_width(pane, CURVE_MOST), age;
	struct curve occupancy = { 0 }, traffic = { 0 };

	for (age = width; age--;) {
		add_point(&occupancy, follow_occupancy(follow, age));
		add_point(&traffic, follow_traffic(follow, age));
	}
	snprintf(title, sizeof(title), "last %u ms, occupancy%s", width,
		 highest(rest, &occupancy, format_bytes(scale, (uint64_t)occupancy.most)));
	put_curve(pane, title, &occupancy);
	snprintf(title, sizeof(title), "last %u ms, bandwidth%s", width,
		 highest(rest, &traffic, format_rate(scale, traffic.most)));
	put_curve(pane, title, &traffic);
}

/* @pending: the overflow RMID has some of it. */
static void put_part(struct pane *pane, const struct follow_part *part, bool pending)
{
	const struct measure occupancy = {
		!isnan(part->occupancy), part->occupancy_partial || pending, part->occupancy,
	};
	const struct measure rate = {
		!isnan(part->rate), part->rate_partial || pending, part->rate,
	};
	char a[VALUE_LEN], b[VALUE_LEN], line[LAYOUT_LINE];

	snprintf(line, sizeof(line), "domain %-3u %s, %s", part->domain,
		 bytes_text(a, &occupancy), rate_text(b, &rate));
	put(pane, ATTRIBUTE_NONE, line);
}

static void put_slower_part(struct pane *pane, const struct slower_part *part)
{
	char by[4 * CONTAINER_LABEL_LEN], bar[SLOWER_BAR + 1], line[LAYOUT_LINE];

	unsigned int width = pane->screen->opts->width < SLOWER_WIDE ? SLOWER_BAR / 2 :
								      SLOWER_BAR;

	escape_text(by, sizeof(by), part->by.label, ESCAPE_ASCII);
	/* the rest of its time is shaded */
	glyph_bar(bar, width, part->share, 1);
	snprintf(line, sizeof(line), "slower     %s %.0f %% because of %.*s: %s%s", bar,
		 100 * part->share, LAYOUT_LINE / 2, by, slower_resource(part->resource),
		 part->resource == CMT_SLOWDOWN_CPU ? "" : " (an estimate)");
	put(pane, ATTRIBUTE_NONE, line);
}

/* There also where nothing changes. */
static void put_slower(struct pane *pane, const struct slower *slower)
{
	for (uint32_t i = 0; slower && i < slower->nr_parts; i++)
		if (slower->parts[i].share >= SLOWER_LEAST)
			put_slower_part(pane, &slower->parts[i]);
}

static void put_mark(struct pane *pane, const struct report *report,
		     const struct row *row)
{
	char line[MARK_LINE];

	if (!row->mark)
		return;
	mark_line(line, row->mark, report->frame.end_ns);
	put(pane, ATTRIBUTE_NOTE, line);
}

static void put_lack(struct pane *pane, const struct row *row)
{
	struct cell cell = { .kind = CELL_ABSENT };

	get_lack(row, &cell);
	put_name(pane, "note", cell.kind == CELL_TEXT ? cell.text : NULL);
}

/* What is no owner has the values of its table, each with its title. */
static void put_columns(struct pane *pane, const struct frame *frame, const struct row *row)
{
	char text[LAYOUT_LINE / 2], line[LAYOUT_LINE];
	const struct column *column;

	for (column = columns_of(frame->by); column->get; column++) {
		if (!layout_wants(column, frame, true))
			continue;
		layout_cell(text, sizeof(text), column, row, false);
		snprintf(line, sizeof(line), "%-10s %s", column->title, text);
		if (text[0])
			put(pane, ATTRIBUTE_NONE, line);
	}
}

static void put_incomplete(struct pane *pane, const struct report *report,
			   const struct row *row)
{
	char text[BESIDE_TEXT_LEN], line[LAYOUT_LINE];

	if (row->is_cpu || !(row->why & CMT_USAGE_WHY_OVERWRITTEN))
		return;
	snprintf(line, sizeof(line), "incomplete: %s%s", beside_text(text, &report->beside),
		 beside_remedy(&report->beside));
	put(pane, ATTRIBUTE_BOLD, line);
}

static void put_followed(struct pane *pane, const struct follow *follow,
			 const struct row *row)
{
	uint32_t i;

	for (i = 0; i < follow->nr_parts; i++)
		put_part(pane, &follow->parts[i], row->why & CMT_USAGE_WHY_PENDING);
	if (follow->newest)
		put_milliseconds(pane, follow);
}

/* They are rows of processes, and a table as any other. */
static void put_processes(struct screen *screen, const struct report *report,
			  const struct row *row)
{
	const struct table_opts *whole = screen->opts;
	struct table_opts opts = *whole;
	struct report processes = *report;

	if (!row->nr_children || row->child ||
	    screen->lines + 2 > screen->opts->height)
		return;
	processes.frame.by = VIEW_PROCESS;
	processes.frame.rows = report->frame.children + row->first_child;
	processes.frame.nr_rows = row->nr_children;
	opts.window = NULL;
	screen->opts = &opts;
	view_rows(screen, &processes);
	screen->opts = whole;
}

/* The title: by container, a process of a container has its own name. */
static void put_title(struct pane *pane, const struct report *report,
		      const struct row *row)
{
	char label[CONTAINER_LABEL_LEN], escaped[4 * CONTAINER_LABEL_LEN];
	char process[CMT_COMM_LEN + 16], number[48] = "";

	escape_text(escaped, sizeof(escaped), container_label(label, row),
		    ESCAPE_ASCII);
	if (row->is_cpu)
		snprintf(number, sizeof(number), "cpu %u", row->cpu);
	else if (report->frame.by == VIEW_DOMAIN)
		snprintf(number, sizeof(number), "L3 domain %u", row->domain);
	else if (report->frame.by == VIEW_CHANNEL)
		snprintf(number, sizeof(number), "socket %u, channel %u",
			 row->socket, row->channel);
	put(pane, ATTRIBUTE_TITLE, number[0] ? number : escaped);
	if (!row->pid)
		return;
	snprintf(process, sizeof(process), "%u %s", row->pid, row->comm);
	put_name(pane, "process", process);
}

static void put_row(struct pane *pane, const struct report *report,
		    const struct row *row)
{
	bool followed = row->culprit_id && row->culprit_id == report->follow.id;
	enum view by = report->frame.by;

	put_title(pane, report, row);
	put_incomplete(pane, report, row);
	put_mark(pane, report, row);
	put_names(pane, row);
	if (by == VIEW_CONTAINER || by == VIEW_PROCESS) {
		put_values(pane, row);
		put_lack(pane, row);
	} else {
		put_columns(pane, &report->frame, row);
	}
	put_slower(pane, row->slower);
	if (followed && report->limited)
		put_limits(pane, &report->limits);
	if (followed)
		put_followed(pane, &report->follow, row);
	if (row->trail)
		put_minute(pane, row->trail, report->frame.end_ns);
}

void board_detail(struct board *board, struct screen *screen,
		  const struct report *report, const struct row *row)
{
	struct pane all = { .screen = screen, .skip = UINT32_MAX };
	struct pane pane = { .screen = screen };

	if (!row) {
		screen_line(screen, ATTRIBUTE_NONE,
			    "this row is not there any more");
		return;
	}
	put_row(&all, report, row);
	limit_top(board, all.lines);
	pane.skip = board->detail_top;
	put_row(&pane, report, row);
	put_processes(screen, report, row);
}
