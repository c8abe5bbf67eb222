// SPDX-License-Identifier: LGPL-2.1-or-later
/* Owners, the values of each slot, and the means of each owner. */
#include "slowdown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define NOBODY		UINT32_MAX
#define RATE_MOST	100	/* greatest possible cycles a nanosecond, and instructions a cycle */
#define SHORT_NS	10000	/* a measured CPU time may be too short by so much */
#define FORGET		(5ULL * SLOWDOWN_WINDOW)	/* slots without values before an owner is dropped */

bool slowdown_init(struct slowdown *slowdown, uint32_t room)
{
	uint32_t size = 16;

	while (size < 2 * room)
		size *= 2;
	slowdown->room = room;
	slowdown->free = NOBODY;
	slowdown->mask = size - 1;
	slowdown->hash = malloc(size * sizeof(*slowdown->hash));
	slowdown->owners = calloc(room, sizeof(*slowdown->owners));
	slowdown->now = malloc(room * sizeof(*slowdown->now));
	if (!slowdown->hash || !slowdown->owners || !slowdown->now)
		return false;
	memset(slowdown->hash, 0xff, size * sizeof(*slowdown->hash));
	return true;
}

void slowdown_free(struct slowdown *slowdown)
{
	free(slowdown->hash);
	free(slowdown->owners);
	free(slowdown->now);
}

static uint32_t *bucket(const struct slowdown *slowdown, uint64_t id, uint32_t domain)
{
	uint64_t h = (id + domain) * 0x9e3779b97f4a7c15ULL;

	return &slowdown->hash[(h >> 32) & slowdown->mask];
}

static void forget(struct slowdown *slowdown, uint32_t index)
{
	struct slowdown_owner *owner = &slowdown->owners[index];
	uint32_t *at = bucket(slowdown, owner->id, owner->domain);

	while (*at != index)
		at = &slowdown->owners[*at].next;
	*at = owner->next;
	owner->used = false;
	owner->next = slowdown->free;
	slowdown->free = index;
}

/* Drop owners without values, once in a window: a sweep visits all owners. */
static void sweep(struct slowdown *slowdown)
{
	if (slowdown->slot - slowdown->swept < SLOWDOWN_WINDOW)
		return;
	slowdown->swept = slowdown->slot;
	slowdown->counted = slowdown_counted(slowdown);
	slowdown->referenced = slowdown_referenced(slowdown);
	for (uint32_t i = 0; i < slowdown->nr; i++)
		if (slowdown->owners[i].used &&
		    slowdown->slot - slowdown->owners[i].slot > FORGET)
			forget(slowdown, i);
}

static uint32_t take_free(struct slowdown *slowdown)
{
	uint32_t index = slowdown->free;

	if (index != NOBODY)
		slowdown->free = slowdown->owners[index].next;
	else if (slowdown->nr < slowdown->room)
		index = slowdown->nr++;
	return index;
}

/*
 * Values that no processor reaches come from a counter that jumped, and would be in the means
 * for half a minute.  RATE_MOST is also above what the lab's model counts while it waits for
 * memory.
 */
static bool is_possible(const struct slowdown_values *values)
{
	return values->misses <= values->cycles &&
	       values->instructions <= RATE_MOST * values->cycles &&
	       (values->ran_ns <= 0 || values->cycles <= RATE_MOST * (values->ran_ns + SHORT_NS));
}

/* The owner that was added at this place in the slot before, if it is the one; mostly it is. */
static struct slowdown_owner *owner_hinted(struct slowdown *slowdown, uint64_t id,
					   uint32_t domain)
{
	uint32_t i = slowdown->nr_now < slowdown->nr_before ?
		     slowdown->now[slowdown->nr_now] : NOBODY;
	struct slowdown_owner *owner = i == NOBODY ? NULL : &slowdown->owners[i];

	return owner && owner->used && owner->id == id && owner->domain == domain ? owner : NULL;
}

/*
 * The first slot whose references count.  An owner that appears after the first second starts
 * now: it reads its files and clears its memory, and hits lines that it will not use again.
 */
static uint64_t start_end(const struct slowdown *slowdown)
{
	uint64_t watched = slowdown->slot - slowdown->begin;

	return slowdown->slot + (watched > SLOWDOWN_WINDOW ? SLOWDOWN_WINDOW : 0);
}

static struct slowdown_owner *find(const struct slowdown *slowdown, uint64_t id, uint32_t domain)
{
	for (uint32_t i = *bucket(slowdown, id, domain); i != NOBODY;) {
		struct slowdown_owner *owner = &slowdown->owners[i];

		if (owner->id == id && owner->domain == domain)
			return owner;
		i = owner->next;
	}
	return NULL;
}

static struct slowdown_owner *owner_of(struct slowdown *slowdown, uint64_t id,
				       uint32_t domain)
{
	uint32_t *head = bucket(slowdown, id, domain), i;
	struct slowdown_owner *owner = find(slowdown, id, domain);

	if (owner)
		return owner;
	i = take_free(slowdown);
	if (i == NOBODY)
		return NULL;
	owner = &slowdown->owners[i];
	*owner = (struct slowdown_owner){
		.id = id, .domain = domain, .next = *head, .used = true,
		.first = slowdown->slot, .start_end = start_end(slowdown), .slot = slowdown->slot,
	};
	for (uint32_t p = 0; p < SLOWDOWN_PHASES; p++)
		owner->phases[p].slots = slowdown->loads[domain].slots[p];
	*head = i;
	return owner;
}

/* The factor by which means fade in @slots */
static double kept_of(uint64_t slots)
{
	return slots == 1 ? 1 - 1.0 / SLOWDOWN_WINDOW :
			    slowdown_kept((double)slots / SLOWDOWN_WINDOW);
}

void slowdown_begin(struct slowdown *slowdown, uint64_t slots)
{
	if (!slowdown->slot) {
		slowdown->slot = slowdown->begin = 1;
		slowdown->weight = 1;
	}
	slowdown->slot += slots;
	slowdown_phases_begin(slowdown, kept_of(slots));
	slowdown->nr_before = slowdown->nr_now;
	slowdown->nr_now = 0;
	sweep(slowdown);
}

/* The references are known, and do not count: the owner starts. */
static void leave_out_references(struct slowdown_owner *owner)
{
	if (owner->now.counted && owner->now.references >= 0)
		owner->referenced = owner->seen;
	owner->now.references = -1;
}

void slowdown_add(struct slowdown *slowdown, uint64_t id, uint32_t domain, bool suspect_only,
		  const struct slowdown_values *values)
{
	struct slowdown_owner *owner = owner_hinted(slowdown, id, domain);

	if (!owner)
		owner = owner_of(slowdown, id, domain);
	if (!owner || owner->seen == slowdown->slot)
		return;
	owner->seen = slowdown->slot;
	owner->suspect_only = suspect_only;
	owner->now = *values;
	owner->now.counted = values->counted && is_possible(values);
	if (slowdown->slot < owner->start_end)
		leave_out_references(owner);
	slowdown->now[slowdown->nr_now++] = (uint32_t)(owner - slowdown->owners);
}

/*
 * Bring the means up to @slot: since owner->slot the owner was idle, and held what it held before.
 */
static void age(struct slowdown_owner *owner, uint64_t slot)
{
	double kept = kept_of(slot - owner->slot);
	struct slowdown_values *mean = &owner->mean;

	slowdown_fade(&mean->cycles, kept);
	slowdown_fade(&mean->instructions, kept);
	slowdown_fade(&mean->misses, kept);
	slowdown_fade(&owner->active, kept);
	if (owner->uncounted > 0 || owner->untimed > 0) {
		slowdown_fade(&owner->uncounted, kept);
		slowdown_fade(&owner->untimed, kept);
	}
	slowdown_fade(&mean->references, kept);
	slowdown_fade(&owner->unreferenced, kept);
	slowdown_fade(&mean->ran_ns, kept);
	slowdown_fade(&mean->occupancy_kib, kept);
	mean->occupancy_kib += owner->occupancy_kib * (1 - kept);
	if (owner->moments.n > 0)
		slowdown_moments_scale(&owner->moments, kept);
	slowdown_curve_scale(&owner->curve, kept);
	owner->slot = slot;
}

/*
 * Set the occupancy of the slot, which was read at its end.  Returns the KiB that the owner held
 * when the slot began: its hits in the slot depend on that.
 */
static double set_occupancy(struct slowdown_owner *owner)
{
	double before = owner->holds ? owner->occupancy_kib : owner->now.occupancy_kib;

	if (owner->now.occupancy_kib >= 0) {
		owner->occupancy_kib = owner->now.occupancy_kib;
		owner->holds = true;
	}
	return before;
}

/* @held: KiB when the slot began; 0: not known */
static void add_references(struct slowdown_owner *owner, double held)
{
	const struct slowdown_values *now = &owner->now;
	double w = 1.0 / SLOWDOWN_WINDOW, references;

	if (now->references < 0) {
		owner->unreferenced += w * now->misses;
		return;
	}
	owner->referenced = owner->slot;
	references = slowdown_references(now);
	owner->mean.references += w * references;
	slowdown_curve_add(&owner->curve, references, now->misses, held);
}

static void add_active(struct slowdown_owner *owner)
{
	double w = 1.0 / SLOWDOWN_WINDOW;

	if (owner->now.counted && owner->now.cycles <= 0)
		return;
	owner->active += w;
	if (!owner->now.counted)
		owner->uncounted += w;
	if (owner->now.ran_ns < 0)
		owner->untimed += w;
}

/* @t: the misses of the domain in this slot */
static void add_values(struct slowdown_owner *owner, uint64_t slot, double t)
{
	const struct slowdown_values *now = &owner->now;
	struct slowdown_values *mean = &owner->mean;
	double w = 1.0 / SLOWDOWN_WINDOW, held;

	age(owner, slot);
	held = set_occupancy(owner);
	add_active(owner);
	mean->ran_ns += now->ran_ns > 0 ? w * now->ran_ns : 0;
	if (!now->counted)
		return;
	owner->counted = slot;
	if (now->cycles > 0)
		owner->ran = slot;
	mean->cycles += w * now->cycles;
	mean->instructions += w * now->instructions;
	mean->misses += w * now->misses;
	slowdown_moments_add(&owner->moments, now, t);
	add_references(owner, owner->holds ? held : 0);
}

/* The domains in a slot */
struct domains {
	uint64_t used;		/* a bit for each domain that has values */
	double misses[CMT_DOMAINS_MAX];
	uint32_t phase[CMT_DOMAINS_MAX];
};

static void sum_domains(struct slowdown *slowdown, struct domains *domains)
{
	for (uint32_t i = 0; i < slowdown->nr_now; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[slowdown->now[i]];

		domains->used |= 1ULL << owner->domain;
		if (owner->now.counted)
			domains->misses[owner->domain] += owner->now.misses;
	}
	for (uint64_t left = domains->used; left; left &= left - 1) {
		uint32_t d = (uint32_t)__builtin_ctzll(left);

		domains->phase[d] = slowdown_phases_slot(slowdown, d, domains->misses[d]);
	}
}

void slowdown_end(struct slowdown *slowdown)
{
	struct domains domains = { 0 };

	sum_domains(slowdown, &domains);
	for (uint32_t i = 0; i < slowdown->nr_now; i++) {
		struct slowdown_owner *owner = &slowdown->owners[slowdown->now[i]];

		slowdown_phases_add(slowdown, owner, domains.phase[owner->domain]);
		add_values(owner, slowdown->slot, domains.misses[owner->domain]);
	}
	slowdown_outside(slowdown);
}

double slowdown_scale(const struct slowdown *slowdown, const struct slowdown_owner *owner)
{
	double old = (double)(slowdown->slot - owner->slot) / SLOWDOWN_WINDOW;
	double all = (double)(slowdown->slot - slowdown->begin) / SLOWDOWN_WINDOW;

	return slowdown_kept(old) / (1 - slowdown_kept(all));
}

double slowdown_ran_ns(const struct slowdown_owner *owner)
{
	double timed = owner->active - owner->untimed;

	if (owner->untimed <= 0)
		return owner->mean.ran_ns;
	if (timed < SLOWDOWN_KNOWN_LEAST * owner->active)
		return -1;
	return owner->mean.ran_ns * owner->active / timed;
}

bool slowdown_is_lately(const struct slowdown *slowdown, uint64_t slot)
{
	return slot && slowdown->slot - slot <= FORGET;
}

static bool has_values(const struct slowdown *slowdown, const struct slowdown_owner *owner)
{
	return slowdown_is_lately(slowdown, owner->slot);
}

static bool is_counted(const struct slowdown *slowdown, const struct slowdown_owner *owner)
{
	return slowdown_is_lately(slowdown, owner->counted);
}

static bool is_referenced(const struct slowdown *slowdown, const struct slowdown_owner *owner)
{
	return slowdown_is_lately(slowdown, owner->referenced) &&
	       slowdown_references_scale(owner) > 0;
}

typedef bool is_fn(const struct slowdown *slowdown, const struct slowdown_owner *owner);

/* Is the owner so in a domain with a lower number, too? */
static bool is_before(const struct slowdown *slowdown, const struct slowdown_owner *owner,
		      is_fn *is)
{
	for (uint32_t d = 0; d < owner->domain; d++) {
		const struct slowdown_owner *other = find(slowdown, owner->id, d);

		if (other && is(slowdown, other))
			return true;
	}
	return false;
}

/* The owners, of those that are @suspect_only or of the others, that are so in some domain */
static uint32_t count(const struct slowdown *slowdown, bool suspect_only, is_fn *is)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];

		n += owner->used && owner->suspect_only == suspect_only && is(slowdown, owner) &&
		     !is_before(slowdown, owner, is);
	}
	return n;
}

/* @last: the number at the last sweep that found one */
static uint32_t count_lately(const struct slowdown *slowdown, is_fn *is, uint32_t last)
{
	if (count(slowdown, false, has_values))
		return count(slowdown, false, is);
	return count(slowdown, true, has_values) ? count(slowdown, true, is) : last;
}

uint32_t slowdown_counted(const struct slowdown *slowdown)
{
	return count_lately(slowdown, is_counted, slowdown->counted);
}

uint32_t slowdown_referenced(const struct slowdown *slowdown)
{
	return count_lately(slowdown, is_referenced, slowdown->referenced);
}

uint64_t slowdown_before_first(const struct slowdown *slowdown, uint64_t id)
{
	uint64_t first = slowdown->slot;

	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];

		if (owner->used && owner->id == id && owner->first < first)
			first = owner->first;
	}
	return first - slowdown->begin;
}

struct slowdown_known slowdown_known(const struct slowdown *slowdown, uint64_t id)
{
	struct slowdown_known known = { 0, 0 };

	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];
		uint64_t domain = 1ULL << owner->domain;

		if (!owner->used || owner->id != id ||
		    !slowdown_is_enough(owner->mean.cycles * slowdown_scale(slowdown, owner)))
			continue;
		known.counted |= domain;
		known.referenced |= is_referenced(slowdown, owner) ? domain : 0;
	}
	return known;
}

/* Are the cycles too few for an estimate, and would not be if all slots had counters? */
static bool is_counted_too_little(const struct slowdown *slowdown,
				  const struct slowdown_owner *owner)
{
	double counted = owner->active - owner->uncounted;
	double cycles = owner->mean.cycles * slowdown_scale(slowdown, owner);

	return counted > 0 && !slowdown_is_enough(cycles) &&
	       slowdown_is_enough(cycles * owner->active / counted);
}

static bool has_stopped(const struct slowdown *slowdown, const struct slowdown_owner *owner,
			const struct slowdown_known *before)
{
	if (before->counted >> owner->domain & 1 && is_counted_too_little(slowdown, owner))
		return true;
	return before->referenced >> owner->domain & 1 && slowdown_references_scale(owner) <= 0;
}

bool slowdown_has_stopped(const struct slowdown *slowdown, uint64_t id,
			  const struct slowdown_known *before)
{
	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];

		if (owner->used && owner->id == id &&
		    slowdown->slot - owner->seen < SLOWDOWN_WINDOW / 4 &&
		    has_stopped(slowdown, owner, before))
			return true;
	}
	return false;
}

double slowdown_held_kib(const struct slowdown *slowdown, uint64_t id, uint32_t domain)
{
	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];

		if (owner->used && owner->id == id && owner->domain == domain)
			return owner->holds ? owner->occupancy_kib : 0;
	}
	return 0;
}

void slowdown_pace(const struct slowdown *slowdown, uint64_t id, double *cpi, double *mpki)
{
	const struct slowdown_values *mean = NULL;
	double most = 0;

	for (uint32_t i = 0; i < slowdown->nr; i++) {
		const struct slowdown_owner *owner = &slowdown->owners[i];
		double now;

		if (!owner->used || owner->id != id)
			continue;
		now = owner->mean.instructions * slowdown_scale(slowdown, owner);
		if (now > most) {
			most = now;
			mean = &owner->mean;
		}
	}
	*cpi = mean ? mean->cycles / mean->instructions : NAN;
	*mpki = mean ? 1000 * mean->misses / mean->instructions : NAN;
}
