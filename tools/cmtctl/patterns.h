/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of containers as the user gave them, and where one is wrong. */
#ifndef TOOLS_PATTERNS_H
#define TOOLS_PATTERNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct patterns {
	char *text;		/* one to a line; NULL: there is none */
	size_t bytes;
	unsigned int *lines;	/* of the file each is from; 0: from no file */
	unsigned int nr;
};

void patterns_free(struct patterns *patterns);

/* Add the words of @text.  Returns 0 or -ENOMEM. */
int patterns_add(struct patterns *patterns, const char *text);

/*
 * Add the words of a file; text after a '#' at the beginning of a word is a comment.
 * Returns 0, -EINVAL (a NUL in it), -ENOMEM or -errno of reading.
 */
int patterns_read(struct patterns *patterns, FILE *in);

/* One line about the byte @bad_at of the text: which pattern, and where. */
void patterns_explain(const struct patterns *patterns, uint32_t bad_at,
		      FILE *err);

#endif
