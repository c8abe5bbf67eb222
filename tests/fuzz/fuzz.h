/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fuzz targets share: each has LLVMFuzzerTestOneInput() and no main(). */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the input is. */
#define FUZZ_CHECK(cond) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,	\
			__LINE__, #cond);				\
		abort();						\
	}								\
} while (0)

/* The input, terminated, in memory of exactly its size; to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static inline ssize_t fuzz_sink(void *cookie, const char *text, size_t n)
{
	(void)cookie;
	(void)text;
	return (ssize_t)n;
}

/* Where messages go: a stream in memory would be made anew for each input. */
static inline FILE *fuzz_messages(void)
{
	static FILE *file;

	if (!file)
		file = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = fuzz_sink });
	FUZZ_CHECK(file);
	return file;
}

static inline void fuzz_check_printable(const char *text)
{
	for (; *text; text++)
		FUZZ_CHECK(*text >= 0x20 && *text < 0x7f);
}

/* Up to @size bytes of the input XORed onto @to, so that zeros change nothing. */
static inline void fuzz_overlay(void *to, size_t size, const uint8_t **data, size_t *left)
{
	size_t n = *left < size ? *left : size;

	for (size_t i = 0; i < n; i++)
		((uint8_t *)to)[i] ^= (*data)[i];
	*data += n;
	*left -= n;
}

#endif
