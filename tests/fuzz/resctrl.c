// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of resctrl, of cgroups and of /proc as the library reads them. */
#include "culprit/state.h"
#include "fuzz.h"
#include "resctrl/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t flags = CMT_F_ERROR | CMT_F_UNAVAILABLE;
	char *text = fuzz_text(data, size), *bytes = malloc(size ? size : 1);
	struct culprit_steal steal;
	uint64_t value = 0;

	FUZZ_CHECK(bytes);
	/* not terminated: the size is given */
	memcpy(bytes, text, size);
	FUZZ_CHECK(!(cmt_resctrl_parse(bytes, size, &value) & ~flags));
	culprit_parse_stat(text, "throttled_usec", &value);
	culprit_parse_pressure(text, &value);
	culprit_parse_steal(text, &steal);
	free(bytes);
	free(text);
	return 0;
}
