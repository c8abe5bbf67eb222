// SPDX-License-Identifier: GPL-2.0-or-later
#include "body.h"

#include <stdlib.h>

#define STEP 65536	/* bytes: sizes that are often the same are often free again */

bool body_reserve(struct body *body, size_t more)
{
	size_t least = body->len + more, room = 2 * body->room;
	char *bytes;

	if (room < least)
		room = least;
	room = (room / STEP + 1) * STEP;
	bytes = body->failed ? NULL : realloc(body->bytes, room);
	if (!bytes) {
		body->failed = true;
		return false;
	}
	body->bytes = bytes;
	body->room = room;
	return true;
}
