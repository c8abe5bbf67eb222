// SPDX-License-Identifier: LGPL-2.1-or-later
/* A slot that is retired: its entries, and those carried over from the slots before. */
#include "entries_state.h"

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

/* Hand out an entry with a reading where the last one of its RMID and domain was. */
static inline void replace(struct cmt_entries *e, const struct entry *before,
			   struct entry *entry)
{
	if (before->out.generation != entry->out.generation)
		e->moved = true;
	if (e->moved || !e->placed)
		return;
	entry->at = before->at;
	e->out[entry->at] = &entry->out;
	e->read[e->nr_read++] = entry->at;
}

/* @entry is the last of its RMID in its domain from now on. */
static inline void cell_set(struct cmt_entries *e, struct entry **cell,
			    size_t word, struct entry *entry)
{
	if (*cell) {
		replace(e, *cell, entry);
		pool_put(e, *cell);
	} else {
		e->moved = true;
		e->nr_carried[word]++;
	}
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
	e->moved = true;
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
	uint64_t several = e->slots[emit->slot].several[word];
	uint64_t stale = take_stale(emit, word);

	e->moved |= stale || several;
	e->news[word] = stale | several;
	for (uint32_t d = 0; d < e->nr_domains; d++)
		update_domain(emit, d, word, several, stale);
}

static void emit_all(struct emit *emit)
{
	struct cmt_entries *e = emit->e;

	for (size_t word = 0; word < bitmap_words(e); word++) {
		uint64_t *several = &e->slots[emit->slot].several[word];

		if (*several)
			emit_word(emit, word, *several);
		else
			emit_carried(emit, word);
		*several = 0;
	}
	e->nr_out = emit->n;
}

/* The next slot has the entries of this one, unless something happens. */
static void place_all(struct cmt_entries *e)
{
	for (uint32_t i = 0; i < e->nr_out; i++)
		((struct entry *)(uintptr_t)e->out[i])->at = i;
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

/* What is handed out changes only where something was read, if that can be. */
static void emit_slot(struct emit *emit)
{
	struct cmt_entries *e = emit->e;
	bool placed = e->placed;

	if (placed && !e->moved)
		return;
	emit_all(emit);
	/* where owners come and go in each slot, no place is of use */
	e->placed = !e->moved;
	if (e->placed)
		place_all(e);
	e->moved |= !placed;
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

	/* of several generations, one is carried on */
	e->moved = e->spent;
	e->nr_read = 0;
	pool_reclaim(e);
	for (size_t word = 0; word < bitmap_words(e); word++)
		update_word(&emit, word);
	emit_slot(&emit);
	*out = e->out;
	return e->nr_out;
}
