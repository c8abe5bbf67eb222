// SPDX-License-Identifier: GPL-2.0-or-later
/* A file of patterns, and the line that says what is wrong with it. */
#include "fuzz.h"
#include "patterns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct patterns patterns = { .nr = 0 };
	FILE *in, *err;
	char *said = NULL;
	size_t said_bytes;

	if (size < 2)
		return 0;
	in = fmemopen((void *)(data + 1), size - 1, "r");
	err = open_memstream(&said, &said_bytes);
	FUZZ_CHECK(in && err);
	if (!patterns_read(&patterns, in) && patterns.nr)
		patterns_explain(&patterns, *data % (uint32_t)(patterns.bytes + 1), err);
	fclose(err);
	fclose(in);
	free(said);
	patterns_free(&patterns);
	return 0;
}
