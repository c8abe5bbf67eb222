// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter.h"

#include <cmt/cmt.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "collect.h"
#include "common/caps.h"
#include "common/clock.h"
#include "common/errors.h"
#include "common/filter.h"
#include "common/signals.h"
#include "common/standard.h"
#include "expose.h"
#include "http.h"
#include "served.h"

struct exporter {
	struct collector collector;
	struct http *http;
	struct served served;	/* with --page */
	double started;		/* CLOCK_REALTIME, seconds */
	uint64_t render_ns;	/* of the last page */
	uint64_t pages;
};

enum { WATCH_DEVICE, WATCH_HTTP, WATCH_CHILD, NR_WATCHED };

static uint64_t version(void *ctx)
{
	return ((struct exporter *)ctx)->collector.version;
}

static int render(void *ctx, struct body *out, bool openmetrics)
{
	struct exporter *exporter = ctx;
	const struct exposition exposition = {
		.machine = &exporter->collector.machine,
		.set = &exporter->collector.set,
		.fine = &exporter->collector.fine,
		.config = exporter->collector.config,
		.started = exporter->started,
		.render_ns = exporter->render_ns,
		.pages = ++exporter->pages,
	};
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	int ret = expose(out, &exposition, openmetrics);

	exporter->render_ns = clock_ns(CLOCK_MONOTONIC) - before;
	return ret;
}

static int report(void *ctx, bool asked, struct http_report *report)
{
	return served_report(&((struct exporter *)ctx)->served, asked, report);
}

static uint64_t wait_ns(const struct exporter *exporter)
{
	uint64_t device_ns = collect_wait_ns(&exporter->collector);
	uint64_t http_ns = http_wait_ns(exporter->http);
	uint64_t child_ns = child_wait_ns(&exporter->served.child);
	uint64_t wait = device_ns < http_ns ? device_ns : http_ns;

	return child_ns < wait ? child_ns : wait;
}

static int step(struct exporter *exporter)
{
	struct pollfd fds[NR_WATCHED] = {
		{ .fd = collect_fd(&exporter->collector), .events = POLLIN },
		{ .fd = http_fd(exporter->http), .events = POLLIN },
		{ .fd = child_fd(&exporter->served.child), .events = POLLIN },
	};
	int ret = signals_poll(fds, NR_WATCHED, wait_ns(exporter));

	if (ret < 0 && ret != -EINTR)
		return ret;
	if (ret < 0)
		return 0;
	collect_step(&exporter->collector, fds[WATCH_DEVICE].revents);
	served_step(&exporter->served);
	http_step(exporter->http);
	return 0;
}

static int serve(struct exporter *exporter)
{
	char address[HTTP_ADDRESS_LEN];
	bool filtered;
	const struct exporter_config *config = exporter->collector.config;
	int ret = filter_begin("cmt-exporter", FILTER_READER | FILTER_SERVER |
			       (config->page ? FILTER_FORK : 0),
			       config->seccomp, &filtered);

	if (ret)
		return ret;
	signals_setup(false);
	http_address(exporter->http, address);
	fprintf(stderr, "cmt-exporter: listening on %s, seccomp filter %s\n",
		address, filtered ? "on" : "off");
	while (!ret && !signal_stop)
		ret = step(exporter);
	if (ret)
		error_plain(stderr, "cmt-exporter", "stopped", ret);
	return ret;
}

static void explain_listen(int err)
{
	static const struct reason reasons[] = {
		{ -EADDRINUSE, "another program listens there",
		  "Stop it, or choose another port with --listen" },
		{ -EADDRNOTAVAIL, "the machine has no such address",
		  "Choose one that it has with --listen" },
		{ -EACCES, "ports below 1024 are root's",
		  "Choose another port with --listen" },
		{ .err = 0 },
	};

	error_reason(stderr, "cmt-exporter", "cannot listen", CMT_CALL_OTHER,
		     err, reasons);
}

static int serve_device(const struct exporter_config *config,
			struct exporter *exporter)
{
	const struct http_source source = {
		.version = version, .render = render,
		.report = config->page ? report : NULL, .ctx = exporter,
	};
	int ret;

	served_open(&exporter->served, &exporter->collector.recent);
	ret = http_open(&exporter->http,
			    (const struct sockaddr *)&config->listen,
			    config->listen_len, &source);

	if (ret) {
		explain_listen(ret);
		return ret;
	}
	ret = caps_drop(false);
	if (ret)
		error_plain(stderr, "cmt-exporter", "cannot drop capabilities",
			    ret);
	else
		ret = serve(exporter);
	http_close(exporter->http);
	served_close(&exporter->served);
	return ret;
}

static int run(const struct exporter_config *config)
{
	struct exporter exporter = {
		.started = (double)clock_ns(CLOCK_REALTIME) / 1e9,
	};
	int ret = collect_open(&exporter.collector, config);

	if (ret)
		return EXIT_RUNTIME;
	ret = serve_device(config, &exporter);
	collect_close(&exporter.collector);
	return ret ? EXIT_RUNTIME : 0;
}

int main(int argc, char **argv)
{
	struct exporter_config config;
	enum options_result result;
	const char *why;

	if (standard_occupy("cmt-exporter"))
		return EXIT_RUNTIME;
	exporter_defaults(&config);
	result = options_parse(&exporter_program, &config, argc, argv, stderr);
	if (result != OPTIONS_RUN)
		return options_end(&exporter_program, "cmt-exporter", result);
	why = exporter_set_window(&config);
	if (why)
		return options_usage(&exporter_program, stderr, "%s", why);
	if (optind < argc)
		return options_usage(&exporter_program, stderr,
				     "%s: takes no operand", argv[optind]);
	return run(&config);
}
