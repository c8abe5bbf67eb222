// SPDX-License-Identifier: GPL-2.0-or-later
/* The cgroups with their names, and the L3 domains, that there are. */
#include "aggregate_state.h"

#include <errno.h>
#include <stdlib.h>

#define FORGET_NS 60000000000ULL	/* a cgroup unseen for so long goes */

void *aggregate_grow(struct aggregate *agg, void *array, uint32_t nr,
		     uint32_t *room, size_t size)
{
	uint32_t more = *room ? 2 * *room : 64;
	void *new;

	if (nr < *room)
		return array;
	new = reallocarray(array, more, size);
	if (new)
		*room = more;
	else
		agg->err = -ENOMEM;
	return new;
}

const struct cmt_container *aggregate_name(struct aggregate *agg,
					   uint64_t cgroup_id)
{
	struct group *group = NULL, *groups;
	uint32_t i;

	for (i = 0; i < agg->nr_groups; i++) {
		group = &agg->groups[i];
		if (group->cgroup_id == cgroup_id) {
			group->seen_ns = agg->last_ns;
			break;
		}
	}
	if (i == agg->nr_groups) {
		groups = aggregate_grow(agg, agg->groups, agg->nr_groups,
					&agg->room_groups, sizeof(*groups));
		if (!groups)
			return NULL;
		agg->groups = groups;
		group = &agg->groups[agg->nr_groups++];
		*group = (struct group){ .cgroup_id = cgroup_id,
					 .seen_ns = agg->last_ns };
	}
	if (!group->container || !group->container->path)
		group->container = agg->opts.lookup(agg->opts.ctx, cgroup_id);
	return group->container;
}

void aggregate_domain(struct aggregate *agg, uint32_t domain)
{
	uint32_t i, *domains;

	for (i = 0; i < agg->nr_domains; i++)
		if (agg->domains[i] == domain)
			return;
	domains = aggregate_grow(agg, agg->domains, agg->nr_domains,
				 &agg->room_domains, sizeof(*domains));
	if (!domains)
		return;
	agg->domains = domains;
	agg->domains[agg->nr_domains++] = domain;
}

static bool group_in_use(const struct aggregate *agg, uint64_t cgroup_id)
{
	uint32_t i;

	for (i = 0; i < agg->nr_holdings; i++)
		if (agg->holdings[i].kind == OWNER_KNOWN &&
		    agg->holdings[i].cgroup_id == cgroup_id)
			return true;
	for (i = 0; i < agg->opts.nr_cpus; i++)
		if (agg->cpus[i].seen && agg->cpus[i].cgroup_id == cgroup_id)
			return true;
	return false;
}

void aggregate_forget(struct aggregate *agg)
{
	uint32_t i, kept = 0;

	for (i = 0; i < agg->nr_groups; i++) {
		struct group *group = &agg->groups[i];

		if (agg->last_ns - group->seen_ns <= FORGET_NS ||
		    group_in_use(agg, group->cgroup_id)) {
			agg->groups[kept++] = *group;
		} else if (agg->opts.forget) {
			agg->opts.forget(agg->opts.ctx, group->cgroup_id);
		}
	}
	agg->nr_groups = kept;
}
