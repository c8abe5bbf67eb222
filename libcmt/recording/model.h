/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model that predicts the next record, for columns.c. */
#ifndef LIBCMT_REC_MODEL_H
#define LIBCMT_REC_MODEL_H

#include <stdint.h>

#include <cmt/device.h>

/* Groups of record types.  Each group has its own columns. */
enum { REC_SAMPLE, REC_TICK, REC_PERF, REC_CHANNEL, REC_OTHER, REC_GROUPS };

/* Columns of a group. */
enum {
	REC_TS, REC_RMID, REC_DOMAIN, REC_GENERATION, REC_FLAGS, REC_WORD,
	REC_VALUES, REC_FIELDS = REC_VALUES + 5
};

/*
 * Columns of a chunk: one for the order, one per group before, and those of each group.
 */
enum {
	REC_COL_ORDER, REC_COL_TYPES, REC_COL_GROUPS = REC_COL_TYPES + REC_GROUPS,
	REC_COLUMNS = REC_COL_GROUPS + REC_GROUPS * REC_FIELDS
};

/* Fuzz targets define fewer contexts, since opening a recording clears them all. */
#ifndef REC_CONTEXT_BITS
#define REC_CONTEXT_BITS	14
#endif
#define REC_CONTEXTS	(1U << REC_CONTEXT_BITS)
#define REC_GENERATIONS	16384U	/* likewise */

/*
 * The last record of an RMID in a domain, or on a CPU.  Another key with the same hash
 * replaces the context: this costs only some bytes.
 */
struct rec_context {
	uint32_t key[2];
	/* number of its chunk; in other chunks the context counts as new */
	uint32_t chunk;
	uint16_t group;
	uint16_t seen;		/* flags is set */
	uint32_t flags;
	uint32_t word;
	uint32_t next;		/* RMID of the next record after this one */
	uint64_t values[4];
	uint64_t steps[4];	/* running mean of the changes of each value */
};

/* The records of one CPU. */
struct rec_stream {
	uint32_t cpu;
	uint32_t count;
	/* in the first pass */
	uint16_t type;		/* type of the last record */
	uint64_t ts;
	uint64_t tick_ns;	/* estimated begin of the current tick */
	uint64_t delta;		/* between two samples of a tick */
	uint64_t tail;		/* from the last sample to the TICK */
	uint64_t between;	/* from tick to tick */
	/* in the second pass */
	uint32_t samples;	/* samples since the last TICK */
	uint32_t domain;
	/* time since the last tick that no record has accounted for */
	uint32_t left;
	uint64_t ticked_ns;	/* time of the last TICK */
	uint64_t clock;		/* cycles per ns, as in code_ratio() */
	/* RMID of the first record of a tick, by group */
	uint32_t first[REC_GROUPS];
	/* the last record of the current tick, or NULL */
	struct rec_context *last[REC_GROUPS];
	uint32_t next;		/* in the merge: position of the stream's next record */
	uint32_t end;		/* and the position after its last record */
};

struct rec_model {
	struct rec_context contexts[REC_CONTEXTS];
	uint32_t chunk;		/* number of the current chunk */
	uint32_t generations[REC_GENERATIONS];	/* by RMID */
	uint32_t flags[REC_GROUPS];	/* of the last record, by group */
	uint64_t units[4];	/* units of the values of samples; 1: bytes */
	/* all counts of PERF records are rounded: round.h */
	bool rounded;
	/* unit of the waits in PERF records, ns; 0: there are none */
	uint64_t wait_unit;
	struct rec_stream *streams;
	uint32_t nr_streams, room_streams;
	uint32_t *stream_of;	/* by CPU: its stream, from rec_stream_new() */
	uint32_t *order;	/* positions of records, one stream after the other */
	uint32_t room_order;
};

static inline unsigned int rec_group(uint16_t type)
{
	return type >= CMT_REC_SAMPLE && type <= CMT_REC_CHANNEL ?
	       (unsigned int)(type - CMT_REC_SAMPLE) : (unsigned int)REC_OTHER;
}

/* Find the context of a key, or make a new one in its place. */
struct rec_context *rec_context(struct rec_model *model, unsigned int group, uint32_t a,
				uint32_t b);

/* Begin a chunk.  Returns 0 or -ENOMEM. */
int rec_model_begin(struct rec_model *model, uint32_t n);

/* Add a stream for @cpu, which has none yet.  NULL: no memory. */
struct rec_stream *rec_stream_new(struct rec_model *model, uint32_t cpu);

#endif
