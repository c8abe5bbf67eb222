// SPDX-License-Identifier: LGPL-2.1-or-later
/* The prediction of each member of a record, and its encoding */
#include "coder.h"

#define MEAN_SHIFT	2	/* the newest step counts a quarter */
#define RATIO_SHIFT	16
#define NEAR_NS		65536	/* a tick this near to its time is on the grid */

/* A value that changes by about as much each time, in units. */
static uint64_t code_step(struct coder *c, unsigned int column, uint64_t value,
			  uint64_t unit, struct rec_context *ctx, unsigned int i)
{
	uint64_t was = ctx->values[i], scaled = unit == 1 ? value : value / unit;

	scaled = code_near(c, column, scaled, was + ctx->steps[i]);
	ctx->steps[i] += rec_shift(scaled - was - ctx->steps[i], MEAN_SHIFT);
	ctx->values[i] = scaled;
	return scaled * unit;
}

static uint64_t code_same(struct coder *c, unsigned int column, uint64_t value,
			  uint64_t unit, struct rec_context *ctx, unsigned int i)
{
	uint64_t scaled = unit == 1 ? value : value / unit;

	scaled = code_near(c, column, scaled, ctx->values[i]);
	ctx->values[i] = scaled;
	return scaled * unit;
}

static void code_sample(struct coder *c, struct cmt_record *r, struct rec_context *ctx)
{
	unsigned int at = column_of(REC_SAMPLE, REC_VALUES);
	const uint64_t *units = c->model->units;
	uint64_t total = ctx->values[1], local = ctx->values[2], moved;

	r->sample.occupancy_bytes = code_same(c, at, r->sample.occupancy_bytes, units[0],
					      ctx, 0);
	r->sample.mbm_total_bytes = code_step(c, at + 1, r->sample.mbm_total_bytes,
					      units[1], ctx, 1);
	/* local traffic is a part of the total */
	moved = units[1] == units[2] ? ctx->values[1] - total : 0;
	ctx->values[2] = local + moved;
	r->sample.mbm_local_bytes = code_step(c, at + 2, r->sample.mbm_local_bytes,
					      units[2], ctx, 2);
	r->sample.residual_bytes = code_same(c, at + 3, r->sample.residual_bytes,
					     units[3], ctx, 3);
}

static void code_tick(struct coder *c, struct cmt_record *r, struct rec_context *ctx,
		      struct rec_stream *s)
{
	unsigned int at = column_of(REC_TICK, REC_VALUES);

	r->tick.missed = code_same(c, at, r->tick.missed, 1, ctx, 0);
	r->tick.deferred = code_same(c, at + 1, r->tick.deferred, 1, ctx, 1);
	r->tick.busy_ns = code_step(c, at + 2, r->tick.busy_ns, 1, ctx, 2);
	r->tick.read = code_near32(c, at + 3, r->tick.read, s->samples);
	r->tick.waiting = (uint32_t)code_same(c, at + 4, r->tick.waiting, 1, ctx, 3);
	s->samples = 0;
}

/*
 * A count.  Where all counts of the chunk are rounded, the difference between their
 * indexes in the sequence of rounded numbers is stored.
 */
static uint64_t code_count(struct coder *c, unsigned int column, uint64_t value,
			   uint64_t expected)
{
	uint64_t place;

	if (code_expected(c, column, value, expected))
		return value;
	if (!c->model->rounded)
		return code_near(c, column, value, expected);
	place = code_near(c, column, rec_place(value), rec_place(expected));
	c->bad |= place > REC_PLACE_MAX;
	return rec_of_place(place & 0x3fff);
}

/* A value in proportion to @of, by the ratio of the last time. */
static uint64_t code_ratio(struct coder *c, unsigned int column, uint64_t value,
			   uint64_t of, uint64_t *ratio)
{
	value = code_count(c, column, value, of * *ratio >> RATIO_SHIFT);
	*ratio = value && of && value < 1ULL << (64 - RATIO_SHIFT) ?
		 (value << RATIO_SHIFT) / of : 0;
	return value;
}

/* A chunk that is older than the record's 32 bits may have a count of more. */
static uint32_t fit(struct cmt_record *r, uint64_t count, uint32_t flag)
{
	if (count <= UINT32_MAX)
		return (uint32_t)count;
	r->flags &= ~flag;
	return 0;
}

/* Cycles depend on the CPU's clock, other counts on the owner. */
static void code_perf(struct coder *c, struct cmt_record *r, struct rec_context *ctx,
		      struct rec_stream *s)
{
	unsigned int at = column_of(REC_PERF, REC_VALUES);
	uint64_t *ratios = ctx->values, misses, references;

	r->perf.cycles = code_ratio(c, at, r->perf.cycles, r->ran_ns, &s->clock);
	r->perf.instructions = code_ratio(c, at + 1, r->perf.instructions, r->perf.cycles,
					  &ratios[1]);
	misses = code_ratio(c, at + 2, r->perf.llc_misses, r->perf.instructions,
			    &ratios[2]);
	references = code_ratio(c, at + 3, r->perf.llc_references, misses, &ratios[3]);
	r->perf.llc_misses = fit(r, misses, CMT_F_LLC_MISSES);
	r->perf.llc_references = fit(r, references, CMT_F_LLC_REFERENCES);
	if (c->model->wait_unit)
		r->perf.waited_ns = code_same(c, at + 4, r->perf.waited_ns,
					      c->model->wait_unit, ctx, 0);
}

/* All other payloads, without a prediction: 8 bytes at a time */
static void code_payload(struct coder *c, struct cmt_record *r, struct rec_context *ctx,
			 unsigned int group)
{
	unsigned int at = column_of(group, REC_VALUES);
	uint64_t values[4];

	memcpy(values, r->payload, sizeof(values));
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t value = le64toh(values[i]);

		value = group == REC_CHANNEL ? code_step(c, at + i, value, 1, ctx, i) :
					       code_same(c, at + i, value, 1, ctx, i);
		values[i] = htole64(value);
	}
	memcpy(r->payload, values, sizeof(values));
}

/* The RMID that followed the last one of this kind before, or began the tick. */
static uint32_t expected_rmid(const struct rec_stream *s, unsigned int group)
{
	const struct rec_context *last = s->last[group];

	return last && group != REC_TICK ? last->next : s->first[group];
}

static void note_rmid(struct rec_stream *s, unsigned int group, uint32_t rmid)
{
	if (s->last[group] && group != REC_TICK)
		s->last[group]->next = rmid;
	else
		s->first[group] = rmid;
}

static struct rec_context *context_of(struct coder *c, const struct cmt_record *r,
				      unsigned int group)
{
	switch (group) {
	case REC_SAMPLE:
		return rec_context(c->model, group, r->rmid, r->domain);
	case REC_PERF:
		return rec_context(c->model, group, r->rmid, 0);
	case REC_TICK:
		return rec_context(c->model, group, 0, r->cpu);
	default:
		return rec_context(c->model, group, r->rmid, r->type);
	}
}

/*
 * The boxes of a socket follow each other in CHANNEL records.  The PERF records of a
 * CPU add up to the time since the last tick.
 */
static void code_word(struct coder *c, struct cmt_record *r, struct rec_context *ctx,
		      struct rec_stream *s)
{
	unsigned int group = rec_group(r->type);
	uint32_t expected = group == REC_PERF ? s->left : ctx->word;
	uint32_t word = code_near32(c, column_of(group, REC_WORD), r->reserved, expected);

	r->reserved = word;
	ctx->word = group == REC_CHANNEL ? word + 1 : word;
	if (group == REC_PERF)
		s->left = word < s->left ? s->left - word : 0;
}

/*
 * Flags are predicted as those of the last record; those of a new owner as those of any
 * other of its kind.
 */
static void code_flags(struct coder *c, struct cmt_record *r, struct rec_context *ctx)
{
	unsigned int group = rec_group(r->type);
	uint32_t expected = ctx->seen ? ctx->flags : c->model->flags[group];

	if (!code_expected(c, column_of(group, REC_FLAGS), r->flags, expected))
		r->flags = (uint32_t)code(c, column_of(group, REC_FLAGS),
					  r->flags ^ expected) ^ expected;
	ctx->flags = r->flags;
	ctx->seen = true;
	c->model->flags[group] = r->flags;
}

/* The next SAMPLE or PERF begins a tick: probably of the RMID that runs now. */
static void end_tick(struct rec_stream *s, const struct cmt_record *r)
{
	s->last[REC_SAMPLE] = s->last[REC_PERF] = NULL;
	s->first[REC_SAMPLE] = s->first[REC_PERF] = r->rmid;
	s->left = (uint32_t)(r->ts - s->ticked_ns);
	s->ticked_ns = r->ts;
}

static void code_owner(struct coder *c, struct cmt_record *r, struct rec_stream *s)
{
	unsigned int group = rec_group(r->type), at = column_of(group, 0);
	uint32_t *generation;

	r->rmid = code_near32(c, at + REC_RMID, r->rmid, expected_rmid(s, group));
	note_rmid(s, group, r->rmid);
	r->domain = code_near32(c, at + REC_DOMAIN, r->domain, s->domain);
	s->domain = r->domain;
	generation = &c->model->generations[r->rmid % REC_GENERATIONS];
	r->generation = code_near32(c, at + REC_GENERATION, r->generation, *generation);
	*generation = r->generation;
}

void rec_code_rest(struct coder *c, struct cmt_record *r, struct rec_stream *s)
{
	unsigned int group = rec_group(r->type);
	struct rec_context *ctx;

	code_owner(c, r, s);
	ctx = context_of(c, r, group);
	code_flags(c, r, ctx);
	code_word(c, r, ctx, s);
	if (group == REC_CHANNEL)
		ctx = rec_context(c->model, REC_OTHER, r->reserved, ~r->domain);
	s->last[group] = ctx;
	s->samples += group == REC_SAMPLE;
	if (group == REC_SAMPLE)
		code_sample(c, r, ctx);
	else if (group == REC_PERF)
		code_perf(c, r, ctx, s);
	else if (group == REC_TICK)
		code_tick(c, r, ctx, s);
	else
		code_payload(c, r, ctx, group);
	if (group == REC_TICK)
		end_tick(s, r);
}

/* Did the record before end a tick, as far as is known? */
static bool begins_tick(const struct rec_stream *s, uint16_t type)
{
	return type != CMT_REC_PERF && (s->type == CMT_REC_PERF ||
		s->type == CMT_REC_TICK || s->type == CMT_REC_CHANNEL);
}

/* The grid is steadier than the time at which a tick begins on it. */
static void note_tick(struct rec_stream *s, uint64_t ts, uint64_t expected)
{
	int64_t late = (int64_t)(ts - expected);

	if (late < -NEAR_NS || late > NEAR_NS) {
		s->between = ts - s->tick_ns;
		s->tick_ns = ts;
		return;
	}
	s->between += rec_shift(ts - expected, 6);
	s->tick_ns = expected + rec_shift(ts - expected, 2);
}

/*
 * The prediction by the record before: of a reading by its group, of other records by
 * their number
 */
static void code_type(struct coder *c, struct cmt_record *r, const struct rec_stream *s)
{
	unsigned int column = REC_COL_TYPES + rec_group(s->type);
	unsigned int group = code_symbol(c, column, rec_group(r->type));
	uint64_t type;

	if (group < REC_OTHER) {
		r->type = (uint16_t)(CMT_REC_SAMPLE + group);
		return;
	}
	type = code(c, column_of(REC_OTHER, REC_VALUES + 4), r->type);
	c->bad |= type > UINT16_MAX || rec_group((uint16_t)type) != REC_OTHER;
	r->type = (uint16_t)type;
}

void rec_code_time(struct coder *c, struct cmt_record *r, struct rec_stream *s)
{
	uint64_t none = 0, *step = &none, expected;
	bool begins;

	code_type(c, r, s);
	begins = begins_tick(s, r->type);
	if (s->type == CMT_REC_SAMPLE && r->type == CMT_REC_SAMPLE)
		step = &s->delta;
	else if (r->type == CMT_REC_TICK)
		step = &s->tail;
	expected = begins ? s->tick_ns + s->between : s->ts + *step;
	r->ts = code_near(c, column_of(rec_group(r->type), REC_TS), r->ts, expected);
	if (begins)
		note_tick(s, r->ts, expected);
	else
		*step += rec_shift(r->ts - expected, MEAN_SHIFT);
	s->ts = r->ts;
	s->type = r->type;
}
