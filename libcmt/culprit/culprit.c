// SPDX-License-Identifier: LGPL-2.1-or-later
/* Owners and slots: which owners are followed, and the values of each slot. */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWNERS_DEFAULT	1024U
#define OWNERS_MAX	16384U
#define SLOT_NS		1000000ULL
#define COOLDOWN_NS	1000000000ULL
#define VALID_KNOWN	(CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC |	\
			 COUNTED | CMT_CULPRIT_REFERENCES | CMT_CULPRIT_IDLE |	\
			 CMT_CULPRIT_RAN)
#define COUNTED		(CMT_CULPRIT_CYCLES | CMT_CULPRIT_INSTRUCTIONS |	\
			 CMT_CULPRIT_MISSES)
#define SAMPLE_FLAGS	(CMT_CULPRIT_NO_VICTIM | CMT_CULPRIT_NO_REST)
#define SLOT_FLAGS	(CMT_CULPRIT_SLOT_PART | CMT_CULPRIT_SLOT_IDLE)
#define AHEAD		4	/* samples */

static int options(struct cmt_culprit_opts *opts,
		   const struct cmt_culprit_opts *from)
{
	int err = cmt_opts_copy(opts, sizeof(*opts), from);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(opts->reserved) / sizeof(opts->reserved[0]);
	     i++) {
		if (opts->reserved[i])
			return -EINVAL;
	}
	opts->max_owners = opts->max_owners ? opts->max_owners : OWNERS_DEFAULT;
	opts->slot_ns = opts->slot_ns ? opts->slot_ns : SLOT_NS;
	opts->cooldown_ns = opts->cooldown_ns ? opts->cooldown_ns : COOLDOWN_NS;
	return opts->max_owners > OWNERS_MAX || opts->slot_ns != SLOT_NS ?
	       -EINVAL : 0;
}

static uint32_t hash_size(uint32_t owners)
{
	uint32_t size = 16;

	while (size < 2 * owners)
		size *= 2;
	return size;
}

static void link_free(struct cmt_culprit *culprit, uint32_t index)
{
	culprit->cells[index].series = &culprit->series[index * CULPRIT_SERIES];
	culprit->cells[index].used = false;
	culprit->cells[index].next = culprit->free;
	culprit->free = index;
}

int cmt_culprit_new(struct cmt_culprit **culprit,
		    const struct cmt_culprit_opts *opts)
{
	struct cmt_culprit_opts known;
	struct cmt_culprit *c;
	uint32_t n, size;

	if (options(&known, opts))
		return -EINVAL;
	n = known.max_owners;
	size = hash_size(n);
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->cells = calloc(n, sizeof(*c->cells));
	c->series = calloc((size_t)n * CULPRIT_SERIES, sizeof(*c->series));
	c->order = malloc(n * sizeof(*c->order));
	c->active = malloc(n * sizeof(*c->active));
	c->before = malloc(n * sizeof(*c->before));
	c->hash = malloc(size * sizeof(*c->hash));
	c->samples_now = calloc(n, sizeof(*c->samples_now));
	if (!slowdown_init(&c->slowdown, n) || !culprit_owners_init(&c->owners, n, size) ||
	    !culprit_waits_init(&c->waits, 2 * size) || !culprit_incidents_init(&c->incidents) ||
	    !culprit_minute_init(&c->minute) ||
	    !c->cells || !c->series || !c->order || !c->active || !c->before || !c->hash ||
	    !c->samples_now) {
		cmt_culprit_free(c);
		return -ENOMEM;
	}
	memset(c->order, 0xff, n * sizeof(*c->order));
	memset(c->hash, 0xff, size * sizeof(*c->hash));
	c->opts = known;
	c->hash_mask = size - 1;
	c->grown = 1;
	c->unit = known.unit_bytes / 1024.0f;
	c->peak = (float)known.peak_bytes / 1024.0f / 1000.0f;
	c->free = CULPRIT_NOBODY;
	c->root = -1;
	while (n)
		link_free(c, --n);
	*culprit = c;
	return 0;
}

void cmt_culprit_free(struct cmt_culprit *culprit)
{
	if (!culprit)
		return;
	if (culprit->root >= 0)
		close(culprit->root);
	slowdown_free(&culprit->slowdown);
	culprit_owners_free(&culprit->owners);
	culprit_waits_free(&culprit->waits);
	culprit_incidents_free(&culprit->incidents);
	culprit_minute_free(&culprit->minute);
	free(culprit->cells);
	free(culprit->series);
	free(culprit->order);
	free(culprit->active);
	free(culprit->before);
	free(culprit->hash);
	free(culprit->samples_now);
	free(culprit);
}

static uint32_t *bucket(struct cmt_culprit *culprit, uint64_t id, uint32_t domain)
{
	uint64_t h = (id + domain) * 0x9e3779b97f4a7c15ULL;

	return &culprit->hash[(h >> 32) & culprit->hash_mask];
}

uint32_t culprit_find(struct cmt_culprit *culprit, uint64_t id, uint32_t domain)
{
	uint32_t i = *bucket(culprit, id, domain);

	while (i != CULPRIT_NOBODY && (culprit->cells[i].id != id ||
				       culprit->cells[i].domain != domain))
		i = culprit->cells[i].next;
	return i;
}

/* The baseline of a new owner is complete when that of the others is. */
static uint32_t add_cell(struct cmt_culprit *culprit, uint64_t id, uint32_t domain)
{
	uint32_t index = culprit->free, *head = bucket(culprit, id, domain);
	struct culprit_cell *cell;

	if (index == CULPRIT_NOBODY)
		return index;
	cell = &culprit->cells[index];
	culprit->free = cell->next;
	memset(cell, 0, offsetof(struct culprit_cell, series));
	cell->id = id;
	cell->domain = domain;
	cell->used = true;
	cell->seen = culprit->slot - 1;
	cell->next = *head;
	*head = index;
	culprit_cell_anew(cell, culprit->slot - culprit->base > CULPRIT_BLOCK,
			  culprit->slot);
	culprit->nr_owners++;
	if (index >= culprit->nr_used)
		culprit->nr_used = index + 1;
	if (domain >= culprit->nr_domains)
		culprit->nr_domains = domain + 1;
	return index;
}

/* Once for all cells that were removed, before a new owner has the index of one. */
static void forget_debts(struct cmt_culprit *culprit)
{
	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		struct culprit_cell *cell = &culprit->cells[i];

		for (uint32_t k = 0; cell->used && k < cell->nr_debts; k++) {
			if (!culprit->cells[cell->debts[k].cell].used)
				cell->debts[k--] = cell->debts[--cell->nr_debts];
		}
	}
}

static void remove_cell(struct cmt_culprit *culprit, uint32_t index)
{
	struct culprit_cell *cell = &culprit->cells[index];
	uint32_t *at = bucket(culprit, cell->id, cell->domain);

	while (*at != index)
		at = &culprit->cells[*at].next;
	*at = cell->next;
	link_free(culprit, index);
	culprit->nr_owners--;
}

/* The cell of sample @i, or CULPRIT_NOBODY: there is no room. */
static uint32_t cell_of(struct cmt_culprit *culprit,
			const struct cmt_culprit_sample *sample, uint32_t i)
{
	bool hint = i < culprit->opts.max_owners;
	uint32_t index = hint ? culprit->order[i] : CULPRIT_NOBODY;
	const struct culprit_cell *cell;

	if (index != CULPRIT_NOBODY) {
		cell = &culprit->cells[index];
		if (cell->used && cell->id == sample->id &&
		    cell->domain == sample->domain)
			return index;
	}
	index = culprit_find(culprit, sample->id, sample->domain);
	if (index == CULPRIT_NOBODY)
		index = add_cell(culprit, sample->id, sample->domain);
	if (hint)
		culprit->order[i] = index;
	return index;
}

/* Begin the next slot of a cell, without values. */
static void cell_turn(struct culprit_cell *cell, uint64_t slot)
{
	cell->has_occupancy = (uint16_t)(cell->has_occupancy << 1);
	cell->has_traffic = (uint16_t)(cell->has_traffic << 1);
	cell->has_counters = (uint16_t)(cell->has_counters << 1);
	culprit_blocks(cell, slot);
}

/*
 * Traffic of several slots is spread over those of them without a value: in the others
 * the owner was idle.
 */
static void spread_traffic(struct culprit_cell *cell, uint64_t slot, float kib,
			   uint32_t span)
{
	uint32_t n = 1, slots;

	while (n < span && n < CULPRIT_RECENT && !(cell->has_traffic >> n & 1))
		n++;
	slots = n == CULPRIT_RECENT ? span : n;
	kib /= (float)slots;
	for (uint32_t i = 0; i < n; i++) {
		cell->recent[(slot - i) % CULPRIT_RECENT].traffic = kib;
		cell->has_traffic |= (uint16_t)(1U << i);
	}
}

static void set_traffic(struct culprit_cell *cell, uint64_t slot, float kib)
{
	cell->recent[slot % CULPRIT_RECENT].traffic = kib;
	cell->has_traffic |= 1;
}

static void set_counters(struct culprit_cell *cell,
			 struct culprit_recent *recent,
			 const struct cmt_culprit_sample *sample)
{
	if ((sample->valid & COUNTED) != COUNTED || !sample->instructions)
		return;
	recent->cycles = culprit_float(sample->cycles);
	recent->instructions = culprit_float(sample->instructions);
	recent->misses = culprit_float(sample->misses);
	cell->has_counters |= 1;
}

static void set_values(struct culprit_cell *cell, uint64_t slot,
		       const struct cmt_culprit_sample *sample)
{
	struct culprit_recent *recent = &cell->recent[slot % CULPRIT_RECENT];
	bool idle = sample->valid & CMT_CULPRIT_IDLE;

	if (sample->valid & CMT_CULPRIT_OCCUPANCY)
		cell->occupancy = culprit_float(sample->occupancy_bytes) / 1024;
	if ((sample->valid & CMT_CULPRIT_OCCUPANCY || idle) &&
	    !isnan(cell->occupancy)) {
		recent->occupancy = cell->occupancy;
		cell->has_occupancy |= 1;
	}
	if (sample->valid & CMT_CULPRIT_TRAFFIC && sample->span > 1)
		spread_traffic(cell, slot,
			       culprit_float(sample->traffic_bytes) / 1024,
			       sample->span);
	else if (sample->valid & CMT_CULPRIT_TRAFFIC)
		set_traffic(cell, slot, culprit_float(sample->traffic_bytes) / 1024);
	else if (idle)
		set_traffic(cell, slot, 0);
	set_counters(cell, recent, sample);
}

/* Does the sample say that nothing happened? */
static bool is_still(const struct culprit_cell *cell,
		     const struct cmt_culprit_sample *sample)
{
	if (sample->valid & CMT_CULPRIT_IDLE)
		return !(sample->valid & ~CMT_CULPRIT_IDLE) &&
		       !isnan(cell->occupancy);
	return sample->valid & CMT_CULPRIT_OCCUPANCY &&
	       sample->valid & CMT_CULPRIT_TRAFFIC && !sample->traffic_bytes &&
	       !sample->instructions &&
	       culprit_float(sample->occupancy_bytes) / 1024 == cell->occupancy;
}

static void wake(struct culprit_cell *cell, uint64_t slot)
{
	culprit_blocks(cell, slot - 1);
	cell->onset = slot;
	cell->calm = false;
	cell->still = 0;
}

static void calm_down(struct culprit_cell *cell)
{
	cell->calm = true;
	cell->rate = 0;
	cell->excess = 0;
	cell->lost = 0;
	cell->refetched = 0;
	culprit_cell_acquit(cell);
}

static void set_active(struct cmt_culprit *culprit, uint32_t index)
{
	culprit->active[culprit->nr_active++] = index;
}

/* Take the values of a cell in this slot; @sample has no values of other cells. */
static void cell_take(struct cmt_culprit *culprit, uint32_t index,
		      const struct cmt_culprit_sample *sample)
{
	struct culprit_cell *cell = &culprit->cells[index];
	bool still = is_still(cell, sample);

	if (still && cell->calm)
		return;
	if (cell->calm)
		wake(cell, culprit->slot);
	cell_turn(cell, culprit->slot);
	set_values(cell, culprit->slot, sample);
	cell->still = still ? cell->still + 1 : 0;
	if (cell->still > CULPRIT_RECENT)
		calm_down(cell);
	else
		set_active(culprit, index);
}

static void take(struct cmt_culprit *culprit,
		 const struct cmt_culprit_sample *sample, uint32_t i)
{
	uint32_t index = cell_of(culprit, sample, i);
	struct culprit_cell *cell;

	if (index == CULPRIT_NOBODY) {
		culprit->not_followed++;
		return;
	}
	cell = &culprit->cells[index];
	if (cell->seen == culprit->slot)
		return;
	cell->seen = culprit->slot;
	cell->away = sample->flags & CMT_CULPRIT_NO_REST;
	cell->flags = sample->flags;
	culprit->nr_seen++;
	cell_take(culprit, index, sample);
}

/* Begin a slot without owners. */
static void next_slot(struct cmt_culprit *culprit)
{
	uint32_t *active = culprit->active;

	culprit->slot++;
	culprit->nr_seen = 0;
	culprit->active = culprit->before;
	culprit->before = active;
	culprit->nr_before = culprit->nr_active;
	culprit->nr_active = 0;
}

static void cell_unknown(struct cmt_culprit *culprit, uint32_t index)
{
	struct culprit_cell *cell = &culprit->cells[index];

	if (cell->calm)
		wake(cell, culprit->slot);
	cell->still = 0;
	cell_turn(cell, culprit->slot);
	set_active(culprit, index);
}

/* Cells without a value in this slot.  @all: the slot was to have all cells. */
static void pass_over(struct cmt_culprit *culprit, bool all)
{
	uint32_t nr_owners = culprit->nr_owners;

	if (culprit->nr_seen == nr_owners)
		return;
	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		struct culprit_cell *cell = &culprit->cells[i];

		if (!cell->used || cell->seen == culprit->slot)
			continue;
		if (all && !cell->away)
			cell->seen = culprit->slot - 1;
		cell->away |= all;
		if (cell->away && culprit->slot - cell->seen > CULPRIT_FORGET)
			remove_cell(culprit, i);
		else
			cell_unknown(culprit, i);
	}
	if (culprit->nr_owners != nr_owners)
		forget_debts(culprit);
}

/* Cells without a value in this slot were idle; calm ones do not change. */
static void rest_idle(struct cmt_culprit *culprit)
{
	static const struct cmt_culprit_sample idle = {
		.valid = CMT_CULPRIT_IDLE,
	};

	for (uint32_t i = 0; i < culprit->nr_before; i++) {
		uint32_t index = culprit->before[i];
		const struct culprit_cell *cell = &culprit->cells[index];

		if (!cell->used || cell->seen == culprit->slot)
			continue;
		if (cell->away)
			cell_unknown(culprit, index);
		else
			cell_take(culprit, index, &idle);
	}
}

static void take_rest(struct cmt_culprit *culprit, uint32_t flags)
{
	if ((flags & SLOT_FLAGS) == SLOT_FLAGS)
		rest_idle(culprit);
	else
		pass_over(culprit, !(flags & CMT_CULPRIT_SLOT_PART));
}

/* The cells are too many for the first cache. */
static void fetch_ahead(const struct cmt_culprit *culprit, uint32_t i)
{
	uint32_t index = i < culprit->opts.max_owners ? culprit->order[i] :
							CULPRIT_NOBODY;
	const struct culprit_cell *cell;

	if (index == CULPRIT_NOBODY)
		return;
	cell = &culprit->cells[index];
	__builtin_prefetch(cell);
	__builtin_prefetch(&cell->recent[culprit->slot % CULPRIT_RECENT]);
}

static void begin_anew(struct cmt_culprit *culprit)
{
	culprit->base = culprit->slot;
	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		if (!culprit->cells[i].used)
			continue;
		culprit_cell_anew(&culprit->cells[i], false, culprit->slot);
		set_active(culprit, i);
	}
}

/* Slots that were left out have no values of any owner. */
static void leave_out(struct cmt_culprit *culprit, uint64_t slots)
{
	culprit->missing += slots;
	if (slots > CULPRIT_GAP) {
		culprit_minute_skip(&culprit->minute, slots * culprit->opts.slot_ns);
		next_slot(culprit);
		begin_anew(culprit);
		return;
	}
	culprit_decay(culprit, slots);
	while (slots--) {
		next_slot(culprit);
		pass_over(culprit, false);
	}
}

static bool sample_possible(const struct cmt_culprit_sample *sample)
{
	return !(sample->valid & ~VALID_KNOWN) &&
	       !(sample->flags & ~SAMPLE_FLAGS) &&
	       sample->domain < CMT_DOMAINS_MAX &&
	       sample->occupancy_bytes < CULPRIT_BYTES_MAX &&
	       sample->traffic_bytes < CULPRIT_BYTES_MAX &&
	       sample->cycles < CULPRIT_BYTES_MAX &&
	       sample->instructions < CULPRIT_BYTES_MAX && sample->misses < CULPRIT_BYTES_MAX &&
	       sample->references < CULPRIT_BYTES_MAX && sample->ran_ns < CULPRIT_BYTES_MAX;
}

static bool samples_possible(const struct cmt_culprit_slot *slot)
{
	if (!slot->nr_samples)
		return true;
	if (!slot->samples || slot->sample_size % sizeof(uint64_t) ||
	    slot->sample_size < sizeof(struct cmt_culprit_sample))
		return false;
	for (uint32_t i = 0; i < slot->nr_samples; i++) {
		if (!sample_possible(culprit_sample_at(slot, i)))
			return false;
	}
	return true;
}

bool culprit_comes_next(const struct cmt_culprit *culprit, uint64_t start_ns)
{
	uint64_t past = start_ns - culprit->start_ns;

	return !culprit->slot || (cmt_ts_before(culprit->start_ns, start_ns) &&
				  past % culprit->opts.slot_ns == 0);
}

static bool slot_possible(const struct cmt_culprit *culprit,
			  const struct cmt_culprit_slot *slot)
{
	if (!culprit_comes_next(culprit, slot->start_ns))
		return false;
	return !(slot->flags & ~SLOT_FLAGS) && !slot->reserved &&
	       slot->flags != CMT_CULPRIT_SLOT_IDLE && samples_possible(slot);
}

/*
 * Before the first reading owners have no cells, and none ever where nothing is read.  Their
 * past begins with it.
 */
static bool reads(struct cmt_culprit *culprit, const struct cmt_culprit_slot *slot)
{
	for (uint32_t i = 0; !culprit->reads && i < slot->nr_samples; i++) {
		if (!(culprit_sample_at(slot, i)->valid & CMT_CULPRIT_OCCUPANCY))
			continue;
		culprit->reads = true;
		culprit->base = culprit->slot;
	}
	return culprit->reads;
}

int cmt_culprit_add(struct cmt_culprit *culprit,
		    const struct cmt_culprit_slot *from)
{
	struct cmt_culprit_slot known, *slot = &known;
	uint64_t past = 1;

	if (cmt_opts_copy(slot, sizeof(*slot), from) ||
	    !slot_possible(culprit, slot))
		return -EINVAL;
	if (culprit->slot) {
		past = (slot->start_ns - culprit->start_ns) /
		       culprit->opts.slot_ns;
		if (past > 1)
			leave_out(culprit, past - 1);
	}
	next_slot(culprit);
	if (culprit->slot == 1) {
		culprit->first_ns = slot->start_ns;
		begin_anew(culprit);
	}
	culprit->start_ns = slot->start_ns;
	culprit_sum_up(culprit, slot, past);
	for (uint32_t i = 0; reads(culprit, slot) && i < slot->nr_samples; i++) {
		fetch_ahead(culprit, i + AHEAD);
		take(culprit, culprit_sample_at(slot, i), i);
	}
	culprit->slots++;
	culprit->samples += slot->nr_samples;
	take_rest(culprit, slot->flags);
	culprit_flows(culprit);
	culprit_judge(culprit);
	culprit_incidents_update(culprit);
	return (int)culprit->queue_nr;
}

int cmt_culprit_counts(const struct cmt_culprit *culprit,
		       struct cmt_culprit_counts *counts)
{
	struct cmt_culprit_counts now = {
		.slots = culprit->slots,
		.samples = culprit->samples,
		.verdicts = culprit->verdicts,
		.missing = culprit->missing,
		.not_followed = culprit->not_followed,
		.verdicts_dropped = culprit->verdicts_dropped,
		.owners = culprit->nr_owners,
		.counted = slowdown_counted(&culprit->slowdown),
		.referenced = slowdown_referenced(&culprit->slowdown),
	};

	for (uint32_t i = 0; i < culprit->nr_used; i++) {
		const struct culprit_cell *cell = &culprit->cells[i];

		/* the usual values of an owner that is only idle are clear */
		now.learning += cell->used && !cell->known && !cell->calm;
	}
	return cmt_out_copy(counts, &now, sizeof(now));
}
