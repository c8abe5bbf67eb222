// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to the exporter, by a socket, and the header Accept by itself. */
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "exporter/http.h"
#include "fuzz.h"

#define STEPS 8

static uint64_t version(void *ctx)
{
	(void)ctx;
	return 1;
}

static int render(void *ctx, struct body *out, bool openmetrics)
{
	(void)ctx;
	(void)openmetrics;
	body_puts(out, "cmt_up 1\n");
	return 0;
}

static struct http *http;
/* In no directory, and of this process alone: the first byte of its name is 0. */
static struct sockaddr_un address = { .sun_family = AF_UNIX };

static void open_server(void)
{
	static const struct http_source source = { .version = version, .render = render };

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "cmt-fuzz-%d", getpid());
	FUZZ_CHECK(!http_open(&http, (struct sockaddr *)&address, sizeof(address), &source));
}

static void request(const uint8_t *data, size_t size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char answer[4096];
	ssize_t n = -1;

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
	FUZZ_CHECK(send(fd, data, size, MSG_NOSIGNAL) >= 0 || !size);
	shutdown(fd, SHUT_WR);
	/* until the server has closed the connection */
	for (int i = 0; i < STEPS && n; i++) {
		http_step(http);
		while ((n = recv(fd, answer, sizeof(answer), 0)) > 0)
			;
	}
	close(fd);
	http_step(http);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	if (!http)
		open_server();
	http_accepts_openmetrics(text);
	http_host_has_no_name(text);
	request(data, size);
	free(text);
	return 0;
}
