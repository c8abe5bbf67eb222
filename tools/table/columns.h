/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of the views: one table for each --by, read by the screen (the columns
 * with a title) and by JSON and CSV (those with a field).
 */
#ifndef TOOLS_COLUMNS_H
#define TOOLS_COLUMNS_H

#include "common/rows.h"

enum cell_kind {
	CELL_ABSENT,	/* not measured, or there is no such thing here */
	CELL_TEXT,	/* raw bytes: escape before printing */
	CELL_NUMBER,
	CELL_BYTES,
	CELL_RATE,	/* bytes a second */
	CELL_PERCENT,
	CELL_RATIO,	/* two digits after the point */
	CELL_BOOL,
	CELL_BAR,	/* part and its most, of 1 */
	CELL_TRAIL,
};

struct cell {
	enum cell_kind kind;
	bool partial;		/* a lower bound */
	const char *text;
	uint64_t number;
	double real;		/* CELL_RATE, CELL_PERCENT, CELL_RATIO, CELL_BAR */
	double most;		/* CELL_BAR */
	const struct trail *trail;
	char buf[CONTAINER_LABEL_LEN + 128];	/* where text may be */
};

struct column {
	const char *title;	/* NULL: in machine formats only */
	const char *brief;	/* title where numbers are short; NULL: title */
	const char *field;	/* NULL: on the screen only */
	int width;		/* least width on a wide screen */
	bool left;		/* text */
	bool optional;		/* left off the screen if no row has it */
	int drop;		/* left off a narrow screen, the least first;
				 * 0: never
				 */
	void (*get)(const struct row *row, struct cell *cell);
};

/* Is it on the full screen only? */
bool column_live(const struct column *column);

/* Is it a curve, which gets the remaining room? */
bool column_stretches(const struct column *column);

/* The order by it; SORT_DEFAULT: there is none. */
enum sort_key column_sort(const struct column *column);

/* The columns of a view; the last has no get. */
const struct column *columns_of(enum view by);

const char *by_name(enum view by);

/* 0 or -EINVAL. */
int by_parse(const char *name, enum view *by);

#endif
