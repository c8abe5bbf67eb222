/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nth allocation of a task fails: /proc/TASK/fail-nth */
#ifndef CMT_STORM_INJECT_H
#define CMT_STORM_INJECT_H

#include <stdbool.h>

#define INJECT_SITES	64

/* Functions, without duplicates */
struct sites {
	unsigned int nr;
	char names[INJECT_SITES][48];
};

/* The failed allocations of an operation, by the stacks in the kernel's log */
struct injected {
	unsigned int failed;	/* number of allocations, one failing in each try */
	unsigned int refused;	/* tries that ended with an error */
	unsigned int inside;	/* allocations below a function of the module */
	unsigned int silent;	/* allocations without a stack: with __GFP_NOWARN */
	struct sites module;	/* the innermost functions of the module */
	/* for allocations outside the module: functions below a system call */
	struct sites kernel;
};

void inject_begin(void);	/* Begin a test.  The module's file is read before. */
int inject_open(const char *task);	/* "thread-self", or "PID/task/PID" */
/* Let the nth allocation of the task from now on fail; 0: none. */
void inject_nth(int fd, unsigned int nth);
/*
 * End it; returns the number of allocations left until the failure, 0: an allocation
 * has failed.
 */
unsigned int inject_end(int fd);
/* Note that an allocation failed, and that the operation ended with @err. */
void inject_look(struct injected *injected, int err);
void inject_note(const char *what, const struct injected *injected);
/* The sum of all that were noted in this process */
void inject_sum(const char *what);

#endif
