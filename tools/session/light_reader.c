// SPDX-License-Identifier: GPL-2.0-or-later
#include "light_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/meter.h"

#define SLOT_NS		10000000ULL	/* a reading of all owners may take some */
#define NEVER_NS	3600000000000ULL	/* intervals are ended by light_reader_pump() */

/* NULL: there are too many domains, or no memory. */
static uint32_t *bases_of(struct light_reader *light, uint32_t domain)
{
	uint32_t i, nr = cmt_device_info(light->dev)->nr_rmids;

	for (i = 0; i < light->nr_domains; i++)
		if (light->domains[i] == domain)
			return light->bases[i];
	if (i == LIGHT_DOMAINS)
		return NULL;
	light->bases[i] = calloc(nr, sizeof(*light->bases[i]));
	if (!light->bases[i])
		return NULL;
	light->domains[i] = domain;
	light->nr_domains++;
	return light->bases[i];
}

/*
 * Counters that were rebased for another reader were also rebased for this one.  On a
 * machine without counters, missing values get no reason.
 */
static int mark_record(struct light_reader *light, struct cmt_record *record)
{
	uint32_t *bases = bases_of(light, record->domain);

	if (!bases)
		return -ENOMEM;
	if (bases[record->rmid] != record->base)
		record->flags |= CMT_F_REBASED;
	bases[record->rmid] = record->base;
	record->base = 0;
	if (!cmt_device_info(light->dev)->events)
		record->flags |= CMT_F_UNAVAILABLE;
	return 0;
}

static int add_owners(struct light_reader *light, const struct cmt_snapshot *owners)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < owners->count; i++)
		ret = cmt_usage_add(light->usage, cmt_snapshot_at(owners, i));
	return ret;
}

static int add_readings(struct light_reader *light, const struct cmt_snapshot *readings)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < readings->count; i++) {
		struct cmt_record *record = cmt_snapshot_at(readings, i);

		ret = mark_record(light, record);
		if (!ret)
			ret = cmt_usage_add(light->usage, record);
	}
	return ret;
}

/*
 * The owners are read last: then every RMID that was read is known.  They are added first:
 * a reading whose slot is retired amid these readings has its owner.  They are set last:
 * these readings retire the slots that the owners before them wait for.
 */
static int read_all(struct light_reader *light)
{
	struct cmt_snapshot *readings, *owners;
	int ret = cmt_device_read_now(light->dev, 0, 0, &readings);

	if (ret)
		return ret;
	ret = cmt_device_snapshot(light->dev, &owners);
	if (!ret) {
		ret = add_owners(light, owners);
		if (!ret)
			ret = add_readings(light, readings);
		if (!ret)
			ret = cmt_usage_sync(light->usage, owners);
		cmt_snapshot_free(owners);
	}
	cmt_snapshot_free(readings);
	light->read_ns = clock_ns(CLOCK_MONOTONIC) + METER_READ_NS;
	return ret;
}

int light_reader_open(struct light_reader *light, struct cmt_device *dev,
		      const struct cmt_usage_opts *opts)
{
	const struct cmt_info *info = cmt_device_info(dev);
	const struct cmt_containers_opts names = {
		.sz = sizeof(names), .device = dev,
	};
	struct cmt_usage_opts own = *opts;
	int ret;

	*light = (struct light_reader){ .dev = dev, .interval_ns = opts->interval_ns };
	ret = cmt_containers_new(&light->containers, &names);
	if (ret)
		return ret;
	own.device = NULL;
	own.containers = light->containers;
	own.interval_ns = NEVER_NS;
	own.slot_ns = SLOT_NS;
	own.counters = 0;
	own.nr_rmids = info->nr_rmids;
	own.nr_cpus = info->nr_cpus;
	own.l3_bytes = info->l3_bytes;
	own.unit_bytes = info->upscale_bytes;
	ret = cmt_usage_new(&light->usage, &own);
	if (!ret)
		ret = read_all(light);
	light->due_ns = clock_ns(CLOCK_MONOTONIC) + light->interval_ns;
	return ret;
}

void light_reader_close(struct light_reader *light)
{
	uint32_t i;

	cmt_usage_free(light->usage);
	cmt_containers_free(light->containers);
	for (i = 0; i < light->nr_domains; i++)
		free(light->bases[i]);
	*light = (struct light_reader){ 0 };
}

/* The next interval begins where this one was due, unless that is long ago. */
static int end_interval(struct light_reader *light,
			const struct cmt_usage_frame **frame)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret;

	light->due_ns += light->interval_ns;
	if (light->due_ns <= now)
		light->due_ns = now + light->interval_ns;
	ret = cmt_usage_flush(light->usage);
	return ret ? ret : cmt_usage_next(light->usage, frame);
}

int light_reader_pump(struct light_reader *light, const struct cmt_usage_frame **frame)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret;

	if (now < light->read_ns && now < light->due_ns)
		return 0;
	ret = read_all(light);
	if (ret || now < light->due_ns)
		return ret;
	return end_interval(light, frame);
}

uint64_t light_reader_wait_ns(const struct light_reader *light)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t next = light->read_ns < light->due_ns ? light->read_ns :
							 light->due_ns;

	return next > now ? next - now : 0;
}
