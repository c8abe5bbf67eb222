/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the full screen that are kept, as lines "name = value".  Pure. */
#ifndef TOOLS_SETTINGS_H
#define TOOLS_SETTINGS_H

#include <stdio.h>

#include "config/config.h"

enum setting {
	SETTING_BY,
	SETTING_SORT,
	SETTING_REVERSE,
	SETTING_INTERVAL,
	SETTING_EXPAND,
	SETTING_COLOR,
	NR_SETTINGS,
};

struct settings {
	uint32_t given;		/* 1 << enum setting; others have no meaning */
	enum view by;
	enum sort_key sort;
	bool reverse, expand, color;
	uint64_t interval_ns;
};

#define SETTING_LEN 32		/* of a value as text */

/* As in the file */
const char *setting_name(enum setting setting);
const char *setting_text(char buf[SETTING_LEN], const struct settings *settings,
			 enum setting setting);

#define MISTAKES_TOLD 3U
#define MISTAKE_LEN 160

/* What is wrong in a text: such lines are ignored. */
struct mistakes {
	unsigned int nr;	/* all, of which the first have a text, escaped: */
	char told[MISTAKES_TOLD][MISTAKE_LEN];	/* "3: sort: one of ..." */
};

void settings_parse(struct settings *settings, const char *text, size_t len,
		    struct mistakes *mistakes);

/*
 * Print @text with the given settings in the place of theirs, or else behind all: other
 * lines stay as they are.
 */
void settings_print(FILE *out, const char *text, size_t len,
		    const struct settings *settings);

/*
 * Into @config: what is given, what the command line did not set, and what the source
 * has.  @groups: it is resctrl.
 */
void settings_apply(const struct settings *settings, struct config *config, bool groups);

#endif
