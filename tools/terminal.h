/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The full screen: the alternate screen of a terminal, keys without echo, and
 * everything as it was afterwards.  A few ANSI sequences which every terminal
 * since the VT100 either obeys or ignores; no terminfo, see docs/decisions/.
 */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Is standard output a terminal that can be redrawn? */
bool terminal_usable(void);

/* Enter and leave; leave is also done at exit() and may be called twice. */
void terminal_enter(void);
void terminal_leave(void);

/* Columns and lines now; 80 x 24 where the terminal does not know. */
void terminal_size(unsigned int *width, unsigned int *height);

/* Lines of a full screen end so: the rest of the old line is erased. */
#define TERMINAL_EOL "\033[K\r\n"

/* Put @text, lines ended by TERMINAL_EOL, in place of what is shown. */
void terminal_draw(const char *text, size_t len);

/*
 * Read the keys pressed so far into @keys, lower case and terminated.  Returns
 * 0, or -ENODEV when there are no more to come.
 */
#define TERMINAL_KEYS 64
int terminal_keys(char keys[TERMINAL_KEYS]);

#endif
