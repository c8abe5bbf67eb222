// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine.h"

#include "bench.h"

#define MS	1000000ULL

void engine_open(struct engine *engine, uint32_t counters)
{
	struct cmt_usage_opts usage = {
		.sz = sizeof(usage), .by = CMT_USAGE_BY_CONTAINER,
		.flags = CMT_USAGE_DOMAINS | CMT_USAGE_BRIEF,
		.interval_ns = MS, .slot_ns = MS, .counters = counters,
	};
	struct cmt_culprit_opts culprit = { .sz = sizeof(culprit) };

	CHECK(!cmt_device_open(&engine->dev, NULL, 0), "cmt_device_open");
	usage.device = engine->dev;
	CHECK(!cmt_usage_new(&engine->usage, &usage), "cmt_usage_new");
	CHECK(!cmt_usage_refresh(engine->usage, CMT_USAGE_NAMES), "names");
	culprit.unit_bytes = cmt_device_info(engine->dev)->upscale_bytes;
	CHECK(!cmt_culprit_new(&engine->culprit, &culprit), "cmt_culprit_new");
}

void engine_close(struct engine *engine)
{
	cmt_culprit_free(engine->culprit);
	cmt_usage_free(engine->usage);
	cmt_device_close(engine->dev);
}

bool engine_next(struct engine *engine)
{
	const struct cmt_usage_frame *frame;
	int ret = cmt_usage_next(engine->usage, &frame);

	CHECK(ret >= 0, "cmt_usage_next: %d", ret);
	if (!ret)
		return false;
	ret = cmt_culprit_add_frame(engine->culprit, frame);
	CHECK(ret >= 0, "a frame is refused: %d", ret);
	CHECK(!frame->lost_ever, "records are lost");
	return true;
}
