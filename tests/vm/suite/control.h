/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scopes, attaching and cgroups, for the tests of both. */
#ifndef CMT_SUITE_CONTROL_H
#define CMT_SUITE_CONTROL_H

#include "dev.h"
#include "suite.h"

#define CGROUPS "/sys/fs/cgroup"

/* 0 or -errno; patterns NULL: as they are */
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
/* any of them, by the number of its ioctl */
int owner_order(const struct dev *dev, unsigned long number, uint32_t kind,
		uint64_t id, uint32_t options, struct cmt_attach *out);

/* CMT_IOC_READ: how many records, or -errno */
int owner_read(const struct dev *dev, uint32_t kind, uint64_t id,
	       struct cmt_record *records, uint32_t room);

/* The pending owners; returns their number */
uint32_t waiting_get(const struct dev *dev, struct cmt_record *records,
		     uint32_t room);

/* Directories below CGROUPS.  A container is called as docker calls it. */
uint64_t group_make(const char *name);
void group_remove(const char *name);
void group_enter(const char *name, pid_t pid);
const char *container(unsigned int i);	/* valid until the fourth call after */

/* The owner of this kind and id, NULL: none, or it waits. */
const struct cmt_record *owner_find(const struct dev *dev, uint32_t kind,
				    uint64_t id);

/* Runs for ever on one CPU, and touches a MiB. */
pid_t spin_on(int cpu);

/* Until those that spin, wherever they were started, have gone on spinning. */
void wait_spin(void);

/* Was there a tick of the CPU under this RMID since one looked? */
bool saw_tick(struct dev *dev, uint32_t cpu, uint32_t rmid);

/* Until a tick of the CPU says that it runs under this RMID. */
void wait_tick(struct dev *dev, uint32_t cpu, uint32_t rmid);

/*
 * A process that forks, executes and goes from container to container, of
 * LOAD_GROUPS, for ever.  Until it ends, only these are containers:
 */
#define LOAD_GROUPS	3

pid_t load_start(unsigned int seed);

/* Are exactly the processes of this scope owners? */
void check_scope(const struct dev *dev, uint32_t scope,
		 const uint64_t *ids);

/* The invariants of the pool while owners neither begin nor end. */
void check_pool(const struct dev *dev);

#endif
