/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_CPUMASK_H
#define SHIM_LINUX_CPUMASK_H

#include <stdbool.h>

#include "../fake.h"

#define nr_cpu_ids	fake.nr_cpus

struct cpumask {
	unsigned long bits;
};

static inline void cpumask_set_cpu(unsigned int cpu, struct cpumask *mask)
{
	mask->bits |= 1UL << cpu;
}

static inline void cpumask_clear_cpu(unsigned int cpu, struct cpumask *mask)
{
	mask->bits &= ~(1UL << cpu);
}

static inline bool cpumask_empty(const struct cpumask *mask)
{
	return !mask->bits;
}

#endif
