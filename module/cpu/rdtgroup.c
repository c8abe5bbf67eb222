// SPDX-License-Identifier: GPL-2.0
#include <linux/atomic.h>
#include <asm/barrier.h>

#include "rdtgroup.h"

/*
 * The barrier of cmpxchg() or xchg(), between the store of the member and the load of the
 * sole owner, pairs with that of group_begin(): either this CPU finds the sole owner, or
 * group_begin() finds the member.
 */
bool cmt_rdtgroup_see_other(struct cmt_rdtgroup *group, u32 owner)
{
	u32 seen = cmpxchg(&group->seen, CMT_RDTGROUP_NONE, owner);
	u32 sole;

	if (seen && seen != owner)
		xchg(&group->seen, CMT_RDTGROUP_SEVERAL);
	sole = READ_ONCE(group->sole);
	if (sole && sole != owner) {
		WRITE_ONCE(group->sole, CMT_RDTGROUP_NONE);
		return true;
	}
	return !seen && READ_ONCE(group->idle);
}

static bool is_other(const struct cmt_rdtgroup *group, u32 seen)
{
	return seen == CMT_RDTGROUP_SEVERAL ||
	       (seen && group->last && seen != group->last);
}

static void group_mix(struct cmt_rdtgroup *group, u32 seen)
{
	WRITE_ONCE(group->sole, CMT_RDTGROUP_NONE);
	group->last = seen == CMT_RDTGROUP_SEVERAL ? CMT_RDTGROUP_NONE : seen;
	group->wait = CMT_RDTGROUP_WAIT;
	group->inherits = true;
}

static bool group_begin(struct cmt_rdtgroup *group, u32 owner)
{
	bool inherits = group->inherits;
	u32 seen;

	WRITE_ONCE(group->sole, owner);
	smp_mb();	/* pairs with cmt_rdtgroup_see_other() */
	seen = READ_ONCE(group->seen);
	if (is_other(group, seen)) {
		group_mix(group, seen);
		return false;
	}
	group->inherits = false;
	return inherits;
}

bool cmt_rdtgroup_judge(struct cmt_rdtgroup *group, bool period_ends)
{
	u32 seen = period_ends ? xchg(&group->seen, CMT_RDTGROUP_NONE) :
				 READ_ONCE(group->seen);

	if (period_ends)
		WRITE_ONCE(group->idle, !seen);
	if (is_other(group, seen)) {
		group_mix(group, seen);
		return false;
	}
	if (period_ends && group->wait)
		group->wait--;
	if (!seen)
		return false;
	group->last = seen;
	if (group->wait || READ_ONCE(group->sole) == seen)
		return false;
	return group_begin(group, seen);
}

void cmt_rdtgroup_reset(struct cmt_rdtgroup *group)
{
	WRITE_ONCE(group->sole, CMT_RDTGROUP_NONE);
	group->last = CMT_RDTGROUP_NONE;
	group->wait = 0;
	group->inherits = true;
	WRITE_ONCE(group->idle, true);
	xchg(&group->seen, CMT_RDTGROUP_NONE);
}
