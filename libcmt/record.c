// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which records can be. */
#include <cmt/reader.h>

#include "internal.h"

/* RMID and generation name an owner, or both are 0. */
static bool owner_possible(const struct cmt_record *record, uint32_t nr_rmids)
{
	return record->rmid < nr_rmids &&
	       (record->rmid == CMT_RMID_NONE) == (record->generation == 0);
}

/* An owner is one thing. */
static bool kind_possible(const struct cmt_record *record)
{
	uint16_t kind = record->flags & (CMT_F_OWNER_CGROUP | CMT_F_OWNER_CPU |
					 CMT_F_OWNER_REST);

	return !(kind & (kind - 1));
}

static bool type_possible(const struct cmt_record *record, uint32_t nr_rmids)
{
	switch (record->type) {
	case CMT_REC_PAD:
		return false;
	case CMT_REC_ALLOC:
	case CMT_REC_FREE:
	case CMT_REC_EXISTING:
	case CMT_REC_UPDATE:
		return record->rmid != CMT_RMID_NONE && kind_possible(record) &&
		       owner_possible(record, nr_rmids);
	case CMT_REC_ALLOC_FAIL:
		return kind_possible(record) && owner_possible(record, nr_rmids);
	case CMT_REC_SAMPLE:
	case CMT_REC_TICK:
		return owner_possible(record, nr_rmids);
	default:
		return true;
	}
}

bool cmt_record_possible(const struct cmt_record *record, uint32_t nr_cpus,
			 uint32_t nr_rmids)
{
	return record->cpu < nr_cpus && type_possible(record, nr_rmids);
}

/* EXISTING is for snapshots, 0xff00 and up are the library's own types. */
bool cmt_record_possible_in_ring(const struct cmt_record *record, uint32_t cpu,
				 uint32_t nr_rmids)
{
	return record->cpu == cpu && type_possible(record, nr_rmids) &&
	       record->type != CMT_REC_EXISTING && record->type < CMT_REC_LOST;
}

uint64_t cmt_record_lost(const struct cmt_record *record)
{
	uint64_t lost = 0;

	if (record->type == CMT_REC_LOST)
		memcpy(&lost, record->payload, sizeof(lost));
	return lost;
}
