// SPDX-License-Identifier: GPL-2.0-or-later
#include "patterns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uapi/cmt.h>

#include "common/format.h"

#define SPACE " \t\n\v\f\r"

void patterns_free(struct patterns *patterns)
{
	free(patterns->text);
	free(patterns->lines);
	*patterns = (struct patterns){ 0 };
}

static int add_word(struct patterns *patterns, const char *word, size_t len,
		    unsigned int line)
{
	unsigned int *lines;
	char *text;

	lines = reallocarray(patterns->lines, patterns->nr + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	patterns->lines = lines;
	text = realloc(patterns->text, patterns->bytes + len + 2);
	if (!text)
		return -ENOMEM;
	patterns->text = text;
	if (patterns->nr)
		text[patterns->bytes++] = '\n';
	memcpy(text + patterns->bytes, word, len);
	patterns->bytes += len;
	text[patterns->bytes] = '\0';
	lines[patterns->nr++] = line;
	return 0;
}

static int add_words(struct patterns *patterns, const char *text,
		     unsigned int line)
{
	int ret = 0;

	while (!ret && *(text += strspn(text, SPACE))) {
		size_t len = strcspn(text, SPACE);

		if (line && *text == '#')
			break;
		ret = add_word(patterns, text, len, line);
		text += len;
	}
	return ret;
}

int patterns_add(struct patterns *patterns, const char *text)
{
	return add_words(patterns, text, 0);
}

int patterns_read(struct patterns *patterns, FILE *in)
{
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int ret = 0;

	errno = 0;
	while (!ret && (len = getline(&line, &room, in)) >= 0) {
		number++;
		ret = strlen(line) != (size_t)len ? -EINVAL :
		      add_words(patterns, line, number);
	}
	if (!ret && ferror(in))
		ret = errno ? -errno : -EIO;
	free(line);
	return ret;
}

/* The line of the text that byte @at is in. */
static const char *find_word(const struct patterns *patterns, size_t at,
			     unsigned int *index)
{
	const char *word = patterns->text, *end;

	for (*index = 0; *index + 1 < patterns->nr; ++*index) {
		end = strchr(word, '\n');
		if (patterns->text + at <= end)
			break;
		word = end + 1;
	}
	return word;
}

void patterns_explain(const struct patterns *patterns, uint32_t bad_at,
		      FILE *err)
{
	char text[4 * CMT_PATTERNS_MAX + 1], copy[CMT_PATTERNS_MAX + 1];
	unsigned int index;
	const char *word;

	if (!patterns->nr) {
		fprintf(err, "There is no pattern\n");
		return;
	}
	if (patterns->bytes > CMT_PATTERNS_MAX) {
		fprintf(err, "The patterns are %zu bytes long, and at most %u can be\n",
			patterns->bytes, CMT_PATTERNS_MAX);
		return;
	}
	if (bad_at > patterns->bytes)
		bad_at = (uint32_t)patterns->bytes;
	word = find_word(patterns, bad_at, &index);
	snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(word, "\n"), word);
	escape_text(text, sizeof(text), copy, ESCAPE_ASCII);
	fprintf(err, "Pattern '%s'", text);
	if (patterns->lines[index])
		fprintf(err, " of line %u", patterns->lines[index]);
	fprintf(err, " is wrong at byte %zu\n",
		(size_t)(patterns->text + bad_at - word) + 1);
}
