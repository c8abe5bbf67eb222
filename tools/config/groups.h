/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source is groups of resctrl, which have fewer values than the module. */
#ifndef TOOLS_GROUPS_H
#define TOOLS_GROUPS_H

#include <cmt/cmt.h>

#include "config.h"

/* An interval has two readings at the least. */
#define GROUPS_INTERVAL_MIN_NS (2 * (uint64_t)CMT_RESCTRL_INTERVAL_MIN_NS)

/*
 * Can the options be shown with @info? Returns 0, or EXIT_RUNTIME after a message.
 * @live: not a recording.
 */
int groups_check(const struct config *config, const struct cmt_info *info, bool live);

/* The same of a view. */
bool groups_have(enum view by);

/* Has the source the view?  @light: without ticks; @groups: it is resctrl. */
bool view_exists(enum view by, bool light, bool groups);

#endif
