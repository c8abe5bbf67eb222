/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of json-c from and to bytes that users choose. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdio.h>

struct json_object;

/*
 * @text as it is, so that a path opens; a byte that is not UTF-8 becomes
 * U+FFFD.  NULL: out of memory, or @text is NULL.
 */
struct json_object *json_text(const char *text);

/*
 * The bytes of @text in hexadecimal where some are not UTF-8, and null
 * otherwise.  Returns 0 or -ENOMEM.
 */
int json_hex(const char *text, struct json_object **object);

/* Add @value, which it takes over.  Returns 0 or -ENOMEM. */
int json_add(struct json_object *object, const char *name,
	     struct json_object *value);

/*
 * Print one line.  Characters that act on a terminal are written as \uNNNN, which is
 * the same character in JSON.  Returns 0 or -ENOMEM.
 */
int json_print(FILE *out, struct json_object *object);

#endif
