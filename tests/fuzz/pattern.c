// SPDX-License-Identifier: GPL-2.0-or-later
/* Patterns of containers, as the module parses them; what follows a NUL is a path. */
#include <errno.h>

#include "fuzz.h"
#include "scope/pattern.h"

#define MAX_DEPTH 64

static struct cmt_pattern_set set;

static void match(const char *path)
{
	const char *names[MAX_DEPTH];
	char *copy = strdup(path), *save, *p;
	u32 n, depth = 0, containers = 0, services = 0;

	FUZZ_CHECK(copy);
	for (p = strtok_r(copy, "/", &save); p && depth < MAX_DEPTH;
	     p = strtok_r(NULL, "/", &save))
		names[depth++] = p;
	for (n = 0; n <= depth; n++) {
		enum cmt_class class = cmt_pattern_class(&set, names, n);

		/* nothing below a container is an owner */
		FUZZ_CHECK(class == CMT_CLASS_NONE || !containers);
		containers += class == CMT_CLASS_CONTAINER;
		services += class == CMT_CLASS_SERVICE;
	}
	FUZZ_CHECK(services <= 1);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	u32 bad_at = 0, bytes = (u32)strlen(text);
	int err = cmt_pattern_parse(&set, text, bytes, &bad_at);

	FUZZ_CHECK(err != -EINVAL || bad_at <= bytes);
	if (!err) {
		match("/docker/0123456789abcdef");
		match(bytes < size ? text + bytes + 1 : "/");
	}
	free(text);
	return 0;
}
