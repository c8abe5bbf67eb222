// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock_steps.h"

#include <errno.h>
#include <stdlib.h>

#define STEP_NS 1000000ULL	/* less is drift of the clock */

/* Two clocks drift apart a little all the time. */
static int is_drift(const struct clock_steps *steps, int64_t offset_ns)
{
	uint64_t step = (uint64_t)offset_ns - (uint64_t)steps->list[steps->nr - 1].offset_ns;

	return step < STEP_NS || -step < STEP_NS;
}

int clock_steps_add(struct clock_steps *steps, uint64_t from_ns, int64_t offset_ns)
{
	struct clock_step *list;

	if (steps->nr && is_drift(steps, offset_ns))
		return 0;
	list = reallocarray(steps->list, steps->nr + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	steps->list = list;
	list[steps->nr++] = (struct clock_step){ from_ns, offset_ns };
	return 0;
}

int64_t clock_steps_at(const struct clock_steps *steps, uint64_t ns)
{
	uint32_t i = steps->nr - 1;

	while (i && steps->list[i].from_ns > ns)
		i--;
	return steps->list[i].offset_ns;
}

void clock_steps_free(struct clock_steps *steps)
{
	free(steps->list);
	*steps = (struct clock_steps){ 0 };
}
