/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include <errno.h>
#include <string.h>
#include <sys/types.h>

static inline ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		to[i] = from[i];
		if (!from[i])
			return i;
	}
	if (size)
		to[size - 1] = '\0';
	return -E2BIG;
}

#endif
