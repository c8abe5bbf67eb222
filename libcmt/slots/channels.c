// SPDX-License-Identifier: LGPL-2.1-or-later
#include "channels.h"

static int cmp(const struct cmt_slot_channel *c, const struct cmt_record *record)
{
	return cmt_channel_cmp(c->socket, c->channel, record->domain,
			       record->channel);
}

/* Where the channel of @record is, or belongs.  A tick reads channels in order. */
static uint32_t find(const struct cmt_channels *channels,
		     const struct cmt_record *record)
{
	uint32_t low = 0, high = channels->nr;

	if (channels->next < channels->nr &&
	    !cmp(&channels->all[channels->next], record))
		return channels->next;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (cmp(&channels->all[middle], record) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct cmt_channels *channels, uint32_t at,
		  const struct cmt_record *record)
{
	struct cmt_slot_channel *c;

	if (channels->nr == CMT_CHANNELS_MAX) {
		channels->dropped++;
		return 0;
	}
	if (cmt_grow(&channels->all, channels->nr, &channels->room, sizeof(*c)))
		return -ENOMEM;
	c = &channels->all[at];
	memmove(c + 1, c, (channels->nr - at) * sizeof(*c));
	*c = (struct cmt_slot_channel){
		.socket = record->domain, .channel = record->channel,
	};
	channels->nr++;
	return 1;
}

/*
 * When the CPU that reads a socket changes, the records of one slot are in two rings,
 * and come in any order.  At equal times the record of the higher CPU is the later one.
 */
static bool is_later(const struct cmt_slot_channel *c,
		     const struct cmt_record *record)
{
	if (c->ts != record->ts)
		return cmt_ts_before(c->ts, record->ts);
	return record->cpu >= c->cpu;
}

/*
 * Sums never decrease: of records with the same time, the one with the greater sum is
 * later.
 */
static void update_cycles(struct cmt_slot_channel *c,
			  const struct cmt_record *record)
{
	bool later = record->ts == c->cycles_ts ?
		     record->channels.idle_cycles > c->idle_cycles :
		     cmt_ts_before(c->cycles_ts, record->ts);

	if (c->flags & CMT_F_CHANNEL_IDLE && !later)
		return;
	c->flags |= CMT_F_CHANNEL_IDLE;
	c->cycles_ts = record->ts;
	c->idle_cycles = record->channels.idle_cycles;
	c->busy_cycles = record->channels.busy_cycles;
}

/* A new channel has neither a flag nor a time. */
static void update(struct cmt_slot_channel *c, const struct cmt_record *record)
{
	uint32_t had = c->flags & CMT_F_CHANNEL;
	uint32_t has = record->flags & CMT_F_CHANNEL;

	c->flags |= record->flags & (CMT_F_CHANNEL | CMT_F_REBASED |
				     CMT_F_UNAVAILABLE);
	if (has && record->flags & CMT_F_CHANNEL_IDLE)
		update_cycles(c, record);
	if (had > has || (had == has && c->ts && !is_later(c, record)))
		return;
	c->ts = record->ts;
	c->cpu = record->cpu;
	c->read_bytes = has ? record->channels.read_bytes : 0;
	c->written_bytes = has ? record->channels.written_bytes : 0;
}

int cmt_channels_add(struct cmt_channels *channels,
		     const struct cmt_record *record)
{
	uint32_t at = find(channels, record);
	int ret = 1;

	if (at == channels->nr || cmp(&channels->all[at], record))
		ret = insert(channels, at, record);
	if (ret <= 0)
		return ret;
	channels->next = at + 1 < channels->nr ? at + 1 : 0;
	update(&channels->all[at], record);
	return 1;
}
