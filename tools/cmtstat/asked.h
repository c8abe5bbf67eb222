/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A socket at which cmtctl save asks: who connects wants a file, and is told its name. */
#ifndef TOOLS_ASKED_H
#define TOOLS_ASKED_H

#include <stdbool.h>

struct asked {
	int fd;			/* listens; -1: nobody can ask */
	int peer;		/* who asks now; -1: nobody */
	const char *path;
};

/* @path: NULL opens none.  A socket that nobody listens at is replaced.  Returns 0 or
 * -errno; -EADDRINUSE: somebody does, or the path is no socket.
 */
int asked_open(struct asked *asked, const char *path);
void asked_close(struct asked *asked);

/* Does somebody ask?  Never waits. */
bool asked_pending(struct asked *asked);

/* Never waits: who does not listen is not told. */
void asked_answer(struct asked *asked, const char *text);

#endif
