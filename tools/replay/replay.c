// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/clock.h"
#include "common/origin.h"

static int open_recording(struct replay *replay)
{
	int ret = cmt_recording_open_fd(&replay->recording, replay->fd);

	if (ret)
		return ret;
	replay->info = cmt_recording_info(replay->recording);
	if (!replay->info)
		return -EBADMSG;
	ret = cmt_recording_about(replay->recording, &replay->about);
	replay->begin_ns = replay->from_ns = replay->about.start_ns;
	replay->clock_known = replay->about.realtime_ns;
	replay->offset_ns = (int64_t)(replay->about.realtime_ns -
				      replay->about.monotonic_ns);
	return ret;
}

static void begin(struct replay *replay, const char *path)
{
	*replay = (struct replay){
		.path = path, .to_ns = UINT64_MAX,
		.about.sz = sizeof(replay->about),
	};
}

int replay_file(const char *path)
{
	/* do not wait for the writer of a FIFO */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENXIO ? -ESPIPE : -errno;
	return fd;
}

int replay_open(struct replay *replay, const char *path)
{
	int ret;

	begin(replay, path);
	replay->fd = replay_file(path);
	ret = replay->fd < 0 ? replay->fd : caps_drop(false);
	return ret ? ret : open_recording(replay);
}

int replay_open_fd(struct replay *replay, int fd, const char *name)
{
	begin(replay, name);
	replay->fd = fd;
	return open_recording(replay);
}

int replay_open_again(struct replay *replay, const struct replay *from)
{
	begin(replay, from->path);
	replay->fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
	return replay->fd < 0 ? -errno : open_recording(replay);
}

void replay_close(struct replay *replay)
{
	cmt_recording_close(replay->recording);
	replay->recording = NULL;
	if (replay->fd >= 0)
		close(replay->fd);
	replay->fd = -1;
}

const char *replay_why(const struct replay *replay, int err, char buf[128])
{
	uint32_t version;

	switch (err) {
	case -ENODATA:
		return "is empty: nothing was recorded";
	case -EBADMSG:
		return replay->recording ?
		       "no intact part describes the machine" :
		       "is no recording";
	case -EISDIR:
		return "is a directory";
	case -ESPIPE:
		return "is no regular file: a recording is read from a file";
	case -EPROTONOSUPPORT:
		if (cmt_recording_version(replay->path, &version))
			return "has a later version of the format: install a newer cmtstat";
		snprintf(buf, 128, "has version %u of the format, and this cmtstat reads up to %u: install a newer one",
			 version >> 16, CMT_RECORDING_VERSION >> 16);
		return buf;
	default:
		return NULL;
	}
}

static int64_t begin_realtime(const struct replay *replay)
{
	return (int64_t)replay->about.start_ns + replay->offset_ns;
}

int replay_moment(const struct replay *replay, const struct replay_time *time,
		  uint64_t *ns)
{
	const int64_t day = 86400000000000;
	int64_t at = time->ns;

	if (time->kind == REPLAY_OFFSET) {
		at += (int64_t)(at < 0 ? replay->about.end_ns :
					 replay->about.start_ns);
	} else {
		if (!replay->clock_known)
			return -EINVAL;
		if (time->kind == REPLAY_DAYTIME)
			at += begin_realtime(replay) / day * day;
		/* midnight came in between */
		if (time->kind == REPLAY_DAYTIME && at < begin_realtime(replay) &&
		    at + day <= (int64_t)replay->about.end_ns + replay->offset_ns)
			at += day;
		at -= replay->offset_ns;
	}
	*ns = at > 0 ? (uint64_t)at : 0;
	return 0;
}

uint64_t replay_within(const struct replay *replay, uint64_t ns, uint64_t interval_ns)
{
	uint64_t end_ns = replay->about.end_ns < replay->to_ns ? replay->about.end_ns :
							      replay->to_ns;
	uint64_t last_ns = end_ns > interval_ns ? end_ns - interval_ns : 0;

	if (ns > last_ns)
		ns = last_ns;
	return ns < replay->begin_ns ? replay->begin_ns : ns;
}

int replay_seek(struct replay *replay, uint64_t from_ns)
{
	const struct cmt_recording_about *about = &replay->about;
	uint64_t last = about->end_ns > 1 ? about->end_ns - 1 : 0;

	if (from_ns > last)
		from_ns = last;
	if (from_ns < about->start_ns)
		from_ns = about->start_ns;
	replay->from_ns = from_ns;
	replay->ended = false;
	replay->anchored = false;
	replay->shown_ns = 0;
	replay->gaps = 0;
	replay->skipped |= replay->counted_ns && from_ns > replay->counted_ns;
	replay->state = (struct replay_state){ 0 };
	return cmt_recording_seek(replay->recording, from_ns);
}

/* Which of the pending owners were attached, or services: the others are the scope's. */
static void count_pending(struct replay_state *state,
			  const struct cmt_snapshot *pending)
{
	struct cmt_owner owner = { .sz = sizeof(owner) };

	state->pending_known = true;
	for (uint32_t i = 0; i < pending->count; i++) {
		if (cmt_record_owner(cmt_snapshot_at(pending, i), &owner))
			continue;
		if (owner.attached)
			state->attached_pending++;
		else if (owner.service)
			state->services_pending++;
		else
			state->pending++;
	}
}

static void copy_stats(struct replay_state *to, const struct cmt_stats *stats)
{
	size_t size = stats->size < sizeof(to->stats) ? stats->size :
							sizeof(to->stats);

	memcpy(&to->stats, stats, size);
	to->stats_known = true;
}

static void take_state(struct replay *replay, struct cmt_usage *usage)
{
	const struct cmt_recording_state *from;
	struct replay_state *to = &replay->state;

	if (cmt_usage_state(usage, &from) != 1)
		return;
	*to = (struct replay_state){
		.known = true, .scope = from->scope, .counters = from->counters,
	};
	memcpy(to->counters_reason, from->counters_reason,
	       sizeof(to->counters_reason));
	if (from->stats)
		copy_stats(to, from->stats);
	if (from->pending)
		count_pending(to, from->pending);
	if (!from->realtime_ns)
		return;
	replay->clock_known = true;
	replay->offset_ns = (int64_t)(from->realtime_ns - from->monotonic_ns);
}

/*
 * After a jump, or with another length, an interval may begin before the end of what was
 * counted.  Of its losses, all or none may be counted: the greater number is a lower bound.
 */
static void count_losses(struct replay *replay, const struct cmt_usage_frame *frame)
{
	replay->gaps += frame->nr_gaps;
	if (frame->end_ns <= replay->counted_ns)
		return;
	if (frame->start_ns >= replay->counted_ns || !replay->lost || !frame->lost) {
		replay->lost += frame->lost;
	} else {
		replay->lost_more = true;
		if (replay->lost < frame->lost)
			replay->lost = frame->lost;
	}
	replay->counted_ns = frame->end_ns;
}

/*
 * The next interval with wanted values.  Returns 1, 0: the end, or with !replay->ended a part
 * of a long interval, or -errno.
 */
static int read_frame(struct replay *replay, struct cmt_usage *usage,
		      const struct cmt_usage_frame **frame)
{
	int ret;

	/* no interval is read that is not wanted: the shown one stays valid */
	replay->ended = replay->shown_ns >= replay->to_ns;
	if (replay->ended)
		return 0;
	do {
		ret = cmt_usage_next(usage, frame);
		if (!ret && !cmt_usage_timeout(usage))
			return 0;
		if (ret <= 0)
			break;
		count_losses(replay, *frame);
	} while ((*frame)->end_ns <= replay->from_ns);
	if (ret > 0 && (*frame)->start_ns >= replay->to_ns)
		ret = 0;
	replay->ended = !ret;
	if (ret > 0)
		take_state(replay, usage);
	return ret;
}

/*
 * On this machine's clock; an interval is not read earlier, so that the shown one stays
 * valid.
 */
static uint64_t due_ns(const struct replay *replay)
{
	uint64_t since = replay->shown_ns + replay->interval_ns -
			 replay->anchor_ns;

	if (!replay->anchored || replay->speed <= 0)
		return 0;
	return replay->anchor_now_ns + (uint64_t)((double)since / replay->speed);
}

uint64_t replay_wait_ns(const struct replay *replay)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), due;

	if (replay->ended || (replay->paused && !replay->steps))
		return UINT64_MAX;
	due = replay->paused ? 0 : due_ns(replay);
	return due > now ? due - now : 0;
}

int replay_pump(struct replay *replay, struct cmt_usage *usage,
		const struct cmt_usage_frame **frame)
{
	int ret;

	if (replay_wait_ns(replay))
		return 0;
	ret = read_frame(replay, usage, frame);
	if (ret <= 0)
		return ret;
	replay->steps -= replay->steps && replay->paused;
	replay->shown_ns = (*frame)->end_ns;
	if (!replay->anchored) {
		replay->anchored = true;
		replay->anchor_ns = replay->shown_ns;
		replay->anchor_now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return 1;
}

/* Continue from the shown interval, now. */
static void anchor_shown(struct replay *replay)
{
	replay->anchored = replay->shown_ns;
	replay->anchor_ns = replay->shown_ns;
	replay->anchor_now_ns = clock_ns(CLOCK_MONOTONIC);
}

void replay_pause(struct replay *replay, bool paused)
{
	if (replay->paused && !paused) {
		anchor_shown(replay);
		replay->steps = 0;
	}
	replay->paused = paused;
}

void replay_set_speed(struct replay *replay, double speed)
{
	replay->speed = speed;
	anchor_shown(replay);
}

uint32_t replay_rounded_bits(const struct cmt_recording_about *about,
			     const struct cmt_info *info)
{
	bool counted = about->counters & ~(CMT_F_CHANNEL | CMT_F_WAITED);

	return counted && !(info && origin_is_resctrl(info)) ? about->counter_bits : 0;
}

static void add_loss(char *buf, size_t size, const char *what, uint64_t nr)
{
	size_t used = strlen(buf);

	if (nr)
		snprintf(buf + used, size - used, "%s%" PRIu64 " %s",
			 used && buf[used - 1] != ' ' ? ", " : "", nr, what);
}

/* How many records a damaged part had may be unknown, and counts as one record. */
bool replay_is_damaged(struct replay *replay)
{
	struct cmt_recording_about *about = &replay->about;

	about->sz = sizeof(*about);
	return !cmt_recording_about(replay->recording, about) && about->damaged;
}

void replay_losses(struct replay *replay, char *buf, size_t size)
{
	const struct cmt_recording_about *about = &replay->about;

	buf[0] = '\0';
	if ((replay_is_damaged(replay) || replay->skipped || replay->lost_more) && replay->lost)
		snprintf(buf, size, "at least ");
	add_loss(buf, size, "records lost", replay->lost);
	add_loss(buf, size, "parts damaged", about->damaged);
	add_loss(buf, size, "bytes in them", about->damaged_bytes);
	add_loss(buf, size, "chunks missing", about->missing);
}
