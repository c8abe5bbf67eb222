// SPDX-License-Identifier: LGPL-2.1-or-later
#include "owners.h"

#include <errno.h>
#include <stdlib.h>

#include "record/record.h"

#define WORDS	(sizeof(struct cmt_record) / sizeof(uint32_t))

int rec_owners_init(struct rec_owners *owners, uint32_t nr_rmids)
{
	*owners = (struct rec_owners){ .nr_rmids = nr_rmids };
	owners->all = calloc(nr_rmids, sizeof(*owners->all));
	return owners->all ? 0 : -ENOMEM;
}

void rec_owners_free(struct rec_owners *owners)
{
	free(owners->all);
	owners->all = NULL;
}

static void owner_end(struct rec_owners *owners, struct cmt_record *was,
		      uint32_t generation)
{
	if (was->type && was->generation == generation) {
		was->type = 0;
		owners->nr--;
	}
}

/* An UPDATE changes the name of an owner; the begin and the residue stay. */
static void owner_set(struct rec_owners *owners, struct cmt_record *was,
		      const struct cmt_record *record)
{
	struct cmt_record now = *record;

	if (record->type == CMT_REC_UPDATE && was->type &&
	    was->generation == record->generation) {
		now.ts = was->ts;
		now.domain = was->domain;
		now.flags = (now.flags & ~CMT_F_RESIDUAL) |
			    (was->flags & CMT_F_RESIDUAL);
		now.owner.residual_bytes = was->owner.residual_bytes;
	}
	now.type = CMT_REC_EXISTING;
	owners->nr += !was->type;
	*was = now;
}

void rec_owners_record(struct rec_owners *owners, const struct cmt_record *record)
{
	struct cmt_record *was;

	if (!cmt_record_is_lifecycle(record) || !record->rmid ||
	    record->rmid >= owners->nr_rmids)
		return;
	was = &owners->all[record->rmid];
	if (record->type == CMT_REC_EXISTING) {
		if (!was->type)
			owner_set(owners, was, record);
		return;
	}
	if (owners->known && !cmt_ts_before(owners->as_of, record->ts))
		return;
	owners->as_of = record->ts;
	owners->known = true;
	if (record->type == CMT_REC_FREE)
		owner_end(owners, was, record->generation);
	else
		owner_set(owners, was, record);
}

void rec_owners_sync(struct rec_owners *owners, const struct cmt_snapshot *snapshot)
{
	memset(owners->all, 0, owners->nr_rmids * sizeof(*owners->all));
	owners->nr = 0;
	for (uint32_t i = 0; i < snapshot->count; i++) {
		const struct cmt_record *record = cmt_snapshot_at(snapshot, i);

		if (record->rmid && record->rmid < owners->nr_rmids)
			owner_set(owners, &owners->all[record->rmid], record);
	}
	owners->as_of = snapshot->as_of;
	owners->known = true;
}

/* Word by word of all records: similar words are adjacent, and compress well. */
static void put_words(const struct cmt_record *const *records, uint32_t n,
		      struct rec_buffer *out)
{
	uint32_t word;

	for (size_t w = 0; w < WORDS; w++) {
		for (uint32_t i = 0; i < n; i++) {
			memcpy(&word, (const char *)records[i] + w * sizeof(word),
			       sizeof(word));
			rec_put_u32(out, word);
		}
	}
}

static void put_records(uint64_t as_of, const struct cmt_record *const *records,
			uint32_t n, struct rec_buffer *out)
{
	rec_put_varint(out, n + 1ULL);
	rec_put_u64(out, as_of);
	put_words(records, n, out);
}

/* Pointers to the records to put: at most @n */
static const struct cmt_record **list_new(uint32_t n, struct rec_buffer *out)
{
	const struct cmt_record **list = malloc((n + 1ULL) * sizeof(*list));

	out->failed |= !list;
	return list;
}

void rec_owners_put(const struct rec_owners *owners, struct rec_buffer *out)
{
	const struct cmt_record **list;
	uint32_t n = 0;

	if (!owners->known && !owners->nr) {
		rec_put_varint(out, 0);
		return;
	}
	list = list_new(owners->nr, out);
	for (uint32_t i = 0; list && i < owners->nr_rmids; i++)
		if (owners->all[i].type)
			list[n++] = &owners->all[i];
	if (list)
		put_records(owners->as_of, list, n, out);
	free(list);
}

void rec_snapshot_put(const struct cmt_snapshot *snapshot, struct rec_buffer *out)
{
	const struct cmt_record **list;

	if (!snapshot) {
		rec_put_varint(out, 0);
		return;
	}
	list = list_new(snapshot->count, out);
	for (uint32_t i = 0; list && i < snapshot->count; i++)
		list[i] = cmt_snapshot_at(snapshot, i);
	if (list)
		put_records(snapshot->as_of, list, snapshot->count, out);
	free(list);
}

int rec_owners_get(struct rec_cursor *in, struct cmt_snapshot **snapshot)
{
	uint64_t n = rec_get_varint(in), as_of;
	struct cmt_record *records;
	const uint8_t *words;

	*snapshot = NULL;
	if (in->bad || !n)
		return in->bad ? -EBADMSG : 0;
	as_of = rec_get_u64(in);
	if (n - 1 > (size_t)(in->end - in->at) / sizeof(*records))
		return -EBADMSG;
	words = rec_get(in, (n - 1) * sizeof(*records));
	if (!words)
		return -EBADMSG;
	if (cmt_snapshot_new(snapshot, as_of, NULL, (uint32_t)(n - 1)))
		return -ENOMEM;
	for (size_t w = 0; w < WORDS; w++) {
		for (uint32_t i = 0; i < n - 1; i++, words += sizeof(uint32_t)) {
			uint32_t word;

			memcpy(&word, words, sizeof(word));
			word = le32toh(word);
			records = cmt_snapshot_at(*snapshot, i);
			memcpy((char *)records + w * sizeof(word), &word, sizeof(word));
		}
	}
	return 0;
}
