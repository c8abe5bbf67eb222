// SPDX-License-Identifier: GPL-2.0-or-later
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "board/live.h"
#include "board/terminal.h"
#include "common/caps.h"
#include "common/clock.h"
#include "common/errors.h"
#include "common/signals.h"
#include "config/groups.h"
#include "session_settings.h"
#include "source.h"
#include "tables.h"
#include "watch/watch.h"
#include "why_session.h"

#define FIRST_LOOK_NS 500000000ULL	/* between screens of the first interval */
#define HIDDEN_NS 250000000ULL		/* between checks for the foreground */

struct session {
	const struct config *config;
	struct session_settings settings;	/* where config is, on the screen */
	struct replay *replay;	/* a recording is shown; or NULL */
	struct replay watched_replay;	/* and read again, for marks and slowdowns */
	enum view by;
	bool expand;
	struct source source;
	struct report report;
	bool shown;		/* report holds one */
	bool due;		/* an interval of a recording waits for its marks: the rows of the
				 * one before have no names any more, and are not drawn
				 */
	bool watching;		/* for marks and slowdowns: */
	struct cmt_device *watched;
	struct watch watch;
	struct marks marks;
	struct slowers slowers;
	bool screen;		/* full screen: */
	uint32_t nr_domains;	/* of L3, as far as a frame had them */
	struct live live;
	uint64_t interval_ns;
	uint64_t look_ns;	/* when to show an open interval */
	bool quit;
	bool told_end;		/* of a recording */
};

enum { WATCH_DEVICE, WATCH_OUTPUT, WATCH_KEYS, NR_WATCHED };

static int print_rows(struct session *session, const struct selection *selection,
		      unsigned int width)
{
	session->report.expand = selection->expand;
	marks_set(&session->report.marks, &session->report.frame);
	rows_select(&session->report.frame, selection);
	return tables_print(session->config, &session->report, width);
}

static int print_table(struct session *session)
{
	const struct selection selection = {
		.key = session->config->sort,
		.filter = session->config->filter,
		.top = (uint32_t)session->config->top,
		.expand = session->expand,
	};

	return print_rows(session, &selection, 0);
}

/* The report of the screen; NULL: none was read for this view. */
static struct report *shown(struct session *session)
{
	return session->shown ? &session->report : NULL;
}

/* Groups of resctrl have none, and say so. */
static bool wants_verdicts(const struct session *session)
{
	return session->config->marks && !session->config->light &&
	       !origin_is_resctrl(session->report.info);
}

static bool is_coarse(const struct session *session)
{
	if (session->watching && session->watch.frame)
		return watch_is_coarse(&session->watch);
	return session->report.frame.interval_ns > WATCH_SLOT_NS;
}

static void mark(struct session *session)
{
	session->report.marks = session->marks;
	session->report.ongoing = (struct ongoing){ 0 };
	if (session->watching) {
		watch_slowers(&session->watch, &session->slowers);
		watch_ongoing(&session->watch, &session->report.ongoing);
		marks_explain(&session->report.marks, &session->report.ongoing);
	}
	session->report.too_coarse = wants_verdicts(session) && is_coarse(session);
	/* those of before are not of this time */
	if (session->report.too_coarse)
		session->report.marks.nr = 0;
	slowers_set(&session->slowers, &session->report.frame);
	session->report.follow = session->watch.follow;
	source_limits(&session->source, &session->report);
}

/* @wanted_ns: the interval is open and gets this length; 0: it is complete. */
static int report(struct session *session, uint64_t wanted_ns)
{
	int ret = source_report(&session->source, wanted_ns, &session->report);

	if (ret)
		return ret;
	session->shown = true;
	if (session->report.frame.nr_domains > session->nr_domains)
		session->nr_domains = session->report.frame.nr_domains;
	mark(session);
	if (!session->screen)
		return print_table(session);
	if (!live_take(&session->live, &session->report) || !terminal_entered())
		return 0;
	return live_update(&session->live, &session->report);
}

/* After a stop, and where a shell may have moved the process. */
static void enter_screen(void)
{
	terminal_enter();
	signal_redraw = 1;
}

/* Handle signals that came while waiting. */
static int attend(struct session *session)
{
	if (signal_suspend) {
		terminal_leave();
		signals_suspend();
	}
	if (signal_continue) {
		signal_continue = 0;
		if (session->screen)
			enter_screen();
	}
	if (!signal_redraw || session->due)
		return 0;
	signal_redraw = 0;
	return terminal_entered() ? live_draw(&session->live, shown(session)) : 0;
}

static void close_watch(struct session *session)
{
	if (!session->watching)
		return;
	watch_close(&session->watch);
	if (session->replay)
		replay_close(&session->watched_replay);
	else
		cmt_device_close(session->watched);
	session->watching = false;
	session->slowers.known = false;
}

/*
 * The library has the processes of containers or the parts of owners by L3 domain, which
 * the bars of the screen are of: not both.
 */
static uint32_t wanted_children(const struct session *session)
{
	bool containers = session->by == VIEW_CONTAINER;

	if (session->nr_domains > 1 && (session->by == VIEW_PROCESS ||
					(containers && !session->expand)))
		return CMT_USAGE_DOMAINS;
	return containers ? CMT_USAGE_CHILDREN : 0;
}

static int open_source(struct session *session, struct cmt_device *dev)
{
	uint32_t counters = session->config->counters;

	if (session->replay)
		return source_open_replay(&session->source, session->replay,
					  session->by, wanted_children(session),
					  session->interval_ns);
	if (session->by == VIEW_CHANNEL)
		counters |= CMT_F_CHANNEL;
	return source_open(&session->source, dev, session->by,
			   wanted_children(session), session->interval_ns, counters,
			   session->config->light);
}

/* A second device, because a device has one reader. */
static void open_watch(struct session *session, struct cmt_device *dev)
{
	const struct config *config = session->config;

	if (!watch_wanted(config, cmt_device_info(dev), config->counters) ||
	    cmt_device_open(&session->watched, config->device, 0))
		return;
	session->watching = true;
	if (watch_open(&session->watch, session->watched, 0, config->peak_bytes, 0))
		close_watch(session);
}

/* The baselines are learned from the time before the first shown moment. */
static void open_watch_replay(struct session *session)
{
	const struct replay *replay = session->replay;
	struct replay *watched = &session->watched_replay;

	if (!watch_wanted(session->config, replay->info, replay->about.counters))
		return;
	session->watching = true;
	if (replay_open_again(watched, replay) ||
	    watch_open_replay(&session->watch, watched, replay->from_ns,
			      session->config->peak_bytes, 0))
		close_watch(session);
}

static uint64_t back(uint64_t from_ns, uint64_t by_ns)
{
	return from_ns > by_ns ? from_ns - by_ns : 0;
}

/* The position of a recording: the shown interval, or the target of a jump. */
static void place_replay(struct session *session)
{
	struct replay *replay = session->replay;
	const struct board *board = &session->live.board;

	if (!replay)
		return;
	replay->from_ns = back(replay->shown_ns ? replay->shown_ns :
			       replay->from_ns, session->interval_ns);
	if (board->jump == BOARD_JUMP_BEGIN)
		replay->from_ns = 0;
	else if (board->jump == BOARD_JUMP_END)
		replay->from_ns = UINT64_MAX;
	else if (board->jump < 0)
		replay->from_ns = back(replay->from_ns, (uint64_t)-board->jump *
				       board->interval_ns);
	else
		replay->from_ns += (uint64_t)board->jump * board->interval_ns;
	replay->from_ns = replay_within(replay, replay->from_ns, board->interval_ns);
	if (!board->jump)
		return;
	close_watch(session);
	session->marks = (struct marks){ 0 };
	open_watch_replay(session);
}

/* Another view, or another interval, is another usage. */
static int reopen(struct session *session)
{
	struct cmt_device *dev = session->source.dev;
	struct board *board = &session->live.board;

	place_replay(session);
	board->jump = 0;
	source_close(&session->source);
	session->shown = session->due = false;
	session->by = board->by;
	session->interval_ns = board->interval_ns;
	session->told_end = false;
	if (!session->replay)
		session->look_ns = clock_ns(CLOCK_MONOTONIC) + FIRST_LOOK_NS;
	return open_source(session, dev);
}

/* The number of L3 domains is known with the first frame; -e needs processes. */
static int reopen_for_children(struct session *session)
{
	if (!session->screen || session->live.board.frozen ||
	    wanted_children(session) == session->source.children)
		return 0;
	return reopen(session);
}

static void steer_replay(struct replay *replay, struct board *board)
{
	replay_pause(replay, board->frozen);
	replay->steps += board->steps;
	board->steps = 0;
	if (board->speed != replay->speed)
		replay_set_speed(replay, board->speed);
}

static int read_keys(struct session *session)
{
	struct live *live = &session->live;
	enum board_change change = live_keys(live, shown(session));
	int ret = 0;

	session->quit = live->board.quit;
	session->expand = live->board.expand;
	if (change == BOARD_REOPEN)
		ret = reopen(session);
	if (session->replay)
		steer_replay(session->replay, &live->board);
	if (!ret && change != BOARD_NOTHING && !session->quit && !session->due)
		ret = live_update(live, shown(session));
	return ret;
}

/* No signal shows that a shell has brought a process to the foreground. */
static uint64_t wait_limit(const struct session *session)
{
	uint64_t until_ns = session->look_ns;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t limit = until_ns > now ? until_ns - now : 0;
	uint64_t due = session->due ? 0 : source_wait_ns(&session->source);

	if (limit > due)
		limit = due;
	if (session->screen && limit > live_wait_ns(&session->live))
		limit = live_wait_ns(&session->live);
	if (session->screen && !terminal_entered() && limit > HIDDEN_NS)
		return HIDDEN_NS;
	return limit;
}

/*
 * Wait for records, a key, a signal, the end of the interval, or the next partial view
 * of it.
 */
static int wait_for(struct session *session)
{
	struct pollfd fds[NR_WATCHED] = {
		{ .fd = source_fd(&session->source), .events = POLLIN },
		{ .fd = STDOUT_FILENO },	/* only errors */
		{ .fd = terminal_keys_fd(), .events = POLLIN },
	};
	int ret;

	ret = signals_poll(fds, NR_WATCHED, wait_limit(session));
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
		ret = read_keys(session);
	else if (session->screen && !session->due && !live_wait_ns(&session->live))
		ret = live_draw(&session->live, shown(session));
	else
		ret = 0;
	return ret ? ret : attend(session);
}

/* A screen is not empty for the whole of a long first interval. */
static int first_look(struct session *session)
{
	if (clock_ns(CLOCK_MONOTONIC) < session->look_ns)
		return 0;
	session->look_ns = clock_ns(CLOCK_MONOTONIC) + FIRST_LOOK_NS;
	return report(session, session->interval_ns);
}

/* Tables go on without marks where it fails. */
static int pump_marks(struct session *session)
{
	int ret;

	if (!session->watching || (session->replay && !session->source.frame))
		return 0;
	if (session->replay)
		session->watch.until_ns = session->source.frame->end_ns;
	ret = watch_marks(&session->watch, &session->marks,
			  session->screen ? session->live.board.followed : 0);
	if (ret < 0)
		close_watch(session);
	/*
	 * Without a table, its rows are gone with the source that had them; in a recording
	 * the next interval is read, and report() draws it.
	 */
	if (ret <= 0 || session->replay || !session->screen || !session->shown ||
	    !terminal_entered())
		return 0;
	mark(session);
	return live_update(&session->live, shown(session));
}

/* A screen stays at the end of a recording, with a mark. */
static int end_of_replay(struct session *session)
{
	if (!session->replay->ended || session->told_end)
		return 0;
	session->told_end = true;
	return session->screen && terminal_entered() ?
	       live_draw(&session->live, shown(session)) : 0;
}

/* Returns 1 after the report of an interval, 0 or -errno. */
static int step(struct session *session)
{
	int ret = wait_for(session);

	if (!ret && !session->replay)
		ret = pump_marks(session);
	if (!ret)
		ret = session->due ? 1 : source_pump(&session->source);
	if (ret > 0 && session->replay)
		pump_marks(session);
	/* after an error, too, the rows of an interval that is due have no names */
	if (ret < 0)
		return ret;
	session->due = ret && session->watching && watch_is_behind(&session->watch);
	if (session->due)
		return 0;
	if (!ret)
		return session->replay ? end_of_replay(session) :
					 first_look(session);
	session->look_ns = UINT64_MAX;
	ret = report(session, 0);
	return ret ? ret : 1;
}

static int run(struct session *session)
{
	uint64_t left = session->config->count;
	int ret = 0;

	session->look_ns = UINT64_MAX;
	if (session->screen && !session->replay)
		session->look_ns = clock_ns(CLOCK_MONOTONIC) + FIRST_LOOK_NS;
	while (ret >= 0 && !signal_stop && !session->quit &&
	       !(session->told_end && !session->screen)) {
		ret = step(session);
		if (ret > 0 && left && !--left)
			break;
		if (ret >= 0)
			ret = reopen_for_children(session);
	}
	return ret < 0 ? ret : 0;
}

static void close_screen(struct session *session)
{
	if (session->screen)
		terminal_close();
	session->screen = false;
}

/* The screen's last table stays readable after a bounded run, with the rows that it had. */
static int leave_screen(struct session *session)
{
	struct selection selection;
	unsigned int width, height;
	int ret;

	if (!session->screen)
		return 0;
	terminal_leave();
	/* the newest one, without its marks */
	ret = session->due ? report(session, 0) : 0;
	close_screen(session);
	if (ret || !session->config->count || !session->shown)
		return ret;
	session->report = *live_last(&session->live, &session->report);
	board_selection(&session->live.board, &selection);
	terminal_size(&width, &height);
	return print_rows(session, &selection, width);
}

/* In CPU scope there is little to see of containers. */
static enum view view_of(const struct config *config,
			 const struct cmt_info *info)
{
	bool cpus = info->scope == CMT_SCOPE_CPU;

	if (!cpus || config->by_given || config->expand)
		return config->by;
	return config->light ? VIEW_PROCESS : VIEW_CPU;
}

static void print_hints(const struct session *session)
{
	if (!session->replay && !session->config->light && session->config->interval_ns <
	    cmt_device_info(session->source.dev)->interval_ns)
		fprintf(stderr,
			"cmtstat: the sampling interval is longer: see cmtctl interval\n");
}

/* The screen hid it. */
static void tell_again(const struct session *session)
{
	const char *notice = session->live.board.notice;

	print_hints(session);
	session_settings_tell(&session->settings);
	if (session->quit && notice[0])
		fprintf(stderr, "cmtstat: %s\n", notice);
}

/* Messages before the alternate screen would be hidden by it. */
static int run_screen(struct session *session)
{
	const struct cmt_info *info = session->replay ? session->replay->info :
				      cmt_device_info(session->source.dev);
	bool screen = session->screen;
	int ret = 0, err;

	if (screen) {
		live_begin(&session->live, session->config, session->by);
		session->live.board.groups = origin_is_resctrl(info);
		session->live.board.replay = session->replay;
		session->live.board.speed = session->replay ?
					    session->replay->speed : 0;
		enter_screen();
	} else if (session->config->output == OUTPUT_CSV) {
		ret = tables_begin(session->by);
	}
	if (!ret)
		ret = run(session);
	err = leave_screen(session);
	if (screen)
		live_end(&session->live);
	if (screen && isatty(STDERR_FILENO))
		tell_again(session);
	session_settings_free(&session->settings);
	return ret ? ret : err;
}

static void open_screen(struct session *session, const struct cmt_info *info)
{
	bool wanted = session->config->output == OUTPUT_TABLE && !session->config->plain &&
		      isatty(STDOUT_FILENO);

	/* before the screen, which does not change handled signals */
	signals_setup(wanted);
	session->screen = wanted && !terminal_open(!session->config->no_color);
	/* a recording has no rings to be overrun: without a screen it is as fast as its reader */
	if (session->replay)
		session->replay->speed = session->config->speed_given ? session->config->speed :
					 session->screen ? 1 : 0;
	if (session->screen)
		session->config = session_settings_apply(&session->settings, session->config, info);
}

/* Open the devices that the session needs, run it, and restore everything. */
static int run_session(struct session *session, struct cmt_device *dev)
{
	const struct cmt_info *info = dev ? cmt_device_info(dev) : session->replay->info;
	int ret;

	open_screen(session, info);
	session->by = view_of(session->config, info);
	session->interval_ns = session->config->interval_ns;
	session->expand = session->config->expand;
	ret = open_source(session, dev);
	if (ret) {
		if (dev)
			error_reader(stderr, "cmtstat", ret);
		else
			error_plain(stderr, REPLAY_NAME, "cannot read the recording", ret);
		source_close(&session->source);
		close_screen(session);
		session_settings_free(&session->settings);
		return EXIT_RUNTIME;
	}
	print_hints(session);
	ret = run_screen(session);
	source_close(&session->source);
	/* the reader of the output has gone, or a signal ended a write to it */
	if (!ret || ret == -EPIPE || ret == -EINTR)
		return 0;
	error_plain(stderr, "cmtstat", ret == -ENODEV ? "the device is gone" :
		    "stopped", ret);
	return EXIT_RUNTIME;
}

/* Show the table, or its replacement, until it ends. */
int session_device(const struct config *config)
{
	struct session session = { .config = config };
	const struct origin_opts opts = {
		.origin = config->origin, .path = config->device,
		.interval_ns = config->interval_ns,
	};
	struct cmt_device *dev;
	int ret = origin_open(&dev, &opts);

	if (ret) {
		origin_error(stderr, "cmtstat", &opts, ret);
		return EXIT_RUNTIME;
	}
	open_watch(&session, dev);
	ret = caps_drop(false);
	if (ret) {
		error_plain(stderr, "cmtstat", "cannot drop capabilities", ret);
		ret = EXIT_RUNTIME;
	} else {
		ret = groups_check(config, cmt_device_info(dev), true);
	}
	if (!ret) {
		ret = config->why ? why_run(config, dev) :
				    run_session(&session, dev);
	}
	close_watch(&session);
	cmt_device_close(dev);
	return ret;
}

int session_replay(const struct config *config, struct replay *replay)
{
	struct session session = { .config = config, .replay = replay };
	int ret;

	open_watch_replay(&session);
	ret = run_session(&session, NULL);
	close_watch(&session);
	return ret;
}
