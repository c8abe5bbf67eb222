// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base.h"

#include <stdlib.h>

#define ROOM_MIN	64U

int cmt_array_reserve(void *array, uint32_t *room, uint32_t n, size_t size)
{
	void *old, *new;
	size_t bytes;

	if (n <= *room)
		return 0;
	if (__builtin_mul_overflow(n, size, &bytes))
		return -ENOMEM;
	memcpy(&old, array, sizeof(old));
	new = realloc(old, bytes);
	if (!new)
		return -ENOMEM;
	memcpy(array, &new, sizeof(new));
	*room = n;
	/* cppcheck-suppress memleak ; it is in the array */
	return 0;
}

int cmt_grow_more(void *array, uint32_t *room, size_t size)
{
	if (*room > UINT32_MAX / 2)
		return -ENOMEM;
	return cmt_array_reserve(array, room, *room ? 2 * *room : ROOM_MIN, size);
}
