// SPDX-License-Identifier: GPL-2.0-or-later
/* The flight recorder: the last minutes in memory, and in a file on request */
#include "record.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/capture.h"
#include "common/clock.h"
#include "common/errors.h"
#include "common/filter.h"
#include "common/format.h"
#include "common/signals.h"
#include "record_sync.h"
#include "record_view.h"
#include "save.h"
#include "save_socket.h"
#include "trigger.h"

#define AGAIN_NS 1000000000ULL	/* earlier requests get the last result */
#define TOLD_NS 60000000000ULL	/* an error of the rules is told no more often */
#define AFTER_NS 2000000000ULL	/* the file of a rule includes the consequences */

struct flight {
	const struct record_config *config;
	struct cmt_device *dev;
	struct capture capture;
	struct keep keep;
	struct saves saves;
	struct save *saving;	/* NULL: chunks are kept */
	struct record_sync sync;
	bool unsynced;		/* the disk did not accept a file */
	bool told_stays;	/* that a file cannot be removed */
	struct save_socket socket;
	struct trigger trigger;
	uint64_t tried_ns;	/* the last attempt to save; 0: never */
	int tried;		/* its result: 0 or -errno */
	uint64_t rule_ns;	/* the last one for a rule; 0: never */
	uint64_t nr_saves;
	char last[NAME_MAX + 1];
	uint64_t due_ns;	/* when to save for the rule; 0: none has fired */
	char rule[TRIGGER_WHY];
	uint64_t unchecked_ns;	/* when it was told that rules are not checked; 0: never */
};

static int take_chunk(void *ctx, const struct cmt_chunk *chunk)
{
	struct flight *flight = ctx;

	if (flight->saving)
		return keep_file_chunk(&flight->saving->file, chunk);
	return keep_add(&flight->keep, chunk);
}

/* All that is there until now.  Returns 0 or -errno. */
static int write_save(struct flight *flight, struct save *save, bool asked)
{
	int ret = capture_look(&flight->capture);

	if (!ret)
		ret = save_begin(save, &flight->saves, &flight->keep, asked);
	flight->saving = save;
	if (!ret)
		ret = keep_file_end(&save->file, flight->capture.recorder);
	flight->saving = NULL;
	return save_finish(save, &flight->saves, ret);
}

/* @name: of a saved file; "": not known */
static void report_unsynced(struct flight *flight, const char *name, int err)
{
	char path[4 * PATH_MAX];

	flight->unsynced |= err != -EAGAIN;
	escape_text(path, sizeof(path), flight->saves.path, ESCAPE_ASCII);
	fprintf(stderr, RECORD_NAME ": saved, but not synced: %s/%s: %s\n", path, name,
		err == -EAGAIN ? "the disk is behind with earlier files" : strerror(-err));
}

static void check_synced(struct flight *flight, bool wait)
{
	int err;

	while ((err = record_sync_failed(&flight->sync, wait)))
		report_unsynced(flight, flight->sync.failed, err);
}

static void sync_saved(struct flight *flight, const struct save *save)
{
	int err = record_sync_hand(&flight->sync, save->file.fd, save->name);

	if (err)
		report_unsynced(flight, save->name, err);
}

/* Once: it is tried again with each save. */
static void report_stays(struct flight *flight)
{
	const struct saves *saves = &flight->saves;
	char path[4 * PATH_MAX];

	if (!saves->stays_err || flight->told_stays)
		return;
	flight->told_stays = true;
	escape_text(path, sizeof(path), saves->path, ESCAPE_ASCII);
	fprintf(stderr, RECORD_NAME ": --max-files: cannot remove %s/%s, and removes the next oldest file: %s\n",
		path, saves->stays, strerror(-saves->stays_err));
}

/* Rules that were not worth a save so soon after another one, each once. */
static void report_dropped(struct flight *flight)
{
	struct trigger *trigger = &flight->trigger;
	char text[4 * TRIGGER_WHY];

	for (uint32_t i = 0; i < trigger->nr_rules; i++) {
		if (!trigger->fired[i])
			continue;
		escape_text(text, sizeof(text), trigger->rules[i].text, ESCAPE_ASCII);
		fprintf(stderr, RECORD_NAME ": not saved, within --distance of another save: %llu times %s\n",
			(unsigned long long)trigger->fired[i], text);
	}
	memset(trigger->fired, 0, sizeof(trigger->fired));
}

/* What a rule sees may be a model's. */
static const char *of_model(const struct flight *flight)
{
	return cmt_device_info(flight->dev)->backend == CMT_BACKEND_EMULATED ?
	       " (EMULATED)" : "";
}

/* @why: the reason of the save, a request or a rule.  A failed save prints a message. */
static void save_now(struct flight *flight, const char *why, bool asked)
{
	char path[4 * PATH_MAX], size[FORMAT_LEN];
	struct save save = { .file.fd = -1 };
	int ret;

	escape_text(path, sizeof(path), flight->saves.path, ESCAPE_ASCII);
	ret = write_save(flight, &save, asked);
	flight->tried_ns = clock_ns(CLOCK_MONOTONIC);
	flight->tried = ret;
	if (ret) {
		error_plain(stderr, RECORD_NAME ": cannot save to", path, ret);
	} else {
		flight->nr_saves++;
		memcpy(flight->last, save.name, sizeof(save.name));
		fprintf(stderr, RECORD_NAME ": saved %s/%s, %s: %s%s\n", path,
			save.name, format_bytes(size, save.file.size), why,
			asked ? "" : of_model(flight));
		sync_saved(flight, &save);
		report_stays(flight);
		report_dropped(flight);
	}
	save_close(&save);
}

/* Was @at_ns, when it is not 0, less than @ns ago? */
static bool is_recent(uint64_t at_ns, uint64_t ns)
{
	return at_ns && clock_ns(CLOCK_MONOTONIC) - at_ns < ns;
}

static void answer(struct flight *flight)
{
	char text[PATH_MAX + NAME_MAX + 16];

	if (!save_socket_pending(&flight->socket))
		return;
	if (!is_recent(flight->tried_ns, AGAIN_NS))
		save_now(flight, "cmtctl save", true);
	if (flight->tried)
		snprintf(text, sizeof(text), "error %s", strerror(-flight->tried));
	else
		snprintf(text, sizeof(text), "saved %s/%s", flight->saves.path,
			 flight->last);
	save_socket_answer(&flight->socket, text);
}

/* The recording goes on, and a rule may hold unseen. */
static void report_unchecked(struct flight *flight)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!flight->trigger.err ||
	    (flight->unchecked_ns && now - flight->unchecked_ns < TOLD_NS))
		return;
	flight->unchecked_ns = now;
	error_plain(stderr, RECORD_NAME, "--on: the rules are not checked",
		    flight->trigger.err);
}

/* Rules that fire before a pending save are in that file. */
static void note_rule(struct flight *flight)
{
	bool recent = is_recent(flight->rule_ns, flight->config->distance_ns);
	const char *rule;

	if (!recent)
		report_dropped(flight);
	rule = trigger_pump(&flight->trigger);
	report_unchecked(flight);
	if (recent && !flight->due_ns)
		return;
	memset(flight->trigger.fired, 0, sizeof(flight->trigger.fired));
	if (!rule || flight->due_ns)
		return;
	snprintf(flight->rule, sizeof(flight->rule), "%s", rule);
	flight->due_ns = clock_ns(CLOCK_MONOTONIC) + AFTER_NS;
}

static void save_for_rule(struct flight *flight)
{
	if (!flight->due_ns)
		return;
	flight->due_ns = 0;
	save_now(flight, flight->rule, false);
	flight->rule_ns = flight->tried_ns;
}

/* After a failed save the recording goes on. */
static void save_if_asked(struct flight *flight)
{
	if (signal_save && !is_recent(flight->tried_ns, AGAIN_NS)) {
		signal_save = 0;
		save_now(flight, "SIGUSR1", true);
	}
	answer(flight);
	note_rule(flight);
	if (clock_ns(CLOCK_MONOTONIC) >= flight->due_ns)
		save_for_rule(flight);
}

static int wait_for(const struct flight *flight, bool more)
{
	struct pollfd fds[] = {
		{ .fd = cmt_device_fd(flight->dev), .events = POLLIN },
		{ .fd = flight->socket.fd, .events = POLLIN },
	};
	int ret = signals_poll(fds, 2, more ? 0 :
			       capture_wait_ns(&flight->capture));

	if (ret < 0)
		return ret == -EINTR ? 0 : ret;
	return fds[0].revents & (POLLERR | POLLHUP | POLLNVAL) ? -ENODEV : 0;
}

static bool is_over(const struct flight *flight, uint64_t begin_ns)
{
	return signal_stop || (flight->config->duration_ns &&
			       clock_ns(CLOCK_MONOTONIC) - begin_ns >=
			       flight->config->duration_ns);
}

/*
 * The recording comes first: the rings hold a part of a second, and where records are lost,
 * the rules shall be what lacks them.
 */
static int run(struct flight *flight)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int ret = capture_begin(&flight->capture);

	while (ret >= 0 && !is_over(flight, begin_ns)) {
		ret = wait_for(flight, ret > 0 || flight->trigger.more);
		if (!ret)
			ret = capture_pump_all(&flight->capture);
		if (ret >= 0)
			save_if_asked(flight);
		check_synced(flight, false);
	}
	save_for_rule(flight);
	report_dropped(flight);
	return ret < 0 ? ret : 0;
}

static void summarize(const struct flight *flight)
{
	struct capture_counts counts;
	char size[FORMAT_LEN];
	uint64_t lost;

	capture_counts(&flight->capture, &counts);
	lost = counts.reader.lost + counts.reader.late + counts.reader.malformed +
	       counts.recorder.dropped + counts.recorder.refused_records;
	fprintf(stderr, RECORD_NAME ": %llu records, %s in memory, %llu saves, %llu lost\n",
		(unsigned long long)counts.recorder.records,
		format_bytes(size, flight->keep.bytes),
		(unsigned long long)flight->nr_saves,
		(unsigned long long)lost);
	if (flight->keep.short_of)
		fprintf(stderr, RECORD_NAME ": --max-memory is too little for --keep: less was kept\n");
}

static int record(struct flight *flight)
{
	const struct record_config *config = flight->config;
	const struct capture_opts opts = {
		.program = "cmtstat", .counters = config->counters, .write = take_chunk,
		.ctx = flight, .flags = config->recorder_flags | CMT_RECORDER_NO_INDEX,
	};
	bool filtered, never_holds = false;
	int ret = filter_begin(RECORD_NAME,
			       FILTER_READER | FILTER_SERVER | FILTER_WRITER,
			       config->seccomp, &filtered);

	if (ret)
		return EXIT_RUNTIME;
	/* who reads the message may send a signal */
	signals_setup(false);
	signals_take_save();
	if (!config->quiet)
		fprintf(stderr, RECORD_NAME ": the last minutes are kept, seccomp filter %s\n",
			filtered ? "on" : "off");
	record_emulated(stderr, cmt_device_info(flight->dev));
	ret = capture_open(&flight->capture, flight->dev, &opts);
	if (!ret) {
		ret = trigger_open(&flight->trigger, config);
		never_holds = ret == -ENOTSUP;
	}
	if (ret) {
		if (!never_holds)
			error_reader(stderr, RECORD_NAME, ret);
	} else {
		ret = run(flight);
		if (!config->quiet)
			summarize(flight);
		if (ret)
			error_plain(stderr, RECORD_NAME, ret == -ENODEV ?
				    "the device is gone" : "stopped", ret);
	}
	trigger_close(&flight->trigger);
	capture_close(&flight->capture);
	/* a service does not begin again with such a rule */
	if (never_holds)
		return EXIT_USAGE;
	return ret ? EXIT_RUNTIME : 0;
}

static int refused(const char *option, const char *path, const char *why)
{
	char shown[4 * PATH_MAX];

	escape_text(shown, sizeof(shown), path, ESCAPE_ASCII);
	fprintf(stderr, RECORD_NAME ": %s: %s: %s\n", option, shown, why);
	return EXIT_RUNTIME;
}

static int open_files(struct flight *flight)
{
	const struct record_config *config = flight->config;
	int ret = saves_open(&flight->saves, config->directory,
			     config->max_files);

	if (ret)
		return refused("--save-to", config->directory, ret == -EWOULDBLOCK ?
			       "another recorder saves there: stop it, or name another directory" :
			       strerror(-ret));
	ret = save_socket_open(&flight->socket, config->socket);
	if (ret)
		return refused("--socket", config->socket, strerror(-ret));
	keep_begin(&flight->keep);
	ret = record(flight);
	keep_end(&flight->keep);
	return ret;
}

/* Files are opened later, too: so all of it is done without capabilities. */
static int open_device(struct flight *flight)
{
	const struct record_config *config = flight->config;
	const struct origin_opts opts = {
		.origin = config->origin, .path = config->device,
	};
	int ret = origin_open(&flight->dev, &opts);

	if (ret) {
		origin_error(stderr, RECORD_NAME, &opts, ret);
		return EXIT_RUNTIME;
	}
	if (config->nr_rules && origin_is_resctrl(cmt_device_info(flight->dev))) {
		fprintf(stderr, RECORD_NAME ": --on: not with resctrl, which is read some 10 times a second; load the cmt module, or save by SIGUSR1 or cmtctl save\n");
		cmt_device_close(flight->dev);
		return EXIT_RUNTIME;
	}
	ret = trigger_device(&flight->trigger, flight->config);
	if (!ret)
		ret = caps_drop(false);
	if (ret) {
		error_plain(stderr, RECORD_NAME, "cannot begin", ret);
		ret = EXIT_RUNTIME;
	} else {
		ret = open_files(flight);
	}
	trigger_close(&flight->trigger);
	cmt_device_close(flight->dev);
	return ret;
}

int flight_run(const struct record_config *config)
{
	struct flight flight = {
		.config = config, .socket.fd = -1, .socket.peer = -1,
		.saves.dir = -1,
		.keep = { .span_ns = config->keep_ns,
			  .max_bytes = config->max_memory },
	};
	int ret = record_sync_begin(&flight.sync, config->seccomp);

	if (ret) {
		error_plain(stderr, RECORD_NAME, "cannot start a process", ret);
		return EXIT_RUNTIME;
	}
	ret = open_device(&flight);
	save_socket_close(&flight.socket);
	check_synced(&flight, true);
	saves_close(&flight.saves);
	record_sync_end(&flight.sync);
	return flight.unsynced ? EXIT_RUNTIME : ret;
}
