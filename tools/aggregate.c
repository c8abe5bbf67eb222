// SPDX-License-Identifier: GPL-2.0-or-later
/* An interval: its CPUs, its beginning and its end. */
#include "aggregate_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	aggregate_forget(agg);
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
