/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of figures, printed and counted. */
#ifndef CULPRIT_LIMIT_H
#define CULPRIT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static uint32_t limits_kept, limits_missed;

/* @most: whether the limit is one from above.  Returns whether it is kept. */
static inline bool limit(const char *what, double value, double bound, bool most)
{
	bool kept = most ? value <= bound : value >= bound;

	printf("%s - %s: %.1f, limit %s %.1f\n", kept ? "ok" : "not ok", what,
	       value, most ? "<=" : ">=", bound);
	*(kept ? &limits_kept : &limits_missed) += 1;
	return kept;
}

/* Prints how many were kept.  Returns the status of the program. */
static inline int limits_end(void)
{
	printf("%u passed, %u failed\n", limits_kept, limits_missed);
	return limits_missed > 0;
}

#endif
