/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The full screen of a session: from reports and keys to the terminal. */
#ifndef TOOLS_LIVE_H
#define TOOLS_LIVE_H

#include "board.h"
#include "config/config.h"
#include "frozen_report.h"

struct live {
	struct board board;
	struct history history;
	struct canvas canvas;
	struct frozen_report frozen;	/* the content of a frozen screen */
	bool held;
	uint64_t drawn_ns;	/* CLOCK_MONOTONIC, */
	bool due;		/* and something newer is to be drawn */
};

void live_begin(struct live *live, const struct config *config, enum view by);
void live_end(struct live *live);

/*
 * Take a report of a complete interval, or with @wanted_ns of an open one.  Returns
 * false: the screen is frozen, and does not show it.
 */
bool live_take(struct live *live, struct report *report);

/* Draw now.  @report: the last that was taken; NULL: none.  As terminal_draw(). */
int live_draw(struct live *live, const struct report *report);

/*
 * Draw, unless the last drawing was just before: then live_wait_ns() is the time until
 * the next one.
 */
int live_update(struct live *live, const struct report *report);

/* How long until live_update() draws; UINT64_MAX: it has nothing to, or is in the background. */
uint64_t live_wait_ns(const struct live *live);

/*
 * Handle keys.  @report: the newest, also while the screen is frozen; NULL: none.  It is taken
 * with the key that ends that.  After BOARD_REOPEN it is no longer valid.
 */
enum board_change live_keys(struct live *live, struct report *report);

/* The screen that stays on the terminal after the last interval */
const struct report *live_last(const struct live *live,
			       const struct report *report);

#endif
