/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nth allocation of a task fails: /proc/TASK/fail-nth */
#ifndef CMT_STORM_INJECT_H
#define CMT_STORM_INJECT_H

#include <stdbool.h>

#define INJECT_SITES	64

/* Functions, each once */
struct sites {
	unsigned int nr;
	char names[INJECT_SITES][48];
};

/* What failed in an operation, by the stacks in the kernel's log */
struct injected {
	unsigned int failed;	/* allocations, one at each try */
	unsigned int refused;	/* tries that ended with an error */
	unsigned int inside;	/* below a function of the module, */
	unsigned int silent;	/* without a stack: with __GFP_NOWARN */
	struct sites module;	/* the innermost functions of the module */
	struct sites kernel;	/* of the others those below a system call */
};

void inject_begin(void);	/* of a test; the module's file is read before */
int inject_open(const char *task);	/* "thread-self", or "PID/task/PID" */
/* The nth allocation of the task from now on fails; 0: none. */
void inject_nth(int fd, unsigned int nth);
/* None any more; returns how many are left until one fails, 0: one has. */
unsigned int inject_end(int fd);
/* One failed, and the operation ended with @err. */
void inject_look(struct injected *injected, int err);
void inject_note(const char *what, const struct injected *injected);
/* Of all that were noted in this process */
void inject_sum(const char *what);

#endif
