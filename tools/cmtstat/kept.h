/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a full screen: those of the command line, and what is kept. */
#ifndef TOOLS_KEPT_H
#define TOOLS_KEPT_H

#include "config/config.h"

struct kept {
	struct config config;
	char *told;		/* what is wrong with the file; NULL: nothing was read */
};

/*
 * Read what is kept.  What is wrong with it is told on standard error.  Returns @config
 * with it, which is in @kept.
 */
const struct config *kept_apply(struct kept *kept, const struct config *config,
				const struct cmt_info *info);

/* The same again: the screen hid it. */
void kept_tell(const struct kept *kept);
void kept_free(struct kept *kept);

#endif
