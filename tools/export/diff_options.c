// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff.h"

#include <errno.h>
#include <string.h>


static int set_json(void *config, const char *value)
{
	(void)value;
	((struct diff_config *)config)->json = true;
	return 0;
}

static int set_sort(void *config, const char *value)
{
	static const char *const names[NR_DIFF_SORTS] = {
		[DIFF_OCCUPANCY] = "occupancy", [DIFF_BANDWIDTH] = "total",
		[DIFF_MISSES] = "misses", [DIFF_CPI] = "cpi",
	};

	for (int i = 0; i < NR_DIFF_SORTS; i++) {
		if (strcmp(value, names[i]))
			continue;
		((struct diff_config *)config)->sort = (enum diff_sort)i;
		return 0;
	}
	return -EINVAL;
}

static int set_top(void *config, const char *value)
{
	return parse_u64(value, 1, UINT32_MAX, &((struct diff_config *)config)->top);
}

static const struct option_spec options[] = {
	{ 's', "sort", "KEY", "by the change of: occupancy (default), total, misses, cpi",
	  "one of occupancy, total, misses, cpi", set_sort, "occupancy total misses cpi" },
	{ 't', "top", "N", "show the first N containers only",
	  "a whole number of at least 1", set_top, NULL },
	{ 'j', "json", NULL, "print JSON: an object for each recording, then for each container",
	  NULL, set_json, NULL },
	{ 'h', "help", NULL, "print this and exit", NULL, NULL, NULL },
	{ 'V', "version", NULL, "print the version and exit", NULL, NULL, NULL },
	{ .name = NULL },
};

const struct program diff_program = {
	.name = "cmtstat diff",
	.synopsis = "[options] A B",
	.about = "Show which containers changed from recording A to recording B, and by how much.\n",
	.options = options,
	.more = "> before a value: a lower bound; - is not measured; = no change that the counters resolve.\n",
};
