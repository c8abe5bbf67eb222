/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket of cmtctl save: a client that connects requests a file, and gets its name.
 */
#ifndef TOOLS_SAVE_SOCKET_H
#define TOOLS_SAVE_SOCKET_H

#include <stdbool.h>

struct save_socket {
	int fd;			/* listens; -1: no socket */
	int peer;		/* the present client; -1: none */
	const char *path;
};

/*
 * @path: NULL opens none.  A socket without a listener is replaced.  Returns 0 or
 * -errno; -EADDRINUSE: it has a listener, or the path is no socket.
 */
int save_socket_open(struct save_socket *sock, const char *path);
void save_socket_close(struct save_socket *sock);

/* Is there a request? Never waits. */
bool save_socket_pending(struct save_socket *sock);

/* Never waits: a client that does not read gets no answer. */
void save_socket_answer(struct save_socket *sock, const char *text);

#endif
