// SPDX-License-Identifier: GPL-2.0-or-later
#include "recent.h"

#include "common/clock.h"

static int take_chunk(void *ctx, const struct cmt_chunk *chunk)
{
	struct recent *recent = ctx;

	if (recent->file)
		return keep_file_chunk(recent->file, chunk);
	/* the buffer counts chunks without memory, and goes on */
	keep_add(&recent->keep, chunk);
	return 0;
}

static int open_all(struct recent *recent, const struct exporter_config *config,
		    const struct origin_opts *origin)
{
	const struct capture_opts opts = {
		.program = "cmt-exporter", .root = config->root,
		.counters = config->counters |
			    (config->channels ? CMT_F_CHANNEL : 0),
		.write = take_chunk, .ctx = recent,
		/* as cmtstat record, whose recordings the report is for */
		.flags = CMT_RECORDER_NO_INDEX | CMT_RECORDER_ROUND,
	};
	int ret = origin_open(&recent->dev, origin);

	if (ret) {
		recent->dev = NULL;
		return ret;
	}
	ret = capture_open(&recent->capture, recent->dev, &opts);
	return ret ? ret : capture_begin(&recent->capture);
}

int recent_open(struct recent *recent, const struct exporter_config *config,
		const struct origin_opts *origin)
{
	int ret;

	recent_free(recent);
	recent->keep.span_ns = RECENT_SPAN_NS;
	recent->keep.max_bytes = RECENT_BYTES;
	keep_begin(&recent->keep);
	ret = open_all(recent, config, origin);
	if (ret)
		recent_free(recent);
	return ret;
}

void recent_stop(struct recent *recent)
{
	if (!recent->dev)
		return;
	/* without memory for the last records, the others stay */
	if (recent->capture.recorder)
		cmt_recorder_flush(recent->capture.recorder);
	capture_stop(&recent->capture);
	cmt_device_close(recent->dev);
	recent->dev = NULL;
}

void recent_free(struct recent *recent)
{
	recent_stop(recent);
	capture_close(&recent->capture);
	keep_end(&recent->keep);
	*recent = (struct recent){ 0 };
}

uint64_t recent_due_ns(const struct recent *recent)
{
	return recent->dev ? recent->due_ns : UINT64_MAX;
}

int recent_take(struct recent *recent)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + EXPORTER_TURN_NS;
	int ret;

	if (!recent->dev)
		return 0;
	do
		ret = capture_pump(&recent->capture);
	while (ret > 0 && clock_ns(CLOCK_MONOTONIC) < end_ns);
	recent->due_ns = clock_ns(CLOCK_MONOTONIC) +
			 (ret > 0 ? 0 : capture_wait_ns(&recent->capture));
	return ret < 0 ? ret : 0;
}

int recent_flush(struct recent *recent)
{
	return recent->dev ? capture_look(&recent->capture) : 0;
}

int recent_write(struct recent *recent, int fd)
{
	struct keep_file file = { .fd = fd };
	int ret = keep_file_write(&file, &recent->keep);

	recent->file = &file;
	if (!ret)
		ret = keep_file_end(&file, recent->capture.recorder);
	recent->file = NULL;
	keep_file_free(&file);
	return ret;
}
