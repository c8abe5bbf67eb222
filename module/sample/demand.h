/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readings on demand (CMT_IOC_READ), and owners that are held (CMT_IOC_REGISTER).  The
 * PMU of cqm.h uses both.
 *
 * A reading claims the counter as a tick does (burst.h), with interrupts off on a
 * CPU of the domain that has ticks, and adds to the same sums.  So a tick of
 * another CPU may find the counter busy, and reads it in its next tick.
 */
#ifndef CMT_DEMAND_H
#define CMT_DEMAND_H

#include <linux/list.h>
#include <linux/types.h>

#include "uapi/cmt.h"

struct cmt_waiter;
struct task_struct;

/* What is read: an RMID while it has this generation */
struct cmt_demand_key {
	u32 rmid;
	u32 generation;
};

/*
 * A hold of an owner.  The owner may end before the hold: a process exits, a cgroup is
 * removed, a CPU goes offline.  The hold then refers to no owner, also where another
 * owner has the id; it is released in the same way.
 */
struct cmt_hold {
	struct list_head list;	/* for the holder's use */
	u64 serial;	/* the owner's serial */
	u32 number;	/* the owner's number; another owner's, if its serial differs */
};

/*
 * attach.c.  Process context, neither under mmap_lock nor under cpus_read_lock: these
 * functions may sleep for long.  The caller keeps the module from being unloaded.
 *
 * @kind and @id as in CMT_IOC_REGISTER, a process id in the namespace of current;
 * 0, -ESRCH, -ENOENT, -ENXIO, -ENOSPC as CMT_IOC_ATTACH.  @options:
 * CMT_ATTACH_CHILDREN or 0.
 */
int cmt_hold(struct cmt_hold *hold, u32 kind, u64 id, u32 options);

/*
 * Hold the process of @task, which may be any thread of it.  -ESRCH: the process has
 * exited.
 */
int cmt_hold_task(struct cmt_hold *hold, struct task_struct *task, u32 options);

void cmt_unhold(struct cmt_hold *hold);
/* Release all holds of a list, at the cost of one. */
void cmt_unhold_all(struct list_head *holds);

/*
 * The owner's current RMID and generation; both change when resctrl takes the RMID.
 * -ENOENT: the owner has ended; -EAGAIN: the owner is pending, and *rmid is the overflow
 * owner's.  Any context but NMI.
 */
int cmt_hold_rmid(const struct cmt_hold *hold, u32 *rmid, u32 *generation);

/*
 * CMT_IOC_READ of an owner of the scope, or an attached or held owner.  @id: in the
 * namespace of current.  As cmt_demand_owner(); -ESRCH: no such process; -ENOENT: no owner;
 * -EAGAIN: pending.
 */
int cmt_owner_read(u32 kind, u64 id, struct cmt_record *records, u32 room,
		   u32 *count);

/*
 * hold.c: the registrations of a descriptor.  Errors as CMT_IOC_REGISTER and
 * _UNREGISTER; the caller has checked kind and options.  Process context, as cmt_hold().
 */
int cmt_register(struct cmt_waiter *waiter, struct cmt_attach *arg);
int cmt_unregister(struct cmt_waiter *waiter, const struct cmt_attach *arg);
/* The descriptor is being closed. */
void cmt_unregister_all(struct cmt_waiter *waiter);

/* demand.c */

/*
 * CMT_IOC_READ of all RMIDs with an owner: SAMPLE records, by domain.  @room: the greatest
 * number of records; *count: their number.  Process context; may sleep.  0; -ENOSPC: there
 * are more records; -ENOMEM; -EINTR.
 */
int cmt_demand_all(struct cmt_record *records, u32 room, u32 *count);

/*
 * The same of one owner with the RMID of @keys[0]: the record of a domain is the sum of all
 * keys.  -ENOENT: that generation has ended.
 */
int cmt_demand_owner(const struct cmt_demand_key *keys, u32 n,
		     struct cmt_record *records, u32 room, u32 *count);

/* The time that calls to CPUs have had interrupts off, ns, of all CPUs. */
u64 cmt_demand_ns(void);

/* The current upper limit of records, of one RMID or of all. */
u32 cmt_demand_room(bool all);

/*
 * Read some RMIDs in the domain with index @domain, below cmt_sampler_domains().
 * @records[i] is the SAMPLE of @keys[i], as of CMT_IOC_READ; CMT_REC_PAD: the generation
 * has ended or, with -EINTR, the RMID was not read.  Process context; may sleep.
 * 0 or -EINTR.
 */
int cmt_demand_read(const struct cmt_demand_key *keys, u32 n, u32 domain,
		    struct cmt_record *records);

/*
 * Read one RMID in the domain of this CPU, with interrupts off, not in an NMI.  0, also
 * where a value is not known, by its flag; -ENOENT: the generation has ended;
 * -EAGAIN: the counter is busy, for some microseconds, or another CPU has to read it
 * (cmt_sampler_may_read()); -ENXIO: this CPU is not up.
 */
int cmt_demand_read_here(const struct cmt_demand_key *key,
			 struct cmt_record *sample);

#endif
