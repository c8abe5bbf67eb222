// SPDX-License-Identifier: LGPL-2.1-or-later
#include "merge.h"

#include <limits.h>
#include <stdlib.h>

#include "record/record.h"

/* Records copied at a time: of all rings 1 MiB, of one ring a few pages at most. */
#define BATCH_ALL	16384
#define BATCH_MIN	32
#define BATCH_MAX	256

/* Records of a buffer behind its fill: never delivered */
#define SPARE		2

/*
 * A key is a time since base and a CPU, so that one comparison without a branch orders
 * both.  48 bits of time are 78 hours.  All later times are the greatest time, and
 * before such a key wins, the tree is built with another base.
 */
#define KEY_CPU_BITS	16
#define KEY_TIME_MAX	((1ULL << 48) - 1)
#define KEY_LATEST	(KEY_TIME_MAX << KEY_CPU_BITS)

struct cmt_merge {
	struct cmt_sources *sources;
	uint32_t nr;		/* of rings; that of leaf i is i */
	uint32_t batch;
	int error;
	bool valid;		/* the tree is */
	uint64_t base;
	uint64_t last_ts;	/* of what was delivered last, */
	uint32_t last_cpu;
	bool delivered;		/* if this is set */
	uint32_t nr_gaps;
	uint32_t *gaps;		/* rings with a gap */
	struct cmt_record *buffers;	/* of all rings: see buffer_of() */
	uint64_t winner;	/* keys: */
	uint64_t *losers;	/* [1..nr-1]; the parent of i is i / 2 */
	uint64_t *ahead;	/* of the record after each ring's first */
	uint64_t *built;	/* [1..2nr-1]: winners, while the tree is built */
};

static inline uint64_t make_key(uint64_t base, uint64_t ts, uint32_t cpu)
{
	uint64_t time = ts - base;

	if (time > KEY_TIME_MAX)
		time = cmt_ts_before(ts, base) ? 0 : KEY_TIME_MAX;
	return time << KEY_CPU_BITS | cpu;
}

static struct cmt_record *buffer_of(const struct cmt_merge *merge, uint32_t cpu)
{
	return merge->buffers + (size_t)cpu * (merge->batch + SPARE);
}

static inline uint32_t key_cpu(uint64_t key)
{
	return key & ((1U << KEY_CPU_BITS) - 1);
}

static bool none_buffered(const struct cmt_buffered *buffered)
{
	return buffered->next == buffered->end;
}

/* The time of its first record, or of its bound */
static uint64_t source_time(const struct cmt_merge *merge, uint32_t cpu)
{
	const struct cmt_buffered *buffered = &merge->sources->buffered[cpu];

	return none_buffered(buffered) ?
	       cmt_source_bound(merge->sources, &merge->sources->all[cpu]) :
	       buffered->next->ts;
}

static uint64_t source_key(const struct cmt_merge *merge, uint32_t cpu)
{
	return make_key(merge->base, source_time(merge, cpu), cpu);
}

/*
 * The key of the record after the first one, so that no load from the buffer stands
 * between two replays.  Without such a record, any value.
 */
static inline uint64_t key_ahead(uint64_t base,
				 const struct cmt_buffered *buffered,
				 uint32_t cpu)
{
	return make_key(base, buffered->next[1].ts, cpu);
}

static void find_base(struct cmt_merge *merge)
{
	merge->base = source_time(merge, 0);
	for (uint32_t i = 1; i < merge->nr; i++) {
		uint64_t ts = source_time(merge, i);

		if (cmt_ts_before(ts, merge->base))
			merge->base = ts;
	}
}

static void tree_build(struct cmt_merge *merge)
{
	uint64_t *built = merge->built;
	uint32_t n = merge->nr;

	find_base(merge);
	for (uint32_t i = 0; i < n; i++) {
		built[n + i] = source_key(merge, i);
		merge->ahead[i] = key_ahead(merge->base,
					    &merge->sources->buffered[i], i);
	}
	for (uint32_t i = n - 1; i; i--) {
		bool right = built[2 * i + 1] < built[2 * i];

		built[i] = built[2 * i + right];
		merge->losers[i] = built[2 * i + !right];
	}
	merge->winner = built[1];
	merge->valid = true;
}

/*
 * The ring of the last winner has @key now; returns the key that wins.  Whatever
 * is not less is the sum of both without it: one comparison a level.
 */
static inline uint64_t tree_replay(uint64_t *losers, uint32_t nr, uint64_t key)
{
	for (size_t i = (key_cpu(key) + nr) / 2; i; i /= 2) {
		uint64_t sum = losers[i] + key;

		key = losers[i] < key ? losers[i] : key;
		losers[i] = sum - key;
	}
	return key;
}

static void list_gap(struct cmt_merge *merge, struct cmt_source *source)
{
	if (!cmt_source_gap(source) || source->listed)
		return;
	source->listed = true;
	merge->gaps[merge->nr_gaps++] = source->cpu;
}

/*
 * Fill an empty buffer from the ring.  A ring full of records that are dropped
 * takes several turns; their number is bounded because the kernel may write as
 * fast as the reader copies.
 */
static int source_refill(struct cmt_merge *merge, uint32_t cpu)
{
	struct cmt_source *source = &merge->sources->all[cpu];
	struct cmt_buffered *buffered = &merge->sources->buffered[cpu];
	struct cmt_record *buffer = buffer_of(merge, cpu);
	uint64_t turns = source->ring.capacity / merge->batch + 2;
	struct cmt_take take = {
		.floored = merge->delivered,
		.floor = merge->last_ts + (cpu < merge->last_cpu),
	};
	int n;

	buffered->next = buffer;
	buffered->end = buffer;
	do {
		n = cmt_source_take(merge->sources, source, buffer,
				    merge->batch, &take);
	} while (!n && take.stop == CMT_STOP_BATCH && --turns);
	if (n < 0)
		return n;
	buffered->end = buffer + n;
	list_gap(merge, source);
	return 0;
}

/* Refresh all rings without buffered records. */
static int merge_refresh(struct cmt_merge *merge)
{
	struct cmt_sources *sources = merge->sources;

	for (uint32_t i = 0; i < merge->nr; i++) {
		int err = none_buffered(&sources->buffered[i]) ?
			  source_refill(merge, i) : 0;

		if (err)
			return err;
	}
	tree_build(merge);
	return 0;
}

/* Something is held: is a ring full meanwhile? */
static int merge_press(struct cmt_merge *merge)
{
	struct cmt_sources *sources = merge->sources;
	int err;

	for (uint32_t i = 0; i < merge->nr; i++) {
		err = none_buffered(&sources->buffered[i]) ?
		      0 : cmt_ring_refresh(&sources->all[i].ring);
		if (err)
			return err;
	}
	err = cmt_sources_press(sources);
	if (!err && sources->pressed)
		tree_build(merge);
	return err;
}

/*
 * In front of the records after the gap; not in the tree's order.  Returns 1, or 0: the
 * feed has reported the gap.
 */
static unsigned int deliver_gap(struct cmt_merge *merge, struct cmt_record *record)
{
	uint32_t cpu = merge->gaps[--merge->nr_gaps];
	struct cmt_source *source = &merge->sources->all[cpu];
	const struct cmt_gap gap = {
		.lost = source->gap,
		.begin = source->gap_begin,
		.end = source->gap_end,
	};

	source->listed = false;
	if (!cmt_source_gap(source))
		return 0;
	memset(record, 0, sizeof(*record));
	record->ts = merge->delivered ? merge->last_ts : 0;
	record->type = CMT_REC_LOST;
	record->cpu = cpu;
	memcpy(record->payload, &gap, sizeof(gap));
	source->gap = 0;
	return 1;
}

static void set_last(struct cmt_merge *merge, const struct cmt_record *record)
{
	merge->last_ts = record->ts;
	merge->last_cpu = record->cpu;
	merge->delivered = true;
}

/* After a delivery: prefetch the next key and the next refill of @cpu. */
static inline void prefetch(const struct cmt_merge *merge,
			    const struct cmt_buffered *buffered, uint32_t cpu)
{
	uint64_t done = (uint64_t)(buffered->next - buffer_of(merge, cpu));

	cmt_ring_prefetch_at(&merge->sources->all[cpu].ring, done - 1);
	cmt_prefetch(&buffered->next[2]);
}

/*
 * Deliver records up to @end, until one of these: the bound of a ring wins, a gap goes
 * before the next record, the tree must be built, or an error.  Returns the end of the
 * delivered records.
 *
 * The critical path of a delivery is one comparison for each level of the tree.
 * Everything else must stay off this path: it is in registers, and comes from two small
 * arrays.
 */
static struct cmt_record *deliver(struct cmt_merge *merge,
				  struct cmt_record *to, struct cmt_record *end)
{
	struct cmt_buffered *all = merge->sources->buffered;
	uint64_t *losers = merge->losers, *ahead = merge->ahead;
	uint64_t base = merge->base, key = merge->winner;
	uint32_t nr = merge->nr;

	while (to != end && key < KEY_LATEST) {
		uint32_t cpu = key_cpu(key);
		struct cmt_buffered *buffered = &all[cpu];

		if (none_buffered(buffered))
			break;
		*to++ = *buffered->next++;
		prefetch(merge, buffered, cpu);
		key = ahead[cpu];
		if (none_buffered(buffered)) {
			set_last(merge, to - 1);
			merge->error = source_refill(merge, cpu);
			if (merge->error || merge->nr_gaps)
				end = to;
			key = source_key(merge, cpu);
		}
		ahead[cpu] = key_ahead(base, buffered, cpu);
		key = tree_replay(losers, nr, key);
	}
	merge->winner = key;
	merge->valid = key < KEY_LATEST;
	return to;
}

/* Deliver all records that are ready. */
static unsigned int merge_drain(struct cmt_merge *merge,
				struct cmt_record *records, unsigned int n)
{
	struct cmt_record *to = records, *end = records + n, *from;

	while (to != end && !merge->error) {
		if (merge->nr_gaps) {
			to += deliver_gap(merge, to);
			continue;
		}
		if (!merge->valid)
			tree_build(merge);
		from = to;
		to = deliver(merge, from, end);
		if (to == from)
			break;
		set_last(merge, to - 1);
	}
	return (unsigned int)(to - records);
}

/* Set the time until which no record is ready. */
static void merge_hold(struct cmt_merge *merge)
{
	struct cmt_sources *sources = merge->sources;

	sources->held = false;
	for (uint32_t i = 0; i < merge->nr; i++) {
		const struct cmt_buffered *buffered = &sources->buffered[i];
		uint64_t ts;

		if (none_buffered(buffered))
			continue;
		ts = buffered->next->ts + 1;
		if (!sources->held || cmt_ts_before(ts, sources->held_ts))
			sources->held_ts = ts;
		sources->held = true;
	}
}

/* The rings as they are now, and, should one be full, without waiting. */
static unsigned int merge_more(struct cmt_merge *merge,
			       struct cmt_record *records, unsigned int n)
{
	unsigned int done;

	merge->error = merge_refresh(merge);
	done = merge_drain(merge, records, n);
	if (done || merge->error)
		return done;
	merge_hold(merge);
	if (merge->sources->held && !merge->sources->pressed) {
		merge->error = merge_press(merge);
		done = merge_drain(merge, records, n);
	}
	return done;
}

int cmt_merge_read(struct cmt_merge *merge, struct cmt_record *records,
		   unsigned int n)
{
	unsigned int done = 0;

	if (n > INT_MAX)
		n = INT_MAX;
	if (merge->valid)
		done = merge_drain(merge, records, n);
	if (done < n && !merge->error)
		done += merge_more(merge, records + done, n - done);
	return done ? (int)done : merge->error;
}

void cmt_merge_restart(struct cmt_merge *merge)
{
	merge->valid = false;
}

static uint32_t batch_size(const struct cmt_info *info)
{
	uint32_t batch = BATCH_ALL / info->nr_cpus;

	if (batch < BATCH_MIN)
		batch = BATCH_MIN;
	if (batch > BATCH_MAX)
		batch = BATCH_MAX;
	return batch < info->ring_records ? batch : info->ring_records;
}

int cmt_merge_new(struct cmt_merge **merge, struct cmt_sources *sources)
{
	size_t n = sources->info.nr_cpus;
	struct cmt_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->sources = sources;
	m->nr = sources->info.nr_cpus;
	m->batch = batch_size(&sources->info);
	m->gaps = calloc(n, sizeof(*m->gaps));
	m->buffers = calloc(n * (m->batch + SPARE), sizeof(*m->buffers));
	m->losers = calloc(n, sizeof(*m->losers));
	m->ahead = calloc(n, sizeof(*m->ahead));
	m->built = calloc(2 * n, sizeof(*m->built));
	if (!m->gaps || !m->buffers || !m->losers || !m->ahead || !m->built) {
		cmt_merge_free(m);
		return -ENOMEM;
	}
	for (uint32_t cpu = 0; cpu < m->nr; cpu++) {
		sources->buffered[cpu].next = buffer_of(m, cpu);
		sources->buffered[cpu].end = buffer_of(m, cpu);
	}
	*merge = m;
	return 0;
}

void cmt_merge_free(struct cmt_merge *merge)
{
	if (!merge)
		return;
	free(merge->built);
	free(merge->ahead);
	free(merge->losers);
	free(merge->buffers);
	free(merge->gaps);
	free(merge);
}
