/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a recording that is read, private to the room: recording.c has the
 * interface, walk.c goes from chunk to chunk and finds damage, and items.c makes items
 * of an intact chunk.
 */
#ifndef LIBCMT_RECORDING_STATE_H
#define LIBCMT_RECORDING_STATE_H

#include <cmt/recording.h>

#include "columns.h"
#include "file.h"
#include "sections.h"

/* The next part of the current chunk. */
enum recording_stage { RECORDING_NONE, RECORDING_IN_NAMES, RECORDING_IN_STATE,
		       RECORDING_IN_OWNERS, RECORDING_IN_RECORDS };

/* A damage that was reported. */
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
	uint64_t run;		/* chunks of another run are ignored */
	bool has_run;
	bool held;		/* by a usage, which takes all items */
	/* the position */
	uint64_t pos;		/* offset of the next chunk */
	uint64_t sequence;	/* sequence number expected at pos; 0: any */
	uint64_t last_ns;	/* of the records so far; 0: none yet */
	bool sync;		/* the owners are unknown until the next DATA chunk */
	bool tailed;		/* the last chunk was TAIL */
	bool ended;		/* the last call returned 0 */
	/* a cut was reported here, when the file had this size */
	uint64_t cut_at, cut_size;
	/* 1 + pos of the chunk whose dropped records were reported */
	uint64_t dropped_at;
	/* bytes of damaged payloads that were read again, since the last seek */
	uint64_t again_bytes;
	/*
	 * cmt_recording_seek(): before this time only names and one state are returned
	 */
	uint64_t skip_to, state_at;
	uint64_t passed_to;	/* end of the last records that are before that time */
	uint64_t sought_ns;	/* by the last cmt_recording_seek() */
	/* the current chunk */
	struct rec_header header;
	uint64_t header_at;
	struct rec_buffer payload, raw, texts;
	struct rec_cursor in;	/* the rest of raw */
	enum recording_stage stage;
	/* the memory that items point to */
	struct cmt_recording_item item;
	struct cmt_container container;
	struct rec_state state;
	struct cmt_snapshot *owners;
	struct cmt_record *records;
	uint32_t room;
	struct rec_model *model;	/* allocated with the first DATA chunk */
	/* of a file of placed_size bytes */
	struct rec_places places;
	uint64_t placed_size;
	bool placed;
	/*
	 * for cmt_recording_about(); parts are sorted, so that damage read again counts
	 * once
	 */
	uint64_t damaged, damaged_bytes, missing;
	struct recording_part *parts;
	uint32_t nr_parts, parts_room;
};

/* The current chunk is passed. */
static inline void recording_note_time(struct cmt_recording *recording)
{
	if (rec_has_times(&recording->header))
		recording->last_ns = recording->header.last_ns;
}

/*
 * Read the next chunk.  Returns 1: its payload is in raw; 2: a damage is in item; 0:
 * the end of the file; or -errno.
 */
int recording_chunk(struct cmt_recording *recording);

/* Count the damage in item, if it was not reported before. */
void recording_count(struct cmt_recording *recording);

/* Reject the current chunk for its content.  The damage is in item. */
void recording_reject(struct cmt_recording *recording);

/*
 * Begin the items of the chunk that recording_chunk() read.  Returns 0, also without
 * items, -EBADMSG or -ENOMEM.
 */
int recording_begin(struct cmt_recording *recording);

/* The next item of the chunk.  Returns 1, 0: no item is left, -ENOMEM or -EBADMSG. */
int recording_item(struct cmt_recording *recording);

#endif
