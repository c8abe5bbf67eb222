// SPDX-License-Identifier: LGPL-2.1-or-later
#include "entries.h"

#include <stdlib.h>

#include "record/record.h"

/* Domain ids are arbitrary, but few; a stream with more of them is corrupt. */
#define DOMAINS_MAX	64
#define POOL_MIN	256
/* The number of entries ahead that are prefetched into the cache */
#define PREFETCH	4
/*
 * Domains that are found without a search: records in order change the domain each time
 */
#define NEAR		8

#define VALUES (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define STICKY (CMT_F_ERROR | CMT_F_UNAVAILABLE | CMT_F_REBASED | \
		CMT_F_PQR_OVERWRITTEN)

struct entry {
	struct cmt_slot_entry out;	/* of the sample with its values */
	uint32_t flags;			/* of that sample only, where samples > 1 */
	struct entry *older;		/* this RMID's, of another generation, or
					 * NULL
					 */
};

/* Slots hand out pointers to entries as pointers to out. */
_Static_assert(offsetof(struct entry, out) == 0, "out is first");

/* An entry begins as a copy of its record: see entry_copy(). */
#define SAME_PLACE(member, of_record)					\
	CMT_SAME_PLACE(struct cmt_slot_entry, member, of_record)
SAME_PLACE(ts, ts);
SAME_PLACE(flags, flags);
SAME_PLACE(rmid, rmid);
SAME_PLACE(generation, generation);
SAME_PLACE(domain, domain);
SAME_PLACE(occupancy_bytes, sample.occupancy_bytes);
SAME_PLACE(mbm_total_bytes, sample.mbm_total_bytes);
SAME_PLACE(mbm_local_bytes, sample.mbm_local_bytes);
SAME_PLACE(residual_bytes, sample.residual_bytes);

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
	struct domain *domains[DOMAINS_MAX];	/* by ascending id */
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
	const struct cmt_slot_entry **out;	/* room of them, and one more */
	struct special slots[];
};

/* Entries stay where they are: pointers to them are handed out. */
struct chunk {
	struct chunk *next;
	struct entry entries[];
};

static size_t bitmap_words(const struct cmt_entries *entries)
{
	return (entries->nr_rmids + 63) / 64;
}

static int entries_alloc(struct cmt_entries *e)
{
	size_t words = bitmap_words(e);

	e->carried = calloc(words, sizeof(*e->carried));
	e->news = calloc(words, sizeof(*e->news));
	e->nr_carried = calloc(words, sizeof(*e->nr_carried));
	if (!e->carried || !e->news || !e->nr_carried)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->nr_slots; i++) {
		e->slots[i].several = calloc(2 * words, sizeof(uint64_t));
		if (!e->slots[i].several)
			return -ENOMEM;
		e->slots[i].stale = e->slots[i].several + words;
	}
	return 0;
}

int cmt_entries_new(struct cmt_entries **entries, struct cmt_tracker *tracker,
		    uint32_t nr_rmids, uint32_t slots, uint32_t generations_max)
{
	struct cmt_entries *e = calloc(1, sizeof(*e) +
				       slots * sizeof(e->slots[0]));

	if (!e)
		return -ENOMEM;
	e->tracker = tracker;
	e->hot = cmt_tracker_hot(tracker);
	e->nr_rmids = nr_rmids;
	e->nr_slots = slots;
	e->generations_max = generations_max;
	if (entries_alloc(e)) {
		cmt_entries_free(e);
		return -ENOMEM;
	}
	*entries = e;
	return 0;
}

static void free_chunks(struct chunk *chunk)
{
	while (chunk) {
		struct chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

void cmt_entries_free(struct cmt_entries *entries)
{
	if (!entries)
		return;
	for (uint32_t i = 0; i < entries->nr_slots; i++)
		free(entries->slots[i].several);
	for (uint32_t i = 0; i < entries->nr_domains; i++)
		free(entries->domains[i]);
	free_chunks(entries->chunks);
	free(entries->rows);
	free(entries->carried);
	free(entries->news);
	free(entries->nr_carried);
	free(entries->unused);
	free(entries->out);
	free(entries);
}

/* One piece of memory: the structure, then its bitmaps, then its tables. */
static struct domain *domain_new(const struct cmt_entries *e, uint32_t id)
{
	size_t words = bitmap_words(e);
	size_t bytes = sizeof(struct domain) +
		       e->nr_slots * sizeof(struct sampled);
	struct domain *domain;
	struct entry **newest;
	uint64_t *bitmap;

	domain = calloc(1, bytes + (e->nr_slots + 1) * words * sizeof(*bitmap) +
			   (size_t)e->nr_slots * e->nr_rmids * sizeof(*newest));
	if (!domain)
		return NULL;
	domain->id = id;
	bitmap = (void *)((char *)domain + bytes);
	newest = (void *)(bitmap + (e->nr_slots + 1) * words);
	for (uint32_t i = 0; i < e->nr_slots; i++) {
		domain->slots[i].rmids = bitmap + i * words;
		domain->slots[i].newest = newest + (size_t)i * e->nr_rmids;
	}
	domain->before = bitmap + e->nr_slots * words;
	return domain;
}

/* A copy of @e->rows with room for one more domain, whose index is @d */
static struct entry **wider_rows(const struct cmt_entries *e, uint32_t d)
{
	size_t n = e->nr_domains;
	struct entry **rows = calloc(e->nr_rmids, (n + 1) * sizeof(*rows));

	for (size_t i = 0; rows && i < e->nr_rmids; i++) {
		for (size_t k = 0; k < n; k++)
			rows[i * (n + 1) + k + (k >= d)] = e->rows[i * n + k];
	}
	return rows;
}

/* Returns the new domain with the index @d, or NULL: no memory. */
static struct domain *add_domain(struct cmt_entries *e, uint32_t d, uint32_t id)
{
	struct domain *domain = domain_new(e, id);
	struct entry **rows = domain ? wider_rows(e, d) : NULL;

	if (!rows) {
		free(domain);
		return NULL;
	}
	free(e->rows);
	e->rows = rows;
	memmove(&e->domains[d + 1], &e->domains[d],
		(e->nr_domains - d) * sizeof(e->domains[0]));
	e->domains[d] = domain;
	e->nr_domains++;
	return domain;
}

static inline struct domain *near_domain(const struct cmt_entries *e, uint32_t id)
{
	struct domain *domain = e->near[id % NEAR];

	return domain && domain->id == id ? domain : NULL;
}

/* Make it a near one.  Returns 0; 1: there are too many; or -ENOMEM. */
static int find_domain(struct cmt_entries *e, uint32_t id)
{
	struct domain *domain;
	uint32_t d = 0;

	while (d < e->nr_domains && e->domains[d]->id < id)
		d++;
	if (d < e->nr_domains && e->domains[d]->id == id) {
		domain = e->domains[d];
	} else {
		if (e->nr_domains == DOMAINS_MAX)
			return 1;
		domain = add_domain(e, d, id);
		if (!domain)
			return -ENOMEM;
	}
	e->near[id % NEAR] = domain;
	return 0;
}

/* Handing out cannot fail: there is room for a pointer to every entry. */
static int pool_grow(struct cmt_entries *e)
{
	uint32_t more = e->room ? e->room : POOL_MIN;
	size_t room = (size_t)e->room + more;
	struct chunk *chunk;
	void *p;

	p = realloc(e->out, (room + 1) * sizeof(*e->out));
	if (!p)
		return -ENOMEM;
	e->out = p;
	p = realloc(e->unused, room * sizeof(*e->unused));
	if (!p)
		return -ENOMEM;
	e->unused = p;
	chunk = calloc(1, sizeof(*chunk) + more * sizeof(chunk->entries[0]));
	if (!chunk)
		return -ENOMEM;
	chunk->next = e->chunks;
	e->chunks = chunk;
	e->room = (uint32_t)room;
	while (more--)
		e->unused[e->nr_unused++] = &chunk->entries[more];
	return 0;
}

/* An entry to be filled; the caller has checked that there is one. */
static inline struct entry *pool_get(struct cmt_entries *e)
{
	struct entry **last = &e->unused[--e->nr_unused];

	if (e->nr_unused >= PREFETCH) {
		__builtin_prefetch(&last[-PREFETCH]->out.ts, 1);
		__builtin_prefetch(&last[-PREFETCH]->out.owner, 1);
	}
	return *last;
}

static void pool_put(struct cmt_entries *e, struct entry *entry)
{
	e->unused[e->nr_unused++] = entry;
}

/* Take the values of @record. */
static inline void entry_copy(struct entry *entry,
			      const struct cmt_record *record, uint32_t samples)
{
	memcpy(&entry->out, record, sizeof(*record));
	entry->out.samples = samples;
	entry->out.cpu = record->cpu;
}

static uint32_t nr_values(uint32_t flags)
{
	return (uint32_t)__builtin_popcount(flags & VALUES);
}

/*
 * Samples come in any order.  One sample of a slot counts: of those with the most
 * values the latest, and of these the one of the highest CPU.
 */
static bool sample_counts(const struct cmt_record *record,
			  const struct entry *entry)
{
	if ((record->flags ^ entry->out.flags) & VALUES) {
		uint32_t here = nr_values(entry->out.flags);
		uint32_t there = nr_values(record->flags);

		if (here != there)
			return here < there;
	}
	if (record->ts != entry->out.ts)
		return cmt_ts_before(entry->out.ts, record->ts);
	return record->cpu >= entry->out.cpu;
}

/* Flags of the sample with the values. */
static uint32_t entry_flags(const struct entry *entry)
{
	return entry->out.samples > 1 ? entry->flags : entry->out.flags;
}

static void entry_add(struct entry *entry, const struct cmt_record *record)
{
	uint32_t sticky = (entry->out.flags | record->flags) & STICKY;
	uint32_t flags = entry_flags(entry);

	if (sample_counts(record, entry)) {
		entry_copy(entry, record, entry->out.samples);
		flags = record->flags;
	}
	entry->flags = flags;
	entry->out.flags |= sticky;
	entry->out.samples++;
}

static inline uint64_t bit_of(uint32_t rmid)
{
	return 1ULL << (rmid % 64);
}

/*
 * There is an unused entry.  It gets the present owner; if the owner turns out to be
 * another one, the RMID is stale when the slot is handed out.
 */
static inline void entry_new(struct cmt_entries *e, const struct sampled *in,
			     const struct cmt_record *record)
{
	const struct cmt_hot *hot = &e->hot[record->rmid];
	struct entry *entry = pool_get(e);

	entry_copy(entry, record, 1);
	entry->out.owner = hot->generation == record->generation ? hot->owner :
								   NULL;
	in->newest[record->rmid] = entry;
	in->rmids[record->rmid / 64] |= bit_of(record->rmid);
}

/* Add a SAMPLE of the domain, unless something has to be looked at first. */
static inline bool add_ordinary(struct cmt_entries *e, const struct sampled *in,
				const struct cmt_record *record)
{
	struct entry *entry = in->newest[record->rmid];

	if (!entry && e->nr_unused)
		entry_new(e, in, record);
	else if (entry && entry->out.generation == record->generation)
		entry_add(entry, record);
	else
		return false;
	return true;
}

uint32_t cmt_entries_add_run(struct cmt_entries *e, uint32_t slot,
			     const struct cmt_record *records, uint32_t n,
			     uint64_t begin, uint64_t span)
{
	const struct domain *domain = n ? near_domain(e, records->domain) : NULL;
	struct sampled in;
	uint32_t i;

	if (!domain)
		return 0;
	in = domain->slots[slot];
	for (i = 0; i < n; i++) {
		const struct cmt_record *record = &records[i];

		if (record->type != CMT_REC_SAMPLE ||
		    record->domain != domain->id ||
		    record->ts - begin >= span ||
		    !add_ordinary(e, &in, record))
			break;
	}
	return i;
}

/* The newest entry of the RMID is of another generation; one is unused. */
static int add_older(struct cmt_entries *e, uint32_t slot,
		     const struct sampled *in, const struct cmt_record *record)
{
	struct entry *newest = in->newest[record->rmid];
	uint32_t generations = 0;

	for (struct entry *entry = newest; entry; entry = entry->older) {
		if (entry->out.generation == record->generation) {
			entry_add(entry, record);
			return 0;
		}
		generations++;
	}
	if (generations >= e->generations_max)
		return 1;
	entry_new(e, in, record);
	in->newest[record->rmid]->older = newest;
	e->slots[slot].several[record->rmid / 64] |= bit_of(record->rmid);
	return 0;
}

CMT_APART static int add_closely(struct cmt_entries *e, uint32_t slot,
				 const struct cmt_record *record)
{
	const struct sampled *in;
	int err = 0;

	if (!near_domain(e, record->domain))
		err = find_domain(e, record->domain);
	if (err)
		return err;
	in = &near_domain(e, record->domain)->slots[slot];
	if (!e->nr_unused && pool_grow(e))
		return -ENOMEM;
	return add_ordinary(e, in, record) ? 0 : add_older(e, slot, in, record);
}

int cmt_entries_add(struct cmt_entries *e, uint32_t slot,
		    const struct cmt_record *record)
{
	const struct domain *domain = near_domain(e, record->domain);

	if (domain && add_ordinary(e, &domain->slots[slot], record))
		return 0;
	return add_closely(e, slot, record);
}

/* The state of one emission */
struct emit {
	struct cmt_entries *e;
	uint32_t slot;
	uint64_t last;			/* of the slot */
	uint64_t *changed;
	uint32_t n;			/* handed out */
};

static struct entry **cell_of(const struct cmt_entries *e, uint32_t rmid,
			      uint32_t d)
{
	return &e->rows[(size_t)rmid * e->nr_domains + d];
}

static uint32_t next_rmid(size_t word, uint64_t rmids)
{
	return (uint32_t)word * 64 + (uint32_t)__builtin_ctzll(rmids);
}

static inline void find_owner(const struct emit *emit, struct entry *entry,
			      uint64_t ts)
{
	struct cmt_slot_entry *out = &entry->out;

	out->owner = cmt_tracker_find(emit->e->tracker, emit->e->hot, out->rmid,
				      out->generation, ts);
}

/* @entry is the last of its RMID in its domain from now on. */
static inline void cell_set(struct cmt_entries *e, struct entry **cell,
			    size_t word, struct entry *entry)
{
	if (*cell)
		pool_put(e, *cell);
	else
		e->nr_carried[word]++;
	*cell = entry;
}

/* Flags about the time before a sample were delivered with that sample. */
static void entry_age(struct entry *entry)
{
	entry->out.flags = entry_flags(entry) &
			   ~(CMT_F_REBASED | CMT_F_PQR_OVERWRITTEN);
	entry->out.samples = 0;
}

/* Does the owner of a carried entry live at the end of the slot? */
static bool entry_alive(const struct emit *emit, const struct entry *entry)
{
	const struct cmt_hot *hot = &emit->e->hot[entry->out.rmid];
	const struct cmt_owner *owner;

	if (!hot->events && !hot->freed)
		return hot->generation == entry->out.generation;
	owner = cmt_tracker_find(emit->e->tracker, emit->e->hot, entry->out.rmid,
				 entry->out.generation, emit->last);
	return owner && (!owner->freed ||
			 cmt_ts_before(emit->last, owner->until));
}

static void cell_clear(struct cmt_entries *e, struct entry **cell, uint32_t rmid)
{
	struct entry **row = cell_of(e, rmid, 0);

	pool_put(e, *cell);
	*cell = NULL;
	e->nr_carried[rmid / 64]--;
	for (uint32_t d = 0; d < e->nr_domains; d++) {
		if (row[d])
			return;
	}
	e->carried[rmid / 64] &= ~bit_of(rmid);
}

/*
 * The last sample before the slot, if it still counts.  The owner of an RMID that
 * was freed may still change without an event.
 */
static void carry(const struct emit *emit, struct entry **cell, uint32_t rmid)
{
	struct cmt_entries *e = emit->e;
	struct entry *entry = *cell;

	if (!entry)
		return;
	if (!entry_alive(emit, entry)) {
		cell_clear(e, cell, rmid);
		return;
	}
	if (entry->out.samples)
		entry_age(entry);
	find_owner(emit, entry, emit->last);
	if (e->hot[rmid].freed)
		emit->changed[rmid / 64] |= bit_of(rmid);
}

/* @rmids have one new entry each in the domain @d. */
static void take_sampled(const struct emit *emit, uint32_t d, size_t word,
			 uint64_t rmids, uint64_t stale)
{
	struct cmt_entries *e = emit->e;
	struct entry **newest = e->domains[d]->slots[emit->slot].newest;

	e->carried[word] |= rmids;
	for (; rmids; rmids &= rmids - 1) {
		uint32_t rmid = next_rmid(word, rmids);

		cell_set(e, cell_of(e, rmid, d), word, newest[rmid]);
		newest[rmid] = NULL;
	}
	for (; stale; stale &= stale - 1) {
		struct entry *entry = *cell_of(e, next_rmid(word, stale), d);

		find_owner(emit, entry, entry->out.ts);
	}
}

static void update_domain(const struct emit *emit, uint32_t d, size_t word,
			  uint64_t several, uint64_t stale)
{
	struct domain *domain = emit->e->domains[d];
	uint64_t *sampled = &domain->slots[emit->slot].rmids[word];
	uint64_t fresh = *sampled;
	uint64_t old = (domain->before[word] | stale) & ~fresh & ~several;

	emit->e->news[word] |= fresh | domain->before[word];
	*sampled = 0;
	domain->before[word] = fresh;
	if (fresh & ~several)
		take_sampled(emit, d, word, fresh & ~several,
			     fresh & ~several & stale);
	for (old &= emit->e->carried[word]; old; old &= old - 1) {
		uint32_t rmid = next_rmid(word, old);

		carry(emit, cell_of(emit->e, rmid, d), rmid);
	}
}

/*
 * All generations of one RMID in one domain, ascending.  Returns the latest, which
 * is carried; the others are spent.
 */
static struct entry *emit_generations(struct emit *emit, struct entry *entry)
{
	struct cmt_entries *e = emit->e;
	struct entry *latest = entry, *older;
	uint32_t first = emit->n;

	for (; entry; entry = older) {
		struct entry *spent = entry;
		uint32_t i = emit->n++;

		older = entry->older;
		find_owner(emit, entry, entry->out.ts);
		for (; i > first && e->out[i - 1]->generation >
				    entry->out.generation; i--)
			e->out[i] = e->out[i - 1];
		e->out[i] = &entry->out;
		if (entry == latest)
			continue;
		if (cmt_ts_before(latest->out.ts, entry->out.ts)) {
			spent = latest;
			latest = entry;
		}
		spent->older = e->spent;
		e->spent = spent;
	}
	latest->older = NULL;
	return latest;
}

/* All domains of an RMID that has several generations in some. */
static void emit_several(struct emit *emit, uint32_t rmid)
{
	struct cmt_entries *e = emit->e;

	for (uint32_t d = 0; d < e->nr_domains; d++) {
		struct entry **newest =
			&e->domains[d]->slots[emit->slot].newest[rmid];
		struct entry **cell = cell_of(e, rmid, d);

		if (*newest) {
			cell_set(e, cell, rmid / 64,
				 emit_generations(emit, *newest));
			*newest = NULL;
			continue;
		}
		carry(emit, cell, rmid);
		if (*cell)
			e->out[emit->n++] = &(*cell)->out;
	}
	e->carried[rmid / 64] |= bit_of(rmid);
}

/* Emit the entries of @n RMIDs from @rmid on; @full: an entry in every domain. */
static inline void emit_rows(struct emit *emit, uint32_t rmid, uint32_t n,
			     bool full)
{
	struct cmt_entries *e = emit->e;
	struct entry *const *cells = cell_of(e, rmid, 0);
	const struct cmt_slot_entry **out = e->out + emit->n;

	n *= e->nr_domains;
	if (full) {
		memcpy(out, cells, n * sizeof(*out));
		emit->n += n;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		*out = (const void *)cells[i];
		out += cells[i] != NULL;
	}
	emit->n = (uint32_t)(out - e->out);
}

static void emit_carried(struct emit *emit, size_t word)
{
	const struct cmt_entries *e = emit->e;
	uint64_t bits = e->carried[word];
	bool full = e->nr_carried[word] ==
		    (uint32_t)__builtin_popcountll(bits) * e->nr_domains;

	while (bits) {
		uint64_t end = bits + (bits & -bits);
		uint64_t run = bits & ~end;

		emit_rows(emit, next_rmid(word, bits),
			  (uint32_t)__builtin_popcountll(run), full);
		bits &= end;
	}
}

/* @several: RMIDs with more entries than the carried one */
static void emit_word(struct emit *emit, size_t word, uint64_t several)
{
	uint64_t bits = emit->e->carried[word] | several;

	for (; bits; bits &= bits - 1) {
		uint32_t rmid = next_rmid(word, bits);

		if (several & bit_of(rmid))
			emit_several(emit, rmid);
		else
			emit_rows(emit, rmid, 1, false);
	}
}

/*
 * RMIDs whose owner may differ from the one at the time when the samples of the slot
 * were added, or were last handed out.  RMIDs whose owner may still change without an
 * event stay in the set.
 */
static uint64_t take_stale(const struct emit *emit, size_t word)
{
	struct cmt_entries *e = emit->e;
	uint64_t changed = emit->changed[word], stale;

	for (uint32_t i = 0; changed && i < e->nr_slots; i++)
		e->slots[i].stale[word] |= changed;
	stale = e->slots[emit->slot].stale[word];
	e->slots[emit->slot].stale[word] = 0;
	emit->changed[word] = 0;
	for (uint64_t bits = stale; bits; bits &= bits - 1) {
		uint32_t rmid = next_rmid(word, bits);

		if (e->hot[rmid].events)
			emit->changed[word] |= bit_of(rmid);
	}
	return stale;
}

static void update_word(struct emit *emit, size_t word)
{
	struct cmt_entries *e = emit->e;
	uint64_t *several = &e->slots[emit->slot].several[word];
	uint64_t stale = take_stale(emit, word);

	e->news[word] = stale | *several;
	for (uint32_t d = 0; d < e->nr_domains; d++)
		update_domain(emit, d, word, *several, stale);
	if (*several)
		emit_word(emit, word, *several);
	else
		emit_carried(emit, word);
	*several = 0;
}

/* Entries that were handed out with the last slot may be used again. */
static void pool_reclaim(struct cmt_entries *e)
{
	while (e->spent) {
		struct entry *entry = e->spent;

		e->spent = entry->older;
		entry->older = NULL;
		pool_put(e, entry);
	}
}

uint32_t cmt_entries_emit(struct cmt_entries *e, uint32_t slot, uint64_t end,
			  const struct cmt_slot_entry *const **out)
{
	struct emit emit = {
		.e = e,
		.slot = slot,
		.last = end - 1,
		.changed = cmt_tracker_changed(e->tracker),
	};

	pool_reclaim(e);
	for (size_t word = 0; word < bitmap_words(e); word++)
		update_word(&emit, word);
	*out = e->out;
	return emit.n;
}

const uint64_t *cmt_entries_news(const struct cmt_entries *e)
{
	return e->news;
}
