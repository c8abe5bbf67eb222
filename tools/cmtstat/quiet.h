/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which L3 domain of this machine has least to do, by the kernel's account of its CPUs. */
#ifndef TOOLS_QUIET_H
#define TOOLS_QUIET_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define QUIET_DOMAINS	64	/* more are left out */
#define QUIET_LIST_LEN	256

struct quiet_domain {
	uint32_t id;		/* as resctrl has it, too */
	uint32_t nr_cpus;
	uint64_t before;	/* idle time of its CPUs at quiet_begin(), in ticks */
	uint64_t idle;		/* since then */
	cpu_set_t cpus;
	char list[QUIET_LIST_LEN];	/* of its CPUs, as cpuset.cpus takes it */
};

struct quiet {
	const char *root;	/* where /sys and /proc are; "" but for tests */
	uint32_t nr;
	struct quiet_domain domains[QUIET_DOMAINS];
};

/* What cannot be read is no domain. */
void quiet_begin(struct quiet *quiet, const char *root);

/*
 * The domain whose CPUs idled most since quiet_begin().  NULL: it is @domain itself, or
 * there is none that idled more than that.
 */
const struct quiet_domain *quiet_find(struct quiet *quiet, uint32_t domain);

/* Can the cgroup in this directory have the CPUs of @to, by cpuset.cpus? */
bool quiet_may_have(const char *cgroup, const struct quiet_domain *to);

#endif
