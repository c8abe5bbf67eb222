/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which records are possible; inline, because every record passes here. */
#ifndef LIBCMT_RECORD_H
#define LIBCMT_RECORD_H

#include <stddef.h>

#include <cmt/reader.h>

#include "internal.h"

/* The payload of a CMT_REC_LOST. */
struct cmt_gap {
	uint64_t lost;
	uint64_t begin, end;	/* the CPU's records before and after it */
	uint64_t reserved;
};

/* A structure that begins as a copy of a record has its members where that has them. */
#define CMT_SAME_PLACE(type, member, of_record)				\
	_Static_assert(offsetof(type, member) ==			\
		       offsetof(struct cmt_record, of_record), #member)

/* What a tick says: nearly every record.  One comparison: the types are in a row. */
static inline bool cmt_record_is_reading(const struct cmt_record *record)
{
	return record->type >= CMT_REC_SAMPLE && record->type <= CMT_REC_PERF;
}

/* RMID and generation name an owner, or both are 0. */
static inline bool cmt_record_owner_possible(const struct cmt_record *record,
					     uint32_t nr_rmids)
{
	if (record->rmid == CMT_RMID_NONE)
		return !record->generation;
	return record->rmid < nr_rmids && record->generation;
}

/* Can a record of this type be, its CPU aside? */
bool cmt_record_type_possible(const struct cmt_record *record,
			      uint32_t nr_rmids);

/* Can this record be in the ring of @cpu? */
static inline bool cmt_record_possible_in_ring(const struct cmt_record *record,
					       uint32_t cpu,
					       uint32_t nr_rmids)
{
	if (record->cpu != cpu)
		return false;
	if (cmt_record_is_reading(record))
		return cmt_record_owner_possible(record, nr_rmids);
	/* EXISTING is for snapshots, 0xff00 and up are the library's own. */
	return record->type != CMT_REC_EXISTING &&
	       record->type < CMT_REC_LOST &&
	       cmt_record_type_possible(record, nr_rmids);
}

/* Does it say who owns an RMID? */
static inline bool cmt_record_is_lifecycle(const struct cmt_record *record)
{
	return record->type >= CMT_REC_ALLOC && record->type <= CMT_REC_UPDATE;
}

#endif
