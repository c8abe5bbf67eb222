// SPDX-License-Identifier: GPL-2.0-or-later
/* State files of container runtimes; the first byte says of which kind. */
#include "fuzz.h"
#include "name/runtime.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum cmt_state_kind kinds[] = {
		CMT_STATE_DOCKER, CMT_STATE_CONTAINERD, CMT_STATE_STORAGE, CMT_STATE_CRIO,
	};
	struct cmt_state state;
	char *bytes;

	if (!size)
		return 0;
	/* not terminated: what the parser reads behind it is a fault */
	bytes = malloc(size - 1 ? size - 1 : 1);
	FUZZ_CHECK(bytes);
	memcpy(bytes, data + 1, size - 1);
	if (!cmt_state_parse(&state, kinds[*data % 4], bytes, size - 1, CMT_VALUES_MAX,
			     ID)) {
		fuzz_check_printable(state.name);
		fuzz_check_printable(state.image);
		fuzz_check_printable(state.pod);
		fuzz_check_printable(state.pod_name);
		fuzz_check_printable(state.pod_namespace);
		fuzz_check_printable(state.pod_container);
	}
	free(bytes);
	return 0;
}
