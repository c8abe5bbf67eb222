// SPDX-License-Identifier: GPL-2.0-or-later
#include "fields.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "format.h"

#define TEXT_LEN 4096

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
	if (!json_object_object_add(fields->object, name, value))
		return;
	json_object_put(value);
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

	if (text)
		escape_text(escaped, sizeof(escaped), text,
			    fields->object ? 0 : ESCAPE_ASCII);
	if (fields->object)
		add(fields, name,
		    text ? json_object_new_string(escaped) : NULL);
	else
		print(name, text ? escaped : "-");
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
		escape_text(escaped, sizeof(escaped), texts[i],
			    fields->object ? 0 : ESCAPE_ASCII);
		if (list)
			append(fields, list, json_object_new_string(escaped));
		else
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
	const char *text;

	if (!fields->object)
		return fields->err;
	text = json_object_to_json_string_ext(fields->object,
		JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text)
		fields->err = -ENOMEM;
	else if (!fields->err)
		printf("%s\n", text);
	json_object_put(fields->object);
	fields->object = NULL;
	return fields->err;
}
