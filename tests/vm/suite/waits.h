/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What PERF records say that tasks waited, and what the kernel says. */
#ifndef CMT_SUITE_WAITS_H
#define CMT_SUITE_WAITS_H

#include <stdint.h>
#include <sys/types.h>

#include "dev.h"

/* PERF records of an owner, added up */
struct perfs {
	uint64_t ran_ns;
	uint64_t waited_ns;
	uint64_t first_ns;	/* time of the first record with a wait; 0: none */
	uint32_t records;
	uint32_t without;	/* records without CMT_F_WAITED */
	uint32_t quotas;	/* records with CMT_F_WAIT_QUOTA */
};

/* Of the time after @from and up to @to, of one CPU or of all (-1). */
struct perfs perfs_of(const struct log *log, const struct cmt_record *owner, int cpu,
		      uint64_t from, uint64_t to);

/* Ask for these values, CMT_F_WAITED | ... */
void waits_ask(const struct dev *dev, uint32_t counters);

/* Make container @i, which is an owner. */
struct cmt_record waits_container(const struct dev *dev, unsigned int i);

/* Containers have weights (cpu.weight) and quotas (cpu.max). */
void groups_limit_cpu(void);
/* Write a file of container @i. */
void group_set(unsigned int i, const char *file, const char *value);
/* Time in which container @i was out of its quota, of all CPUs together */
uint64_t group_throttled_us(unsigned int i);

/* What a task has waited, by the kernel, ns; @path: its file schedstat. */
uint64_t task_waited(const char *path);
/* What the tasks of a process have waited, by the kernel, ns. */
uint64_t process_waited(pid_t pid);

/* A process of container @i, in which @run does not return. */
pid_t waits_fork(unsigned int i, void (*run)(void));

/* For ever; the second one in two threads. */
void waits_spin(void);
void waits_spin_twice(void);

#endif
