/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of rows: one table for those of intervals and one for those of incidents, from
 * which CSV, NDJSON and ClickHouse are written, so that they cannot differ.  Pure.
 */
#ifndef TOOLS_EXPORT_COLUMNS_H
#define TOOLS_EXPORT_COLUMNS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/rows.h"
#include "export_value.h"
#include "why/why_view.h"

/* A row, with its interval or its incident, and its machine */
struct export_row {
	const char *node;	/* host name; "": not known */
	const char *boot;	/* boot id; "": not known */
	bool time_known;
	uint64_t time_ns;	/* CLOCK_REALTIME of the begin */
	uint64_t grain_ns;	/* of intervals: the length of one that is whole */
	uint64_t since_ns;	/* from the recording's begin to that of the interval */
	/* Of an interval, else NULL */
	const struct cmt_usage_frame *frame;
	const struct cmt_usage_row *row;
	char name[CONTAINER_LABEL_LEN];
	/* Of an incident: what one neighbour cost by one resource */
	const struct why_incident *incident;
	uint32_t part;
	bool emulated;
};

/* Set name from row. */
void export_row_name(struct export_row *row);

struct export_column {
	const char *name;	/* NULL ends the table */
	enum value_type type;
	bool nullable;		/* in ClickHouse: a cell that is not known is NULL; else 0 */
	struct value (*get)(const struct export_row *row);
	const char *const *words;	/* of VALUE_WORD, from number 0, to NULL */
};

extern const struct export_column export_columns[];
extern const struct export_column export_incident_columns[];

/* Columns of both tables: the machine, and the begin */
struct value export_get_node(const struct export_row *row);
struct value export_get_boot(const struct export_row *row);
struct value export_get_time(const struct export_row *row);

/* The word of a cell of VALUE_WORD; "": it is of a later version. */
const char *export_word(const struct export_column *column, uint64_t number);

/* The name of bit 1 << @bit of VALUE_WHY or VALUE_COUNTERS; NULL: there is none. */
const char *export_bit_name(enum value_type type, unsigned int bit);

#endif
