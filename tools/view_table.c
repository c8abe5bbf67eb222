// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#define MAX_COLUMNS 24
#define LINE_LEN 1024
#define WIDE 100	/* a screen that has room for the date, too */
#define DATE_LEN 11	/* "2026-03-01T" */
#define DATE_TIME_LEN 19
#define NAME_LEAST 8	/* a name is not cut shorter than this */

static const char BOLD[] = "\033[1m";
static const char REVERSE[] = "\033[7m";
static const char NORMAL[] = "\033[m";

/* Everything printed is ASCII by now: one byte, one column. */
static void put_line(FILE *out, const struct table_opts *opts,
		     const char *attribute, char *line)
{
	size_t len = strlen(line);

	while (len && line[len - 1] == ' ')
		len--;
	if (opts->width && len > opts->width)
		len = opts->width;
	line[len] = '\0';
	if (attribute && opts->attributes)
		fprintf(out, "%s%s%s%s", attribute, line, NORMAL, opts->eol);
	else
		fprintf(out, "%s%s", line, opts->eol);
}

static void __attribute__((format(printf, 4, 5)))
put_format(FILE *out, const struct table_opts *opts, const char *attribute,
	   const char *format, ...)
{
	char line[LINE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	put_line(out, opts, attribute, line);
}

static const char *vendor_name(uint32_t vendor)
{
	switch (vendor) {
	case CMT_VENDOR_INTEL:
		return "Intel";
	case CMT_VENDOR_AMD:
		return "AMD";
	case CMT_VENDOR_HYGON:
		return "Hygon";
	default:
		return "other";
	}
}

static void put_machine(FILE *out, const struct report *report,
			const struct table_opts *opts)
{
	const struct cmt_info *info = report->info;
	char time[FORMAT_LEN], l3[FORMAT_LEN] = "of unknown size";

	if (info->l3_bytes)
		format_bytes(l3, info->l3_bytes);
	format_time(time, report->realtime_ns);
	time[DATE_TIME_LEN] = '\0';
	put_format(out, opts, BOLD,
		   "%sZ  %s (%s)  L3: %u x %s  RMIDs: %u of %u in use",
		   opts->width && opts->width < WIDE ? time + DATE_LEN : time,
		   info->backend == CMT_BACKEND_HARDWARE ? "hardware" :
							   "emulated",
		   vendor_name(info->vendor), report->frame.nr_domains, l3,
		   report->stats.rmids_active, info->rmids_usable);
}

/* How much of what the scope is about has an RMID of its own. */
static void put_scope(FILE *out, const struct report *report,
		      const struct table_opts *opts)
{
	const struct census *census = &report->census;
	char attached[48] = "";

	if (census->attached_waiting)
		snprintf(attached, sizeof(attached), ", and %u of %u attached",
			 census->attached,
			 census->attached + census->attached_waiting);
	else if (census->attached)
		snprintf(attached, sizeof(attached), ", and %u attached",
			 census->attached);
	put_format(out, opts, NULL,
		   "%s scope: %u of %u %s individually monitored%s",
		   scope_name(report->scope), census->monitored,
		   census->monitored + census->waiting,
		   scope_noun(report->scope,
			      census->monitored + census->waiting), attached);
}

static bool cannot_expand(const struct report *report)
{
	return report->expand && report->scope != CMT_SCOPE_PROCESS;
}

static void put_expand(FILE *out, const struct report *report,
		       const struct table_opts *opts)
{
	if (cannot_expand(report))
		put_format(out, opts, NULL,
			   "%s scope: only attached processes have RMIDs of their own to expand",
			   scope_name(report->scope));
}

static void put_sampling(FILE *out, const struct report *report,
			 const struct table_opts *opts)
{
	const struct frame *frame = &report->frame;
	char cost[64] = "", every[FORMAT_LEN];

	if (!frame->end_ns) {
		put_format(out, opts, NULL, "no readings in this interval");
		return;
	}
	if (frame->ticks_ns)
		snprintf(cost, sizeof(cost), ", costs %.2f %% of %u CPUs",
			 100.0 * (double)frame->busy_ns /
				 (double)frame->ticks_ns,
			 frame->nr_cpus);
	put_format(out, opts, NULL, "over %.3f s, sampled every %s%s",
		   (double)frame->elapsed_ns / 1e9,
		   frame->interval_ns ?
			   format_duration(every, frame->interval_ns) : "?",
		   cost);
}

static void put_losses(FILE *out, const struct report *report,
		       const struct table_opts *opts)
{
	if (report->lost_ever)
		put_format(out, opts, BOLD,
			   "LOST %" PRIu64 " records (%" PRIu64 " since the start)",
			   report->lost, report->lost_ever);
	if (report->dropped_ever)
		put_format(out, opts, BOLD,
			   "DROPPED %" PRIu64 " late or malformed records (%" PRIu64 " since the start)",
			   report->dropped, report->dropped_ever);
}

static void put_banner(FILE *out, const struct report *report,
		       const struct table_opts *opts)
{
	char reason[sizeof(report->info->reason) + 1] = "";
	char escaped[4 * sizeof(reason)];

	if (!report->emulated)
		return;
	memcpy(reason, report->info->reason, sizeof(report->info->reason));
	escape_text(escaped, sizeof(escaped), reason, ESCAPE_ASCII);
	put_format(out, opts, REVERSE,
		   "EMULATED: these values come from a model, not from hardware (%s)",
		   escaped);
}

/* Lines put above the table's titles. */
static unsigned int header_lines(const struct report *report)
{
	return 3 + cannot_expand(report) + !!report->lost_ever +
	       !!report->dropped_ever + report->emulated;
}

static void cell_text(char *buf, size_t size, const struct cell *cell)
{
	char number[FORMAT_LEN];
	const char *mark = cell->partial ? ">" : "";

	switch (cell->kind) {
	case CELL_ABSENT:
		snprintf(buf, size, "-");
		break;
	case CELL_TEXT:
		escape_text(buf, size, cell->text, ESCAPE_ASCII);
		break;
	case CELL_NUMBER:
		snprintf(buf, size, "%" PRIu64, cell->number);
		break;
	case CELL_BYTES:
		snprintf(buf, size, "%s%s", mark,
			 format_bytes(number, cell->number));
		break;
	case CELL_RATE:
		snprintf(buf, size, "%s%s", mark,
			 format_rate(number, cell->real));
		break;
	case CELL_PERCENT:
		snprintf(buf, size, "%s%.1f", mark, cell->real);
		break;
	case CELL_BOOL:
		snprintf(buf, size, "%s", cell->number ? "yes" : "no");
		break;
	}
}

static void get_text(char *buf, size_t size, const struct column *column,
		     const struct row *row)
{
	struct cell cell = { .kind = CELL_ABSENT };

	column->get(row, &cell);
	/* an empty note is no missing value */
	if (cell.kind == CELL_ABSENT && !strcmp(column->title, "NOTE"))
		buf[0] = '\0';
	else
		cell_text(buf, size, &cell);
}

struct layout {
	const struct column *columns[MAX_COLUMNS];
	int width[MAX_COLUMNS];
	unsigned int nr;
};

/* Names give way until the line fits, the longest first. */
static void layout_shrink(struct layout *layout, int width)
{
	for (;;) {
		int total = 0, widest = -1;
		unsigned int i;

		for (i = 0; i < layout->nr; i++) {
			total += layout->width[i] + (i ? 1 : 0);
			if (layout->columns[i]->left &&
			    layout->width[i] > NAME_LEAST &&
			    (widest < 0 ||
			     layout->width[i] > layout->width[widest]))
				widest = (int)i;
		}
		if (total <= width || widest < 0)
			return;
		layout->width[widest]--;
	}
}

/* The least width that @column needs; 0: no row has it. */
static int column_width(const struct column *column, const struct frame *frame)
{
	int width = column->optional ? 0 : column->width;
	char text[LINE_LEN];
	uint32_t i;

	for (i = 0; i < frame->nr_rows; i++) {
		get_text(text, sizeof(text), column, &frame->rows[i]);
		if (column->optional && !width && !strcmp(text, "-"))
			continue;
		if (width < column->width)
			width = column->width;
		if ((int)strlen(text) > width)
			width = (int)strlen(text);
	}
	return width;
}

static void layout_make(struct layout *layout, const struct report *report,
			const struct table_opts *opts)
{
	const struct column *column = columns_of(report->frame.by);
	int width;

	layout->nr = 0;
	for (; column->get; column++) {
		width = column->title ? column_width(column, &report->frame) :
					0;
		if (!width)
			continue;
		layout->columns[layout->nr] = column;
		layout->width[layout->nr++] = width;
	}
	if (opts->width)
		layout_shrink(layout, (int)opts->width);
}

/* Append one cell; a name that was cut ends in '+'. */
static void append(char *line, const struct layout *layout, unsigned int i,
		   char *text)
{
	int width = layout->width[i];
	size_t used = strlen(line);

	if (layout->columns[i]->left && (int)strlen(text) > width)
		strcpy(text + width - 1, "+");
	snprintf(line + used, LINE_LEN - used, "%s%*s", i ? " " : "",
		 layout->columns[i]->left ? -width : width, text);
}

static void put_titles(FILE *out, const struct layout *layout,
		       const struct table_opts *opts)
{
	char line[LINE_LEN] = "", title[32];
	unsigned int i;

	for (i = 0; i < layout->nr; i++) {
		snprintf(title, sizeof(title), "%s",
			 layout->columns[i]->title);
		append(line, layout, i, title);
	}
	put_line(out, opts, BOLD, line);
}

static void put_row(FILE *out, const struct layout *layout,
		    const struct row *row, const struct table_opts *opts)
{
	char line[LINE_LEN] = "", text[LINE_LEN];
	unsigned int i;

	for (i = 0; i < layout->nr; i++) {
		get_text(text, sizeof(text), layout->columns[i], row);
		append(line, layout, i, text);
	}
	put_line(out, opts, NULL, line);
}

void view_table(FILE *out, const struct report *report,
		const struct table_opts *opts)
{
	unsigned int above = header_lines(report) + 1;
	uint32_t i, shown = report->frame.nr_rows;
	struct layout layout;

	if (opts->height && above + shown > opts->height)
		shown = opts->height > above ? opts->height - above : 0;
	put_machine(out, report, opts);
	put_scope(out, report, opts);
	put_sampling(out, report, opts);
	put_expand(out, report, opts);
	put_losses(out, report, opts);
	put_banner(out, report, opts);
	layout_make(&layout, report, opts);
	put_titles(out, &layout, opts);
	for (i = 0; i < shown; i++)
		put_row(out, &layout, &report->frame.rows[i], opts);
}
