/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which records are possible, inline because every record passes here; and snapshots. */
#ifndef LIBCMT_RECORD_H
#define LIBCMT_RECORD_H

#include <stddef.h>

#include <cmt/reader.h>

#include "base/base.h"

/* The payload of a CMT_REC_LOST. */
struct cmt_gap {
	uint64_t lost;
	/* the last record of the CPU before the gap, and the first one after it */
	uint64_t begin, end;
	uint64_t reserved;
};

/*
 * The members of a structure that begins as a copy of a record have the record's
 * offsets.
 */
#define CMT_SAME_PLACE(type, member, of_record)				\
	_Static_assert(offsetof(type, member) ==			\
		       offsetof(struct cmt_record, of_record), #member)

/*
 * A record of a tick, as nearly all records are.  One comparison: the types are
 * adjacent.
 */
static inline bool cmt_record_is_reading(const struct cmt_record *record)
{
	return record->type >= CMT_REC_SAMPLE && record->type <= CMT_REC_PERF;
}

/* RMID and generation identify an owner, or both are 0. */
static inline bool cmt_record_owner_possible(const struct cmt_record *record,
					     uint32_t nr_rmids)
{
	if (record->rmid == CMT_RMID_NONE)
		return !record->generation;
	return record->rmid < nr_rmids && record->generation;
}

/* Is a record of this type possible, on some CPU? */
bool cmt_record_type_possible(const struct cmt_record *record,
			      uint32_t nr_rmids);

/* Is this record possible in the ring of @cpu? */
static inline bool cmt_record_possible_in_ring(const struct cmt_record *record,
					       uint32_t cpu,
					       uint32_t nr_rmids)
{
	if (record->cpu != cpu)
		return false;
	if (cmt_record_is_reading(record))
		return cmt_record_owner_possible(record, nr_rmids);
	/* EXISTING occurs in snapshots only; types from 0xff00 on are the library's. */
	return record->type != CMT_REC_EXISTING &&
	       record->type < CMT_REC_LOST &&
	       cmt_record_type_possible(record, nr_rmids);
}

/* Is the RMID of these flags a resctrl group's, and no owner's? */
static inline bool cmt_flags_are_group(uint32_t flags)
{
	return (flags & (CMT_F_OWNER_RESCTRL | CMT_F_GROUP_SOLE)) == CMT_F_OWNER_RESCTRL;
}

/* The id in struct cmt_containers of the owner of a lifecycle record; 0: it has no name. */
uint64_t cmt_record_name_id(const struct cmt_record *record);

/* Does the record change the owner of an RMID? */
static inline bool cmt_record_is_lifecycle(const struct cmt_record *record)
{
	return record->type >= CMT_REC_ALLOC && record->type <= CMT_REC_UPDATE;
}

/*
 * Is this record possible?  A record of an unknown type passes if its CPU is possible.
 */
bool cmt_record_possible(const struct cmt_record *record, uint32_t nr_cpus,
			 uint32_t nr_rmids);

/* Allocate a snapshot with room for @room records.  NULL: no memory. */
struct cmt_snapshot *cmt_snapshot_alloc(uint32_t room);

#endif
