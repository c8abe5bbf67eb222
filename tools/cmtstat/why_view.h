/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of --why, as text and as JSON.  Pure. */
#ifndef TOOLS_WHY_VIEW_H
#define TOOLS_WHY_VIEW_H

#include <stdio.h>

#include "slower.h"

/*
 * "lost cache to": before the first suspect, or a sentence for kinds without suspects
 */
const char *why_what(const struct cmt_culprit_verdict *verdict);

/* The confidence.  Verdicts about CPU time come from the kernel, not from counters. */
#define WHY_SURE_LEN 80
const char *why_sure(char buf[WHY_SURE_LEN],
		     const struct cmt_culprit_verdict *verdict);

/* Of the whole run. */
struct why_state {
	bool json;
	bool emulated;
	int64_t real_ns;	/* CLOCK_REALTIME less CLOCK_MONOTONIC */
	uint32_t sampling_ns;
	uint32_t owners;	/* that can be victims */
	char counters_reason[CMT_REASON_LEN];	/* why there are none; "": there are */
	/* why nothing is said of cache and memory, and of waiting; "": something is */
	char cache_reason[CMT_REASON_LEN + 1];
	char wait_reason[CMT_REASON_LEN];
};

/* All return 0 or -ENOMEM. */

/* The first lines: the method and its limits on this machine */
int why_view_begin(FILE *out, const struct why_state *state);

/* Are the baselines of all followed owners complete, or after a second of some? */
bool why_is_learned(const struct cmt_culprit_counts *counts);
int why_view_learned(FILE *out, const struct why_state *state,
		     const struct cmt_culprit_counts *counts);

int why_view_verdict(FILE *out, const struct why_state *state,
		     const struct cmt_culprit_verdict *verdict,
		     const struct why_names *names);

/* Who is slower now, also where nothing changes.  Not @counted: by CPU alone */
int why_view_slower(FILE *out, const struct why_state *state, const struct slower *list,
		    uint32_t n, bool counted);

/* The missing parts */
struct why_end {
	struct cmt_culprit_counts counts;
	uint64_t lost;		/* records */
};

int why_view_end(FILE *out, const struct why_state *state,
		 const struct why_end *end);

#endif
