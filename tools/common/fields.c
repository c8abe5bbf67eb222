// SPDX-License-Identifier: GPL-2.0-or-later
#include "fields.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>

#include "format.h"
#include "json.h"

#define TEXT_LEN (4 * PATH_MAX)

int fields_begin(struct fields *fields, bool json)
{
	*fields = (struct fields){ 0 };
	if (!json)
		return 0;
	fields->object = json_object_new_object();
	return fields->object ? 0 : -ENOMEM;
}

static void add(struct fields *fields, const char *name,
		struct json_object *value)
{
	if (json_add(fields->object, name, value))
		fields->err = -ENOMEM;
}

static void print(const char *name, const char *value)
{
	printf("%-18s %s\n", name, value);
}

void fields_number(struct fields *fields, const char *name, uint64_t value,
		   const char *shown)
{
	char number[FORMAT_LEN];

	if (fields->object) {
		add(fields, name, json_object_new_uint64(value));
		return;
	}
	snprintf(number, sizeof(number), "%" PRIu64, value);
	print(name, shown ? shown : number);
}

void fields_text(struct fields *fields, const char *name, const char *text)
{
	char escaped[TEXT_LEN];

	if (fields->object) {
		struct json_object *value = json_text(text);

		if (text && !value)
			fields->err = -ENOMEM;
		add(fields, name, value);
		return;
	}
	if (text)
		escape_text(escaped, sizeof(escaped), text, ESCAPE_ASCII);
	print(name, text ? escaped : "-");
}

void fields_hex(struct fields *fields, const char *name, const char *text)
{
	struct json_object *value;

	if (!fields->object)
		return;
	if (json_hex(text, &value))
		fields->err = -ENOMEM;
	add(fields, name, value);
}

/* Takes @value over. */
static void append(struct fields *fields, struct json_object *list,
		   struct json_object *value)
{
	if (value && !json_object_array_add(list, value))
		return;
	json_object_put(value);
	fields->err = -ENOMEM;
}

void fields_list(struct fields *fields, const char *name,
		 const char *const *texts, unsigned int nr)
{
	struct json_object *list = NULL;
	char escaped[TEXT_LEN];
	unsigned int i;

	if (fields->object) {
		list = json_object_new_array();
		add(fields, name, list);
		if (!list)
			fields->err = -ENOMEM;
	} else if (!nr) {
		print(name, "-");
	}
	for (i = 0; i < nr && !fields->err; i++) {
		if (list) {
			append(fields, list, json_text(texts[i]));
			continue;
		}
		escape_text(escaped, sizeof(escaped), texts[i], ESCAPE_ASCII);
		print(i ? "" : name, escaped);
	}
}

void fields_bool(struct fields *fields, const char *name, bool value)
{
	if (fields->object)
		add(fields, name, json_object_new_boolean(value));
	else
		print(name, value ? "yes" : "no");
}

int fields_end(struct fields *fields)
{
	if (!fields->object)
		return fields->err;
	if (!fields->err)
		fields->err = json_print(stdout, fields->object);
	json_object_put(fields->object);
	fields->object = NULL;
	return fields->err;
}
