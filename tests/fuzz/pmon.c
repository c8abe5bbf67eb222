// SPDX-License-Identifier: GPL-2.0-or-later
/* Discovery tables of the uncore PMU. */
#include "fuzz.h"
#include "uncore/pmon.h"

#define ADDRESS_END	(1ULL << 46)
#define TABLE_BYTES	(1U << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u64 words[CMT_PMON_WORDS];
	struct cmt_pmon_global global;
	struct cmt_box box, last;

	memset(&last, 0, sizeof(last));
	for (; size >= sizeof(words); data += sizeof(words), size -= sizeof(words)) {
		memcpy(words, data, sizeof(words));
		if (!cmt_pmon_global(&global, words, TABLE_BYTES))
			FUZZ_CHECK(global.stride >= CMT_PMON_ENTRY_BYTES &&
				   (u64)global.stride * global.units + sizeof(words) <=
					   TABLE_BYTES);
		if (cmt_pmon_is_unused(words) || cmt_pmon_box(&box, words, ADDRESS_END))
			continue;
		FUZZ_CHECK(box.counters && box.counters <= CMT_PMON_COUNTERS_MAX);
		FUZZ_CHECK(box.bits && box.bits <= 64);
		FUZZ_CHECK(box.access != CMT_BOX_MMIO ||
			   box.ctl + cmt_pmon_extent(&box) <= ADDRESS_END);
		cmt_pmon_alike(&box, &last);
		last = box;
	}
	return 0;
}
