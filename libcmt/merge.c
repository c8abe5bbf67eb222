// SPDX-License-Identifier: LGPL-2.1-or-later
#include "merge.h"

#include <limits.h>
#include <stdlib.h>

#include "barrier.h"
#include "ring.h"

/* Records copied at a time, so that all rings' buffers stay in the cache. */
#define BATCH_ALL	16384
#define BATCH_MIN	64
#define BATCH_MAX	256

/* A record's place among other rings' records. */
struct key {
	uint64_t ts;
	uint32_t cpu;
};

struct source {
	struct cmt_ring ring;
	struct cmt_record *buffer;	/* merge->batch records */
	uint32_t next, end;		/* of the buffer: not delivered yet */
	uint64_t last_ts;		/* no later record is before it */
	bool started;			/* last_ts and last_type are set */
	uint16_t last_type;
	uint64_t ahead;			/* 1 + index of a record from the */
	uint64_t ahead_now;		/* future, and the time then */
	uint64_t gap;			/* lost, CMT_REC_LOST to be delivered */
	struct cmt_reader_counts counts;	/* not emitted and pending */
};

struct cmt_merge {
	struct cmt_info info;
	uint64_t latency_ns;
	uint64_t now;
	uint32_t nr_sources;
	uint32_t batch;
	int error;
	struct key last;	/* delivered */
	bool delivered;		/* last is set */
	struct key frontier;	/* what comes out is before it, */
	bool bounded;		/* if this is set */
	uint32_t nr_heap;	/* sources with records in their buffer, */
	struct key *heap;	/* by the first of them */
	uint32_t nr_gaps;
	uint32_t *gaps;		/* sources with a gap */
	struct cmt_record *buffers;
	struct source sources[];
};

static inline bool key_before(struct key a, struct key b)
{
	return a.ts == b.ts ? a.cpu < b.cpu : cmt_ts_before(a.ts, b.ts);
}

/* Put @key where the hole at @i is, or below it. */
static void heap_down(struct cmt_merge *merge, uint32_t i, struct key key)
{
	struct key *heap = merge->heap;
	uint32_t n = merge->nr_heap, child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && key_before(heap[child + 1], heap[child]))
			child++;
		if (!key_before(heap[child], key))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = key;
}

static void heap_push(struct cmt_merge *merge, struct key key)
{
	struct key *heap = merge->heap;
	uint32_t i = merge->nr_heap++, parent;

	while (i && key_before(key, heap[parent = (i - 1) / 2])) {
		heap[i] = heap[parent];
		i = parent;
	}
	heap[i] = key;
}

static void heap_pop(struct cmt_merge *merge)
{
	merge->nr_heap--;
	if (merge->nr_heap)
		heap_down(merge, 0, merge->heap[merge->nr_heap]);
}

static struct key source_key(const struct cmt_merge *merge,
			     const struct source *source)
{
	return (struct key){ source->buffer[source->next].ts,
			     (uint32_t)(source - merge->sources) };
}

static void source_gap(struct cmt_merge *merge, struct source *source,
		       uint64_t lost)
{
	if (!lost)
		return;
	source->counts.lost += lost;
	if (!source->gap)
		merge->gaps[merge->nr_gaps++] =
			(uint32_t)(source - merge->sources);
	source->gap += lost;
}

/* From the future: now that is, and still when asked again later. */
enum { NOT_AHEAD, AHEAD, ALWAYS_AHEAD };

static int source_ahead(struct source *source, uint64_t ts, uint64_t index,
			uint64_t now)
{
	if (!cmt_ts_before(now + CMT_MERGE_AHEAD_NS, ts))
		return NOT_AHEAD;
	if (source->ahead == index + 1 && source->ahead_now != now)
		return ALWAYS_AHEAD;
	source->ahead = index + 1;
	source->ahead_now = now;
	return AHEAD;
}

static bool source_malformed(const struct cmt_merge *merge,
			     const struct source *source,
			     const struct cmt_record *record)
{
	uint32_t cpu = (uint32_t)(source - merge->sources);

	return !cmt_record_possible_in_ring(record, cpu,
					    merge->info.nr_rmids) ||
	       (source->started && cmt_ts_before(record->ts, source->last_ts));
}

/*
 * Keep, of the @n records just copied, those that can be and are not late.
 * A record from the future stops it: that one and the rest stay in the ring.
 */
static void source_sift(struct cmt_merge *merge, struct source *source,
			uint32_t n)
{
	uint64_t index = source->ring.pos - n;
	struct key key = { 0, (uint32_t)(source - merge->sources) };

	source->next = 0;
	source->end = 0;
	for (uint32_t i = 0; i < n; i++, index++) {
		struct cmt_record *record = &source->buffer[i];
		int ahead = source_ahead(source, record->ts, index, merge->now);

		if (ahead == AHEAD) {
			source->ring.pos = index;
			return;
		}
		if (ahead || source_malformed(merge, source, record)) {
			source->counts.malformed++;
			continue;
		}
		source->started = true;
		source->last_ts = record->ts;
		source->last_type = record->type;
		key.ts = record->ts;
		if (merge->delivered && key_before(key, merge->last)) {
			source->counts.late++;
			continue;
		}
		if (source->end != i)
			source->buffer[source->end] = *record;
		source->end++;
	}
}

/*
 * Fill an empty buffer from the ring.  A ring full of records that are dropped
 * takes several turns; their number is bounded because the kernel may write as
 * fast as we read.
 */
static int source_refill(struct cmt_merge *merge, struct source *source)
{
	uint64_t turns = source->ring.capacity / merge->batch + 2, lost;
	int n = cmt_ring_refresh(&source->ring);

	source->next = 0;
	source->end = 0;
	while (n >= 0 && !source->end && turns-- &&
	       source->ring.pos != source->ring.head) {
		n = cmt_ring_copy(&source->ring, source->buffer, merge->batch,
				  &lost);
		if (n < 0)
			break;
		source_gap(merge, source, lost);
		source_sift(merge, source, (uint32_t)n);
		if (source->ahead_now == merge->now &&
		    source->ahead == source->ring.pos + 1)
			break;
	}
	return n < 0 ? n : 0;
}

/* Nothing is on its way from this ring. */
static bool source_quiet(const struct source *source)
{
	const struct cmt_ring *ring = &source->ring;

	if (ring->pos != ring->head)
		return false;
	return ring->state == CMT_RING_ABSENT ||
	       (ring->state == CMT_RING_OFFLINE &&
		(!source->started ||
		 source->last_type == CMT_REC_CPU_OFFLINE));
}

/* The buffer of @source is empty: nothing at or after its bound comes out. */
static void source_bound(struct cmt_merge *merge, const struct source *source)
{
	struct key key = {
		source_quiet(source) ? merge->now :
				       merge->now - merge->latency_ns,
		(uint32_t)(source - merge->sources)
	};

	if (source->started && cmt_ts_before(key.ts, source->last_ts))
		key.ts = source->last_ts;
	if (!merge->bounded || key_before(key, merge->frontier))
		merge->frontier = key;
	merge->bounded = true;
}

/* Look into all rings of which nothing is buffered. */
static int merge_refresh(struct cmt_merge *merge)
{
	merge->bounded = false;
	for (uint32_t i = 0; i < merge->nr_sources; i++) {
		struct source *source = &merge->sources[i];
		int err;

		if (source->next != source->end)
			continue;
		err = source_refill(merge, source);
		if (err)
			return err;
		if (source->end)
			heap_push(merge, source_key(merge, source));
		else
			source_bound(merge, source);
	}
	return 0;
}

/* The first in the heap was delivered: on to the next of its ring. */
static int merge_step(struct cmt_merge *merge)
{
	struct source *source = &merge->sources[merge->heap[0].cpu];

	if (++source->next == source->end) {
		int err = source_refill(merge, source);

		if (err || !source->end) {
			heap_pop(merge);
			source_bound(merge, source);
			return err;
		}
	}
	heap_down(merge, 0, source_key(merge, source));
	return 0;
}

/* In front of the records after the gap; they are not in the heap's order. */
static void merge_deliver_gap(struct cmt_merge *merge,
			      struct cmt_record *record)
{
	uint32_t cpu = merge->gaps[--merge->nr_gaps];
	struct source *source = &merge->sources[cpu];

	memset(record, 0, sizeof(*record));
	record->ts = merge->delivered ? merge->last.ts : 0;
	record->type = CMT_REC_LOST;
	record->cpu = cpu;
	memcpy(record->payload, &source->gap, sizeof(source->gap));
	source->gap = 0;
}

/* Deliver what may come out now. */
static unsigned int merge_drain(struct cmt_merge *merge,
				struct cmt_record *records, unsigned int n)
{
	unsigned int done = 0;

	while (done < n && !merge->error) {
		struct source *source;

		if (merge->nr_gaps) {
			merge_deliver_gap(merge, &records[done++]);
			continue;
		}
		if (!merge->nr_heap ||
		    (merge->bounded &&
		     !key_before(merge->heap[0], merge->frontier)))
			break;
		source = &merge->sources[merge->heap[0].cpu];
		records[done++] = source->buffer[source->next];
		source->counts.delivered++;
		merge->last = merge->heap[0];
		merge->delivered = true;
		merge->error = merge_step(merge);
	}
	return done;
}

int cmt_merge_read(struct cmt_merge *merge, struct cmt_record *records,
		   unsigned int n, uint64_t now)
{
	unsigned int done;

	if (merge->error)
		return merge->error;
	if (n > INT_MAX)
		n = INT_MAX;
	merge->now = now;
	done = merge_drain(merge, records, n);
	if (done < n && !merge->error) {
		merge->error = merge_refresh(merge);
		done += merge_drain(merge, records + done, n - done);
	}
	return done ? (int)done : merge->error;
}

void cmt_merge_counts(const struct cmt_merge *merge, uint32_t cpu,
		      struct cmt_reader_counts *counts)
{
	const struct source *source = &merge->sources[cpu];
	const struct cmt_ring *ring = &source->ring;
	/* Pairs with cmt_ring_write() in module/ring.c; only counted here. */
	uint64_t head = cmt_load_acquire64(&ring->header->head);

	if (head < ring->head || head > CMT_RING_HEAD_MAX)
		head = ring->head;
	*counts = source->counts;
	counts->emitted = head - ring->start;
	counts->pending = head - ring->pos + source->end - source->next;
}

int cmt_merge_add(struct cmt_merge *merge, const void *image, size_t bytes,
		  bool oldest)
{
	uint32_t cpu = merge->nr_sources;
	struct source *source = &merge->sources[cpu];
	int err;

	err = cmt_ring_init(&source->ring, image, bytes, &merge->info, cpu,
			    oldest);
	if (err)
		return err;
	source->buffer = merge->buffers + (size_t)cpu * merge->batch;
	merge->nr_sources++;
	return 0;
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

int cmt_merge_new(struct cmt_merge **merge, const struct cmt_info *info,
		  uint64_t latency_ns)
{
	size_t n = info->nr_cpus;
	struct cmt_merge *m;

	m = calloc(1, sizeof(*m) + n * sizeof(m->sources[0]));
	if (!m)
		return -ENOMEM;
	m->info = *info;
	m->latency_ns = latency_ns;
	m->batch = batch_size(info);
	m->heap = calloc(n, sizeof(*m->heap));
	m->gaps = calloc(n, sizeof(*m->gaps));
	m->buffers = calloc(n * m->batch, sizeof(*m->buffers));
	if (!m->heap || !m->gaps || !m->buffers) {
		cmt_merge_free(m);
		return -ENOMEM;
	}
	*merge = m;
	return 0;
}

void cmt_merge_free(struct cmt_merge *merge)
{
	if (!merge)
		return;
	free(merge->buffers);
	free(merge->gaps);
	free(merge->heap);
	free(merge);
}
