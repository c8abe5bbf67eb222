/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other tools beside cmt: a client of the part is asked for the same values in each state
 * of cmt, and loading cmt must not change them.  Built with the guest suite of tests/vm,
 * whose rules the tests follow.
 */
#ifndef CMT_BESIDE_H
#define CMT_BESIDE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../vm/suite/suite.h"

/* The lab's cache, by CMT_LAB's default */
#define CACHE_KIB	8192
/* 5 % of the cache; the kernel's own selftest allows 15 % of a working set and 2 MB. */
#define CACHE_NEAR_KIB	(CACHE_KIB / 20)
/* A line comes for a miss, and one that was written goes. */
#define BYTES_PER_MISS	128
#define MAX_VALUES	8
/* What the containers in groups of resctrl walk over, and 10 % of it: a process has its
 * code, its page tables and the kernel's work, too.
 */
#define WALK_KIB	1024
#define WALK_NEAR_KIB	(WALK_KIB / 10)
#define MAX_CONTAINERS	4

/* The states of cmt, and the columns of the table. */
enum state {
	WITHOUT,	/* not loaded */
	FIRST,		/* loaded before the tool started */
	FIRST_READ,	/* the same, while programs read /dev/cmt */
	LATER,		/* loaded while the tool ran */
	LATER_READ,	/* the same, while programs read /dev/cmt */
	UNLOADED,	/* loaded and unloaded while the tool ran */
	NR_STATES,
};

struct value {
	const char *name;	/* as the table shows it */
	/* NAN: the value without cmt.  A client may know a truth of the moment. */
	double truth;
	double allowed;		/* difference from the truth */
	int decimals;
	const char *less;	/* NULL, or why it may be less by decision, as the table says it */
};

struct answer {
	double is;		/* NAN: the tool says nothing */
	double least, most;	/* the truth in the time that the answer may be of */
};

struct answers {
	struct answer in[NR_STATES][MAX_VALUES];
	bool admitted[NR_STATES];	/* the tool said that its values were wrong */
};

/* A client runs twice: started without cmt, and started when cmt is loaded. */
struct client {
	void (*start)(void);
	/* Fill in an answer for each of @values; the truth is there already. */
	void (*ask)(enum state state, struct answer *answers);
	void (*stop)(void);
	/*
	 * NULL, or: does the tool itself say, after it was stopped, that its values were
	 * wrong?  Then they may be.
	 */
	bool (*admits)(void);
	bool all_readers;	/* those that ask for counters, too */
	struct value values[MAX_VALUES];
};

/* Ask a client in all states, print the rows, and fail if a value is not the same. */
void beside(const struct client *client);

/* The steps of it, for a client that is asked in another way */
void cmt_load(void);	/* returns when each container has an owner */
/* Returns when cmt, where it is loaded, follows a mount of resctrl: within a second. */
void cmt_follow(void);
void cmt_unload(void);
void readers_start(bool all);	/* returns when each of them has read */
void readers_stop(void);
void answers_begin(const struct client *client, struct answers *answers);
void judge(const struct client *client, struct answers *answers);

/* Every test begins with it: this process and its children are on CPU 0. */
void stage(void);
void stage_clear(void);		/* Walkers and containers end. */
unsigned int container_make(void);	/* Returns the number of its name. */

/*
 * A container with a process that goes through so many KiB on CPU 1, again and again, and
 * only while a client is asked.  Returns its pid.
 */
pid_t walker_add(unsigned int kib);
/* Returns when each has touched all of its memory since, so that the cache has it. */
void walkers_go(bool go);
/* The same with an empty cache: a line keeps the RMID that it was filled with. */
void walkers_refill(void);
void walkers_end(void);

/* By the model: what the first walker has in the cache, what all else has, and both */
double walker_kib(void);
double others_kib(void);
double cached_kib(void);

void kernel_module_load(const char *path);	/* one of the kernel's own; it stays */

/* Run a program with its output in a file, which is new. */
pid_t program_start(const char *output, const char *const *argv);
/* Send a signal, 0: none, and wait; returns the exit status, or -1. */
int program_end(pid_t pid, int signal);
size_t file_size(const char *path);

/*
 * A container that goes through so many KiB on CPU 1 so many times, and ends; in a group
 * of resctrl from its first instruction on, if @group is not NULL.
 */
void passes_run(unsigned int kib, unsigned int passes, const char *group);

/* The value in a file of a group of resctrl; NAN: there is none. */
double group_value(const char *group, const char *event);
/* Fill in the KiB of a group, when they are settled. */
void group_kib(struct answer *answer, const char *group);

/* What a tool shows, or what the model knows */
typedef double (*reading_fn)(void *arg);

/*
 * The last of the readings of a tool when three in turn are that near, or after 20 s: then
 * a value that never rests is compared all the same.  With @truth, the least and the most
 * of the last second: a tool shows a moment before.
 */
void settle(struct answer *answer, reading_fn tool, void *arg, double allowed,
	    double (*truth)(void));

extern const struct test beside_tests[];

void pqos_by_cpu(void);
void pqos_by_pid(void);
void pqos_by_msr(void);
void perf_all(void);
void perf_cpu(void);
void perf_pid(void);
void perf_cgroup(void);
void perf_counts(void);
void groups_of_tasks(void);
void groups_of_cpus(void);
void groups_nested(void);
void groups_root(void);
void bad_removed(void);
void bad_churn(void);
void bad_killed(void);
void bad_rmids(void);
void bad_options(void);
void selftest_cmt(void);
void selftest_mbm(void);

#endif
