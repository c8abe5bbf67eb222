/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source of readings: the cmt module, or resctrl where there is no module */
#ifndef TOOLS_ORIGIN_H
#define TOOLS_ORIGIN_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum origin {
	ORIGIN_AUTO,		/* the module; resctrl where it is mounted and the module
				 * is not loaded
				 */
	ORIGIN_DEVICE,
	ORIGIN_RESCTRL,
};

/* The words of --source. */
#define ORIGIN_WORDS "device resctrl"
#define ORIGIN_HELP "read the cmt module (device) or resctrl; default: the available one"
#define ORIGIN_WANTED "device or resctrl"

/* Values that a table of resctrl's groups does not have */
#define ORIGIN_NOT_SHOWN \
	"milliseconds, verdicts, processes, CPUs, counters of the processor, memory channels"

struct origin_opts {
	enum origin origin;
	const char *path;	/* of the device, or of resctrl's directory; NULL: the usual */
	uint64_t interval_ns;	/* of what is shown: resctrl is read twice in it, and
				 * ten times a second at least; 0: that often
				 */
};

/* Returns 0 or -EINVAL. */
int origin_parse(const char *name, enum origin *origin);

/* Returns 0, or -errno of cmt_device_open() or cmt_resctrl_open(). */
int origin_open(struct cmt_device **dev, const struct origin_opts *opts);

/* Print "program: PATH: why", and the remedy. */
void origin_error(FILE *out, const char *program, const struct origin_opts *opts, int err);

static inline bool origin_is_resctrl(const struct cmt_info *info)
{
	return info->backend == CMT_BACKEND_RESCTRL;
}

#endif
