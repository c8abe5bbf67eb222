// SPDX-License-Identifier: LGPL-2.1-or-later
/* Samples of the open slots. */
#include "entries_state.h"

#include <stdlib.h>

#include "record/record.h"

#define POOL_MIN	256
/* The number of entries ahead that are prefetched into the cache */
#define PREFETCH	4
#define VALUES (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define STICKY (CMT_F_ERROR | CMT_F_UNAVAILABLE | CMT_F_REBASED | \
		CMT_F_PQR_OVERWRITTEN)

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
	free(entries->read);
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
	e->placed = false;
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
		if (e->nr_domains == CMT_DOMAINS_MAX)
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
	p = realloc(e->read, room * sizeof(*e->read));
	if (!p)
		return -ENOMEM;
	e->read = p;
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

const uint64_t *cmt_entries_news(const struct cmt_entries *e)
{
	return e->news;
}

const uint32_t *cmt_entries_read(const struct cmt_entries *e, uint32_t *nr)
{
	*nr = e->nr_read;
	return e->moved ? NULL : e->read;
}
