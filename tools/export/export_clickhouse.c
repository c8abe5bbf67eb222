// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RowBinary of ClickHouse: values one after the other, little-endian.  A text has its
 * length before it, and a nullable value a byte that says whether it is NULL.  The
 * tables are in docs/fleet/schema.sql.  Whether a column is nullable cannot change: the
 * rows would no longer fit the tables that are there.
 */
#include "export_format.h"

#include <math.h>
#include <string.h>

#define SECOND_NS 1000000000ULL

/*
 * Digits below the resolution would be most of the table's size.  A bound stays a
 * bound.
 */
static void put_real(struct out *out, enum value_type type, double value)
{
	float real = (float)value;
	uint32_t bits;

	if (type == VALUE_LEAST && (double)real > value)
		real = nextafterf(real, -INFINITY);
	if (type == VALUE_MOST && (double)real < value)
		real = nextafterf(real, INFINITY);
	memcpy(&bits, &real, sizeof(bits));
	out_le(out, bits, 4);
}

static void put_known(struct out *out, enum value_type type, const struct value *cell)
{
	size_t len;

	switch (type) {
	case VALUE_TEXT:
		len = strlen(cell->text);
		out_varint(out, len);
		out_bytes(out, cell->text, len);
		break;
	case VALUE_BOOL:
	case VALUE_WORD:
		out_byte(out, (uint8_t)cell->number);
		break;
	case VALUE_REAL:
	case VALUE_LEAST:
	case VALUE_MOST:
		put_real(out, type, cell->value);
		break;
	case VALUE_U64:
		out_le(out, cell->number, 8);
		break;
	default:
		out_le(out, cell->number, 4);
	}
}

static void put_row(const struct export_session *session, const struct export_row *row)
{
	struct out *out = session->out;

	for (const struct export_column *c = session->columns; c->name; c++) {
		struct value cell = c->get(row);

		if (c->nullable)
			out_byte(out, !cell.known);
		if (cell.known || !c->nullable)
			put_known(out, c->type, &cell);
	}
}

const struct export_format export_clickhouse = {
	.name = "clickhouse", .grain_ns = SECOND_NS, .needs_clock = true,
	.frame = export_rows, .row = put_row,
};
