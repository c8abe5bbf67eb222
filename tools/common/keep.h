/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The newest chunks of a recorder, in a bounded buffer. */
#ifndef TOOLS_KEEP_H
#define TOOLS_KEEP_H

#include <stdbool.h>

#include <cmt/recording.h>

struct kept {
	struct kept *next;
	struct cmt_chunk_place place;	/* offset: of the file that is saved */
	unsigned char bytes[];
};

struct keep {
	/* The caller's: */
	uint64_t span_ns;	/* older chunks are dropped */
	uint64_t max_bytes;	/* above this the oldest chunks are dropped */
	/* The buffer's: */
	struct kept *head;	/* the last HEAD chunk */
	struct kept *first, **end;	/* others, in their order */
	uint64_t bytes;		/* of all chunks, with the cost of each one */
	uint64_t newest_ns;
	uint64_t refused;	/* chunks that there was no memory for */
	uint64_t short_of;	/* chunks that left early, for max_bytes */
};

void keep_begin(struct keep *keep);
void keep_end(struct keep *keep);

/* cmt_recorder_fn's work.  Returns 0 or -ENOMEM. */
int keep_add(struct keep *keep, const struct cmt_chunk *chunk);

/* The begin of a selection with all names, where there is such a chunk */
const struct kept *keep_first(const struct keep *keep);

#endif
