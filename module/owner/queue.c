// SPDX-License-Identifier: GPL-2.0
/*
 * The pending queue: owners that wait for an RMID, by class; and the services whose RMID
 * owners of a higher class may get.
 */
#include <linux/compiler.h>
#include <linux/list.h>

#include "internal.h"

static struct list_head lists[NR_LISTS];
static u32 nr_listed[NR_LISTS];

/* The list in which an owner belongs. */
static u32 queue_of(const struct cmt_owner *owner)
{
	bool service = owner->service && !cmt_owner_is_named(owner);

	if (!owner->pending)
		return service && owner->rmid ? LIST_RECLAIMABLE : LIST_NONE;
	if (owner_is_overflow(owner))
		return LIST_OVERFLOW;
	if (cmt_owner_is_named(owner))
		return LIST_NAMED;
	return service ? LIST_SERVICES : LIST_SCOPED;
}

void owner_relist(struct cmt_owner *owner)
{
	u32 from = owner->listed, to = queue_of(owner);

	if (from == to)
		return;
	if (from) {
		list_del_init(&owner->list);
		WRITE_ONCE(nr_listed[from], nr_listed[from] - 1);
	}
	if (to) {
		list_add_tail(&owner->list, &lists[to]);
		WRITE_ONCE(nr_listed[to], nr_listed[to] + 1);
	}
	owner->listed = to;
}

void owner_queue_set(struct cmt_owner *owner, bool pending)
{
	owner->pending = pending;
	owner_relist(owner);
}

struct cmt_owner *owner_queue_first(void)
{
	u32 list;

	for (list = LIST_OVERFLOW; list <= LIST_SERVICES; list++)
		if (nr_listed[list])
			return list_first_entry(&lists[list], struct cmt_owner,
						list);
	return NULL;
}

u32 owner_queue_before(u32 list)
{
	u32 nr = 0;

	while (--list)
		nr += nr_listed[list];
	return nr;
}

struct cmt_owner *owner_queue_reclaimable(void)
{
	struct list_head *list = &lists[LIST_RECLAIMABLE];

	return list_empty(list) ? NULL :
	       list_last_entry(list, struct cmt_owner, list);
}

u32 cmt_owners_pending(void)
{
	return READ_ONCE(nr_listed[LIST_NAMED]) +
	       READ_ONCE(nr_listed[LIST_SCOPED]) +
	       READ_ONCE(nr_listed[LIST_SERVICES]);
}

void owner_queue_init(void)
{
	u32 i;

	for (i = 0; i < NR_LISTS; i++)
		INIT_LIST_HEAD(&lists[i]);
}
