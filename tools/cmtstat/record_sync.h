/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data is written to the disk while recording goes on.  A disk may take seconds, in
 * which the rings would overflow: so a separate process waits for the disk.
 */
#ifndef TOOLS_RECORD_SYNC_H
#define TOOLS_RECORD_SYNC_H

#include <stdbool.h>
#include <sys/types.h>

struct record_sync {
	pid_t pid;		/* 0: there is none, and nothing is synced */
	int socket;
	unsigned int asked;	/* and not answered yet */
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

/* As record_sync_ask(), and also while one is running: for a file that is finished. */
int record_sync_hand(struct record_sync *sync, int fd);

/* Waits for the last one.  Returns as record_sync_ask(). */
int record_sync_end(struct record_sync *sync);

#endif
