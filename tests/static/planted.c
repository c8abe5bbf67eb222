// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults that tests/parts/static and static-long have to find in here. */
#include <stdlib.h>

/* clang-tidy: bugprone-macro-parentheses */
#define PLANTED_TWICE(n) (2 * n)

int planted_twice(int n)
{
	return PLANTED_TWICE(n + 1);
}

/* gcc -fanalyzer: -Wanalyzer-double-free; clang's analyzer: unix.Malloc */
void planted_free(char *p, int twice)
{
	free(p);
	if (twice)
		free(p);
}
