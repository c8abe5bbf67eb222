// SPDX-License-Identifier: GPL-2.0-or-later
/* The full screen of a session, on a terminal that is made up: what is taken, kept and drawn. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "board/live.h"
#include "board/terminal.h"
#include "unit.h"

#define SECOND 1000000000ULL
#define COLUMNS 80
#define LINES 24

static struct live live;
static struct cmt_info info;
static struct row row, flat[1];
static struct row_part parts[2];
static bool foreground;
static const char *keys;
static char text[LINES * (COLUMNS + 1) + 1];

/* In place of terminal.c */
bool terminal_entered(void)
{
	return foreground;
}

bool terminal_has_attributes(void)
{
	return false;
}

void terminal_size(unsigned int *width, unsigned int *height)
{
	*width = COLUMNS;
	*height = LINES;
}

enum terminal_event terminal_read(struct terminal_input *input)
{
	input->key = *keys;
	return *keys++ ? TERMINAL_KEY : TERMINAL_NOTHING;
}

void terminal_keys_end(void)
{
}

int terminal_draw(const struct canvas *canvas, bool shown)
{
	char line[COLUMNS + 1];

	ck_assert(foreground);
	(void)shown;
	text[0] = '\0';
	for (unsigned int i = 0; i < LINES; i++) {
		canvas_text(canvas, i, false, line, sizeof(line));
		strcat(strcat(text, line), "\n");
	}
	return 0;
}

static void begin(void)
{
	static const struct config config = { .by = VIEW_CONTAINER, .interval_ns = SECOND };

	foreground = true;
	live_begin(&live, &config, VIEW_CONTAINER);
}

/* The report of second @second: a container with a part in each of two caches. */
static void make_report(struct report *report, uint64_t second)
{
	info = (struct cmt_info){
		.backend = CMT_BACKEND_HARDWARE, .vendor = CMT_VENDOR_INTEL,
		.events = CMT_F_OCCUPANCY, .l3_bytes = 32 << 20,
	};
	row = (struct row){
		.seen = true, .owner = CMT_OWNER_CGROUP, .cgroup_id = 7,
		.l3_bytes = 64 << 20, .occupancy = { true, false, 2 << 20 }, .nr_parts = 2,
	};
	for (uint32_t i = 0; i < 2; i++)
		parts[i] = (struct row_part){
			.domain = i, .l3_bytes = 32 << 20,
			.occupancy = { true, false, 1 << 20 },
		};
	*report = (struct report){
		.info = &info, .scope = CMT_SCOPE_CONTAINER,
		.frame = { .by = VIEW_CONTAINER, .start_ns = second * SECOND,
			   .end_ns = second * SECOND + SECOND - 1, .elapsed_ns = SECOND,
			   .interval_ns = 1000000, .nr_domains = 2, .nr_rows = 1, .rows = &row,
			   .flat = flat, .parts = parts, .nr_parts = 2 },
	};
}

/* A cache without readings has the last of its curve for a minute, and then none. */
START_TEST(test_live_has_curves_of_caches_that_are_kept)
{
	struct report report;
	uint64_t second;

	begin();
	for (second = 1; second < 70; second++) {
		const struct cache *cache = &report.caches.list[2];

		make_report(&report, second);
		parts[1].occupancy.known = second < 5;
		ck_assert(live_take(&live, &report));
		ck_assert_uint_eq(report.caches.nr, 3);
		ck_assert_ptr_nonnull(report.caches.list[1].trail);
		ck_assert_int_eq(!!cache->trail, second < 4 + TRAIL_POINTS);
		if (cache->trail && second > 4)
			ck_assert(isnan(trail_at(cache->trail, report.frame.end_ns, 0)));
	}
	live_end(&live);
}
END_TEST

/* What came while the screen was frozen is drawn with the key that ends that. */
START_TEST(test_live_goes_on_with_the_newest)
{
	struct report report;

	begin();
	make_report(&report, 1);
	ck_assert(live_take(&live, &report));
	keys = " ";
	ck_assert_int_eq(live_keys(&live, &report), BOARD_DRAW);
	ck_assert_int_eq(live_draw(&live, &report), 0);
	ck_assert_ptr_nonnull(strstr(text, "FROZEN"));
	ck_assert_ptr_nonnull(strstr(text, " 2.0"));
	make_report(&report, 2);
	row.occupancy.value = 3 << 20;
	ck_assert(!live_take(&live, &report));
	ck_assert_int_eq(live_draw(&live, &report), 0);
	ck_assert_ptr_nonnull(strstr(text, " 2.0"));
	keys = " ";
	ck_assert_int_eq(live_keys(&live, &report), BOARD_DRAW);
	ck_assert_int_eq(live_draw(&live, &report), 0);
	ck_assert_ptr_null(strstr(text, "FROZEN"));
	ck_assert_ptr_nonnull(strstr(text, " 3.0"));
	ck_assert_ptr_nonnull(row.trail);
	live_end(&live);
}
END_TEST

START_TEST(test_live_draws_nothing_in_the_background)
{
	struct report report;

	begin();
	make_report(&report, 1);
	ck_assert(live_take(&live, &report));
	ck_assert_int_eq(live_draw(&live, &report), 0);
	ck_assert_uint_eq(live_wait_ns(&live), UINT64_MAX);
	ck_assert_int_eq(live_update(&live, &report), 0);
	ck_assert_uint_lt(live_wait_ns(&live), SECOND);
	foreground = false;
	ck_assert_uint_eq(live_wait_ns(&live), UINT64_MAX);
	foreground = true;
	ck_assert_uint_lt(live_wait_ns(&live), SECOND);
	live_end(&live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("live");

	UNIT_CASE(suite, test_live_has_curves_of_caches_that_are_kept);
	UNIT_CASE(suite, test_live_goes_on_with_the_newest);
	UNIT_CASE(suite, test_live_draws_nothing_in_the_background);
	return unit_run(suite);
}
