// SPDX-License-Identifier: GPL-2.0-or-later
/* An interval: its CPUs, its cgroups, its beginning and its end. */
#include "aggregate_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int aggregate_new(struct aggregate **result, const struct aggregate_opts *opts)
{
	struct aggregate *agg = calloc(1, sizeof(*agg));

	if (!agg)
		return -ENOMEM;
	agg->opts = *opts;
	agg->cpus = calloc(opts->nr_cpus, sizeof(*agg->cpus));
	agg->chains = malloc(opts->nr_rmids * sizeof(*agg->chains));
	if (!agg->cpus || !agg->chains) {
		aggregate_free(agg);
		return -ENOMEM;
	}
	memset(agg->chains, 0xff, opts->nr_rmids * sizeof(*agg->chains));
	*result = agg;
	return 0;
}

void aggregate_free(struct aggregate *agg)
{
	if (!agg)
		return;
	free(agg->holdings);
	free(agg->chains);
	free(agg->sorted);
	free(agg->groups);
	free(agg->domains);
	free(agg->cpus);
	free(agg->rows.rows);
	free(agg->children.rows);
	free(agg->flat);
	free(agg);
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

static void cpu_owner(struct aggregate *agg, struct cpu_state *cpu,
		      const struct cmt_slot_cpu *c)
{
	if (cpu->seen && cpu->kind == OWNER_KNOWN && c->owner &&
	    cpu->rmid == c->rmid && cpu->generation == c->generation &&
	    cpu->cgroup_id == c->owner->cgroup_id)
		return;
	cpu->rmid = c->rmid;
	cpu->generation = c->generation;
	cpu->container = NULL;
	cpu->comm[0] = '\0';
	cpu->tgid = 0;
	cpu->cgroup_id = 0;
	cpu->owner = 0;
	cpu->kind = OWNER_NOBODY;
	if (c->rmid == CMT_RMID_NONE)
		return;
	cpu->kind = OWNER_UNKNOWN;
	if (!c->owner)
		return;
	cpu->kind = c->owner->kind == CMT_OWNER_REST ? OWNER_REST : OWNER_KNOWN;
	cpu->owner = c->owner->kind;
	cpu->tgid = c->owner->tgid;
	memcpy(cpu->comm, c->owner->comm, sizeof(cpu->comm));
	if (!owner_in_cgroup(c->owner))
		return;
	cpu->cgroup_id = c->owner->cgroup_id;
	cpu->container = aggregate_name(agg, c->owner->cgroup_id);
}

static void add_cpu(struct aggregate *agg, const struct cmt_slot_cpu *c)
{
	struct cpu_state *cpu;

	if (c->cpu >= agg->opts.nr_cpus || !c->ticks)
		return;
	cpu = &agg->cpus[c->cpu];
	if (!cpu->ever) {
		cpu->ever = true;
		cpu->missed_base = c->missed;
		cpu->busy_base = c->busy_ns;
	}
	aggregate_domain(agg, c->domain);
	agg->interval_ns = c->interval_ns;
	if (agg->opts.by == BY_CPU)
		cpu_owner(agg, cpu, c);
	cpu->seen = true;
	cpu->domain = c->domain;
	cpu->ticks += c->ticks;
	cpu->busy_ticks += c->busy_ticks;
	cpu->missed = c->missed;
	cpu->busy_ns = c->busy_ns;
	cpu->emulated |= !!(c->flags & CMT_F_EMULATED);
	cpu->why |= why_of(c->flags);
}

void aggregate_slot(void *ctx, const struct cmt_slot *slot)
{
	struct aggregate *agg = ctx;
	uint32_t i;

	for (i = 0; i < slot->nr_entries; i++)
		holdings_add(agg, &slot->entries[i]);
	for (i = 0; i < slot->nr_cpus; i++)
		add_cpu(agg, &slot->cpus[i]);
}

void aggregate_lost(struct aggregate *agg, uint32_t cpu, uint64_t total)
{
	if (cpu < agg->opts.nr_cpus)
		agg->cpus[cpu].lost = total;
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

/*
 * Memory stays bounded by the cgroups of the last minute.  Before the rows of
 * an interval are built, so that none of them loses its name.
 */
static void forget_groups(struct aggregate *agg)
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

static void close_cpus(struct aggregate *agg)
{
	uint32_t i;

	for (i = 0; i < agg->opts.nr_cpus; i++) {
		struct cpu_state *cpu = &agg->cpus[i];

		cpu->missed_base = cpu->missed;
		cpu->busy_base = cpu->busy_ns;
		cpu->lost_base = cpu->lost;
		cpu->ticks = 0;
		cpu->busy_ticks = 0;
		cpu->why = 0;
		cpu->seen = false;
		cpu->emulated = false;
	}
}

static void sum_cpus(const struct aggregate *agg, struct frame *frame)
{
	uint32_t i;

	for (i = 0; i < agg->opts.nr_cpus; i++) {
		const struct cpu_state *cpu = &agg->cpus[i];

		if (!cpu->seen)
			continue;
		frame->nr_cpus++;
		frame->busy_ns += cpu->busy_ns - cpu->busy_base;
		frame->emulated |= cpu->emulated;
	}
	for (i = 0; i < agg->nr_holdings; i++)
		frame->emulated |= agg->holdings[i].emulated;
}

int aggregate_close(struct aggregate *agg, struct frame *frame)
{
	uint64_t since = agg->closed_ns ? agg->closed_ns : agg->first_ns;
	int err;

	*frame = (struct frame){
		.by = agg->opts.by,
		.elapsed_ns = agg->last_ns - since,
		.nr_domains = agg->nr_domains,
		.interval_ns = agg->interval_ns,
	};
	if (agg->last_ns != agg->closed_ns)
		frame->end_ns = agg->last_ns;
	forget_groups(agg);
	sum_cpus(agg, frame);
	frame->ticks_ns = frame->elapsed_ns * frame->nr_cpus;
	aggregate_rows(agg, frame);
	holdings_close(agg);
	close_cpus(agg);
	agg->closed_ns = agg->last_ns;
	err = agg->err;
	agg->err = 0;
	return err;
}
