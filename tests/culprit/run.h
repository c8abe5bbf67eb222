/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scenario run once, and what readers saw of it. */
#ifndef CULPRIT_RUN_H
#define CULPRIT_RUN_H

#include <stddef.h>

#include "scenario.h"

struct trace {
	uint32_t nr_runners;
	uint32_t length_ms;
	double harm[SCENARIO_PHASES];	/* part of the victim's work, not done */
	struct reading readings[];	/* of ms, then runner */
};

/* NULL: no memory. */
struct trace *trace_make(const struct scenario *scenario);

static inline const struct reading *trace_at(const struct trace *trace,
					     uint32_t ms)
{
	return &trace->readings[(size_t)ms * trace->nr_runners];
}

#endif
