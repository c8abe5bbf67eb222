// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base.h"

void cmt_printable(char *to, size_t size, const char *from, size_t n)
{
	if (n > size - 1)
		n = size - 1;
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] >= 0x20 && from[i] < 0x7f ? from[i] : '?';
	to[n] = '\0';
}

void cmt_text(char *to, size_t size, const char *from)
{
	cmt_printable(to, size, from ? from : "", from ? strnlen(from, size) : 0);
}
