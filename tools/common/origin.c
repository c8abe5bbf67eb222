// SPDX-License-Identifier: GPL-2.0-or-later
#include "origin.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "errors.h"
#include "format.h"

int origin_parse(const char *name, enum origin *origin)
{
	if (!strcmp(name, "device"))
		*origin = ORIGIN_DEVICE;
	else if (!strcmp(name, "resctrl"))
		*origin = ORIGIN_RESCTRL;
	else
		return -EINVAL;
	return 0;
}

#define READ_NS 100000000ULL

/* Between readings. */
static uint64_t read_ns(uint64_t interval_ns)
{
	uint64_t half = interval_ns / 2;

	if (!half || half > READ_NS)
		return READ_NS;
	return half < CMT_RESCTRL_INTERVAL_MIN_NS ? CMT_RESCTRL_INTERVAL_MIN_NS : half;
}

static int open_resctrl(struct cmt_device **dev, const struct origin_opts *opts)
{
	const struct cmt_resctrl_opts resctrl = {
		.sz = sizeof(resctrl), .interval_ns = read_ns(opts->interval_ns),
		.root = opts->path,
	};

	return cmt_resctrl_open(dev, &resctrl);
}

int origin_open(struct cmt_device **dev, const struct origin_opts *opts)
{
	int ret;

	if (opts->origin == ORIGIN_RESCTRL)
		return open_resctrl(dev, opts);
	ret = cmt_device_open(dev, opts->path, 0);
	if (ret != -ENOENT || opts->origin == ORIGIN_DEVICE || opts->path)
		return ret;
	return open_resctrl(dev, opts) ? ret : 0;
}

void origin_error(FILE *out, const char *program, const struct origin_opts *opts, int err)
{
	char path[4 * PATH_MAX];

	escape_text(path, sizeof(path), opts->path ? opts->path : CMT_RESCTRL_PATH, ESCAPE_ASCII);
	if (opts->origin == ORIGIN_RESCTRL)
		error_reason(out, program, path, CMT_CALL_RESCTRL, err, NULL);
	else
		error_open(out, program, opts->path, false, err);
}
