// SPDX-License-Identifier: GPL-2.0-or-later
#include "shares.h"

#include <stdio.h>
#include <string.h>

#include "format.h"

#define NUMBERED	(1ULL << 62)
#define PROCESS_ID	(1ULL << 63)

static bool holds(const struct row *row)
{
	return row->occupancy.known && row->occupancy.value > 0 && row->l3_bytes;
}

/* Its number in struct letters; 0 is no owner. */
static uint64_t owner_number(const struct row *row)
{
	if (row->pid)
		return PROCESS_ID | (uint64_t)row->generation << 32 | row->pid;
	return row->cgroup_id ? row->cgroup_id : NUMBERED | row->rmid;
}

/* The owners that hold most, most first.  Returns their number. */
static uint32_t find_most(const struct row *most[SHARES_LETTERS], struct frame *frame)
{
	uint32_t i, at, nr = 0;

	for (i = 0; i < frame->nr_rows; i++) {
		const struct row *row = &frame->rows[i];

		if (row_is_remainder(row) || !holds(row))
			continue;
		for (at = nr; at && most[at - 1]->occupancy.value < row->occupancy.value; at--)
			if (at < SHARES_LETTERS)
				most[at] = most[at - 1];
		if (at < SHARES_LETTERS)
			most[at] = row;
		nr += nr < SHARES_LETTERS;
	}
	return nr;
}

static uint32_t find_letter(const struct letters *letters, uint64_t owner)
{
	uint32_t i = 0;

	while (i < SHARES_LETTERS && letters->owners[i] != owner)
		i++;
	return i;
}

static void drop_letters(struct letters *letters, const struct row *const *most,
			 uint32_t nr)
{
	uint32_t i, at;

	for (i = 0; i < SHARES_LETTERS; i++) {
		for (at = 0; at < nr; at++)
			if (owner_number(most[at]) == letters->owners[i])
				break;
		if (at == nr)
			letters->owners[i] = 0;
	}
}

static void give_letters(struct letters *letters, struct frame *frame)
{
	const struct row *most[SHARES_LETTERS];
	uint32_t i, nr = find_most(most, frame);

	drop_letters(letters, most, nr);
	for (i = 0; i < nr; i++) {
		uint64_t owner = owner_number(most[i]);
		uint32_t free = find_letter(letters, 0);

		if (find_letter(letters, owner) == SHARES_LETTERS &&
		    free < SHARES_LETTERS)
			letters->owners[free] = owner;
	}
}

static char letter_of(const struct letters *letters, const struct row *row)
{
	uint32_t i;

	if (row->kind == CMT_USAGE_OVERFLOW)
		return '*';
	if (row_is_remainder(row))
		return '?';
	i = find_letter(letters, owner_number(row));
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

static void add_row(struct shares *shares, const struct letters *letters,
		    struct row *row)
{
	struct share *share;

	row->letter = '\0';
	if (!holds(row)) {
		shares->partial |= !row->occupancy.known &&
				   !(row->why & CMT_USAGE_WHY_PENDING);
		return;
	}
	row->letter = letter_of(letters, row);
	share = &shares->list[place_of(row->letter)];
	share->letter = row->letter;
	share->part += row->occupancy.value / (double)row->l3_bytes;
	shares->held += row->occupancy.value / (double)row->l3_bytes;
	shares->partial |= row->occupancy.partial;
	shares->known = true;
	name_share(share, row);
}

void shares_set(struct shares *shares, struct letters *letters, struct frame *frame)
{
	uint32_t i;

	*shares = (struct shares){
		.wanted = frame->by == VIEW_CONTAINER || frame->by == VIEW_PROCESS,
		.nr = SHARES_LETTERS + SHARES_SUMS,
	};
	if (!shares->wanted)
		return;
	give_letters(letters, frame);
	for (i = 0; i < frame->nr_rows; i++)
		add_row(shares, letters, &frame->rows[i]);
}
