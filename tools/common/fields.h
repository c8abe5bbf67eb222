/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of named values: "name: value" lines, or one JSON object. */
#ifndef TOOLS_FIELDS_H
#define TOOLS_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

struct fields {
	struct json_object *object;	/* NULL: text */
	int err;
};

int fields_begin(struct fields *fields, bool json);

/* @shown: the text in place of the number; NULL: the number. */
void fields_number(struct fields *fields, const char *name, uint64_t value,
		   const char *shown);

/* @text is raw bytes; NULL is absent ("-", null). */
void fields_text(struct fields *fields, const char *name, const char *text);

/* In JSON only: see json_hex(). */
void fields_hex(struct fields *fields, const char *name, const char *text);

/* Texts under one name: an array, or lines below each other. */
void fields_list(struct fields *fields, const char *name,
		 const char *const *texts, unsigned int nr);

void fields_bool(struct fields *fields, const char *name, bool value);

/* Print the object.  Returns 0 or the first error of all calls. */
int fields_end(struct fields *fields);

#endif
