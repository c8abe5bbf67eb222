// SPDX-License-Identifier: LGPL-2.1-or-later
#include "owner.h"

#include <string.h>

struct usage_owner usage_owner_of(uint32_t rmid, const struct cmt_owner *owner)
{
	struct usage_owner of = { .group_cpu = CMT_GROUP_NO_CPU };

	if (rmid == CMT_RMID_NONE || !owner) {
		of.kind = rmid == CMT_RMID_NONE ? CMT_USAGE_UNATTRIBUTED : CMT_USAGE_UNKNOWN;
		return of;
	}
	of.kind = owner->kind == CMT_OWNER_OVERFLOW ? CMT_USAGE_OVERFLOW : CMT_USAGE_OWNER;
	of.type = owner->kind;
	of.tgid = owner->tgid;
	of.cpu = owner->cpu;
	of.cgroup_id = owner->cgroup_id;
	of.group_cpu = owner->group_cpu;
	of.attached = owner->attached;
	of.sole = owner->sole;
	memcpy(of.comm, owner->comm, sizeof(of.comm));
	return of;
}

bool usage_owner_same(const struct usage_owner *a, const struct usage_owner *b)
{
	return a->kind == b->kind && a->type == b->type && a->cpu == b->cpu &&
	       (a->type == CMT_OWNER_PROCESS ? a->tgid == b->tgid :
					       a->cgroup_id == b->cgroup_id);
}
