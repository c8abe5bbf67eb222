// SPDX-License-Identifier: LGPL-2.1-or-later
#include "feed.h"

#include "reader/reader.h"
#include "record/record.h"
#include "window.h"

/*
 * Records that a ring gives in one turn: 1 KiB.  More of them open more slots at
 * once, and the entries of these no longer fit the nearest caches.
 */
#define TURN		16
/* More than last time, should the window have stopped it. */
#define TURN_MORE	2
/* Rounds of a call that finds only records to drop, which may never end. */
#define FEED_ROUNDS	64

static void round_bound(struct cmt_round *round, uint64_t bound, bool *first)
{
	if (*first || cmt_ts_before(bound, round->floor))
		round->floor = bound;
	*first = false;
}

static void round_stop(struct cmt_round *round, uint64_t ts)
{
	if (!round->stopped || cmt_ts_before(ts, round->stop_ts))
		round->stop_ts = ts;
	round->stopped = true;
}

static void feed_take(struct cmt_take *take, const struct cmt_slots *slots)
{
	*take = (struct cmt_take){ .closed = !slots->started };
	if (take->closed)
		return;
	take->floored = true;
	take->floor = slots->floor;
	take->limited = true;
	take->limit = window_end(slots);
}

/* Records that the merge had copied and not delivered; in order, and checked */
static int feed_buffered(struct cmt_sources *sources, struct cmt_source *source,
			 struct cmt_slots *slots, const struct cmt_take *take,
			 unsigned int *added)
{
	struct cmt_buffered *buffered = &sources->buffered[source->cpu];
	const struct cmt_record *first = buffered->next;
	int err;

	while (!take->closed && buffered->next != buffered->end &&
	       cmt_ts_before(buffered->next->ts, take->limit)) {
		if (cmt_ts_before(buffered->next->ts, take->floor)) {
			source->counts.late++;
			source->counts.delivered--;
			sources->missed += cmt_record_is_lifecycle(buffered->next);
		} else {
			err = cmt_slots_add_checked(slots, buffered->next, 1);
			if (err)
				return err;
		}
		buffered->next++;
	}
	*added = (unsigned int)(buffered->next - first);
	return 0;
}

static int feed_ring(struct cmt_sources *sources, struct cmt_source *source,
		     struct cmt_slots *slots, struct cmt_take *take)
{
	struct cmt_record records[TURN];
	int n, err;

	n = cmt_source_take(sources, source, records,
			    source->want ? source->want : TURN, take);
	if (n < 0)
		return n;
	source->want = take->stop == CMT_STOP_LIMIT && n &&
		       n + TURN_MORE < TURN ? (uint32_t)n + TURN_MORE : TURN;
	if (cmt_source_gap(source)) {
		cmt_slots_gap(slots, source->cpu, source->gap_begin,
			      source->gap_end, source->gap);
		source->gap = 0;
	}
	err = cmt_slots_add_checked(slots, records, (uint32_t)n);
	return err ? err : n;
}

/* The least time of the next records of @source, if it is known */
static bool feed_bound(const struct cmt_sources *sources,
		       const struct cmt_source *source,
		       const struct cmt_take *take, uint64_t *bound)
{
	if (take->stop == CMT_STOP_LIMIT)
		*bound = take->stop_ts;
	else if (take->stop == CMT_STOP_DRAINED)
		*bound = cmt_source_bound(sources, source);
	else if (source->started)
		*bound = source->last_ts;
	else
		return false;
	return true;
}

static uint64_t nr_dropped(const struct cmt_source *source)
{
	return source->counts.late + source->counts.malformed;
}

static int feed_source(struct cmt_sources *sources, struct cmt_source *source,
		       struct cmt_slots *slots, struct cmt_take *take,
		       struct cmt_round *round)
{
	struct cmt_buffered *buffered = &sources->buffered[source->cpu];
	uint64_t dropped = nr_dropped(source);
	unsigned int added;
	int n;

	if (buffered->next != buffered->end) {
		n = feed_buffered(sources, source, slots, take, &added);
		if (n)
			return n;
		round->added += added;
	}
	if (buffered->next != buffered->end) {
		take->stop = CMT_STOP_LIMIT;
		take->stop_ts = buffered->next->ts;
	} else {
		n = feed_ring(sources, source, slots, take);
		if (n < 0)
			return n;
		round->added += (unsigned int)n;
	}
	round->dropped |= nr_dropped(source) != dropped;
	return 0;
}

int cmt_feed_round(struct cmt_sources *sources, struct cmt_slots *slots,
		   struct cmt_round *round)
{
	struct cmt_take take;
	bool first = true;
	uint64_t bound;
	int err;

	*round = (struct cmt_round){ .bounded = true };
	feed_take(&take, slots);
	for (uint32_t i = 0; i < sources->nr; i++) {
		struct cmt_source *source = &sources->all[i];

		if (i + 1 < sources->nr)
			cmt_ring_prefetch(&source[1].ring, TURN);
		err = feed_source(sources, source, slots, &take, round);
		if (err)
			return err;
		if (take.stop == CMT_STOP_LIMIT)
			round_stop(round, take.stop_ts);
		if (feed_bound(sources, source, &take, &bound))
			round_bound(round, bound, &first);
		else
			round->bounded = false;
	}
	return 0;
}

int cmt_feed_raise(struct cmt_slots *slots, const struct cmt_round *round,
		   bool *moved)
{
	bool started = slots->started;
	uint64_t floor = slots->floor;
	int ret;

	*moved = false;
	if (!round->bounded)
		return 0;
	ret = cmt_slots_raise(slots, round->floor);
	*moved = !started || slots->floor != floor;
	return ret;
}

void cmt_feed_hold(struct cmt_sources *sources, const struct cmt_slots *slots,
		   const struct cmt_round *round)
{
	const struct slot *oldest = window_oldest(slots);
	uint64_t ts = round->stop_ts;

	sources->held = oldest || round->stopped;
	/* the end of the slot, or the lowest floor with the record in the window */
	sources->held_ts = oldest ? oldest->start + slots->slot_ns :
			   ts - ts % slots->slot_ns - (slots->window - 1) * slots->slot_ns;
}

/*
 * One snapshot makes good for all that a round missed: it is taken after the last
 * record of the round was written.
 */
static int sync_owners(struct cmt_reader *reader, struct cmt_slots *slots)
{
	uint64_t missed = reader->sources->missed;
	struct cmt_snapshot *snapshot;
	int err;

	if (cmt_slots_synced(slots, missed))
		return 0;
	err = cmt_device_snapshot(reader->dev, &snapshot);
	return err ? err : cmt_slots_sync_missed(slots, snapshot, missed);
}

/* A round, its owners, its slots.  *@again: another one may find more. */
static int feed_round(struct cmt_reader *reader, struct cmt_slots *slots,
		      struct cmt_round *round, bool *again)
{
	struct cmt_sources *sources = reader->sources;
	bool moved;
	int ret;

	*again = false;
	ret = cmt_feed_round(sources, slots, round);
	if (!ret)
		ret = sync_owners(reader, slots);
	if (!ret)
		ret = cmt_feed_raise(slots, round, &moved);
	if (ret || round->added)
		return ret;
	*again = moved || round->dropped;
	if (*again || sources->pressed)
		return 0;
	ret = cmt_sources_press(sources);
	*again = sources->pressed;
	return ret;
}

int cmt_reader_feed(struct cmt_reader *reader, struct cmt_slots *slots)
{
	unsigned int rounds = FEED_ROUNDS;
	struct cmt_round round;
	bool again;
	int ret = cmt_reader_begin_feed(reader);

	if (ret)
		return ret;
	do {
		ret = feed_round(reader, slots, &round, &again);
	} while (!ret && again && --rounds);
	if (!ret)
		ret = (int)round.added;
	if (!ret)
		cmt_feed_hold(reader->sources, slots, &round);
	cmt_reader_end(reader, ret);
	return ret;
}
