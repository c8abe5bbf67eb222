// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which holdings are one row.  Two cgroups are one container exactly if their paths
 * begin with the same cgroup of a container: the kernel's paths join cgroups, not their
 * names.
 */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_KIND,		/* a: enum cmt_usage_kind */
	KEY_OWN,		/* own: the path of a container, a: a hash of it */
	KEY_CGROUP,		/* a: an id whose path is unknown */
	KEY_CPU,		/* a: its number */
	KEY_KERNEL,
	KEY_RESCTRL,		/* a: the RMID, b: the id of its group, 0: not known */
	KEY_RMID,		/* a: the RMID, b: its generation */
	KEY_DOMAIN,		/* a: its number */
	KEY_PART,		/* a: the group of a row, b: the domain */
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

static uint64_t hash_of(const struct usage_key *key)
{
	return mix(mix(mix(1, key->type), key->a), key->b);
}

static uint64_t hash_of_path(const char *path)
{
	uint64_t hash = 1;

	while (path && *path)
		hash = mix(hash, (unsigned char)*path++);
	return hash;
}

static bool same_key(const struct usage_key *a, const struct usage_key *b)
{
	return a->type == b->type && a->a == b->a && a->b == b->b &&
	       !a->own == !b->own && (!a->own || !strcmp(a->own, b->own));
}

static void index_clear(struct usage_index *index)
{
	if (index->size)
		memset(index->at, 0xff, index->size * sizeof(*index->at));
}

static void index_put(struct usage_index *index, uint64_t hash, uint32_t number)
{
	uint32_t i = (uint32_t)hash & (index->size - 1);

	while (index->at[i] != USAGE_NONE)
		i = (i + 1) & (index->size - 1);
	index->at[i] = number;
}

/* Room for @nr and one more.  @cleared: it is larger, and empty. */
static int index_room(struct usage_index *index, uint32_t nr, bool *cleared)
{
	uint32_t size = index->size ? index->size * 2 : 64;
	uint32_t *at;

	*cleared = false;
	if (nr < index->size / 2)
		return 0;
	at = malloc(size * sizeof(*at));
	if (!at)
		return -ENOMEM;
	free(index->at);
	index->at = at;
	index->size = size;
	index_clear(index);
	*cleared = true;
	return 0;
}

static void index_cgroups(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->nr_cgroups; i++)
		index_put(&usage->cgroup_index, mix(1, usage->cgroups[i].id), i);
}

static uint32_t find_cgroup(const struct cmt_usage *usage, uint64_t id)
{
	const struct usage_index *index = &usage->cgroup_index;
	uint32_t i = (uint32_t)mix(1, id) & (index->size - 1), number;

	if (!index->size)
		return USAGE_NONE;
	while ((number = index->at[i]) != USAGE_NONE &&
	       usage->cgroups[number].id != id)
		i = (i + 1) & (index->size - 1);
	return number;
}

static int new_cgroup(struct cmt_usage *usage, uint64_t id)
{
	struct usage_cgroup *cgroup;
	bool cleared;

	if (cmt_grow(&usage->cgroups, usage->nr_cgroups,
		     &usage->room_cgroups, sizeof(*cgroup)) ||
	    index_room(&usage->cgroup_index, usage->nr_cgroups, &cleared))
		return -ENOMEM;
	if (cleared)
		index_cgroups(usage);
	cgroup = &usage->cgroups[usage->nr_cgroups];
	*cgroup = (struct usage_cgroup){
		.id = id, .group = USAGE_NONE,
		.item = cmt_containers_pin(usage->containers, id),
	};
	index_put(&usage->cgroup_index, mix(1, id), usage->nr_cgroups++);
	return 0;
}

/* As of now: a path that becomes known later joins from the next interval on. */
static void cgroup_own(struct usage_cgroup *cgroup)
{
	const struct cmt_item *item = cgroup->item;
	const char *identity;

	if (!item || !item->path || (cgroup->own && cgroup->own_serial == item->serial))
		return;
	free(cgroup->own);
	cgroup->own = strndup(item->path, item->container.own_len);
	cgroup->own_hash = hash_of_path(cgroup->own);
	cgroup->id_hash = 0;
	identity = usage_identity(&item->container);
	if (identity)
		cgroup->id_hash = (uint32_t)hash_of_path(identity) | 1;
	cgroup->own_serial = item->serial;
}

uint32_t usage_cgroup(struct cmt_usage *usage, uint64_t id)
{
	uint32_t number = find_cgroup(usage, id);

	if (number == USAGE_NONE) {
		if (new_cgroup(usage, id))
			return USAGE_NONE;
		number = usage->nr_cgroups - 1;
	}
	usage->cgroups[number].used = true;
	return number;
}

static void index_groups(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->nr_groups; i++)
		index_put(&usage->group_index, hash_of(&usage->groups[i].key),
			  i);
}

static uint32_t find_group(const struct cmt_usage *usage,
			   const struct usage_key *key, uint64_t hash)
{
	const struct usage_index *index = &usage->group_index;
	uint32_t i = (uint32_t)hash & (index->size - 1), number;

	if (!index->size)
		return USAGE_NONE;
	while ((number = index->at[i]) != USAGE_NONE &&
	       !same_key(&usage->groups[number].key, key))
		i = (i + 1) & (index->size - 1);
	return number;
}

/* USAGE_NONE: no memory. */
static uint32_t get_group(struct cmt_usage *usage, const struct usage_key *key,
			  uint32_t cgroup)
{
	uint64_t hash = hash_of(key);
	uint32_t number = find_group(usage, key, hash);
	bool cleared;

	if (number != USAGE_NONE)
		return number;
	if (cmt_grow(&usage->groups, usage->nr_groups, &usage->room_groups,
		     sizeof(*usage->groups)) ||
	    cmt_grow(&usage->wanted, usage->nr_groups, &usage->room_wanted,
		     sizeof(*usage->wanted)) ||
	    index_room(&usage->group_index, usage->nr_groups, &cleared))
		return USAGE_NONE;
	if (cleared)
		index_groups(usage);
	usage->groups[usage->nr_groups] = (struct usage_group){
		.key = *key, .cgroup = cgroup, .first = USAGE_NONE,
	};
	index_put(&usage->group_index, hash, usage->nr_groups);
	return usage->nr_groups++;
}

/* A row has the same cgroup in every interval, in whatever order cgroups come. */
static void group_lowest(const struct cmt_usage *usage,
			 struct usage_group *group, uint32_t cgroup)
{
	if (usage->cgroups[cgroup].id < usage->cgroups[group->cgroup].id)
		group->cgroup = cgroup;
}

static void index_ids(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->nr_ids; i++)
		index_put(&usage->id_index, usage->ids[i], i);
}

/*
 * The id of a new group's container.  Two groups may have the same: then rows are to be
 * compared, as they are where there is no memory for this.
 */
static void note_id(struct cmt_usage *usage, uint32_t hash)
{
	const struct usage_index *index = &usage->id_index;
	bool cleared;
	uint32_t i;

	if (!hash || usage->same_ids)
		return;
	usage->same_ids = cmt_grow(&usage->ids, usage->nr_ids, &usage->room_ids,
				   sizeof(hash)) ||
			  index_room(&usage->id_index, usage->nr_ids, &cleared);
	if (usage->same_ids)
		return;
	if (cleared)
		index_ids(usage);
	for (i = hash & (index->size - 1); index->at[i] != USAGE_NONE;
	     i = (i + 1) & (index->size - 1))
		usage->same_ids |= usage->ids[index->at[i]] == hash;
	index->at[i] = usage->nr_ids;
	usage->ids[usage->nr_ids++] = hash;
}

static uint32_t cgroup_group(struct cmt_usage *usage, uint64_t id)
{
	uint32_t before = usage->nr_groups;
	uint32_t number = usage_cgroup(usage, id);
	struct usage_key key = { .type = KEY_CGROUP, .a = id };
	struct usage_cgroup *cgroup;

	if (number == USAGE_NONE)
		return USAGE_NONE;
	cgroup = &usage->cgroups[number];
	if (cgroup->group != USAGE_NONE)
		return cgroup->group;
	cgroup_own(cgroup);
	if (cgroup->own)
		key = (struct usage_key){
			.type = KEY_OWN, .a = cgroup->own_hash,
			.own = cgroup->own,
		};
	cgroup->group = get_group(usage, &key, number);
	if (cgroup->group != USAGE_NONE)
		group_lowest(usage, &usage->groups[cgroup->group], number);
	if (usage->nr_groups != before)
		note_id(usage, cgroup->id_hash);
	return cgroup->group;
}

/* As usage_owner_same() */
static uint64_t hash_of_owner(const struct usage_owner *owner)
{
	bool process = owner->type == CMT_OWNER_PROCESS;

	return mix(mix(mix(1, owner->type), owner->cpu),
		   process ? owner->tgid : owner->cgroup_id);
}

static struct usage_best *find_best(const struct usage_bests *bests,
				    const struct usage_owner *owner)
{
	uint32_t mask = bests->index.size - 1, i = (uint32_t)hash_of_owner(owner) & mask;
	uint32_t number;

	while ((number = bests->index.at[i]) != USAGE_NONE) {
		if (usage_owner_same(&bests->all[number].owner, owner))
			return &bests->all[number];
		i = (i + 1) & mask;
	}
	return NULL;
}

/*
 * RMIDs come in falling order.  The row is that of the highest dedicated RMID, and without one
 * that of the lowest group that is the owner's.
 */
static int add_best(struct usage_bests *bests, const struct cmt_owner *owner)
{
	struct usage_owner of = usage_owner_of(owner->rmid, owner);
	struct usage_best *best = find_best(bests, &of);

	if (best && !best->owner.sole)
		return 0;
	if (!best) {
		if (cmt_grow(&bests->all, bests->nr, &bests->room, sizeof(*best)))
			return -ENOMEM;
		index_put(&bests->index, hash_of_owner(&of), bests->nr);
		best = &bests->all[bests->nr++];
	}
	*best = (struct usage_best){
		.owner = of, .rmid = owner->rmid, .generation = owner->generation,
	};
	return 0;
}

static int clear_bests(struct usage_bests *bests, uint32_t nr_rmids)
{
	bool cleared;

	bests->slot_end_ns = 0;
	bests->nr = 0;
	while (bests->index.size / 2 < nr_rmids)
		if (index_room(&bests->index, bests->index.size / 2, &cleared))
			return -ENOMEM;
	index_clear(&bests->index);
	return 0;
}

static int make_bests(struct cmt_usage *usage)
{
	struct cmt_tracker *tracker = cmt_slots_tracker(usage->slots);
	struct usage_bests *bests = &usage->bests;
	int err;

	if (bests->slot_end_ns == usage->slot_end_ns)
		return 0;
	err = clear_bests(bests, usage->nr_rmids);
	for (uint32_t rmid = usage->nr_rmids; !err && rmid-- > 1;) {
		const struct cmt_owner *owner =
			cmt_tracker_lookup(tracker, rmid, usage->slot_end_ns - 1);

		if (owner && !owner->freed)
			err = add_best(bests, owner);
	}
	if (!err)
		bests->slot_end_ns = usage->slot_end_ns;
	return err;
}

/* The RMID whose row has the values of a group that is an owner's.  Returns 0 or -ENOMEM. */
static int sole_key(struct cmt_usage *usage, const struct usage_holding *h,
		    struct usage_key *key)
{
	const struct usage_best *best;
	int err = make_bests(usage);

	if (err)
		return err;
	best = find_best(&usage->bests, &h->owner);
	if (best) {
		key->a = best->rmid;
		key->b = best->generation;
	}
	return 0;
}

static uint32_t rmid_group(struct cmt_usage *usage,
			   const struct usage_holding *h)
{
	struct usage_key key = {
		.type = KEY_RMID, .a = h->rmid, .b = h->generation,
	};
	uint32_t cgroup = USAGE_NONE;

	if (h->owner.sole && sole_key(usage, h, &key))
		return USAGE_NONE;
	if (usage_is_named(&h->owner))
		cgroup = usage_cgroup(usage, h->owner.cgroup_id);
	return get_group(usage, &key, cgroup);
}

/* Only an owner that is neither a process nor a cgroup has no container. */
static uint32_t container_group(struct cmt_usage *usage,
				const struct usage_holding *h)
{
	struct usage_key key = { .type = KEY_KIND, .a = h->owner.kind };
	uint32_t cgroup = USAGE_NONE;

	if (usage_in_cgroup(&h->owner))
		return cgroup_group(usage, h->owner.cgroup_id);
	if (h->owner.kind == CMT_USAGE_OWNER && h->owner.type == CMT_OWNER_CPU)
		key = (struct usage_key){ .type = KEY_CPU, .a = h->owner.cpu };
	else if (h->owner.kind == CMT_USAGE_OWNER && h->owner.type == CMT_OWNER_KERNEL)
		key = (struct usage_key){ .type = KEY_KERNEL };
	else if (h->owner.kind == CMT_USAGE_OWNER)
		key = (struct usage_key){
			.type = KEY_RESCTRL, .a = h->rmid, .b = h->owner.cgroup_id,
		};
	if (usage_is_named(&h->owner))
		cgroup = usage_cgroup(usage, h->owner.cgroup_id);
	return get_group(usage, &key, cgroup);
}

static uint32_t group_of(struct cmt_usage *usage, const struct usage_holding *h)
{
	struct usage_key key = { .type = KEY_DOMAIN, .a = h->domain };

	switch (usage->by) {
	case CMT_USAGE_BY_CONTAINER:
		return container_group(usage, h);
	case CMT_USAGE_BY_DOMAIN:
		return get_group(usage, &key, USAGE_NONE);
	case CMT_USAGE_BY_CPU:
		key = (struct usage_key){ .type = KEY_CPU, .a = h->owner.cpu };
		if (h->owner.kind == CMT_USAGE_OWNER && h->owner.type == CMT_OWNER_CPU)
			return get_group(usage, &key, USAGE_NONE);
		break;
	}
	return rmid_group(usage, h);
}

static uint32_t part_group(struct cmt_usage *usage, const struct usage_holding *h)
{
	struct usage_key key = {
		.type = KEY_PART, .a = h->group, .b = h->domain,
	};

	return get_group(usage, &key, usage->groups[h->group].cgroup);
}

int usage_group(struct cmt_usage *usage, struct usage_holding *h)
{
	h->group = group_of(usage, h);
	h->child = USAGE_NONE;
	if (h->group == USAGE_NONE)
		return -ENOMEM;
	if (usage_in_parts(usage) && usage->nr_domains > 1)
		h->child = part_group(usage, h);
	else if (usage->by == CMT_USAGE_BY_CONTAINER &&
		 usage->flags & CMT_USAGE_CHILDREN &&
		 h->owner.kind == CMT_USAGE_OWNER && h->owner.type == CMT_OWNER_PROCESS)
		h->child = rmid_group(usage, h);
	else
		return 0;
	if (h->child != USAGE_NONE)
		return 0;
	h->group = USAGE_NONE;
	return -ENOMEM;
}

int usage_group_pending(struct cmt_usage *usage)
{
	uint32_t i, number;

	if (usage->by != CMT_USAGE_BY_CONTAINER || !usage->pending_known)
		return 0;
	for (i = 0; i < usage->nr_pending; i++) {
		if (!usage->pending_ids[i])
			continue;
		number = cgroup_group(usage, usage->pending_ids[i]);
		if (number == USAGE_NONE)
			return -ENOMEM;
		usage_want(usage, number)->pending++;
	}
	return 0;
}

static void cgroup_free(struct cmt_usage *usage, struct usage_cgroup *cgroup)
{
	if (cgroup->item)
		cmt_containers_unpin(usage->containers, cgroup->item);
	free(cgroup->own);
}

void usage_groups_sweep(struct cmt_usage *usage)
{
	uint32_t i, kept = 0;

	usage->nr_groups = 0;
	usage->nr_shares = 0;
	usage->nr_odd = 0;
	usage->loose = false;
	index_clear(&usage->group_index);
	usage->nr_ids = 0;
	usage->same_ids = false;
	index_clear(&usage->id_index);
	for (i = 0; i < usage->nr_cgroups; i++) {
		struct usage_cgroup cgroup = usage->cgroups[i];

		if (!cgroup.used) {
			cgroup_free(usage, &cgroup);
			continue;
		}
		cgroup.used = false;
		cgroup.group = USAGE_NONE;
		usage->cgroups[kept++] = cgroup;
	}
	usage->nr_cgroups = kept;
	index_clear(&usage->cgroup_index);
	index_cgroups(usage);
}

void usage_groups_free(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->nr_cgroups; i++)
		cgroup_free(usage, &usage->cgroups[i]);
	free(usage->cgroups);
	free(usage->cgroup_index.at);
	free(usage->groups);
	free(usage->group_index.at);
	free(usage->ids);
	free(usage->id_index.at);
	free(usage->bests.all);
	free(usage->bests.index.at);
	free(usage->wanted);
	free(usage->odd);
}
