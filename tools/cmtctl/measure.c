// SPDX-License-Identifier: GPL-2.0-or-later
/* One owner, measured without a ring: it is registered while this runs. */
#include "cmtctl.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/clock.h"
#include "common/errors.h"
#include "common/format.h"
#include "common/json.h"
#include "common/meter_view.h"
#include "common/names.h"
#include "common/signals.h"
#include "common/text.h"

#define DEFAULT_NS 1000000000ULL

struct session {
	const struct ctl *ctl;
	const char **what;	/* failed, for the message */
	uint64_t id;
	int pidfd;		/* of a process, else -1 */
	uint64_t interval_ns;
	uint64_t begin_ns;	/* of the first reading */
	uint64_t due_ns;	/* the next line */
	struct meter meter;
};

enum { WATCH_OUTPUT, WATCH_PROCESS, NR_WATCHED };

static int write_text(int (*print)(const struct session *session, FILE *out),
		      const struct session *session)
{
	struct text text;
	int ret = text_open(&text);

	ret = ret ? ret : text_write(&text, STDOUT_FILENO, print(session, text.out));
	if (ret)
		*session->what = "cannot print";
	return ret;
}

static void print_owner(const struct session *session, FILE *out)
{
	char id[4 * PATH_MAX];

	escape_text(id, sizeof(id), session->ctl->id, ESCAPE_ASCII);
	fprintf(out, "%s %s", owner_word(session->ctl->kind), id);
}

static int print_header(const struct session *session, FILE *out)
{
	const struct cmt_info *info = cmt_device_info(session->ctl->dev);
	char missing[METER_REASON_LEN];

	if (session->ctl->json)
		return 0;
	print_owner(session, out);
	if (session->meter.pending)
		fprintf(out, ": pending: no RMID is free, so nothing is known until one is\n");
	else
		fprintf(out, ": RMID %u, generation %u\n", session->meter.rmid,
			session->meter.generation);
	if (info->backend == CMT_BACKEND_EMULATED)
		fprintf(out, "EMULATED: these values come from a model, not from hardware\n");
	if (*meter_missing(missing, info))
		fprintf(out, "UNAVAILABLE: %s\n", missing);
	fprintf(out, "%10s %12s %14s %14s  %s\n", "SECONDS", "OCCUPANCY",
		"MBM TOTAL", "MBM LOCAL", "NOTE");
	return 0;
}

/* "  0: 1.0 MiB  1: -", where there are several caches. */
static void print_domains(const struct meter *meter, FILE *out)
{
	char bytes[METER_TEXT_LEN];
	uint32_t i;

	for (i = 0; meter->nr_domains > 1 && i < meter->nr_domains; i++) {
		const struct meter_domain *domain = &meter->domains[i];

		fprintf(out, "  L3 %u: %s", domain->domain,
			meter_text_bytes(bytes, meter_domain_occupancy(meter, domain)));
	}
}

static void print_values(const struct session *session, FILE *out)
{
	const struct meter *meter = &session->meter;
	const char *why = usage_why_name(meter->why);
	char occupancy[METER_TEXT_LEN], total[METER_TEXT_LEN];
	char local[METER_TEXT_LEN];

	fprintf(out, "%10.3f %12s %14s %14s%s%s",
		(double)(meter->last_ns - session->begin_ns) / 1e9,
		meter_text_bytes(occupancy, meter_occupancy(meter)),
		meter_text_rate(total, meter_rate(meter, METER_TOTAL)),
		meter_text_rate(local, meter_rate(meter, METER_LOCAL)),
		why ? "  " : "", why ? why : "");
	print_domains(meter, out);
	fputc('\n', out);
}

/* Begin an object: the kind of record, its time and its owner. */
static int json_begin(const struct session *session, const char *record,
		      struct json_object **object)
{
	int64_t time_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	char time[FORMAT_LEN];
	int ret;

	*object = json_object_new_object();
	if (!*object)
		return -ENOMEM;
	ret = json_add(*object, "record", json_text(record));
	ret = ret ? ret : json_add(*object, "time",
				   json_text(format_time(time, time_ns)));
	ret = ret ? ret : json_add(*object, "kind",
				   json_text(owner_kind(session->ctl->kind)));
	return ret ? ret : json_add(*object, "id",
				    json_object_new_uint64(session->id));
}

static int json_rmid(struct json_object *object, const struct meter *meter)
{
	bool known = !meter->pending && meter->rmid;
	int ret = json_add(object, "rmid", known ?
			   json_object_new_uint64(meter->rmid) : NULL);

	return ret ? ret : json_add(object, "generation", known ?
				    json_object_new_uint64(meter->generation) :
				    NULL);
}

static int print_interval(const struct session *session, FILE *out)
{
	const struct cmt_info *info = cmt_device_info(session->ctl->dev);
	struct json_object *object;
	int ret;

	if (!session->ctl->json) {
		print_values(session, out);
		return 0;
	}
	ret = json_begin(session, "interval", &object);
	ret = ret ? ret : json_rmid(object, &session->meter);
	ret = ret ? ret : meter_json(object, &session->meter, info);
	ret = ret ? ret : json_print(out, object);
	json_object_put(object);
	return ret;
}

static int print_ended(const struct session *session, FILE *out)
{
	struct json_object *object;
	int ret;

	if (!session->ctl->json) {
		print_owner(session, out);
		fprintf(out, ": %s\n", session->ctl->kind == CMT_OWNER_CPU ?
			"went offline" : "ended");
		return 0;
	}
	ret = json_begin(session, "ended", &object);
	ret = ret ? ret : json_print(out, object);
	json_object_put(object);
	return ret;
}

/* Its number may be another process's by now. */
static bool process_ended(const struct session *session)
{
	struct pollfd fd = { .fd = session->pidfd, .events = POLLIN };

	return session->pidfd >= 0 && poll(&fd, 1, 0) > 0;
}

/* Returns 0, -ENOENT (the owner has ended) or -errno. */
static int read_owner(struct session *session)
{
	struct meter meter = session->meter;
	int ret = meter_read(&meter, session->ctl->dev, session->ctl->kind,
			     session->id);

	if (ret)
		return ret;
	if (process_ended(session))
		return -ENOENT;
	session->meter = meter;
	return 0;
}

/* Print the line of the readings since the last line. */
static int end_interval(struct session *session)
{
	int ret = write_text(print_interval, session);

	meter_begin(&session->meter);
	return ret;
}

static bool is_due(struct session *session)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < session->due_ns)
		return false;
	session->due_ns += session->interval_ns;
	if (session->due_ns <= now)
		session->due_ns = now + session->interval_ns;
	return true;
}

/* Wait until the next reading, the end of the process, or a closed output. */
static int wait_for(const struct session *session)
{
	struct pollfd fds[NR_WATCHED] = {
		[WATCH_OUTPUT] = { .fd = STDOUT_FILENO },	/* only errors */
		[WATCH_PROCESS] = { .fd = session->pidfd, .events = POLLIN },
	};
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t left = session->due_ns > now ? session->due_ns - now : 0;
	int ret = signals_poll(fds, NR_WATCHED, left < METER_READ_NS ?
			       left : METER_READ_NS);

	if (ret < 0)
		return ret == -EINTR ? 0 : ret;
	return fds[WATCH_OUTPUT].revents & (POLLERR | POLLHUP | POLLNVAL) ?
	       -EPIPE : 0;
}

static int step(struct session *session)
{
	int ret = wait_for(session);

	return ret ? ret : read_owner(session);
}

static int run(struct session *session)
{
	uint64_t left = session->ctl->config->count;
	int ret = 0;

	while (!ret && !signal_stop) {
		ret = step(session);
		if (ret || !is_due(session))
			continue;
		ret = end_interval(session);
		if (left && !--left)
			return ret;
	}
	return ret;
}

/* The readings of an unfinished interval are shown, too. */
static int finish(struct session *session, int ret)
{
	bool ended = ret == -ENOENT;

	if (ret && !ended)
		return ret;
	ret = 0;
	if (ended)
		session->meter.why |= CMT_USAGE_WHY_ENDED;
	if (meter_elapsed_ns(&session->meter))
		ret = end_interval(session);
	return ret || !ended ? ret : write_text(print_ended, session);
}

/* The first interval begins with the first reading. */
static int measure(struct session *session)
{
	int ret;

	*session->what = "cannot read the counters";
	signals_setup(false);
	ret = read_owner(session);
	session->begin_ns = session->meter.last_ns;
	session->due_ns = session->begin_ns + session->interval_ns;
	meter_begin(&session->meter);
	if (!ret)
		ret = write_text(print_header, session);
	ret = finish(session, ret ? ret : run(session));
	/* the reader of the output has gone, or a signal ended a write to it */
	return ret == -EPIPE || ret == -EINTR ? 0 : ret;
}

/* The process is held on to before its number is used, so that it is this one. */
static int open_process(struct session *session)
{
	session->pidfd = -1;
	if (session->ctl->kind != CMT_OWNER_PROCESS)
		return 0;
	session->pidfd = (int)syscall(SYS_pidfd_open, session->id, 0);
	if (session->pidfd >= 0)
		return 0;
	/* a thread's number, which the module refuses too */
	return errno == EINVAL || errno == ENOENT ? -ESRCH : -errno;
}

static int register_owner(struct session *session)
{
	const struct ctl *ctl = session->ctl;
	struct cmt_attached registered = { .sz = sizeof(registered) };
	uint32_t options = ctl->config->children ? CMT_ATTACH_CHILDREN : 0;
	int ret = open_process(session);

	if (!ret)
		ret = cmt_register(ctl->dev, ctl->kind, session->id, options,
				   &registered);
	if (!ret)
		meter_await_rmid(ctl->dev, ctl->kind, session->id);
	return ret ? owner_refused(ctl, "measure", CMT_CALL_ATTACH, ret) : 0;
}

/* A machine without counters has nothing to be measured. */
static int check_machine(const struct ctl *ctl)
{
	const struct cmt_info *info = cmt_device_info(ctl->dev);
	char missing[METER_REASON_LEN];

	if (info->events)
		return 0;
	fprintf(stderr, "cmtctl: cannot measure: this machine has no %s\n",
		meter_missing(missing, info));
	fprintf(stderr, "See cmtctl info; a model to try the tools on: modprobe cmt backend=emulated\n");
	return EXIT_RUNTIME;
}

int ctl_measure(const struct ctl *ctl, const char **what)
{
	struct session session = {
		.ctl = ctl, .what = what,
		.interval_ns = ctl->config->measure_ns ?
			       ctl->config->measure_ns : DEFAULT_NS,
		.meter.events = cmt_device_info(ctl->dev)->events,
	};
	int ret = check_machine(ctl);

	if (ret)
		return ret;
	ret = owner_id(ctl, &session.id);
	if (ret)
		return owner_not_found(ctl, "measure", ret);
	ret = register_owner(&session);
	if (ret)
		goto out;
	*what = "cannot drop capabilities";
	ret = caps_drop(false);
	if (!ret)
		ret = measure(&session);
out:
	if (session.pidfd >= 0)
		close(session.pidfd);
	return ret;
}
