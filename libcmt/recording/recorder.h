/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a recorder, private to the room: recorder.c takes records and writes
 * chunks, recorder_end.c writes the index, and collect.c reads the state that is in
 * no record.
 */
#ifndef LIBCMT_RECORDER_H
#define LIBCMT_RECORDER_H

#include <time.h>

#include <cmt/recording.h>

#include "chunk.h"
#include "columns.h"
#include "names.h"
#include "owners.h"
#include "sections.h"

struct cmt_recorder {
	struct cmt_recorder_opts opts;	/* the strings are copied to head */
	struct rec_head head;
	uint64_t run;
	uint64_t sequence;	/* of the last chunk with a sequence number */
	struct rec_packer *packer;
	struct rec_model *model;
	struct rec_buffer raw;
	struct rec_owners owners;	/* the owners after the last added record */
	struct rec_names names;
	struct cmt_recorder_counts counts;
	/* the open chunk */
	struct cmt_record *records;
	uint32_t nr, room;
	/* the owners at the begin of the chunk, in the form of a DATA chunk */
	struct rec_buffer before;
	bool sync;		/* these owners are from a snapshot */
	bool begun;		/* the chunk has records or a snapshot */
	uint32_t dropped;	/* records before the chunk that are in no chunk */
	uint32_t since_head;	/* DATA chunks since the last HEAD */
	/* positions of the chunks of this file */
	struct cmt_chunk_place *places;
	uint32_t nr_places, room_places;
	bool no_index;		/* places is incomplete */
	uint64_t offset;	/* size of this file so far */
	/* used by cmt_recorder_collect_state() */
	struct cmt_cpu_ticks steal;
	int root;		/* root of the cgroup tree, or -1 */
	bool rooted;		/* the root was searched for */
};

/*
 * Emit the chunk with the payload recorder->raw, and empty raw.  Returns as
 * cmt_recorder_flush().
 */
int recorder_emit(struct cmt_recorder *recorder, struct rec_header *header);

/* Note the position of a chunk that the callback has taken. */
void recorder_place(struct cmt_recorder *recorder, const struct cmt_chunk *chunk);

/*
 * Emit INDEX and TAIL, or without @index only TAIL.  Returns as cmt_recorder_flush().
 */
int recorder_end_file(struct cmt_recorder *recorder, const struct cmt_chunk_place *places,
		      uint32_t n, bool index);

#endif
