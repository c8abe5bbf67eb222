// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Owners as the CPU has them: by id, in all L3 domains, also where no cache is read.  There
 * are as many as cells at most, and memory for all of them from the start.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *bucket(const struct culprit_owners *owners, uint64_t id)
{
	return &owners->hash[(id * 0x9e3779b97f4a7c15ULL >> 32) & owners->mask];
}

bool culprit_owners_init(struct culprit_owners *owners, uint32_t room, uint32_t buckets)
{
	owners->all = calloc(room, sizeof(*owners->all));
	owners->hash = malloc(buckets * sizeof(*owners->hash));
	if (!owners->all || !owners->hash)
		return false;
	memset(owners->hash, 0xff, buckets * sizeof(*owners->hash));
	owners->mask = buckets - 1;
	owners->room = room;
	owners->free = CULPRIT_NOBODY;
	return true;
}

void culprit_owners_free(struct culprit_owners *owners)
{
	free(owners->all);
	free(owners->hash);
}

static void remove_owner(struct culprit_owners *owners, uint32_t index)
{
	struct culprit_owner *owner = &owners->all[index];
	uint32_t *at = bucket(owners, owner->id);

	while (*at != index)
		at = &owners->all[*at].next;
	*at = owner->next;
	*owner = (struct culprit_owner){ .next = owners->free };
	owners->free = index;
}

/* Remove those that were not seen for some time: once in that time, all of them are visited. */
static void remove_old(struct culprit_owners *owners, uint64_t slot)
{
	if (slot - owners->swept < CULPRIT_FORGET)
		return;
	owners->swept = slot;
	for (uint32_t i = 0; i < owners->nr; i++)
		if (owners->all[i].seen && slot - owners->all[i].seen > CULPRIT_FORGET)
			remove_owner(owners, i);
}

static uint32_t free_owner(struct culprit_owners *owners, uint64_t slot)
{
	uint32_t index;

	if (owners->nr < owners->room)
		return owners->nr++;
	if (owners->free == CULPRIT_NOBODY)
		remove_old(owners, slot);
	index = owners->free;
	if (index != CULPRIT_NOBODY)
		owners->free = owners->all[index].next;
	return index;
}

static uint32_t find(const struct culprit_owners *owners, uint64_t id)
{
	uint32_t i = *bucket(owners, id);

	while (i != CULPRIT_NOBODY && owners->all[i].id != id)
		i = owners->all[i].next;
	return i;
}

/* A slot that is not 0, which is that of a free owner. */
static uint64_t slot_of(const struct cmt_culprit *culprit)
{
	return culprit->slot + 1;
}

struct culprit_owner *culprit_owner_find(const struct cmt_culprit *culprit, uint64_t id)
{
	const struct culprit_owners *owners = &culprit->owners;
	uint32_t i = find(owners, id);

	return i == CULPRIT_NOBODY ? NULL : &owners->all[i];
}

struct culprit_owner *culprit_owner_add(struct cmt_culprit *culprit, uint64_t id)
{
	struct culprit_owners *owners = &culprit->owners;
	uint32_t i = find(owners, id), *head = bucket(owners, id);

	if (i == CULPRIT_NOBODY) {
		i = free_owner(owners, slot_of(culprit));
		if (i == CULPRIT_NOBODY)
			return NULL;
		owners->all[i] = (struct culprit_owner){ .id = id, .next = *head };
		*head = i;
	}
	owners->all[i].seen = slot_of(culprit);
	return &owners->all[i];
}
