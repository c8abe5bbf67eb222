// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comma-separated values: the columns of pqos --mon-file-type=csv with their names and
 * units, where MB is 2^20 bytes, and then all other columns.  Unknown values are empty.
 * pqos has no incidents: of its columns these have the time only.
 *
 * pqos has no mark for a lower bound, and its readers take each number for the value.  So a
 * lower bound is empty in its columns.  Of the other columns, one that ends in _partial
 * marks it.
 */
#include "export_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/format.h"

#define SECOND_NS 1000000000ULL
#define KB 1024.0
#define MB 1048576.0

static const char pqos_columns[] =
	"Time,PID,Core,IPC,LLC Misses,LLC References,LLC[KB],"
	"MBL[MB/s],MBR[MB/s],MBT[MB/s]";

static int begin(struct export_session *session)
{
	bool is_usage = session->columns == export_columns;

	out_text(session->out, is_usage ? pqos_columns : "Time");
	for (const struct export_column *c = session->columns; c->name; c++) {
		out_byte(session->out, ',');
		out_text(session->out, c->name);
	}
	out_byte(session->out, '\n');
	return session->out->err;
}

/* UTC, with a fraction, but for intervals of a second or longer. */
static void put_time(struct out *out, const struct export_row *row)
{
	time_t seconds = (time_t)(row->time_ns / SECOND_NS);
	char text[48];
	struct tm tm;
	size_t n;

	if (!row->time_known || !gmtime_r(&seconds, &tm))
		return;
	n = strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	if (!row->frame || row->grain_ns < SECOND_NS)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ".%06u",
				      (unsigned int)(row->time_ns % SECOND_NS / 1000));
	out_bytes(out, text, n);
}

static void put_scaled(struct out *out, bool known, const char *format, double value)
{
	char text[400];

	out_byte(out, ',');
	if (known && isfinite(value))
		out_bytes(out, text, (size_t)snprintf(text, sizeof(text), format,
						      value));
}

static void put_number(struct out *out, bool known, uint64_t value)
{
	out_byte(out, ',');
	if (known)
		out_u64(out, value);
}

static bool is_complete(const struct cmt_usage_rate *rate)
{
	return rate->known && !rate->partial;
}

/*
 * Remote traffic is a difference.  The two counters are not read at one instant: it is not
 * below 0.
 */
static void put_remote(struct out *out, const struct cmt_usage_row *row)
{
	put_scaled(out, is_complete(&row->total) && is_complete(&row->local), "%.1f",
		   fmax(0, row->total.rate - row->local.rate) / MB);
}

static void put_pqos(struct out *out, const struct export_row *e)
{
	const struct cmt_usage_row *row = e->row;
	const struct cmt_usage_counters *counters = &row->counters;
	uint32_t complete = counters->values & ~counters->bounds;

	put_time(out, e);
	put_number(out, row->pid, row->pid);
	put_number(out, row->flags & CMT_USAGE_ROW_CPU, row->cpu);
	put_scaled(out, !counters->partial, "%.2f", counters->ipc);
	put_number(out, complete & CMT_F_LLC_MISSES, counters->llc_misses);
	put_number(out, complete & CMT_F_LLC_REFERENCES, counters->llc_references);
	put_scaled(out, row->occupancy.known && !row->occupancy.partial, "%.1f",
		   (double)row->occupancy.last_bytes / KB);
	put_scaled(out, is_complete(&row->local), "%.1f", row->local.rate / MB);
	put_remote(out, row);
	put_scaled(out, is_complete(&row->total), "%.1f", row->total.rate / MB);
}

/*
 * Quoted, and on one line: characters that act on a terminal are escaped, see
 * escape_text().
 */
static void put_text(struct out *out, const char *text)
{
	char escaped[4 * 4096 + 1];
	const char *quote, *from = escaped;

	escape_text(escaped, sizeof(escaped), text, 0);
	if (!begins_formula(escaped) && !strpbrk(escaped, ",\" ';")) {
		out_text(out, escaped);
		return;
	}
	out_text(out, begins_formula(escaped) ? "\"'" : "\"");
	while ((quote = strchr(from, '"'))) {
		out_bytes(out, from, (size_t)(quote - from));
		out_text(out, "\"\"");
		from = quote + 1;
	}
	out_text(out, from);
	out_byte(out, '"');
}

static void put_bits(struct out *out, enum value_type type, uint64_t bits)
{
	const char *space = "";

	for (unsigned int bit = 0; bit < 32; bit++) {
		const char *name = export_bit_name(type, bit);

		if (!(bits >> bit & 1) || !name)
			continue;
		out_text(out, space);
		out_text(out, name);
		space = " ";
	}
}

static void put_cell(struct out *out, const struct export_column *column,
		     const struct export_row *row)
{
	struct value cell = column->get(row);

	out_byte(out, ',');
	if (!cell.known)
		return;
	switch (column->type) {
	case VALUE_TEXT:
		put_text(out, cell.text);
		break;
	case VALUE_WORD:
		out_text(out, export_word(column, cell.number));
		break;
	case VALUE_WHY:
	case VALUE_COUNTERS:
		put_bits(out, column->type, cell.number);
		break;
	case VALUE_REAL:
	case VALUE_LEAST:
	case VALUE_MOST:
		out_double(out, cell.value);
		break;
	default:
		out_u64(out, cell.number);
	}
}

static void put_row(const struct export_session *session, const struct export_row *row)
{
	struct out *out = session->out;

	if (row->frame)
		put_pqos(out, row);
	else
		put_time(out, row);
	for (const struct export_column *c = session->columns; c->name; c++)
		put_cell(out, c, row);
	out_byte(out, '\n');
}

const struct export_format export_csv = {
	.name = "csv", .grain_ns = SECOND_NS,
	.begin = begin, .frame = export_rows, .row = put_row,
};
