// SPDX-License-Identifier: GPL-2.0-or-later
/* The bounds of what cmtstat diff sums up */
#include <stdio.h>
#include <unistd.h>

#include "export/diff.h"
#include "recording.h"
#include "unit.h"

#define FIRST	40U	/* an RMID that no owner of made_begin() has, and those after it */
#define RMIDS	3U
#define MS	3000U

/* Samples of RMIDs whose owners' records were lost */
static void add_unknown(struct made *made, uint64_t ms)
{
	struct cmt_record tick[RMIDS + 1] = { 0 };

	for (uint32_t i = 0; i < RMIDS; i++) {
		tick[i] = (struct cmt_record){
			.ts = MADE_START + ms * MADE_MS + i, .type = CMT_REC_SAMPLE,
			.rmid = FIRST + i, .generation = 1, .flags = CMT_F_OCCUPANCY,
		};
		tick[i].sample.occupancy_bytes = 20 * MADE_UNIT;
	}
	tick[RMIDS] = (struct cmt_record){
		.ts = MADE_START + ms * MADE_MS + RMIDS, .type = CMT_REC_TICK, .rmid = FIRST,
		.generation = 1, .interval_ns = MADE_MS,
	};
	tick[RMIDS].tick.read = RMIDS;
	made_add(made, tick, RMIDS + 1);
}

/* They are one row, and each of their counters may be off. */
START_TEST(test_bounds_of_unknown_owners)
{
	static const struct diff_config config;
	struct diff diff = { .config = &config };
	struct span_opts opts = {
		.program = "test", .path = "made", .by = CMT_USAGE_BY_CONTAINER,
		.grain_ns = 1000 * MADE_MS,
	};
	struct diff_value value;
	struct diff_row *row;
	struct made made;
	char key[16];

	made_begin(&made, 0);
	for (uint64_t ms = 0; ms < MS; ms++)
		add_unknown(&made, ms);
	made_end(&made);
	opts.fd = made_file(made.bytes, made.nr_bytes);
	keys_init(&diff.rows, sizeof(struct diff_row));
	ck_assert_int_eq(span_open(&diff.spans[0], &opts), 0);
	close(opts.fd);
	ck_assert_int_eq(diff_add(&diff, 0), 0);
	snprintf(key, sizeof(key), "kind %u", CMT_USAGE_UNKNOWN);
	row = keys_find(&diff.rows, key);
	ck_assert_ptr_nonnull(row);
	value = diff_value(&diff, row, 0, DIFF_OCCUPANCY);
	ck_assert_double_eq_tol(value.value, 20.0 * RMIDS * MADE_UNIT, 1);
	ck_assert_double_eq_tol(value.lo, 19.0 * RMIDS * MADE_UNIT, 1);
	ck_assert_double_eq_tol(value.hi, 21.0 * RMIDS * MADE_UNIT, 1);
	span_close(&diff.spans[0]);
	keys_free(&diff.rows);
	made_free(&made);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff");

	UNIT_CASE(suite, test_bounds_of_unknown_owners);
	return unit_run(suite);
}
