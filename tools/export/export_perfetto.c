// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perfetto's trace format, protobuf: for each row a track with counters below it.  A
 * counter is drawn until its next point, so an unknown value would be drawn as the last
 * known one: a slice marks unknown values, lower bounds, and time without readings.
 *
 * Field numbers are those of perfetto/trace/trace_packet.proto and of its messages.
 */
#include "export_format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/keys.h"
#include "proto.h"

#define MS 1000000ULL
#define ROOT_UUID 1U		/* slices of the recording: lost data */
#define UUIDS 8U		/* of a track: its own, and its counters' */
#define STATE_LEN 160

enum counter { OCCUPANCY, TOTAL, LOCAL, CPU, MPKI, WAIT, NR_COUNTERS };

_Static_assert(NR_COUNTERS == EXPORT_ROW_POINTS, "points of a row");

static const struct {
	const char *name, *unit;	/* unit NULL: bytes */
} counters[NR_COUNTERS] = {
	[OCCUPANCY] = { "L3 occupancy", NULL },
	[TOTAL] = { "memory bandwidth", "B/s" },
	[LOCAL] = { "local bandwidth", "B/s" },
	[CPU] = { "CPUs used", "CPUs" },
	[MPKI] = { "LLC misses", "per 1000 instructions" },
	[WAIT] = { "waiting for a CPU", "tasks" },
};

/* A value as it is drawn. */
struct point {
	bool known, partial;
	double value;
};

struct track {
	uint64_t uuid;
	uint64_t frame;		/* number of the last one that had it */
	bool drawn[NR_COUNTERS];	/* a point was put, and is still the value: */
	bool made[NR_COUNTERS];		/* the counter has a descriptor */
	double last[NR_COUNTERS];
	char state[STATE_LEN];	/* name of the slice that is open; "": none */
};

struct perfetto {
	struct keys tracks;
	uint64_t end_ns;	/* of the last frame */
	struct track recording;	/* uuid ROOT_UUID */
};

static void put_packet(struct export_session *session, const struct proto *packet)
{
	proto_put(session->out, 1, packet);
}

/* @uuid_of: the counters below @parent, or a track of slices: counter NULL */
static void put_descriptor(struct export_session *session, uint64_t uuid,
			   uint64_t parent, const char *name, const char *unit,
			   bool counter)
{
	struct proto packet = { 0 }, track = { 0 }, unit_of = { 0 };

	proto_varint(&track, 1, uuid);
	proto_text(&track, 2, name);
	if (parent)
		proto_varint(&track, 5, parent);
	if (counter && unit)
		proto_text(&unit_of, 6, unit);
	else if (counter)
		proto_varint(&unit_of, 3, 3);	/* UNIT_SIZE_BYTES */
	if (counter)
		proto_message(&track, 8, &unit_of);
	proto_varint(&packet, 10, 1);
	proto_message(&packet, 60, &track);
	put_packet(session, &packet);
}

enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };

static void put_slice(struct export_session *session, uint64_t uuid, uint64_t ts,
		      const char *name)
{
	struct proto packet = { 0 }, event = { 0 };

	proto_varint(&event, 9, name ? SLICE_BEGIN : SLICE_END);
	proto_varint(&event, 11, uuid);
	if (name)
		proto_text(&event, 23, name);
	proto_varint(&packet, 8, ts);
	proto_varint(&packet, 10, 1);
	proto_message(&packet, 11, &event);
	put_packet(session, &packet);
}

static void put_point(struct export_session *session, uint64_t uuid, uint64_t ts,
		      enum counter counter, double value)
{
	struct proto packet = { 0 }, event = { 0 };

	proto_varint(&event, 9, COUNTER);
	proto_varint(&event, 11, uuid);
	if (counter == CPU || counter == MPKI || counter == WAIT)
		proto_double(&event, 44, value);
	else
		proto_varint(&event, 30, (uint64_t)value);
	proto_varint(&packet, 8, ts);
	proto_varint(&packet, 10, 1);
	proto_message(&packet, 11, &event);
	put_packet(session, &packet);
}

static void set_state(struct export_session *session, struct track *track, uint64_t ts,
		      const char *state)
{
	if (!strcmp(track->state, state))
		return;
	if (*track->state)
		put_slice(session, track->uuid, ts, NULL);
	if (*state)
		put_slice(session, track->uuid, ts, state);
	snprintf(track->state, sizeof(track->state), "%s", state);
}

static struct point rate_point(const struct cmt_usage_rate *rate)
{
	return (struct point){
		.known = rate->known && isfinite(rate->rate),
		.partial = rate->partial, .value = rate->rate,
	};
}

static void points_of(const struct cmt_usage_row *row, struct point points[NR_COUNTERS])
{
	const struct cmt_usage_occupancy *o = &row->occupancy;
	const struct cmt_usage_counters *c = &row->counters;

	points[OCCUPANCY] = (struct point){
		.known = o->known, .partial = o->partial,
		.value = (double)(o->slots ? o->mean_bytes : o->last_bytes),
	};
	points[TOTAL] = rate_point(&row->total);
	points[LOCAL] = rate_point(&row->local);
	points[CPU] = (struct point){
		.known = isfinite(c->cpu_share), .value = c->cpu_share,
		.partial = c->partial,
	};
	points[MPKI] = (struct point){ .known = isfinite(c->mpki), .value = c->mpki };
	points[WAIT] = (struct point){
		.known = isfinite(c->wait_share), .value = c->wait_share,
		.partial = c->bounds & CMT_F_WAITED,
	};
}

/* Append the names of the points whose @which is true. */
static void state_names(char state[STATE_LEN], const char *what,
			const struct point points[NR_COUNTERS], bool lower)
{
	const char *between = what;
	size_t n = strlen(state);

	if (n)
		n += (size_t)snprintf(state + n, STATE_LEN - n, "; ");
	for (int i = 0; i < NR_COUNTERS; i++) {
		bool is = lower ? points[i].known && points[i].partial :
				  !points[i].known;

		if (!is)
			continue;
		n += (size_t)snprintf(state + n, STATE_LEN - n, "%s%s", between,
				      counters[i].name);
		between = ", ";
	}
	if (between == what && n >= 2)
		state[n - 2] = '\0';
}

static void put_row(struct export_session *session, struct track *track, uint64_t ts,
		    const struct cmt_usage_row *row)
{
	struct point points[NR_COUNTERS];
	char state[STATE_LEN] = "";

	points_of(row, points);
	for (int i = 0; i < NR_COUNTERS; i++) {
		uint64_t uuid = track->uuid + 1 + (uint64_t)i;

		if (!points[i].known) {
			track->drawn[i] = false;
			continue;
		}
		if (track->drawn[i] && track->last[i] == points[i].value)
			continue;
		if (!track->made[i])
			put_descriptor(session, uuid, track->uuid, counters[i].name,
				       counters[i].unit, true);
		put_point(session, uuid, ts, (enum counter)i, points[i].value);
		track->made[i] = track->drawn[i] = true;
		track->last[i] = points[i].value;
	}
	state_names(state, "not known: ", points, false);
	state_names(state, "lower bound: ", points, true);
	set_state(session, track, ts, state);
}

/* The identity of a row in its frame, which stays the same */
static int row_key(const struct export_row *e, char **key)
{
	const struct cmt_usage_row *row = e->row;
	const struct cmt_container *c = row->container;
	int n;

	if (row->flags & CMT_USAGE_ROW_CPU || e->frame->by == CMT_USAGE_BY_DOMAIN)
		n = asprintf(key, "%s", e->name);
	else if (e->frame->by == CMT_USAGE_BY_PROCESS)
		n = asprintf(key, "%u %u %u %u %u %s", row->kind, row->owner, row->pid,
			     row->rmid, row->generation, e->name);
	else if (c && c->path)
		n = asprintf(key, "%u %u %.*s", row->kind,
			     row->owner == CMT_OWNER_RESCTRL, (int)c->own_len, c->path);
	else
		n = asprintf(key, "%u %" PRIu64 " %s", row->kind, row->cgroup_id,
			     e->name);
	return n < 0 ? -ENOMEM : 0;
}

/* Tracks of a model's values are named so in every viewer. */
static void track_name(char *name, size_t size, const struct export_row *e)
{
	const char *emulated = e->row->flags & CMT_USAGE_ROW_EMULATED ?
			       " (EMULATED)" : "";

	if (e->frame->by == CMT_USAGE_BY_PROCESS && e->row->pid)
		snprintf(name, size, "%s[%u] %s%s", e->row->comm, e->row->pid, e->name,
			 emulated);
	else
		snprintf(name, size, "%s%s", e->name, emulated);
}

static struct track *track_of(struct export_session *session, const struct export_row *e)
{
	struct perfetto *state = session->state;
	char name[CONTAINER_LABEL_LEN + 64], *key;
	struct track *track;

	if (row_key(e, &key))
		return NULL;
	track = keys_get(&state->tracks, key);
	free(key);
	if (!track || track->uuid)
		return track;
	track->uuid = ROOT_UUID + UUIDS * (uint64_t)state->tracks.nr;
	track_name(name, sizeof(name), e);
	put_descriptor(session, track->uuid, 0, name, NULL, false);
	return track;
}

/* From here on the values of the track are unknown. */
static void leave_track(struct export_session *session, struct track *track, uint64_t ts,
			const char *why)
{
	memset(track->drawn, 0, sizeof(track->drawn));
	set_state(session, track, ts, why);
}

/* Those of owners that have no row any more. */
static void leave_tracks(struct export_session *session, uint64_t ts)
{
	struct perfetto *state = session->state;

	for (uint32_t i = 0; i < state->tracks.nr; i++) {
		struct track *track = keys_at(&state->tracks, i);

		if (track->frame != session->frames)
			leave_track(session, track, ts, "ended, or not measured");
	}
}

/*
 * Intervals without a reading have no frame.  A reading is of the time since the one before it,
 * which may be half of a sampling interval early or late.
 */
static bool after_gap(const struct perfetto *state, const struct cmt_usage_frame *frame)
{
	return frame->start_ns > state->end_ns &&
	       frame->start_ns - state->end_ns > frame->sampling_ns * 3ULL / 2;
}

/* All rows of the last frame: session->frames is still its number. */
static void put_gap(struct export_session *session)
{
	struct perfetto *state = session->state;

	for (uint32_t i = 0; i < state->tracks.nr; i++) {
		struct track *track = keys_at(&state->tracks, i);

		if (track->frame == session->frames)
			leave_track(session, track, state->end_ns, "not measured");
	}
	set_state(session, &state->recording, state->end_ns, "not measured");
}

static void put_losses(struct export_session *session, const struct cmt_usage_frame *frame)
{
	struct perfetto *state = session->state;
	char text[STATE_LEN] = "";

	if (frame->lost || frame->nr_gaps)
		snprintf(text, sizeof(text), "records lost: %" PRIu64 ", gaps: %u",
			 frame->lost, frame->nr_gaps);
	set_state(session, &state->recording, frame->start_ns, text);
}

/* The trace's clock, which is the recording's CLOCK_MONOTONIC, and that of the wall. */
static void put_clocks(struct export_session *session, uint64_t mono_ns)
{
	const struct { uint64_t id, ns; } clocks[] = {
		{ 6, mono_ns }, { 3, mono_ns },
		{ 1, mono_ns + session->origin.clock_ns },
	};
	struct proto packet = { 0 }, snapshot = { 0 };

	for (unsigned int i = 0; i < (session->origin.clock_known ? 3 : 2); i++) {
		struct proto clock = { 0 };

		proto_varint(&clock, 1, clocks[i].id);
		proto_varint(&clock, 2, clocks[i].ns);
		proto_message(&snapshot, 1, &clock);
	}
	proto_varint(&packet, 10, 1);
	proto_message(&packet, 6, &snapshot);
	put_packet(session, &packet);
}

static int put_frame(struct export_session *session, const struct cmt_usage_frame *frame)
{
	struct perfetto *state = session->state;
	struct export_row e = { .frame = frame };

	if (!session->frames)
		put_clocks(session, frame->start_ns);
	else if (after_gap(state, frame))
		put_gap(session);
	session->frames++;
	put_losses(session, frame);
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		struct track *track;

		e.row = cmt_usage_row_at(frame, i);
		export_row_name(&e);
		track = track_of(session, &e);
		if (!track)
			return -ENOMEM;
		track->frame = session->frames;
		put_row(session, track, frame->start_ns, e.row);
		session->rows++;
	}
	leave_tracks(session, frame->start_ns);
	state->end_ns = frame->end_ns;
	return session->out->err;
}

static int begin(struct export_session *session)
{
	struct perfetto *state = calloc(1, sizeof(*state));
	struct proto packet = { 0 };
	char name[128];

	if (!state)
		return -ENOMEM;
	keys_init(&state->tracks, sizeof(struct track));
	state->recording.uuid = ROOT_UUID;
	session->state = state;
	proto_varint(&packet, 10, 1);
	proto_varint(&packet, 13, 1);	/* SEQ_INCREMENTAL_STATE_CLEARED */
	put_packet(session, &packet);
	snprintf(name, sizeof(name), "recording of %.*s", 100,
		 *session->origin.node ? session->origin.node : "a machine");
	put_descriptor(session, ROOT_UUID, 0, name, NULL, false);
	return session->out->err;
}

/* Slices end with the last frame, and curves are drawn so far. */
static int end(struct export_session *session)
{
	struct perfetto *state = session->state;

	for (uint32_t i = 0; i < state->tracks.nr; i++) {
		struct track *track = keys_at(&state->tracks, i);

		for (int c = 0; c < NR_COUNTERS; c++)
			if (track->drawn[c])
				put_point(session, track->uuid + 1 + (uint64_t)c,
					  state->end_ns, (enum counter)c,
					  track->last[c]);
		set_state(session, track, state->end_ns, "");
	}
	set_state(session, &state->recording, state->end_ns, "");
	keys_free(&state->tracks);
	free(state);
	session->state = NULL;
	return session->out->err;
}

const struct export_format export_perfetto = {
	.name = "perfetto", .grain_ns = MS, .bounded = true,
	.begin = begin, .frame = put_frame, .end = end,
};
