// SPDX-License-Identifier: GPL-2.0
#include <linux/cpumask.h>

#include "cpu.h"

DEFINE_PER_CPU(struct cmt_cpu, cmt_cpus);

void cmt_cpus_stats(struct cmt_stats *stats)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);

		stats->cpus_unread += READ_ONCE(c->unread);
		stats->cpus_foreign += !!READ_ONCE(c->default_rmid);
		stats->switches += READ_ONCE(c->switches);
		stats->pqr_writes += READ_ONCE(c->pqr_writes);
		stats->pqr_overwritten += READ_ONCE(c->pqr_overwritten);
	}
}
