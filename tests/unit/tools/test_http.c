// SPDX-License-Identifier: GPL-2.0-or-later
/* The server of cmt-exporter: which clients are shut down, and which are not. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "exporter/http.h"
#include "unit.h"

#define PAGE_BYTES	(9U << 20)
#define CLIENTS		12
#define GET(accept)	"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: " accept "\r\n\r\n"
#define HEAD(accept)	"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: " accept "\r\n\r\n"
#define REPORT		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define OPENMETRICS	"application/openmetrics-text"

static struct http *http;
static struct sockaddr_in address = { .sin_family = AF_INET };
static uint64_t pages;		/* made */
static uint64_t skew_ns;	/* of CLOCK_MONOTONIC */
static uint64_t render_ns;	/* goes by while a page is made */
static bool old;		/* the report, for all but who asks */
static bool shared;		/* all clients of a format get the same page */

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int ret = __real_clock_gettime(clock, ts);
	uint64_t ns = (uint64_t)ts->tv_nsec + skew_ns;

	if (clock != CLOCK_MONOTONIC)
		return ret;
	ts->tv_sec += (time_t)(ns / 1000000000);
	ts->tv_nsec = (long)(ns % 1000000000);
	return ret;
}

static uint64_t version(void *ctx)
{
	(void)ctx;
	return shared ? 0 : pages;
}

static int render(void *ctx, struct body *out, bool openmetrics)
{
	(void)ctx;
	(void)openmetrics;
	if (!body_reserve(out, PAGE_BYTES))
		return -ENOMEM;
	memset(out->bytes, '\n', PAGE_BYTES);
	out->len = PAGE_BYTES;
	skew_ns += render_ns;
	pages++;
	return 0;
}

/* Another page for each client, in a file that is closed at once */
static int report(void *ctx, bool asked, struct http_report *out)
{
	static int fd = -1;

	(void)ctx;
	if (!asked && old)
		return -EAGAIN;
	if (asked) {
		if (fd >= 0)
			close(fd);
		fd = memfd_create("page", MFD_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(ftruncate(fd, PAGE_BYTES), 0);
		pages++;
	}
	*out = (struct http_report){
		.fd = fd, .bytes = PAGE_BYTES, .version = pages, .policy = "default-src 'none'",
	};
	return 0;
}

static const struct http_source source = {
	.version = version, .render = render, .report = report,
};

static void setup(void)
{
	char text[HTTP_ADDRESS_LEN];

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = 0;
	ck_assert_int_eq(http_open(&http, (struct sockaddr *)&address, sizeof(address), &source),
			 0);
	http_address(http, text);
	address.sin_port = htons((uint16_t)atoi(strrchr(text, ':') + 1));
}

static void teardown(void)
{
	http_close(http);
}

static void steps(int nr)
{
	while (nr--)
		http_step(http);
}

static int client(const char *request)
{
	const int room = 4096;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (request)
		ck_assert_int_eq(send(fd, request, strlen(request), 0), strlen(request));
	return fd;
}

/* Bytes that the client @fd gets until the end, with the head. */
static size_t read_all(int fd)
{
	static char bytes[1 << 16];
	size_t size = 0;
	ssize_t n;

	for (;;) {
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n > 0)
			size += (size_t)n;
		else if (!n || errno != EAGAIN)
			break;
		http_step(http);
	}
	close(fd);
	return size;
}

/* The response to HEAD holds no page: other clients keep theirs. */
START_TEST(test_head_holds_no_page)
{
	int slow = client(GET("text/plain"));

	steps(5);
	for (int i = 0; i < CLIENTS; i++) {
		int fd = client(i & 1 ? HEAD(OPENMETRICS) : HEAD("text/plain"));
		size_t size = read_all(fd);

		ck_assert_uint_gt(size, 0);
		ck_assert_uint_lt(size, 1000);
	}
	ck_assert_uint_eq(pages, 1 + CLIENTS);
	ck_assert_uint_gt(read_all(slow), PAGE_BYTES);
}
END_TEST

/* Clients that read make no other client lose its page. */
START_TEST(test_read_pages_are_not_held)
{
	int slow = client(GET("text/plain"));

	steps(5);
	for (int i = 0; i < CLIENTS; i++)
		ck_assert_uint_gt(read_all(client(GET("text/plain"))), PAGE_BYTES);
	ck_assert_uint_gt(read_all(slow), PAGE_BYTES);
}
END_TEST

/* Of pages that clients hold, the oldest ones are dropped. */
static void check_bounded(const char *request)
{
	unsigned int whole = 0;
	int fds[CLIENTS];

	for (int i = 0; i < CLIENTS; i++) {
		fds[i] = client(request);
		steps(5);
	}
	for (int i = 0; i < CLIENTS; i++) {
		size_t size = read_all(fds[i]);

		/* the newest ones, with less than 32 MiB, and the one before them */
		ck_assert((size > PAGE_BYTES) == (i >= CLIENTS - 4));
		whole += size > PAGE_BYTES;
	}
	ck_assert_uint_eq(whole, 4);
}

START_TEST(test_unread_pages_are_bounded)
{
	check_bounded(GET("text/plain"));
}
END_TEST

START_TEST(test_unread_reports_are_bounded)
{
	check_bounded(REPORT);
}
END_TEST

/* A report that its source has dropped stays only for who reads it. */
START_TEST(test_old_report_is_dropped)
{
	int before = unit_open_fds(), slow;

	slow = client(REPORT);
	steps(5);
	ck_assert_uint_gt(read_all(slow), PAGE_BYTES);
	steps(2);
	ck_assert_int_eq(unit_open_fds(), before + 2);
	old = true;
	steps(1);
	ck_assert_int_eq(unit_open_fds(), before + 1);
}
END_TEST

/* All slots are in use, and a page takes longer than a client without a request may. */
START_TEST(test_new_client_beside_slow_page)
{
	int slow, new;

	shared = true;
	for (int i = 0; i < HTTP_CONNECTIONS - 2; i++) {
		client(GET("text/plain"));
		steps(2);
	}
	slow = client(NULL);
	steps(2);
	ck_assert_int_gt(send(slow, GET(OPENMETRICS), strlen(GET(OPENMETRICS)), 0), 0);
	new = client(NULL);
	render_ns = 2 * HTTP_SILENT_NS;
	http_step(http);
	ck_assert_uint_eq(pages, 2);
	ck_assert_int_gt(send(new, GET("text/plain"), strlen(GET("text/plain")), 0), 0);
	ck_assert_uint_gt(read_all(new), PAGE_BYTES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("http");
	TCase *tcase = tcase_create("http");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_head_holds_no_page);
	tcase_add_test(tcase, test_read_pages_are_not_held);
	tcase_add_test(tcase, test_unread_pages_are_bounded);
	tcase_add_test(tcase, test_unread_reports_are_bounded);
	tcase_add_test(tcase, test_old_report_is_dropped);
	tcase_add_test(tcase, test_new_client_beside_slow_page);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
