// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Every slot has, for each L3 domain seen so far, a table from RMID to the
 * newest entry of that RMID, and a bitmap of the RMIDs in it: a sample finds
 * its entry at once, and a retired slot yields its entries in order without
 * sorting.  Slots are found by their start and reused.
 */
#include <cmt/slots.h>

#include <cmt/reader.h>
#include <stdlib.h>

#include "internal.h"

#define SLOT_DEFAULT_NS	1000000ULL
#define SLOT_MIN_NS	10000ULL
#define SLOT_MAX_NS	10000000000ULL
#define WINDOW_DEFAULT	4
#define WINDOW_MAX	64
#define RMIDS_MAX	65536
#define CPUS_MAX	65536
/* Domain ids are arbitrary, but few; a stream with more of them is corrupt. */
#define DOMAINS_MAX	64

struct entry {
	struct cmt_slot_entry out;	/* ts: of the sample with its values */
	uint32_t older;		/* 1 + index of this RMID's entry of another */
	uint32_t generations;	/* generation, or 0; how many there are */
};

struct cpu {
	struct cmt_slot_cpu out;
	uint64_t ts;		/* of the last TICK */
};

struct slot {
	uint64_t start;
	bool open;
	uint64_t lost;
	uint32_t nr_entries, room;
	struct entry *entries;
	uint64_t *rmids;	/* bitmap: in some table */
	uint32_t *tables[DOMAINS_MAX];	/* [rmid]: 1 + index of an entry */
	uint32_t nr_cpus;
	struct cpu *cpus;	/* [cpu], with ticks if it said something */
};

struct cmt_slots {
	uint64_t slot_ns;
	uint32_t window, nr_rmids, nr_cpus;
	uint32_t generations_max;	/* of one RMID in one slot */
	cmt_slot_fn fn;
	void *ctx;
	struct cmt_tracker *tracker;
	struct cmt_slots_counts counts;
	uint64_t floor;		/* what is before it is late, */
	uint64_t newest;	/* start of the newest slot, */
	bool started;		/* if these two are set */
	uint64_t lost;		/* not in any slot yet */
	uint64_t synced;	/* 1 + @late of the last cmt_slots_sync() */
	uint32_t nr_domains, last_domain;
	uint32_t domains[DOMAINS_MAX];	/* ids; the index is for the tables */
	uint8_t sorted[DOMAINS_MAX];	/* indices by ascending id */
	/* What a callback sees; room for the largest slot. */
	uint32_t room;
	struct cmt_slot_entry *entries;
	struct cmt_owner *owners;	/* of entries, then of cpus */
	struct cmt_slot_cpu *cpus;
	struct slot *last;		/* found */
	struct slot slots[];
};

static size_t bitmap_words(const struct cmt_slots *slots)
{
	return (slots->nr_rmids + 63) / 64;
}

static int slots_opts(struct cmt_slots_opts *opts,
		      const struct cmt_slots_opts *from)
{
	int err;

	if (!from)
		return -EINVAL;
	err = cmt_opts_copy(opts, sizeof(*opts), from, from->sz);
	if (err)
		return err;
	if (!opts->slot_ns)
		opts->slot_ns = SLOT_DEFAULT_NS;
	if (!opts->window)
		opts->window = WINDOW_DEFAULT;
	if (opts->slot_ns < SLOT_MIN_NS || opts->slot_ns > SLOT_MAX_NS ||
	    opts->window < 2 || opts->window > WINDOW_MAX ||
	    opts->nr_rmids < 1 || opts->nr_rmids > RMIDS_MAX ||
	    opts->nr_cpus < 1 || opts->nr_cpus > CPUS_MAX)
		return -EINVAL;
	return 0;
}

static int slots_alloc(struct cmt_slots *s)
{
	s->cpus = calloc(s->nr_cpus, sizeof(*s->cpus));
	s->owners = calloc(s->nr_cpus, sizeof(*s->owners));
	if (!s->cpus || !s->owners)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->window; i++) {
		struct slot *slot = &s->slots[i];

		slot->cpus = calloc(s->nr_cpus, sizeof(*slot->cpus));
		slot->rmids = calloc(bitmap_words(s), sizeof(*slot->rmids));
		if (!slot->cpus || !slot->rmids)
			return -ENOMEM;
	}
	return cmt_tracker_new(&s->tracker, s->nr_rmids);
}

int cmt_slots_new(struct cmt_slots **slots, const struct cmt_slots_opts *opts,
		  cmt_slot_fn fn, void *ctx)
{
	struct cmt_slots_opts o;
	struct cmt_slots *s;
	int err;

	err = fn ? slots_opts(&o, opts) : -EINVAL;
	if (err)
		return err;
	s = calloc(1, sizeof(*s) + o.window * sizeof(s->slots[0]));
	if (!s)
		return -ENOMEM;
	s->slot_ns = o.slot_ns;
	s->window = o.window;
	s->nr_rmids = o.nr_rmids;
	s->nr_cpus = o.nr_cpus;
	/* An RMID is in limbo for 2 ms before it is handed out again. */
	s->generations_max = 2 + (uint32_t)(o.slot_ns / 1000000);
	s->fn = fn;
	s->ctx = ctx;
	s->last = &s->slots[0];
	err = slots_alloc(s);
	if (err) {
		cmt_slots_free(s);
		return err;
	}
	*slots = s;
	return 0;
}

void cmt_slots_free(struct cmt_slots *slots)
{
	if (!slots)
		return;
	for (uint32_t i = 0; i < slots->window; i++) {
		struct slot *slot = &slots->slots[i];

		for (uint32_t d = 0; d < slots->nr_domains; d++)
			free(slot->tables[d]);
		free(slot->entries);
		free(slot->rmids);
		free(slot->cpus);
	}
	cmt_tracker_free(slots->tracker);
	free(slots->entries);
	free(slots->owners);
	free(slots->cpus);
	free(slots);
}

/* The owner of @generation at @ts, copied to @room; NULL if not known. */
static const struct cmt_owner *find_owner(struct cmt_slots *slots,
					  struct cmt_owner *room, uint32_t rmid,
					  uint32_t generation, uint64_t ts)
{
	const struct cmt_owner *owner;

	owner = cmt_tracker_lookup(slots->tracker, rmid, ts);
	if (!owner || owner->generation != generation)
		return NULL;
	*room = *owner;
	return room;
}

/* All generations of one RMID in one domain, ascending. */
static uint32_t emit_rmid(struct cmt_slots *slots, const struct slot *slot,
			  uint32_t at, uint32_t n)
{
	uint32_t first = n;

	for (; at; at = slot->entries[at - 1].older) {
		const struct entry *entry = &slot->entries[at - 1];
		uint32_t i = n++;

		while (i > first && slots->entries[i - 1].generation >
				    entry->out.generation) {
			slots->entries[i] = slots->entries[i - 1];
			i--;
		}
		slots->entries[i] = entry->out;
		/* Owners stand in the order of slot->entries. */
		slots->entries[i].owner =
			find_owner(slots, &slots->owners[at - 1],
				   entry->out.rmid, entry->out.generation,
				   entry->out.ts);
	}
	return n;
}

static void emit_entries(struct cmt_slots *slots, struct slot *slot)
{
	uint32_t n = 0;

	for (size_t word = 0; word < bitmap_words(slots); word++) {
		uint64_t bits = slot->rmids[word];

		for (; bits; bits &= bits - 1) {
			uint32_t rmid = (uint32_t)word * 64 +
					(uint32_t)__builtin_ctzll(bits);

			for (uint32_t d = 0; d < slots->nr_domains; d++) {
				uint32_t *table =
					slot->tables[slots->sorted[d]];

				if (!table || !table[rmid])
					continue;
				n = emit_rmid(slots, slot, table[rmid], n);
				table[rmid] = 0;
			}
		}
		slot->rmids[word] = 0;
	}
}

static uint32_t emit_cpus(struct cmt_slots *slots, struct slot *slot)
{
	struct cmt_owner *owners = slots->owners + slots->room;
	uint32_t n = 0;

	for (uint32_t i = 0; slot->nr_cpus; i++) {
		struct cpu *cpu = &slot->cpus[i];

		if (!cpu->out.ticks)
			continue;
		slots->cpus[n] = cpu->out;
		slots->cpus[n].owner = find_owner(slots, &owners[n],
						  cpu->out.rmid,
						  cpu->out.generation, cpu->ts);
		cpu->out.ticks = 0;
		slot->nr_cpus--;
		n++;
	}
	return n;
}

static void retire(struct cmt_slots *slots, struct slot *slot)
{
	struct cmt_slot out = {
		.start_ns = slot->start,
		.end_ns = slot->start + slots->slot_ns,
		.lost = slot->lost,
		.nr_entries = slot->nr_entries,
		.entries = slots->entries,
		.cpus = slots->cpus,
	};

	emit_entries(slots, slot);
	out.nr_cpus = emit_cpus(slots, slot);
	slot->nr_entries = 0;
	slot->lost = 0;
	slot->open = false;
	slots->counts.retired++;
	slots->fn(slots->ctx, &out);
	cmt_tracker_advance(slots->tracker, out.end_ns - 1);
}

static struct slot *oldest_open(struct cmt_slots *slots)
{
	struct slot *oldest = NULL;

	for (uint32_t i = 0; i < slots->window; i++) {
		struct slot *slot = &slots->slots[i];

		if (slot->open &&
		    (!oldest || cmt_ts_before(slot->start, oldest->start)))
			oldest = slot;
	}
	return oldest;
}

/* Retire what is before @floor, in order. */
static void raise_floor(struct cmt_slots *slots, uint64_t floor)
{
	struct slot *slot;

	if (!cmt_ts_before(slots->floor, floor))
		return;
	for (;;) {
		slot = oldest_open(slots);
		if (!slot || !cmt_ts_before(slot->start, floor))
			break;
		retire(slots, slot);
	}
	slots->floor = floor;
	cmt_tracker_advance(slots->tracker, floor - 1);
}

static void move_window(struct cmt_slots *slots, uint64_t start)
{
	uint64_t floor = start - (slots->window - 1) * slots->slot_ns;

	if (!slots->started) {
		slots->started = true;
		slots->newest = start;
		slots->floor = floor;
	} else if (cmt_ts_before(slots->newest, start)) {
		slots->newest = start;
		raise_floor(slots, floor);
	}
}

/* There is a closed one: no more than window starts are in the window. */
static struct slot *open_slot(struct cmt_slots *slots, uint64_t start)
{
	struct slot *closed = NULL;

	for (uint32_t i = 0; i < slots->window; i++) {
		struct slot *slot = &slots->slots[i];

		if (slot->open && slot->start == start)
			return slot;
		if (!slot->open)
			closed = slot;
	}
	/* But where 2^64 is no multiple of slot_ns, once in 584 years. */
	if (!closed) {
		closed = oldest_open(slots);
		retire(slots, closed);
		slots->floor = closed->start + slots->slot_ns;
	}
	closed->open = true;
	closed->start = start;
	closed->lost = slots->lost;
	slots->lost = 0;
	return closed;
}

/* The slot of @ts, the window moved if need be; NULL: late. */
static struct slot *find_slot(struct cmt_slots *slots, uint64_t ts)
{
	struct slot *last = slots->last;
	uint64_t start;

	if (last->open && ts - last->start < slots->slot_ns)
		return last;
	start = ts - ts % slots->slot_ns;
	move_window(slots, start);
	if (cmt_ts_before(start, slots->floor))
		return NULL;
	slots->last = open_slot(slots, start);
	return slots->last;
}

/* The index of a domain id, a new one if need be; DOMAINS_MAX: none left. */
static uint32_t find_domain(struct cmt_slots *slots, uint32_t id)
{
	uint32_t d, i;

	if (slots->nr_domains && slots->domains[slots->last_domain] == id)
		return slots->last_domain;
	for (d = 0; d < slots->nr_domains; d++) {
		if (slots->domains[d] == id)
			break;
	}
	if (d == DOMAINS_MAX)
		return d;
	if (d == slots->nr_domains) {
		slots->domains[d] = id;
		for (i = slots->nr_domains++;
		     i && slots->domains[slots->sorted[i - 1]] > id; i--)
			slots->sorted[i] = slots->sorted[i - 1];
		slots->sorted[i] = (uint8_t)d;
	}
	slots->last_domain = d;
	return d;
}

/* Grow what callbacks see along with the slot: retiring cannot fail. */
static int grow(struct cmt_slots *slots, struct slot *slot)
{
	uint32_t room = slot->room ? slot->room * 2 : 64;
	void *p;

	if (room > slots->room) {
		p = realloc(slots->entries, room * sizeof(*slots->entries));
		if (!p)
			return -ENOMEM;
		slots->entries = p;
		p = realloc(slots->owners, ((size_t)room + slots->nr_cpus) *
					   sizeof(*slots->owners));
		if (!p)
			return -ENOMEM;
		slots->owners = p;
		slots->room = room;
	}
	p = realloc(slot->entries, room * sizeof(*slot->entries));
	if (!p)
		return -ENOMEM;
	slot->entries = p;
	slot->room = room;
	return 0;
}

static int new_entry(struct cmt_slots *slots, struct slot *slot,
		     uint32_t *at, const struct cmt_record *record)
{
	struct entry *entry;

	if (slot->nr_entries == slot->room) {
		int err = grow(slots, slot);

		if (err)
			return err;
	}
	entry = &slot->entries[slot->nr_entries++];
	memset(entry, 0, sizeof(*entry));
	entry->out.rmid = record->rmid;
	entry->out.generation = record->generation;
	entry->out.domain = record->domain;
	entry->out.ts = record->ts;
	entry->older = *at;
	entry->generations = 1;
	if (*at)
		entry->generations += slot->entries[*at - 1].generations;
	*at = slot->nr_entries;
	slot->rmids[record->rmid / 64] |= 1ULL << (record->rmid % 64);
	return 0;
}

/*
 * The entry of a sample.  0: *entry is set; 1: too many domains or
 * generations, the sample cannot be; -ENOMEM.
 */
static int find_entry(struct cmt_slots *slots, struct slot *slot,
		      const struct cmt_record *record, struct entry **entry)
{
	uint32_t d = find_domain(slots, record->domain), *newest, at;
	int err;

	if (d == DOMAINS_MAX)
		return 1;
	if (!slot->tables[d]) {
		slot->tables[d] = calloc(slots->nr_rmids, sizeof(uint32_t));
		if (!slot->tables[d])
			return -ENOMEM;
	}
	newest = &slot->tables[d][record->rmid];
	for (at = *newest; at; at = slot->entries[at - 1].older) {
		*entry = &slot->entries[at - 1];
		if ((*entry)->out.generation == record->generation)
			return 0;
	}
	if (*newest && slot->entries[*newest - 1].generations >=
		       slots->generations_max)
		return 1;
	err = new_entry(slots, slot, newest, record);
	if (!err)
		*entry = &slot->entries[slot->nr_entries - 1];
	return err;
}

#define STICKY (CMT_F_ERROR | CMT_F_UNAVAILABLE | CMT_F_REBASED | \
		CMT_F_PQR_OVERWRITTEN)

static int add_sample(struct cmt_slots *slots, struct slot *slot,
		      const struct cmt_record *record)
{
	struct entry *entry;
	uint16_t sticky;
	int err = find_entry(slots, slot, record, &entry);

	if (err)
		return err;
	entry->out.samples++;
	sticky = (entry->out.flags | record->flags) & STICKY;
	if (!cmt_ts_before(record->ts, entry->out.ts)) {
		entry->out.ts = record->ts;
		entry->out.flags = record->flags;
		entry->out.occupancy_bytes = record->sample.occupancy_bytes;
		entry->out.residual_bytes = record->sample.residual_bytes;
		entry->out.mbm_total_bytes = record->sample.mbm_total_bytes;
		entry->out.mbm_local_bytes = record->sample.mbm_local_bytes;
	}
	entry->out.flags |= sticky;
	return 0;
}

static void add_tick(struct slot *slot, const struct cmt_record *record)
{
	struct cpu *cpu = &slot->cpus[record->cpu];

	if (!cpu->out.ticks) {
		slot->nr_cpus++;
		memset(cpu, 0, sizeof(*cpu));
		cpu->out.cpu = record->cpu;
		cpu->ts = record->ts;
	}
	cpu->out.ticks++;
	cpu->out.busy_ticks += record->rmid != CMT_RMID_NONE;
	cpu->out.flags |= record->flags;
	if (cmt_ts_before(record->ts, cpu->ts))
		return;
	cpu->ts = record->ts;
	cpu->out.domain = record->domain;
	cpu->out.rmid = record->rmid;
	cpu->out.generation = record->generation;
	cpu->out.interval_ns = record->interval_ns;
	cpu->out.missed = record->tick.missed;
	cpu->out.deferred = record->tick.deferred;
	cpu->out.busy_ns = record->tick.busy_ns;
	cpu->out.samples = record->tick.samples;
}

/* Losses are told even when their slot is gone: in the oldest one there is. */
static void add_lost(struct cmt_slots *slots, const struct cmt_record *record)
{
	struct slot *slot = NULL;

	if (slots->started && !cmt_ts_before(record->ts, slots->floor))
		slot = find_slot(slots, record->ts);
	if (!slot)
		slot = oldest_open(slots);
	if (slot)
		slot->lost += cmt_record_lost(record);
	else
		slots->lost += cmt_record_lost(record);
	slots->counts.added++;
}

static bool known_type(uint16_t type)
{
	return (type >= CMT_REC_ALLOC && type <= CMT_REC_ALLOC_FAIL) ||
	       type == CMT_REC_SAMPLE || type == CMT_REC_TICK ||
	       type == CMT_REC_CPU_ONLINE || type == CMT_REC_CPU_OFFLINE;
}

/* 0: added; 1: malformed; or -errno, -ESTALE being late. */
static int add_known(struct cmt_slots *slots, const struct cmt_record *record)
{
	struct slot *slot = NULL;
	int err;

	/* A state and not an event: it may be as old as it likes. */
	if (record->type != CMT_REC_EXISTING) {
		slot = find_slot(slots, record->ts);
		if (!slot)
			return -ESTALE;
	}

	switch (record->type) {
	case CMT_REC_SAMPLE:
		return add_sample(slots, slot, record);
	case CMT_REC_TICK:
		add_tick(slot, record);
		return 0;
	default:
		err = cmt_tracker_record(slots->tracker, record);
		return err < 0 ? err : 0;
	}
}

int cmt_slots_add(struct cmt_slots *slots, const struct cmt_record *record)
{
	int err = 1;

	if (record->type == CMT_REC_LOST) {
		add_lost(slots, record);
		return 0;
	}
	if (record->type != CMT_REC_PAD && !known_type(record->type)) {
		slots->counts.unknown++;
		return 0;
	}
	if (cmt_record_possible(record, slots->nr_cpus, slots->nr_rmids))
		err = add_known(slots, record);
	if (err == -ENOMEM)
		return err;
	if (err == -ESTALE)
		slots->counts.late++;
	else if (err)
		slots->counts.malformed++;
	else
		slots->counts.added++;
	return 0;
}

void cmt_slots_flush(struct cmt_slots *slots)
{
	if (slots->started)
		raise_floor(slots, slots->newest + slots->slot_ns);
}

bool cmt_slots_synced(const struct cmt_slots *slots, uint64_t late)
{
	return slots->synced == late + 1;
}

int cmt_slots_sync(struct cmt_slots *slots, const struct cmt_snapshot *snapshot,
		   uint64_t late)
{
	int err = cmt_tracker_sync(slots->tracker, snapshot);

	if (!err)
		slots->synced = late + 1;
	return err;
}

struct cmt_tracker *cmt_slots_tracker(struct cmt_slots *slots)
{
	return slots->tracker;
}

void cmt_slots_counts(const struct cmt_slots *slots,
		      struct cmt_slots_counts *counts)
{
	*counts = slots->counts;
}
