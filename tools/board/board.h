/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The full screen and its keys.  Pure: a key and a state make a state; a report, a
 * state and a size make a canvas.
 */
#ifndef TOOLS_BOARD_H
#define TOOLS_BOARD_H

#include "canvas.h"
#include "frame/history.h"
#include "settings.h"
#include "table/shares.h"

#define BOARD_SEARCH_LEN 64
#define BOARD_NOTICE_LEN 256

/* Keys that are no characters. */
enum board_key {
	BOARD_KEY_ESCAPE = 27,
	BOARD_KEY_UP = 0x100,
	BOARD_KEY_DOWN,
	BOARD_KEY_PAGE_UP,
	BOARD_KEY_PAGE_DOWN,
	BOARD_KEY_HOME,
	BOARD_KEY_END,
	BOARD_KEY_ENTER,
	BOARD_KEY_ERASE,	/* backspace */
	BOARD_KEY_WHEEL_UP,
	BOARD_KEY_WHEEL_DOWN,
	BOARD_KEY_LEFT,
	BOARD_KEY_RIGHT,
	BOARD_KEY_HELP,
	BOARD_KEY_SEARCH,
	BOARD_KEY_QUIT,
	BOARD_KEY_OPTIONS,
	BOARD_KEY_EXPAND,
	BOARD_KEY_SORT,
};

enum board_pane {
	BOARD_ROWS,
	BOARD_DETAIL,
	BOARD_HELP,
	BOARD_OPTIONS,
};

#define BOARD_JUMP_BEGIN	INT64_MIN
#define BOARD_JUMP_END		INT64_MAX

struct board {
	enum view by;
	bool light;		/* views that take ticks are not there */
	bool groups;		/* groups of resctrl are shown: see groups.h */
	enum sort_key sort;	/* never SORT_DEFAULT after board_begin() */
	bool reverse;
	bool expand;
	bool color, color_allowed;	/* neither NO_COLOR nor --no-color */
	bool frozen;
	bool quit;
	enum board_pane pane;
	bool opening;		/* the pane of a row, with the next table */
	bool typing;		/* keys are characters of the search */
	char search[BOARD_SEARCH_LEN];	/* "": all rows */
	const char *filter;	/* of the command line; NULL: all */
	uint32_t top_rows;	/* of the command line; 0: all */
	uint64_t interval_ns;	/* of a table */
	bool chosen;		/* a row is selected, also while no table has it */
	uint32_t selected;	/* its index in the last table; NO_ROW: none */
	struct row_key key;	/* its owner, so that it is found in the next table; */
	bool keyed;		/* false: the index counts */
	uint32_t nr_rows;	/* of the last table that was drawn */
	struct letters letters;	/* of the owners in the bar of the cache */
	struct window window;
	uint64_t followed;	/* row.culprit_id of the row in the pane; 0: none */
	bool replay;		/* a recording, in which keys move: */
	double speed;		/* as of struct replay */
	unsigned int steps;	/* intervals to show, frozen; the caller takes them */
	int64_t jump;		/* intervals, or BOARD_JUMP_*; the caller takes it */
	uint32_t detail_top;	/* first line of a pane that is shown */
	enum setting option;	/* selected in the pane of options */
	uint32_t changed;	/* 1 << enum setting: in it, and not kept yet */
	char notice[BOARD_NOTICE_LEN];	/* until the next key */
};

/* The change that a key made */
enum board_change {
	BOARD_NOTHING,
	BOARD_DRAW,		/* the screen */
	BOARD_REOPEN,		/* view or interval: the readings */
};

/* The members of the command line are set. */
void board_begin(struct board *board);
void board_end(struct board *board);

/* @key: a character or enum board_key. */
enum board_change board_key(struct board *board, int key);

/* A click on a cell of the screen. */
enum board_change board_click(struct board *board, unsigned int column,
			      unsigned int line);

/* The rows that it shows, and their order.  The texts are those of @board. */
void board_selection(const struct board *board, struct selection *selection);

/*
 * Draw @report (NULL: nothing was read yet) on @canvas, which has its size.  Rows of the
 * report's frame are sorted in place.
 */
void board_draw(struct board *board, const struct report *report,
		struct canvas *canvas);

/* A key in the pane of options: the command's that it stands for; 0: it was of the pane. */
int board_option_key(struct board *board, int key);

/* What such a key changed is to be kept. */
void board_note_changed(struct board *board, const struct board *before);

/*
 * The settings that are to be kept: the pane that changed them is closed.  Returns false:
 * there are none.
 */
bool board_take_changed(struct board *board, struct settings *settings);

/* Panes, in place of the table. */
void board_options(const struct board *board, struct screen *screen);
void board_help(struct board *board, struct screen *screen);
void board_detail(struct board *board, struct screen *screen,
		  const struct report *report, const struct row *row);

#endif
