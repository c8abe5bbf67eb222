// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/format.h"
#include "common/json.h"
#include "common/origin.h"
#include "why/slower.h"
#include "why/slower_json.h"

#define TEXT_LEN (4 * PATH_MAX)

/* A value as CSV has it, but for the quotes of a text. */
static void machine_text(char *buf, size_t size, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_ABSENT:
	case CELL_BAR:
	case CELL_TRAIL:
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
	case CELL_RATIO:
		snprintf(buf, size, "%.3f", cell->real);
		break;
	case CELL_BOOL:
		snprintf(buf, size, "%s", cell->number ? "true" : "false");
		break;
	}
}

/* Returns 0, with NULL for an unknown value, or -ENOMEM. */
static int json_value(const struct cell *cell, struct json_object **value)
{
	char text[FORMAT_LEN];

	*value = NULL;
	switch (cell->kind) {
	case CELL_ABSENT:
	case CELL_BAR:
	case CELL_TRAIL:
		return 0;
	case CELL_TEXT:
		*value = json_text(cell->text);
		break;
	case CELL_NUMBER:
	case CELL_BYTES:
		*value = json_object_new_uint64(cell->number);
		break;
	case CELL_RATE:
	case CELL_PERCENT:
	case CELL_RATIO:
		machine_text(text, sizeof(text), cell);
		*value = json_object_new_double_s(cell->real, text);
		break;
	case CELL_BOOL:
		*value = json_object_new_boolean(cell->number != 0);
		break;
	}
	return *value ? 0 : -ENOMEM;
}

static int add_number(struct json_object *object, const char *name,
		      uint64_t number)
{
	return json_add(object, name, json_object_new_uint64(number));
}

static int add_bool(struct json_object *object, const char *name, bool value)
{
	return json_add(object, name, json_object_new_boolean(value));
}

/* null: a recording does not say, or nothing was read */
static int add_known(struct json_object *object, const char *name, bool unknown,
		     uint64_t number)
{
	return unknown ? json_add(object, name, NULL) :
			 add_number(object, name, number);
}

/* Is the time of day of a recording not known? */
static bool no_time(const struct report *report)
{
	return report->replay && !report->replay->clock_known;
}

/* NULL: of resctrl's groups there is none. */
static const char *scope_text(const struct report *report)
{
	return origin_is_resctrl(report->info) ? NULL : scope_name(report->scope);
}

/* Of a recording: its host, gaps, and to how many bits counts are rounded. */
static int add_replay(struct json_object *object, const struct report *report)
{
	int ret;

	if (!report->replay)
		return 0;
	ret = json_add(object, "host", json_text(report->replay->about.host));
	ret = ret ? ret : add_number(object, "gaps", report->gaps);
	return ret ? ret : add_number(object, "counter_bits",
				      replay_rounded_bits(&report->replay->about,
							  report->info));
}

/* Which owners there were, and when. */
static int add_interval(struct json_object *object, const struct report *report)
{
	const struct frame *frame = &report->frame;
	const struct census *census = &report->census;
	char time[FORMAT_LEN];
	int ret;

	format_time(time, report->realtime_ns);
	ret = json_add(object, "record", json_text("interval"));
	ret = ret ? ret : json_add(object, "time", no_time(report) ? NULL :
				   json_text(time));
	ret = ret ? ret : add_number(object, "end_ns", frame->end_ns);
	ret = ret ? ret : add_known(object, "elapsed_ns", frame->unread, frame->elapsed_ns);
	ret = ret ? ret : add_replay(object, report);
	ret = ret ? ret : json_add(object, "by", json_text(by_name(frame->by)));
	ret = ret ? ret : json_add(object, "scope", json_text(scope_text(report)));
	ret = ret ? ret : add_known(object, "monitored", census->unknown,
				    census->monitored);
	ret = ret ? ret : add_known(object, "pending", census->pending_unknown,
				    census->pending);
	ret = ret ? ret : add_known(object, "services", census->unknown,
				    census->services);
	ret = ret ? ret : add_known(object, "services_pending",
				    census->pending_unknown,
				    census->services_pending);
	ret = ret ? ret : add_known(object, "attached", census->unknown,
				    census->attached);
	ret = ret ? ret : add_known(object, "attached_pending",
				    census->pending_unknown,
				    census->attached_pending);
	return ret;
}

/* Why there is no occupancy and no bandwidth; null: there is. */
static int add_unavailable(struct json_object *object,
			   const struct report *report)
{
	char reason[sizeof(report->info->reason) + 1] = "";
	struct json_object *value;

	if (report->info->events)
		return json_add(object, "unavailable", NULL);
	memcpy(reason, report->info->reason, sizeof(report->info->reason));
	value = json_text(reason);
	return value ? json_add(object, "unavailable", value) : -ENOMEM;
}

/* Who counts a part of rows with "rmid-overwritten"; null: there is none. */
static int add_incomplete(struct json_object *object, const struct report *report)
{
	char text[BESIDE_TEXT_LEN];

	return json_add(object, "incomplete", report->beside.incomplete ?
			json_text(beside_text(text, &report->beside)) : NULL);
}

/* Values of ticks: null where no tick was due. */
static int add_of_ticks(struct json_object *object, const struct report *report,
			const char *name, uint64_t number)
{
	return report->on_demand ? json_add(object, name, NULL) :
				   add_number(object, name, number);
}

/* The source, and the values that it lacks; null: none is missing. */
static int add_source(struct json_object *object, const struct report *report)
{
	bool groups = origin_is_resctrl(report->info);
	int ret = json_add(object, "source", json_text(groups ? "resctrl" : "device"));

	return ret ? ret : json_add(object, "not_shown",
				    groups ? json_text(ORIGIN_NOT_SHOWN) : NULL);
}

/* The sampling, and the gaps in it */
static int add_sampling(struct json_object *object, const struct report *report)
{
	const char *wait_reason = view_wait_reason(report);
	const struct frame *frame = &report->frame;
	int ret = add_source(object, report);

	ret = ret ? ret : add_bool(object, "emulated", report->emulated);
	ret = ret ? ret : add_unavailable(object, report);
	ret = ret ? ret : add_incomplete(object, report);
	ret = ret ? ret : add_number(object, "lost", report->lost);
	ret = ret ? ret : add_number(object, "dropped", report->dropped);
	ret = ret ? ret : add_of_ticks(object, report, "missed", frame->missed);
	ret = ret ? ret : add_of_ticks(object, report, "sampling_interval_ns",
				       frame->interval_ns);
	ret = ret ? ret : add_of_ticks(object, report, "sampling_ns",
				       frame->busy_ns);
	ret = ret ? ret : add_of_ticks(object, report, "counted_ns",
				       frame->counted_ns);
	ret = ret ? ret : json_add(object, "counters_reason",
				   report->counters_reason[0] ?
				   json_text(report->counters_reason) : NULL);
	ret = ret ? ret : json_add(object, "wait_reason",
				   wait_reason ? json_text(wait_reason) : NULL);
	ret = ret ? ret : add_known(object, "cpus", report->on_demand ||
				    origin_is_resctrl(report->info), frame->nr_cpus);
	ret = ret ? ret : add_number(object, "domains", frame->nr_domains);
	ret = ret ? ret : add_number(object, "rows", frame->nr_rows);
	return ret;
}

/* null: not known, or there is no such bound */
static int add_rate(struct json_object *object, const char *name, bool known,
		    double rate)
{
	struct cell cell = { .kind = CELL_RATE, .real = rate };
	struct json_object *value;
	int ret;

	if (!known || !isfinite(rate))
		cell.kind = CELL_ABSENT;
	ret = json_value(&cell, &value);
	return ret ? ret : json_add(object, name, value);
}

/* The values of the memory, in both formats */
static const struct {
	const char *name;
	size_t measure;		/* in struct memory */
} memory_rates[] = {
	{ "memory_bytes_per_s", offsetof(struct memory, total) },
	{ "memory_read_bytes_per_s", offsetof(struct memory, read) },
	{ "memory_written_bytes_per_s", offsetof(struct memory, written) },
	{ "memory_rmids_bytes_per_s", offsetof(struct memory, rmids) },
};

#define NR_MEMORY_RATES (sizeof(memory_rates) / sizeof(memory_rates[0]))

static const struct measure *memory_rate(const struct memory *memory, size_t i)
{
	return (const struct measure *)((const char *)memory +
					memory_rates[i].measure);
}

static int add_unattributed(struct json_object *object,
			    const struct memory *memory)
{
	bool any = memory->nr_channels;
	int ret = add_rate(object, "memory_unattributed_bytes_per_s",
			   memory->unattributed_known, memory->unattributed);

	ret = ret ? ret : add_rate(object, "memory_unattributed_least_bytes_per_s",
				   any, memory->lo);
	return ret ? ret : add_rate(object, "memory_unattributed_most_bytes_per_s",
				    any, memory->hi);
}

static int add_memory(struct json_object *object, const struct report *report)
{
	const struct memory *memory = &report->frame.memory;
	int ret = add_number(object, "channels", memory->nr_channels);
	size_t i;

	ret = ret ? ret : json_add(object, "channels_reason",
				   report->channels_reason[0] ?
				   json_text(report->channels_reason) : NULL);
	for (i = 0; !ret && i < NR_MEMORY_RATES; i++)
		ret = add_rate(object, memory_rates[i].name,
			       memory_rate(memory, i)->known,
			       memory_rate(memory, i)->value);
	ret = ret ? ret : add_bool(object, "memory_partial",
				   memory->total.partial);
	ret = ret ? ret : add_bool(object, "memory_rmids_partial",
				   memory->rmids.partial);
	return ret ? ret : add_unattributed(object, memory);
}

static int json_interval(FILE *out, const struct report *report)
{
	struct json_object *object = json_object_new_object();
	int ret = object ? add_interval(object, report) : -ENOMEM;

	if (!ret)
		ret = add_sampling(object, report);
	if (!ret)
		ret = add_memory(object, report);
	if (!ret)
		ret = json_print(out, object);
	json_object_put(object);
	return ret;
}

static int add_columns(struct json_object *object, enum view by,
		       const struct row *row)
{
	const struct column *column = columns_of(by);
	int ret = 0;

	for (; !ret && column->get; column++) {
		struct cell cell = { .kind = CELL_ABSENT };
		struct json_object *value;

		if (!column->field)
			continue;
		column->get(row, &cell);
		ret = json_value(&cell, &value);
		if (!ret)
			ret = json_add(object, column->field, value);
	}
	return ret;
}

static int add_path(struct json_object *object, const struct row *row)
{
	bool in_cgroup = row->container && row->owner != CMT_OWNER_RESCTRL;
	const char *path = in_cgroup ? row->container->path : NULL;
	struct json_object *hex;
	int ret = json_hex(path, &hex);

	return ret ? ret : json_add(object, "cgroup_hex", hex);
}

static int add_slower(struct json_object *object, const struct row *row)
{
	struct json_object *slower;
	int ret = slower_json(row, &slower);

	return ret ? ret : json_add(object, "slower", slower);
}

static int json_row(FILE *out, const struct report *report,
		    const struct row *row)
{
	const struct frame *frame = &report->frame;
	struct json_object *object = json_object_new_object();
	int ret = object ? json_add(object, "record", json_text("row")) :
			   -ENOMEM;

	if (!ret)
		ret = add_number(object, "end_ns", frame->end_ns);
	if (!ret)
		ret = add_bool(object, "emulated", report->emulated);
	if (!ret)
		ret = add_columns(object, frame->by, row);
	if (!ret && frame->by == VIEW_CONTAINER)
		ret = add_slower(object, row);
	if (!ret && frame->by != VIEW_DOMAIN &&
	    frame->by != VIEW_CHANNEL)
		ret = add_path(object, row);
	if (!ret)
		ret = json_print(out, object);
	json_object_put(object);
	return ret;
}

int view_json(FILE *out, const struct report *report)
{
	int ret = json_interval(out, report);
	uint32_t i;

	for (i = 0; !ret && i < report->frame.nr_rows; i++)
		ret = json_row(out, report, &report->frame.rows[i]);
	return ret;
}

/* RFC 4180: quotes around a text that needs them, a quote in it twice. */
static void csv_put(FILE *out, const char *text, bool formula)
{
	if (!formula && !strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputs(formula ? "\"'" : "\"", out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void view_csv_header(FILE *out, enum view by)
{
	const struct column *column;
	size_t i;

	fputs("time,end_ns,elapsed_ns,by,scope,monitored,pending,emulated,lost,dropped", out);
	for (i = 0; i < NR_MEMORY_RATES; i++)
		fprintf(out, ",%s", memory_rates[i].name);
	fputs(",memory_partial,memory_rmids_partial,memory_unattributed_bytes_per_s,memory_unattributed_least_bytes_per_s,memory_unattributed_most_bytes_per_s", out);
	for (column = columns_of(by); column->get; column++)
		if (column->field)
			fprintf(out, ",%s", column->field);
	if (by == VIEW_CONTAINER)
		fputs(",slower_percent,slower_low_percent,slower_high_percent,slower_partial,slower_by,slower_resource", out);
	fputc('\n', out);
}

/* Empty: as null in JSON. */
static void csv_rate(FILE *out, bool known, double rate)
{
	fputc(',', out);
	if (known && isfinite(rate))
		fprintf(out, "%.0f", rate);
}

static void csv_memory(FILE *out, const struct memory *memory)
{
	size_t i;

	for (i = 0; i < NR_MEMORY_RATES; i++)
		csv_rate(out, memory_rate(memory, i)->known,
			 memory_rate(memory, i)->value);
	fprintf(out, ",%s,%s", memory->total.partial ? "true" : "false",
		memory->rmids.partial ? "true" : "false");
	csv_rate(out, memory->unattributed_known, memory->unattributed);
	csv_rate(out, memory->nr_channels, memory->lo);
	csv_rate(out, memory->nr_channels, memory->hi);
}

/* The greatest of those because of whom it is slower; empty: not known, or nobody. */
static void csv_slower(FILE *out, const struct row *row)
{
	const struct slower *slower = row->slower;
	char by[TEXT_LEN];

	if (!row->slowed.known) {
		fputs(",,,,,,", out);
		return;
	}
	fprintf(out, ",%.3f,%.3f,%.3f,%s,", 100 * row->slowed.value, 100 * slower_low(row),
		100 * slower_high(row), row->slowed.partial ? "true" : "false");
	if (!slower) {
		fputc(',', out);
		return;
	}
	escape_text(by, sizeof(by), slower->parts[0].by.label, 0);
	csv_put(out, by, begins_formula(by));
	fprintf(out, ",%s", slower_resource(slower->parts[0].resource));
}

static void csv_row(FILE *out, const struct report *report,
		    const struct row *row)
{
	const struct frame *frame = &report->frame;
	const struct column *column = columns_of(frame->by);
	char text[TEXT_LEN];

	fprintf(out, "%s,%" PRIu64 ",", no_time(report) ? "" :
		format_time(text, report->realtime_ns), frame->end_ns);
	if (!frame->unread)
		fprintf(out, "%" PRIu64, frame->elapsed_ns);
	fprintf(out, ",%s,%s,", by_name(frame->by), scope_text(report) ? scope_text(report) : "");
	if (!report->census.unknown)
		fprintf(out, "%u", report->census.monitored);
	fputc(',', out);
	if (!report->census.pending_unknown)
		fprintf(out, "%u", report->census.pending);
	fprintf(out, ",%s,%" PRIu64 ",%" PRIu64, report->emulated ? "true" : "false",
		report->lost, report->dropped);
	csv_memory(out, &frame->memory);
	for (; column->get; column++) {
		struct cell cell = { .kind = CELL_ABSENT };

		if (!column->field)
			continue;
		column->get(row, &cell);
		machine_text(text, sizeof(text), &cell);
		fputc(',', out);
		csv_put(out, text, cell.kind == CELL_TEXT && begins_formula(text));
	}
	if (frame->by == VIEW_CONTAINER)
		csv_slower(out, row);
	fputc('\n', out);
}

void view_csv(FILE *out, const struct report *report)
{
	uint32_t i;

	for (i = 0; i < report->frame.nr_rows; i++)
		csv_row(out, report, &report->frame.rows[i]);
}
