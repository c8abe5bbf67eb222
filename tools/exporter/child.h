/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child that writes bytes into memory while the exporter goes on. */
#ifndef EXPORTER_CHILD_H
#define EXPORTER_CHILD_H

#include <stdint.h>
#include <sys/types.h>

struct child {
	/* The caller's: */
	int (*make)(void *ctx, int fd);	/* called in the child; returns 0 or -errno */
	void *ctx;		/* as it is at child_begin() */
	uint64_t limit_ns;	/* the child is killed then */
	/* The child's: */
	pid_t pid;		/* 0: there is none */
	int pidfd;
	int fd;			/* the bytes */
	uint64_t end_ns;	/* CLOCK_MONOTONIC */
};

/* While there is no child.  Returns 0 or -errno. */
int child_begin(struct child *child);

/* Kill it, if there is one. */
void child_end(struct child *child);

/* For poll(2): the descriptor for POLLIN, -1: there is none, and the longest wait. */
int child_fd(const struct child *child);
uint64_t child_wait_ns(const struct child *child);

/*
 * Returns -EAGAIN: it runs, or there is none; else it has ended, and there is none:
 * the descriptor of its bytes, which is the caller's to close, -errno of make(),
 * -ETIMEDOUT, or -ECHILD: it was killed.
 */
int child_step(struct child *child);

#endif
