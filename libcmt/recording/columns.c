// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records of a chunk as columns: streams, passes, and the order of the records */
#include "columns.h"

#include <errno.h>
#include <stdlib.h>

#include "coder.h"

_Static_assert(REC_COLUMNS < REC_CUTS, "a cut after each column");

#define WHOLE_VALUES	15U	/* by value of SAMPLE records: it is in units */
#define WHOLE_ROUNDED	16U	/* values of PERF records have few significant bits */
#define WHOLE_WAITS	32U	/* PERF records have waits */
#define WHOLE_WAIT_UNIT	64U	/* these are in units of WAIT_UNIT */
#define WHOLE_ALL	(WHOLE_VALUES | WHOLE_ROUNDED | WHOLE_WAITS | WHOLE_WAIT_UNIT)
#define WAIT_UNIT	1024U	/* ns; the module's */
#define ORDER_MERGED	0	/* by (ts, cpu), as cmt_reader_read() gives them */
#define ORDER_TOLD	1	/* REC_COL_ORDER has the stream of each */

static void count_groups(const struct cmt_record *records, uint32_t n,
			 uint32_t counts[REC_GROUPS])
{
	memset(counts, 0, REC_GROUPS * sizeof(counts[0]));
	for (uint32_t i = 0; i < n; i++)
		counts[rec_group(records[i].type)]++;
}

static bool is_merged(const struct cmt_record *records, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		const struct cmt_record *a = &records[i - 1], *b = &records[i];

		if (a->ts > b->ts || (a->ts == b->ts && a->cpu > b->cpu))
			return false;
	}
	return true;
}

/* Values of samples are stored in units, where all of them are multiples. */
static uint32_t find_units(struct rec_model *model, const struct cmt_record *records,
			   uint32_t n, uint32_t unit)
{
	uint32_t whole = unit > 1 ? WHOLE_VALUES : 0;

	for (uint32_t i = 0; whole && i < n; i++) {
		const struct cmt_record *r = &records[i];
		const uint64_t values[4] = {
			r->sample.occupancy_bytes, r->sample.mbm_total_bytes,
			r->sample.mbm_local_bytes, r->sample.residual_bytes,
		};

		for (int v = 0; r->type == CMT_REC_SAMPLE && v < 4; v++)
			if (values[v] && values[v] % unit)
				whole &= ~(1U << v);
	}
	for (int v = 0; v < 4; v++)
		model->units[v] = whole & 1U << v ? unit : 1;
	return whole;
}

/* Are all counts of PERF records rounded, and is there one? */
static bool find_rounded(const struct cmt_record *records, uint32_t n)
{
	bool some = false;

	for (uint32_t i = 0; i < n; i++) {
		const struct cmt_record *r = &records[i];

		if (r->type != CMT_REC_PERF)
			continue;
		if (!rec_is_rounded(r->perf.cycles) || !rec_is_rounded(r->perf.instructions) ||
		    !rec_is_rounded(r->perf.llc_misses) ||
		    !rec_is_rounded(r->perf.llc_references))
			return false;
		some = true;
	}
	return some;
}

/* Which waits do PERF records have?  Without any there is no column of them. */
static uint32_t find_waits(const struct cmt_record *records, uint32_t n)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < n; i++)
		all |= records[i].type == CMT_REC_PERF ? records[i].perf.waited_ns : 0;
	if (!all)
		return 0;
	return all % WAIT_UNIT ? WHOLE_WAITS : WHOLE_WAITS | WHOLE_WAIT_UNIT;
}

static void set_wait_unit(struct rec_model *model, uint64_t whole)
{
	model->wait_unit = !(whole & WHOLE_WAITS) ? 0 :
			   whole & WHOLE_WAIT_UNIT ? WAIT_UNIT : 1;
}

/* Streams by CPU, and the places of their records, in order[]. */
static int find_streams(struct rec_model *model, const struct cmt_record *records,
			uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t cpu = records[i].cpu;

		if (model->stream_of[cpu] == UINT32_MAX && !rec_stream_new(model, cpu))
			return -ENOMEM;
		model->streams[model->stream_of[cpu]].count++;
	}
	for (uint32_t s = 0; s < model->nr_streams; s++) {
		model->streams[s].next = at;
		at += model->streams[s].count;
		model->streams[s].end = at;
	}
	for (uint32_t i = 0; i < n; i++)
		model->order[model->streams[model->stream_of[records[i].cpu]].next++] = i;
	return 0;
}

/* Room for the maximum size of columns */
static uint8_t *columns_new(struct coder *c, const uint32_t counts[REC_GROUPS], uint32_t n)
{
	size_t size = (size_t)n * (REC_COL_GROUPS + REC_FIELDS);
	uint8_t *all = malloc(size + 1), *at = all;

	if (!all)
		return NULL;
	for (unsigned int i = 0; i < REC_COLUMNS; i++) {
		c->at[i] = at;
		at += i < REC_COL_GROUPS ? n :
		      counts[(i - REC_COL_GROUPS) / REC_FIELDS];
	}
	return all;
}

static void put_columns(struct coder *c, uint8_t *all, struct rec_buffer *out,
			struct rec_cuts *cuts)
{
	uint8_t *begin[REC_COLUMNS];

	for (unsigned int i = 0; i < REC_COLUMNS; i++)
		begin[i] = i ? (uint8_t *)(uintptr_t)c->end[i - 1] : all;
	for (unsigned int i = 0; i < REC_COLUMNS; i++)
		rec_put_varint(out, (uint64_t)(c->at[i] - begin[i]));
	cuts->nr = 0;
	cuts->at[cuts->nr++] = (uint32_t)out->nr;
	for (unsigned int i = 0; i < REC_COLUMNS; i++) {
		rec_put(out, begin[i], (size_t)(c->at[i] - begin[i]));
		cuts->at[cuts->nr++] = (uint32_t)out->nr;
	}
	/* the last bits take as many bytes as they need */
	for (; c->held; c->held -= c->held < 8 ? c->held : 8, c->word >>= 8) {
		uint8_t byte = (uint8_t)c->word;

		rec_put(&c->bits, &byte, 1);
	}
	rec_put(out, c->bits.bytes, c->bits.nr);
}

static void put_streams(const struct rec_model *model, bool merged, uint32_t whole,
			uint32_t unit, struct rec_buffer *out)
{
	rec_put_varint(out, merged ? ORDER_MERGED : ORDER_TOLD);
	rec_put_varint(out, whole);
	rec_put_varint(out, unit);
	rec_put_varint(out, model->nr_streams);
	for (uint32_t s = 0; s < model->nr_streams; s++) {
		rec_put_varint(out, model->streams[s].cpu);
		rec_put_varint(out, model->streams[s].count);
	}
}

static void encode_all(struct coder *c, const struct cmt_record *records, uint32_t n,
		       bool merged)
{
	struct rec_model *model = c->model;
	uint32_t *next = model->order;
	struct cmt_record r;

	for (uint32_t i = 0; !merged && i < n; i++)
		code(c, REC_COL_ORDER, model->stream_of[records[i].cpu]);
	for (uint32_t s = 0; s < model->nr_streams; s++) {
		for (uint32_t i = 0; i < model->streams[s].count; i++) {
			r = records[*next++];
			rec_code_time(c, &r, &model->streams[s]);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		r = records[i];
		rec_code_rest(c, &r, &model->streams[model->stream_of[r.cpu]]);
	}
}

int rec_columns_encode(struct rec_model *model, const struct cmt_record *records,
		       uint32_t n, uint32_t unit_bytes, struct rec_buffer *out,
		       struct rec_cuts *cuts)
{
	struct coder c = { .model = model, .encode = true };
	bool merged = is_merged(records, n);
	uint32_t counts[REC_GROUPS], whole;
	uint8_t *all;

	count_groups(records, n, counts);
	if (rec_model_begin(model, n) || find_streams(model, records, n))
		return -ENOMEM;
	whole = find_units(model, records, n, unit_bytes);
	model->rounded = find_rounded(records, n);
	if (model->rounded)
		whole |= WHOLE_ROUNDED;
	whole |= find_waits(records, n);
	set_wait_unit(model, whole);
	all = columns_new(&c, counts, n);
	if (!all)
		return -ENOMEM;
	for (unsigned int i = 0; i + 1 < REC_COLUMNS; i++)
		c.end[i] = c.at[i + 1];	/* where each one's room ends */
	put_streams(model, merged, whole, unit_bytes, out);
	encode_all(&c, records, n, merged);
	put_columns(&c, all, out, cuts);
	free(all);
	out->failed |= c.bits.failed;
	rec_buffer_free(&c.bits);
	return out->failed ? -ENOMEM : 0;
}

static int get_streams(struct rec_model *model, struct rec_cursor *in, uint32_t n,
		       bool *merged)
{
	uint64_t order = rec_get_varint(in), whole = rec_get_varint(in);
	uint64_t unit = rec_get_varint(in), sum = 0;
	uint32_t nr = rec_get_count(in, 2);

	*merged = order == ORDER_MERGED;
	if (order > ORDER_TOLD || whole > WHOLE_ALL ||
	    unit > UINT32_MAX || (whole & WHOLE_VALUES && !unit))
		return -EBADMSG;
	model->rounded = whole & WHOLE_ROUNDED;
	set_wait_unit(model, whole);
	for (int v = 0; v < 4; v++)
		model->units[v] = whole & 1U << v ? unit : 1;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t cpu = rec_get_varint(in), count = rec_get_varint(in);
		struct rec_stream *s;

		if (in->bad || cpu > UINT16_MAX || !count || count > n - sum ||
		    model->stream_of[cpu] != UINT32_MAX)
			return -EBADMSG;
		s = rec_stream_new(model, (uint32_t)cpu);
		if (!s)
			return -ENOMEM;
		s->next = (uint32_t)sum;
		sum += count;
		s->end = (uint32_t)sum;
	}
	return sum == n && !in->bad ? 0 : -EBADMSG;
}

static int get_columns(struct coder *c, struct rec_cursor *in)
{
	uint64_t sizes[REC_COLUMNS];

	for (unsigned int i = 0; i < REC_COLUMNS; i++)
		sizes[i] = rec_get_varint(in);
	for (unsigned int i = 0; i < REC_COLUMNS; i++) {
		c->at[i] = (uint8_t *)(uintptr_t)rec_get(in, sizes[i]);
		if (!c->at[i])
			return -EBADMSG;
		c->end[i] = c->at[i] + sizes[i];
	}
	c->from = in->at;
	c->to = in->end;
	in->at = in->end;
	return in->bad ? -EBADMSG : 0;
}

/* The heap of the merge: streams by the time of their next record, then by CPU. */
static bool is_before(const struct rec_stream *a, const struct rec_stream *b,
		      const struct cmt_record *timed)
{
	uint64_t at = timed[a->next].ts, bt = timed[b->next].ts;

	return at < bt || (at == bt && a->cpu < b->cpu);
}

static void heap_down(struct rec_model *model, uint32_t *heap, uint32_t nr, uint32_t i,
		      const struct cmt_record *timed)
{
	const struct rec_stream *s = model->streams;

	for (;;) {
		uint32_t least = i, was = heap[i];

		for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < nr; k++)
			if (is_before(&s[heap[k]], &s[heap[least]], timed))
				least = k;
		if (least == i)
			return;
		heap[i] = heap[least];
		heap[least] = was;
		i = least;
	}
}

/* Put streams in the order of their records, into order[]. */
static int merge(struct rec_model *model, const struct cmt_record *timed, uint32_t n)
{
	uint32_t nr = model->nr_streams;
	uint32_t *heap = malloc((nr + 1) * sizeof(*heap));

	if (!heap)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		heap[i] = i;
	for (uint32_t i = nr; i-- > 0;)
		heap_down(model, heap, nr, i, timed);
	for (uint32_t i = 0; i < n; i++) {
		struct rec_stream *s = &model->streams[heap[0]];

		model->order[i] = s->next++;
		if (s->next == s->end)
			heap[0] = heap[--nr];
		heap_down(model, heap, nr, 0, timed);
	}
	free(heap);
	return 0;
}

/* Read the order from REC_COL_ORDER into order[]. */
static int get_order(struct coder *c, uint32_t n)
{
	struct rec_model *model = c->model;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t s = code(c, REC_COL_ORDER, 0);

		if (c->bad || s >= model->nr_streams ||
		    model->streams[s].next == model->streams[s].end)
			return -EBADMSG;
		model->order[i] = model->streams[s].next++;
	}
	return 0;
}

static void decode_times(struct coder *c, struct cmt_record *timed)
{
	struct rec_model *model = c->model;

	for (uint32_t s = 0; !c->bad && s < model->nr_streams; s++) {
		struct rec_stream *stream = &model->streams[s];

		for (uint32_t i = stream->next; !c->bad && i < stream->end; i++) {
			timed[i].cpu = (uint16_t)stream->cpu;
			rec_code_time(c, &timed[i], stream);
		}
	}
}

/* @timed: room for @n records, stream after stream. */
static int decode_all(struct coder *c, struct cmt_record *timed,
		      struct cmt_record *records, uint32_t n, bool merged)
{
	struct rec_model *model = c->model;
	int err = merged ? 0 : get_order(c, n);

	if (err)
		return err;
	/* the times are read before the merge, and after the order */
	for (uint32_t s = 0, at = 0; s < model->nr_streams; s++) {
		model->streams[s].next = at;
		at = model->streams[s].end;
	}
	decode_times(c, timed);
	if (!c->bad && merged)
		err = merge(model, timed, n);
	for (uint32_t i = 0; !err && !c->bad && i < n; i++) {
		records[i] = timed[model->order[i]];
		rec_code_rest(c, &records[i],
			  &model->streams[model->stream_of[records[i].cpu]]);
	}
	return c->bad ? -EBADMSG : err;
}

int rec_columns_decode(struct rec_model *model, struct rec_cursor *in,
		       struct cmt_record *records, uint32_t n)
{
	struct coder c = { .model = model };
	struct cmt_record *timed;
	bool merged;
	int err = n > REC_RECORDS_MAX ? -EBADMSG : rec_model_begin(model, n);

	if (!err)
		err = get_streams(model, in, n, &merged);
	if (!err)
		err = get_columns(&c, in);
	if (err)
		return err;
	timed = calloc(n + 1, sizeof(*timed));
	if (!timed)
		return -ENOMEM;
	err = decode_all(&c, timed, records, n, merged);
	free(timed);
	return err;
}
