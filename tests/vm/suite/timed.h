/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of perf events, with PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING. */
#ifndef CMT_SUITE_TIMED_H
#define CMT_SUITE_TIMED_H

#include <stdint.h>
#include <unistd.h>

#include "suite.h"

/* A count with the times in which the event was enabled and ran */
struct timed {
	uint64_t bytes, enabled, running;
};

static inline struct timed timed(int fd)
{
	struct timed t;

	CHECK(read(fd, &t, sizeof(t)) == sizeof(t), "read: %m");
	return t;
}

#endif
