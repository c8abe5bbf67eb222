/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which L3 domain of this machine has least to do, by the kernel's account of its CPUs. */
#ifndef TOOLS_IDLE_DOMAIN_H
#define TOOLS_IDLE_DOMAIN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define IDLE_DOMAINS	64	/* more are left out */
#define IDLE_LIST_LEN	256

struct idle_domain {
	uint32_t id;		/* as resctrl has it, too */
	uint32_t nr_cpus;
	uint64_t before;	/* idle time of its CPUs at idle_domains_begin(), in ticks */
	uint64_t idle;		/* since then */
	cpu_set_t cpus;
	char list[IDLE_LIST_LEN];	/* of its CPUs, as cpuset.cpus takes it */
};

struct idle_domains {
	const char *root;	/* where /sys and /proc are; "" but for tests */
	uint32_t nr;
	struct idle_domain domains[IDLE_DOMAINS];
};

/* What cannot be read is no domain. */
void idle_domains_begin(struct idle_domains *all, const char *root);

/*
 * The domain whose CPUs idled most since idle_domains_begin().  NULL: it is @domain itself, or
 * there is none that idled more than that.
 */
const struct idle_domain *idle_domain_find(struct idle_domains *all, uint32_t domain);

/* Can the cgroup in this directory have the CPUs of @to, by cpuset.cpus? */
bool idle_domain_may_have(const char *cgroup, const struct idle_domain *to);

#endif
