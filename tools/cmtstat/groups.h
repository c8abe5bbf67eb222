/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of resctrl are what is read: less can be shown than of the module. */
#ifndef TOOLS_GROUPS_H
#define TOOLS_GROUPS_H

#include <cmt/cmt.h>

#include "cmtstat.h"

/* An interval has two readings at the least. */
#define GROUPS_INTERVAL_MIN_NS (2 * (uint64_t)CMT_RESCTRL_INTERVAL_MIN_NS)

/*
 * Of @info, can what was asked for be shown?  Returns 0, or it is said why not, and
 * EXIT_RUNTIME.  @live: no recording is read.
 */
int groups_check(const struct config *config, const struct cmt_info *info, bool live);

/* The same of a view. */
bool groups_have(enum view by);

#endif
