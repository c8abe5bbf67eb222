/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules by which a flight recorder saves.  Pure. */
#ifndef TOOLS_RULE_H
#define TOOLS_RULE_H

#include <cmt/usage.h>

#include "common/rows.h"
#include "why/slower.h"

#define RULES 8U

struct rule {
	const char *text;	/* as it was given */
	enum {
		RULE_CULPRIT,		/* a verdict with a suspect */
		RULE_OCCUPANCY,		/* bytes at the end of a second */
		RULE_BANDWIDTH,		/* bytes a second, total */
		RULE_SLOWER,		/* share of its time that neighbours cost it */
	} kind;
	char glob[CONTAINER_LABEL_LEN];	/* names of containers, as --filter */
	bool below;
	double limit;
	bool holds;		/* it did with the last frame: it fires when it begins to */
	uint64_t holder;	/* cgroup of the container that was beyond last */
};

/*
 * Parse "culprit", or "occupancy GLOB > 20M", "bandwidth GLOB < 1G", "slower GLOB > 10%".
 * Returns NULL, or the error in @text.
 */
const char *rule_parse(const char *text, struct rule *rule);

/* Does the rule begin to hold with @frame, which is by container? */
bool rule_fires(struct rule *rule, const struct cmt_usage_frame *frame);

/* The same of RULE_SLOWER, with the names of victims. */
bool rule_fires_slower(struct rule *rule, const struct slowers *slowers);

#endif
