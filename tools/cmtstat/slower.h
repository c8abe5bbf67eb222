/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much slower each container is, because of which neighbours. */
#ifndef TOOLS_SLOWER_H
#define TOOLS_SLOWER_H

#include "why_names.h"

#define SLOWER_PARTS	6U
#define SLOWER_MOST	64U
#define SLOWER_RESOURCES (CMT_SLOWDOWN_MEMORY + 1)
#define SLOWER_LEAST	0.01	/* less is not told */

struct slower_part {
	uint64_t by_id;
	struct why_name by;
	uint32_t domain;
	enum cmt_slowdown_resource resource;
	double share;
};

struct slower {
	uint64_t id;
	struct why_name name;
	double share, low, high;	/* because of all others together */
	double by_resource[SLOWER_RESOURCES];
	uint32_t nr_parts;
	struct slower_part parts[SLOWER_PARTS];	/* the greatest first */
};

/* The slowest first, without names.  Returns their number, or -ENOMEM. */
int slower_list(const struct cmt_culprit *culprit, struct slower list[SLOWER_MOST]);

/* "CPU", "cache" or "memory" */
const char *slower_resource(enum cmt_slowdown_resource resource);

#endif
