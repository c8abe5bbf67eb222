/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults planted under a walking worker, and the resulting records. */
#ifndef CMT_LAB_FAULTS_H
#define CMT_LAB_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "bench.h"

struct verdicts {
	size_t values;		/* values with their flag */
	size_t missing;		/* values without their flag, with a reason */
	size_t bad;		/* values with a flag that are not the counted values */
	size_t silent;		/* values with neither flag nor reason */
};

/* The results of some faults. */
struct planting {
	struct dev dev;
	struct worker *worker;
	struct recorder recorder;
	struct readings readings;
	struct cmt_stats stats;
	uint64_t faults;
};

/* Start and record a worker; @p is zero. */
void plant_begin(struct planting *p, uint32_t interval_ns);
/* Plant @least faults, @burst in a row at each @period occasions; then none. */
void plant_more(struct planting *p, enum lab_fault fault, unsigned int burst,
		unsigned int period, uint64_t least);
/* End the recording. */
void plant_stop(struct planting *p);
void plant_end(struct planting *p);

/* Compare every SAMPLE with its reading. */
struct verdicts judge_all(const struct log *log, const struct readings *readings);

/* There are values, none is bad, and none is missing without a reason. */
struct verdicts check_planted(const struct planting *p);

#endif
