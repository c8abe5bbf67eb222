/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the bytes of a terminal to keys.  Pure. */
#ifndef TOOLS_KEYS_H
#define TOOLS_KEYS_H

#include <stddef.h>

/* Where in a control sequence the bytes so far ended; begins as 0. */
enum keys_state {
	KEYS_PLAIN,
	KEYS_ESCAPE,		/* after ESC */
	KEYS_ONE,		/* one byte is left of it */
	KEYS_PARAMETERS,	/* after ESC [ */
};

/*
 * Copy the keys that are characters, in lower case and terminated.  Control
 * sequences, such as those of function keys, and keys pressed with Alt are left
 * out.  @keys has room for @len + 1 bytes, and may be @bytes.
 */
void keys_filter(enum keys_state *state, char *keys, const char *bytes,
		 size_t len);

#endif
