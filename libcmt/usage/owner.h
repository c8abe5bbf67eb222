/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose an RMID is: of a holding, of counters, and on a CPU. */
#ifndef LIBCMT_USAGE_OWNER_H
#define LIBCMT_USAGE_OWNER_H

#include <cmt/resctrl.h>
#include <cmt/tracker.h>
#include <cmt/usage.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct usage_owner {
	enum cmt_usage_kind kind;
	/* of CMT_USAGE_OWNER and CMT_USAGE_OVERFLOW; else all is 0 */
	uint32_t type;		/* CMT_OWNER_* */
	uint32_t tgid;
	uint32_t cpu;
	uint64_t cgroup_id;
	/* of a resctrl group: a CPU of it, or CMT_GROUP_NO_CPU */
	uint32_t group_cpu;
	bool attached;
	/* the RMID is that of a resctrl group whose members are all this owner's */
	bool sole;
	char comm[CMT_COMM_LEN + 1];
};

/* @owner: of the record or the slot; NULL: not known. */
struct usage_owner usage_owner_of(uint32_t rmid, const struct cmt_owner *owner);

/* The same owner, also where its name or its cgroup has changed? */
bool usage_owner_same(const struct usage_owner *a, const struct usage_owner *b);

/* Is @of what usage_owner_of() makes of @owner?  Asked for each record. */
static inline bool usage_owner_is(const struct usage_owner *of, const struct cmt_owner *owner)
{
	uint64_t a[2], b[2];

	_Static_assert(sizeof(a) == CMT_COMM_LEN, "two words, and no call");
	memcpy(a, of->comm, sizeof(a));
	memcpy(b, owner->comm, sizeof(b));
	return owner->kind == of->type && owner->cgroup_id == of->cgroup_id &&
	       owner->tgid == of->tgid && owner->cpu == of->cpu &&
	       owner->attached == of->attached && owner->sole == of->sole &&
	       owner->group_cpu == of->group_cpu && a[0] == b[0] && a[1] == b[1];
}

/* The overflow RMID, CPUs and RMIDs of resctrl are in no cgroup. */
static inline bool usage_in_cgroup(const struct usage_owner *owner)
{
	return owner->kind == CMT_USAGE_OWNER && (owner->type == CMT_OWNER_PROCESS ||
						  owner->type == CMT_OWNER_CGROUP);
}

/* Does the cgroup id name the owner?  So it does for a resctrl group of libcmt. */
static inline bool usage_is_named(const struct usage_owner *owner)
{
	return usage_in_cgroup(owner) ||
	       (owner->kind == CMT_USAGE_OWNER && owner->type == CMT_OWNER_RESCTRL &&
		owner->cgroup_id & CMT_RESCTRL_GROUP);
}

/*
 * Is the RMID that of a resctrl group?  Its members change, and with them its owner, under
 * one generation: what it counted stays with the owner that it had.
 */
static inline bool usage_of_group(const struct usage_owner *owner)
{
	return owner->kind == CMT_USAGE_OWNER &&
	       (owner->sole || owner->type == CMT_OWNER_RESCTRL);
}

/* Has a group's RMID another owner than @from now?  @to: NULL: not known. */
static inline bool usage_changes_hands(const struct usage_owner *from,
				       const struct cmt_owner *to)
{
	struct usage_owner now;

	if (!to || !usage_of_group(from))
		return false;
	now = usage_owner_of(to->rmid, to);
	return !usage_owner_same(from, &now);
}

#endif
