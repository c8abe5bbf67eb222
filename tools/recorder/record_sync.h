/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data is written to the disk while recording goes on.  A disk may take seconds, in
 * which the rings would overflow: so a separate process waits for the disk.
 */
#ifndef TOOLS_RECORD_SYNC_H
#define TOOLS_RECORD_SYNC_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Requests without an answer, whose files stay on the disk even when they are removed */
#define RECORD_SYNC_MOST 8

struct record_sync {
	pid_t pid;		/* 0: there is none, and nothing is synced */
	int socket;
	unsigned int asked;	/* and not answered yet */
	int err;		/* of an answer that was not reported yet */
	char failed[NAME_MAX + 1];	/* its name; "": not known */
};

/* Before the device is opened: the process is to have nothing of it.  Returns 0 or
 * -errno.  @seccomp: the process loads a seccomp filter.
 */
int record_sync_begin(struct record_sync *sync, bool seccomp);

/*
 * Start fdatasync(2) of @fd, unless the last one is still running; never waits.
 * Returns 0, or -errno of an earlier one: data may not be on the disk.
 */
int record_sync_ask(struct record_sync *sync, int fd);

/*
 * Start fdatasync(2) of a file that is finished, also while others are running; never
 * waits.  Returns 0, -EAGAIN: the disk is behind, and the file is not synced, or another
 * -errno.
 */
int record_sync_hand(struct record_sync *sync, int fd, const char *name);

/*
 * Has one failed?  With @wait when all have ended, or one has failed.  Returns 0, or its
 * -errno, once; its name is in sync->failed.
 */
int record_sync_failed(struct record_sync *sync, bool wait);

/* Waits for the last one.  Returns as record_sync_ask(). */
int record_sync_end(struct record_sync *sync);

#endif
