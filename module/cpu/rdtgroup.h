/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose a resctrl group is.  Container runtimes make a group for each container.  All
 * members of such a group belong to one owner, and the group's RMID is that owner's under
 * another number: the group is sole.  Pure.
 *
 * Members are seen at switches and ticks of any CPU, and by the work item of scope/foreign.c,
 * which also judges.  The group ends to be sole when another owner's member is seen.  It is
 * sole again after CMT_RDTGROUP_WAIT periods with members of one owner only.  A period is the
 * time between two regular runs of the work item.
 */
#ifndef CMT_RDTGROUP_H
#define CMT_RDTGROUP_H

#include <linux/compiler.h>
#include <linux/types.h>

/* Beside numbers of owners: */
#define CMT_RDTGROUP_NONE	0U
/* members of several owners, a member without an owner, or a CPU */
#define CMT_RDTGROUP_SEVERAL	(~0U)

#define CMT_RDTGROUP_WAIT	2

/* By RMID; all zero: no member was seen so far. */
struct cmt_rdtgroup {
	/* written by any CPU: */
	u32 seen;	/* the owner of all members that were seen in this period */
	u32 sole;	/* the owner of the sole group; NONE: the group is not sole */
	/* written by the work item: */
	u32 last;	/* the owner of all members that were judged last; NONE: several */
	u8 wait;	/* periods until the group can be sole */
	bool inherits;	/* members of other owners filled cache with the RMID */
	bool idle;	/* the last period had no members: judge when one is seen */
};

/* As cmt_rdtgroup_see(), for a member of another owner than those seen in this period. */
bool cmt_rdtgroup_see_other(struct cmt_rdtgroup *group, u32 owner);

/*
 * A member of @owner runs with the group's RMID.  Returns whether the work item must judge
 * at once.  Any context.
 */
static __always_inline bool cmt_rdtgroup_see(struct cmt_rdtgroup *group,
					     u32 owner)
{
	u32 seen = READ_ONCE(group->seen);

	if (likely(seen == owner || seen == CMT_RDTGROUP_SEVERAL))
		return false;
	return cmt_rdtgroup_see_other(group, owner);
}

/* Is this the sole group of @owner?  Any context. */
static __always_inline bool
cmt_rdtgroup_is_sole(const struct cmt_rdtgroup *group, u32 owner)
{
	return READ_ONCE(group->sole) == owner;
}

/*
 * Judge by the members seen; @period_ends: and begin a new period.  Returns whether the
 * group is sole from now on, and its RMID may hold cache of other owners.  By one caller at
 * a time.
 */
bool cmt_rdtgroup_judge(struct cmt_rdtgroup *group, bool period_ends);

/* The owner of the sole group has ended: nothing is known of the members. */
void cmt_rdtgroup_reset(struct cmt_rdtgroup *group);

#endif
