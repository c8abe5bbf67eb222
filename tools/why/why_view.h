/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of --why, as text and as JSON.  Pure. */
#ifndef TOOLS_WHY_VIEW_H
#define TOOLS_WHY_VIEW_H

#include <stdio.h>

#include "common/clock_steps.h"
#include "common/format.h"
#include "remedy.h"
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
	struct clock_steps clock;
	uint32_t sampling_ns;
	uint32_t owners;	/* that can be victims */
	char counters_reason[CMT_REASON_LEN];	/* why there are none; "": there are */
	/* why nothing is said of cache and memory, and of waiting; "": something is */
	char cache_reason[CMT_REASON_LEN + 1];
	const char *cache_lacks;	/* with a cache_reason: "bandwidth is", what lacks */
	bool no_occupancy;	/* slowdowns are estimated from counters alone */
	char wait_reason[CMT_REASON_LEN];
	const struct remedy_machine *machine;	/* NULL: it is another one, or of another time */
	struct idle_domains *idle;			/* of that machine */
	uint64_t l3_bytes;	/* of one domain; 0: not known */
};

/* A name as it is shown, and a time of the day; "?": the clock is not known. */
#define WHY_LABEL_LEN (4 * CONTAINER_LABEL_LEN)
const char *why_label(char buf[WHY_LABEL_LEN], const struct why_name *name);
const char *why_time(char buf[FORMAT_LEN], const struct why_state *state, uint64_t ts_ns);

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

#define WHY_REMEDIES 4

/* An incident, with the names of its owners, and what can be done about those now */
struct why_incident {
	const struct cmt_incident *told;
	struct why_name victim;
	struct why_name parts[CMT_INCIDENT_PARTS];
	uint32_t nr_remedies;
	struct {
		uint32_t part;	/* whom it limits */
		struct remedy remedy;
	} remedies[WHY_REMEDIES];
};

/* One that began or ended; not @is_event: one that goes on, among all that is slower now */
int why_view_incident(FILE *out, const struct why_state *state,
		      const struct why_incident *incident, bool is_event);

/* Containers that ran too little to tell by cache and memory */
struct why_little {
	uint32_t nr;
	struct why_little_one {
		uint64_t id;
		struct why_name name;
	} list[SLOWER_LITTLE];
};

/*
 * Who is slower now, but for those of incidents.  Not @any: nobody is, with those.  @counts
 * has by which resources that is known.
 */
int why_view_slower(FILE *out, const struct why_state *state, const struct slower *list,
		    uint32_t n, bool any, const struct why_little *little,
		    const struct cmt_culprit_counts *counts);

/* The missing parts */
struct why_end {
	struct cmt_culprit_counts counts;
	uint64_t lost;		/* records, */
	bool at_least;		/* or more */
};

int why_view_end(FILE *out, const struct why_state *state,
		 const struct why_end *end);

#endif
