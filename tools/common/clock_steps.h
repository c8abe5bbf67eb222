/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock as it was at a time: CLOCK_REALTIME may have been set since. */
#ifndef TOOLS_CLOCK_STEPS_H
#define TOOLS_CLOCK_STEPS_H

#include <stdint.h>

/* From @from_ns on, CLOCK_REALTIME less CLOCK_MONOTONIC is @offset_ns. */
struct clock_step {
	uint64_t from_ns;
	int64_t offset_ns;
};

struct clock_steps {
	struct clock_step *list;	/* by time */
	uint32_t nr;		/* 0: the clock is not known */
};

/* Add a later one, if it differs from the last one by more than a drift.  Returns 0 or -ENOMEM. */
int clock_steps_add(struct clock_steps *steps, uint64_t from_ns, int64_t offset_ns);

/* The offset at @ns; before the first step that of the first one.  Not without a step. */
int64_t clock_steps_at(const struct clock_steps *steps, uint64_t ns);
void clock_steps_free(struct clock_steps *steps);

#endif
