// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A usage over a recording: the file has the records that a reader would give, and the
 * answers that a live usage asks the kernel for.  Owners go to the slots as from a
 * reader: they hold from their time on, and the records before that keep their owners.
 */
#include <errno.h>
#include <stdlib.h>

#include "recording/recording.h"
#include "slots/slots.h"
#include "state.h"

#define WORK_MAX 65536U	/* records and other items in one call, CMT_USAGE_BOUNDED */

struct usage_replay {
	struct cmt_recording *recording;
	const struct cmt_recording_item *item;	/* the recording's: not taken yet */
	const struct cmt_record *records;	/* the recording's: not taken yet */
	uint32_t nr;
	bool ended;
	bool flushed;		/* nothing came since the end was met */
	struct rec_state state;	/* the last one */
	bool has_state, new_state;
	bool has_first;		/* first_dropped is set */
	uint64_t first_dropped, dropped;	/* by the recording program's reader */
	uint64_t quiet;
};

/* Untrusted input: a list with entries that cannot be owners is skipped. */
static int take_owners(struct cmt_usage *usage, const struct cmt_snapshot *owners)
{
	int err = cmt_slots_sync(usage->slots, owners);

	return err == -EINVAL ? 0 : err;
}

static int take_name(struct cmt_usage *usage, const struct cmt_container *container)
{
	int err = cmt_containers_put(usage->containers, container);

	return err == -EINVAL ? 0 : err;
}

static void take_reader(struct usage_replay *replay, const struct cmt_reader_counts *counts)
{
	uint64_t dropped = counts->late + counts->malformed;

	if (!replay->has_first)
		replay->first_dropped = dropped;
	replay->has_first = true;
	replay->dropped = dropped - replay->first_dropped;
	replay->quiet = counts->quiet;
}

/* Pending owners that cannot be are not known. */
static int take_pending(struct cmt_usage *usage, const struct cmt_snapshot *pending)
{
	int err = cmt_usage_set_pending(usage, pending);

	return err == -EINVAL ? cmt_usage_set_pending(usage, NULL) : err;
}

static int take_state(struct cmt_usage *usage, const struct cmt_recording_state *state)
{
	struct usage_replay *replay = usage->replay;
	int err = take_pending(usage, state->pending);

	if (err)
		return err;
	usage_set_uncore(usage, state->uncore);
	if (state->reader)
		take_reader(replay, state->reader);
	cmt_recording_move_state(replay->recording, &replay->state);
	replay->has_state = true;
	replay->new_state = true;
	return 0;
}

/* A chunk that the end of the file cuts is the end: it may be written now. */
static bool lacks_records(const struct cmt_recording_item *item)
{
	if (item->damage == CMT_DAMAGE_PAYLOAD)
		return item->missing_records;
	return item->damage != CMT_DAMAGE_CUT;
}

static void take_damage(struct cmt_usage *usage, const struct cmt_recording_item *item)
{
	if (lacks_records(item))
		usage_missing_add(usage, item->from_ns, item->to_ns, item->missing_records);
}

static int take_item(struct cmt_usage *usage, const struct cmt_recording_item *item)
{
	switch (item->type) {
	case CMT_RECORDING_RECORDS:
		if (item->from_ns)
			usage_missing_until(usage, item->from_ns);
		usage->replay->records = item->records;
		usage->replay->nr = item->nr_records;
		usage->wanted_ns = cmt_recording_sought(usage->replay->recording);
		return 0;
	case CMT_RECORDING_OWNERS:
		return take_owners(usage, item->owners);
	case CMT_RECORDING_NAME:
		return take_name(usage, item->container);
	case CMT_RECORDING_STATE:
		return take_state(usage, item->state);
	case CMT_RECORDING_DAMAGE:
		take_damage(usage, item);
		return 0;
	default:
		return 0;
	}
}

/* A record that there was no memory for is taken again by the next call. */
static int take_records(struct cmt_usage *usage)
{
	struct usage_replay *replay = usage->replay;
	int err = 0;

	for (; replay->nr && !usage->first && !err; replay->records++, replay->nr--) {
		err = usage_take(usage, replay->records);
		if (err)
			break;
	}
	return err;
}

static int take_end(struct cmt_usage *usage)
{
	struct usage_replay *replay = usage->replay;

	replay->ended = true;
	if (replay->flushed)
		return 0;
	replay->flushed = true;
	usage_missing_until(usage, 0);
	return cmt_usage_flush(usage);
}

/*
 * The next item, or the one that failed for lack of memory.  Returns as
 * cmt_recording_next().
 */
static int next_item(struct cmt_usage *usage)
{
	struct usage_replay *replay = usage->replay;
	int ret = replay->item ? 1 : cmt_recording_next(replay->recording, &replay->item);

	if (ret <= 0)
		return ret;
	replay->ended = false;
	replay->flushed = false;
	ret = take_item(usage, replay->item);
	if (ret)
		return ret;
	replay->item = NULL;
	return 1;
}

/*
 * Read until a frame is complete, or to the end of the recording, which closes the
 * interval, or until it takes too long.
 */
static int replay_read(struct cmt_usage *usage)
{
	bool bounded = usage->flags & CMT_USAGE_BOUNDED;
	uint64_t work = 0;
	int ret;

	while (!usage->first && !(bounded && work >= WORK_MAX)) {
		work += 1 + usage->replay->nr;
		ret = take_records(usage);
		if (ret || usage->first)
			return ret;
		ret = next_item(usage);
		if (ret <= 0)
			return ret ? ret : take_end(usage);
	}
	return 0;
}

static int replay_timeout(const struct cmt_usage *usage)
{
	return usage->replay->ended ? -1 : 0;
}

/* Lost records are in the recording; what the reader of that time dropped, and left. */
static void replay_counts(struct cmt_usage *usage, struct cmt_reader_counts *counts)
{
	counts->late = usage->replay->dropped;
	counts->quiet = usage->replay->quiet;
}

/* Names and pending owners come with the records: all rows are in the next frame. */
static int replay_refresh(struct cmt_usage *usage, unsigned int what)
{
	(void)what;
	usage->whole_due = true;
	return 0;
}

static void replay_close(struct cmt_usage *usage)
{
	cmt_recording_drop(usage->replay->recording);
	rec_state_free(&usage->replay->state);
	free(usage->replay);
}

static const struct usage_source replay_source = {
	.read = replay_read,
	.timeout = replay_timeout,
	.counts = replay_counts,
	.refresh = replay_refresh,
	.close = replay_close,
};

int usage_replay(struct cmt_usage *usage, struct cmt_recording *recording)
{
	struct usage_replay *replay = calloc(1, sizeof(*replay));
	int err = replay ? cmt_recording_hold(recording) : -ENOMEM;

	if (err) {
		free(replay);
		return err;
	}
	replay->recording = recording;
	usage->replay = replay;
	usage->source = &replay_source;
	return 0;
}

int cmt_usage_state(struct cmt_usage *usage, const struct cmt_recording_state **state)
{
	struct usage_replay *replay = usage->replay;
	bool new_state;

	if (!replay)
		return -EINVAL;
	if (!replay->has_state)
		return -ENODATA;
	*state = &replay->state.state;
	new_state = replay->new_state;
	replay->new_state = false;
	return new_state;
}
