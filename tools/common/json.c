// SPDX-License-Identifier: GPL-2.0-or-later
#include "json.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

static const char REPLACEMENT[] = "\xef\xbf\xbd";	/* U+FFFD */

static bool is_utf8(const char *text)
{
	unsigned int len;
	uint32_t code;

	for (; *text; text += len) {
		len = utf8_decode(text, &code);
		if (!len)
			return false;
	}
	return true;
}

static struct json_object *replaced_text(const char *text)
{
	char *copy = malloc(3 * strlen(text) + 1), *to = copy;
	struct json_object *object;
	uint32_t code;

	if (!copy)
		return NULL;
	while (*text) {
		unsigned int len = utf8_decode(text, &code);

		to = mempcpy(to, len ? text : REPLACEMENT, len ? len : 3);
		text += len ? len : 1;
	}
	*to = '\0';
	object = json_object_new_string(copy);
	free(copy);
	return object;
}

struct json_object *json_text(const char *text)
{
	if (!text)
		return NULL;
	return is_utf8(text) ? json_object_new_string(text) :
			       replaced_text(text);
}

int json_hex(const char *text, struct json_object **object)
{
	size_t i, len = text ? strlen(text) : 0;
	char *hex;

	*object = NULL;
	if (!text || is_utf8(text))
		return 0;
	hex = malloc(2 * len + 1);
	if (!hex)
		return -ENOMEM;
	for (i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)text[i]);
	*object = json_object_new_string(hex);
	free(hex);
	return *object ? 0 : -ENOMEM;
}

int json_add(struct json_object *object, const char *name,
	     struct json_object *value)
{
	if (!json_object_object_add(object, name, value))
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

/*
 * Outside of strings JSON is ASCII, and json-c escapes C0 and JSON's special
 * characters.
 */
int json_print(FILE *out, struct json_object *object)
{
	const char *text = json_object_to_json_string_ext(object,
		JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	char escape[JSON_ESCAPE_LEN];
	uint32_t code;

	if (!text)
		return -ENOMEM;
	while (*text) {
		unsigned int len = utf8_decode(text, &code);

		if (acts_on_terminal(code))
			fputs(json_escape(escape, code), out);
		else
			fwrite(text, 1, len, out);
		text += len;
	}
	fputc('\n', out);
	return 0;
}
