/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of a row of an interval: one table, from which CSV, NDJSON and ClickHouse
 * are written, so that they cannot differ.  Pure.
 */
#ifndef TOOLS_EXPORT_COLUMNS_H
#define TOOLS_EXPORT_COLUMNS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "rows.h"

/* A row, with its interval and its machine */
struct export_row {
	const char *node;	/* host name; "": not known */
	const char *boot;	/* boot id; "": not known */
	bool time_known;
	uint64_t time_ns;	/* CLOCK_REALTIME of the interval's begin */
	const struct cmt_usage_frame *frame;
	const struct cmt_usage_row *row;
	char name[CONTAINER_LABEL_LEN];
};

/* Set name from row. */
void export_row_name(struct export_row *row);

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

struct export_column {
	const char *name;	/* NULL ends the table */
	enum value_type type;
	bool nullable;		/* a cell may be not known */
	struct value (*get)(const struct export_row *row);
	const char *const *words;	/* of VALUE_WORD, from number 0, to NULL */
};

extern const struct export_column export_columns[];

/* The word of a cell of VALUE_WORD; "": it is of a later version. */
const char *export_word(const struct export_column *column, uint64_t number);

/* The name of bit 1 << @bit of VALUE_WHY or VALUE_COUNTERS; NULL: there is none. */
const char *export_bit_name(enum value_type type, unsigned int bit);

#endif
