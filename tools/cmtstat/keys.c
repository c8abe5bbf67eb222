// SPDX-License-Identifier: GPL-2.0-or-later
#include "keys.h"

#include <ctype.h>
#include <stdbool.h>

#define ESC '\033'

/* ESC O x and ESC N x are sequences of three bytes, ESC x is Alt and x. */
static enum keys_state after_escape(char c)
{
	switch (c) {
	case ESC:
		return KEYS_ESCAPE;
	case '[':
		return KEYS_PARAMETERS;
	case 'O':
	case 'N':
		return KEYS_ONE;
	default:
		return KEYS_PLAIN;
	}
}

/* A sequence ends with a letter; "ESC [ [ x" is Linux's own F1 to F5. */
static enum keys_state after_parameter(char c)
{
	if (c == ESC)
		return KEYS_ESCAPE;
	if (c == '[')
		return KEYS_ONE;
	return c >= 0x40 && c < 0x7f ? KEYS_PLAIN : KEYS_PARAMETERS;
}

/* Is @c a key? */
static bool take(enum keys_state *state, char c)
{
	switch (*state) {
	case KEYS_PLAIN:
		if (c != ESC)
			return true;
		*state = KEYS_ESCAPE;
		return false;
	case KEYS_ESCAPE:
		*state = after_escape(c);
		return false;
	case KEYS_PARAMETERS:
		*state = after_parameter(c);
		return false;
	case KEYS_ONE:
		break;
	}
	*state = c == ESC ? KEYS_ESCAPE : KEYS_PLAIN;
	return false;
}

void keys_filter(enum keys_state *state, char *keys, const char *bytes,
		 size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (take(state, bytes[i]) && bytes[i])
			*keys++ = (char)tolower((unsigned char)bytes[i]);
	*keys = '\0';
}
