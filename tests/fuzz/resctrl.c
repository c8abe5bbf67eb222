// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of resctrl, of cgroups and of /proc as the library reads them. */
#include "cgroup/cpu_files.h"
#include "fuzz.h"
#include "resctrl/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t flags = CMT_F_ERROR | CMT_F_UNAVAILABLE;
	char *text = fuzz_text(data, size), *bytes = malloc(size ? size : 1);
	struct cmt_cpu_ticks steal;
	uint64_t value = 0;

	FUZZ_CHECK(bytes);
	/* not terminated: the size is given */
	memcpy(bytes, text, size);
	FUZZ_CHECK(!(cmt_resctrl_parse(bytes, size, &value) & ~flags));
	cmt_cgroup_parse_stat(text, "throttled_usec", &value);
	cmt_cgroup_parse_pressure(text, &value);
	cmt_cpu_ticks_parse(text, &steal);
	free(bytes);
	free(text);
	return 0;
}
