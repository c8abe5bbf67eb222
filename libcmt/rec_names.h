/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cgroups are called, for a recorder: what was told, and what has changed since. */
#ifndef LIBCMT_REC_NAMES_H
#define LIBCMT_REC_NAMES_H

#include <cmt/containers.h>

#include "culprit_state.h"
#include "rec_bytes.h"

struct rec_name {
	uint64_t id;		/* of the cgroup */
	uint8_t *bytes;		/* as in a NAMES chunk; NULL: not known */
	uint32_t nr_bytes;
	bool owns;		/* an RMID, or did since rec_names_forget() */
	bool fresh;		/* not written yet */
	struct culprit_cpu cpu;	/* what its files said last */
};

struct rec_names {
	struct rec_name *all;
	uint32_t nr, room, max;
	uint32_t *index;	/* by hash of the id: 1 + place, 0: free */
	uint32_t index_size;	/* a power of two, or 0 */
	uint32_t nr_fresh;
};

void rec_names_free(struct rec_names *names);

/* It owns an RMID.  -ENOMEM, -ENOSPC: it will have no name. */
int rec_names_own(struct rec_names *names, uint64_t id);

/* What it is.  Returns 0, -EINVAL, -ENOMEM or -ENOSPC. */
int rec_names_set(struct rec_names *names, const struct cmt_container *container);

/* None owns anything; who does is told with rec_names_own() again. */
void rec_names_forget(struct rec_names *names);

/*
 * Names from @at on, @all or those that are fresh, until the chunk has enough of them.
 * Returns where to go on, names->nr: there are no more.
 */
uint32_t rec_names_put(struct rec_names *names, bool all, uint32_t at,
		       struct rec_buffer *out);

/* One name; its texts are in @texts until the next call. */
bool rec_name_get(struct rec_cursor *in, struct cmt_container *container,
		  struct rec_buffer *texts);

#endif
