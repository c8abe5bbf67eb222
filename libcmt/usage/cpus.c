// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of CPUs: their ticks, and the RMID that they ran last */
#include "state.h"

#include <string.h>

static void cpu_owner(struct usage_cpu *cpu, const struct cmt_slot_cpu *c)
{
	const struct cmt_owner *owner = c->owner;

	cpu->rmid = c->rmid;
	cpu->generation = c->generation;
	cpu->comm[0] = '\0';
	cpu->tgid = 0;
	cpu->cgroup_id = 0;
	cpu->owner = 0;
	cpu->kind = c->rmid == CMT_RMID_NONE ? CMT_USAGE_UNATTRIBUTED :
					       CMT_USAGE_UNKNOWN;
	if (c->rmid == CMT_RMID_NONE || !owner)
		return;
	cpu->kind = owner->kind == CMT_OWNER_OVERFLOW ? CMT_USAGE_OVERFLOW :
							CMT_USAGE_OWNER;
	cpu->owner = owner->kind;
	cpu->tgid = owner->tgid;
	memcpy(cpu->comm, owner->comm, sizeof(cpu->comm));
	if (usage_in_cgroup(cpu->kind, cpu->owner) ||
	    owner->cgroup_id & CMT_RESCTRL_GROUP)
		cpu->cgroup_id = owner->cgroup_id;
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
		cpu_owner(cpu, c);
		if (cpu->cgroup_id)
			usage_cgroup(usage, cpu->cgroup_id);
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
