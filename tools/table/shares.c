// SPDX-License-Identifier: GPL-2.0-or-later
#include "shares.h"

#include <stdio.h>
#include <string.h>

#include "common/format.h"

#define NUMBERED	(1ULL << 62)
#define PROCESS_ID	(1ULL << 63)

#define SHARES_HEIGHT	16U	/* rows are more than a bar on a screen of less lines */
#define FULL_HEIGHT	24U	/* from here on each further bar takes as many lines */
#define BAR_HEIGHT	4U

unsigned int shares_room(unsigned int height)
{
	unsigned int room = height < SHARES_HEIGHT ? 0 : height < FULL_HEIGHT ? 1 :
			    1 + (height - FULL_HEIGHT) / BAR_HEIGHT;

	return room < SHARES_BARS ? room : SHARES_BARS;
}

/* What the row holds in the cache: 0 where that is not known. */
static double held_in(const struct cache *cache, const struct frame *frame,
		      const struct row *row)
{
	const struct measure *part = cache_part(cache, frame, row);

	return part && part->known && cache->bytes ? part->value : 0;
}

static double held(const struct shares *shares, const struct frame *frame,
		   const struct row *row)
{
	double sum = 0;

	for (uint32_t i = 0; i < shares->nr; i++)
		sum += held_in(shares->bars[i].cache, frame, row);
	return sum;
}

/* Its number in struct letters; 0 is no owner. */
static uint64_t owner_number(const struct row *row)
{
	if (row->pid)
		return PROCESS_ID | (uint64_t)row->generation << 32 | row->pid;
	return row->cgroup_id ? row->cgroup_id : NUMBERED | row->rmid;
}

/* The owners that hold most, most first */
struct most {
	uint32_t nr;
	uint64_t owners[SHARES_LETTERS];
	double held[SHARES_LETTERS];
};

static void add_most(struct most *most, uint64_t owner, double held)
{
	uint32_t at = most->nr;

	most->nr += most->nr < SHARES_LETTERS;
	for (; at && most->held[at - 1] < held; at--)
		if (at < SHARES_LETTERS) {
			most->held[at] = most->held[at - 1];
			most->owners[at] = most->owners[at - 1];
		}
	if (at < SHARES_LETTERS) {
		most->held[at] = held;
		most->owners[at] = owner;
	}
}

static void find_most(struct most *most, const struct shares *shares,
		      const struct frame *frame)
{
	*most = (struct most){ 0 };
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct row *row = &frame->rows[i];
		double bytes = row_is_remainder(row) ? 0 : held(shares, frame, row);

		if (bytes > 0)
			add_most(most, owner_number(row), bytes);
	}
}

static uint32_t find(const uint64_t *owners, uint32_t nr, uint64_t owner)
{
	uint32_t i = 0;

	while (i < nr && owners[i] != owner)
		i++;
	return i;
}

static void give_letters(struct letters *letters, const struct most *most)
{
	uint64_t *owners = letters->owners;
	uint32_t i, free;

	for (i = 0; i < SHARES_LETTERS; i++)
		if (find(most->owners, most->nr, owners[i]) == most->nr)
			owners[i] = 0;
	for (i = 0; i < most->nr; i++) {
		free = find(owners, SHARES_LETTERS, 0);
		if (find(owners, SHARES_LETTERS, most->owners[i]) == SHARES_LETTERS &&
		    free < SHARES_LETTERS)
			owners[free] = most->owners[i];
	}
}

static char letter_of(const struct letters *letters, const struct row *row)
{
	uint32_t i;

	if (row->kind == CMT_USAGE_OVERFLOW)
		return '*';
	if (row_is_remainder(row))
		return '?';
	i = find(letters->owners, SHARES_LETTERS, owner_number(row));
	return i < SHARES_LETTERS ? (char)('a' + i) : '+';
}

static uint32_t place_of(char letter)
{
	return letter >= 'a' ? (uint32_t)(letter - 'a') :
	       SHARES_LETTERS + (uint32_t)(strchr("+*?", letter) - "+*?");
}

static void name_share(struct share *share, const struct row *row)
{
	char label[CONTAINER_LABEL_LEN], escaped[4 * CONTAINER_LABEL_LEN];

	if (share->letter == '+')
		return;
	if (row->pid && row->comm[0])
		escape_text(escaped, sizeof(escaped), row->comm, ESCAPE_ASCII);
	else
		escape_text(escaped, sizeof(escaped),
			    label_name(container_label(label, row)), ESCAPE_ASCII);
	snprintf(share->name, sizeof(share->name), "%.*s", (int)sizeof(share->name) - 1,
		 escaped);
}

static void add_row(struct bar *bar, const struct letters *letters,
		    const struct frame *frame, const struct row *row)
{
	double bytes = held_in(bar->cache, frame, row);
	char letter = letter_of(letters, row);
	struct share *share = &bar->list[place_of(letter)];

	if (!(bytes > 0))
		return;
	share->letter = letter;
	share->part += bytes / (double)bar->cache->bytes;
	name_share(share, row);
}

/* How many caches have more of the row than the one with @number: a strict order. */
static uint32_t rank(const struct caches *caches, const struct frame *frame,
		     const struct row *row, uint32_t number)
{
	double mine = held_in(&caches->list[number], frame, row);
	uint32_t i, nr = 0;

	for (i = 1; i < caches->nr; i++) {
		double its = held_in(&caches->list[i], frame, row);

		nr += its > mine || (its >= mine && i < number);
	}
	return mine > 0 ? nr : UINT32_MAX;
}

static void choose_bars(struct shares *shares, const struct caches *caches,
			const struct frame *frame, const struct row *selected,
			unsigned int room)
{
	uint32_t i, domains = caches->nr - 1;

	for (i = 1; domains > 1 && i < caches->nr; i++)
		if (domains <= room ||
		    (selected && rank(caches, frame, selected, i) < room))
			shares->bars[shares->nr++].cache = &caches->list[i];
	if (!shares->nr)
		shares->bars[shares->nr++].cache = &caches->list[0];
}

void shares_set(struct shares *shares, struct letters *letters,
		const struct caches *caches, const struct frame *frame,
		const struct row *selected, unsigned int room)
{
	struct most most;
	uint32_t i, at;

	*shares = (struct shares){ .several = frame->nr_domains > 1 };
	if (!caches->nr)
		return;
	choose_bars(shares, caches, frame, selected, room);
	find_most(&most, shares, frame);
	give_letters(letters, &most);
	for (at = 0; at < shares->nr; at++)
		for (i = 0; i < frame->nr_rows; i++)
			add_row(&shares->bars[at], letters, frame, &frame->rows[i]);
	if (!room)
		shares->nr = 0;
}

void shares_mark(const struct shares *shares, const struct letters *letters,
		 const struct frame *frame)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		struct row *row = &frame->rows[i];

		row->letter = !row->child && held(shares, frame, row) > 0 ?
			      letter_of(letters, row) : '\0';
	}
}
