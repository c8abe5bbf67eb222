// SPDX-License-Identifier: GPL-2.0-or-later
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef lines
#undef columns

#include "terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "board.h"
#include "common/signals.h"
#include "crash.h"
#include "table/glyphs.h"

#define SEQUENCE_MS 50	/* a control sequence comes at once, typed keys are slower */

static struct termios saved;
static bool entered, keys_changed, keys_ended, unicode, attributes, coloured;
static SCREEN *screen;
static WINDOW *keypad_of;	/* a pad: reading keys from it draws nothing */
static FILE *memory;		/* the output of ncurses */

/* Characters that the font of a Linux console does not have are not used there. */
static bool is_unicode(const char *term)
{
	setlocale(LC_CTYPE, "");
	return !strcmp(nl_langinfo(CODESET), "UTF-8") &&
	       strcmp(term, "linux");
}

static bool may_use_attributes(void)
{
	const char *no_color = getenv("NO_COLOR");

	return !no_color || !*no_color;
}

/*
 * Take the output of ncurses since the last call; the caller frees @bytes.  Returns 0
 * or -errno.
 */
static int take_output(char **bytes, size_t *len)
{
	int fd = fileno(memory);
	off_t size = lseek(fd, 0, SEEK_CUR);

	*len = size > 0 ? (size_t)size : 0;
	*bytes = malloc(*len + 1);
	if (!*bytes)
		return -ENOMEM;
	if (pread(fd, *bytes, *len, 0) != (ssize_t)*len ||
	    ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)) {
		free(*bytes);
		return -EIO;
	}
	return 0;
}

/* An error of a terminal that is gone counts as a closed pipe. */
static int write_output(void)
{
	char *bytes;
	size_t len;
	int ret = take_output(&bytes, &len);

	if (ret)
		return ret;
	ret = signals_write(STDOUT_FILENO, bytes, len);
	free(bytes);
	return ret == -EIO ? -EPIPE : ret;
}

static int put_byte(int byte)
{
	char c = (char)byte;

	return write(fileno(memory), &c, 1) == 1 ? byte : EOF;
}

/*
 * A terminal with one screen, as Linux's console, keeps the drawing: a shell's prompt
 * gets an empty line.
 */
static void end_screen(void)
{
	endwin();
	if (!exit_ca_mode && clr_eol)
		tputs(clr_eol, 1, put_byte);
}

/* Keep the bytes that leave the screen for a crash; nothing is written yet. */
static int prepare_leaving(void)
{
	char *bytes;
	size_t len;
	int ret;

	wrefresh(stdscr);
	ret = take_output(&bytes, &len);
	if (ret)
		return ret;
	free(bytes);
	end_screen();
	ret = take_output(&bytes, &len);
	if (!ret) {
		crash_setup(bytes, len);
		free(bytes);
	}
	return ret;
}

/*
 * Foregrounds for dark and light backgrounds; blue and orange, which eyes without red or
 * green tell apart.  The pair of an attribute has its number.
 */
static const struct {
	attr_t attr;
	short basic, many;	/* of 8 colours, of 256; 0: the terminal's own */
} looks[NR_ATTRIBUTES] = {
	[ATTRIBUTE_BOLD] = { A_BOLD, 0, 0 },
	[ATTRIBUTE_REVERSE] = { A_REVERSE, 0, 0 },
	[ATTRIBUTE_TITLE] = { A_BOLD, COLOR_CYAN, 32 },
	[ATTRIBUTE_NOTE] = { A_BOLD, COLOR_MAGENTA, 133 },
	[ATTRIBUTE_WARM] = { A_NORMAL, COLOR_YELLOW, 178 },
	[ATTRIBUTE_HOT] = { A_BOLD, COLOR_RED, 202 },
	[ATTRIBUTE_SUM] = { A_REVERSE, COLOR_WHITE, 245 },
	[ATTRIBUTE_OWNER] = { A_REVERSE, COLOR_BLUE, 32 },
	{ A_REVERSE, COLOR_YELLOW, 208 },
	{ A_REVERSE, COLOR_CYAN, 36 },
	{ A_REVERSE, COLOR_MAGENTA, 169 },
	{ A_REVERSE, COLOR_BLUE, 178 },
	{ A_REVERSE, COLOR_YELLOW, 74 },
	{ A_REVERSE, COLOR_CYAN, 166 },
	{ A_REVERSE, COLOR_MAGENTA, 97 },
};

static void prepare_colours(void)
{
	short i;

	coloured = attributes && has_colors() && start_color() == OK &&
		   COLORS >= 8 && use_default_colors() == OK;
	for (i = 1; coloured && i < NR_ATTRIBUTES; i++)
		if (looks[i].basic)
			init_pair(i, COLORS >= 256 ? looks[i].many :
						     looks[i].basic, -1);
}

/* A terminal reports only what is read: else a shell gets it. */
static void report_mouse(bool on)
{
	mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
}

static void prepare_keys(void)
{
	set_escdelay(SEQUENCE_MS);
	keypad_of = newpad(1, 1);
	keypad(keypad_of, TRUE);
	nodelay(keypad_of, TRUE);
	report_mouse(true);
	mouseinterval(0);
}

/* newterm() would know, and leave memory behind that nothing points to. */
static bool is_known(const char *term)
{
	int err;

	if (setupterm(term, STDOUT_FILENO, &err) == ERR)
		return false;
	del_curterm(cur_term);
	return true;
}

static int prepare(const char *term)
{
	int fd = memfd_create("screen", MFD_CLOEXEC);

	memory = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!memory) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	screen = newterm(term, memory, stdin);
	if (!screen)
		return -ENOTTY;
	typeahead(-1);
	curs_set(0);
	prepare_colours();
	prepare_keys();
	return keypad_of ? prepare_leaving() : -ENOMEM;
}

int terminal_open(bool colour)
{
	const char *term = getenv("TERM");
	int ret;

	if (!isatty(STDOUT_FILENO) || !term || !*term ||
	    !strcmp(term, "dumb") || !is_known(term))
		return -ENOTTY;
	unicode = is_unicode(term);
	attributes = colour && may_use_attributes();
	ret = prepare(term);
	if (ret)
		terminal_close();
	else
		atexit(terminal_leave);
	return ret;
}

void terminal_close(void)
{
	crash_setup(NULL, 0);
	if (keypad_of)
		delwin(keypad_of);
	if (screen)
		delscreen(screen);
	if (memory)
		fclose(memory);
	keypad_of = NULL;
	screen = NULL;
	memory = NULL;
}

/* A terminal that does not control this process has no background. */
static bool in_foreground(int fd)
{
	pid_t group = tcgetpgrp(fd);

	return group < 0 || group == getpgrp();
}

/* A shell changes the keys while the process is stopped. */
static void keys_raw(void)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || !in_foreground(STDIN_FILENO) ||
	    (!keys_changed && tcgetattr(STDIN_FILENO, &saved)))
		return;
	crash_keep_keys(&saved);
	raw = saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	keys_changed = !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	keys_ended = false;
}

static void keys_restore(void)
{
	if (keys_changed && in_foreground(STDIN_FILENO))
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	crash_keep_keys(NULL);
	keys_changed = false;
}

/* Also before anything is written: ncurses sets margins to the size that it knows. */
static void adopt_size(unsigned int width, unsigned int height)
{
	if ((int)height == getmaxy(stdscr) && (int)width == getmaxx(stdscr))
		return;
	resizeterm((int)height, (int)width);
	clearok(curscr, TRUE);
}

void terminal_enter(void)
{
	unsigned int width, height;

	if (!in_foreground(STDOUT_FILENO)) {
		terminal_leave();
		return;
	}
	keys_raw();
	/* another program may have left the screen meanwhile */
	if (entered)
		endwin();
	entered = true;
	crash_arm(true);
	/* endwin() has switched it on, and wrefresh() does not switch it off here */
	keypad(keypad_of, FALSE);
	keypad(keypad_of, TRUE);
	terminal_size(&width, &height);
	adopt_size(width, height);
	clearok(curscr, TRUE);
	wrefresh(stdscr);
	report_mouse(keys_changed);
	write_output();
}

bool terminal_entered(void)
{
	return entered;
}

void terminal_leave(void)
{
	if (!entered)
		return;
	entered = false;
	end_screen();
	write_output();
	crash_arm(false);
	keys_restore();
}

void terminal_size(unsigned int *width, unsigned int *height)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		size = (struct winsize){ 0 };
	*width = size.ws_col ? size.ws_col : 80;
	*height = size.ws_row ? size.ws_row : 24;
}

bool terminal_has_attributes(void)
{
	return attributes;
}

static void draw_cell(unsigned int row, unsigned int column,
		      struct canvas_cell cell, bool shown)
{
	short pair = coloured && looks[cell.attribute].basic ? cell.attribute : 0;

	wchar_t text[2] = {
		unicode ? (wchar_t)glyph_unicode(cell.byte) :
			  (wchar_t)glyph_ascii(cell.byte),
	};
	cchar_t wide;

	setcchar(&wide, text, attributes && shown ? looks[cell.attribute].attr : A_NORMAL,
		 shown ? pair : 0, NULL);
	mvadd_wchnstr((int)row, (int)column, &wide, 1);
}

int terminal_draw(const struct canvas *canvas, bool shown)
{
	unsigned int row, column;

	adopt_size(canvas->width, canvas->height);
	for (row = 0; row < canvas->height; row++)
		for (column = 0; column < canvas->width; column++)
			draw_cell(row, column,
				  canvas->cells[(size_t)row * canvas->width +
						column], shown);
	wrefresh(stdscr);
	return write_output();
}

int terminal_keys_fd(void)
{
	return entered && keys_changed && !keys_ended ? STDIN_FILENO : -1;
}

/* The input may have been a sequence without a meaning, such as a button's release. */
void terminal_keys_end(void)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	int left = 0;

	if (poll(&keys, 1, 0) <= 0 || (!ioctl(STDIN_FILENO, FIONREAD, &left) && left))
		return;
	keys_ended = true;
	report_mouse(false);
	write_output();
}

static const struct {
	int curses;
	int key;
} keys[] = {
	{ KEY_UP, BOARD_KEY_UP }, { KEY_DOWN, BOARD_KEY_DOWN },
	{ KEY_PPAGE, BOARD_KEY_PAGE_UP }, { KEY_NPAGE, BOARD_KEY_PAGE_DOWN },
	{ KEY_LEFT, BOARD_KEY_LEFT }, { KEY_RIGHT, BOARD_KEY_RIGHT },
	{ KEY_HOME, BOARD_KEY_HOME }, { KEY_END, BOARD_KEY_END },
	{ KEY_ENTER, BOARD_KEY_ENTER }, { '\r', BOARD_KEY_ENTER },
	{ '\n', BOARD_KEY_ENTER }, { KEY_BACKSPACE, BOARD_KEY_ERASE },
	{ KEY_F(1), BOARD_KEY_HELP }, { KEY_F(3), BOARD_KEY_SEARCH },
	{ KEY_F(2), BOARD_KEY_OPTIONS }, { KEY_F(4), BOARD_KEY_SEARCH },
	{ KEY_F(5), BOARD_KEY_EXPAND }, { KEY_F(6), BOARD_KEY_SORT },
	{ KEY_F(10), BOARD_KEY_QUIT },
	{ '\b', BOARD_KEY_ERASE }, { 0x7f, BOARD_KEY_ERASE },
};

/* 0: a key without a meaning, among those that are no characters */
static int key_of(int curses)
{
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == curses)
			return keys[i].key;
	return curses > 0 && curses < 0x100 ? curses : 0;
}

static enum terminal_event read_mouse(struct terminal_input *input)
{
	MEVENT event;

	input->key = 0;
	if (getmouse(&event) != OK)
		return TERMINAL_KEY;
	input->column = (unsigned int)event.x;
	input->line = (unsigned int)event.y;
	if (event.bstate & BUTTON1_PRESSED)
		return TERMINAL_CLICK;
	input->key = event.bstate & BUTTON4_PRESSED ? BOARD_KEY_WHEEL_UP :
						      BOARD_KEY_WHEEL_DOWN;
	return TERMINAL_KEY;
}

enum terminal_event terminal_read(struct terminal_input *input)
{
	int key = wgetch(keypad_of);

	if (key == ERR)
		return TERMINAL_NOTHING;
	if (key == KEY_MOUSE)
		return read_mouse(input);
	input->key = key_of(key);
	return TERMINAL_KEY;
}
