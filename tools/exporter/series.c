// SPDX-License-Identifier: GPL-2.0-or-later
#include "series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"

#define BUCKETS 1024
#define KEPT_WEIGHT 2	/* a container keeps its series until another one is twice as large */

static struct series **bucket_of(const struct series_set *set,
				 const char *labels)
{
	return &set->buckets[labels_hash(labels, strlen(labels)) % BUCKETS];
}

static struct series *find(const struct series_set *set, const char *labels)
{
	struct series *series = *bucket_of(set, labels);

	while (series && strcmp(series->labels, labels))
		series = series->next;
	return series;
}

static bool is_special(const struct cmt_usage_row *row)
{
	return row->kind != CMT_USAGE_OWNER || row->owner == CMT_OWNER_KERNEL;
}

static void forget_extremes(const struct series_set *set, struct series *series)
{
	uint32_t i;

	for (i = 0; i < set->window; i++)
		series->window[i] = (struct series_extreme){
			SERIES_UNKNOWN, SERIES_UNKNOWN,
		};
}

static int make_room(struct series_set *set)
{
	uint32_t room = set->room ? 2 * set->room : 64;
	struct series **all;

	if (set->nr < set->room)
		return 0;
	all = reallocarray(set->all, room, sizeof(*all));
	if (!all)
		return -ENOMEM;
	set->all = all;
	set->room = room;
	return 0;
}

/* NULL: no memory. */
static struct series *add(struct series_set *set, const char *labels,
			  bool special)
{
	struct series **bucket = bucket_of(set, labels);
	struct series *series;

	if (make_room(set))
		return NULL;
	series = calloc(1, sizeof(*series) +
			set->window * sizeof(series->window[0]));
	if (!series)
		return NULL;
	series->labels = strdup(labels);
	if (!series->labels) {
		free(series);
		return NULL;
	}
	forget_extremes(set, series);
	series->special = special;
	series->next = *bucket;
	*bucket = series;
	set->all[set->nr++] = series;
	set->nr_containers += !special;
	return series;
}

/* The caller takes it out of set->all. */
static void drop(struct series_set *set, struct series *series)
{
	struct series **link = bucket_of(set, series->labels);

	while (*link != series)
		link = &(*link)->next;
	*link = series->next;
	set->nr_containers -= !series->special;
	free(series->labels);
	free(series->info);
	free(series->histograms);
	parts_free(&series->parts);
	free(series);
}

static bool has_image(const struct cmt_usage_row *row)
{
	return row->container && row->container->image;
}

/* Without memory for it there is only less to be read. */
static void add_info(const struct series_set *set, struct series *series,
		     const struct cmt_usage_row *row)
{
	struct labels labels;

	if (!labels_of_info(&labels, row, set->emulated))
		return;
	free(series->info);
	series->info = strdup(labels.text);
	series->has_image = has_image(row);
}

static struct series *find_others(struct series_set *set)
{
	struct labels labels = { .len = 0 };
	struct series *series;

	labels_add(&labels, "container", LABEL_OTHERS,
		   strlen(LABEL_OTHERS));
	labels_emulated(&labels, set->emulated);
	series = find(set, labels.text);
	if (!series)
		series = add(set, labels.text, true);
	if (series)
		series->others = true;
	return series;
}

/* The series of a row; NULL: no memory. */
static struct series *series_of(struct series_set *set,
				const struct cmt_usage_row *row, uint64_t least)
{
	struct series *series;
	struct labels labels;

	labels_of_row(&labels, row, set->emulated);
	series = find(set, labels.text);
	/* the image may be known later than the name */
	if (series && !series->has_image && has_image(row))
		add_info(set, series, row);
	if (series)
		return series;
	if (is_special(row))
		return add(set, labels.text, true);
	if (set->nr_containers >= set->max ||
	    row->occupancy.most_bytes < least) {
		set->nr_others++;
		return find_others(set);
	}
	series = add(set, labels.text, false);
	if (series)
		add_info(set, series, row);
	return series;
}

static void count(struct series *series, enum series_count which,
		  uint64_t value)
{
	if (__builtin_add_overflow(series->counts[which], value,
				   &series->counts[which]))
		series->counts[which] = UINT64_MAX;
	series->counted |= 1U << which;
}

static void add_occupancy(struct series_set *set, struct series *series,
			  const struct cmt_usage_occupancy *o,
			  uint64_t interval_ns)
{
	struct series_extreme *extreme = &series->window[set->turn];
	bool whole = o->known && !o->partial && o->age_ns <= interval_ns;

	if (o->known) {
		series->occupancy_known = true;
		series->occupancy += o->last_bytes;
		series->residual += o->residual_bytes;
		series->residual_unknown |= !o->residual_known;
	}
	if (!(o->why & CMT_USAGE_WHY_ENDED))
		series->occupancy_degraded |= !whole;
	if (series->merged) {
		*extreme = (struct series_extreme){
			SERIES_UNKNOWN, SERIES_UNKNOWN,
		};
		return;
	}
	if (o->slots)
		extreme->least = o->least_bytes;
	if (o->known || o->most_bytes)
		extreme->most = o->most_bytes;
}

/* Its time is mostly that of idle CPUs. */
static bool has_idle_time(const struct cmt_usage_row *row)
{
	return row->kind == CMT_USAGE_UNATTRIBUTED ||
	       (row->kind == CMT_USAGE_OWNER && row->owner == CMT_OWNER_CPU);
}

static void add_counters(struct series *series, const struct cmt_usage_row *row)
{
	const struct cmt_usage_counters *c = &row->counters;

	if (c->known && !has_idle_time(row))
		count(series, COUNT_RAN, c->ran_ns);
	if (c->values & CMT_F_CYCLES)
		count(series, COUNT_CYCLES, c->cycles);
	if (c->values & CMT_F_INSTRUCTIONS)
		count(series, COUNT_INSTRUCTIONS, c->instructions);
	if (c->values & CMT_F_LLC_MISSES)
		count(series, COUNT_LLC_MISSES, c->llc_misses);
	if (c->values & CMT_F_LLC_REFERENCES)
		count(series, COUNT_LLC_REFERENCES, c->llc_references);
	if (c->values & CMT_F_WAITED)
		count(series, COUNT_WAITED, c->waited_ns);
}

/* A container that came in the interval has one reading yet, and that is no gap. */
static bool is_short(const struct cmt_usage_rate *rate)
{
	return rate->partial ||
	       (!rate->known && !(rate->why & CMT_USAGE_WHY_FIRST));
}

/* An interval counts once, however many rows the series has in it. */
static void count_incomplete(struct series *series, enum series_incomplete which, bool is)
{
	uint32_t bit = is ? 1U << which : 0;

	series->incomplete[which] += (bit & ~series->incomplete_now) != 0;
	series->incomplete_now |= bit;
}

static void add_incomplete(struct series *series,
			   const struct cmt_usage_row *row, uint32_t values,
			   uint64_t interval_ns)
{
	const struct cmt_usage_occupancy *o = &row->occupancy;
	const struct cmt_usage_counters *c = &row->counters;

	if (o->why & CMT_USAGE_WHY_ENDED)
		return;
	if (values & CMT_F_OCCUPANCY)
		count_incomplete(series, INCOMPLETE_OCCUPANCY,
				 !o->known || o->partial || o->age_ns > interval_ns);
	if (values & CMT_F_MBM_TOTAL)
		count_incomplete(series, INCOMPLETE_MEMORY, is_short(&row->total));
	if (values & CMT_F_MBM_LOCAL)
		count_incomplete(series, INCOMPLETE_LOCAL, is_short(&row->local));
	if (values & CMT_F_CYCLES)
		count_incomplete(series, INCOMPLETE_COUNTERS,
				 !c->known || c->bounds & ~CMT_F_WAITED ||
				 !(c->values & CMT_F_CYCLES));
	if (values & CMT_F_WAITED)
		count_incomplete(series, INCOMPLETE_WAIT,
				 !(c->values & ~c->bounds & CMT_F_WAITED));
}

/* The histogram of a sum is unknown: a container that was ever in a sum has none. */
static void add_histograms(struct series_set *set,
			   const struct cmt_usage_frame *frame,
			   const struct cmt_usage_row *row,
			   struct series *series)
{
	if (!set->histograms)
		return;
	series->summed |= series->merged;
	if (series->summed) {
		free(series->histograms);
		series->histograms = NULL;
	} else if (!series->histograms) {
		series->histograms = calloc(1, sizeof(*series->histograms));
		set->rows_dropped += !series->histograms;
	}
	histogram_table_take(set->histograms, cmt_culprit_id(frame, row),
			     series->histograms);
}

static void add_row(struct series_set *set, const struct cmt_usage_frame *frame,
		    const struct cmt_usage_row *row, uint32_t values,
		    uint64_t least)
{
	uint64_t interval_ns = frame->end_ns - frame->start_ns;
	struct series *series = series_of(set, row, least);

	set->cpus_excluded |= (row->counters.why & CMT_USAGE_WHY_EXCLUDED) != 0;
	if (!series) {
		set->rows_dropped++;
		return;
	}
	series->merged = series->seen || series->others;
	series->seen = true;
	add_occupancy(set, series, &row->occupancy, interval_ns);
	if (row->total.known)
		count(series, COUNT_TOTAL, row->total.bytes);
	if (row->local.known)
		count(series, COUNT_LOCAL, row->local.bytes);
	add_counters(series, row);
	add_incomplete(series, row, values, interval_ns);
	set->rows_dropped += parts_add(&series->parts, frame, row);
	add_histograms(set, frame, row, series);
	series->rmids += row->rmids;
	series->pending += row->pending;
}

/* A new interval: nothing is known of it yet. */
static void begin(struct series_set *set)
{
	uint32_t i;

	set->turn = (set->turn + 1) % set->window;
	set->nr_others = 0;
	set->cpus_excluded = false;
	for (i = 0; i < set->nr; i++) {
		struct series *series = set->all[i];

		series->seen = false;
		series->merged = false;
		series->occupancy_known = false;
		series->occupancy_degraded = false;
		series->occupancy = 0;
		series->residual = 0;
		series->residual_unknown = false;
		series->rmids = 0;
		series->pending = 0;
		series->incomplete_now = 0;
		parts_begin(&series->parts);
		series->window[set->turn] = (struct series_extreme){
			SERIES_UNKNOWN, SERIES_UNKNOWN,
		};
	}
}

/* The containers with a series: those above this weight, and some below it */
struct choice {
	uint64_t least;		/* weight; 0: all may */
	uint32_t ties;		/* that weigh just so much, and must go */
};

/* Drop each series for which @is_over returns true. */
static void sweep(struct series_set *set,
		  bool (*is_over)(const struct series_set *set,
				  const struct series *series,
				  struct choice *choice),
		  struct choice *choice)
{
	uint32_t i, kept = 0;

	for (i = 0; i < set->nr; i++) {
		if (is_over(set, set->all[i], choice))
			drop(set, set->all[i]);
		else
			set->all[kept++] = set->all[i];
	}
	set->nr = kept;
}

static bool is_stale(const struct series_set *set, const struct series *series,
		     struct choice *choice)
{
	(void)choice;
	return series->absent > set->window;
}

static void end(struct series_set *set)
{
	uint32_t i;

	for (i = 0; i < set->nr; i++) {
		struct series *series = set->all[i];

		series->absent = series->seen ? 0 : series->absent + 1;
	}
	sweep(set, is_stale, NULL);
}

struct weight {
	uint64_t weight;
	bool kept;		/* it has a series */
};

static uint64_t kept_weight(uint64_t most)
{
	return most > UINT64_MAX / KEPT_WEIGHT ? UINT64_MAX : most * KEPT_WEIGHT;
}

static struct weight weight_of(const struct series_set *set,
			       const struct cmt_usage_row *row)
{
	uint64_t most = row->occupancy.most_bytes;
	struct labels labels;

	labels_of_row(&labels, row, set->emulated);
	if (find(set, labels.text))
		return (struct weight){ kept_weight(most), true };
	return (struct weight){ most, false };
}

/* The heaviest first; of equal ones, those that have a series. */
static int cmp_weight(const void *pa, const void *pb)
{
	const struct weight *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (int)b->kept - (int)a->kept;
}

static void choose_among(struct weight *weights, uint32_t n, uint32_t max,
			 struct choice *choice)
{
	uint32_t i;

	if (n <= max)
		return;
	qsort(weights, n, sizeof(*weights), cmp_weight);
	choice->least = weights[max - 1].weight;
	for (i = max; i < n && weights[i].kept &&
	     weights[i].weight == choice->least; i++)
		choice->ties++;
}

/* The size is the greatest in the window, because a container may grow again. */
static bool is_small(const struct series_set *set, const struct series *series,
		     struct choice *choice)
{
	uint64_t most = series_extreme(set, series).most, weight;

	if (series->special || most == SERIES_UNKNOWN)
		return !series->special;
	weight = kept_weight(most);
	if (weight == choice->least && choice->ties) {
		choice->ties--;
		return true;
	}
	return weight < choice->least;
}

/*
 * The containers with a series are chosen once a window, before begin() forgets the sizes
 * of the first interval: it may be the only one.  Returns the least size of a new one.
 * Without memory the first ones are chosen.
 */
static uint64_t choose(struct series_set *set,
		       const struct cmt_usage_frame *frame)
{
	struct choice choice = { .least = 0 };
	struct weight *weights;
	uint32_t i, n = 0;

	if (set->turn + 1 != set->window || frame->nr_rows <= set->max)
		return 0;
	weights = calloc(frame->nr_rows, sizeof(*weights));
	if (!weights)
		return 0;
	for (i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		if (!is_special(row))
			weights[n++] = weight_of(set, row);
	}
	choose_among(weights, n, set->max, &choice);
	free(weights);
	if (choice.least && set->nr_containers >= set->max)
		sweep(set, is_small, &choice);
	return choice.least;
}

void series_frame(struct series_set *set, const struct cmt_usage_frame *frame,
		  uint32_t values)
{
	uint64_t least = choose(set, frame);
	uint32_t i;

	begin(set);
	for (i = 0; i < frame->nr_rows; i++)
		add_row(set, frame, cmt_usage_row_at(frame, i), values, least);
	if (set->histograms) {
		histogram_table_age(set->histograms);
		set->rows_dropped += set->histograms->dropped;
		set->histograms->dropped = 0;
	}
	end(set);
}

void series_gap(struct series_set *set)
{
	begin(set);
	end(set);
}

struct series_extreme series_extreme(const struct series_set *set,
				     const struct series *series)
{
	struct series_extreme found = { SERIES_UNKNOWN, SERIES_UNKNOWN };
	uint32_t i;

	for (i = 0; i < set->window; i++) {
		const struct series_extreme *one = &series->window[i];

		if (one->least < found.least)
			found.least = one->least;
		if (one->most != SERIES_UNKNOWN &&
		    (found.most == SERIES_UNKNOWN || one->most > found.most))
			found.most = one->most;
	}
	return found;
}

int series_open(struct series_set *set, uint32_t max, uint32_t window)
{
	/* the first interval begins a window */
	*set = (struct series_set){
		.max = max, .window = window, .turn = window - 1,
	};
	set->buckets = calloc(BUCKETS, sizeof(*set->buckets));
	return set->buckets ? 0 : -ENOMEM;
}

void series_close(struct series_set *set)
{
	while (set->nr)
		drop(set, set->all[--set->nr]);
	free(set->all);
	free(set->buckets);
	*set = (struct series_set){ 0 };
}
