// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtstat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "caps.h"
#include "errors.h"
#include "signals.h"
#include "source.h"
#include "terminal.h"

struct session {
	const struct config *config;
	enum aggregate_by by;
	bool expand;
	struct source source;
	struct report report;
	bool shown;		/* report holds one */
	bool screen;		/* full screen */
	bool keys;		/* more may come */
	bool quit;
};

enum { WATCH_DEVICE, WATCH_OUTPUT, WATCH_KEYS, NR_WATCHED };

/* -EPIPE: the reader of our output has gone, and so may we. */
static int flush_output(void)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return errno ? -errno : -EIO;
}

static bool may_use_attributes(void)
{
	const char *no_color = getenv("NO_COLOR");

	return !no_color || !*no_color;
}

static int draw(const struct session *session)
{
	struct table_opts opts = {
		.attributes = may_use_attributes(),
		.eol = TERMINAL_EOL,
	};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return -errno;
	terminal_size(&opts.width, &opts.height);
	view_table(out, &session->report, &opts);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	terminal_draw(text, len);
	free(text);
	return 0;
}

static void print_plain(const struct session *session)
{
	const struct table_opts opts = { .eol = "\n" };

	view_table(stdout, &session->report, &opts);
	fputc('\n', stdout);
}

static int show(struct session *session)
{
	int ret = 0;

	if (session->config->output == OUTPUT_JSON)
		ret = view_json(stdout, &session->report);
	else if (session->config->output == OUTPUT_CSV)
		view_csv(stdout, &session->report);
	else if (session->screen)
		ret = draw(session);
	else
		print_plain(session);
	if (ret)
		return ret;
	if (session->config->output != OUTPUT_TABLE &&
	    !session->report.frame.end_ns)
		fprintf(stderr, "cmtstat: no readings in this interval\n");
	return flush_output();
}

static int report(struct session *session)
{
	const struct selection selection = {
		.key = session->config->sort,
		.filter = session->config->filter,
		.top = (uint32_t)session->config->top,
		.expand = session->expand,
	};
	int ret = source_report(&session->source, &session->report);

	if (ret)
		return ret;
	session->report.expand = session->expand;
	rows_select(&session->report.frame, &selection);
	session->shown = true;
	return show(session);
}

/* What signals asked for while waiting. */
static int attend(struct session *session)
{
	if (signal_suspend) {
		terminal_leave();
		signals_suspend();
		terminal_enter();
	}
	if (!signal_redraw)
		return 0;
	signal_redraw = 0;
	return session->shown ? show(session) : 0;
}

/* An expanded table, or one no more, is the next one. */
static void read_keys(struct session *session)
{
	char keys[TERMINAL_KEYS];
	const char *key;

	session->keys = !terminal_keys(keys);
	session->quit = strchr(keys, 'q') != NULL;
	for (key = keys; *key; key++)
		session->expand ^= *key == 'e' && session->by == BY_CONTAINER;
}

/* Wait for records, a key, a signal, or the end of the interval. */
static int wait_for(struct session *session, uint64_t until_ns)
{
	struct pollfd fds[NR_WATCHED] = {
		{ .fd = cmt_device_fd(session->source.dev), .events = POLLIN },
		{ .fd = STDOUT_FILENO },	/* only errors */
		{ .fd = session->keys ? STDIN_FILENO : -1, .events = POLLIN },
	};
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret;

	ret = signals_poll(fds, NR_WATCHED, until_ns > now ? until_ns - now : 0);
	if (ret < 0)
		return ret == -EINTR ? attend(session) : ret;
	if (fds[WATCH_DEVICE].revents & (POLLERR | POLLHUP | POLLNVAL))
		return -ENODEV;
	if (fds[WATCH_OUTPUT].revents & (POLLERR | POLLHUP | POLLNVAL))
		return -EPIPE;
	if (fds[WATCH_KEYS].revents)
		read_keys(session);
	return 0;
}

/* The next end of an interval; those that passed meanwhile are left out. */
static uint64_t next_end(uint64_t end, uint64_t interval_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	end += interval_ns;
	return end > now ? end : now + interval_ns;
}

static int run(struct session *session)
{
	uint64_t interval_ns = session->config->interval_ns;
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + interval_ns;
	uint64_t left = session->config->count;
	int ret;

	while (!signal_stop && !session->quit) {
		ret = wait_for(session, end);
		if (!ret)
			ret = source_pump(&session->source);
		if (ret)
			return ret;
		if (clock_ns(CLOCK_MONOTONIC) < end)
			continue;
		ret = report(session);
		if (ret)
			return ret;
		if (left && !--left)
			break;
		end = next_end(end, interval_ns);
	}
	return 0;
}

/* The screen's last table stays readable after a bounded run. */
static void leave_screen(struct session *session)
{
	if (!session->screen)
		return;
	terminal_leave();
	if (session->config->count && session->shown)
		print_plain(session);
}

/* Where CPUs are what is measured, there is little to see of containers. */
static enum aggregate_by view_of(const struct config *config,
				 const struct cmt_device *dev)
{
	bool cpus = cmt_device_info(dev)->scope == CMT_SCOPE_CPU;

	return cpus && !config->by_given && !config->expand ? BY_CPU :
							      config->by;
}

/* Open what the session needs, run it, and put everything back. */
static int run_session(struct session *session, struct cmt_device *dev)
{
	const struct config *config = session->config;
	const char *what;
	int ret;

	session->by = view_of(config, dev);
	session->expand = config->expand;
	ret = source_open(&session->source, dev, session->by, &what);

	if (ret) {
		error_plain(stderr, "cmtstat", what, ret);
		return EXIT_RUNTIME;
	}
	if (config->interval_ns < cmt_device_info(dev)->interval_ns)
		fprintf(stderr,
			"cmtstat: the sampling interval is longer: see cmtctl interval\n");
	session->screen = config->output == OUTPUT_TABLE && !config->plain &&
			  terminal_usable();
	session->keys = session->screen && isatty(STDIN_FILENO);
	signals_setup(session->screen);
	if (session->screen)
		terminal_enter();
	else if (config->output == OUTPUT_CSV)
		view_csv_header(stdout, session->by);
	ret = flush_output();
	if (!ret)
		ret = run(session);
	leave_screen(session);
	if (!ret)
		ret = flush_output();
	source_close(&session->source);
	if (!ret || ret == -EPIPE)
		return 0;
	error_plain(stderr, "cmtstat", ret == -ENODEV ? "the device is gone" :
		    "stopped", ret);
	return EXIT_RUNTIME;
}

int main(int argc, char **argv)
{
	struct config config = cmtstat_defaults;
	struct session session = { .config = &config };
	struct cmt_device *dev;
	int ret;

	switch (options_parse(&cmtstat_program, &config, argc, argv, stderr)) {
	case OPTIONS_HELP:
		options_help(&cmtstat_program, stdout);
		return flush_output() ? EXIT_RUNTIME : 0;
	case OPTIONS_VERSION:
		printf("cmtstat %s\n", cmt_version());
		return flush_output() ? EXIT_RUNTIME : 0;
	case OPTIONS_BAD:
		return EXIT_USAGE;
	case OPTIONS_RUN:
		break;
	}
	if (optind < argc)
		return options_usage(&cmtstat_program, stderr,
				     "%s: takes no operands", argv[optind]);
	if (config.expand && config.by != BY_CONTAINER)
		return options_usage(&cmtstat_program, stderr,
				     "--expand: only --by container");
	ret = cmt_device_open(&dev, config.device, 0);
	if (ret) {
		error_open(stderr, "cmtstat", config.device, false, ret);
		return EXIT_RUNTIME;
	}
	ret = caps_drop(false);
	if (ret) {
		error_plain(stderr, "cmtstat", "cannot drop capabilities", ret);
		ret = EXIT_RUNTIME;
	} else {
		ret = run_session(&session, dev);
	}
	cmt_device_close(dev);
	return ret;
}
