/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server: one thread, that of the caller, and no persistent connections.
 *
 * A page is made once for each version of its content, at the first request, and shared
 * by all requests for that version.
 */
#ifndef EXPORTER_HTTP_H
#define EXPORTER_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "body.h"

struct http;

/* A page of HTML in memory, whose file the source closes when it likes. */
struct http_report {
	int fd;
	uint64_t bytes;
	uint64_t version;	/* another one when it is another page */
	const char *policy;	/* Content-Security-Policy */
};

struct http_source {
	/* Another one when a page is to be made again. */
	uint64_t (*version)(void *ctx);
	/* Write the page /metrics.  Returns 0 or -errno. */
	int (*render)(void *ctx, struct body *out, bool openmetrics);
	/*
	 * The page at "/"; NULL: a short one.  @asked: a client asks for it, so that one
	 * is made if there is none.  Returns 0, -EAGAIN: it is being made, -ENODATA: there
	 * is nothing to show yet, or another -errno: it cannot be made now.
	 */
	int (*report)(void *ctx, bool asked, struct http_report *report);
	void *ctx;
};

#define HTTP_CONNECTIONS	64	/* at once; the oldest makes way */
#define HTTP_LIFE_NS		10000000000ULL	/* of a connection, all in all */
/* When all are in use, one is shut down for the next: without a request, or with one */
#define HTTP_SILENT_NS		50000000ULL
#define HTTP_ASKED_NS		500000000ULL
/* A client is shut down when other clients hold so many bytes of newer pages. */
#define HTTP_PAGES_BYTES	(32ULL << 20)
#define HTTP_SEND_BYTES		(256 << 10)	/* in the kernel, that a client has not read */
#define HTTP_MEMORY		16384	/* bytes of a request's head, at most */

/*
 * Returns 0 or -errno of socket(2) and bind(2), or -ENOMEM.  @source must outlive
 * @http.
 */
int http_open(struct http **http, const struct sockaddr *address,
	      socklen_t len, const struct http_source *source);
void http_close(struct http *http);

/* "127.0.0.1:19753": where it listens, with the port that the kernel chose for 0. */
#define HTTP_ADDRESS_LEN 64
void http_address(const struct http *http, char text[HTTP_ADDRESS_LEN]);

/* For poll(2): the descriptor for POLLIN, and the longest wait. */
int http_fd(const struct http *http);
uint64_t http_wait_ns(const struct http *http);

/* Serve the waiting clients.  Does not block. */
void http_step(struct http *http);

/* Does a client with this header Accept (NULL: none) rather take OpenMetrics? */
bool http_accepts_openmetrics(const char *accept);

/*
 * Is this header Host a numeric address or localhost, with a port or without?  A page of
 * another machine, in a browser on this one, can give its own name a loopback address, but
 * not ask for another host than that name.
 */
bool http_host_has_no_name(const char *host);

#endif
