/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls that a program may still make once it has started: seccomp(2). */
#ifndef TOOLS_FILTER_H
#define TOOLS_FILTER_H

#include <stdbool.h>

/* The activities of a program: the filter allows the calls of all given parts. */
enum filter_part {
	FILTER_READER	= 1 << 0,	/* read the device and files */
	FILTER_SERVER	= 1 << 1,	/* answer on sockets that are open */
	FILTER_WRITER	= 1 << 2,	/* make, name, write and remove files */
	FILTER_LAUNCHER	= 1 << 3,	/* wait for a command, send signals on */
	FILTER_SYNC	= 1 << 4,	/* write files of another process to the disk */
	FILTER_FORK	= 1 << 5,	/* have a child that works in memory, and end it */
};

/*
 * Load a filter for the calling thread and all that it starts: a call that the @parts
 * (FILTER_*) do not make fails with EPERM, and one of another architecture kills the
 * process.  Sets no_new_privs.  Returns 0, -EOPNOTSUPP: the kernel has no seccomp
 * filters, or another -errno.
 */
int filter_load(unsigned int parts);

/*
 * filter_load() for @program, if it is @wanted.  A kernel without seccomp filters is
 * reported on stderr and is no failure, nor is @wanted being false: *@loaded is true if
 * there is a filter.  Returns 0, or -errno after a message.
 */
int filter_begin(const char *program, unsigned int parts, bool wanted,
		 bool *loaded);

#endif
