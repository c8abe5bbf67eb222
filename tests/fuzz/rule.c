// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules of a flight recorder, with a frame to look at, and moments of a recording. */
#include "fuzz.h"
#include "recorder/rule.h"
#include "replay/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cmt_container container = { .sz = sizeof(container), .name = "web-1" };
	static struct cmt_usage_row row = {
		.owner = CMT_OWNER_CGROUP, .container = &container, .rmids = 1,
		.occupancy = { .known = true, .last_bytes = 1 << 20 },
		.total = { .known = true, .bytes = 1 << 20 },
	};
	const struct cmt_usage_frame frame = {
		.end_ns = 1000000000, .row_size = sizeof(row), .rows = &row, .nr_rows = 1,
	};
	char *text = fuzz_text(data, size);
	struct replay_time time;
	struct rule rule;

	if (!rule_parse(text, &rule)) {
		FUZZ_CHECK(strnlen(rule.glob, sizeof(rule.glob)) < sizeof(rule.glob));
		if (rule.kind != RULE_CULPRIT)
			rule_fires(&rule, &frame);
	}
	replay_time_parse(text, &time);
	free(text);
	return 0;
}
