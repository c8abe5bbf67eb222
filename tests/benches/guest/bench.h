/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's part of tests/bench.  It runs on one virtual CPU whose clock
 * advances by one nanosecond per instruction, so that all times in it are
 * instruction counts, the same at every run.
 *
 *	count.c		the clock, the scheduler, medians, what is printed
 *	module.c	the module: load, unload, /dev/cmt
 *	ring.c		module/ring.c, compiled for user space
 *	sched.c		context switches, fork and exit
 *	sample.c	ticks and samples
 *	resctrl.c	the same readings by the kernel's own interface
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/cmt.h"

/* Says why on stderr and ends the program with 1. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The same, with errno. */
void die_errno(const char *what) __attribute__((noreturn));

/* One line for tests/bench: "figure KEY VALUE" */
void figure(const char *key, double value);
/* "text KEY TEXT" */
void text(const char *key, const char *value);

/* Sorts @values. */
double median(double *values, size_t n);

/* Instructions since the guest was started. */
static inline uint64_t instructions(void)
{
	return __builtin_ia32_rdtsc();
}

/* Executes 2 * @n instructions, n > 0. */
static inline void spin(uint64_t n)
{
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
}

/* Ends the program unless the clock counts instructions. */
void check_clock(void);

/*
 * Before all that the guest does besides; a stock kernel tests its ciphers or
 * frees memory for seconds after its boot.  What is forked then has the same
 * priority.
 */
void real_time(bool on);

void module_load(const char *params);
void module_unload(void);

/* /dev/cmt, open for writing; module_unload() needs it closed. */
int device_open(void);
void device_info(int fd, struct cmt_info *info);
void device_stats(int fd, struct cmt_stats *stats);
void device_interval(int fd, uint32_t interval_ns);

void bench_ring(void);
/* Loads and unloads the module; it is not loaded afterwards. */
void bench_sched(const char *params);
/* With the module loaded. */
void bench_sample(void);
/* With the module not loaded. */
void bench_resctrl(void);

#endif
