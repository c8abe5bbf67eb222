// SPDX-License-Identifier: GPL-2.0-or-later
/* A file of patterns, and the line that says what is wrong with it. */
#include "cmtctl/patterns.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct patterns patterns = { .nr = 0 };
	FILE *in;

	if (size < 2)
		return 0;
	in = fmemopen((void *)(data + 1), size - 1, "r");
	FUZZ_CHECK(in);
	if (!patterns_read(&patterns, in) && patterns.nr)
		patterns_explain(&patterns, *data % (uint32_t)(patterns.bytes + 1),
				 fuzz_messages());
	fclose(in);
	patterns_free(&patterns);
	return 0;
}
