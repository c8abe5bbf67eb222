// SPDX-License-Identifier: GPL-2.0-or-later
#include "fine.h"

#include "common/clock.h"

#define SLOT_NS	1000000ULL
#define WAIT_NS	10000000ULL	/* rings hold more, and frames that wait take memory */

static bool is_wanted(const struct exporter_config *config)
{
	return config->histograms || config->culprit;
}

static int open_usage(struct fine *fine, struct cmt_containers *containers)
{
	/* the usage of the intervals requests the counters */
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .device = fine->dev, .containers = containers,
		.by = CMT_USAGE_BY_CONTAINER,
		.flags = CMT_USAGE_DOMAINS | CMT_USAGE_BRIEF |
			 (fine->config->culprit ? CMT_USAGE_WAITS : 0),
		.interval_ns = SLOT_NS, .slot_ns = SLOT_NS,
		.values = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL,
	};

	return cmt_usage_new(&fine->usage, &opts);
}

static int open_all(struct fine *fine, struct cmt_containers *containers)
{
	int ret = cmt_device_open(&fine->dev, fine->config->device, 0);

	if (ret) {
		fine->dev = NULL;
		return ret;
	}
	ret = open_usage(fine, containers);
	if (!ret && fine->config->culprit)
		ret = culprits_open(&fine->culprits,
				    cmt_device_info(fine->dev),
				    fine->config->peak_bytes);
	return ret;
}

int fine_open(struct fine *fine, const struct exporter_config *config,
	      struct cmt_containers *containers)
{
	int ret;

	fine->config = config;
	fine->due_ns = 0;
	fine->culprits.pairs.window_ns = config->window_ns;
	if (!is_wanted(config))
		return 0;
	ret = open_all(fine, containers);
	if (ret)
		fine_close(fine);
	return ret;
}

void fine_close(struct fine *fine)
{
	culprits_close(&fine->culprits);
	histogram_table_free(&fine->histograms);
	cmt_usage_free(fine->usage);
	if (fine->dev)
		cmt_device_close(fine->dev);
	fine->usage = NULL;
	fine->dev = NULL;
}

void fine_free(struct fine *fine)
{
	fine_close(fine);
	culprits_free(&fine->culprits);
}

uint64_t fine_due_ns(const struct fine *fine)
{
	return fine->usage ? fine->due_ns : UINT64_MAX;
}

static void add_frame(struct fine *fine, const struct cmt_usage_frame *frame)
{
	fine->frames += frame->nr_cpus > 0;
	fine->lost += frame->lost;
	if (fine->config->histograms)
		histogram_table_fold(&fine->histograms, frame);
	if (!fine->culprits.engine)
		return;
	culprits_add(&fine->culprits, frame, cmt_usage_containers(fine->usage));
	if (!frame->brief)
		culprits_look(&fine->culprits, frame,
			      cmt_usage_containers(fine->usage),
			      fine->config->root);
}

int fine_take(struct fine *fine)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + EXPORTER_TURN_NS;
	const struct cmt_usage_frame *frame;
	int ret;

	if (!fine->usage)
		return 0;
	do {
		ret = cmt_usage_next(fine->usage, &frame);
		if (ret > 0)
			add_frame(fine, frame);
	} while (ret > 0 && clock_ns(CLOCK_MONOTONIC) < end_ns);
	fine->due_ns = clock_ns(CLOCK_MONOTONIC) + (ret > 0 ? 0 : WAIT_NS);
	return ret < 0 ? ret : 0;
}
