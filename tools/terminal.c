// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* alternate screen, no cursor, no wrapping at the right edge; and back */
static const char ENTER[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
static const char LEAVE[] = "\033[m\033[?7h\033[?25h\033[?1049l";
static const char HOME[] = "\033[H";
static const char ERASE_BELOW[] = "\033[J";

static struct termios saved;
static bool entered, keys_changed;

bool terminal_usable(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

/* Only the foreground process may change the keys; others would be stopped. */
static void keys_raw(void)
{
	struct termios raw;

	keys_changed = false;
	if (tcgetpgrp(STDIN_FILENO) != getpgrp() ||
	    tcgetattr(STDIN_FILENO, &saved))
		return;
	raw = saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	keys_changed = !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

void terminal_enter(void)
{
	static bool registered;

	if (!registered)
		registered = !atexit(terminal_leave);
	keys_raw();
	fwrite(ENTER, 1, sizeof(ENTER) - 1, stdout);
	fflush(stdout);
	entered = true;
}

void terminal_leave(void)
{
	if (!entered)
		return;
	entered = false;
	fwrite(LEAVE, 1, sizeof(LEAVE) - 1, stdout);
	fflush(stdout);
	if (keys_changed)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

void terminal_size(unsigned int *width, unsigned int *height)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		size = (struct winsize){ 0 };
	*width = size.ws_col ? size.ws_col : 80;
	*height = size.ws_row ? size.ws_row : 24;
}

/*
 * The last line is not ended, or a screen that is filled to the last line
 * would scroll.
 */
void terminal_draw(const char *text, size_t len)
{
	static const size_t eol = sizeof(TERMINAL_EOL) - 1;

	if (len >= eol)
		len -= eol;
	fwrite(HOME, 1, sizeof(HOME) - 1, stdout);
	fwrite(text, 1, len, stdout);
	fwrite(TERMINAL_EOL, 1, 3, stdout);
	fwrite(ERASE_BELOW, 1, sizeof(ERASE_BELOW) - 1, stdout);
}

int terminal_keys(char keys[TERMINAL_KEYS])
{
	ssize_t i, n;

	keys[0] = '\0';
	/* not ours to read, and unread input would wake poll() for ever */
	if (!keys_changed)
		return -ENODEV;
	n = read(STDIN_FILENO, keys, TERMINAL_KEYS - 1);
	if (n < 0) {
		keys[0] = '\0';
		return errno == EAGAIN || errno == EINTR ? 0 : -ENODEV;
	}
	for (i = 0; i < n; i++)
		keys[i] = (char)tolower((unsigned char)keys[i]);
	keys[n] = '\0';
	return 0;
}
