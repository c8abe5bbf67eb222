/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A value of a column, and how the columns of both tables make one. */
#ifndef TOOLS_EXPORT_VALUE_H
#define TOOLS_EXPORT_VALUE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum value_type {
	VALUE_TEXT,	/* raw bytes */
	VALUE_BOOL,
	VALUE_WORD,	/* one of few: its number, and words */
	VALUE_WHY,	/* CMT_USAGE_WHY_* */
	VALUE_COUNTERS,	/* CMT_F_CYCLES | ... */
	VALUE_U32,
	VALUE_U64,
	VALUE_REAL,	/* ClickHouse has seven digits of these: the nearest, */
	VALUE_LEAST,	/* one that is not above, */
	VALUE_MOST,	/* and one that is not below */
};

struct value {
	bool known;
	uint64_t number;
	double value;		/* of VALUE_REAL, _LEAST and _MOST */
	const char *text;	/* of VALUE_TEXT */
};

static inline struct value value_number(uint64_t number)
{
	return (struct value){ .known = true, .number = number };
}

static inline struct value value_number_if(bool known, uint64_t number)
{
	return known ? value_number(number) : (struct value){ 0 };
}

/* NAN and infinite numbers are no value: it is unknown, or there is no bound. */
static inline struct value value_real_if(bool known, double real)
{
	if (!known || !isfinite(real))
		return (struct value){ 0 };
	return (struct value){ .known = true, .value = real };
}

static inline struct value value_text(const char *text)
{
	return (struct value){ .known = true, .text = text ? text : "" };
}

#endif
