// SPDX-License-Identifier: GPL-2.0-or-later
#include "screen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#define MAX_COLUMNS 24
#define NAME_FAIR 24	/* names are not cut below this for a column's sake, */
#define NAME_LEAST 14	/* nor below this: "(unattributed)" fits */
#define ESSENTIAL 18	/* columns for which names are cut to the least */
#define ROWS_LEAST 3	/* below a header that says everything */

/* A number, with a mark before it where it is a lower bound. */
static void number_text(char *buf, size_t size, const struct cell *cell,
			bool brief)
{
	char number[FORMAT_LEN];

	switch (cell->kind) {
	case CELL_BYTES:
		brief ? format_bytes_short(number, cell->number) :
			format_bytes(number, cell->number);
		break;
	case CELL_RATE:
		brief ? format_rate_short(number, cell->real) :
			format_rate(number, cell->real);
		break;
	case CELL_RATIO:
		snprintf(number, sizeof(number), "%.2f", cell->real);
		break;
	default:
		snprintf(number, sizeof(number), "%.1f", cell->real);
	}
	snprintf(buf, size, "%s%s", cell->partial ? ">" : "", number);
}

static void cell_text(char *buf, size_t size, const struct cell *cell,
		      bool brief)
{
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
	case CELL_RATE:
	case CELL_PERCENT:
	case CELL_RATIO:
		number_text(buf, size, cell, brief);
		break;
	case CELL_BOOL:
		snprintf(buf, size, "%s", cell->number ? "yes" : "no");
		break;
	}
}

static void get_text(char *buf, size_t size, const struct column *column,
		     const struct row *row, bool brief)
{
	struct cell cell = { .kind = CELL_ABSENT };

	column->get(row, &cell);
	/* an empty note is no missing value */
	if (cell.kind == CELL_ABSENT && !strcmp(column->title, "NOTE"))
		buf[0] = '\0';
	else
		cell_text(buf, size, &cell, brief);
}

struct place {
	const struct column *column;
	int wanted;		/* nothing in it is cut */
	int width;
};

struct layout {
	struct place places[MAX_COLUMNS];
	unsigned int nr;
	bool brief;		/* short numbers and titles */
};

static const char *title_of(const struct column *column, bool brief)
{
	return brief && column->brief ? column->brief : column->title;
}

/* The width that @column wants; 0: no row has it. */
static int column_width(const struct column *column, const struct frame *frame,
			bool brief)
{
	int least = (int)strlen(title_of(column, brief));
	int width = column->optional ? 0 : least;
	char text[LINE_LEN];
	uint32_t i;

	if (!brief && column->width > least)
		least = column->width;
	for (i = 0; i < frame->nr_rows; i++) {
		get_text(text, sizeof(text), column, &frame->rows[i], brief);
		if (column->optional && !width && !strcmp(text, "-"))
			continue;
		if (width < least)
			width = least;
		if ((int)strlen(text) > width)
			width = (int)strlen(text);
	}
	return !brief && width && width < least ? least : width;
}

static void layout_fill(struct layout *layout, const struct frame *frame,
			bool brief)
{
	const struct column *column = columns_of(frame->by);

	*layout = (struct layout){ .brief = brief };
	for (; column->get; column++) {
		int width = column->title ?
			    column_width(column, frame, brief) : 0;

		if (width)
			layout->places[layout->nr++] = (struct place){
				.column = column, .wanted = width,
			};
	}
}

/* Names give way until the line fits, the longest first; none below @least. */
static bool layout_fits(struct layout *layout, int width, int least)
{
	int total = layout->nr ? (int)layout->nr - 1 : 0;
	unsigned int i;

	for (i = 0; i < layout->nr; i++) {
		layout->places[i].width = layout->places[i].wanted;
		total += layout->places[i].wanted;
	}
	while (total > width) {
		struct place *widest = NULL;

		for (i = 0; i < layout->nr; i++) {
			struct place *place = &layout->places[i];

			if (place->column->left && place->width > least &&
			    (!widest || place->width > widest->width))
				widest = place;
		}
		if (!widest)
			return false;
		widest->width--;
		total--;
	}
	return true;
}

/* Leave out the next of the columns that are dropped before @limit. */
static bool layout_drop(struct layout *layout, int limit)
{
	unsigned int i, found = layout->nr;

	for (i = 0; i < layout->nr; i++) {
		int drop = layout->places[i].column->drop;

		if (!drop || drop >= limit)
			continue;
		if (found == layout->nr ||
		    drop < layout->places[found].column->drop)
			found = i;
	}
	if (found == layout->nr)
		return false;
	layout->nr--;
	memmove(&layout->places[found], &layout->places[found + 1],
		(layout->nr - found) * sizeof(layout->places[0]));
	return true;
}

/* No number is ever cut: it is written shorter, or its column goes. */
static void layout_make(struct layout *layout, const struct report *report,
			const struct table_opts *opts)
{
	int width = opts->width ? (int)opts->width : INT32_MAX;

	layout_fill(layout, &report->frame, false);
	if (layout_fits(layout, width, INT32_MAX))
		return;
	layout_fill(layout, &report->frame, true);
	while (!layout_fits(layout, width, NAME_FAIR))
		if (!layout_drop(layout, ESSENTIAL))
			break;
	while (!layout_fits(layout, width, NAME_LEAST))
		if (!layout_drop(layout, INT32_MAX))
			break;
	if (!layout_fits(layout, width, NAME_FAIR) &&
	    !layout_fits(layout, width, NAME_LEAST))
		layout_fits(layout, width, 1);
}

/*
 * A name that is cut ends in '+'.  What is said in parentheses of the overflow
 * RMID's row holds numbers, and goes as a whole.
 */
static void cut_name(char *text, size_t width)
{
	size_t label = strcspn(text, ":");

	if (strlen(text) <= width)
		return;
	if (text[0] == '(' && text[label] && label < width)
		strcpy(text + label, ")");
	else
		strcpy(text + width - 1, "+");
}

static void append(char *line, const struct place *place, char *text)
{
	size_t used = strlen(line);

	if (place->column->left)
		cut_name(text, (size_t)place->width);
	snprintf(line + used, LINE_LEN - used, "%s%*s", used ? " " : "",
		 place->column->left ? -place->width : place->width, text);
}

static void put_titles(struct screen *screen, const struct layout *layout)
{
	char line[LINE_LEN] = "", title[32];
	unsigned int i;

	for (i = 0; i < layout->nr; i++) {
		snprintf(title, sizeof(title), "%s",
			 title_of(layout->places[i].column, layout->brief));
		append(line, &layout->places[i], title);
	}
	screen_line(screen, ATTRIBUTE_BOLD, line);
}

static void put_row(struct screen *screen, const struct layout *layout,
		    const struct row *row)
{
	char line[LINE_LEN] = "", text[LINE_LEN];
	unsigned int i;

	for (i = 0; i < layout->nr; i++) {
		get_text(text, sizeof(text), layout->places[i].column, row,
			 layout->brief);
		append(line, &layout->places[i], text);
	}
	screen_line(screen, ATTRIBUTE_NONE, line);
}

/* What belongs to no one owner is sorted behind the others. */
static uint32_t count_remainders(const struct frame *frame)
{
	uint32_t nr = 0;

	while (nr < frame->nr_rows) {
		const struct row *row = &frame->rows[frame->nr_rows - nr - 1];

		if (row->is_cpu || (row->kind != CMT_USAGE_UNATTRIBUTED &&
				    row->kind != CMT_USAGE_OVERFLOW))
			break;
		nr++;
	}
	return nr;
}

/* In @room lines: those that do not fit are counted in a line. */
static void put_rows(struct screen *screen, const struct layout *layout,
		     const struct frame *frame, uint32_t room)
{
	uint32_t i, last = count_remainders(frame), first = frame->nr_rows;
	uint32_t hidden;
	char more[FORMAT_LEN];

	if (first > room) {
		if (last > room - 1)
			last = room - 1;
		first = room - 1 - last;
	} else {
		last = 0;
	}
	for (i = 0; i < first; i++)
		put_row(screen, layout, &frame->rows[i]);
	hidden = frame->nr_rows - first - last;
	if (hidden) {
		snprintf(more, sizeof(more), "+%u row%s", hidden,
			 hidden == 1 ? "" : "s");
		screen_line(screen, ATTRIBUTE_NONE, more);
	}
	for (i = frame->nr_rows - last; i < frame->nr_rows; i++)
		put_row(screen, layout, &frame->rows[i]);
}

/* How many lines the header takes. */
static unsigned int header_lines(const struct report *report,
				 const struct table_opts *opts)
{
	char *text = NULL;
	size_t len;
	struct screen screen = {
		.out = open_memstream(&text, &len), .opts = opts,
	};

	if (!screen.out)
		return 0;
	view_header(&screen, report, false);
	fclose(screen.out);
	free(text);
	return screen.lines;
}

void view_table(FILE *out, const struct report *report,
		const struct table_opts *opts)
{
	struct screen screen = { .out = out, .opts = opts };
	unsigned int height = opts->height;
	bool brief = height &&
		     header_lines(report, opts) + 1 + ROWS_LEAST > height;
	struct layout layout;

	/* the titles and two rows have a line each, whatever is above them */
	screen.most = height > 4 ? height - 3 : height ? 1 : 0;
	view_header(&screen, report, brief);
	screen.most = height;
	layout_make(&layout, report, opts);
	put_titles(&screen, &layout);
	put_rows(&screen, &layout, &report->frame,
		 !height ? UINT32_MAX :
		 height > screen.lines ? height - screen.lines : 1);
}
