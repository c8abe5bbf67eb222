// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine.h"

#include <stdlib.h>

#include "score.h"

#define MS		1000000ULL

struct cmt_culprit *engine_new(const struct host *host)
{
	struct cmt_culprit_opts opts = {
		.sz = sizeof(opts), .max_owners = HOST_RUNNERS,
		.unit_bytes = (uint32_t)(host->quantum_kib * 1024),
	};
	struct cmt_culprit *culprit;

	if (cmt_culprit_new(&culprit, &opts))
		abort();
	return culprit;
}

static void hide_rdt(struct cmt_culprit_sample *sample)
{
	sample->valid &= ~(uint32_t)(CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC);
	sample->occupancy_bytes = sample->traffic_bytes = 0;
	sample->span = 0;
}

void engine_add(struct cmt_culprit *culprit, const struct host *host, uint32_t ms, bool rdt)
{
	struct cmt_culprit_sample samples[HOST_RUNNERS];
	struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = (ms + 1) * MS,
		.sample_size = sizeof(samples[0]),
		.samples = samples,
	};

	score_samples(host, host->readings, true, samples);
	for (uint32_t i = 0; !rdt && i < host->nr_runners; i++)
		hide_rdt(&samples[i]);
	for (uint32_t i = 0; i < host->nr_runners; i++)
		if (!host->runners[i].elsewhere)
			samples[slot.nr_samples++] = samples[i];
	if (cmt_culprit_add(culprit, &slot) < 0)
		abort();
}
