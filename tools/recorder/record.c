// SPDX-License-Identifier: GPL-2.0-or-later
#include "record.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "command/launch.h"
#include "common/caps.h"
#include "common/clock.h"
#include "common/errors.h"
#include "common/filter.h"
#include "common/format.h"
#include "common/signals.h"
#include "config/subcommand.h"
#include "record_sync.h"
#include "record_view.h"

#define COMMAND_NS	10000000ULL	/* between readings while a command runs */
#define END_NS		5000000000ULL	/* the longest time of readings at the end */
#define END_PAUSE_NS	10000000	/* between these, where there is nothing to read */
#define SECOND_NS	1000000000ULL
#define SYNC_NS		250000000ULL

struct session {
	const struct record_config *config;
	char **argv;		/* of the command; NULL: there is none */
	struct cmt_device *dev;
	struct capture capture;
	struct record_file file;
	struct record_sync sync;
	struct launch launch;
	bool progress;
	int unstarted;		/* why the command did not start */
	bool gone;		/* the file was removed */
	int sync_err;
	uint64_t unread;	/* records of before the end that are in the rings */
	uint64_t unsynced;	/* files that were finished while the disk was behind */
	uint64_t begin_ns, end_ns;
	uint64_t shown_ns, synced_ns;
};

/* "cmtstat record: FILE: why" */
static int say_file(const struct session *session, int err)
{
	const char *why = record_file_why(err);
	char path[4 * PATH_MAX];

	escape_text(path, sizeof(path), session->file.path, ESCAPE_ASCII);
	if (why)
		fprintf(stderr, RECORD_NAME ": %s: %s\n", path, why);
	else
		error_plain(stderr, RECORD_NAME, path, err);
	return EXIT_RUNTIME;
}

static struct record_summary summarize(const struct session *session)
{
	struct record_summary summary = {
		.file = &session->file, .unread = session->unread,
	};

	capture_counts(&session->capture, &summary.counts);
	summary.elapsed_ns = (session->end_ns ? session->end_ns :
			      clock_ns(CLOCK_MONOTONIC)) - session->begin_ns;
	return summary;
}

static void show_progress(struct session *session)
{
	const struct record_summary summary = summarize(session);

	record_progress(stderr, &summary);
}

/* Start to write the file to the disk, and check that it still exists. */
static int look_after_file(struct session *session)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret;

	if (now - session->synced_ns >= SYNC_NS) {
		session->synced_ns = now;
		ret = record_sync_ask(&session->sync, session->file.fd);
		session->sync_err = ret ? ret : session->sync_err;
	}
	if (now - session->shown_ns < SECOND_NS)
		return 0;
	session->shown_ns = now;
	if (session->progress)
		show_progress(session);
	session->gone = record_file_removed(&session->file);
	return session->gone ? -ENOENT : session->sync_err;
}

static int sync_finished(struct session *session)
{
	int ret = record_sync_hand(&session->sync, session->file.fd, "");

	if (ret == -EAGAIN) {
		session->unsynced++;
		return 0;
	}
	session->sync_err = ret ? ret : session->sync_err;
	return ret;
}

/* Go on in another file. */
static int rotate(struct session *session)
{
	int ret = cmt_recorder_end(session->capture.recorder);

	if (!ret)
		ret = sync_finished(session);
	if (!ret)
		ret = record_file_rotate(&session->file);
	return ret ? ret : capture_begin(&session->capture);
}

/* SIGUSR1 without --keep: write all records to the file. */
static int flush_if_asked(struct session *session)
{
	int ret;

	if (!signal_save)
		return 0;
	signal_save = 0;
	ret = cmt_recorder_flush(session->capture.recorder);
	/* chunks that there was no memory for are counted */
	if (ret && ret != -ENOMEM)
		return ret;
	fprintf(stderr, RECORD_NAME ": SIGUSR1: the data was written, and the recording goes on; only with --keep SIGUSR1 saves a file\n");
	return 0;
}

/* Returns 1: there is more to read, 0, or -errno. */
static int pump(struct session *session)
{
	int more = capture_pump(&session->capture);
	int ret = more < 0 ? more : 0;

	if (!ret)
		ret = flush_if_asked(session);
	if (!ret && record_file_full(&session->file))
		ret = rotate(session);
	if (!ret)
		ret = look_after_file(session);
	return ret ? ret : more;
}

static uint64_t wait_limit(const struct session *session)
{
	uint64_t limit = capture_wait_ns(&session->capture);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t end = session->begin_ns + session->config->duration_ns;

	if (!session->config->duration_ns || now + limit < end)
		return limit;
	return end > now ? end - now : 0;
}

static bool is_over(const struct session *session)
{
	uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - session->begin_ns;

	return signal_stop || (session->config->duration_ns &&
			       elapsed >= session->config->duration_ns);
}

static int wait_for(const struct session *session, bool more)
{
	struct pollfd fd = {
		.fd = cmt_device_fd(session->dev), .events = POLLIN,
	};
	int ret = signals_poll(&fd, 1, more ? 0 : wait_limit(session));

	if (ret < 0)
		return ret == -EINTR ? 0 : ret;
	return fd.revents & (POLLERR | POLLHUP | POLLNVAL) ? -ENODEV : 0;
}

static int run_loop(struct session *session)
{
	int ret = 0;

	while (ret >= 0 && !is_over(session)) {
		ret = wait_for(session, ret > 0);
		if (!ret)
			ret = pump(session);
	}
	return ret < 0 ? ret : 0;
}

/*
 * A failed recording ends, and the command goes on.  One that does not start leaves an earlier
 * recording as it is.
 */
static int run_command(struct session *session)
{
	int ret = launch_start(&session->launch), more = 0;

	if (ret) {
		session->unstarted = ret;
		return 0;
	}
	more = record_file_clear(&session->file);
	do {
		ret = launch_wait(&session->launch, more > 0 ? 0 :
				  more ? SECOND_NS : COMMAND_NS);
		if (more >= 0 && ret >= 0)
			more = pump(session);
	} while (!ret);
	return more < 0 ? more : ret < 0 ? ret : 0;
}

/* Records come in the order of time: after a later one none is of before the end. */
static uint64_t count_unread(const struct session *session)
{
	struct capture_counts counts;

	capture_counts(&session->capture, &counts);
	return session->capture.newest_ns < session->end_ns ? counts.reader.pending : 0;
}

/* As wait_for(), and blocked signals stay blocked. */
static int pause_at_end(const struct session *session)
{
	const struct timespec pause = { .tv_nsec = END_PAUSE_NS };
	struct pollfd fd = {
		.fd = cmt_device_fd(session->dev), .events = POLLIN,
	};

	if (ppoll(&fd, 1, &pause, NULL) < 0)
		return errno == EINTR ? 0 : -errno;
	return fd.revents & (POLLERR | POLLHUP | POLLNVAL) ? -ENODEV : 0;
}

/* Records of before the end belong to the recording, and some can only be read later. */
static int read_rest(struct session *session)
{
	uint64_t until = session->end_ns + END_NS;
	int ret;

	do {
		ret = pump(session);
		session->unread = count_unread(session);
		if (!ret && session->unread)
			ret = pause_at_end(session);
	} while (ret >= 0 && session->unread && clock_ns(CLOCK_MONOTONIC) < until);
	return ret < 0 ? ret : 0;
}

/* Returns the first error. */
static int finish(struct session *session, int ret)
{
	int err;

	session->end_ns = clock_ns(CLOCK_MONOTONIC);
	session->unread = count_unread(session);
	if (!ret)
		ret = read_rest(session);
	if (!session->file.err) {
		err = capture_look(&session->capture);
		ret = ret ? ret : err;
	}
	if (!session->file.err) {
		err = cmt_recorder_end(session->capture.recorder);
		ret = ret ? ret : err;
	}
	if (session->progress)
		record_progress_end(stderr);
	return ret;
}

static int say_stopped(const struct session *session, int ret)
{
	if (session->gone)
		fprintf(stderr, RECORD_NAME ": the file was removed, so the recording has ended\n");
	else if (session->file.err)
		say_file(session, session->file.err);
	else if (session->sync_err)
		error_plain(stderr, RECORD_NAME, "the disk did not accept the data",
			    session->sync_err);
	else
		error_plain(stderr, RECORD_NAME, ret == -ENODEV ?
			    "the device is gone" : "stopped", ret);
	if (session->file.err)
		fprintf(stderr, RECORD_NAME ": the recording ends there, and is complete up to its last chunk\n");
	return EXIT_RUNTIME;
}

static int end_session(struct session *session, int ret)
{
	struct record_summary summary;
	int err;

	ret = finish(session, ret);
	err = record_sync_end(&session->sync);
	if (!session->sync_err)
		session->sync_err = err;
	summary = summarize(session);
	err = record_file_close(&session->file);
	if (!session->sync_err)
		session->sync_err = err;
	if (!session->config->quiet)
		record_summary(stderr, &summary);
	record_losses(stderr, &summary);
	if (session->unsynced)
		fprintf(stderr, RECORD_NAME ": finished files that are not synced, because the disk was behind: %llu\n",
			(unsigned long long)session->unsynced);
	if (!ret)
		ret = session->sync_err;
	return ret ? say_stopped(session, ret) : 0;
}

static int exit_status(const struct session *session, int ret)
{
	int status;

	if (!session->argv || !session->launch.end_ns)
		return ret;
	status = launch_exit_status(&session->launch);
	return status ? status : ret;
}

static int run(struct session *session)
{
	int ret;

	session->begin_ns = clock_ns(CLOCK_MONOTONIC);
	ret = session->argv ? 0 : record_file_clear(&session->file);
	if (ret)
		return say_file(session, ret);
	ret = capture_begin(&session->capture);
	if (!ret && !session->argv)
		ret = run_loop(session);
	else if (!ret)
		ret = run_command(session);
	if (session->unstarted)
		return launch_say_failed(RECORD_NAME, session->argv, session->unstarted);
	return exit_status(session, end_session(session, ret));
}

static int open_capture(struct session *session)
{
	const struct capture_opts opts = {
		.program = "cmtstat", .counters = session->config->counters,
		.write = record_file_write, .ctx = &session->file,
		.flags = session->config->recorder_flags,
	};
	int ret = capture_open(&session->capture, session->dev, &opts);

	record_emulated(stderr, cmt_device_info(session->dev));
	if (ret) {
		error_reader(stderr, RECORD_NAME, ret);
		ret = EXIT_RUNTIME;
	} else {
		if (!session->argv) {
			signals_setup(false);
			signals_take_save();
		}
		ret = run(session);
	}
	capture_close(&session->capture);
	return ret;
}

static int drop_caps(void)
{
	int ret = caps_drop(false);

	if (ret)
		error_plain(stderr, RECORD_NAME, "cannot drop capabilities", ret);
	return ret;
}

/* The command was forked before, and has no filter. */
static int load_filter(const struct session *session)
{
	unsigned int parts = FILTER_READER | FILTER_WRITER;
	bool filtered;

	if (session->argv)
		parts |= FILTER_LAUNCHER;
	return filter_begin(RECORD_NAME, parts, session->config->seccomp,
			    &filtered);
}

/* Rotation opens files later, without capabilities: say so before it is needed. */
static int check_directory(const struct session *session)
{
	char path[PATH_MAX], *slash;

	if (!session->config->max_bytes)
		return 0;
	if (snprintf(path, sizeof(path), "%s", session->file.path) >= PATH_MAX)
		return say_file(session, -ENAMETOOLONG);
	slash = strrchr(path, '/');
	if (slash)
		slash[slash == path] = '\0';
	if (!access(slash ? path : ".", W_OK | X_OK))
		return 0;
	fprintf(stderr, RECORD_NAME ": --max-size: the directory of FILE is not writable without capabilities, which are dropped\n");
	return -errno;
}

/*
 * With capabilities from the program's file, the output is opened with the user's
 * rights only; root keeps its capabilities, and may open files in other users'
 * directories.
 */
static int open_files(struct session *session)
{
	bool lent = getauxval(AT_SECURE);
	int ret = lent ? 0 : record_file_open(&session->file);

	if (ret)
		return say_file(session, ret);
	if (session->argv &&
	    launch_register(&session->launch, session->dev, RECORD_NAME))
		return EXIT_RUNTIME;
	if (drop_caps())
		return EXIT_RUNTIME;
	ret = lent ? record_file_open(&session->file) : 0;
	if (ret)
		return say_file(session, ret);
	if (check_directory(session) || load_filter(session))
		return EXIT_RUNTIME;
	return open_capture(session);
}

static int open_device(struct session *session)
{
	const struct origin_opts opts = {
		.origin = session->config->origin, .path = session->config->device,
	};
	bool control = session->argv;
	int ret = control ? cmt_device_open(&session->dev, opts.path, CMT_OPEN_CONTROL) :
			    origin_open(&session->dev, &opts);

	if (ret && control)
		error_open(stderr, RECORD_NAME, opts.path, true, ret);
	else if (ret)
		origin_error(stderr, RECORD_NAME, &opts, ret);
	if (ret)
		return EXIT_RUNTIME;
	ret = open_files(session);
	record_file_close(&session->file);
	cmt_device_close(session->dev);
	return ret;
}

/* Processes are forked before there is a device that they would have, too. */
static int record(struct session *session)
{
	int ret = record_sync_begin(&session->sync, session->config->seccomp);

	if (!ret && session->argv)
		ret = launch_prepare(&session->launch, session->argv);
	if (ret) {
		error_plain(stderr, RECORD_NAME, "cannot start a process", ret);
		record_sync_end(&session->sync);
		return EXIT_RUNTIME;
	}
	ret = open_device(session);
	if (session->argv)
		launch_finish(&session->launch);
	record_sync_end(&session->sync);
	return ret;
}

static int check_flight(const struct record_config *config, bool command)
{
	const char *why = NULL;

	if (!config->keep_ns)
		why = "--save-to, --max-memory, --on, --distance, --peak, --socket: only with --keep";
	else if (config->output || command || config->max_bytes || config->force)
		why = "--keep: not with --output, --force, --max-size or a command";
	else if (!config->directory)
		why = "--keep needs --save-to DIRECTORY";
	return why ? options_usage(&record_program, stderr, "%s", why) : 0;
}

static int check(const struct record_config *config, int argc, char **argv)
{
	bool dashes = !strcmp(argv[optind - 1], "--");

	if (optind < argc && !dashes)
		return options_usage(&record_program, stderr,
				     "%s: takes no operands; a command follows --",
				     argv[optind]);
	if (dashes && optind == argc)
		return options_usage(&record_program, stderr,
				     "--: no command follows");
	if (config->bad_rule)
		return options_usage(&record_program, stderr, "--on: %s",
				     config->bad_rule);
	if (config->keep_ns || config->flight_given)
		return check_flight(config, dashes);
	if (dashes && config->origin == ORIGIN_RESCTRL)
		return options_usage(&record_program, stderr,
				     "a command: not with --source resctrl: a command takes a dedicated RMID");
	if (dashes && config->duration_ns)
		return options_usage(&record_program, stderr,
				     "--duration: not with a command, at whose end the recording ends");
	if (!config->output)
		return options_usage(&record_program, stderr,
				     "--output: which file?");
	if (!strcmp(config->output, "-"))
		return options_usage(&record_program, stderr,
				     "--output -: only to a file");
	if (config->max_files_given && !config->max_bytes)
		return options_usage(&record_program, stderr,
				     "--max-files: only with --max-size");
	return 0;
}

int record_main(int argc, char **argv)
{
	struct record_config config = record_defaults;
	struct session session = { .config = &config, .file.fd = -1 };
	int status;

	if (!subcommand_parse(&record_program, &config, argc, argv, &status))
		return status;
	status = check(&config, argc, argv);
	if (status)
		return status;
	if (config.keep_ns)
		return flight_run(&config);
	session.argv = optind < argc ? argv + optind : NULL;
	session.progress = !config.quiet && isatty(STDERR_FILENO);
	session.file.path = config.output;
	session.file.max_bytes = config.max_bytes;
	session.file.max_files = config.max_files;
	session.file.force = config.force;
	return record(&session);
}
