// SPDX-License-Identifier: LGPL-2.1-or-later
/* The traffic of the memory channels, and the part of it without an RMID */
#include "state.h"

#include <cmt/error.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slots/slots.h"

enum { READ, WRITTEN };

/* A reading this near the end of an interval is as good as one at the end. */
static uint64_t near_ns(const struct cmt_usage *usage, uint64_t length_ns)
{
	return usage->slot_ns + 2ULL * usage->sampling_ns + length_ns / 8;
}

static struct usage_channel *find(struct cmt_usage *usage,
				  const struct cmt_slot_channel *c, uint32_t *at)
{
	struct usage_channels *channels = &usage->channels;
	uint32_t low = 0, high = channels->nr, middle = channels->next;

	/* channels have the same order in every slot */
	if (middle >= high)
		middle = 0;
	for (; low < high; middle = low + (high - low) / 2) {
		struct usage_channel *found = &channels->all[middle];
		int order = cmt_channel_cmp(found->socket, found->channel,
					    c->socket, c->channel);

		if (!order) {
			channels->next = middle + 1;
			return found;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*at = low;
	return NULL;
}

/* Returns NULL without memory, or when there are too many: then over is set. */
static struct usage_channel *insert(struct cmt_usage *usage,
				    const struct cmt_slot_channel *c,
				    uint32_t at)
{
	struct usage_channels *channels = &usage->channels;
	struct usage_channel *to;

	channels->over |= channels->nr == CMT_CHANNELS_MAX;
	if (channels->nr == CMT_CHANNELS_MAX ||
	    cmt_grow(&channels->all, channels->nr, &channels->room,
		     sizeof(*to)))
		return NULL;
	to = &channels->all[at];
	memmove(to + 1, to, (channels->nr - at) * sizeof(*to));
	*to = (struct usage_channel){
		.socket = c->socket, .channel = c->channel,
	};
	channels->nr++;
	return to;
}

/*
 * Does a reading continue the last one?  Not one that is so far before the interval
 * that most of the difference may be, too.
 */
static bool continues(const struct cmt_usage *usage, const struct usage_series *s,
		      const uint64_t values[2])
{
	return s->based && values[0] >= s->base[0] && values[1] >= s->base[1] &&
	       (s->read || !cmt_ts_before(s->base_ts +
					  near_ns(usage, usage->interval_ns),
					  usage->start_ns));
}

static void take_reading(const struct cmt_usage *usage, struct usage_series *s,
			 uint64_t ts, const uint64_t values[2])
{
	bool on = continues(usage, s, values);

	if (on && !cmt_ts_before(s->base_ts, ts))
		return;
	if (!s->read)
		s->first_ns = on ? s->base_ts : ts;
	if (on) {
		s->sums[0] += values[0] - s->base[0];
		s->sums[1] += values[1] - s->base[1];
		s->covered_ns += ts - s->base_ts;
	} else {
		s->broken |= s->ever;
	}
	s->ever = true;
	s->read = true;
	s->based = true;
	memcpy(s->base, values, sizeof(s->base));
	s->base_ts = ts;
}

/* After "unavailable", only a rebased reading has a value. */
static void settle(struct usage_series *s, uint32_t flags, bool gone)
{
	if (flags & CMT_F_UNAVAILABLE)
		s->broken = true;
	s->based &= !gone;
}

int usage_channel_add(struct cmt_usage *usage, const struct cmt_slot_channel *c)
{
	const uint64_t bytes[] = { c->read_bytes, c->written_bytes };
	const uint64_t cycles[] = { c->idle_cycles, c->busy_cycles };
	uint32_t at = 0;
	struct usage_channel *to = find(usage, c, &at);

	if (!to)
		to = insert(usage, c, at);
	if (!to)
		return usage->channels.over ? 0 : -ENOMEM;
	to->why |= usage_why(c->flags);
	if (c->flags & CMT_F_REBASED)
		to->bytes.based = to->cycles.based = false;
	if (c->flags & CMT_F_CHANNEL)
		take_reading(usage, &to->bytes, c->ts, bytes);
	if (c->flags & CMT_F_CHANNEL_IDLE)
		take_reading(usage, &to->cycles, c->cycles_ts, cycles);
	to->gone = c->flags & CMT_F_UNAVAILABLE && !(c->flags & CMT_F_REBASED);
	settle(&to->bytes, c->flags, to->gone);
	settle(&to->cycles, c->flags, to->gone);
	return 0;
}

/* Was it read from the beginning of the frame to its end? */
static bool is_whole(const struct cmt_usage *usage, const struct usage_series *s,
		     const struct cmt_usage_frame *frame)
{
	uint64_t near = near_ns(usage, frame->end_ns - frame->start_ns);

	return !s->broken &&
	       !cmt_ts_before(frame->start_ns + near, s->first_ns) &&
	       !cmt_ts_before(s->base_ts + near, frame->end_ns);
}

static uint32_t series_why(const struct usage_channel *c,
			   const struct usage_series *s, bool whole)
{
	uint32_t why = c->why;

	if (!s->read)
		return why | (c->gone ? CMT_USAGE_WHY_UNAVAILABLE :
					CMT_USAGE_WHY_OLD);
	if (!s->covered_ns)
		return why | CMT_USAGE_WHY_FIRST;
	return why | (whole ? 0 : CMT_USAGE_WHY_GAP);
}

/* Dropped traffic makes the rate a lower bound only over the time of the frame. */
static void channel_rate(struct cmt_usage_rate *r, const struct usage_channel *c,
			 uint64_t bytes, bool whole, uint64_t length_ns)
{
	uint64_t span = c->bytes.covered_ns;

	if (!whole && span < length_ns)
		span = length_ns;
	r->why = series_why(c, &c->bytes, whole);
	r->partial = !whole;
	if (c->bytes.covered_ns)
		usage_rate_add(r, bytes, 0, span);
	usage_rate_settle(r, false);
}

/* Where only bytes are read, or a clock stops, cycles are not counted. */
static uint32_t idle_why(const struct usage_channel *c, bool whole)
{
	const struct usage_series *s = &c->cycles;

	if (c->bytes.read && !s->ever)
		return c->why | CMT_USAGE_WHY_UNAVAILABLE;
	if (s->covered_ns && !s->sums[0] && !s->sums[1])
		return c->why | CMT_USAGE_WHY_UNAVAILABLE;
	return series_why(c, s, whole);
}

static void fill_idle(const struct cmt_usage *usage, struct cmt_usage_idle *to,
		      const struct usage_channel *c,
		      const struct cmt_usage_frame *frame)
{
	const struct usage_series *s = &c->cycles;
	bool whole = is_whole(usage, s, frame);
	double idle = (double)s->sums[0], busy = (double)s->sums[1];

	to->idle_cycles = s->sums[0];
	to->busy_cycles = s->sums[1];
	to->known = idle + busy > 0;
	to->partial = to->known && !whole;
	to->share = to->known ? idle / (idle + busy) : NAN;
	to->why = idle_why(c, whole);
}

static void fill_channel(const struct cmt_usage *usage,
			 struct cmt_usage_channel *to,
			 const struct usage_channel *c,
			 const struct cmt_usage_frame *frame)
{
	uint64_t length = frame->end_ns - frame->start_ns;
	bool whole = is_whole(usage, &c->bytes, frame);

	*to = (struct cmt_usage_channel){
		.socket = c->socket, .channel = c->channel,
	};
	channel_rate(&to->read, c, c->bytes.sums[READ], whole, length);
	channel_rate(&to->written, c, c->bytes.sums[WRITTEN], whole, length);
	channel_rate(&to->total, c, c->bytes.sums[READ] + c->bytes.sums[WRITTEN], whole,
		     length);
	to->why = to->total.why;
	fill_idle(usage, &to->idle, c, frame);
}

/*
 * Add a channel's values to the machine's: a value that one channel lacks, the sum
 * lacks.
 */
static void memory_add(struct cmt_usage_rate *to,
		       const struct cmt_usage_rate *from)
{
	to->known &= from->known;
	to->partial |= from->partial;
	to->why |= from->why;
	to->bytes += from->bytes;
	to->rate += from->known ? from->rate : 0;
	to->lo += from->lo;
	to->hi += from->hi;
}

/* Is there a channel that is not in the array? */
static bool some_missing(const struct usage_channels *channels)
{
	return channels->over || channels->reason[0] ||
	       channels->nr < channels->expected;
}

static void memory_sum(struct cmt_usage_rate *sum,
		       const struct cmt_usage_frame *frame, size_t member,
		       bool missing)
{
	uint32_t i;

	sum->known = frame->nr_channels && !missing;
	if (!sum->known)
		sum->why = CMT_USAGE_WHY_UNAVAILABLE;
	for (i = 0; i < frame->nr_channels; i++)
		memory_add(sum, (const struct cmt_usage_rate *)
			   ((const char *)cmt_usage_channel_at(frame, i) +
			    member));
	usage_rate_settle(sum, false);
}

/* Both are rates that are settled: only hi may be INFINITY. */
static void subtract(struct cmt_usage_difference *d,
		     const struct cmt_usage_rate *from,
		     const struct cmt_usage_rate *what)
{
	d->known = from->known && !from->partial && what->known &&
		   !what->partial;
	d->why = from->why | what->why;
	d->rate = d->known ? from->rate - what->rate : NAN;
	d->lo = from->lo - what->hi;
	d->hi = from->hi - what->lo;
}

static void fill_memory(const struct cmt_usage *usage,
			struct cmt_usage_frame *frame)
{
	struct cmt_usage_memory *memory = &frame->memory;
	bool missing = some_missing(&usage->channels);

	memory_sum(&memory->read, frame,
		   offsetof(struct cmt_usage_channel, read), missing);
	memory_sum(&memory->written, frame,
		   offsetof(struct cmt_usage_channel, written), missing);
	memory_sum(&memory->total, frame,
		   offsetof(struct cmt_usage_channel, total), missing);
	usage_rmids(usage, &memory->rmids, frame->elapsed_ns);
	subtract(&memory->unattributed, &memory->total, &memory->rmids);
	/* channels are never of a model */
	if (frame->emulated)
		memory->unattributed = (struct cmt_usage_difference){
			.why = CMT_USAGE_WHY_UNAVAILABLE, .rate = NAN,
			.lo = -INFINITY, .hi = INFINITY,
		};
}

_Static_assert(sizeof(((struct cmt_uncore *)NULL)->reason) == USAGE_REASON_LEN,
	       "either reason is copied");

void usage_set_uncore(struct cmt_usage *usage, const struct cmt_uncore *uncore)
{
	static const struct cmt_uncore none;
	struct usage_channels *channels = &usage->channels;
	const char *reason;

	if (!uncore)
		uncore = &none;
	reason = uncore->channels_reason;
	if (!uncore->count && uncore->reason[0])
		reason = uncore->reason;
	memcpy(channels->reason, reason, sizeof(channels->reason));
	channels->reason[sizeof(channels->reason) - 1] = '\0';
	channels->expected = uncore->channels;
}

/* Read the module's present list of channels; the records have the other properties. */
static void ask_uncore(struct cmt_usage *usage)
{
	struct usage_channels *channels = &usage->channels;
	struct cmt_uncore uncore = { .size = sizeof(uncore) };
	struct cmt_box *boxes;
	int err;

	if (!channels->wanted)
		return;
	err = cmt_device_uncore(usage->device, &uncore, &boxes);
	if (err) {
		snprintf(channels->reason, sizeof(channels->reason), "%s",
			 cmt_strerror(err));
		return;
	}
	usage_set_uncore(usage, &uncore);
	free(boxes);
}

int usage_channels(struct cmt_usage *usage, struct usage_frame *to)
{
	struct usage_channels *channels = &usage->channels;
	struct cmt_usage_frame *frame = &to->frame;
	uint32_t i;

	ask_uncore(usage);
	for (i = 0; i < channels->nr; i++) {
		if (cmt_grow(&to->channels, i, &to->room_channels,
			     sizeof(*to->channels)))
			return -ENOMEM;
		fill_channel(usage, &to->channels[i], &channels->all[i], frame);
	}
	memcpy(to->channels_reason, channels->reason,
	       sizeof(to->channels_reason));
	frame->nr_channels = channels->nr;
	frame->channel_size = sizeof(*to->channels);
	frame->channels = to->channels;
	frame->channels_reason = to->channels_reason;
	fill_memory(usage, frame);
	return 0;
}

static void series_close(struct usage_series *s)
{
	s->read = false;
	s->broken = false;
	s->first_ns = 0;
	s->sums[0] = s->sums[1] = 0;
	s->covered_ns = 0;
}

void usage_channels_close(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->channels.nr; i++) {
		struct usage_channel *c = &usage->channels.all[i];

		c->why = 0;
		series_close(&c->bytes);
		series_close(&c->cycles);
	}
}
