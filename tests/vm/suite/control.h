/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scopes, attaching and cgroups, for the tests of both. */
#ifndef CMT_SUITE_CONTROL_H
#define CMT_SUITE_CONTROL_H

#include "dev.h"
#include "suite.h"

#define CGROUPS "/sys/fs/cgroup"

/* 0 or -errno; patterns NULL: the patterns stay */
int scope_try(const struct dev *dev, uint32_t scope, const char *patterns,
	      uint32_t *bad_at);
void scope_set(const struct dev *dev, uint32_t scope);

/* 0 or -errno; out may be NULL */
int attach(const struct dev *dev, uint32_t kind, uint64_t id, uint32_t options,
	   struct cmt_attach *out);
int detach(const struct dev *dev, uint32_t kind, uint64_t id);
int owner_register(const struct dev *dev, uint32_t kind, uint64_t id,
		   struct cmt_attach *out);
int owner_unregister(const struct dev *dev, uint32_t kind, uint64_t id);
/* any of these ioctls, by its number */
int owner_order(const struct dev *dev, unsigned long number, uint32_t kind,
		uint64_t id, uint32_t options, struct cmt_attach *out);

/* CMT_IOC_READ: the number of records, or -errno */
int owner_read(const struct dev *dev, uint32_t kind, uint64_t id,
	       struct cmt_record *records, uint32_t room);

/* The pending owners; returns their number */
uint32_t waiting_get(const struct dev *dev, struct cmt_record *records,
		     uint32_t room);

/* Directories below CGROUPS.  The name of a container is as docker makes it. */
uint64_t group_make(const char *name);
void group_remove(const char *name);
void group_enter(const char *name, pid_t pid);
/* All processes of the cgroup get a hundredth of one CPU: a millisecond in 100. */
void group_throttle(const char *name);
const char *container(unsigned int i);	/* valid until the fourth call after */

/* The owner of this kind and id; NULL: none, or the owner is pending. */
const struct cmt_record *owner_find(const struct dev *dev, uint32_t kind,
				    uint64_t id);

/* A process that runs for ever on one CPU, and touches a MiB. */
pid_t spin_on(int cpu);

/* The processor time of a process, ns */
uint64_t ran_ns(pid_t pid);

/* Wait until every spinning process has run on. */
void wait_spin(void);

/* Has the CPU had a tick with this RMID since the last call? */
bool saw_tick(struct dev *dev, uint32_t cpu, uint32_t rmid);

/* Wait for a tick of the CPU with this RMID. */
void wait_tick(struct dev *dev, uint32_t cpu, uint32_t rmid);

/*
 * A process that forks, executes and moves between containers, of LOAD_GROUPS, for ever.
 * Meanwhile only these cgroups are containers:
 */
#define LOAD_GROUPS	3

pid_t load_start(unsigned int seed);

/* Are exactly the processes of this scope owners? */
void check_scope(const struct dev *dev, uint32_t scope,
		 const uint64_t *ids);

/* The invariants of the pool while no owner begins or ends. */
void check_pool(const struct dev *dev);

#endif
