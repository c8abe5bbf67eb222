/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of cmtstat, as far as other rooms than its own read them */
#ifndef TOOLS_CONFIG_H
#define TOOLS_CONFIG_H

#include "common/options.h"
#include "common/origin.h"
#include "common/rows.h"
#include "replay/replay.h"

enum output {
	OUTPUT_TABLE,
	OUTPUT_JSON,
	OUTPUT_CSV,
};

struct config {
	enum view by;
	bool by_given;		/* else the scope may know better */
	bool expand;
	enum output output;
	enum sort_key sort;
	bool reverse;		/* kept: on the full screen */
	bool plain;
	bool no_color;
	bool color_off;		/* kept: the screen can switch it on again */
	bool light;		/* readings on demand */
	bool why;		/* --why: print verdicts */
	bool marks;		/* the same, in tables */
	bool slower;		/* slowdowns also in JSON and CSV */
	uint32_t counters;	/* CMT_F_CYCLES | ..., CMT_F_CHANNEL: to be counted */
	uint64_t peak_bytes;	/* that the memory of an L3 domain moves in a second; 0: not known */
	uint64_t interval_ns;
	bool interval_given;
	uint64_t count;		/* intervals; 0: no end */
	uint64_t top;		/* rows; 0: all */
	const char *filter;	/* NULL: all */
	const char *device;	/* NULL: the default */
	enum origin origin;
	/* Of a recording: */
	struct replay_time from, to;
	double speed;		/* as of struct replay */
	bool speed_given;
};

#endif
