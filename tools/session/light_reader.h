/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readings on demand as the records of a usage: no ring is mapped, and no sampling
 * runs.  Values that only ticks have are missing: CPUs, counters, RMID 0.
 */
#ifndef TOOLS_LIGHT_READER_H
#define TOOLS_LIGHT_READER_H

#include <cmt/cmt.h>
#include <stdint.h>

#define LIGHT_DOMAINS 64	/* the least interval of libcmt */

#define LIGHT_MIN_NS 50000000ULL
#define LIGHT_MAX_NS 1800000000000ULL

struct light_reader {
	struct cmt_device *dev;
	struct cmt_usage *usage;
	struct cmt_containers *containers;	/* that the usage has names from */
	uint64_t interval_ns;
	uint64_t read_ns;	/* CLOCK_MONOTONIC of the next reading, */
	uint64_t due_ns;	/* and of that which ends the interval */
	uint32_t nr_domains;
	uint32_t domains[LIGHT_DOMAINS];
	uint32_t *bases[LIGHT_DOMAINS];		/* by RMID: cmt_record.base */
};

/* @dev must outlive it.  Returns 0 or -errno; light_reader_close() in any case. */
int light_reader_open(struct light_reader *light, struct cmt_device *dev,
		      const struct cmt_usage_opts *opts);
void light_reader_close(struct light_reader *light);

/* As source_pump(), with the usage's frame. */
int light_reader_pump(struct light_reader *light, const struct cmt_usage_frame **frame);

uint64_t light_reader_wait_ns(const struct light_reader *light);

#endif
