/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of entries: entries.c adds samples, entries_emit.c hands entries out. */
#ifndef LIBCMT_ENTRIES_STATE_H
#define LIBCMT_ENTRIES_STATE_H

#include "entries.h"

/*
 * Domains that are found without a search: records in order change the domain each time
 */
#define NEAR		8

struct entry {
	struct cmt_slot_entry out;	/* of the sample with its values */
	uint32_t flags;			/* of that sample only, where samples > 1 */
	uint32_t at;			/* index in out, if it is placed */
	struct entry *older;		/* this RMID's, of another generation, or
					 * NULL
					 */
};

/* Slots hand out pointers to entries as pointers to out. */
_Static_assert(offsetof(struct entry, out) == 0, "out is first");

/* The samples of one domain in an open slot */
struct sampled {
	struct entry **newest;		/* [rmid]; NULL: not sampled */
	uint64_t *rmids;		/* bitmap: sampled */
};

struct domain {
	uint32_t id;
	uint64_t *before;		/* bitmap: sampled in the last slot */
	struct sampled slots[];
};

/* The RMIDs of an open slot that take more than a copy of pointers. */
struct special {
	uint64_t *several;		/* bitmap: generations, in some domain */
	uint64_t *stale;		/* bitmap: the owner may be another one
					 * than when a sample was added
					 */
};

struct cmt_entries {
	uint32_t nr_rmids, nr_slots, generations_max;
	struct cmt_tracker *tracker;
	const struct cmt_hot *hot;
	struct domain *near[NEAR];	/* [id % NEAR]: the last one that was found,
					 * or NULL
					 */
	uint32_t nr_domains;
	struct domain *domains[CMT_DOMAINS_MAX];	/* by ascending id */
	/*
	 * The last entry of each RMID in each domain, as they are handed out:
	 * [rmid * nr_domains + domain]; NULL: there is none.
	 */
	struct entry **rows;
	uint64_t *carried;		/* bitmap: RMIDs that have one */
	uint64_t *news;			/* bitmap: see cmt_entries_news() */
	uint32_t *nr_carried;		/* how many, of each word of the bitmap */
	struct chunk *chunks;
	uint32_t room;			/* entries in all of them */
	uint32_t nr_unused;
	struct entry **unused;		/* room of them */
	struct entry *spent;		/* handed out, and of no further use,
					 * linked by older
					 */
	/*
	 * As handed out.  While no entry comes, goes or changes its owner, only entries
	 * with a reading are replaced.
	 */
	const struct cmt_slot_entry **out;	/* room of them, and one more */
	uint32_t nr_out;
	bool moved;			/* some came, went, or changed its owner */
	bool placed;			/* entry.at is valid */
	uint32_t *read;			/* indices in out, room of them */
	uint32_t nr_read;
	struct special slots[];
};

/* Entries stay where they are: pointers to them are handed out. */
struct chunk {
	struct chunk *next;
	struct entry entries[];
};

static inline size_t bitmap_words(const struct cmt_entries *entries)
{
	return (entries->nr_rmids + 63) / 64;
}

static inline uint64_t bit_of(uint32_t rmid)
{
	return 1ULL << (rmid % 64);
}

static inline void pool_put(struct cmt_entries *e, struct entry *entry)
{
	e->unused[e->nr_unused++] = entry;
}

/* Flags of the sample with the values. */
static inline uint32_t entry_flags(const struct entry *entry)
{
	return entry->out.samples > 1 ? entry->flags : entry->out.flags;
}

#endif
