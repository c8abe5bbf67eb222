// SPDX-License-Identifier: GPL-2.0-or-later
#include "sums.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "members.h"

/* Ids that no cgroup has, and that are no cmt_culprit_id(). */
#define ID_CHANNEL	(0xfeULL << 56)
#define ID_CHANNELS	(ID_CHANNEL | 1ULL << 55)
#define ID_RMIDS	(ID_CHANNELS | 1)

void sums_free(struct sums *sums)
{
	free(sums->at);
	*sums = (struct sums){ 0 };
}

static struct sum *sum_at(const struct sums *sums, uint64_t slot)
{
	return &sums->at[slot & (SUMS_SLOTS - 1)];
}

/* The part of the slots from *@slot to before *@end whose sums are kept */
static void clip(const struct sums *sums, uint64_t *slot, uint64_t *end)
{
	uint64_t limit = sums->at ? sums->done + SUMS_SLOTS : sums->done;

	*slot = *slot < sums->done ? sums->done : *slot;
	*end = *end < limit ? *end : limit;
}

void sums_add_rmid(struct sums *sums, uint64_t slot, uint64_t nr,
		     const struct point *point, bool rmid_0)
{
	uint64_t end = slot + nr;

	for (clip(sums, &slot, &end); slot < end; slot++) {
		struct sum *sum = sum_at(sums, slot);

		sum->rate += point->rate_sum;
		sum->unknown |= !point->rated || point->rate_bounded;
		sum->rmid_0 |= rmid_0;
	}
}

void sums_blank(struct sums *sums, uint64_t slot, uint64_t end)
{
	for (clip(sums, &slot, &end); slot < end; slot++)
		sum_at(sums, slot)->unknown = true;
}

/* The first channel is seen. */
static int begin(struct model *model, uint64_t slot)
{
	struct sums *sums = &model->sums;
	int64_t channels, rmids;

	if (sums->at)
		return 0;
	channels = members_make(model, ID_CHANNELS, MEMBER_CHANNELS, "all channels");
	rmids = members_make(model, ID_RMIDS, MEMBER_RMIDS, "all RMIDs");
	sums->at = calloc(SUMS_SLOTS, sizeof(*sums->at));
	if (channels < 0 || rmids < 0 || !sums->at)
		return -ENOMEM;
	sums->channels = (uint32_t)channels;
	sums->rmids = (uint32_t)rmids;
	sums->done = slot;
	return 0;
}

/* Of one slot. */
static int put(struct model *model, uint32_t number, uint64_t slot,
	       const struct point *point)
{
	struct member *member = &model->members[number];

	member->first = member->all.slots ? member->first : slot;
	member->last = slot;
	point_merge(&member->all, point);
	return pyramid_put(&model->pyramid, number, slot, point, 1);
}

static int put_rates(struct model *model, uint32_t number, uint64_t slot,
		     const struct cmt_usage_rate *total, const struct cmt_usage_rate *read)
{
	struct point point = { .slots = 1 };

	if (total->known && isfinite(total->rate)) {
		point.rated = point.localed = 1;
		point.rate_sum = point.rate_most = total->rate;
		point.local_sum = read->rate;
		point.partial = point.rate_bounded = total->partial;
	}
	return put(model, number, slot, &point);
}

static int add_channel(struct model *model, const struct cmt_usage_channel *channel,
		       uint64_t slot)
{
	uint64_t id = ID_CHANNEL | (uint64_t)(channel->socket & 0xffff) << 32 |
		      channel->channel;
	char label[64];
	int64_t number;

	snprintf(label, sizeof(label), "socket %u, channel %u", channel->socket,
		 channel->channel);
	number = members_make(model, id, MEMBER_CHANNEL, label);
	return number < 0 ? (int)number :
	       put_rates(model, (uint32_t)number, slot, &channel->total, &channel->read);
}

int sums_add_channels(struct model *model, const struct cmt_usage_frame *frame,
			uint64_t slot)
{
	int ret;

	if (!frame->nr_channels)
		return 0;
	ret = begin(model, slot);
	for (uint32_t i = 0; !ret && i < frame->nr_channels; i++)
		ret = add_channel(model, cmt_usage_channel_at(frame, i), slot);
	if (frame->nr_channels > model->sums.nr_channels)
		model->sums.nr_channels = frame->nr_channels;
	return ret ? ret : put_rates(model, model->sums.channels, slot,
				     &frame->memory.total, &frame->memory.read);
}

/* A sum that lacks an RMID is none. */
static int put_sum(struct model *model, uint64_t slot)
{
	struct sum *sum = sum_at(&model->sums, slot);
	struct point point = { .slots = 1 };

	if (!sum->unknown && sum->rmid_0) {
		point.rated = 1;
		point.rate_sum = point.rate_most = sum->rate;
	}
	*sum = (struct sum){ 0 };
	return put(model, model->sums.rmids, slot, &point);
}

int sums_flush(struct model *model, uint64_t end)
{
	struct sums *sums = &model->sums;
	int ret = 0;

	for (; sums->at && !ret && sums->done < end; sums->done++)
		ret = put_sum(model, sums->done);
	return ret;
}
