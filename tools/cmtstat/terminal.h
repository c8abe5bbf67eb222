/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The full screen: the alternate screen of a terminal, keys without echo, and
 * everything as it was afterwards.  A few ANSI sequences which every terminal
 * since the VT100 either obeys or ignores; no terminfo, see docs/decisions/.
 *
 * A process in the background owns neither the screen nor the keys: it enters
 * when it is in the foreground, and leaves when it is not.
 */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Is standard output a terminal that can be redrawn? */
bool terminal_usable(void);

/* Enter, also after a stop, or leave where the process is in the background. */
void terminal_enter(void);
bool terminal_entered(void);

/* Also done at exit(); may be called twice. */
void terminal_leave(void);

/* Columns and lines now; 80 x 24 where the terminal does not know. */
void terminal_size(unsigned int *width, unsigned int *height);

/*
 * Lines of a full screen end so.  What is left of the old line is erased before
 * the new one is put: behind it the cursor may be on its last character.
 */
#define TERMINAL_EOL "\r\n\033[K"

/*
 * Put @text, lines ended by TERMINAL_EOL, in place of what is shown.  Returns
 * as signals_write().
 */
int terminal_draw(const char *text, size_t len);

/* The descriptor that keys come from, or -1: there are none to come. */
int terminal_keys_fd(void);

/*
 * Read the keys pressed so far into @keys, lower case and terminated; function
 * keys are none.  Waits some milliseconds for the rest of a control sequence.
 */
#define TERMINAL_KEYS 64
void terminal_keys(char keys[TERMINAL_KEYS]);

#endif
