// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which records can be. */
#include "record.h"

#include <cmt/resctrl.h>

#define KINDS (CMT_F_OWNER_CGROUP | CMT_F_OWNER_CPU | CMT_F_OWNER_OVERFLOW | \
	       CMT_F_OWNER_RESCTRL | CMT_F_OWNER_KERNEL)

/*
 * An owner has exactly one kind.  A group of resctrl has its owner's beside its own, or a
 * CPU that is in it.
 */
static bool kind_possible(const struct cmt_record *record)
{
	bool sole = record->flags & CMT_F_GROUP_SOLE;
	uint32_t kind = record->flags & KINDS;

	if (kind & CMT_F_OWNER_RESCTRL) {
		kind &= ~CMT_F_OWNER_RESCTRL;
		if (kind & ~(sole ? CMT_F_OWNER_CGROUP | CMT_F_OWNER_CPU : CMT_F_OWNER_CPU))
			return false;
	} else if (sole) {
		return false;
	}
	return !(kind & (kind - 1));
}

/*
 * The module gives a group no id: the RMID and its generation stand for it, for as long
 * as the group has that RMID.
 */
uint64_t cmt_record_name_id(const struct cmt_record *record)
{
	bool group = cmt_flags_are_group(record->flags);

	if (!group && record->flags & (CMT_F_OWNER_CPU | CMT_F_OWNER_OVERFLOW))
		return 0;
	if (!group || record->owner.cgroup_id)
		return record->owner.cgroup_id;
	return CMT_RESCTRL_GROUP | CMT_RESCTRL_RMID |
	       (uint64_t)record->generation << 16 | record->rmid;
}

bool cmt_record_type_possible(const struct cmt_record *record,
			      uint32_t nr_rmids)
{
	switch (record->type) {
	case CMT_REC_PAD:
		return false;
	case CMT_REC_ALLOC:
	case CMT_REC_FREE:
	case CMT_REC_EXISTING:
	case CMT_REC_UPDATE:
		return record->rmid != CMT_RMID_NONE && kind_possible(record) &&
		       cmt_record_owner_possible(record, nr_rmids);
	case CMT_REC_ALLOC_FAIL:
		return kind_possible(record) &&
		       cmt_record_owner_possible(record, nr_rmids);
	case CMT_REC_SAMPLE:
	case CMT_REC_TICK:
	case CMT_REC_PERF:
		return cmt_record_owner_possible(record, nr_rmids);
	default:
		return true;
	}
}

bool cmt_record_possible(const struct cmt_record *record, uint32_t nr_cpus,
			 uint32_t nr_rmids)
{
	return record->cpu < nr_cpus && cmt_record_type_possible(record, nr_rmids);
}

uint64_t cmt_record_lost(const struct cmt_record *record)
{
	struct cmt_gap gap;

	if (record->type != CMT_REC_LOST)
		return 0;
	memcpy(&gap, record->payload, sizeof(gap));
	return gap.lost;
}

int cmt_record_gap(const struct cmt_record *record, uint64_t *begin_ns,
		   uint64_t *end_ns)
{
	struct cmt_gap gap;

	if (record->type != CMT_REC_LOST)
		return -EINVAL;
	memcpy(&gap, record->payload, sizeof(gap));
	*begin_ns = gap.begin;
	*end_ns = gap.end;
	return 0;
}
