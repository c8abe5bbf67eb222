/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The owners of RMIDs at the last record: the content of a snapshot at that time. */
#ifndef LIBCMT_REC_OWNERS_H
#define LIBCMT_REC_OWNERS_H

#include <cmt/device.h>

#include "bytes.h"

struct rec_owners {
	struct cmt_record *all;	/* by RMID: a CMT_REC_EXISTING; type 0: no owner */
	uint32_t nr_rmids;
	uint32_t nr;
	uint64_t as_of;		/* lifecycle records up to this time are applied */
	bool known;		/* as_of is valid */
};

/* Returns 0 or -ENOMEM. */
int rec_owners_init(struct rec_owners *owners, uint32_t nr_rmids);
void rec_owners_free(struct rec_owners *owners);

/* Apply a lifecycle record; other records are ignored. */
void rec_owners_record(struct rec_owners *owners, const struct cmt_record *record);

/* Replace all owners by those of a snapshot. */
void rec_owners_sync(struct rec_owners *owners, const struct cmt_snapshot *snapshot);

/* Write the owners in the form that rec_owners_get() reads. */
void rec_owners_put(const struct rec_owners *owners, struct rec_buffer *out);

/*
 * @snapshot: NULL if no owners were known; free it with cmt_snapshot_free().  Returns
 * 0, -ENOMEM or -EBADMSG.
 */
int rec_owners_get(struct rec_cursor *in, struct cmt_snapshot **snapshot);

/*
 * Write the records of a snapshot.  NULL: no snapshot, which differs from an empty one.
 */
void rec_snapshot_put(const struct cmt_snapshot *snapshot, struct rec_buffer *out);

#endif
