// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "caps.h"
#include "errors.h"
#include "format.h"
#include "meter_view.h"
#include "source.h"
#include "summary.h"

#define READ_NS 10000000ULL	/* between readings, where -i does not say */

enum {
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128,	/* and its number */
};

struct session {
	const struct config *config;
	char **argv;
	struct cmt_device *dev;
	struct launch launch;
	struct meter meter;
};

/* Rights to change something are needed once, and not by the readings. */
static int register_anchor(struct session *session)
{
	int ret = caps_drop(true);

	if (!ret)
		ret = cmt_register(session->dev, CMT_OWNER_PROCESS,
				   (uint64_t)session->launch.anchor,
				   CMT_ATTACH_CHILDREN, NULL);
	if (ret)
		error_reason(stderr, "cmtstat", "cannot measure a command",
			     CMT_CALL_ATTACH, ret, NULL);
	return ret;
}

static int read_anchor(struct session *session)
{
	int ret = meter_read(&session->meter, session->dev, CMT_OWNER_PROCESS,
			     (uint64_t)session->launch.anchor);

	/* somebody killed it: what was read before stays */
	if (ret != -ENOENT)
		return ret;
	session->meter.why |= CMT_USAGE_WHY_ENDED;
	session->meter.incomplete = true;
	session->meter.gap[METER_TOTAL] = true;
	session->meter.gap[METER_LOCAL] = true;
	return 0;
}

/*
 * Readings that fail end the measurement and not the command, which goes on as if
 * nobody measured it.
 */
static int watch(struct session *session)
{
	uint64_t every = session->config->interval_given ?
			 session->config->interval_ns : READ_NS;
	int ret, err = 0;

	do {
		ret = launch_wait(&session->launch, err ? METER_READ_NS : every);
		if (!err && ret >= 0)
			err = read_anchor(session);
	} while (!ret);
	return ret < 0 ? ret : err;
}

static int print_summary(const struct session *session)
{
	const struct summary summary = {
		.argv = session->argv, .launch = &session->launch,
		.meter = &session->meter,
		.info = cmt_device_info(session->dev),
	};

	if (session->config->output == OUTPUT_JSON)
		return summary_json(stderr, &summary);
	summary_text(stderr, &summary);
	return 0;
}

static int cannot_run(const struct session *session, int err)
{
	char name[4 * LINE_MAX];

	escape_text(name, sizeof(name), session->argv[0], ESCAPE_ASCII);
	error_plain(stderr, "cmtstat", name, err);
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

/* The command runs in between two readings. */
static int run(struct session *session)
{
	int ret = read_anchor(session);

	if (ret)
		goto unread;
	meter_begin(&session->meter);
	ret = launch_start(&session->launch);
	if (ret)
		return cannot_run(session, ret);
	ret = watch(session);
	if (!ret)
		ret = print_summary(session);
	if (!ret)
		return exit_status(session->launch.status);
unread:
	error_plain(stderr, "cmtstat", "cannot read the counters", ret);
	return session->launch.end_ns ? exit_status(session->launch.status) :
					EXIT_RUNTIME;
}

static int open_and_run(struct session *session)
{
	const char *path = session->config->device;
	int ret = cmt_device_open(&session->dev, path, CMT_OPEN_CONTROL);

	if (ret) {
		error_open(stderr, "cmtstat", path, true, ret);
		return EXIT_RUNTIME;
	}
	session->meter.events = cmt_device_info(session->dev)->events;
	ret = register_anchor(session);
	if (!ret) {
		ret = caps_drop(false);
		if (ret)
			error_plain(stderr, "cmtstat",
				    "cannot drop capabilities", ret);
	}
	ret = ret ? EXIT_RUNTIME : run(session);
	cmt_device_close(session->dev);
	return ret;
}

int command_measure(const struct config *config, char **argv)
{
	struct session session = { .config = config, .argv = argv };
	int ret = launch_prepare(&session.launch, argv);

	if (ret) {
		error_plain(stderr, "cmtstat", "cannot start a command", ret);
		return EXIT_RUNTIME;
	}
	ret = open_and_run(&session);
	launch_finish(&session.launch);
	return ret;
}
