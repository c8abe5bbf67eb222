/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of cmtctl. */
#ifndef TOOLS_CMTCTL_H
#define TOOLS_CMTCTL_H

#include <cmt/cmt.h>
#include <stdbool.h>

#include "options.h"

struct ctl_config {
	const char *device;	/* NULL: the default */
	bool json;
};

extern const struct program cmtctl_program;

struct ctl {
	struct cmt_device *dev;
	bool json;
	const char *operand;	/* NULL: none was given */
};

/*
 * Each does its work on an open device and returns 0, or -errno with @what
 * saying what failed.  Output goes to standard output.
 */
int ctl_info(const struct ctl *ctl, const char **what);
int ctl_rmids(const struct ctl *ctl, const char **what);
int ctl_stats(const struct ctl *ctl, const char **what);
int ctl_interval(const struct ctl *ctl, const char **what);

#endif
