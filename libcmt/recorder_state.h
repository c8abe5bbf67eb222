/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a recorder knows, for its own files: recorder.c takes records and writes chunks,
 * recorder_index.c says where they are, recorder_look.c asks for what is in no record.
 */
#ifndef LIBCMT_RECORDER_STATE_H
#define LIBCMT_RECORDER_STATE_H

#include <time.h>

#include <cmt/recording.h>

#include "rec_chunk.h"
#include "rec_columns.h"
#include "rec_names.h"
#include "rec_owners.h"
#include "rec_state.h"

struct cmt_recorder {
	struct cmt_recorder_opts opts;	/* its texts are in head */
	struct rec_head head;
	uint64_t run;
	uint64_t sequence;	/* of the last chunk that has one */
	struct rec_packer *packer;
	struct rec_model *model;
	struct rec_buffer raw;
	struct rec_owners owners;	/* as of the records that were added */
	struct rec_names names;
	struct cmt_recorder_counts counts;
	/* the chunk that is open */
	struct cmt_record *records;
	uint32_t nr, room;
	struct rec_buffer before;	/* its owners, as a DATA chunk has them */
	bool sync;		/* they are those of a snapshot */
	bool begun;		/* there is something for a chunk: records, or a snapshot */
	uint32_t dropped;	/* records before it that are in no chunk */
	uint32_t since_head;	/* DATA chunks */
	/* where the chunks of this file are */
	struct cmt_chunk_place *places;
	uint32_t nr_places, room_places;
	bool no_index;		/* not all are in places */
	uint64_t offset;	/* bytes of this file */
	/* of cmt_recorder_look() */
	struct culprit_steal steal;
	int root;		/* of the cgroups, or -1 */
	bool rooted;		/* it was looked for */
};

/* Nanoseconds. */
uint64_t recorder_clock(clockid_t clock);

/* The payload in recorder->raw, which is emptied.  Returns as cmt_recorder_flush(). */
int recorder_emit(struct cmt_recorder *recorder, struct rec_header *header);

/* A chunk that the callback took is the next one in the file. */
void recorder_place(struct cmt_recorder *recorder, const struct cmt_chunk *chunk);

/* INDEX and TAIL, with @index; else TAIL alone.  Returns as cmt_recorder_flush(). */
int recorder_end_file(struct cmt_recorder *recorder, const struct cmt_chunk_place *places,
		      uint32_t n, bool index);

#endif
