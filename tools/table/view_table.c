// SPDX-License-Identifier: GPL-2.0-or-later
#include "screen.h"

#include <stdio.h>
#include <string.h>

#include "common/format.h"
#include "heat.h"
#include "layout.h"

#define ROWS_LEAST 3	/* below a header with all lines */

/* Rows without a single owner are sorted behind the others. */
static uint32_t count_remainders(const struct frame *frame)
{
	uint32_t nr = 0;

	while (nr < frame->nr_rows &&
	       row_is_remainder(&frame->rows[frame->nr_rows - nr - 1]))
		nr++;
	return nr;
}

/* The first row of the scrolling part, which contains the selected row */
static uint32_t scroll(struct window *window, uint32_t rows, uint32_t shown)
{
	if (window->selected < rows && window->selected < window->top)
		window->top = window->selected;
	if (window->selected < rows && shown &&
	    window->selected - window->top >= shown)
		window->top = window->selected - shown + 1;
	if (window->top > rows - shown)
		window->top = rows - shown;
	window->shown = shown;
	return window->top;
}

/* Choose rows for @room lines: the others are counted in a line. */
static void choose_rows(struct row_run *run, const struct frame *frame,
			struct window *window, uint32_t room)
{
	*run = (struct row_run){ .nr = frame->nr_rows };
	if (frame->nr_rows > room) {
		run->nr_last = count_remainders(frame);
		if (run->nr_last > room - 1)
			run->nr_last = room - 1;
		run->nr = room - 1 - run->nr_last;
	}
	run->last = frame->nr_rows - run->nr_last;
	if (window) {
		run->first = scroll(window, run->last, run->nr);
		window->sums = run->nr_last;
	}
}

static void paint_row(struct screen *screen, const struct layout *layout,
		      const struct frame *frame, const struct row *row)
{
	unsigned int i, at = screen->opts->window ? 1 : 0;
	enum attribute attribute;

	for (i = 0; i < layout->nr; i++) {
		const struct place *place = &layout->places[i];

		attribute = heat_of(frame->by, place->column, row);
		if (attribute != ATTRIBUTE_NONE)
			screen_paint(screen, at, at + (unsigned int)place->width,
				     attribute);
		at += (unsigned int)place->width + 1;
	}
}

/* Where no line is reverse, only the mark shows the selected row. */
static void put_row(struct screen *screen, const struct layout *layout,
		    const struct frame *frame, uint32_t i)
{
	const struct window *window = screen->opts->window;
	bool selected = window && window->selected == i;
	char line[LAYOUT_LINE + 1];

	line[0] = selected ? '>' : ' ';
	layout_row(layout, line + 1, &frame->rows[i]);
	if (screen_line(screen, selected ? ATTRIBUTE_REVERSE : ATTRIBUTE_NONE,
			window ? line : line + 1) && !selected)
		paint_row(screen, layout, frame, &frame->rows[i]);
}

static void put_titles(struct screen *screen, const struct layout *layout)
{
	struct window *window = screen->opts->window;
	char line[LAYOUT_LINE + 1] = " ";
	unsigned int i, at = 1;

	layout_titles(layout, line + 1);
	if (window)
		window->titles = screen->lines;
	screen_line(screen, ATTRIBUTE_TITLE, window ? line : line + 1);
	for (i = 0; window && i < layout->nr; i++) {
		const struct place *place = &layout->places[i];

		window->places[i].begin = at;
		at += (unsigned int)place->width + 1;
		window->places[i].end = at;
		window->places[i].sort = column_sort(place->column);
	}
	if (window)
		window->nr_places = layout->nr;
}

static void put_rows(struct screen *screen, const struct layout *layout,
		     const struct frame *frame, const struct row_run *run)
{
	uint32_t i, hidden = frame->nr_rows - run->nr - run->nr_last;
	char more[FORMAT_LEN];

	for (i = 0; i < run->nr; i++)
		put_row(screen, layout, frame, run->first + i);
	if (hidden) {
		snprintf(more, sizeof(more), "+%u row%s", hidden,
			 hidden == 1 ? "" : "s");
		screen_line(screen, ATTRIBUTE_NONE, more);
	}
	for (i = 0; i < run->nr_last; i++)
		put_row(screen, layout, frame, run->last + i);
}

static void count_line(void *to, unsigned int number, enum attribute attribute,
		       const char *line, size_t len)
{
	(void)to;
	(void)number;
	(void)attribute;
	(void)line;
	(void)len;
}

/* How many lines the header takes. */
static unsigned int header_lines(const struct report *report,
				 const struct table_opts *opts)
{
	struct screen screen = { .put = count_line, .opts = opts };

	view_header(&screen, report, false);
	return screen.lines;
}

void view_rows(struct screen *screen, const struct report *report)
{
	const struct table_opts *opts = screen->opts;
	uint32_t room = !opts->height ? UINT32_MAX :
			opts->height > screen->lines + 1 ?
			opts->height - screen->lines - 1 : 1;
	unsigned int width = opts->width;
	struct layout layout;
	struct row_run run;

	screen->most = opts->height;
	if (opts->window && width > 1)
		width--;
	choose_rows(&run, &report->frame, opts->window, room);
	layout_make(&layout, &report->frame, &run, opts->window != NULL, width);
	put_titles(screen, &layout);
	put_rows(screen, &layout, &report->frame, &run);
}

void view_table(struct screen *screen, const struct report *report)
{
	unsigned int height = screen->opts->height;
	bool brief = height && header_lines(report, screen->opts) + 1 +
			       ROWS_LEAST > height;

	/* the titles and two rows have a line each, whatever is above them */
	screen->most = height > 4 ? height - 3 : height ? 1 : 0;
	view_header(screen, report, brief);
	view_rows(screen, report);
}
