// SPDX-License-Identifier: GPL-2.0-or-later
#include "board.h"

#include <string.h>

#include "config/groups.h"

static const enum sort_key sort_keys[] = {
	SORT_OCCUPANCY, SORT_TOTAL, SORT_LOCAL, SORT_CPU, SORT_WAIT, SORT_IPC,
	SORT_MPKI, SORT_SLOWER, SORT_RMIDS, SORT_BUSY, SORT_NAME, SORT_NUMBER,
};

static const enum view views[] = {
	VIEW_CONTAINER, VIEW_PROCESS, VIEW_CPU, VIEW_DOMAIN, VIEW_CHANNEL,
};

static const uint64_t intervals_ms[] = {
	100, 200, 500, 1000, 2000, 5000, 10000, 60000,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static enum sort_key default_sort(enum view by)
{
	return by == VIEW_CONTAINER || by == VIEW_PROCESS ? SORT_OCCUPANCY :
							    SORT_NUMBER;
}

static void select_none(struct board *board)
{
	row_key_drop(&board->key);
	board->chosen = board->keyed = false;
	board->selected = NO_ROW;
	board->window.top = 0;
}

void board_begin(struct board *board)
{
	if (board->sort == SORT_DEFAULT)
		board->sort = default_sort(board->by);
	select_none(board);
}

void board_end(struct board *board)
{
	row_key_drop(&board->key);
}

/* Can the source show the view? */
static bool has_view(const struct board *board, enum view by)
{
	return view_exists(by, board->light, board->groups);
}

static enum board_change set_view(struct board *board, enum view by)
{
	if (!has_view(board, by) || by == board->by)
		return BOARD_NOTHING;
	board->by = by;
	board->sort = default_sort(by);
	board->reverse = false;
	board->frozen = false;
	board->letters = (struct letters){ 0 };
	board->expand &= by == VIEW_CONTAINER;
	if (board->pane != BOARD_OPTIONS)
		board->pane = BOARD_ROWS;
	select_none(board);
	return BOARD_REOPEN;
}

static enum board_change next_view(struct board *board, size_t step)
{
	enum view by = board->by;

	do {
		by = views[(by + step) % COUNT(views)];
	} while (!has_view(board, by));
	return set_view(board, by);
}

/* Is it the order of a column of the view? */
static bool has_sort(enum view by, enum sort_key sort)
{
	const struct column *column = columns_of(by);

	while (column->get && (!column->title || column_sort(column) != sort))
		column++;
	return column->get;
}

static enum board_change next_sort(struct board *board, size_t step)
{
	size_t i = 0;

	while (i < COUNT(sort_keys) - 1 && sort_keys[i] != board->sort)
		i++;
	do {
		i = (i + step) % COUNT(sort_keys);
	} while (!has_sort(board->by, sort_keys[i]));
	board->sort = sort_keys[i];
	return BOARD_DRAW;
}

static enum board_change set_interval(struct board *board, bool longer)
{
	uint64_t found = 0, ns;
	size_t i;

	for (i = 0; i < COUNT(intervals_ms); i++) {
		ns = intervals_ms[i] * 1000000;
		if (longer ? !found && ns > board->interval_ns :
			     ns < board->interval_ns)
			found = ns;
	}
	if (!found)
		return BOARD_NOTHING;
	board->interval_ns = found;
	board->frozen = false;
	return BOARD_REOPEN;
}

/* Move by @by rows, within the table; the first time to the first row. */
static enum board_change move(struct board *board, int64_t by)
{
	int64_t to = board->selected == NO_ROW ? (by > 0 ? by - 1 : 0) :
						 (int64_t)board->selected + by;

	if (!board->nr_rows)
		return BOARD_NOTHING;
	if (to < 0)
		to = 0;
	if (to >= board->nr_rows)
		to = (int64_t)board->nr_rows - 1;
	board->selected = (uint32_t)to;
	board->chosen = true;
	/* another row, whose key board_draw() keeps */
	board->keyed = false;
	return BOARD_DRAW;
}

static int64_t page(const struct board *board)
{
	return board->window.shown > 1 ? board->window.shown - 1 : 1;
}

/* How far a key moves; 0: it does not. */
static int64_t moves(const struct board *board, int key)
{
	switch (key) {
	case BOARD_KEY_UP:
	case 'k':
		return -1;
	case BOARD_KEY_DOWN:
	case 'j':
		return 1;
	case BOARD_KEY_WHEEL_UP:
		return -3;
	case BOARD_KEY_WHEEL_DOWN:
		return 3;
	case BOARD_KEY_PAGE_UP:
		return -page(board);
	case BOARD_KEY_PAGE_DOWN:
		return page(board);
	case BOARD_KEY_HOME:
		return -(int64_t)UINT32_MAX;
	case BOARD_KEY_END:
		return UINT32_MAX;
	default:
		return 0;
	}
}

/* board_draw() sees to the end. */
static enum board_change scroll_pane(struct board *board, int64_t by)
{
	int64_t to = (int64_t)board->detail_top + by;

	board->detail_top = to < 0 ? 0 : to > UINT32_MAX / 2 ? UINT32_MAX / 2 :
							  (uint32_t)to;
	return BOARD_DRAW;
}

static enum board_change set_pane(struct board *board, enum board_pane pane)
{
	board->pane = board->pane == pane ? BOARD_ROWS : pane;
	board->detail_top = 0;
	return BOARD_DRAW;
}

static enum board_change close_pane(struct board *board)
{
	if (board->pane != BOARD_ROWS)
		return set_pane(board, BOARD_ROWS);
	if (!board->search[0] && !board->chosen)
		return BOARD_NOTHING;
	board->search[0] = '\0';
	select_none(board);
	return BOARD_DRAW;
}

static enum board_change open_detail(struct board *board)
{
	if (board->pane == BOARD_ROWS && !board->chosen &&
	    move(board, 1) == BOARD_NOTHING)
		return BOARD_NOTHING;
	set_pane(board, BOARD_DETAIL);
	board->opening = board->pane == BOARD_DETAIL;
	return BOARD_DRAW;
}

/* Enter and Escape end the search, which Escape takes back. */
static enum board_change type(struct board *board, int key)
{
	size_t len = strlen(board->search);

	board->typing = key != BOARD_KEY_ENTER && key != BOARD_KEY_ESCAPE;
	if (key == BOARD_KEY_ESCAPE)
		board->search[0] = '\0';
	else if (key == BOARD_KEY_ERASE && len)
		board->search[len - 1] = '\0';
	else if (key >= ' ' && key < 0x7f && len + 1 < BOARD_SEARCH_LEN) {
		board->search[len] = (char)key;
		board->search[len + 1] = '\0';
	}
	return BOARD_DRAW;
}

static enum board_change toggle(bool *value)
{
	*value = !*value;
	return BOARD_DRAW;
}

static enum board_change jump(struct board *board, int64_t by)
{
	board->jump = by;
	/* where it lands is to be seen */
	board->steps = board->frozen;
	return BOARD_REOPEN;
}

/* Slower than the greatest possible speed is that of the recording. */
static enum board_change set_speed(struct board *board, double factor)
{
	if (factor < 1 ? board->speed > 0 && board->speed <= 1.0 / 64 :
			 board->speed <= 0 || board->speed >= 4096)
		return BOARD_NOTHING;
	board->speed = board->speed > 0 ? board->speed * factor : 1;
	return BOARD_DRAW;
}

/* In a recording. */
static enum board_change replay_command(struct board *board, int key)
{
	switch (key) {
	case BOARD_KEY_LEFT:
		return jump(board, -10);
	case BOARD_KEY_RIGHT:
		return jump(board, 10);
	case '<':
		return jump(board, BOARD_JUMP_BEGIN);
	case '>':
		return jump(board, BOARD_JUMP_END);
	case '[':
		return set_speed(board, 0.5);
	case ']':
		return set_speed(board, 2);
	case '.':
		board->frozen = true;
		board->steps++;
		return BOARD_DRAW;
	default:
		return BOARD_NOTHING;
	}
}

static enum board_change command(struct board *board, int key)
{
	if (key >= '1' && key < '1' + (int)COUNT(views))
		return set_view(board, views[key - '1']);
	switch (key) {
	case BOARD_KEY_QUIT:
	case 'q':
		board->quit = true;
		return BOARD_NOTHING;
	case BOARD_KEY_OPTIONS:
	case 'o':
		return set_pane(board, BOARD_OPTIONS);
	case 'c':
		return board->color_allowed ? toggle(&board->color) : BOARD_NOTHING;
	case BOARD_KEY_HELP:
	case '?':
	case 'h':
		return set_pane(board, BOARD_HELP);
	case BOARD_KEY_EXPAND:
	case 'e':
		return board->by == VIEW_CONTAINER && !board->groups ?
		       toggle(&board->expand) : BOARD_NOTHING;
	case 'r':
		return toggle(&board->reverse);
	case ' ':
		return toggle(&board->frozen);
	case BOARD_KEY_SORT:
	case 's':
		return next_sort(board, 1);
	case 'S':
		return next_sort(board, COUNT(sort_keys) - 1);
	case 'v':
		return next_view(board, 1);
	case 'V':
		return next_view(board, COUNT(views) - 1);
	case '+':
	case '=':
		return set_interval(board, true);
	case '-':
		return set_interval(board, false);
	case BOARD_KEY_SEARCH:
	case '/':
		board->pane = BOARD_ROWS;
		return toggle(&board->typing);
	case BOARD_KEY_ENTER:
		return open_detail(board);
	case BOARD_KEY_ESCAPE:
		return close_pane(board);
	default:
		return board->replay ? replay_command(board, key) :
				       BOARD_NOTHING;
	}
}

static enum board_change option_key(struct board *board, int key)
{
	const struct board before = *board;
	int meant = board_option_key(board, key);
	enum board_change change = meant ? command(board, meant) : BOARD_DRAW;

	board_note_changed(board, &before);
	return change;
}

/* The letter that is meant with caps lock on */
static int plain_key(int key)
{
	return key == 'Q' || key == 'E' ? key - 'A' + 'a' : key;
}

enum board_change board_key(struct board *board, int key)
{
	int64_t by = board->typing && key < 0x100 ? 0 : moves(board, key);

	board->notice[0] = '\0';
	if (board->pane == BOARD_OPTIONS)
		return option_key(board, key);
	if (by)
		return board->pane == BOARD_ROWS ? move(board, by) :
						   scroll_pane(board, by);
	if (board->typing)
		return type(board, key);
	return command(board, plain_key(key));
}

static enum board_change sort_by(struct board *board, enum sort_key sort)
{
	if (sort == SORT_DEFAULT)
		return BOARD_NOTHING;
	board->reverse = sort == board->sort && !board->reverse;
	board->sort = sort;
	return BOARD_DRAW;
}

/* The row @line lines below the titles; NO_ROW: none is there. */
static uint32_t row_at(const struct board *board, uint32_t line)
{
	const struct window *window = &board->window;

	if (line < window->shown)
		return window->top + line;
	line -= window->shown;
	return line && line <= window->sums ?
	       board->nr_rows - window->sums + line - 1 : NO_ROW;
}

enum board_change board_click(struct board *board, unsigned int column,
			      unsigned int line)
{
	const struct window *window = &board->window;
	uint32_t row;
	unsigned int i;

	if (board->pane != BOARD_ROWS || board->typing || !board->nr_rows)
		return BOARD_NOTHING;
	for (i = 0; line == window->titles && i < window->nr_places; i++)
		if (column >= window->places[i].begin &&
		    column < window->places[i].end)
			return sort_by(board, window->places[i].sort);
	row = line > window->titles ? row_at(board, line - window->titles - 1) : NO_ROW;
	if (row == NO_ROW)
		return BOARD_NOTHING;
	move(board, (int64_t)row - (board->selected == NO_ROW ? -1 :
				    (int64_t)board->selected));
	return BOARD_DRAW;
}
