/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of --why as JSON, one object a line.  All return 0 or -ENOMEM. */
#ifndef TOOLS_WHY_JSON_H
#define TOOLS_WHY_JSON_H

#include "why_view.h"

int why_json_begin(FILE *out, const struct why_state *state, uint32_t learn_ms);

int why_json_learned(FILE *out, const struct cmt_culprit_counts *counts);

int why_json_verdict(FILE *out, const struct why_state *state,
		     const struct cmt_culprit_verdict *verdict,
		     const struct why_names *names);

/* Of those that ran too little, too: what is not known is null. */
int why_json_slower(FILE *out, const struct slower *list, uint32_t n,
		    const struct why_little *little);

int why_json_incident(FILE *out, const struct why_state *state,
		      const struct why_incident *incident, bool is_event);
int why_json_end(FILE *out, const struct why_state *state,
		 const struct why_end *end);

#endif
