// SPDX-License-Identifier: GPL-2.0-or-later
#include "histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE	UINT32_MAX
#define MAX_AGE	3	/* intervals: its row comes with the end of this one, or never */

const char *const histogram_bounds[NR_HISTOGRAMS][HISTOGRAM_BUCKETS] = {
	[HISTOGRAM_OCCUPANCY] = {
		"0.01", "0.02", "0.05", "0.1", "0.15", "0.2", "0.3", "0.4",
		"0.5", "0.75", "1.0", NULL,
	},
	[HISTOGRAM_BANDWIDTH] = {
		"1e+06", "1e+07", "3e+07", "1e+08", "3e+08", "1e+09", "3e+09",
		"1e+10", "3e+10", "1e+11", "3e+11", NULL,
	},
};

/* The same in whole numbers: thousandths, and bytes a second. */
static const uint64_t permille[HISTOGRAM_BUCKETS] = {
	10, 20, 50, 100, 150, 200, 300, 400, 500, 750, 1000, UINT64_MAX,
};
static const uint64_t rates[HISTOGRAM_BUCKETS] = {
	1000000, 10000000, 30000000, 100000000, 300000000, 1000000000,
	3000000000, 10000000000, 30000000000, 100000000000, 300000000000,
	UINT64_MAX,
};

uint64_t histogram_count(const struct histogram *histogram)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum += histogram->counts[i];
	return sum;
}

void histograms_add(struct histograms *to, const struct histograms *from)
{
	int kind, i;

	for (kind = 0; kind < NR_HISTOGRAMS; kind++) {
		for (i = 0; i < HISTOGRAM_BUCKETS; i++)
			to->of[kind].counts[i] += from->of[kind].counts[i];
		to->of[kind].sum += from->of[kind].sum;
	}
}

void histogram_table_free(struct histogram_table *table)
{
	free(table->all);
	free(table->index);
	*table = (struct histogram_table){ .nr = 0 };
}

static uint32_t slot_of(const struct histogram_table *table, uint64_t id)
{
	uint32_t slot = (uint32_t)((id * 0x9e3779b97f4a7c15ULL) >> 32) &
			table->mask;

	while (table->index[slot] != NONE &&
	       table->all[table->index[slot]].id != id)
		slot = (slot + 1) & table->mask;
	return slot;
}

static void make_index(struct histogram_table *table)
{
	uint32_t i;

	memset(table->index, 0xff, ((size_t)table->mask + 1) * sizeof(*table->index));
	for (i = 0; i < table->nr; i++)
		table->index[slot_of(table, table->all[i].id)] = i;
}

/*
 * The index is twice as large as the number of entries, so that a search always ends.
 */
static int make_room(struct histogram_table *table)
{
	uint32_t room = table->room ? 2 * table->room : 64;
	struct waiting *all;
	uint32_t *index;

	if (table->nr < table->room)
		return 0;
	index = malloc(2 * (size_t)room * sizeof(*index));
	if (!index)
		return -ENOMEM;
	all = reallocarray(table->all, room, sizeof(*all));
	if (!all) {
		free(index);
		return -ENOMEM;
	}
	free(table->index);
	table->all = all;
	table->index = index;
	table->room = room;
	table->mask = 2 * room - 1;
	make_index(table);
	return 0;
}

/* NULL: no memory. */
static struct waiting *waiting_of(struct histogram_table *table, uint64_t id)
{
	uint32_t slot;

	if (table->index && table->index[slot_of(table, id)] != NONE)
		return &table->all[table->index[slot_of(table, id)]];
	if (make_room(table))
		return NULL;
	slot = slot_of(table, id);
	table->index[slot] = table->nr;
	table->all[table->nr] = (struct waiting){ .id = id };
	return &table->all[table->nr++];
}

static void observe(struct histogram *histogram, const uint64_t *bounds,
		    uint64_t value, double shown)
{
	unsigned int i = 0;

	while (value > bounds[i])
		i++;
	histogram->counts[i]++;
	histogram->sum += shown;
}

static void set_bounds(struct histogram_table *table, uint64_t l3_bytes)
{
	int i;

	if (table->l3_bytes == l3_bytes)
		return;
	table->l3_bytes = l3_bytes;
	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++)
		table->bounds[i] = l3_bytes / 1000 * permille[i] +
				   l3_bytes % 1000 * permille[i] / 1000;
	table->bounds[i] = UINT64_MAX;
}

/*
 * Only a complete reading in this millisecond counts: the last reading of an owner that
 * does not run is not of now.  So domains are separate: an owner that runs in one
 * domain is not read in the others.
 */
static bool is_read(const struct cmt_usage_row *row)
{
	const struct cmt_usage_occupancy *o = &row->occupancy;

	return o->known && !o->partial && (!o->age_ns || row->total.known);
}

static void fold_one(struct histogram_table *table, uint64_t id,
		     const struct cmt_usage_row *row)
{
	bool rate = row->total.known && !row->total.partial;
	bool share = row->l3_bytes && is_read(row);
	struct waiting *waiting;

	if (!share && !rate)
		return;
	waiting = waiting_of(table, id);
	if (!waiting) {
		table->dropped++;
		return;
	}
	waiting->age = 0;
	if (rate)
		observe(&waiting->histograms.of[HISTOGRAM_BANDWIDTH], rates,
			(uint64_t)row->total.rate, row->total.rate);
	if (!share)
		return;
	set_bounds(table, row->l3_bytes);
	observe(&waiting->histograms.of[HISTOGRAM_OCCUPANCY], table->bounds,
		row->occupancy.last_bytes,
		(double)row->occupancy.last_bytes / (double)row->l3_bytes);
}

/* Each part of a row, or where it has none the row. */
static void fold_row(struct histogram_table *table,
		     const struct cmt_usage_frame *frame,
		     const struct cmt_usage_row *row)
{
	uint64_t id = cmt_culprit_id(frame, row);
	uint32_t i;

	if (!row->nr_children)
		fold_one(table, id, row);
	for (i = 0; i < row->nr_children; i++)
		fold_one(table, id,
			 cmt_usage_child_at(frame, row->first_child + i));
}

void histogram_table_fold(struct histogram_table *table,
			  const struct cmt_usage_frame *frame)
{
	uint32_t i;

	for (i = 0; i < frame->nr_rows; i++)
		fold_row(table, frame, cmt_usage_row_at(frame, i));
}

void histogram_table_take(struct histogram_table *table, uint64_t id,
			  struct histograms *to)
{
	struct waiting *waiting;
	uint32_t slot;

	if (!table->index)
		return;
	slot = slot_of(table, id);
	if (table->index[slot] == NONE)
		return;
	waiting = &table->all[table->index[slot]];
	if (to)
		histograms_add(to, &waiting->histograms);
	waiting->histograms = (struct histograms){ 0 };
	waiting->age = 0;
}

void histogram_table_age(struct histogram_table *table)
{
	uint32_t i, kept = 0;

	for (i = 0; i < table->nr; i++)
		if (table->all[i].age++ < MAX_AGE)
			table->all[kept++] = table->all[i];
	if (kept == table->nr)
		return;
	table->nr = kept;
	make_index(table);
}
