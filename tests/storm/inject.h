/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nth allocation of a task fails: /proc/TASK/fail-nth */
#ifndef CMT_STORM_INJECT_H
#define CMT_STORM_INJECT_H

#include <stdbool.h>

#define INJECT_SITES	64

/* What failed in an operation, by the stacks in the kernel's log */
struct injected {
	unsigned int failed;
	unsigned int inside;	/* below a function of the module, */
	unsigned int nr_sites;	/* of which these are the innermost */
	char sites[INJECT_SITES][48];
};

void inject_begin(void);	/* of a test; the module's file is read before */
int inject_open(const char *task);	/* "thread-self", or "PID/task/PID" */
/* The nth allocation of the task from now on fails; 0: none. */
void inject_nth(int fd, unsigned int nth);
/* None any more; returns how many are left until one fails, 0: one has. */
unsigned int inject_end(int fd);
/* Was the one that failed below a function of the module? */
bool inject_look(struct injected *injected);
void inject_note(const char *what, const struct injected *injected);

#endif
