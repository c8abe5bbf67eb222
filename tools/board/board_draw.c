// SPDX-License-Identifier: GPL-2.0-or-later
#include "board.h"

#include <stdio.h>
#include <string.h>

#include "common/format.h"

#define LEAST_WIDTH 10
#define LEAST_HEIGHT 3
#define STATUS_LEN 256
#define NR_PARTS 8

/* A new selection, by index: without memory it lasts for this table. */
static void keep_selected(struct board *board, const struct frame *frame)
{
	struct row_key key;

	if (board->selected >= frame->nr_rows)
		board->selected = frame->nr_rows - 1;
	row_key_drop(&board->key);
	row_key_of(&key, frame->by, &frame->rows[board->selected]);
	board->keyed = !row_key_keep(&board->key, &key);
}

/* Find the row of the selected owner in this table; without it, none is marked. */
static void find_selected(struct board *board, const struct frame *frame)
{
	struct row_key key;
	uint32_t i;

	board->nr_rows = frame->nr_rows;
	if (board->chosen && !board->keyed && frame->nr_rows) {
		keep_selected(board, frame);
		return;
	}
	board->selected = NO_ROW;
	for (i = 0; i < frame->nr_rows && board->keyed; i++) {
		row_key_of(&key, frame->by, &frame->rows[i]);
		if (!row_key_cmp(&key, &board->key)) {
			board->selected = i;
			break;
		}
	}
}

/* The selected row may be one that the search hides: then it is the first one. */
static void open_selected(struct board *board, const struct frame *frame)
{
	bool hidden = board->selected == NO_ROW && frame->nr_rows;

	if (board->opening && board->pane == BOARD_DETAIL && hidden) {
		board->selected = 0;
		keep_selected(board, frame);
	}
	board->opening = false;
}

static void append(char *buf, size_t size, const char *text)
{
	size_t used = strlen(buf);

	if (used + strlen(text) < size)
		strcat(buf, text);
}

/* What the command line leaves out */
static void limits_text(const struct board *board, char text[STATUS_LEN])
{
	char filter[STATUS_LEN / 2] = "", top[32] = "";

	if (board->filter)
		escape_text(filter, sizeof(filter), board->filter, ESCAPE_ASCII);
	if (board->top_rows)
		snprintf(top, sizeof(top), "top: %u  ", board->top_rows);
	snprintf(text, STATUS_LEN, "%s%s%s%s", board->filter ? "filter: " : "", filter,
		 board->filter ? "  " : "", top);
}

/* In @room columns, with the spaces behind it; of a longer search, the end. */
static void search_text(const struct board *board, char text[STATUS_LEN], size_t room)
{
	const char *search = board->search, *cut = "", *cursor = board->typing ? "_" : "";
	size_t len = strlen(search), others = strlen("/  ") + strlen(cursor);

	if (len + others > room) {
		cut = "+";
		search += others + 1 < room ? len + others + 1 - room : len;
	}
	text[0] = '\0';
	if (board->typing || len)
		snprintf(text, STATUS_LEN, "/%s%s%s  ", cut, search, cursor);
}

/* Put the first parts that fit; of these, only the search is cut. */
static void put_status(const struct board *board, struct canvas *canvas)
{
	char parts[NR_PARTS][STATUS_LEN], line[STATUS_LEN] = "", every[FORMAT_LEN];
	size_t i, size = canvas->width < STATUS_LEN - 1 ? canvas->width + 1 :
							  STATUS_LEN;

	snprintf(parts[0], STATUS_LEN, "%s",
		 board->frozen ? "FROZEN  " : "");
	search_text(board, parts[1], size - 1 - strlen(parts[0]));
	snprintf(parts[2], STATUS_LEN, "q quit  ? help  ");
	limits_text(board, parts[3]);
	snprintf(parts[4], STATUS_LEN, "sort: %s%s  ",
		 sort_key_name(board->sort), board->reverse ? " reversed" : "");
	snprintf(parts[5], STATUS_LEN, "by %s  ", by_name(board->by));
	snprintf(parts[6], STATUS_LEN, "every %s  ",
		 format_duration(every, board->interval_ns));
	snprintf(parts[7], STATUS_LEN, "o options");
	for (i = 0; i < NR_PARTS; i++)
		append(line, size, parts[i]);
	if (board->notice[0])
		snprintf(line, sizeof(line), "%s", board->notice);
	canvas_put(canvas, canvas->height - 1, ATTRIBUTE_REVERSE, line,
		   strlen(line));
}

/* A message goes on in the next line, because a cut sentence has no meaning. */
static void put_message(struct canvas *canvas, const char *text)
{
	canvas_put(canvas, 0, ATTRIBUTE_NONE, text, strlen(text));
}

static void draw_detail(struct board *board, struct screen *screen,
			const struct report *report)
{
	const struct row *row = board->selected == NO_ROW ? NULL :
				&report->frame.rows[board->selected];

	board->followed = row ? row->culprit_id : 0;
	board_detail(board, screen, report, row);
}

/* Of all rows of the report, also of those that @shown lacks. */
static void set_shares(struct board *board, struct shares *shares,
		       const struct report *report, struct frame *shown, unsigned int room)
{
	const struct row *selected = board->selected == NO_ROW ? NULL :
				     &shown->rows[board->selected];

	shares_set(shares, &board->letters, &report->caches, &report->frame, selected, room);
	shares_mark(shares, &board->letters, shown);
}

void board_selection(const struct board *board, struct selection *selection)
{
	*selection = (struct selection){
		.key = board->sort, .reverse = board->reverse,
		.filter = board->filter, .top = board->top_rows,
		.search = board->search[0] ? board->search : NULL,
		.expand = board->expand,
	};
}

static void draw_report(struct board *board, const struct report *from,
			struct screen *screen)
{
	struct report report = *from;
	struct selection selection;
	struct shares shares;

	board_selection(board, &selection);
	report.expand = board->expand;
	report.shares = &shares;
	marks_set(&from->marks, &report.frame);
	rows_select(&report.frame, &selection);
	find_selected(board, &report.frame);
	open_selected(board, &report.frame);
	set_shares(board, &shares, from, &report.frame, shares_room(screen->opts->height + 1));
	board->window.selected = board->selected;
	if (board->pane == BOARD_DETAIL)
		draw_detail(board, screen, &report);
	else
		view_table(screen, &report);
	if (board->pane == BOARD_ROWS && from->frame.nr_rows && !report.frame.nr_rows)
		screen_line(screen, ATTRIBUTE_NONE, "no row matches");
}

void board_draw(struct board *board, const struct report *report,
		struct canvas *canvas)
{
	const struct table_opts opts = {
		.width = canvas->width, .height = canvas->height - 1,
		.window = &board->window,
	};
	struct screen screen = {
		.put = canvas_put, .paint = canvas_paint, .to = canvas, .opts = &opts,
		.most = opts.height,
	};

	board->followed = 0;
	if (!canvas->width || !canvas->height)
		return;
	if (canvas->width < LEAST_WIDTH || canvas->height < LEAST_HEIGHT) {
		put_message(canvas, "too small");
		return;
	}
	if (board->pane == BOARD_HELP)
		board_help(board, &screen);
	else if (board->pane == BOARD_OPTIONS)
		board_options(board, &screen);
	else if (report)
		draw_report(board, report, &screen);
	else
		put_message(canvas, "reading...");
	put_status(board, canvas);
}
