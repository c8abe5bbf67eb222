// SPDX-License-Identifier: GPL-2.0-or-later
/* The pane of options: each is what a key of the table changes, and is kept when it is closed. */
#include "board.h"

#include <stdio.h>
#include <string.h>

#include "table/layout.h"

static const struct {
	int next, previous;	/* keys */
	const char *help;
} options[NR_SETTINGS] = {
	[SETTING_BY] = { 'v', 'V', "v, V   what a row is" },
	[SETTING_SORT] = { 's', 'S', "s, S   the order of the rows" },
	[SETTING_REVERSE] = { 'r', 'r', "r      the other end of the order first" },
	[SETTING_INTERVAL] = { '+', '-', "+, -   seconds between readings" },
	[SETTING_EXPAND] = { 'e', 'e', "e      processes below their containers" },
	[SETTING_COLOR] = { 'c', 'c', "c      colour, bold and reverse text" },
};

static struct settings settings_of(const struct board *board)
{
	return (struct settings){
		.given = board->changed, .by = board->by, .sort = board->sort,
		.reverse = board->reverse, .expand = board->expand, .color = board->color,
		.interval_ns = board->interval_ns,
	};
}

void board_note_changed(struct board *board, const struct board *before)
{
	const bool changed[NR_SETTINGS] = {
		[SETTING_BY] = board->by != before->by,
		[SETTING_SORT] = board->sort != before->sort,
		[SETTING_REVERSE] = board->reverse != before->reverse,
		[SETTING_INTERVAL] = board->interval_ns != before->interval_ns,
		[SETTING_EXPAND] = board->expand != before->expand,
		[SETTING_COLOR] = board->color != before->color,
	};

	for (unsigned int i = 0; i < NR_SETTINGS; i++)
		board->changed |= (uint32_t)changed[i] << i;
}

static int select_option(struct board *board, int by)
{
	board->option = (board->option + (unsigned int)(NR_SETTINGS + by)) % NR_SETTINGS;
	return 0;
}

int board_option_key(struct board *board, int key)
{
	switch (key) {
	case BOARD_KEY_UP:
	case BOARD_KEY_WHEEL_UP:
	case 'k':
		return select_option(board, -1);
	case BOARD_KEY_DOWN:
	case BOARD_KEY_WHEEL_DOWN:
	case 'j':
		return select_option(board, 1);
	case BOARD_KEY_LEFT:
		return options[board->option].previous;
	case BOARD_KEY_RIGHT:
	case BOARD_KEY_ENTER:
	case ' ':
		return options[board->option].next;
	default:
		return key;
	}
}

bool board_take_changed(struct board *board, struct settings *settings)
{
	*settings = settings_of(board);
	if (!board->changed || (board->pane == BOARD_OPTIONS && !board->quit))
		return false;
	board->changed = 0;
	return true;
}

static void put_option(const struct board *board, struct screen *screen,
		       enum setting setting)
{
	const struct settings now = settings_of(board);
	bool selected = board->option == setting;
	char buf[SETTING_LEN], line[LAYOUT_LINE];

	snprintf(line, sizeof(line), "%c %-10s %-10s  %s", selected ? '>' : ' ',
		 setting_name(setting), setting_text(buf, &now, setting),
		 setting == SETTING_COLOR && !board->color_allowed ?
		 "off by NO_COLOR or --no-color" : options[setting].help);
	screen_line(screen, selected ? ATTRIBUTE_REVERSE : ATTRIBUTE_NONE, line);
}

void board_options(const struct board *board, struct screen *screen)
{
	unsigned int i;

	screen_line(screen, ATTRIBUTE_TITLE, "Options, with their keys");
	for (i = 0; i < NR_SETTINGS; i++)
		put_option(board, screen, i);
	screen_line(screen, ATTRIBUTE_NONE, "");
	screen_wrapped(screen, ATTRIBUTE_NONE,
		       "Up, Down select.  Right, Left, Space change.  Esc, o, F2 close this: what was changed here is kept for the next time.  The command line goes before what is kept.");
}
