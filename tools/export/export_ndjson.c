// SPDX-License-Identifier: GPL-2.0-or-later
/* One JSON object a line and row.  Unknown values are null. */
#include "export_format.h"

#include <stdio.h>
#include <string.h>

#include "common/format.h"

#define SECOND_NS 1000000000ULL

static void put_character(struct out *out, const char *at, unsigned int len,
			  uint32_t code)
{
	char escape[JSON_ESCAPE_LEN];

	if (code == '"' || code == '\\') {
		out_byte(out, '\\');
		out_byte(out, (uint8_t)code);
	} else if (acts_on_terminal(code) || (code > 0x7f && len == 1)) {
		out_text(out, json_escape(escape, code));
	} else {
		out_bytes(out, at, len);
	}
}

/* Names are bytes; a path that is not UTF-8 is also given in hexadecimal. */
static bool put_string(struct out *out, const char *text)
{
	bool valid = true;

	out_byte(out, '"');
	while (*text) {
		uint32_t code;
		unsigned int len = export_utf8(text, &code);

		if (code > 0x7f && len == 1)
			valid = false;
		put_character(out, text, len, code);
		text += len;
	}
	out_byte(out, '"');
	return valid;
}

static void put_hex(struct out *out, const char *name, const char *text)
{
	static const char digits[] = "0123456789abcdef";

	out_text(out, ",\"");
	out_text(out, name);
	out_text(out, "_hex\":\"");
	for (; *text; text++) {
		out_byte(out, (uint8_t)digits[(unsigned char)*text >> 4]);
		out_byte(out, (uint8_t)digits[*text & 15]);
	}
	out_byte(out, '"');
}

static void put_bits(struct out *out, enum value_type type, uint64_t bits)
{
	const char *between = "";

	out_byte(out, '[');
	for (unsigned int bit = 0; bit < 32; bit++) {
		const char *name = export_bit_name(type, bit);

		if (!(bits >> bit & 1) || !name)
			continue;
		out_text(out, between);
		put_string(out, name);
		between = ",";
	}
	out_byte(out, ']');
}

static void put_known(struct out *out, const struct export_column *column,
		      const struct value *cell)
{
	switch (column->type) {
	case VALUE_TEXT:
		if (!put_string(out, cell->text))
			put_hex(out, column->name, cell->text);
		break;
	case VALUE_BOOL:
		out_text(out, cell->number ? "true" : "false");
		break;
	case VALUE_WORD:
		put_string(out, export_word(column, cell->number));
		break;
	case VALUE_WHY:
	case VALUE_COUNTERS:
		put_bits(out, column->type, cell->number);
		break;
	case VALUE_REAL:
	case VALUE_LEAST:
	case VALUE_MOST:
		out_double(out, cell->value);
		break;
	default:
		out_u64(out, cell->number);
	}
}

static void put_time(struct out *out, const struct export_row *row)
{
	char text[FORMAT_LEN];

	out_text(out, "{\"time\":");
	if (!row->time_known) {
		out_text(out, "null");
		return;
	}
	out_byte(out, '"');
	out_text(out, format_time(text, (int64_t)row->time_ns));
	out_byte(out, '"');
}

static void put_row(const struct export_session *session, const struct export_row *row)
{
	struct out *out = session->out;

	put_time(out, row);
	for (const struct export_column *c = session->columns; c->name; c++) {
		struct value cell = c->get(row);

		out_text(out, ",\"");
		out_text(out, c->name);
		out_text(out, "\":");
		if (cell.known)
			put_known(out, c, &cell);
		else
			out_text(out, "null");
	}
	out_text(out, "}\n");
}

const struct export_format export_ndjson = {
	.name = "ndjson", .grain_ns = SECOND_NS,
	.frame = export_rows, .row = put_row,
};
