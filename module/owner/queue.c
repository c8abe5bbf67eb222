// SPDX-License-Identifier: GPL-2.0
/*
 * The pending queue: owners that wait for an RMID, by class; and the services whose RMID
 * owners of a higher class may get.
 */
#include <linux/compiler.h>
#include <linux/rbtree.h>

#include "internal.h"

/* By class, and in a class by the time since when an owner is pending. */
static struct rb_root_cached queue_tree = RB_ROOT_CACHED;
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

static bool is_before(struct rb_node *node, const struct rb_node *other)
{
	const struct cmt_owner *a = rb_entry(node, struct cmt_owner, queued);
	const struct cmt_owner *b = rb_entry(other, struct cmt_owner, queued);

	if (a->listed != b->listed)
		return a->listed < b->listed;
	return a->pending_since < b->pending_since;
}

void owner_relist(struct cmt_owner *owner)
{
	u32 from = owner->listed, to = queue_of(owner);

	if (from == to)
		return;
	if (from) {
		rb_erase_cached(&owner->queued, &queue_tree);
		WRITE_ONCE(nr_listed[from], nr_listed[from] - 1);
	}
	owner->listed = to;
	if (to) {
		rb_add_cached(&owner->queued, &queue_tree, is_before);
		WRITE_ONCE(nr_listed[to], nr_listed[to] + 1);
	}
}

void owner_queue_set(struct cmt_owner *owner, bool pending)
{
	owner->pending = pending;
	owner_relist(owner);
}

struct cmt_owner *owner_queue_first(void)
{
	struct rb_node *node = rb_first_cached(&queue_tree);
	struct cmt_owner *owner = rb_entry_safe(node, struct cmt_owner, queued);

	return owner && owner->pending ? owner : NULL;
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
	struct rb_node *node = rb_last(&queue_tree.rb_root);
	struct cmt_owner *owner = rb_entry_safe(node, struct cmt_owner, queued);

	return owner && owner->listed == LIST_RECLAIMABLE ? owner : NULL;
}

u32 cmt_owners_pending(void)
{
	return READ_ONCE(nr_listed[LIST_NAMED]) +
	       READ_ONCE(nr_listed[LIST_SCOPED]) +
	       READ_ONCE(nr_listed[LIST_SERVICES]);
}
