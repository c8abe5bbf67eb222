// SPDX-License-Identifier: LGPL-2.1-or-later
/* CPUs: their ticks, the RMID that they ran last, and their rows */
#include "state.h"

#include <errno.h>

/* The cgroup that names the owner on the CPU; 0: none. */
static uint64_t cpu_cgroup(const struct usage_cpu *cpu)
{
	return usage_is_named(&cpu->owner) ? cpu->owner.cgroup_id : 0;
}

void usage_cpu_add(struct cmt_usage *usage, const struct cmt_slot_cpu *c)
{
	struct usage_cpu *cpu;

	if (c->cpu >= usage->nr_cpus || !c->ticks)
		return;
	cpu = &usage->cpus[c->cpu];
	if (!cpu->ever) {
		cpu->ever = true;
		cpu->missed_base = c->missed;
		cpu->busy_base = c->busy_ns;
	}
	usage_domain(usage, c->domain);
	usage->sampling_ns = c->interval_ns;
	if (usage->by == CMT_USAGE_BY_CPU) {
		cpu->rmid = c->rmid;
		cpu->generation = c->generation;
		cpu->owner = usage_owner_of(c->rmid, c->owner);
		if (cpu_cgroup(cpu))
			usage_cgroup(usage, cpu_cgroup(cpu));
	}
	cpu->seen = true;
	cpu->domain = c->domain;
	cpu->ticks += c->ticks;
	cpu->busy_ticks += c->busy_ticks;
	cpu->missed = c->missed;
	cpu->busy_ns = c->busy_ns;
	cpu->emulated |= !!(c->flags & CMT_F_EMULATED);
	cpu->why |= usage_why(c->flags);
}

void usage_cpus_sum(const struct cmt_usage *usage, struct cmt_usage_frame *frame)
{
	uint32_t i;

	for (i = 0; i < usage->nr_cpus; i++) {
		const struct usage_cpu *cpu = &usage->cpus[i];

		if (!cpu->seen)
			continue;
		frame->nr_cpus++;
		frame->busy_ns += cpu->busy_ns - cpu->busy_base;
		frame->missed += cpu->missed - cpu->missed_base;
		frame->emulated |= cpu->emulated;
	}
}

/* The CPU whose row has the values of a holding; NULL: none. */
static struct usage_cpu *cpu_of(struct cmt_usage *usage, const struct usage_holding *h)
{
	if (!usage_seen(usage, h) || !usage_in_cpu_row(usage, h) ||
	    h->owner.cpu >= usage->nr_cpus ||
	    usage->cpus[h->owner.cpu].row == USAGE_NONE)
		return NULL;
	return &usage->cpus[h->owner.cpu];
}

/* The values of the RMIDs of CPUs, in one pass: holdings can be many, and so can CPUs. */
static void add_cpu_values(struct cmt_usage *usage, struct usage_frame *to)
{
	uint32_t i;

	for (i = 0; i < usage->nr_holdings; i++) {
		const struct usage_holding *h = &usage->holdings[i];
		struct usage_cpu *cpu = cpu_of(usage, h);
		struct cmt_usage_row *row;

		if (!cpu)
			continue;
		row = &to->rows.rows[cpu->row];
		usage_row_add(usage, row, h, to->frame.elapsed_ns);
		usage_row_spread(row, usage_sum(usage, h->group));
		cpu->own = true;
		cpu->alive |= !usage_ended(h);
	}
}

static void settle_cpu_row(struct cmt_usage *usage, struct cmt_usage_row *row)
{
	const struct usage_cpu *cpu = &usage->cpus[row->cpu];

	if (cpu->own) {
		usage_row_settle(usage, row, cpu->alive);
	} else {
		usage_rate_settle(&row->total, false);
		usage_rate_settle(&row->local, false);
	}
}

static void cpu_identity(struct cmt_usage *usage, struct usage_frame *to,
			 struct cmt_usage_row *row, const struct usage_cpu *cpu)
{
	row->flags |= CMT_USAGE_ROW_SEEN;
	if (cpu->emulated)
		row->flags |= CMT_USAGE_ROW_EMULATED;
	row->domain = cpu->domain;
	row->rmid = cpu->rmid;
	row->generation = cpu->generation;
	usage_row_owner(row, &cpu->owner);
	row->cgroup_id = cpu_cgroup(cpu);
	if (row->cgroup_id)
		row->container = usage_row_container(
			usage, to, usage_cgroup(usage, row->cgroup_id));
	row->why = cpu->why;
	row->ticks = cpu->ticks;
	row->busy_ticks = cpu->busy_ticks;
	row->missed = cpu->missed - cpu->missed_base;
	row->busy_ns = cpu->busy_ns - cpu->busy_base;
}

static int build_cpu_row(struct cmt_usage *usage, struct usage_frame *to,
			 uint32_t number)
{
	struct usage_cpu *cpu = &usage->cpus[number];
	struct cmt_usage_row *row;

	cpu->row = USAGE_NONE;
	cpu->own = false;
	cpu->alive = false;
	if (!cpu->seen && cpu->lost == cpu->lost_base)
		return 0;
	row = usage_row_new(&to->rows);
	if (!row)
		return -ENOMEM;
	cpu->row = to->rows.nr - 1;
	row->flags = CMT_USAGE_ROW_CPU;
	row->cpu = number;
	row->kind = CMT_USAGE_UNKNOWN;
	row->lost = cpu->lost - cpu->lost_base;
	if (cpu->seen)
		cpu_identity(usage, to, row, cpu);
	return 0;
}

int usage_cpu_rows(struct cmt_usage *usage, struct usage_frame *to, bool *owners)
{
	uint32_t i;
	int err = 0;

	*owners = false;
	for (i = 0; !err && i < usage->nr_cpus; i++)
		err = build_cpu_row(usage, to, i);
	add_cpu_values(usage, to);
	for (i = 0; i < to->rows.nr; i++) {
		struct cmt_usage_row *row = &to->rows.rows[i];
		const struct usage_cpu *cpu = &usage->cpus[row->cpu];

		settle_cpu_row(usage, row);
		*owners |= cpu->own;
		usage_row_counters(usage, &to->frame, row, &cpu->counted);
	}
	return err;
}

void usage_cpus_close(struct cmt_usage *usage)
{
	uint32_t i;

	for (i = 0; i < usage->nr_cpus; i++) {
		struct usage_cpu *cpu = &usage->cpus[i];

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
