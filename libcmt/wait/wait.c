// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/*
 * Pairs of an interval.  A stream that makes up owners gets no more memory: what goes beyond
 * is shared out among WAIT_UNKNOWN, one pair for each victim.
 */
#define PARTS_MAX	(1U << 18)
#define INDEX_MIN	64U
#define PARTIES_MIN	64U

int wait_init(struct wait_sums *sums, uint32_t nr_cpus)
{
	sums->nr_cpus = nr_cpus;
	sums->first = malloc(nr_cpus * sizeof(*sums->first));
	sums->cpus = malloc(nr_cpus * sizeof(*sums->cpus));
	if (!sums->first || !sums->cpus)
		return -ENOMEM;
	memset(sums->first, 0xff, nr_cpus * sizeof(*sums->first));
	return 0;
}

void wait_free(struct wait_sums *sums)
{
	free(sums->first);
	free(sums->cpus);
	free(sums->entries);
	free(sums->entry_of);
	free(sums->parts);
	free(sums->index);
}

static int party_room(struct wait_sums *sums, uint32_t party)
{
	uint32_t had = sums->room_parties;

	if (party < had)
		return 0;
	if (cmt_array_reserve(&sums->entry_of, &sums->room_parties, 2 * party + PARTIES_MIN,
			      sizeof(*sums->entry_of)))
		return -ENOMEM;
	memset(sums->entry_of + had, 0xff,
	       (sums->room_parties - had) * sizeof(*sums->entry_of));
	return 0;
}

int wait_add(struct wait_sums *sums, uint32_t cpu, uint32_t party, uint64_t ran_ns,
	     uint64_t waited_ns, bool idles)
{
	struct wait_entry *entry;

	if (party_room(sums, party) ||
	    cmt_grow(&sums->entries, sums->nr_entries, &sums->room_entries, sizeof(*entry)))
		return -ENOMEM;
	if (sums->first[cpu] == WAIT_UNKNOWN)
		sums->cpus[sums->nr_used++] = cpu;
	entry = &sums->entries[sums->nr_entries];
	*entry = (struct wait_entry){
		.party = party, .next = sums->first[cpu], .idles = idles,
		.ran_ns = ran_ns, .waited_ns = waited_ns,
	};
	sums->first[cpu] = sums->nr_entries++;
	return 0;
}

static uint32_t hash(uint32_t victim, uint32_t by)
{
	uint64_t h = ((uint64_t)victim << 32 | by) * 0x9e3779b97f4a7c15ULL;

	return (uint32_t)(h >> 32);
}

/* The place of a pair in the index: its own, or a free one. */
static uint32_t *find(const struct wait_sums *sums, uint32_t victim, uint32_t by)
{
	uint32_t i = hash(victim, by) & sums->mask;

	while (sums->index[i] != WAIT_UNKNOWN) {
		const struct wait_part *part = &sums->parts[sums->index[i]];

		if (part->victim == victim && part->by == by)
			break;
		i = (i + 1) & sums->mask;
	}
	return &sums->index[i];
}

static void index_clear(struct wait_sums *sums)
{
	memset(sums->index, 0xff, ((size_t)sums->mask + 1) * sizeof(*sums->index));
}

/* Keep half of the index free. */
static int index_grow(struct wait_sums *sums)
{
	size_t places = sums->mask ? 2 * ((size_t)sums->mask + 1) : INDEX_MIN;
	uint32_t *index;

	if (sums->mask && 2 * (size_t)sums->nr_parts <= sums->mask)
		return 0;
	index = reallocarray(sums->index, places, sizeof(*index));
	if (!index)
		return -ENOMEM;
	sums->index = index;
	sums->mask = (uint32_t)places - 1;
	index_clear(sums);
	for (uint32_t i = 0; i < sums->nr_parts; i++)
		*find(sums, sums->parts[i].victim, sums->parts[i].by) = i;
	return 0;
}

static int part_add(struct wait_sums *sums, uint32_t victim, uint32_t by, uint64_t ns)
{
	uint32_t *at;

	if (index_grow(sums))
		return -ENOMEM;
	at = find(sums, victim, by);
	if (*at == WAIT_UNKNOWN && sums->nr_parts >= PARTS_MAX)
		at = find(sums, victim, by = WAIT_UNKNOWN);
	if (*at == WAIT_UNKNOWN) {
		if (cmt_grow(&sums->parts, sums->nr_parts, &sums->room_parts,
			     sizeof(*sums->parts)))
			return -ENOMEM;
		sums->parts[sums->nr_parts] = (struct wait_part){
			.victim = victim, .by = by,
		};
		*at = sums->nr_parts++;
	}
	sums->parts[*at].ns += ns;
	return 0;
}

/* What ran on a CPU in the slot. */
struct ran {
	uint64_t owners_ns;
	uint64_t idles_ns;
	uint64_t longest_ns;	/* the longest wait of one owner */
};

static struct ran ran_on(const struct wait_sums *sums, uint32_t cpu)
{
	struct ran ran = { 0 };

	for (uint32_t i = sums->first[cpu]; i != WAIT_UNKNOWN; i = sums->entries[i].next) {
		const struct wait_entry *entry = &sums->entries[i];

		*(entry->idles ? &ran.idles_ns : &ran.owners_ns) += entry->ran_ns;
		if (entry->waited_ns > ran.longest_ns)
			ran.longest_ns = entry->waited_ns;
	}
	return ran;
}

/*
 * While a task waits, its CPU is not idle.  So time that has idle time counts as far as the
 * others' does not explain the longest wait.
 */
static uint64_t busy_idles_ns(const struct ran *ran)
{
	uint64_t rest;

	if (ran->longest_ns <= ran->owners_ns)
		return 0;
	rest = ran->longest_ns - ran->owners_ns;
	return rest < ran->idles_ns ? rest : ran->idles_ns;
}

/* @a * @b / @of, where @a is at most @of: no more than @b. */
static uint64_t share(uint64_t a, uint64_t b, uint64_t of)
{
	uint64_t ns = (uint64_t)((double)b * ((double)a / (double)of));

	return a == of || ns > b ? b : ns;
}

/* Time of an entry in which its CPU was not idle; @busy_ns: of all that idle. */
static uint64_t busy_of(const struct wait_entry *entry, const struct ran *ran, uint64_t busy_ns)
{
	return entry->idles ? share(entry->ran_ns, busy_ns, ran->idles_ns) : entry->ran_ns;
}

/*
 * The part of a wait in which others ran.  While they did, all of the owner's tasks waited,
 * and while one of its own ran, one less: with n tasks, waited = n * others + (n - 1) * own.
 */
static uint64_t for_others(uint64_t waited_ns, uint64_t others_ns, uint64_t own_ns)
{
	double tasks;

	if (!own_ns || waited_ns <= others_ns)
		return waited_ns;
	tasks = ((double)waited_ns + (double)own_ns) / ((double)others_ns + (double)own_ns);
	return (uint64_t)(tasks * (double)others_ns);
}

/* Share out the wait of one entry. */
static int share_out(struct wait_sums *sums, uint32_t cpu, const struct wait_entry *of,
		     const struct ran *ran)
{
	uint64_t busy_ns = busy_idles_ns(ran), own_ns = busy_of(of, ran, busy_ns);
	uint64_t others_ns = ran->owners_ns + busy_ns - own_ns;
	uint64_t shared_ns = 0, sum_ns = 0, to_others_ns, ns;
	int err = 0;

	if (!own_ns && !others_ns)
		return part_add(sums, of->party, WAIT_UNKNOWN, of->waited_ns);
	to_others_ns = others_ns ? for_others(of->waited_ns, others_ns, own_ns) : 0;
	for (uint32_t i = sums->first[cpu]; !err && i != WAIT_UNKNOWN;
	     i = sums->entries[i].next) {
		const struct wait_entry *by = &sums->entries[i];

		if (by == of)
			continue;
		sum_ns += busy_of(by, ran, busy_ns);
		ns = share(sum_ns, to_others_ns, others_ns) - shared_ns;
		shared_ns += ns;
		if (ns)
			err = part_add(sums, of->party, by->party, ns);
	}
	ns = of->waited_ns - shared_ns;
	return err || !ns ? err : part_add(sums, of->party, own_ns ? of->party : WAIT_UNKNOWN, ns);
}

/* A slot of several ticks has several entries of a party: they become one, in linear time. */
static void merge(struct wait_sums *sums, uint32_t cpu)
{
	uint32_t *link = &sums->first[cpu];

	while (*link != WAIT_UNKNOWN) {
		struct wait_entry *entry = &sums->entries[*link];
		uint32_t *one = &sums->entry_of[entry->party];

		if (*one == WAIT_UNKNOWN) {
			*one = *link;
			link = &entry->next;
		} else {
			sums->entries[*one].ran_ns += entry->ran_ns;
			sums->entries[*one].waited_ns += entry->waited_ns;
			*link = entry->next;
		}
	}
}

static int cpu_end(struct wait_sums *sums, uint32_t cpu)
{
	struct ran ran;
	int err = 0;

	merge(sums, cpu);
	ran = ran_on(sums, cpu);
	for (uint32_t i = sums->first[cpu]; i != WAIT_UNKNOWN; i = sums->entries[i].next) {
		const struct wait_entry *entry = &sums->entries[i];

		sums->entry_of[entry->party] = WAIT_UNKNOWN;
		if (!err && entry->waited_ns)
			err = share_out(sums, cpu, entry, &ran);
	}
	sums->first[cpu] = WAIT_UNKNOWN;
	return err;
}

int wait_slot_end(struct wait_sums *sums)
{
	int err = 0, ret;

	for (uint32_t i = 0; i < sums->nr_used; i++) {
		ret = cpu_end(sums, sums->cpus[i]);
		err = err ? err : ret;
	}
	sums->nr_used = 0;
	sums->nr_entries = 0;
	return err;
}

void wait_reset(struct wait_sums *sums)
{
	sums->nr_parts = 0;
	if (sums->mask)
		index_clear(sums);
}
