// SPDX-License-Identifier: GPL-2.0-or-later
#include "channels.h"

#include <stdio.h>
#include <stdlib.h>

void channels_free(struct channels *channels)
{
	free(channels->all);
	*channels = (struct channels){ .nr = 0 };
}

void channels_stop(struct channels *channels)
{
	channels->now = 0;
	channels->reason[0] = '\0';
}

static struct channel *find(const struct channels *channels,
			    const struct cmt_usage_channel *from, uint32_t hint)
{
	uint32_t i;

	for (i = 0; i < channels->nr; i++) {
		struct channel *c = &channels->all[(hint + i) % channels->nr];

		if (c->socket == from->socket && c->channel == from->channel)
			return c;
	}
	return NULL;
}

/* NULL: no room, or no memory. */
static struct channel *add(struct channels *channels,
			   const struct cmt_usage_channel *from)
{
	struct channel *all;

	if (channels->nr == CHANNELS_MAX)
		return NULL;
	all = reallocarray(channels->all, channels->nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	channels->all = all;
	all[channels->nr] = (struct channel){
		.socket = from->socket, .channel = from->channel,
	};
	return &all[channels->nr++];
}

static void count(uint64_t *sum, bool *known, const struct cmt_usage_rate *rate)
{
	if (!rate->known)
		return;
	*known = true;
	if (__builtin_add_overflow(*sum, rate->bytes, sum))
		*sum = UINT64_MAX;
}

/* The first interval of a channel has one reading, and that is no gap. */
static bool is_short(const struct cmt_usage_rate *rate)
{
	return rate->partial ||
	       (!rate->known && !(rate->why & CMT_USAGE_WHY_FIRST));
}

static void add_channel(struct channels *channels,
			const struct cmt_usage_channel *from, uint32_t hint)
{
	struct channel *channel = find(channels, from, hint);

	if (!channel)
		channel = add(channels, from);
	if (!channel) {
		channels->dropped++;
		return;
	}
	count(&channel->read, &channel->read_known, &from->read);
	count(&channel->written, &channel->written_known, &from->written);
	channel->incomplete += is_short(&from->read) || is_short(&from->written);
}

void channels_add(struct channels *channels,
		  const struct cmt_usage_frame *frame)
{
	uint32_t i;

	channels->now = frame->nr_channels;
	snprintf(channels->reason, sizeof(channels->reason), "%s",
		 frame->channels_reason ? frame->channels_reason : "");
	for (i = 0; i < frame->nr_channels; i++)
		add_channel(channels, cmt_usage_channel_at(frame, i), i);
}
