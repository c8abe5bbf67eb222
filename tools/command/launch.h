/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command that is measured from its first instruction to its last.  It is the
 * child of an anchor, a process that does nothing: the anchor is registered with its
 * children before there is a command, and stays until the last reading, so that the
 * RMID does, too.  The command itself is a child of this process, to be waited for.
 */
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include <cmt/cmt.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct launch {
	pid_t anchor;
	pid_t pid;		/* of the command; 0: there is none yet */
	int go;			/* a byte starts the command; closing ends the anchor */
	int answers;
	uint64_t begin_ns;	/* CLOCK_MONOTONIC: the command was started */
	uint64_t end_ns;	/* it has ended */
	int status;		/* as of wait(2) */
	struct rusage usage;	/* of it and of the children that it waited for */
};

/*
 * Fork the anchor, from which the command inherits the present state.  Returns 0 or
 * -errno.
 */
int launch_prepare(struct launch *launch, char **argv);

/*
 * Give the command a dedicated RMID, and drop the capabilities that this program does
 * not need.  Returns 0, or -errno after a message of @program.
 */
int launch_register(const struct launch *launch, struct cmt_device *dev,
		    const char *program);

/* Returns 0 or -errno of fork(2) or of exec(3): there is no command then. */
int launch_start(struct launch *launch);

/* Print why launch_start() failed with @err.  Returns the exit status. */
int launch_say_failed(const char *program, char **argv, int err);

/*
 * Wait for the command to end, for at most @timeout_ns, and forward signals that were
 * sent only to this process.  Returns 1: it has ended, 0 or -errno.
 */
int launch_wait(struct launch *launch, uint64_t timeout_ns);

/* The exit status, as of a shell, when the command has ended */
int launch_exit_status(const struct launch *launch);

/* The anchor ends.  Also before launch_start(). */
void launch_finish(struct launch *launch);

#endif
