// SPDX-License-Identifier: GPL-2.0-or-later
#include "why_slower.h"

#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "lead.h"

bool why_is_wanted(const char *filter, const struct why_name *name)
{
	const char *rest = strchr(name->label, ':');

	return !filter || !fnmatch(filter, name->label, 0) ||
	       (rest && !fnmatch(filter, rest + 1, 0));
}

struct why_incident why_named(const struct watch *watch, const struct cmt_incident *told)
{
	struct why_incident incident = { .told = lead_cut(watch->lead, told) };

	told = incident.told;
	watch_name(watch, &incident.victim, told->id);
	for (uint32_t i = 0; i < told->nr_parts; i++)
		watch_name(watch, &incident.parts[i], told->parts[i].by);
	return incident;
}

int why_take_ended(const struct watch *watch, why_take take, void *ctx)
{
	const struct cmt_incident *told;
	int ret = 0;

	while (!ret && cmt_culprit_next_incident(watch->culprit, &told) > 0) {
		struct why_incident incident = why_named(watch, told);

		if (!(told->flags & CMT_INCIDENT_OPEN) && !lead_is_over(watch->lead, told))
			ret = take(ctx, &incident);
	}
	return ret;
}

int why_take_open(const struct watch *watch, why_take take, void *ctx)
{
	const struct cmt_incident *told;
	int ret = 0;

	for (uint32_t i = 0; !ret && (told = cmt_culprit_incident_at(watch->culprit, i)); i++) {
		struct why_incident incident = why_named(watch, told);

		if (!lead_is_over(watch->lead, told))
			ret = take(ctx, &incident);
	}
	return ret;
}

static struct remedy_case case_of(const struct why_state *state,
				  const struct why_incident *incident, uint32_t i)
{
	const struct cmt_incident_part *part = &incident->told->parts[i];

	return (struct remedy_case){
		.label = incident->parts[i].label, .path = incident->parts[i].path,
		.resource = part->resource, .domain = part->domain,
		.held_bytes = part->held_bytes, .l3_bytes = state->l3_bytes,
		.weight = remedy_weight(state->machine, incident->parts[i].path),
		.idle = idle_domain_find(state->idle, part->domain),
	};
}

/* It may cost something by cache and by memory. */
static bool is_moved(const struct why_incident *incident, uint32_t i)
{
	const struct cmt_incident_part *parts = incident->told->parts;

	for (uint32_t j = 0; j < i; j++)
		if (parts[j].by == parts[i].by && parts[j].domain == parts[i].domain &&
		    parts[j].resource != CMT_SLOWDOWN_CPU)
			return true;
	return false;
}

static struct remedy *next_remedy(struct why_incident *incident, uint32_t part)
{
	if (incident->nr_remedies == WHY_REMEDIES)
		return NULL;
	incident->remedies[incident->nr_remedies].part = part;
	return &incident->remedies[incident->nr_remedies].remedy;
}

/* For each neighbour that costs something now, by each resource. */
static void add_remedies(const struct why_state *state, struct why_incident *incident)
{
	const struct cmt_incident *told = incident->told;

	for (uint32_t i = 0; state->machine && i < told->nr_parts; i++) {
		struct remedy_case of = case_of(state, incident, i);
		struct remedy *next = next_remedy(incident, i);

		if (told->parts[i].share < SLOWER_LEAST)
			continue;
		if (next && remedy_for(state->machine, &of, next))
			incident->nr_remedies++;
		next = is_moved(incident, i) ? NULL : next_remedy(incident, i);
		if (next && remedy_move(state->machine, &of, next))
			incident->nr_remedies++;
	}
}

static int say(const struct watch *watch, const struct why_state *state, const char *filter,
	       const struct cmt_incident *told, bool is_event)
{
	struct why_incident incident = why_named(watch, told);
	struct text text;
	int ret;

	if (lead_is_over(watch->lead, told) || !why_is_wanted(filter, &incident.victim))
		return 0;
	add_remedies(state, &incident);
	ret = text_open(&text);
	if (ret)
		return ret;
	ret = why_view_incident(text.out, state, &incident, is_event);
	return text_write(&text, STDOUT_FILENO, ret);
}

static bool has_incident(const struct watch *watch, uint64_t id)
{
	const struct cmt_incident *told;

	for (uint32_t i = 0; (told = cmt_culprit_incident_at(watch->culprit, i)); i++)
		if (told->id == id && !lead_is_over(watch->lead, told))
			return true;
	return false;
}

/* Those without an incident, unless this is for a program, which finds each slowdown here. */
static uint32_t keep_wanted(const struct watch *watch, const struct why_state *state,
			    const char *filter, struct slower *list, uint32_t n, bool *any)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct slower *slower = &list[i];

		watch_name(watch, &slower->name, slower->id);
		for (uint32_t j = 0; j < slower->nr_parts; j++)
			watch_name(watch, &slower->parts[j].by, slower->parts[j].by_id);
		if (!why_is_wanted(filter, &slower->name))
			continue;
		*any = true;
		if (state->json || !has_incident(watch, slower->id))
			list[wanted++] = *slower;
	}
	return wanted;
}

static void name_little(const struct watch *watch, const char *filter, struct slower *list,
			uint32_t n, struct why_little *to)
{
	static struct slower_little little;

	slower_read_little(watch->culprit, &little);
	for (uint32_t i = 0; i < n; i++)
		list[i].too_little = slower_is_little(&little, list[i].id);
	to->nr = 0;
	for (uint32_t i = 0; i < little.nr; i++) {
		struct why_little_one *one = &to->list[to->nr];

		one->id = little.ids[i];
		watch_name(watch, &one->name, one->id);
		/* others are gone */
		to->nr += one->name.path && why_is_wanted(filter, &one->name);
	}
}

static int say_rest(const struct watch *watch, const struct why_state *state,
		    const char *filter)
{
	static struct slower list[SLOWER_MOST];
	static struct why_little little;
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };
	int n = slower_list(watch->culprit, list), ret;
	bool any = false;
	struct text text;

	if (n < 0)
		return n;
	n = (int)keep_wanted(watch, state, filter, list, (uint32_t)n, &any);
	name_little(watch, filter, list, (uint32_t)n, &little);
	cmt_culprit_counts(watch->culprit, &counts);
	ret = text_open(&text);
	if (ret)
		return ret;
	ret = why_view_slower(text.out, state, list, (uint32_t)n, any, &little, &counts);
	return text_write(&text, STDOUT_FILENO, ret);
}

int why_slower_now(struct watch *watch, const struct why_state *state, const char *filter)
{
	const struct cmt_incident *told;
	int ret = 0;

	/* each open one is said here */
	while (cmt_culprit_next_incident(watch->culprit, &told) > 0)
		if (!(told->flags & CMT_INCIDENT_OPEN) && !ret)
			ret = say(watch, state, filter, told, true);
	for (uint32_t i = 0; !ret && (told = cmt_culprit_incident_at(watch->culprit, i)); i++)
		ret = say(watch, state, filter, told, false);
	return ret ? ret : say_rest(watch, state, filter);
}

int why_slower_events(struct watch *watch, const struct why_state *state, const char *filter)
{
	const struct cmt_incident *told;
	int ret = 0;

	while (!ret && cmt_culprit_next_incident(watch->culprit, &told) > 0)
		ret = say(watch, state, filter, told, true);
	return ret;
}
