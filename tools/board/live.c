// SPDX-License-Identifier: GPL-2.0-or-later
#include "live.h"

#include <stdio.h>

#include "common/clock.h"
#include "settings_file.h"
#include "terminal.h"

#define DRAW_NS 40000000ULL	/* no eye sees more of intervals that are shorter */

void live_begin(struct live *live, const struct config *config, enum view by)
{
	*live = (struct live){
		.board = {
			.by = by, .light = config->light, .sort = config->sort,
			.reverse = config->reverse, .expand = config->expand,
			.color = !config->color_off, .color_allowed = terminal_has_attributes(),
			.filter = config->filter,
			.top_rows = (uint32_t)config->top,
			.interval_ns = config->interval_ns,
		},
	};
	board_begin(&live->board);
}

static void drop_hold(struct live *live)
{
	if (live->held)
		frozen_report_drop(&live->frozen);
	live->held = false;
}

void live_end(struct live *live)
{
	drop_hold(live);
	history_clear(&live->history);
	canvas_free(&live->canvas);
	board_end(&live->board);
}

bool live_take(struct live *live, struct report *report)
{
	if (live->board.frozen && live->held)
		return false;
	drop_hold(live);
	caches_set(&report->caches, &report->frame);
	/* the open interval has no complete second, and so no most */
	if (report->wanted_ns || report->frame.unread)
		return true;
	history_add_caches(&live->history, &report->caches, &report->frame);
	history_add(&live->history, &report->frame);
	return true;
}

int live_draw(struct live *live, const struct report *report)
{
	unsigned int width, height;
	int ret;

	terminal_size(&width, &height);
	ret = canvas_size(&live->canvas, width, height);
	if (ret)
		return ret;
	live->drawn_ns = clock_ns(CLOCK_MONOTONIC);
	live->due = false;
	board_draw(&live->board, live->held ? &live->frozen.report : report,
		   &live->canvas);
	return terminal_draw(&live->canvas, live->board.color);
}

int live_update(struct live *live, const struct report *report)
{
	if (clock_ns(CLOCK_MONOTONIC) - live->drawn_ns < DRAW_NS) {
		live->due = true;
		return 0;
	}
	return live_draw(live, report);
}

uint64_t live_wait_ns(const struct live *live)
{
	uint64_t since = clock_ns(CLOCK_MONOTONIC) - live->drawn_ns;

	if (!live->due || !terminal_entered())
		return UINT64_MAX;
	return since < DRAW_NS ? DRAW_NS - since : 0;
}

/* Without memory, or with nothing to keep, the screen goes on: with the newest report. */
static void freeze(struct live *live, struct report *report)
{
	/* a recording is stopped instead */
	if (live->board.replay)
		return;
	if (live->board.frozen && !live->held)
		live->held = report && !frozen_report_copy(&live->frozen, report);
	live->board.frozen &= live->held;
	if (live->held && !live->board.frozen)
		live_take(live, report);
}

/* Where that fails, what was changed holds for this screen only. */
static void keep_changed(struct live *live)
{
	struct settings settings;
	char told[SETTINGS_TOLD];

	if (!board_take_changed(&live->board, &settings))
		return;
	if (!settings_save(&settings, told) && live->board.quit)
		return;
	snprintf(live->board.notice, sizeof(live->board.notice), "%.*s",
		 (int)sizeof(live->board.notice) - 1, told);
}

enum board_change live_keys(struct live *live, struct report *report)
{
	enum board_change change, most = BOARD_NOTHING;
	struct terminal_input input;
	enum terminal_event event;
	unsigned int nr = 0;

	while (!live->board.quit && most != BOARD_REOPEN &&
	       (event = terminal_read(&input)) != TERMINAL_NOTHING) {
		change = event == TERMINAL_CLICK ?
			 board_click(&live->board, input.column, input.line) :
			 board_key(&live->board, input.key);
		freeze(live, report);
		most = change > most ? change : most;
		nr++;
	}
	if (!nr)
		terminal_keys_end();
	if (most == BOARD_REOPEN) {
		drop_hold(live);
		history_clear(&live->history);
	}
	keep_changed(live);
	return most;
}

const struct report *live_last(const struct live *live,
			       const struct report *report)
{
	return live->held ? &live->frozen.report : report;
}
