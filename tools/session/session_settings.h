/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a full screen: those of the command line, and what is kept. */
#ifndef TOOLS_SESSION_SETTINGS_H
#define TOOLS_SESSION_SETTINGS_H

#include "config/config.h"

struct session_settings {
	struct config config;
	char *told;		/* what is wrong with the file; NULL: nothing was read */
};

/*
 * Read what is kept.  What is wrong with it is told on standard error.  Returns @config
 * with it, which is in @settings.
 */
const struct config *
session_settings_apply(struct session_settings *settings, const struct config *config,
		       const struct cmt_info *info);

/* The same again: the screen hid it. */
void session_settings_tell(const struct session_settings *settings);
void session_settings_free(struct session_settings *settings);

#endif
