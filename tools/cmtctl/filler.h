/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of cmtctl selftest, which fill the cache by known amounts. */
#ifndef TOOLS_FILLER_H
#define TOOLS_FILLER_H

#include <stdint.h>
#include <sys/types.h>

struct filler {
	pid_t pid;		/* 0: none */
	int orders, answers;	/* pipes */
};

/*
 * Fork a process that runs on @cpu only, is killed when this one ends, and has memory
 * of @bytes, still untouched.  Returns 0 or -errno.
 */
int filler_start(struct filler *filler, int cpu, uint64_t bytes);

/*
 * Order the process to write to its first @bytes repeatedly, to read them once, or to
 * rest.  filler_answer() returns when it has done so: a writer answers after the first
 * rounds, and goes on.  Returns 0 or -errno.
 */
int filler_write(struct filler *filler, uint64_t bytes);
int filler_read(struct filler *filler, uint64_t bytes);
int filler_rest(struct filler *filler);

/*
 * Wait for it for @timeout_ns.  Returns 1: it has; 0: not yet; -EINTR: a signal, see
 * signals_poll(); -ECHILD: the process was killed; or -errno.
 */
int filler_answer(struct filler *filler, uint64_t timeout_ns);

/* End the process, if it runs. */
void filler_stop(struct filler *filler);

#endif
