// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From chunk to chunk.  A damaged header hides the end of its chunk: then the next
 * chunk is searched byte by byte.  Where a header is intact and its payload is not, the
 * chunk ends where the header says, if another chunk begins there.
 */
#include "reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first part that is not before the damage of the item. */
static uint32_t part_at(const struct cmt_recording *r)
{
	uint32_t from = 0, to = r->nr_parts;

	while (from < to) {
		uint32_t at = from + (to - from) / 2;
		const struct recording_part *part = &r->parts[at];

		if (part->offset < r->item.offset ||
		    (part->offset == r->item.offset && part->why < r->item.damage))
			from = at + 1;
		else
			to = at;
	}
	return from;
}

/* Without memory for it a part counts again when it is read again. */
static struct recording_part *part_insert(struct cmt_recording *r, uint32_t at)
{
	struct recording_part *part;

	if (cmt_grow(&r->parts, r->nr_parts, &r->parts_room, sizeof(*part)))
		return NULL;
	part = &r->parts[at];
	memmove(part + 1, part, (r->nr_parts++ - at) * sizeof(*part));
	*part = (struct recording_part){
		.offset = r->item.offset, .why = r->item.damage,
	};
	return part;
}

void recording_count(struct cmt_recording *r)
{
	uint32_t at = part_at(r);
	struct recording_part *part = at < r->nr_parts ? &r->parts[at] : NULL;
	uint64_t before;

	if (!part || part->offset != r->item.offset || part->why != r->item.damage) {
		part = part_insert(r, at);
		r->damaged++;
		r->damaged_bytes += r->item.bytes;
	}
	/* how many chunks a part was is not known right after a seek */
	before = part ? part->chunks : 0;
	if (r->item.chunks <= before)
		return;
	r->missing += r->item.chunks - before;
	if (part)
		part->chunks = r->item.chunks;
}

static struct cmt_recording_item *damage(struct cmt_recording *r, uint32_t why,
					 uint64_t bytes)
{
	r->item = (struct cmt_recording_item){
		.type = CMT_RECORDING_DAMAGE, .damage = why, .from_ns = r->last_ns,
		.to_ns = UINT64_MAX, .offset = r->pos, .bytes = bytes,
	};
	r->sync = true;
	return &r->item;
}

/* Another chunk follows the damage: its end, and the number of missing chunks */
static void damage_until(struct cmt_recording *r, const struct rec_header *next)
{
	if (next->run != r->run)
		return;
	if (rec_has_times(next))
		r->item.to_ns = next->first_ns;
	if (r->sequence && next->sequence > r->sequence) {
		r->item.chunks = next->sequence - r->sequence;
		r->sequence = next->sequence;
	}
}

/* Bytes that are no header.  Returns as recording_chunk(). */
static int no_header(struct cmt_recording *r)
{
	struct rec_header next;
	uint64_t at = r->pos + 1;
	int ret;

	if (rec_file_cut_header(&r->file, r->pos)) {
		r->cut_at = r->pos;
		r->cut_size = r->file.size;
		damage(r, CMT_DAMAGE_CUT, r->file.size - r->pos);
		return 2;
	}
	ret = rec_file_find(&r->file, &at, REC_ANYWHERE, &next);
	if (ret < 0)
		return ret;
	if (!ret)
		at = r->file.size;
	damage(r, CMT_DAMAGE_HEADER, at - r->pos);
	if (ret)
		damage_until(r, &next);
	r->pos = at;
	return 2;
}

static void note_missing(struct cmt_recording *r, struct cmt_recording_item *item)
{
	item->from_ns = r->header.first_ns ? r->header.first_ns : item->from_ns;
	item->to_ns = r->header.last_ns ? r->header.last_ns : item->to_ns;
	item->sequence = r->header.sequence;
	item->missing_records = r->header.records;
	item->chunks = 1;
	if (r->header.sequence)
		r->sequence = r->header.sequence + 1;
	recording_note_time(r);
}

/* The payload is not in the file, or not all of it. */
static int cut_payload(struct cmt_recording *r)
{
	uint64_t at = r->pos + r->header.bytes;
	struct rec_header next;
	int ret = rec_file_find(&r->file, &at, REC_ANYWHERE, &next);

	if (ret < 0)
		return ret;
	if (!ret) {
		r->cut_at = r->pos;
		r->cut_size = r->file.size;
		damage(r, CMT_DAMAGE_CUT, r->file.size - r->pos)->missing_records =
			r->header.records;
		return 2;
	}
	note_missing(r, damage(r, CMT_DAMAGE_PAYLOAD, at - r->pos));
	r->pos = at;
	return 2;
}

/* A chunk that is skipped as a whole. */
static int reject(struct cmt_recording *r, uint32_t why)
{
	struct cmt_recording_item *item = damage(r, why, rec_chunk_bytes(&r->header));

	if (why == CMT_DAMAGE_VERSION)
		note_missing(r, item);
	r->pos += rec_chunk_bytes(&r->header);
	return 2;
}

void recording_reject(struct cmt_recording *r)
{
	r->pos = r->header_at;
	note_missing(r, damage(r, CMT_DAMAGE_PAYLOAD, rec_chunk_bytes(&r->header)));
	r->pos += rec_chunk_bytes(&r->header);
}

/* Payloads that overlap are read once for each of their headers, in a hostile file all. */
static bool may_read_again(struct cmt_recording *r, uint64_t bytes)
{
	r->again_bytes += bytes;
	return r->again_bytes <= r->file.size;
}

/* The checksum is wrong.  Returns as recording_chunk(). */
static int bad_payload(struct cmt_recording *r)
{
	uint64_t end = r->pos + rec_chunk_bytes(&r->header), at = end;
	struct rec_header next;
	int ret = end == r->file.size ? 1 : rec_file_header(&r->file, end, &next);

	if (!ret) {
		at = r->pos + r->header.bytes;
		ret = rec_file_find(&r->file, &at, end, &next);
		at = ret > 0 && may_read_again(r, end - at) ? at : end;
	}
	if (ret < 0)
		return ret;
	note_missing(r, damage(r, CMT_DAMAGE_PAYLOAD, at - r->pos));
	r->pos = at;
	return 2;
}

/* Is it the chunk that is expected?  Returns 2, or 1: it is. */
static int check_order(struct cmt_recording *r)
{
	const struct rec_header *h = &r->header;
	struct cmt_recording_item *item;

	if (!h->sequence)
		return 1;
	if (h->sequence < r->sequence)
		return reject(r, CMT_DAMAGE_HEADER);
	if (r->sequence && h->sequence > r->sequence) {
		damage(r, CMT_DAMAGE_MISSING, 0);
		damage_until(r, h);
		return 2;
	}
	if (h->dropped && r->dropped_at != r->pos + 1) {
		item = damage(r, CMT_DAMAGE_DROPPED, 0);
		damage_until(r, h);
		item->missing_records = h->dropped;
		r->dropped_at = r->pos + 1;
		return 2;
	}
	return 1;
}

static int read_payload(struct cmt_recording *r)
{
	int ret = rec_file_read(&r->file, r->pos + r->header.bytes, r->header.payload,
				&r->payload);

	if (!ret)
		ret = rec_unpack(&r->header, r->payload.bytes, &r->raw);
	if (ret == -EBADMSG || ret == -ENODATA)
		return bad_payload(r);
	if (ret)
		return ret;
	r->header_at = r->pos;
	r->pos += rec_chunk_bytes(&r->header);
	if (r->header.sequence)
		r->sequence = r->header.sequence + 1;
	r->tailed = r->header.kind == CMT_CHUNK_TAIL;
	return 1;
}

/* On the way to where cmt_recording_seek() goes. */
static bool is_skipped(struct cmt_recording *r)
{
	const struct rec_header *h = &r->header;

	if (r->pos >= r->skip_to)
		return false;
	r->sequence = 0;
	return h->kind == CMT_CHUNK_DATA ||
	       (h->kind == CMT_CHUNK_STATE && r->pos != r->state_at);
}

static int one_chunk(struct cmt_recording *r)
{
	const struct rec_header *h = &r->header;
	int ret;

	if (!r->has_run) {
		r->run = h->run;
		r->has_run = true;
	}
	if (rec_chunk_bytes(h) > r->file.size - r->pos)
		return cut_payload(r);
	if (h->version >> 16 > CMT_RECORDING_VERSION >> 16)
		return reject(r, CMT_DAMAGE_VERSION);
	if (h->run != r->run)
		return reject(r, CMT_DAMAGE_HEADER);
	if (is_skipped(r)) {
		r->pos += rec_chunk_bytes(h);
		return 3;
	}
	ret = check_order(r);
	return ret == 1 ? read_payload(r) : ret;
}

/* At the end of the file there may be more bytes now. */
static int look_again(struct cmt_recording *r)
{
	int ret = 0;

	if (r->pos >= r->file.size || r->cut_size)
		ret = rec_file_look(&r->file);
	if (ret)
		return ret;
	if (r->pos >= r->file.size || (r->cut_size == r->file.size && r->cut_at == r->pos))
		return 0;
	r->cut_size = 0;
	return 1;
}

int recording_chunk(struct cmt_recording *r)
{
	int ret;

	do {
		ret = look_again(r);
		if (ret > 0) {
			ret = rec_file_header(&r->file, r->pos, &r->header);
			ret = ret < 0 ? ret : ret ? one_chunk(r) : no_header(r);
		}
	} while (ret == 3);
	return ret;
}
