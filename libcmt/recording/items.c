// SPDX-License-Identifier: LGPL-2.1-or-later
/* The content of a chunk, item by item */
#include "reading.h"

#include <errno.h>
#include <stdlib.h>

#include "names.h"
#include "owners.h"

static int begin_head(struct cmt_recording *r)
{
	struct rec_head head;
	int err = rec_head_get(&head, &r->raw);

	if (err || r->has_head)
		return err;
	r->head = head;
	r->has_head = true;
	return 0;
}

static int room_for(struct cmt_recording *r, uint32_t n)
{
	if (!r->model)
		r->model = rec_model_new();
	if (!r->model)
		return -ENOMEM;
	return cmt_array_reserve(&r->records, &r->room, n, sizeof(*r->records));
}

static int begin_data(struct cmt_recording *r)
{
	struct cmt_snapshot *owners;
	uint64_t n;
	int err = rec_owners_get(&r->in, &owners);

	if (err)
		return err;
	cmt_snapshot_free(r->owners);
	r->owners = owners;
	n = rec_get_varint(&r->in);
	if (r->in.bad || n != r->header.records || n > REC_RECORDS_MAX)
		return -EBADMSG;
	err = room_for(r, (uint32_t)n);
	if (!err)
		err = rec_columns_decode(r->model, &r->in, r->records, (uint32_t)n);
	if (err)
		return err;
	r->sync |= r->header.flags & REC_SYNC;
	r->stage = r->sync && owners ? RECORDING_IN_OWNERS : RECORDING_IN_RECORDS;
	return 0;
}

/* Kinds of a later version have nothing for this one. */
int recording_begin(struct cmt_recording *r)
{
	int err = 0;

	r->in = (struct rec_cursor){
		.at = r->raw.bytes, .end = r->raw.bytes + r->raw.nr,
	};
	r->stage = RECORDING_NONE;
	switch (r->header.kind) {
	case CMT_CHUNK_HEAD:
		return begin_head(r);
	case CMT_CHUNK_NAMES:
		r->stage = RECORDING_IN_NAMES;
		break;
	case CMT_CHUNK_STATE:
		err = rec_state_get(&r->state, &r->raw);
		r->stage = err ? RECORDING_NONE : RECORDING_IN_STATE;
		break;
	case CMT_CHUNK_DATA:
		err = begin_data(r);
		break;
	}
	if (!err)
		recording_note_time(r);
	return err;
}

static struct cmt_recording_item *item_new(struct cmt_recording *r, uint32_t type)
{
	r->item = (struct cmt_recording_item){
		.type = type, .from_ns = r->header.first_ns, .to_ns = r->header.last_ns,
		.offset = r->header_at, .bytes = rec_chunk_bytes(&r->header),
		.sequence = r->header.sequence,
	};
	return &r->item;
}

/* One that there is no memory for is taken again by the next call. */
static int name_item(struct cmt_recording *r)
{
	const struct rec_cursor at = r->in;

	if (r->in.at == r->in.end) {
		r->stage = RECORDING_NONE;
		return 0;
	}
	if (!rec_name_get(&r->in, &r->container, &r->texts)) {
		if (r->texts.failed)
			r->in = at;
		else
			r->stage = RECORDING_NONE;
		return r->texts.failed ? -ENOMEM : -EBADMSG;
	}
	item_new(r, CMT_RECORDING_NAME)->container = &r->container;
	return 1;
}

static int records_item(struct cmt_recording *r)
{
	struct cmt_recording_item *item;

	r->stage = RECORDING_NONE;
	if (!r->header.records)
		return 0;
	item = item_new(r, CMT_RECORDING_RECORDS);
	item->records = r->records;
	item->nr_records = r->header.records;
	return 1;
}

int recording_item(struct cmt_recording *r)
{
	switch (r->stage) {
	case RECORDING_IN_NAMES:
		return name_item(r);
	case RECORDING_IN_STATE:
		item_new(r, CMT_RECORDING_STATE)->state = &r->state.state;
		r->stage = RECORDING_NONE;
		return 1;
	case RECORDING_IN_OWNERS:
		item_new(r, CMT_RECORDING_OWNERS)->owners = r->owners;
		r->sync = false;
		r->stage = RECORDING_IN_RECORDS;
		return 1;
	case RECORDING_IN_RECORDS:
		return records_item(r);
	default:
		return 0;
	}
}
