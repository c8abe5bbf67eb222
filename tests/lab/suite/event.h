/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of perf_event_open(2) for the calling process, or for another one. */
#ifndef CMT_LAB_EVENT_H
#define CMT_LAB_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define COUNTERS_MAX	16

enum { INSNS = PERF_COUNT_HW_INSTRUCTIONS,
       CYCLES = PERF_COUNT_HW_CPU_CYCLES,
       REF_CYCLES = PERF_COUNT_HW_REF_CPU_CYCLES,
       REFS = PERF_COUNT_HW_CACHE_REFERENCES,
       MISSES = PERF_COUNT_HW_CACHE_MISSES };

enum { USER = 1, PINNED = 2 };

struct counts {
	uint64_t nr;
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t values[COUNTERS_MAX];
};

/* Open an event, disabled; or add one to a group.  -1: see errno. */
int event_try(unsigned int config, unsigned int flags, int group);
/* Open an event; fails if that is not possible. */
int event_open(unsigned int config, unsigned int flags, int group);
/* The same for another process, enabled. */
int event_open_of(pid_t pid, unsigned int config, int group);
/* An event of user mode, with an empty sample for every @period. */
int event_sample(unsigned int config, uint64_t period);
void event_enable(int fd);
void event_disable(int fd);

/* False: a pinned event is in error state, because no counter was free. */
bool event_read(int fd, struct counts *counts);
/* For a group that was scheduled all the time. */
void event_read_all(int fd, struct counts *counts);

/* Enable an event, and have this process read it with RDPMC. */
struct perf_event_mmap_page *event_map(int fd);
/* Executes the same instructions each time.  False: a context switch came between. */
bool event_rdpmc(const volatile struct perf_event_mmap_page *page,
		 uint64_t *value);

#endif
