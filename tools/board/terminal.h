/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The full screen: the alternate screen of a terminal, keys without echo, and the
 * former state afterwards, also when the process crashes.
 *
 * ncursesw writes its bytes into a file in memory.  They are written as all output is,
 * so that a blocked terminal cannot block the process.
 *
 * A process in the background owns neither the screen nor the keys: it enters the
 * screen when it is in the foreground, and leaves it when it is not.
 */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <stdbool.h>

#include "canvas.h"

/*
 * Is standard output a terminal that can be drawn on?  @colour: false, as NO_COLOR in
 * the environment, leaves all attributes out; a terminal of less than 8 colours has
 * only bold and reverse text.  Returns 0 or -errno.
 */
int terminal_open(bool colour);

/* After terminal_leave(). */
void terminal_close(void);

/* Enter, also after a stop, or leave where the process is in the background. */
void terminal_enter(void);
bool terminal_entered(void);

/* Also done at exit(); may be called twice. */
void terminal_leave(void);

/* Columns and lines now; 80 x 24 where the terminal does not know. */
void terminal_size(unsigned int *width, unsigned int *height);

/* May it have colour, or bold and reverse text? */
bool terminal_has_attributes(void);

/*
 * Replace the shown screen by @canvas.  @shown: with its attributes, where the terminal has
 * any.  Returns as signals_write().
 */
int terminal_draw(const struct canvas *canvas, bool shown);

/* The descriptor of keys, or -1: no keys will come. */
int terminal_keys_fd(void);

/*
 * Keys were ready, and none could be read: if that is still so, no key and no click comes any
 * more until terminal_enter().
 */
void terminal_keys_end(void);

enum terminal_event {
	TERMINAL_NOTHING,	/* all is read */
	TERMINAL_KEY,
	TERMINAL_CLICK,
};

struct terminal_input {
	int key;		/* a character, or enum board_key */
	unsigned int column, line;	/* of a click */
};

/*
 * The next event of the keys so far.  Waits some milliseconds for the rest of a control
 * sequence.
 */
enum terminal_event terminal_read(struct terminal_input *input);

#endif
