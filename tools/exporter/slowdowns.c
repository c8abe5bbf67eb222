// SPDX-License-Identifier: GPL-2.0-or-later
#include "slowdowns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "why/slower.h"

static void list_free(struct slowdown_list *list)
{
	while (list->nr)
		free(list->all[--list->nr].labels);
}

void slowdowns_free(struct slowdowns *slowdowns)
{
	list_free(&slowdowns->victims);
	list_free(&slowdowns->pairs);
	slowdowns->counted = slowdowns->referenced = false;
}

static bool has(const struct slowdown_list *list, const char *labels, uint64_t hash)
{
	for (uint32_t i = 0; i < list->nr; i++)
		if (list->all[i].hash == hash && !strcmp(list->all[i].labels, labels))
			return true;
	return false;
}

/* Two cgroups may have the labels of one container: the greater share comes first. */
static void add(struct slowdown_list *list, const struct labels *labels, double share)
{
	uint64_t hash = labels_hash(labels->text, labels->len);
	struct slowdown_series *series = &list->all[list->nr];

	if (list->nr == SLOWDOWNS_MAX || has(list, labels->text, hash))
		return;
	series->labels = strdup(labels->text);
	series->hash = hash;
	series->share = share;
	list->nr += !!series->labels;
}

struct names {
	const struct cmt_usage_frame *frame;
	struct cmt_containers *containers;
};

static void add_name(struct labels *labels, const char *prefix, const struct names *names,
		     uint64_t id)
{
	struct cmt_usage_row gone;

	labels_of_party(labels, prefix,
			culprit_row(names->frame, names->containers, id, &gone));
}

static void add_resource(struct labels *labels, const struct slower_part *part)
{
	bool cpu = part->resource == CMT_SLOWDOWN_CPU;
	const char *name = cpu ? "cpu" : slower_resource(part->resource);
	char domain[16];

	labels_add(labels, "resource", name, strlen(name));
	snprintf(domain, sizeof(domain), "%u", part->domain);
	labels_add(labels, "domain", domain, cpu ? 0 : strlen(domain));
}

static void add_victim(struct slowdowns *slowdowns, const struct slower *slower,
		       const struct names *names, bool emulated)
{
	struct labels labels = { .len = 0 };

	add_name(&labels, "victim", names, slower->id);
	labels_emulated(&labels, emulated);
	add(&slowdowns->victims, &labels, slower->share);
	for (uint32_t i = 0; i < slower->nr_parts; i++) {
		const struct slower_part *part = &slower->parts[i];

		if (part->share < SLOWER_LEAST)
			break;
		labels.len = 0;
		add_name(&labels, "victim", names, slower->id);
		add_name(&labels, "suspect", names, part->by_id);
		add_resource(&labels, part);
		labels_emulated(&labels, emulated);
		add(&slowdowns->pairs, &labels, part->share);
	}
}

void slowdowns_read(struct slowdowns *slowdowns, const struct cmt_culprit *engine,
		    const struct cmt_usage_frame *frame, struct cmt_containers *containers,
		    bool emulated)
{
	static struct slowers slowers;	/* larger than a stack should hold */
	const struct names names = { frame, containers };
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };

	slowdowns_free(slowdowns);
	slowers_read(&slowers, engine);
	if (!slowers.known)
		return;
	cmt_culprit_counts(engine, &counts);
	slowdowns->counted = counts.counted;
	slowdowns->referenced = counts.referenced;
	for (uint32_t i = 0; i < slowers.nr; i++)
		add_victim(slowdowns, &slowers.list[i], &names, emulated);
}
