// SPDX-License-Identifier: GPL-2.0-or-later
#include "caches.h"

#include <string.h>

static void add(struct cache *cache, const struct measure *occupancy, uint64_t l3_bytes)
{
	if (!occupancy->known || !l3_bytes) {
		cache->held.partial = true;
		return;
	}
	cache->bytes = l3_bytes;
	cache->held.known = true;
	cache->held.partial |= occupancy->partial;
	cache->held.value += occupancy->value;
}

/* NULL: there are more than there is room for. */
static struct cache *cache_of(struct caches *caches, uint32_t domain)
{
	struct cache *list = caches->list;
	uint32_t i = 1;

	while (i < caches->nr && list[i].domain < domain)
		i++;
	if (i < caches->nr && list[i].domain == domain)
		return &list[i];
	if (caches->nr == CACHES_MOST)
		return NULL;
	memmove(&list[i + 1], &list[i], (caches->nr++ - i) * sizeof(list[0]));
	list[i] = (struct cache){ .domain = domain };
	return &list[i];
}

static void add_parts(struct caches *caches, const struct frame *frame,
		      const struct row *row)
{
	for (uint32_t i = 0; i < row->nr_parts; i++) {
		const struct row_part *part = &frame->parts[row->first_part + i];
		struct cache *cache = cache_of(caches, part->domain);

		if (cache)
			add(cache, &part->occupancy, part->l3_bytes);
	}
}

/* A pending owner holds nothing that is not in the row of the overflow RMID. */
static bool is_counted(const struct row *row)
{
	return row->occupancy.known || !(row->why & CMT_USAGE_WHY_PENDING);
}

void caches_set(struct caches *caches, const struct frame *frame)
{
	bool undivided = false;
	uint32_t i;

	*caches = (struct caches){ 0 };
	if (frame->by != VIEW_CONTAINER && frame->by != VIEW_PROCESS)
		return;
	caches->list[0].all = true;
	caches->nr = 1;
	for (i = 0; i < frame->nr_rows; i++) {
		const struct row *row = &frame->rows[i];

		if (!is_counted(row))
			continue;
		add(&caches->list[0], &row->occupancy, row->l3_bytes);
		add_parts(caches, frame, row);
		undivided |= !row->nr_parts && (!row->occupancy.known || row->occupancy.value > 0);
	}
	for (i = 1; i < caches->nr; i++)
		caches->list[i].held.partial |= undivided;
}

const struct measure *cache_part(const struct cache *cache, const struct frame *frame,
				 const struct row *row)
{
	if (cache->all)
		return &row->occupancy;
	for (uint32_t i = 0; i < row->nr_parts; i++) {
		const struct row_part *part = &frame->parts[row->first_part + i];

		if (part->domain == cache->domain)
			return &part->occupancy;
	}
	return NULL;
}
