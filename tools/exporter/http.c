// SPDX-License-Identifier: GPL-2.0-or-later
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "common/clock.h"

#define BACKLOG		4096	/* the kernel's limit: a refused client waits 1 s or more */
#define FOREVER_NS	60000000000ULL

static const char TEXT_TYPE[] = "text/plain; version=0.0.4; charset=utf-8";
static const char OPENMETRICS_TYPE[] =
	"application/openmetrics-text; version=1.0.0; charset=utf-8";

enum format { FORMAT_TEXT, FORMAT_OPENMETRICS, FORMAT_REPORT, NR_FORMATS };

/* In memory while it is the page of its format, or clients hold it. */
struct page {
	struct MHD_Response *response;
	uint64_t version;
	uint64_t serial;	/* later pages have a higher one */
	size_t bytes;
	unsigned int clients;
	bool current;		/* the page of its format */
};

/* A connection, for as long as it is there. */
struct client {
	int fd;			/* -1: none */
	uint64_t began_ns;	/* CLOCK_MONOTONIC; 0: accepted in this step */
	struct page *page;	/* that is sent; NULL: none */
	bool asked;		/* the request's head is complete */
	bool ended;		/* shut down: the daemon is to close it */
};

struct http {
	const struct http_source *source;
	struct MHD_Daemon *daemon;
	int listen_fd;
	bool loopback;			/* only this machine reaches it */
	int epoll_fd;
	struct page *pages[NR_FORMATS];	/* NULL: not made yet */
	size_t room[FORMAT_REPORT];	/* for the next ones: they are about as long */
	uint64_t last_serial;
	uint64_t held_bytes;		/* of all pages that clients hold */
	bool ended;			/* clients, in the last step */
	struct client clients[HTTP_CONNECTIONS];
};

static void free_unused_page(struct page *page)
{
	if (page->current || page->clients)
		return;
	MHD_destroy_response(page->response);
	free(page);
}

static void drop_page(struct http *http, enum format format)
{
	struct page *page = http->pages[format];

	if (!page)
		return;
	http->pages[format] = NULL;
	page->current = false;
	free_unused_page(page);
}

static void hold_page(struct http *http, struct client *client, struct page *page)
{
	if (!page->clients++)
		http->held_bytes += page->bytes;
	client->page = page;
}

static void release_page(struct http *http, struct client *client)
{
	struct page *page = client->page;

	if (!page)
		return;
	client->page = NULL;
	if (!--page->clients)
		http->held_bytes -= page->bytes;
	free_unused_page(page);
}

/* Takes @response; NULL: no memory.  It has its own reference while it is sent. */
static struct page *page_new(struct http *http, enum format format,
			     struct MHD_Response *response, size_t bytes, uint64_t version)
{
	static const char *const types[] = { TEXT_TYPE, OPENMETRICS_TYPE, ANSWER_HTML };
	struct page *page = response ? calloc(1, sizeof(*page)) : NULL;

	if (!page) {
		if (response)
			MHD_destroy_response(response);
		return NULL;
	}
	MHD_add_response_header(response, "Content-Type", types[format]);
	MHD_add_response_header(response, "Connection", "close");
	*page = (struct page){
		.response = response, .version = version, .serial = ++http->last_serial,
		.bytes = bytes, .current = true,
	};
	http->pages[format] = page;
	return page;
}

/* NULL: no memory for the page. */
static struct page *make_metrics(struct http *http, bool openmetrics)
{
	const struct http_source *source = http->source;
	struct page *page = http->pages[openmetrics], *other = http->pages[!openmetrics];
	uint64_t version = source->version(source->ctx);
	struct body body = { .len = 0 };
	struct MHD_Response *response;

	if (page && page->version == version)
		return page;
	drop_page(http, openmetrics);
	if (other && other->version != version)
		drop_page(http, !openmetrics);
	if (!body_reserve(&body, http->room[openmetrics]) ||
	    source->render(source->ctx, &body, openmetrics)) {
		free(body.bytes);
		return NULL;
	}
	http->room[openmetrics] = body.len + body.len / 16;
	response = MHD_create_response_from_buffer(body.len, body.bytes, MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(body.bytes);
	return page_new(http, openmetrics, response, body.len, version);
}

/* The response to HEAD has no body: the page need not stay. */
static enum MHD_Result send_page(struct http *http, struct MHD_Connection *connection,
				 struct client *client, struct page *page, bool head)
{
	if (!head)
		hold_page(http, client, page);
	return MHD_queue_response(connection, MHD_HTTP_OK, page->response);
}

static enum MHD_Result serve_metrics(struct http *http,
				     struct MHD_Connection *connection,
				     struct client *client, bool head)
{
	const char *accept = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	struct page *page = make_metrics(http, http_accepts_openmetrics(accept));

	if (!page)
		return answer_refusal(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
			      "no memory\n");
	return send_page(http, connection, client, page, head);
}

/* The page of the source, with descriptors of its own.  NULL: no memory for it. */
static struct page *make_report(struct http *http, const struct http_report *report)
{
	struct page *page = http->pages[FORMAT_REPORT];
	struct MHD_Response *response;
	int fd;

	if (page && page->version == report->version)
		return page;
	drop_page(http, FORMAT_REPORT);
	fd = fcntl(report->fd, F_DUPFD_CLOEXEC, 0);
	response = fd < 0 ? NULL : MHD_create_response_from_fd(report->bytes, fd);
	if (!response && fd >= 0)
		close(fd);
	if (response)
		answer_headers(response, report->policy);
	return page_new(http, FORMAT_REPORT, response, report->bytes, report->version);
}

static enum MHD_Result serve_report(struct http *http, struct MHD_Connection *connection,
				    struct client *client, bool head)
{
	const struct http_source *source = http->source;
	struct http_report report;
	struct page *page;
	int ret;

	if (!source->report)
		return answer_index(connection);
	ret = source->report(source->ctx, true, &report);
	if (ret)
		return answer_without_report(connection, ret);
	page = make_report(http, &report);
	if (!page)
		return answer_refusal(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory\n");
	return send_page(http, connection, client, page, head);
}

/* A report that the source has dropped takes no memory here, either. */
static void drop_old_report(struct http *http)
{
	const struct http_source *source = http->source;
	const struct page *page = http->pages[FORMAT_REPORT];
	struct http_report report;

	if (page && (source->report(source->ctx, false, &report) ||
		     report.version != page->version))
		drop_page(http, FORMAT_REPORT);
}

static struct client *client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* HTTP/1.0 may have no Host; every browser sends one. */
static bool is_host_refused(const struct http *http, struct MHD_Connection *connection)
{
	const char *host = http->loopback ?
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST) :
		NULL;

	return host && !http_host_has_no_name(host);
}

/*
 * Called when a request's head is there.  The response is queued at once, so that no
 * body is ever read.
 */
static enum MHD_Result handle(void *ctx, struct MHD_Connection *connection,
			      const char *url, const char *method,
			      const char *version, const char *body,
			      size_t *body_len, void **request)
{
	struct client *client = client_of(connection);
	bool head = !strcmp(method, MHD_HTTP_METHOD_HEAD);

	(void)version;
	(void)body;
	(void)body_len;
	(void)request;
	if (!client)
		return MHD_NO;
	client->asked = true;
	if (is_host_refused(ctx, connection))
		return answer_refusal(connection, MHD_HTTP_FORBIDDEN,
			      "Host is neither an address nor localhost\n");
	if (!head && strcmp(method, MHD_HTTP_METHOD_GET))
		return answer_refusal(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "only GET and HEAD\n");
	if (!strcmp(url, "/metrics"))
		return serve_metrics(ctx, connection, client, head);
	if (!strcmp(url, "/"))
		return serve_report(ctx, connection, client, head);
	return answer_refusal(connection, MHD_HTTP_NOT_FOUND,
		      "no such page: see /metrics\n");
}

static struct client *free_client(struct http *http)
{
	unsigned int i;

	for (i = 0; i < HTTP_CONNECTIONS; i++)
		if (http->clients[i].fd < 0)
			return &http->clients[i];
	return NULL;
}

/* A connection came, or is about to be closed. */
static void notify(void *ctx, struct MHD_Connection *connection,
		   void **socket_ctx,
		   enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http *http = ctx;
	struct client *client = *socket_ctx;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (client) {
			release_page(http, client);
			client->fd = -1;
		}
		return;
	}
	client = free_client(http);
	if (!client || !info)
		return;
	*client = (struct client){ .fd = info->connect_fd };
	*socket_ctx = client;
}

/* Have all slots a client, none of which is about to be closed? */
static bool is_full(const struct http *http)
{
	unsigned int i;

	for (i = 0; i < HTTP_CONNECTIONS; i++)
		if (http->clients[i].fd < 0 || http->clients[i].ended)
			return false;
	return true;
}

/* How long @client lasts; @full: and another one may take its slot. */
static uint64_t lasts_ns(const struct client *client, bool full)
{
	if (!full)
		return HTTP_LIFE_NS;
	return client->asked ? HTTP_ASKED_NS : HTTP_SILENT_NS;
}

/* The oldest client that another one may replace: prefer one without a request. */
static struct client *replaceable(struct http *http, uint64_t now)
{
	struct client *first[2] = { NULL, NULL };
	unsigned int i;

	for (i = 0; i < HTTP_CONNECTIONS; i++) {
		struct client *client = &http->clients[i];
		struct client **old = &first[client->asked];

		if (now - client->began_ns >= lasts_ns(client, true) &&
		    (!*old || client->began_ns < (*old)->began_ns))
			*old = client;
	}
	return first[false] ? first[false] : first[true];
}

/* The daemon sees the end of the stream then, and closes it. */
static void end_client(struct http *http, struct client *client)
{
	shutdown(client->fd, SHUT_RDWR);
	release_page(http, client);
	client->ended = true;
	http->ended = true;
}

/* A client that holds the oldest of the pages that are held, or NULL. */
static struct client *oldest_holder(struct http *http)
{
	struct client *oldest = NULL;
	unsigned int i;

	for (i = 0; i < HTTP_CONNECTIONS; i++) {
		struct client *client = &http->clients[i];

		if (client->page &&
		    (!oldest || client->page->serial < oldest->page->serial))
			oldest = client;
	}
	return oldest;
}

/* While newer pages that are held take all the room for pages. */
static void end_oldest_holders(struct http *http)
{
	struct client *oldest = oldest_holder(http);

	while (oldest && http->held_bytes - oldest->page->bytes >= HTTP_PAGES_BYTES) {
		end_client(http, oldest);
		oldest = oldest_holder(http);
	}
}

/* A page that is made after the accept takes none of a new client's time. */
static void begin_clients(struct http *http, uint64_t now)
{
	unsigned int i;

	for (i = 0; i < HTTP_CONNECTIONS; i++)
		if (!http->clients[i].began_ns)
			http->clients[i].began_ns = now;
}

static void end_clients(struct http *http)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct client *first;
	unsigned int i;

	begin_clients(http, now);
	first = is_full(http) ? replaceable(http, now) : NULL;
	http->ended = false;
	if (first)
		end_client(http, first);
	for (i = 0; i < HTTP_CONNECTIONS; i++) {
		struct client *client = &http->clients[i];

		if (client->fd >= 0 && !client->ended &&
		    now - client->began_ns >= HTTP_LIFE_NS)
			end_client(http, client);
	}
	end_oldest_holders(http);
}

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;

	if (address->sa_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return address->sa_family == AF_INET6 &&
	       (IN6_IS_ADDR_LOOPBACK(in6) ||
		(IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == IN_LOOPBACKNET));
}

static int open_socket(const struct sockaddr *address, socklen_t len)
{
	const int on = 1, off = 0, room = HTTP_SEND_BYTES;
	int err, fd = socket(address->sa_family,
			     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	/* after a restart the port is there again at once */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* connections have it from this one */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	if (address->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (!bind(fd, address, len) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int start_daemon(struct http *http)
{
	const union MHD_DaemonInfo *info;

	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, handle, http,
		MHD_OPTION_LISTEN_SOCKET, http->listen_fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)HTTP_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)(HTTP_LIFE_NS / 1000000000),
		MHD_OPTION_NOTIFY_CONNECTION, notify, http,
		MHD_OPTION_END);
	if (!http->daemon)
		return -ENOMEM;
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -ENOMEM;
	http->epoll_fd = info->epoll_fd;
	return 0;
}

int http_open(struct http **result, const struct sockaddr *address,
	      socklen_t len, const struct http_source *source)
{
	struct http *http = calloc(1, sizeof(*http));
	unsigned int i;
	int ret;

	if (!http)
		return -ENOMEM;
	http->source = source;
	http->loopback = is_loopback(address);
	for (i = 0; i < HTTP_CONNECTIONS; i++)
		http->clients[i].fd = -1;
	ret = open_socket(address, len);
	http->listen_fd = ret;
	if (ret >= 0)
		ret = start_daemon(http);
	if (ret) {
		http_close(http);
		return ret;
	}
	*result = http;
	return 0;
}

void http_close(struct http *http)
{
	unsigned int i;

	if (http->daemon)
		MHD_stop_daemon(http->daemon);	/* closes the socket */
	else if (http->listen_fd >= 0)
		close(http->listen_fd);
	for (i = 0; i < NR_FORMATS; i++)
		drop_page(http, i);
	free(http);
}

void http_address(const struct http *http, char text[HTTP_ADDRESS_LEN])
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char host[INET6_ADDRSTRLEN], port[8];

	if (getsockname(http->listen_fd, (struct sockaddr *)&address, &len) ||
	    getnameinfo((struct sockaddr *)&address, len, host, sizeof(host),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, HTTP_ADDRESS_LEN, "?");
	else
		snprintf(text, HTTP_ADDRESS_LEN,
			 strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

int http_fd(const struct http *http)
{
	return http->epoll_fd;
}

uint64_t http_wait_ns(const struct http *http)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), wait = FOREVER_NS;
	bool full = is_full(http);
	MHD_UNSIGNED_LONG_LONG ms;
	unsigned int i;

	/* the daemon listens again in the next step */
	if (http->ended)
		return 0;
	if (MHD_get_timeout(http->daemon, &ms) == MHD_YES &&
	    ms < FOREVER_NS / 1000000)
		wait = ms * 1000000;
	for (i = 0; i < HTTP_CONNECTIONS; i++) {
		const struct client *client = &http->clients[i];
		uint64_t end = client->began_ns + lasts_ns(client, full);
		uint64_t left = end > now ? end - now : 0;

		if (client->fd >= 0 && !client->ended && left < wait)
			wait = left;
	}
	return wait;
}

void http_step(struct http *http)
{
	MHD_run(http->daemon);
	end_clients(http);
	drop_old_report(http);
	/* frees old pages before a next one is made */
	if (http->ended)
		MHD_run(http->daemon);
}
