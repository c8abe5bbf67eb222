/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's part of tests/bench.  The guest has one virtual CPU whose clock
 * advances by one nanosecond per instruction, so that all times in the guest
 * are instruction counts, the same at every run.
 *
 *	count.c		the clock, the scheduler, medians, output
 *	line.c		the line through points, or why there is none
 *	msr.c		MSR accesses, counted by the lab's processor
 *	module.c	the module: load, unload, /dev/cmt
 *	records.c	the records of CPU 0, from the mapped ring
 *	runners.c	processes that run when they are asked to
 *	ticks.c		one tick at a time, seen from outside and by its records
 *	ring.c		module/ring/writer.c, compiled for user space
 *	sched.c		context switches, fork and exit
 *	sample.c	the cost of a tick and of a sample
 *	second.c	the cost of a tick without samples, of another CPU
 *	channels.c	what reading the memory channels adds to a tick
 *	hot.c		200 RMIDs, 10 of them running, a budget for 30 samples
 *	longest.c	1,000 RMIDs: interrupts off, the owner lock
 *	resctrl.c	the same readings by the kernel's own interface
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/cmt.h"

/* Prints the reason to stderr and exits with 1. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The same, with errno. */
void die_errno(const char *what) __attribute__((noreturn));

/* One line for tests/bench: "figure KEY VALUE" */
void figure(const char *key, double value);
/* "text KEY TEXT" */
void text(const char *key, const char *value);
/* "missing KEY WHY": the figure is not measured */
void missing(const char *key, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Sorts @values. */
double median(double *values, size_t n);
/* The most frequent value.  Sorts @values. */
double most_frequent(double *values, size_t n);

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

/* CLOCK_MONOTONIC */
uint64_t now_ns(void);

/* Ends the program unless the clock counts instructions. */
void check_clock(void);

/*
 * Priority over all other work in the guest: a stock kernel tests its ciphers or frees
 * memory for seconds after its boot.  A process forked later has the same priority.
 */
void real_time(bool on);

/*
 * MSR accesses since the guest was started, of all CPUs: PQR_ASSOC, QM_EVTSEL and
 * QM_CTR, reads and writes together.  Reading the counts costs the guest a few
 * instructions and no MSR access.  With a processor that does not count, all are 0.
 */
struct msrs {
	double all;
	double monitoring;	/* of these: QM_EVTSEL and QM_CTR */
};

struct msrs msrs_now(void);
struct msrs msrs_since(const struct msrs *before);
/* Does the processor count MSR accesses?  True after the first one at least. */
bool msrs_counted(void);

void module_load(const char *params);
void module_unload(void);
/* Empty probes in place of the module's. */
void probe_load(void);
void probe_unload(void);

/* /dev/cmt, open for writing; module_unload() needs it closed. */
int device_open(void);
void device_info(int fd, struct cmt_info *info);
void device_stats(int fd, struct cmt_stats *stats);
void device_interval(int fd, uint32_t interval_ns);
/* Valid while @fd is open; exits if one of the counters is not counted. */
void device_counters(int fd, uint32_t counters);
/* Those that are read for @fd */
void device_values(int fd, uint32_t values);
/* @patterns NULL: the patterns stay. */
void device_scope(int fd, uint32_t scope, const char *patterns);
/* The number of owners that can still get an RMID. */
uint32_t device_room(int fd, const struct cmt_info *info);

/*
 * The RMID of the owner of this kind (a CMT_F_OWNER_* flag; 0: a process) and
 * id; CMT_RMID_NONE: it has none.
 */
uint32_t device_rmid_of(int fd, uint32_t flag, uint64_t id);
/* Asks for all owners and all pending ones, and drops the lists. */
void device_list(int fd);

/* The ring of a CPU.  Sampling runs from open to close. */
struct records {
	const struct cmt_ring_header *header;
	size_t bytes;
	uint64_t pos;
	uint32_t values;	/* CMT_F_*: those of a complete SAMPLE */
};

void records_open_of(struct records *records, int fd, const struct cmt_info *info,
		     unsigned int cpu);
/* Of CPU 0, which is the only one in most guests */
void records_open(struct records *records, int fd, const struct cmt_info *info);
void records_close(struct records *records);
/* All records so far are read. */
void records_drop(struct records *records);
/* The next record; false: all are read.  A lost one ends the program. */
bool records_next(struct records *records, struct cmt_record *record);

/* Processes that sleep until runners_wake(), run for a moment, and sleep. */
#define RUNNERS_MAX	1100

void runners_add(unsigned int up_to);
/* The first @n run; returns when all of them sleep again. */
void runners_wake(unsigned int n);
int runners_pid(unsigned int i);
void runners_end(void);

/* One tick of the module's. */
struct tick {
	double whole;		/* instructions of the interruption */
	double busy;		/* of these, by the module: busy_ns */
	struct msrs msrs;
	uint32_t read;		/* SAMPLE records */
	uint32_t complete;	/* of these, with the values that are expected, no others */
	uint32_t channels;	/* CHANNEL records with values */
	double cycles;		/* of these, with cycles; of idle ticks the median */
	double cycles_busy;	/* what each of these adds to busy, of idle ticks */
	uint32_t waiting;	/* as TICK says */
	uint32_t rmid;		/* as TICK says */
	uint64_t deferred;	/* readings put off in this tick */
	uint64_t missed;	/* ticks missed before this one */
};

/* Computes until the next tick is over.  Drops the records before that. */
void tick_await(struct records *records, int fd, struct tick *tick);

struct point {
	double x, y;
};

struct line {
	double at_0, slope;
	size_t n;		/* different x */
};

/* Fewer different x, or less between them, make no line. */
#define LINE_XS		3
#define LINE_SPREAD	12

/*
 * The line through the medians of y at every x.  NULL; or why there is none: too
 * few different x, or a median farther off the line than @tolerance of y and
 * @slack together, in which case @line is the best guess, and no figure.  Puts
 * the medians to the front of @points.
 */
const char *line_fit(struct point *points, size_t n, double tolerance,
		     double slack, struct line *line);

void bench_ring(void);
/* Loads and unloads the module; it is not loaded afterwards. */
void bench_sched(const char *params);
/* The same with and without three counters. */
void bench_counted(const char *params);

/*
 * The cost of a sample and of a tick without samples, in instructions.  Where they
 * are no figures because there is no line, they are a guess.
 */
struct costs {
	double sample, tick;
};

/* With the module loaded.  @suffix is put to the keys of the figures. */
struct costs bench_sample(const char *suffix);
/* Of samples with these values alone, CMT_F_* */
void bench_sample_of(const char *suffix, uint32_t values);
/*
 * A tick of a CPU that is not the first of its domain.  In a guest of two CPUs; loads and
 * unloads the module.
 */
void bench_second(const char *params, const char *suffix);
/*
 * A tick in which only RMID 0 is due, while a program asks for these counters: medians of what
 * it costs, and how many channels each of them read.  Loads and unloads the module, with
 * the parameters @params and @more.
 */
struct tick bench_idle_with(const char *params, const char *more, uint32_t counters);
/* Loads and unloads the module: with and without the memory channels. */
void bench_channels(const char *params);
/* Load and unload the module. */
void bench_hot(const char *params, const struct costs *costs);
void bench_longest(const char *params);
/* With the module not loaded. */
void bench_resctrl(void);

#endif
