/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of cgroups, for a recorder: the known names, and those not written yet. */
#ifndef LIBCMT_REC_NAMES_H
#define LIBCMT_REC_NAMES_H

#include <cmt/containers.h>

#include "bytes.h"
#include "cgroup/cgroup.h"

struct rec_name {
	uint64_t id;		/* id of the cgroup */
	uint8_t *bytes;		/* as in a NAMES chunk; NULL: not known */
	uint32_t nr_bytes;
	bool owns;		/* owns an RMID, or did since rec_names_forget() */
	bool fresh;		/* not written yet */
	struct cmt_cgroup_cpu cpu;	/* the last reading of the cgroup's files */
};

struct rec_names {
	struct rec_name *all;
	uint32_t nr, room, max;
	uint32_t *index;	/* hash table: 1 + index in all, 0: free */
	uint32_t index_size;	/* a power of two, or 0 */
	uint32_t nr_fresh;
	bool full;		/* none can be dropped, until some are forgotten or written */
};

void rec_names_free(struct rec_names *names);

/* The cgroup owns an RMID.  Returns 0, or -ENOMEM, -ENOSPC: it gets no name. */
int rec_names_own(struct rec_names *names, uint64_t id);

/* Set the name of a cgroup.  Returns 0, -EINVAL, -ENOMEM or -ENOSPC. */
int rec_names_set(struct rec_names *names, const struct cmt_container *container);

/* Mark all cgroups as without an RMID.  rec_names_own() follows for each owner. */
void rec_names_forget(struct rec_names *names);

/*
 * Write names from index @at on, until the chunk is full; with @all all names, else
 * only fresh ones.  Returns the next index; names->nr: no name is left.
 */
uint32_t rec_names_put(struct rec_names *names, bool all, uint32_t at,
		       struct rec_buffer *out);

/* The chunk with the names from index @first up to @end is written. */
void rec_names_written(struct rec_names *names, uint32_t first, uint32_t end);

/* Read one name.  Its texts are in @texts until the next call. */
bool rec_name_get(struct rec_cursor *in, struct cmt_container *container,
		  struct rec_buffer *texts);

#endif
