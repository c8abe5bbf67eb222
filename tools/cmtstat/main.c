// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtstat.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "caps.h"
#include "clock.h"
#include "command.h"
#include "errors.h"
#include "meter.h"
#include "signals.h"
#include "source.h"
#include "terminal.h"
#include "text.h"
#include "why.h"

#define FIRST_LOOK_NS 500000000ULL	/* between screens of the first interval */
#define HIDDEN_NS 250000000ULL		/* between checks for the foreground */

struct session {
	const struct config *config;
	enum view by;
	bool expand;
	struct source source;
	struct report report;
	bool shown;		/* report holds one */
	bool screen;		/* full screen */
	bool quit;
};

enum { WATCH_DEVICE, WATCH_OUTPUT, WATCH_KEYS, NR_WATCHED };

static bool may_use_attributes(void)
{
	const char *no_color = getenv("NO_COLOR");

	return !no_color || !*no_color;
}

static void draw(const struct session *session, FILE *out)
{
	struct table_opts opts = {
		.attributes = may_use_attributes(),
		.eol = TERMINAL_EOL,
	};

	terminal_size(&opts.width, &opts.height);
	view_table(out, &session->report, &opts);
}

static void print_plain(const struct session *session, FILE *out)
{
	const struct table_opts opts = { .eol = "\n" };

	view_table(out, &session->report, &opts);
	fputc('\n', out);
}

static int print_report(const struct session *session, FILE *out)
{
	if (session->config->output == OUTPUT_JSON)
		return view_json(out, &session->report);
	if (session->config->output == OUTPUT_CSV)
		view_csv(out, &session->report);
	else if (session->screen)
		draw(session, out);
	else
		print_plain(session, out);
	return 0;
}

/* The whole interval is in memory before its first byte is written. */
static int show(const struct session *session)
{
	static const char NONE[] = "cmtstat: no readings in this interval\n";
	struct text text;
	int ret = text_open(&text);

	if (ret)
		return ret;
	ret = text_close(&text, print_report(session, text.out));
	if (ret)
		goto out;
	if (session->screen)
		ret = terminal_draw(text.bytes, text.len);
	else
		ret = signals_write(STDOUT_FILENO, text.bytes, text.len);
	if (!ret && session->config->output == OUTPUT_CSV &&
	    !session->report.frame.end_ns)
		ret = signals_write(STDERR_FILENO, NONE, sizeof(NONE) - 1);
out:
	free(text.bytes);
	return ret;
}

/* @wanted_ns: the interval goes on to this length; 0: it ends here. */
static int report(struct session *session, uint64_t wanted_ns)
{
	const struct selection selection = {
		.key = session->config->sort,
		.filter = session->config->filter,
		.top = (uint32_t)session->config->top,
		.expand = session->expand,
	};
	int ret = source_report(&session->source, wanted_ns, &session->report);

	if (ret)
		return ret;
	session->report.expand = session->expand;
	rows_select(&session->report.frame, &selection);
	session->shown = true;
	return session->screen && !terminal_entered() ? 0 : show(session);
}

/* After a stop, and where a shell may have moved the process. */
static void enter_screen(void)
{
	terminal_enter();
	signal_redraw = 1;
}

/* What signals asked for while waiting. */
static int attend(struct session *session)
{
	if (signal_suspend) {
		terminal_leave();
		signals_suspend();
	}
	if (signal_continue) {
		signal_continue = 0;
		enter_screen();
	}
	if (!signal_redraw)
		return 0;
	signal_redraw = 0;
	return session->shown && terminal_entered() ? show(session) : 0;
}

/* An expanded table, or one no more, is the next one. */
static void read_keys(struct session *session)
{
	char keys[TERMINAL_KEYS];
	const char *key;

	terminal_keys(keys);
	session->quit = strchr(keys, 'q') != NULL;
	for (key = keys; *key; key++)
		session->expand ^= *key == 'e' && session->by == VIEW_CONTAINER;
}

/* No signal tells that a shell has brought a process to the foreground. */
static uint64_t wait_limit(const struct session *session, uint64_t until_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t limit = until_ns > now ? until_ns - now : 0;
	uint64_t due = source_wait_ns(&session->source);

	if (limit > due)
		limit = due;
	if (session->screen && !terminal_entered() && limit > HIDDEN_NS)
		return HIDDEN_NS;
	return limit;
}

/* Wait for records, a key, a signal, the end of the interval, or @until_ns. */
static int wait_for(struct session *session, uint64_t until_ns)
{
	struct pollfd fds[NR_WATCHED] = {
		{ .fd = source_fd(&session->source), .events = POLLIN },
		{ .fd = STDOUT_FILENO },	/* only errors */
		{ .fd = terminal_keys_fd(), .events = POLLIN },
	};
	int ret;

	ret = signals_poll(fds, NR_WATCHED, wait_limit(session, until_ns));
	if (ret < 0 && ret != -EINTR)
		return ret;
	if (session->screen && !terminal_entered())
		enter_screen();
	if (ret == -EINTR)
		return attend(session);
	if (fds[WATCH_DEVICE].revents & (POLLERR | POLLHUP | POLLNVAL))
		return -ENODEV;
	if (fds[WATCH_OUTPUT].revents & (POLLERR | POLLHUP | POLLNVAL))
		return -EPIPE;
	if (fds[WATCH_KEYS].revents)
		read_keys(session);
	return attend(session);
}

/* A screen is not empty for the whole of a long first interval. */
static int first_look(struct session *session, uint64_t *look_ns)
{
	if (clock_ns(CLOCK_MONOTONIC) < *look_ns)
		return 0;
	*look_ns = clock_ns(CLOCK_MONOTONIC) + FIRST_LOOK_NS;
	return report(session, session->config->interval_ns);
}

/* Returns 1 after the report of an interval, 0 or -errno. */
static int step(struct session *session, uint64_t *look_ns)
{
	int ret = wait_for(session, *look_ns);

	if (!ret)
		ret = source_pump(&session->source);
	if (ret < 0)
		return ret;
	if (!ret)
		return first_look(session, look_ns);
	*look_ns = UINT64_MAX;
	ret = report(session, 0);
	return ret ? ret : 1;
}

static int run(struct session *session)
{
	uint64_t look_ns = UINT64_MAX;
	uint64_t left = session->config->count;
	int ret = 0;

	if (session->screen)
		look_ns = clock_ns(CLOCK_MONOTONIC) + FIRST_LOOK_NS;
	while (ret >= 0 && !signal_stop && !session->quit) {
		ret = step(session, &look_ns);
		if (ret > 0 && left && !--left)
			break;
	}
	return ret < 0 ? ret : 0;
}

static int print_header(enum view by)
{
	struct text text;
	int ret = text_open(&text);

	if (ret)
		return ret;
	view_csv_header(text.out, by);
	return text_write(&text, STDOUT_FILENO, 0);
}

/* The screen's last table stays readable after a bounded run. */
static int leave_screen(struct session *session)
{
	if (!session->screen)
		return 0;
	terminal_leave();
	session->screen = false;
	return session->config->count && session->shown ? show(session) : 0;
}

/* Where CPUs are what is measured, there is little to see of containers. */
static enum view view_of(const struct config *config,
				 const struct cmt_device *dev)
{
	bool cpus = cmt_device_info(dev)->scope == CMT_SCOPE_CPU;

	if (!cpus || config->by_given || config->expand)
		return config->by;
	return config->light ? VIEW_PROCESS : VIEW_CPU;
}

static void print_hints(const struct session *session)
{
	if (!session->config->light && session->config->interval_ns <
	    cmt_device_info(session->source.dev)->interval_ns)
		fprintf(stderr,
			"cmtstat: the sampling interval is longer: see cmtctl interval\n");
}

/* What is printed before the alternate screen is hidden by it. */
static int run_screen(struct session *session)
{
	bool screen = session->screen;
	int ret = 0, err;

	if (screen)
		terminal_enter();
	else if (session->config->output == OUTPUT_CSV)
		ret = print_header(session->by);
	if (!ret)
		ret = run(session);
	err = leave_screen(session);
	if (screen && isatty(STDERR_FILENO))
		print_hints(session);
	return ret ? ret : err;
}

/* Open what the session needs, run it, and put everything back. */
static int run_session(struct session *session, struct cmt_device *dev)
{
	const struct config *config = session->config;
	uint32_t counters = config->counters;
	int ret;

	session->by = view_of(config, dev);
	if (session->by == VIEW_CHANNEL)
		counters |= CMT_F_CHANNEL;
	session->expand = config->expand;
	ret = source_open(&session->source, dev, session->by,
			  config->interval_ns, counters,
			  config->light);
	if (ret) {
		error_reader(stderr, "cmtstat", ret);
		source_close(&session->source);
		return EXIT_RUNTIME;
	}
	print_hints(session);
	session->screen = config->output == OUTPUT_TABLE && !config->plain &&
			  terminal_usable();
	signals_setup(session->screen);
	ret = run_screen(session);
	source_close(&session->source);
	/* the reader of the output has gone, or a signal ended a write to it */
	if (!ret || ret == -EPIPE || ret == -EINTR)
		return 0;
	error_plain(stderr, "cmtstat", ret == -ENODEV ? "the device is gone" :
		    "stopped", ret);
	return EXIT_RUNTIME;
}

static int finish_output(void)
{
	return fflush(stdout) || ferror(stdout) ? EXIT_RUNTIME : 0;
}

/* The table, or what stands in its place, until it ends. */
static int show_device(const struct config *config)
{
	struct session session = { .config = config };
	struct cmt_device *dev;
	int ret = cmt_device_open(&dev, config->device, 0);

	if (ret) {
		error_open(stderr, "cmtstat", config->device, false, ret);
		return EXIT_RUNTIME;
	}
	ret = caps_drop(false);
	if (ret) {
		error_plain(stderr, "cmtstat", "cannot drop capabilities", ret);
		ret = EXIT_RUNTIME;
	} else {
		ret = config->why ? why_run(config, dev) :
				    run_session(&session, dev);
	}
	cmt_device_close(dev);
	return ret;
}

/* What a command cannot have: NULL, or why. */
static const char *misplaced(const struct config *config)
{
	if (config->interval_given && config->interval_ns > METER_READ_NS)
		return "--interval: at most 0.5 with a command";
	if (config->by_given || config->expand || config->count ||
	    config->top || config->filter || config->plain || config->light ||
	    config->why ||
	    config->sort != SORT_DEFAULT || config->output == OUTPUT_CSV)
		return "with a command, only --interval, --json and --device";
	return NULL;
}

static int run_command(const struct config *config, char **argv)
{
	const char *why = misplaced(config);

	if (why)
		return options_usage(&cmtstat_program, stderr, "%s", why);
	return command_measure(config, argv);
}

/* What there is not without ticks: NULL, or what is wrong. */
static const char *not_light(const struct config *config)
{
	if (config->by == VIEW_CPU)
		return "--light: not --by cpu: what runs on a CPU only ticks know";
	if (config->by == VIEW_CHANNEL)
		return "--light: not --by channel: memory channels are read in ticks";
	if (config->interval_ns < LIGHT_MIN_NS ||
	    config->interval_ns > LIGHT_MAX_NS)
		return "--light: an interval from 0.05 to 1800";
	return NULL;
}

/* The operand of --why is a pattern, as that of --filter. */
static int run_why(struct config *config, int argc, char **argv)
{
	const char *why = why_misplaced(config);

	if (optind < argc && !config->filter && *argv[optind])
		config->filter = argv[optind++];
	if (optind < argc)
		return options_usage(&cmtstat_program, stderr,
				     "%s: --why takes one container",
				     argv[optind]);
	if (why)
		return options_usage(&cmtstat_program, stderr, "%s", why);
	return show_device(config);
}

static int run_parsed(struct config *config, int argc, char **argv)
{
	bool dashes = !strcmp(argv[optind - 1], "--");
	const char *why = config->light ? not_light(config) : NULL;

	if (optind < argc && dashes)
		return run_command(config, argv + optind);
	if (config->why && !dashes)
		return run_why(config, argc, argv);
	if (optind < argc)
		return options_usage(&cmtstat_program, stderr,
				     "%s: takes no operands; a command follows --",
				     argv[optind]);
	if (dashes)
		return options_usage(&cmtstat_program, stderr,
				     "--: no command follows");
	if (config->expand && config->by != VIEW_CONTAINER)
		return options_usage(&cmtstat_program, stderr,
				     "--expand: only --by container");
	if (why)
		return options_usage(&cmtstat_program, stderr, "%s", why);
	return show_device(config);
}

int main(int argc, char **argv)
{
	struct config config = cmtstat_defaults;

	switch (options_parse(&cmtstat_program, &config, argc, argv, stderr)) {
	case OPTIONS_HELP:
		options_help(&cmtstat_program, stdout);
		return finish_output();
	case OPTIONS_VERSION:
		printf("cmtstat %s\n", cmt_version());
		return finish_output();
	case OPTIONS_BAD:
		return EXIT_USAGE;
	case OPTIONS_RUN:
		break;
	}
	return run_parsed(&config, argc, argv);
}
