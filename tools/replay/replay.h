/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording in place of a device: the position of the reader, and its speed */
#ifndef TOOLS_REPLAY_H
#define TOOLS_REPLAY_H

#include <inttypes.h>
#include <stdbool.h>

#include <cmt/cmt.h>
#include <cmt/recording.h>

#define REPLAY_NAME "cmtstat replay"
#define REPLAY_SPEED_MAX 1000000.0

/* A time option, as given */
struct replay_time {
	enum {
		REPLAY_UNSET,	/* its begin, or its end */
		REPLAY_OFFSET,	/* ns after its begin; below 0: before its end */
		REPLAY_REALTIME,	/* ns since 1970 */
		REPLAY_DAYTIME,	/* ns since midnight UTC of the day of its begin */
	} kind;
	int64_t ns;
};

/* The content of the last state */
struct replay_state {
	bool known;		/* there was one */
	bool stats_known;
	struct cmt_stats stats;
	uint32_t scope;
	uint32_t counters;
	char counters_reason[CMT_REASON_LEN];
	bool pending_known;
	uint32_t pending, services_pending, attached_pending;
};

struct replay {
	const char *path;
	int fd;
	struct cmt_recording *recording;
	struct cmt_recording_about about;
	const struct cmt_info *info;
	uint64_t begin_ns, to_ns;	/* the part to show: CLOCK_MONOTONIC of the recording */
	uint64_t from_ns;	/* where to go on */
	double speed;		/* 1: as recorded; 0: as fast as it goes */
	bool paused;
	unsigned int steps;	/* intervals to show while stopped */
	bool ended;
	uint64_t interval_ns;	/* of the usage: when the next one is expected */
	uint64_t shown_ns;	/* end of the last interval that was due; 0: none */
	bool anchored;		/* else the next interval is due: */
	uint64_t anchor_ns;	/* CLOCK_MONOTONIC of the recording, */
	uint64_t anchor_now_ns;	/* and of this machine, at which it was due */
	bool clock_known;
	int64_t offset_ns;	/* CLOCK_REALTIME less CLOCK_MONOTONIC, recorded */
	uint64_t gaps;		/* slots with records missing, since replay_seek() */
	uint64_t lost;		/* records, so far; a part that is read again counts once */
	uint64_t counted_ns;	/* the end of what @lost is of */
	bool skipped;		/* a part before counted_ns was not read */
	bool lost_more;		/* lost is a lower bound: intervals overlapped */
	struct replay_state state;
};

/* "+90s", "90s", "-5m", "12:30:05", "2026-11-23T12:30:05Z"; a space for T, no Z.  Returns
 * 0 or -EINVAL.
 */
int replay_time_parse(const char *text, struct replay_time *time);

/*
 * Open a recording without a read.  Who reads it gives up all capabilities before: others
 * wrote what is in it.  Returns a descriptor or -errno.
 */
int replay_file(const char *path);

/*
 * Open a recording, and give up all capabilities before its first byte is read.  Returns 0
 * or -errno; replay_close() in any case.  replay_why() explains it.
 */
int replay_open(struct replay *replay, const char *path);

/* Takes @fd, of a regular file.  Returns as replay_open(). */
int replay_open_fd(struct replay *replay, int fd, const char *name);

/*
 * Open the file of @from again, with a separate position; also without the right to
 * open it.
 */
int replay_open_again(struct replay *replay, const struct replay *from);
void replay_close(struct replay *replay);

/* Why replay_open() failed; NULL: use strerror(3). */
const char *replay_why(const struct replay *replay, int err, char buf[128]);

/* CLOCK_MONOTONIC of the recording.  Returns -EINVAL: a clock time, and its clock is not
 * known; else 0.
 */
int replay_moment(const struct replay *replay, const struct replay_time *time,
		  uint64_t *ns);

/*
 * @ns, or the nearest moment from which @interval_ns are in the part to show; a shorter part
 * has its begin.
 */
uint64_t replay_within(const struct replay *replay, uint64_t ns, uint64_t interval_ns);

/* Go on at @from_ns, with another usage. */
int replay_seek(struct replay *replay, uint64_t from_ns);

/* Returns 1: *@frame is due, 0: none is due, or the end was reached, or -errno. */
int replay_pump(struct replay *replay, struct cmt_usage *usage,
		const struct cmt_usage_frame **frame);

/* UINT64_MAX: no frame will come. */
uint64_t replay_wait_ns(const struct replay *replay);

void replay_pause(struct replay *replay, bool paused);
void replay_set_speed(struct replay *replay, double speed);

/*
 * Significant bits of the counts of processor counters in a recording; 0: exact, or the
 * recording has no such counts.
 */
uint32_t replay_rounded_bits(const struct cmt_recording_about *about,
			     const struct cmt_info *info);

#define REPLAY_ROUNDED "cycles, instructions and LLC counts are rounded to %" PRIu32 \
	" significant bits (cmtstat record --exact keeps all)"

/* Has what was read damage?  Then a number of lost records is the least one. */
bool replay_is_damaged(struct replay *replay);

/* The missing data, in words; "": none is known to be missing. */
void replay_losses(struct replay *replay, char *buf, size_t size);

#endif
