// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

#include <errno.h>
#include <stdlib.h>

#include "common/caps.h"
#include "common/errors.h"
#include "common/meter_view.h"
#include "summary.h"

#define READ_NS 10000000ULL	/* between readings, where -i does not say */

struct session {
	const struct config *config;
	char **argv;
	struct cmt_device *dev;
	struct launch launch;
	struct meter meter;
};

static int read_anchor(struct session *session)
{
	int ret = meter_read(&session->meter, session->dev, CMT_OWNER_PROCESS,
			     (uint64_t)session->launch.anchor);

	/* the owner has ended: the earlier readings count */
	if (ret != -ENOENT)
		return ret;
	session->meter.why |= CMT_USAGE_WHY_ENDED;
	session->meter.incomplete = true;
	session->meter.gap[METER_TOTAL] = true;
	session->meter.gap[METER_LOCAL] = true;
	return 0;
}

/*
 * Failing readings end the measurement and not the command, which goes on unmeasured.
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

/* The command runs in between two readings. */
static int run(struct session *session)
{
	int ret;

	meter_await_rmid(session->dev, CMT_OWNER_PROCESS,
			 (uint64_t)session->launch.anchor);
	ret = read_anchor(session);
	if (ret)
		goto unread;
	meter_begin(&session->meter);
	ret = launch_start(&session->launch);
	if (ret)
		return launch_say_failed("cmtstat", session->argv, ret);
	ret = watch(session);
	if (!ret)
		ret = print_summary(session);
	if (!ret)
		return launch_exit_status(&session->launch);
unread:
	error_plain(stderr, "cmtstat", "cannot read the counters", ret);
	return session->launch.end_ns ? launch_exit_status(&session->launch) :
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
	ret = launch_register(&session->launch, session->dev, "cmtstat");
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
