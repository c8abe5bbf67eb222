// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>

#include "format.h"

#define TEXT_LEN 4096

/* A value as CSV and JSON have it, but for the quotes of a text. */
static void machine_text(char *buf, size_t size, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_ABSENT:
		buf[0] = '\0';
		break;
	case CELL_TEXT:
		escape_text(buf, size, cell->text, 0);
		break;
	case CELL_NUMBER:
	case CELL_BYTES:
		snprintf(buf, size, "%" PRIu64, cell->number);
		break;
	case CELL_RATE:
		snprintf(buf, size, "%.0f", cell->real);
		break;
	case CELL_PERCENT:
		snprintf(buf, size, "%.3f", cell->real);
		break;
	case CELL_BOOL:
		snprintf(buf, size, "%s", cell->number ? "true" : "false");
		break;
	}
}

static struct json_object *json_value(const struct cell *cell)
{
	char text[TEXT_LEN];

	machine_text(text, sizeof(text), cell);
	switch (cell->kind) {
	case CELL_TEXT:
		return json_object_new_string(text);
	case CELL_NUMBER:
	case CELL_BYTES:
		return json_object_new_uint64(cell->number);
	case CELL_RATE:
	case CELL_PERCENT:
		return json_object_new_double_s(cell->real, text);
	case CELL_BOOL:
		return json_object_new_boolean(cell->number != 0);
	case CELL_ABSENT:
		break;
	}
	return NULL;
}

/* Takes @value over.  Only running out of memory fails here. */
static int json_add(struct json_object *object, const char *key,
		    struct json_object *value)
{
	if (!json_object_object_add(object, key, value))
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

/* What is said of the interval stands in each of its rows. */
static int json_common(struct json_object *object, const struct report *report)
{
	const struct frame *frame = &report->frame;
	char time[FORMAT_LEN];

	format_time(time, report->realtime_ns);
	if (json_add(object, "time", json_object_new_string(time)) ||
	    json_add(object, "end_ns", json_object_new_uint64(frame->end_ns)) ||
	    json_add(object, "elapsed_ns",
		     json_object_new_uint64(frame->elapsed_ns)) ||
	    json_add(object, "by",
		     json_object_new_string(by_name(frame->by))) ||
	    json_add(object, "scope",
		     json_object_new_string(scope_name(report->scope))) ||
	    json_add(object, "monitored",
		     json_object_new_uint64(report->census.monitored)) ||
	    json_add(object, "waiting",
		     json_object_new_uint64(report->census.waiting)) ||
	    json_add(object, "emulated",
		     json_object_new_boolean(report->emulated)) ||
	    json_add(object, "lost", json_object_new_uint64(report->lost)) ||
	    json_add(object, "dropped",
		     json_object_new_uint64(report->dropped)))
		return -ENOMEM;
	return 0;
}

static int json_row(FILE *out, const struct report *report,
		    const struct row *row)
{
	const struct column *column = columns_of(report->frame.by);
	struct json_object *object = json_object_new_object();
	const char *text = NULL;
	int ret = object ? json_common(object, report) : -ENOMEM;

	for (; !ret && column->get; column++) {
		struct cell cell = { .kind = CELL_ABSENT };

		if (!column->field)
			continue;
		column->get(row, &cell);
		ret = json_add(object, column->field, json_value(&cell));
	}
	if (!ret)
		text = json_object_to_json_string_ext(object,
			JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		fprintf(out, "%s\n", text);
	json_object_put(object);
	return ret ? ret : text ? 0 : -ENOMEM;
}

int view_json(FILE *out, const struct report *report)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < report->frame.nr_rows; i++)
		ret = json_row(out, report, &report->frame.rows[i]);
	return ret;
}

/* RFC 4180: quotes around a text that needs them, a quote in it twice. */
static void csv_put(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void view_csv_header(FILE *out, enum aggregate_by by)
{
	const struct column *column;

	fputs("time,end_ns,elapsed_ns,by,scope,monitored,waiting,emulated,lost,dropped", out);
	for (column = columns_of(by); column->get; column++)
		if (column->field)
			fprintf(out, ",%s", column->field);
	fputc('\n', out);
}

static void csv_row(FILE *out, const struct report *report,
		    const struct row *row)
{
	const struct frame *frame = &report->frame;
	const struct column *column = columns_of(frame->by);
	char text[TEXT_LEN];

	fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%s,%s,%u,%u,%s,%" PRIu64 ",%"
		PRIu64, format_time(text, report->realtime_ns), frame->end_ns,
		frame->elapsed_ns, by_name(frame->by),
		scope_name(report->scope), report->census.monitored,
		report->census.waiting,
		report->emulated ? "true" : "false", report->lost,
		report->dropped);
	for (; column->get; column++) {
		struct cell cell = { .kind = CELL_ABSENT };

		if (!column->field)
			continue;
		column->get(row, &cell);
		machine_text(text, sizeof(text), &cell);
		fputc(',', out);
		csv_put(out, text);
	}
	fputc('\n', out);
}

void view_csv(FILE *out, const struct report *report)
{
	uint32_t i;

	for (i = 0; i < report->frame.nr_rows; i++)
		csv_row(out, report, &report->frame.rows[i]);
}
