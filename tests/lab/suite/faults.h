/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults planted under a worker that walks, and what the records say of them. */
#ifndef CMT_LAB_FAULTS_H
#define CMT_LAB_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "bench.h"

struct verdicts {
	size_t values;		/* that had their flag */
	size_t missing;		/* that did not, with a reason given */
	size_t bad;		/* had the flag, and are not what was counted */
	size_t silent;		/* have neither flag nor reason */
};

/* What came of some faults. */
struct planting {
	struct dev dev;
	struct worker *worker;
	struct recorder recorder;
	struct readings readings;
	struct cmt_stats stats;
	uint64_t faults;
};

/* A worker walks and is recorded; @p is zero. */
void plant_begin(struct planting *p, uint32_t interval_ns);
/* @least faults, @burst in a row of each @period occasions; then none. */
void plant_more(struct planting *p, enum lab_fault fault, unsigned int burst,
		unsigned int period, uint64_t least);
/* All is recorded. */
void plant_stop(struct planting *p);
void plant_end(struct planting *p);

/* Every SAMPLE against the reading that it was made of. */
struct verdicts judge_all(const struct log *log, const struct readings *readings);

/* There are values, none is bad, and none is missing without a reason. */
struct verdicts check_planted(const struct planting *p);

#endif
