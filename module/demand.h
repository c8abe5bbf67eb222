/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readings on demand, and owners that are held: what CMT_IOC_READ and
 * CMT_IOC_REGISTER do, and what the kernel itself can do.
 *
 * A reading claims the counter as a tick does (burst.h), with interrupts off on a
 * CPU of the domain that has ticks, and adds to the same sums.  So a tick of
 * another CPU may find the counter busy, and reads it in its next tick.
 */
#ifndef CMT_DEMAND_H
#define CMT_DEMAND_H

#include <linux/types.h>

#include "uapi/cmt.h"

struct task_struct;

/*
 * One who holds an owner.  The owner may end before: a process that exits, a
 * cgroup that is removed, a CPU that goes offline.  Then the hold is of nothing,
 * also when the id is another's; it is let go as ever.
 */
struct cmt_hold {
	u64 serial;	/* of the owner */
	u32 number;	/* of the owner; another owner's, if its serial differs */
};

/*
 * attach.c.  Process context, neither under mmap_lock nor under cpus_read_lock: both
 * may sleep long.  The caller keeps the module from being unloaded.
 *
 * @kind and @id as in CMT_IOC_REGISTER, a process id in the namespace of current;
 * 0, -ESRCH, -ENOENT, -ENXIO, -ENOSPC as CMT_IOC_ATTACH.  @options:
 * CMT_ATTACH_CHILDREN or 0.
 */
int cmt_hold(struct cmt_hold *hold, u32 kind, u64 id, u32 options);

/* The process of @task, whichever of its threads that is.  -ESRCH: it has exited. */
int cmt_hold_task(struct cmt_hold *hold, struct task_struct *task, u32 options);

void cmt_unhold(struct cmt_hold *hold);

/*
 * The owner's RMID and generation now; both change when resctrl takes the RMID.
 * -ENOENT: the owner has ended; -EAGAIN: it is pending, and *rmid is the overflow
 * owner's.  Any context but NMI.
 */
int cmt_hold_rmid(const struct cmt_hold *hold, u32 *rmid, u32 *generation);

/* demand.c */

/* Domains that are known, by index; they never become fewer. */
u32 cmt_demand_domains(void);

/*
 * Read an RMID in a domain: *@sample is a SAMPLE as CMT_IOC_READ gives it.
 * Process context; may sleep.  0, also when there are no values: flags;
 * -ENOENT: @generation of @rmid has ended; -EINTR.
 */
int cmt_demand_read(u32 rmid, u32 generation, u32 domain,
		    struct cmt_record *sample);

/*
 * The same in the domain of this CPU, with interrupts off, not in an NMI.
 * -EAGAIN: the counter is busy, for some microseconds; -ENXIO: this CPU is not
 * up.
 */
int cmt_demand_read_here(u32 rmid, u32 generation, struct cmt_record *sample);

#endif
