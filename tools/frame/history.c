// SPDX-License-Identifier: GPL-2.0-or-later
#include "history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KIND_CACHE UINT32_MAX	/* of a key: no kind of a row */

static uint64_t number_of(enum view by, const struct row *row)
{
	if (by == VIEW_CHANNEL)
		return (uint64_t)row->socket << 32 | row->channel;
	if (by == VIEW_DOMAIN)
		return row->domain;
	if (row->is_cpu || row->owner == CMT_OWNER_CPU)
		return row->cpu;
	if (row->owner == CMT_OWNER_RESCTRL && row->cgroup_id & CMT_RESCTRL_GROUP)
		return row->cgroup_id;
	if (row->owner == CMT_OWNER_RESCTRL || row->kind == CMT_USAGE_UNKNOWN)
		return row->rmid;
	return row->owner == CMT_OWNER_PROCESS ? row->pid : row->cgroup_id;
}

static bool is_process(const struct row *row)
{
	return row->owner == CMT_OWNER_PROCESS && !row->is_cpu;
}

/* A container may have many cgroups, and a row has the id of any one of them. */
void row_key_of(struct row_key *key, enum view by, const struct row *row)
{
	const struct cmt_container *c = row->container;

	*key = (struct row_key){
		.kind = row->kind,
		/*
		 * the row of a CPU in the view of CPUs, and the owner "CPU" in other
		 * views
		 */
		.owner = row->is_cpu ? UINT32_MAX : row->owner,
		.rmid = is_process(row) ? row->rmid : 0,
		.generation = is_process(row) ? row->generation : 0,
	};
	if (row->kind == CMT_USAGE_UNATTRIBUTED ||
	    row->kind == CMT_USAGE_OVERFLOW)
		key->number = row->is_cpu || by == VIEW_DOMAIN ?
			      number_of(by, row) : 0;
	else
		key->number = number_of(by, row);
	if (by != VIEW_CONTAINER || row->child || !row_in_cgroup(row) || !c ||
	    !c->path || !c->own_len)
		return;
	key->number = 0;
	key->path = c->path;
	key->path_len = c->own_len;
}

static int cmp_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int row_key_cmp(const struct row_key *a, const struct row_key *b)
{
	int ret = cmp_u64(a->kind, b->kind);

	if (!ret)
		ret = cmp_u64(a->owner, b->owner);
	if (!ret)
		ret = cmp_u64(a->number, b->number);
	if (!ret)
		ret = cmp_u64(a->rmid, b->rmid);
	if (!ret)
		ret = cmp_u64(a->generation, b->generation);
	if (!ret)
		ret = cmp_u64(a->path_len, b->path_len);
	if (!ret && a->path_len)
		ret = memcmp(a->path, b->path, a->path_len);
	return ret;
}

int row_key_keep(struct row_key *key, const struct row_key *from)
{
	*key = *from;
	if (!from->path_len)
		return 0;
	key->path = strndup(from->path, from->path_len);
	if (!key->path)
		*key = (struct row_key){ 0 };
	return key->path ? 0 : -ENOMEM;
}

void row_key_drop(struct row_key *key)
{
	if (key->path_len)
		free((char *)key->path);
	*key = (struct row_key){ 0 };
}

double trail_at(const struct trail *trail, uint64_t newest_ns, unsigned int age)
{
	uint64_t second = newest_ns / TRAIL_STEP_NS;

	if (second < age)
		return NAN;
	second -= age;
	if (second > trail->newest || trail->newest - second >= TRAIL_POINTS)
		return NAN;
	return (double)trail->points[second % TRAIL_POINTS];
}

double trail_most(const struct trail *trail, uint64_t newest_ns)
{
	double most = 0;
	unsigned int age;

	for (age = 0; age < TRAIL_POINTS; age++) {
		double value = trail_at(trail, newest_ns, age);

		if (value > most)
			most = value;
	}
	return most;
}

static void trail_free(struct trail *trail)
{
	row_key_drop(&trail->key);
	free(trail);
}

static struct trail *trail_new(const struct row_key *key)
{
	struct trail *trail = calloc(1, sizeof(*trail));
	unsigned int i;

	if (!trail)
		return NULL;
	if (row_key_keep(&trail->key, key)) {
		free(trail);
		return NULL;
	}
	for (i = 0; i < TRAIL_POINTS; i++)
		trail->points[i] = NAN;
	return trail;
}

/* Seconds between, in which nothing is known, are so marked. */
static void trail_advance(struct trail *trail, uint64_t second)
{
	uint64_t i;

	if (second <= trail->newest)
		return;
	i = second - trail->newest < TRAIL_POINTS ?
	    trail->newest : second - TRAIL_POINTS;
	while (i < second)
		trail->points[++i % TRAIL_POINTS] = NAN;
	trail->newest = second;
}

static void trail_put(struct trail *trail, uint64_t second, float value)
{
	float *point = &trail->points[second % TRAIL_POINTS];

	if (isnan(*point) || value > *point)
		*point = value;
}

/*
 * The begin of what @frame has readings of.  elapsed_ns spans a gap before the frame, too; the
 * first reading of a frame is of the sampling interval before it.
 */
static uint64_t measured_from(const struct frame *frame)
{
	uint64_t since = frame->end_ns - frame->start_ns + frame->interval_ns;

	if (since > frame->elapsed_ns)
		since = frame->elapsed_ns;
	return since < frame->end_ns ? frame->end_ns - since : 0;
}

/* Of the seconds in (start, end], at least that of the end. */
static void trail_add(struct trail *trail, const struct frame *frame, double value)
{
	uint64_t last = frame->end_ns / TRAIL_STEP_NS, second;
	uint64_t start = measured_from(frame);

	/* a reader's clock never goes back; points older than the trail are dropped */
	if (last + TRAIL_POINTS <= trail->newest)
		return;
	trail_advance(trail, last);
	second = start / TRAIL_STEP_NS + 1;
	if (second > last || last - second >= TRAIL_POINTS)
		second = second > last ? last : last - TRAIL_POINTS + 1;
	for (; second <= last; second++)
		trail_put(trail, second, (float)value);
}

static int cmp_trail(const void *pa, const void *pb)
{
	const struct trail *const *a = pa, *const *b = pb;

	return row_key_cmp(&(*a)->key, &(*b)->key);
}

static struct trail *find(const struct history *history, uint32_t nr,
			  const struct row_key *key)
{
	struct trail wanted = { .key = *key };
	struct trail *const *found, *pointer = &wanted;

	if (!nr)
		return NULL;
	found = bsearch(&pointer, history->trails, nr, sizeof(pointer),
			cmp_trail);
	return found ? *found : NULL;
}

static bool make_room(struct history *history)
{
	uint32_t room = history->room ? 2 * history->room : 64;
	struct trail **more;

	if (history->nr < history->room)
		return true;
	if (history->nr >= HISTORY_ROWS)
		return false;
	more = reallocarray(history->trails, room, sizeof(struct trail *));
	if (!more)
		return false;
	history->trails = more;
	history->room = room;
	return true;
}

/*
 * The first @sorted trails are; a new one goes behind all.  @value is a point, if @known.
 */
static struct trail *add_point(struct history *history, uint32_t sorted,
			       const struct frame *frame, const struct row_key *key,
			       bool known, double value)
{
	struct trail *trail = find(history, sorted, key);

	if (!trail && known && make_room(history)) {
		trail = trail_new(key);
		if (trail)
			history->trails[history->nr++] = trail;
	}
	if (trail && known)
		trail_add(trail, frame, value);
	return trail;
}

static void add_row(struct history *history, uint32_t sorted,
		    const struct frame *frame, struct row *row)
{
	struct row_key key;

	row_key_of(&key, frame->by, row);
	row->trail = add_point(history, sorted, frame, &key,
			       row->occupancy.known || row->most.known,
			       row->most.known ? row->most.value : row->occupancy.value);
}

static void sort_trails(struct history *history)
{
	qsort(history->trails, history->nr, sizeof(struct trail *), cmp_trail);
}

static void forget_old(struct history *history, uint64_t now_ns)
{
	uint64_t now = now_ns / TRAIL_STEP_NS;
	uint32_t i, kept = 0;

	for (i = 0; i < history->nr; i++) {
		struct trail *trail = history->trails[i];

		if (trail->newest + TRAIL_POINTS > now)
			history->trails[kept++] = trail;
		else
			trail_free(trail);
	}
	history->nr = kept;
}

void history_add(struct history *history, const struct frame *frame)
{
	uint32_t i, sorted;

	forget_old(history, frame->end_ns);
	sorted = history->nr;
	for (i = 0; i < frame->nr_rows; i++)
		add_row(history, sorted, frame, &frame->rows[i]);
	for (i = 0; i < frame->nr_children; i++)
		add_row(history, sorted, frame, &frame->children[i]);
	if (history->nr > sorted)
		sort_trails(history);
}

void history_add_caches(struct history *history, struct caches *caches,
			const struct frame *frame)
{
	uint32_t sorted;

	/* the history_add() that follows frees nothing that cache.trail points to */
	forget_old(history, frame->end_ns);
	sorted = history->nr;
	for (uint32_t i = 0; i < caches->nr; i++) {
		struct cache *cache = &caches->list[i];
		const struct row_key key = {
			.kind = KIND_CACHE,
			.number = cache->all ? UINT64_MAX : cache->domain,
		};

		cache->trail = add_point(history, sorted, frame, &key,
					 cache->held.known, cache->held.value);
	}
	if (history->nr > sorted)
		sort_trails(history);
}

void history_clear(struct history *history)
{
	uint32_t i;

	for (i = 0; i < history->nr; i++)
		trail_free(history->trails[i]);
	free(history->trails);
	*history = (struct history){ 0 };
}
