/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is expected of the next record, for rec_columns.c. */
#ifndef LIBCMT_REC_MODEL_H
#define LIBCMT_REC_MODEL_H

#include <stdint.h>

#include <cmt/device.h>

/* Groups of record types, which have columns of their own. */
enum { REC_SAMPLE, REC_TICK, REC_PERF, REC_CHANNEL, REC_OTHER, REC_GROUPS };

/* Columns of a group. */
enum {
	REC_TS, REC_RMID, REC_DOMAIN, REC_GENERATION, REC_FLAGS, REC_WORD,
	REC_VALUES, REC_FIELDS = REC_VALUES + 5
};

/* Columns of a chunk: of all records, by the group of the record before, and of groups. */
enum {
	REC_COL_ORDER, REC_COL_TYPES, REC_COL_GROUPS = REC_COL_TYPES + REC_GROUPS,
	REC_COLUMNS = REC_COL_GROUPS + REC_GROUPS * REC_FIELDS
};

/* The fuzz targets have fewer, since each recording that is opened clears them. */
#ifndef REC_CONTEXT_BITS
#define REC_CONTEXT_BITS	14
#endif
#define REC_CONTEXTS	(1U << REC_CONTEXT_BITS)
#define REC_GENERATIONS	16384U	/* likewise */

/*
 * The last record of an RMID in a domain, or on a CPU.  Another key at the same place
 * replaces it: that costs bytes, and no more.
 */
struct rec_context {
	uint32_t key[2];
	uint32_t chunk;		/* number of the chunk that it is of; of others it is new */
	uint16_t group;
	uint16_t seen;		/* flags are set */
	uint32_t flags;
	uint32_t word;
	uint32_t next;		/* RMID of the record that followed it */
	uint64_t values[4];
	uint64_t steps[4];	/* mean of late, of what changes each time */
};

/* The records of a CPU. */
struct rec_stream {
	uint32_t cpu;
	uint32_t count;
	/* in the first pass */
	uint16_t type;		/* of the last record */
	uint64_t ts;
	uint64_t tick_ns;	/* when the tick began that it is of */
	uint64_t delta;		/* between two samples of a tick, */
	uint64_t tail;		/* and from the last one to the TICK */
	uint64_t between;	/* from tick to tick */
	/* in the second pass */
	uint32_t samples;	/* since the last TICK */
	uint32_t domain;
	uint32_t left;		/* of the time since the tick before, not told yet */
	uint64_t ticked_ns;	/* the last TICK */
	uint64_t clock;		/* cycles a ns, as in code_ratio() */
	uint32_t first[REC_GROUPS];	/* RMID of the first record of a tick */
	struct rec_context *last[REC_GROUPS];	/* of this tick, or NULL */
	uint32_t next;		/* in the merge: place of its next record, */
	uint32_t end;		/* and behind its last one */
};

struct rec_model {
	struct rec_context contexts[REC_CONTEXTS];
	uint32_t chunk;		/* number of this one */
	uint32_t generations[REC_GENERATIONS];	/* by RMID */
	uint32_t flags[REC_GROUPS];	/* of the last record */
	uint64_t units[4];	/* of the values of samples, 1: bytes */
	bool rounded;		/* all counts of PERF records are, see rec_round.h */
	struct rec_stream *streams;
	uint32_t nr_streams, room_streams;
	uint32_t *stream_of;	/* by CPU: its stream, from rec_streams() */
	uint32_t *order;	/* records, stream after stream */
	uint32_t room_order;
};

static inline unsigned int rec_group(uint16_t type)
{
	return type >= CMT_REC_SAMPLE && type <= CMT_REC_CHANNEL ?
	       (unsigned int)(type - CMT_REC_SAMPLE) : (unsigned int)REC_OTHER;
}

/* The context of a key, as it was left or new. */
struct rec_context *rec_context(struct rec_model *model, unsigned int group, uint32_t a,
				uint32_t b);

/* Begin a chunk.  Returns 0 or -ENOMEM. */
int rec_model_begin(struct rec_model *model, uint32_t n);

/* A stream for @cpu, which has none.  NULL: no memory. */
struct rec_stream *rec_stream_new(struct rec_model *model, uint32_t cpu);

#endif
