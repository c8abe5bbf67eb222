// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/format.h"
#include "frame/history.h"
#include "glyphs.h"

#define NAME_FAIR 24	/* names are not cut below this for a column's sake, */
#define NAME_LEAST 14	/* nor below this: "(unattributed)" fits */
#define COMPARED 256	/* rows, more than a screen has */
#define ESSENTIAL 18	/* columns for which names are cut to the least */

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
	case CELL_BAR:
	case CELL_TRAIL:
		buf[0] = '\0';
		break;
	}
}

void layout_cell(char *buf, size_t size, const struct column *column,
		 const struct row *row, bool brief)
{
	struct cell cell = { .kind = CELL_ABSENT };

	column->get(row, &cell);
	/* no note, and no letter, is no missing value */
	if (cell.kind == CELL_ABSENT &&
	    (!strcmp(column->title, "NOTE") || !strcmp(column->title, " ")))
		buf[0] = '\0';
	else
		cell_text(buf, size, &cell, brief);
}

static const char *title_of(const struct column *column, bool brief)
{
	return brief && column->brief ? column->brief : column->title;
}

static bool has_value(const struct column *column, const struct row *row)
{
	struct cell cell = { .kind = CELL_ABSENT };

	column->get(row, &cell);
	return cell.kind != CELL_ABSENT;
}

bool layout_wants(const struct column *column, const struct frame *frame, bool live)
{
	uint32_t i;

	if (!column->title || (column_live(column) && !live))
		return false;
	if (!column->optional)
		return true;
	for (i = 0; i < frame->nr_rows; i++)
		if (has_value(column, &frame->rows[i]))
			return true;
	return false;
}

static int widest_text(const struct column *column, const struct row *rows,
		       uint32_t nr, bool brief, int width)
{
	char text[LAYOUT_LINE];
	uint32_t i;

	for (i = 0; i < nr; i++) {
		layout_cell(text, sizeof(text), column, &rows[i], brief);
		if ((int)strlen(text) > width)
			width = (int)strlen(text);
	}
	return width;
}

/* The width that @column wants: bars and curves have no text. */
static int column_width(const struct column *column, const struct frame *frame,
			const struct row_run *run, bool brief)
{
	int width = (int)strlen(title_of(column, brief));

	if ((!brief || (column_live(column) && column->left)) &&
	    column->width > width)
		width = column->width;
	width = widest_text(column, frame->rows + run->first, run->nr, brief,
			    width);
	return widest_text(column, frame->rows + run->last, run->nr_last, brief,
			   width);
}

static void layout_fill(struct layout *layout, const struct frame *frame,
			const struct row_run *run, bool brief)
{
	const struct column *column = columns_of(frame->by);

	layout->nr = 0;
	layout->brief = brief;
	for (; column->get; column++)
		if (layout_wants(column, frame, layout->live))
			layout->places[layout->nr++] = (struct place){
				.column = column,
				.wanted = column_width(column, frame, run,
						       brief),
			};
}

/* A name, which may be cut: bars and curves are as wide as they are. */
static bool gives_way(const struct place *place)
{
	return place->column->left && !column_live(place->column);
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

			if (gives_way(place) && place->width > least &&
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

/* A curve gets the remaining room, a column for a second. */
static void layout_stretch(struct layout *layout, int width)
{
	int total = layout->nr ? (int)layout->nr - 1 : 0;
	unsigned int i;

	for (i = 0; i < layout->nr; i++)
		total += layout->places[i].width;
	for (i = 0; i < layout->nr && total < width; i++) {
		struct place *place = &layout->places[i];
		int more = TRAIL_POINTS - place->width;

		if (!column_stretches(place->column) || more <= 0)
			continue;
		place->width += more < width - total ? more : width - total;
	}
}

/*
 * A '+' is in place of what is cut, behind which are the last @tail bytes.  The parentheses of
 * the overflow RMID's row have numbers, and are dropped completely.
 */
static void cut_name(char *text, size_t width, size_t tail)
{
	size_t label = strcspn(text, ":"), len = strlen(text);

	if (len <= width)
		return;
	if (text[0] == '(' && text[label] && label < width) {
		strcpy(text + label, ")");
		return;
	}
	memmove(text + width - tail, text + len - tail, tail + 1);
	text[width - tail - 1] = '+';
}

/* FNV-1a */
static uint32_t hash(const char *text)
{
	uint32_t sum = 2166136261U;

	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * 16777619U;
	return sum;
}

/* Texts of rows, complete and with one of the tails */
struct cut_texts {
	uint32_t nr;
	uint32_t complete[COMPARED], cut[COMPARED];
};

static void add_texts(struct cut_texts *texts, const struct layout *layout,
		      const struct place *place, const struct row *rows, uint32_t nr)
{
	char text[LAYOUT_LINE];
	uint32_t i;

	for (i = 0; i < nr && texts->nr < COMPARED; i++, texts->nr++) {
		layout_cell(text, sizeof(text), place->column, &rows[i], layout->brief);
		texts->complete[texts->nr] = hash(text);
		cut_name(text, (size_t)place->width, (size_t)place->tail);
		texts->cut[texts->nr] = hash(text);
	}
}

/* Texts that only the cut makes equal to one before. */
static uint32_t count_equal(const struct layout *layout, const struct place *place,
			    const struct frame *frame, const struct row_run *run)
{
	struct cut_texts texts = { 0 };
	uint32_t i, k, equal = 0;

	add_texts(&texts, layout, place, frame->rows + run->first, run->nr);
	add_texts(&texts, layout, place, frame->rows + run->last, run->nr_last);
	for (i = 0; i < texts.nr; i++)
		for (k = 0; k < i; k++)
			equal += texts.cut[i] == texts.cut[k] &&
				 texts.complete[i] != texts.complete[k];
	return equal;
}

/* The pods of a deployment have one begin, its containers one end: the shortest tail that does. */
static void layout_cut(struct layout *layout, const struct frame *frame,
		       const struct row_run *run)
{
	uint32_t best, equal;

	for (unsigned int i = 0; i < layout->nr; i++) {
		struct place *place = &layout->places[i], tried = *place;

		if (!gives_way(place) || place->width >= place->wanted)
			continue;
		best = count_equal(layout, place, frame, run);
		for (int quarters = 2; best && quarters <= 4; quarters++) {
			tried.tail = (place->width - 1) * quarters / 4;
			equal = count_equal(layout, &tried, frame, run);
			if (equal >= best)
				continue;
			*place = tried;
			best = equal;
		}
	}
}

void layout_make(struct layout *layout, const struct frame *frame,
		 const struct row_run *run, bool live, unsigned int columns)
{
	int width = columns ? (int)columns : LAYOUT_LINE - 1;

	*layout = (struct layout){ .live = live, .now_ns = frame->end_ns };
	layout_fill(layout, frame, run, false);
	if (!layout_fits(layout, width, LAYOUT_LINE)) {
		layout_fill(layout, frame, run, true);
		while (!layout_fits(layout, width, NAME_FAIR))
			if (!layout_drop(layout, ESSENTIAL))
				break;
		while (!layout_fits(layout, width, NAME_LEAST))
			if (!layout_drop(layout, LAYOUT_LINE))
				break;
		if (!layout_fits(layout, width, NAME_FAIR) &&
		    !layout_fits(layout, width, NAME_LEAST))
			layout_fits(layout, width, 1);
		layout_cut(layout, frame, run);
	}
	if (live)
		layout_stretch(layout, width);
}

static void append(const struct layout *layout, char *line, unsigned int nr,
		   char *text)
{
	const struct place *place = &layout->places[nr];
	size_t used = strlen(line);

	if (place->column->left)
		cut_name(text, (size_t)place->width, (size_t)place->tail);
	snprintf(line + used, LAYOUT_LINE - used, "%s%*s", nr ? " " : "",
		 place->column->left ? -place->width : place->width, text);
}

void layout_titles(const struct layout *layout, char *line)
{
	char title[32];
	unsigned int i;

	line[0] = '\0';
	for (i = 0; i < layout->nr; i++) {
		snprintf(title, sizeof(title), "%s",
			 title_of(layout->places[i].column, layout->brief));
		append(layout, line, i, title);
	}
}

/* The newest second is at the right edge. */
static void trail_text(char *buf, unsigned int width, const struct trail *trail,
		       uint64_t now_ns)
{
	double most = trail_most(trail, now_ns);
	unsigned int i;

	for (i = 0; i < width; i++)
		buf[i] = glyph_height(trail_at(trail, now_ns, width - 1 - i),
				      most);
	buf[width] = '\0';
}

static void place_text(const struct layout *layout, const struct place *place,
		       char text[LAYOUT_LINE], const struct row *row)
{
	struct cell cell = { .kind = CELL_ABSENT };

	place->column->get(row, &cell);
	if (cell.kind == CELL_BAR)
		glyph_bar(text, (unsigned int)place->width, cell.real,
			  cell.most);
	else if (cell.kind == CELL_TRAIL)
		trail_text(text, (unsigned int)place->width, cell.trail,
			   layout->now_ns);
	else
		layout_cell(text, LAYOUT_LINE, place->column, row, layout->brief);
}

void layout_row(const struct layout *layout, char *line, const struct row *row)
{
	char text[LAYOUT_LINE];
	unsigned int i;

	line[0] = '\0';
	for (i = 0; i < layout->nr; i++) {
		place_text(layout, &layout->places[i], text, row);
		append(layout, line, i, text);
	}
}
