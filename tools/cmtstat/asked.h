/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket of cmtctl save: a client that connects requests a file, and gets its name.
 */
#ifndef TOOLS_ASKED_H
#define TOOLS_ASKED_H

#include <stdbool.h>

struct asked {
	int fd;			/* listens; -1: no socket */
	int peer;		/* the present client; -1: none */
	const char *path;
};

/*
 * @path: NULL opens none.  A socket without a listener is replaced.  Returns 0 or
 * -errno; -EADDRINUSE: it has a listener, or the path is no socket.
 */
int asked_open(struct asked *asked, const char *path);
void asked_close(struct asked *asked);

/* Is there a request? Never waits. */
bool asked_pending(struct asked *asked);

/* Never waits: a client that does not read gets no answer. */
void asked_answer(struct asked *asked, const char *text);

#endif
