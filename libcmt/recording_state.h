/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a recording knows, for its own files: recording.c has the interface,
 * recording_chunk.c goes from chunk to chunk and finds what is damaged, and
 * recording_items.c makes items of a chunk that is intact.
 */
#ifndef LIBCMT_RECORDING_STATE_H
#define LIBCMT_RECORDING_STATE_H

#include <cmt/recording.h>

#include "rec_columns.h"
#include "rec_file.h"
#include "rec_state.h"

/* What of the chunk comes next. */
enum recording_stage { RECORDING_NONE, RECORDING_IN_NAMES, RECORDING_IN_STATE,
		       RECORDING_IN_OWNERS, RECORDING_IN_RECORDS };

/* A damage that was told. */
struct recording_part {
	uint64_t offset;
	uint64_t chunks;
	uint32_t why;
};

struct cmt_recording {
	struct rec_file file;
	struct rec_head head;
	bool has_head;
	uint32_t version;
	uint64_t run;		/* chunks of another one are not of this recording */
	bool has_run;
	/* where it is */
	uint64_t pos;		/* of the next chunk */
	uint64_t sequence;	/* that is expected there; 0: any */
	uint64_t last_ns;	/* of the last chunk with a time; 0: none yet */
	bool sync;		/* owners are not known: the next DATA chunk says them */
	bool tailed;		/* the last chunk was TAIL */
	bool ended;		/* the last call returned 0 */
	uint64_t cut_at, cut_size;	/* told of a cut here, in a file of this size */
	uint64_t dropped_at;	/* 1 + pos of the chunk whose dropped records were told */
	/* cmt_recording_seek(): before this, only names and one state come */
	uint64_t skip_to, state_at;
	/* the chunk */
	struct rec_header header;
	uint64_t header_at;
	struct rec_buffer payload, raw, texts;
	struct rec_cursor in;	/* of raw: what comes next */
	enum recording_stage stage;
	/* what items point to */
	struct cmt_recording_item item;
	struct cmt_container container;
	struct rec_state state;
	struct cmt_snapshot *owners;
	struct cmt_record *records;
	uint32_t room;
	struct rec_model *model;	/* made with the first DATA chunk */
	/* where all chunks are, of a file of this size */
	struct cmt_chunk_place *places;
	uint32_t nr_places;
	uint64_t placed_size;
	bool placed, indexed;
	/* for cmt_recording_about(); parts are in order, to count once when read again */
	uint64_t damaged, damaged_bytes, missing;
	struct recording_part *parts;
	uint32_t nr_parts, parts_room;
};

/*
 * The next chunk: its payload is in raw, or a damage is in item.  Returns 2: a damage, 1: a
 * chunk, 0: the end, or -errno.
 */
int recording_chunk(struct cmt_recording *recording);

/* The item is a damage: count it, if it was not told before. */
void recording_count(struct cmt_recording *recording);

/* The chunk is no good after all, says its content: the damage is in item. */
void recording_reject(struct cmt_recording *recording);

/*
 * Begin with the chunk that recording_chunk() read.  Returns 0: it has items, or none,
 * -EBADMSG or -ENOMEM.
 */
int recording_begin(struct cmt_recording *recording);

/* The next item of the chunk.  Returns 1, 0: there is none, -ENOMEM or -EBADMSG. */
int recording_item(struct cmt_recording *recording);

#endif
