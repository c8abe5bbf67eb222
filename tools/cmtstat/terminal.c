// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "keys.h"
#include "signals.h"

#define SEQUENCE_MS 50	/* a control sequence comes at once, a hand is slower */

/* alternate screen, no cursor, no wrapping at the right edge; and back */
static const char ENTER[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
static const char LEAVE[] = "\033[m\033[?7h\033[?25h\033[?1049l";
static const char HOME[] = "\033[H\033[K";
static const char ERASE_BELOW[] = "\033[J";

static struct termios saved;
static bool entered, keys_changed, keys_ended;

bool terminal_usable(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
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
	keys_changed = false;
}

void terminal_enter(void)
{
	static bool registered;

	if (!registered)
		registered = !atexit(terminal_leave);
	if (!in_foreground(STDOUT_FILENO)) {
		terminal_leave();
		return;
	}
	keys_raw();
	entered = true;
	signals_write(STDOUT_FILENO, ENTER, sizeof(ENTER) - 1);
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
	signals_write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
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

static unsigned int count_lines(const char *text, size_t len)
{
	unsigned int lines = 0;

	while (len--)
		lines += *text++ == '\n';
	return lines;
}

/*
 * One write, so that nothing half drawn is seen.  The last line is not ended
 * where it is the screen's, which would scroll.
 */
int terminal_draw(const char *text, size_t len)
{
	static const size_t eol = sizeof(TERMINAL_EOL) - 1;
	unsigned int width, height;
	bool full;
	char *frame;
	int n, ret;

	terminal_size(&width, &height);
	full = count_lines(text, len) >= height;
	if (full && len >= eol)
		len -= eol;
	n = asprintf(&frame, "%s%.*s%s", HOME, (int)len, text,
		     full ? "" : ERASE_BELOW);
	if (n < 0)
		return -ENOMEM;
	ret = signals_write(STDOUT_FILENO, frame, (size_t)n);
	free(frame);
	return ret;
}

int terminal_keys_fd(void)
{
	return entered && keys_changed && !keys_ended ? STDIN_FILENO : -1;
}

/* A terminal that is ready and has no byte has been hung up. */
static bool read_keys(enum keys_state *state, char *keys, size_t size)
{
	ssize_t n = read(STDIN_FILENO, keys, size - 1);

	if (n <= 0) {
		keys[0] = '\0';
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	}
	keys_filter(state, keys, keys, (size_t)n);
	return true;
}

void terminal_keys(char keys[TERMINAL_KEYS])
{
	struct pollfd more = { .fd = STDIN_FILENO, .events = POLLIN };
	enum keys_state state = KEYS_PLAIN;
	size_t used;

	keys_ended = !read_keys(&state, keys, TERMINAL_KEYS);
	while (!keys_ended && state != KEYS_PLAIN &&
	       poll(&more, 1, SEQUENCE_MS) > 0) {
		used = strlen(keys);
		if (used == TERMINAL_KEYS - 1)
			break;
		keys_ended = !read_keys(&state, keys + used,
					TERMINAL_KEYS - used);
	}
}
