/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who owns what while records go by: what a snapshot would say now. */
#ifndef LIBCMT_REC_OWNERS_H
#define LIBCMT_REC_OWNERS_H

#include <cmt/device.h>

#include "rec_bytes.h"

struct rec_owners {
	struct cmt_record *all;	/* by RMID, CMT_REC_EXISTING; type 0: no owner */
	uint32_t nr_rmids;
	uint32_t nr;
	uint64_t as_of;		/* lifecycle records up to it are in all */
	bool known;		/* as_of is set */
};

/* Returns 0 or -ENOMEM. */
int rec_owners_init(struct rec_owners *owners, uint32_t nr_rmids);
void rec_owners_free(struct rec_owners *owners);

/* A lifecycle record; of any other nothing changes. */
void rec_owners_record(struct rec_owners *owners, const struct cmt_record *record);

/* All of them anew. */
void rec_owners_sync(struct rec_owners *owners, const struct cmt_snapshot *snapshot);

/* What rec_owners_get() takes. */
void rec_owners_put(const struct rec_owners *owners, struct rec_buffer *out);

/*
 * @snapshot: NULL if nothing was known; free it with cmt_snapshot_free().
 * Returns 0, -ENOMEM or -EBADMSG.
 */
int rec_owners_get(struct rec_cursor *in, struct cmt_snapshot **snapshot);

/* The records of any snapshot; NULL: none, which is not one without records. */
void rec_snapshot_put(const struct cmt_snapshot *snapshot, struct rec_buffer *out);

#endif
