// SPDX-License-Identifier: GPL-2.0-or-later
#include "incidents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of two, the one that cost more; where that is not known, the worse one. */
static bool costs_less(const struct cmt_incident *a, const struct cmt_incident *b)
{
	if (a->lost_ns != b->lost_ns)
		return a->lost_ns < b->lost_ns;
	return a->worst < b->worst;
}

static struct incident *least_of(struct incidents *incidents)
{
	struct incident *least = &incidents->all[0];

	for (uint32_t i = 1; i < incidents->nr; i++)
		if (costs_less(&incidents->all[i].told, &least->told))
			least = &incidents->all[i];
	return least;
}

/* In @to, or NULL: it is not to be listed.  Returns 0 or -ENOMEM. */
static int room_for(struct incidents *incidents, const struct cmt_incident *told,
		    struct incident **to)
{
	uint32_t room = incidents->room ? incidents->room * 2 : 16;
	struct incident *all;

	if (incidents->nr == INCIDENTS_LISTED) {
		incidents->left_out++;
		*to = least_of(incidents);
		if (!costs_less(&(*to)->told, told))
			*to = NULL;
		return 0;
	}
	if (incidents->nr == incidents->room) {
		all = reallocarray(incidents->all, room, sizeof(*all));
		if (!all)
			return -ENOMEM;
		incidents->all = all;
		incidents->room = room;
	}
	*to = &incidents->all[incidents->nr++];
	return 0;
}

int incidents_add(struct incidents *incidents, const struct why_incident *incident)
{
	struct incident *to;
	int ret = room_for(incidents, incident->told, &to);

	if (ret || !to)
		return ret;
	to->told = *incident->told;
	memcpy(to->victim, incident->victim.label, sizeof(to->victim));
	for (uint32_t i = 0; i < to->told.nr_parts; i++)
		memcpy(to->parts[i], incident->parts[i].label, CONTAINER_LABEL_LEN);
	return 0;
}

static int by_begin(const void *pa, const void *pb)
{
	const struct cmt_incident *a = &((const struct incident *)pa)->told;
	const struct cmt_incident *b = &((const struct incident *)pb)->told;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void incidents_finish(struct incidents *incidents)
{
	if (incidents->nr)
		qsort(incidents->all, incidents->nr, sizeof(*incidents->all), by_begin);
}

void incidents_free(struct incidents *incidents)
{
	free(incidents->all);
}
