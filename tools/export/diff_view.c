// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/format.h"

#define NAME_WIDTH	32
#define CELL_WIDTH	12
#define SECOND_NS	1e9

static const char *number(char buf[FORMAT_LEN], double value)
{
	snprintf(buf, FORMAT_LEN, value < 100 ? "%.3g" : "%.0f", value);
	return buf;
}

/* Without a sign. */
static const char *format_value(char buf[FORMAT_LEN], enum diff_sort what, double value)
{
	switch (what) {
	case DIFF_OCCUPANCY:
		return format_bytes(buf, (uint64_t)value);
	case DIFF_BANDWIDTH:
		return format_rate(buf, value);
	case DIFF_MISSES:
		return number(buf, value);
	default:
		snprintf(buf, FORMAT_LEN, "%.2f", value);
		return buf;
	}
}

static void put_cell(FILE *out, const char *text)
{
	fprintf(out, " %*s", CELL_WIDTH, text);
}

/* ">" before a lower bound, "-" is not measured. */
static void put_value(FILE *out, enum diff_sort what, const struct diff_value *value)
{
	char buf[FORMAT_LEN], cell[FORMAT_LEN + 1];

	snprintf(cell, sizeof(cell), "%s%s", value->partial ? ">" : "",
		 format_value(buf, what, value->value));
	put_cell(out, value->known ? cell : "-");
}

/*
 * "=": no more than the counters resolve; "?": either may be more than was counted, or has no
 * bounds.
 */
static void put_change(FILE *out, enum diff_sort what, const struct diff_value *change)
{
	char buf[FORMAT_LEN], cell[FORMAT_LEN + 2];
	bool within = change->lo <= 0 && change->hi >= 0;
	bool unsure = change->partial || isnan(change->lo) || isnan(change->hi);

	snprintf(cell, sizeof(cell), "%s%s%s",
		 unsure ? "?" : "", change->value < 0 ? "-" : "+",
		 format_value(buf, what, fabs(change->value)));
	if (change->known && within && !unsure)
		snprintf(cell, sizeof(cell), "=");
	put_cell(out, change->known ? cell : "-");
}

static void put_most(FILE *out, const struct diff_sum *sum)
{
	char buf[FORMAT_LEN], cell[FORMAT_LEN + 1];

	snprintf(cell, sizeof(cell), "%s%s", sum->most_partial ? ">" : "",
		 format_bytes(buf, sum->most));
	put_cell(out, sum->most_known ? cell : "-");
}

static void put_row(FILE *out, const struct diff *diff, const struct diff_row *row)
{
	char name[4 * CONTAINER_LABEL_LEN];

	escape_text(name, sizeof(name), row->name, ESCAPE_ASCII);
	fprintf(out, "%-*s", NAME_WIDTH, name);
	for (int what = 0; what < NR_DIFF_SORTS; what++) {
		struct diff_value a = diff_value(diff, row, 0, (enum diff_sort)what);
		struct diff_value b = diff_value(diff, row, 1, (enum diff_sort)what);
		struct diff_value change = diff_change(diff, row, (enum diff_sort)what);

		put_value(out, (enum diff_sort)what, &a);
		put_value(out, (enum diff_sort)what, &b);
		put_change(out, (enum diff_sort)what, &change);
		if (what == DIFF_OCCUPANCY) {
			put_most(out, &row->sums[0]);
			put_most(out, &row->sums[1]);
		}
	}
	if (row->sums[0].several || row->sums[1].several)
		fputs("  several of this name at once: means of them", out);
	fputc('\n', out);
}

static void put_side(FILE *out, const struct diff *diff, unsigned int side)
{
	const struct span *span = &diff->spans[side];
	char path[512], when[FORMAT_LEN] = "at an unknown time", rounded[64] = "";
	uint32_t bits = span_rounded_bits(span);
	double length = (double)(span->about.end_ns - span->about.start_ns);

	escape_text(path, sizeof(path), span->opts.path, ESCAPE_ASCII);
	if (span->about.realtime_ns)
		format_time(when, (int64_t)(span->about.start_ns +
					    span->about.realtime_ns -
					    span->about.monotonic_ns));
	if (bits)
		snprintf(rounded, sizeof(rounded), ", counts of %" PRIu32 " significant bits",
			 bits);
	fprintf(out, "%c: %s: %s, %s, %.1f s%s%s\n", "AB"[side], path,
		*span->about.host ? span->about.host : "an unknown machine", when,
		length / SECOND_NS, span->emulated ? ", EMULATED" : "", rounded);
}

static void put_header(FILE *out)
{
	static const char *const names[] = {
		"OCCUPANCY A", "B", "CHANGE", "MOST A", "B", "MEMORY A", "B", "CHANGE",
		"MISSES/s A", "B", "CHANGE", "CPI A", "B", "CHANGE",
	};

	fprintf(out, "%-*s", NAME_WIDTH, "CONTAINER");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_cell(out, names[i]);
	fputc('\n', out);
}

int diff_table(FILE *out, const struct diff *diff)
{
	static const char *const titles[] = { NULL, "Only in A:", "Only in B:" };
	int last = 0;

	put_side(out, diff, 0);
	put_side(out, diff, 1);
	fputc('\n', out);
	put_header(out);
	for (uint32_t i = 0; i < diff_shown(diff); i++) {
		const struct diff_row *row = diff->sorted[i];
		int group = diff_has(row, 0) ? !diff_has(row, 1) : 2;

		if (group != last)
			fprintf(out, "%s\n", titles[group]);
		last = group;
		put_row(out, diff, row);
	}
	return 0;
}
