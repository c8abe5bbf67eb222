// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ring.h"

#include <stdlib.h>

#include "barrier.h"
#include "record/record.h"

int cmt_sources_new(struct cmt_sources **sources, const struct cmt_info *info,
		    uint64_t latency_ns)
{
	struct cmt_sources *s;

	s = calloc(1, sizeof(*s) + info->nr_cpus * sizeof(s->all[0]));
	if (!s)
		return -ENOMEM;
	s->buffered = calloc(info->nr_cpus, sizeof(s->buffered[0]));
	if (!s->buffered) {
		free(s);
		return -ENOMEM;
	}
	s->info = *info;
	s->latency_ns = latency_ns;
	*sources = s;
	return 0;
}

void cmt_sources_free(struct cmt_sources *sources)
{
	if (!sources)
		return;
	free(sources->buffered);
	free(sources);
}

int cmt_sources_add(struct cmt_sources *sources, const void *image,
		    size_t bytes, bool oldest)
{
	uint32_t cpu = sources->nr;
	struct cmt_source *source = &sources->all[cpu];
	int err = cmt_ring_init(&source->ring, image, bytes, &sources->info, cpu,
				oldest);

	if (err)
		return err;
	source->cpu = cpu;
	source->unwritten = source->ring.unwritten;
	sources->nr++;
	return 0;
}

void cmt_sources_now(struct cmt_sources *sources, uint64_t now)
{
	if (!sources->now)
		sources->since = now;
	sources->now = now;
	sources->pressed = false;
}

/* The time of the first record that @source has no room to keep waiting. */
static int source_press(struct cmt_sources *sources, struct cmt_source *source)
{
	uint64_t share = cmt_ring_share(source->ring.capacity), ts;
	int ret;

	if (source->ring.head - source->ring.pos <= share)
		return 0;
	ret = cmt_ring_ts_at(&source->ring, source->ring.head - share, &ts);
	if (ret <= 0)
		return ret;
	if (cmt_ts_before(sources->now, ts))
		ts = sources->now;
	if (!sources->pressed || cmt_ts_before(sources->release, ts))
		sources->release = ts;
	sources->pressed = true;
	return 0;
}

int cmt_sources_press(struct cmt_sources *sources)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < sources->nr; i++)
		err = source_press(sources, &sources->all[i]);
	return err;
}

void cmt_sources_counts(const struct cmt_sources *sources, uint32_t cpu,
			struct cmt_reader_counts *counts)
{
	const struct cmt_source *source = &sources->all[cpu];
	const struct cmt_buffered *buffered = &sources->buffered[cpu];
	uint64_t nr_buffered = (uint64_t)(buffered->end - buffered->next);
	const struct cmt_ring *ring = &source->ring;
	/* Pairs with cmt_ring_write() in module/ring/writer.c; only counted here. */
	uint64_t head = cmt_load_acquire64(&ring->header->head);

	if (head < ring->head || head > CMT_RING_HEAD_MAX)
		head = ring->head;
	*counts = source->counts;
	counts->emitted = head - ring->start +
			  source->unwritten - ring->unwritten_start;
	counts->delivered -= nr_buffered;
	counts->pending = head - ring->pos + nr_buffered;
	counts->quiet = ring->state == CMT_RING_QUIET;
	counts->latency_ns = sources->latency_ns;
}

static void source_lost(struct cmt_sources *sources, struct cmt_source *source,
			uint64_t lost)
{
	if (!lost)
		return;
	if (!source->gap)
		source->gap_begin = source->started ? source->last_ts :
						      sources->since;
	source->gap += lost;
	source->gap_ended = false;
	source->counts.lost += lost;
	sources->missed++;
}

static void end_gap(struct cmt_source *source, uint64_t ts)
{
	if (!source->gap || source->gap_ended)
		return;
	source->gap_end = ts;
	source->gap_ended = true;
}

/* Records that the CPU only counted since the last call */
static void source_unwritten(struct cmt_sources *sources, struct cmt_source *source)
{
	uint64_t unwritten = source->ring.unwritten;

	source_lost(sources, source, unwritten - source->unwritten);
	source->unwritten = unwritten;
}

/* From the future: now that is, and still when asked again later. */
enum ahead { NOT_AHEAD, AHEAD, ALWAYS_AHEAD };

static enum ahead source_ahead(struct cmt_source *source, uint64_t ts,
			       uint64_t index, uint64_t now)
{
	if (!cmt_ts_before(now + CMT_AHEAD_NS, ts))
		return NOT_AHEAD;
	if (source->ahead == index + 1 && source->ahead_now != now)
		return ALWAYS_AHEAD;
	source->ahead = index + 1;
	source->ahead_now = now;
	return AHEAD;
}

static bool source_malformed(const struct cmt_sources *sources,
			     const struct cmt_source *source,
			     const struct cmt_record *record)
{
	return !cmt_record_possible_in_ring(record, source->cpu,
					    sources->info.nr_rmids) ||
	       (source->started && cmt_ts_before(record->ts, source->last_ts));
}

static void source_late(struct cmt_sources *sources, struct cmt_source *source,
			const struct cmt_record *record)
{
	source->counts.late++;
	sources->missed += cmt_record_is_lifecycle(record);
}

/*
 * A record at or after @stop_at, which the caller has computed.  Returns true
 * if it and all after it stay in the ring; otherwise the record was dropped.
 */
static bool source_stop(struct cmt_sources *sources, struct cmt_source *source,
			const struct cmt_record *record, uint64_t index,
			struct cmt_take *take)
{
	enum ahead ahead = source_ahead(source, record->ts, index, sources->now);

	if (ahead == ALWAYS_AHEAD ||
	    (ahead == NOT_AHEAD && source_malformed(sources, source, record))) {
		source->counts.malformed++;
		return false;
	}
	if (ahead == NOT_AHEAD) {
		take->stop = CMT_STOP_LIMIT;
		take->stop_ts = record->ts;
		end_gap(source, record->ts);
	} else {
		take->stop = CMT_STOP_DRAINED;
	}
	source->ring.pos = index;
	return true;
}

/* From here on a record is looked at more closely. */
static uint64_t stop_at(const struct cmt_sources *sources,
			const struct cmt_take *take)
{
	uint64_t ahead = sources->now + CMT_AHEAD_NS + 1;

	return take->limited && cmt_ts_before(take->limit, ahead) ?
	       take->limit : ahead;
}

/* The properties of a record that passes without further checks */
struct sieve {
	uint64_t low, span;	/* its time is low or later, by less than span */
	uint32_t cpu, nr_rmids;
};

static inline struct sieve sieve_new(const struct cmt_sources *sources,
				     const struct cmt_source *source,
				     const struct cmt_take *take)
{
	uint64_t stop = stop_at(sources, take);
	struct sieve sieve = {
		.low = stop - (1ULL << 62),
		.cpu = source->cpu,
		.nr_rmids = sources->info.nr_rmids,
	};

	if (source->started && cmt_ts_before(sieve.low, source->last_ts))
		sieve.low = source->last_ts;
	if (take->floored && cmt_ts_before(sieve.low, take->floor))
		sieve.low = take->floor;
	if (!take->closed && cmt_ts_before(sieve.low, stop))
		sieve.span = stop - sieve.low;
	return sieve;
}

/* How many of the first @n records are readings, and nothing to say against them. */
static uint32_t sieve_run(const struct sieve *sieve,
			  const struct cmt_record *records, uint32_t n)
{
	uint64_t low = sieve->low, span = sieve->span, last = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct cmt_record *record = &records[i];
		uint64_t after = record->ts - low;

		if (after < last || after >= span || record->cpu != sieve->cpu ||
		    !cmt_record_is_reading(record) ||
		    !cmt_record_owner_possible(record, sieve->nr_rmids))
			break;
		last = after;
	}
	return i;
}

/* @record is the last one that was looked at. */
static void source_passed(struct cmt_source *source,
			  const struct cmt_record *record)
{
	source->started = true;
	source->last_ts = record->ts;
	source->last_type = record->type;
}

enum fate { KEEP, DROP, STOP };

/* Classify a record that did not pass. */
static enum fate source_look(struct cmt_sources *sources,
			     struct cmt_source *source,
			     const struct cmt_record *record, uint64_t index,
			     struct cmt_take *take)
{
	if (take->closed || !cmt_ts_before(record->ts, stop_at(sources, take)))
		return source_stop(sources, source, record, index, take) ?
		       STOP : DROP;
	if (source_malformed(sources, source, record)) {
		source->counts.malformed++;
		return DROP;
	}
	sources->state_changed |= record->type == CMT_REC_STATE;
	source_passed(source, record);
	if (!take->floored || !cmt_ts_before(record->ts, take->floor))
		return KEEP;
	source_late(sources, source, record);
	return DROP;
}

static int source_sift(struct cmt_sources *sources, struct cmt_source *source,
		       struct cmt_record *records, uint32_t n,
		       struct cmt_take *take)
{
	struct sieve sieve = sieve_new(sources, source, take);
	uint64_t first = source->ring.pos - n;
	uint32_t end = 0, i = 0;
	enum fate fate;

	for (;;) {
		uint32_t run = sieve_run(&sieve, records + i, n - i);

		if (run)
			source_passed(source, &records[i + run - 1]);
		if (end != i)
			memmove(records + end, records + i, run * sizeof(*records));
		end += run;
		i += run;
		if (i == n)
			break;
		fate = source_look(sources, source, &records[i], first + i,
				   take);
		if (fate == STOP)
			break;
		if (fate == KEEP)
			records[end++] = records[i];
		i++;
		sieve = sieve_new(sources, source, take);
	}
	return (int)end;
}

int cmt_source_take(struct cmt_sources *sources, struct cmt_source *source,
		    struct cmt_record *records, uint32_t n,
		    struct cmt_take *take)
{
	struct cmt_ring *ring = &source->ring;
	uint64_t lost;
	int ret;

	take->stop = CMT_STOP_DRAINED;
	if (ring->pos == ring->head) {
		ret = cmt_ring_refresh(ring);
		if (ret)
			return ret;
		source_unwritten(sources, source);
		if (ring->pos == ring->head) {
			end_gap(source, sources->now);
			return 0;
		}
	}
	ret = cmt_ring_copy(ring, records, n, &lost);
	if (ret < 0)
		return ret;
	source_lost(sources, source, lost);
	if (ring->pos != ring->head)
		take->stop = CMT_STOP_BATCH;
	ret = source_sift(sources, source, records, (uint32_t)ret, take);
	source->counts.delivered += (unsigned int)ret;
	if (ret)
		end_gap(source, records[0].ts);
	else if (take->stop == CMT_STOP_DRAINED)
		end_gap(source, sources->now);
	return ret;
}

/* Nothing is on its way from this ring. */
static bool source_silent(const struct cmt_source *source)
{
	const struct cmt_ring *ring = &source->ring;

	if (ring->pos != ring->head)
		return false;
	return ring->state == CMT_RING_ABSENT ||
	       (ring->state == CMT_RING_OFFLINE &&
		(!source->started ||
		 source->last_type == CMT_REC_CPU_OFFLINE));
}

/* How long after its time a record of a drained ring may show. */
static uint64_t source_lag(const struct cmt_sources *sources,
			   const struct cmt_source *source)
{
	if (source_silent(source))
		return 0;
	if (source->ring.state == CMT_RING_QUIET &&
	    sources->latency_ns > CMT_QUIET_NS)
		return CMT_QUIET_NS;
	return sources->latency_ns;
}

uint64_t cmt_source_bound(const struct cmt_sources *sources,
			  const struct cmt_source *source)
{
	uint64_t bound = sources->now - source_lag(sources, source);

	if (sources->pressed && cmt_ts_before(bound, sources->release))
		bound = sources->release;
	if (source->started && cmt_ts_before(bound, source->last_ts))
		bound = source->last_ts;
	return bound;
}

static bool source_drained(const struct cmt_sources *sources,
			   const struct cmt_source *source)
{
	const struct cmt_buffered *buffered = &sources->buffered[source->cpu];

	return buffered->next == buffered->end &&
	       source->ring.pos == source->ring.head;
}

bool cmt_sources_due(const struct cmt_sources *sources, uint64_t *due)
{
	*due = sources->now;
	if (!sources->held)
		return false;
	for (uint32_t i = 0; i < sources->nr; i++) {
		const struct cmt_source *source = &sources->all[i];
		uint64_t ts = sources->held_ts;

		if (!source_drained(sources, source) ||
		    !cmt_ts_before(cmt_source_bound(sources, source), ts))
			continue;
		ts += source_lag(sources, source);
		if (cmt_ts_before(*due, ts))
			*due = ts;
	}
	return true;
}
