/* SPDX-License-Identifier: GPL-2.0 */
/* The groups of resctrl by their RMID: who their members are, and what records say. */
#ifndef CMT_RDTGROUPS_H
#define CMT_RDTGROUPS_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "owner/owner.h"
#include "rdtgroup.h"
#include "resctrl.h"

struct task_struct;

/* By RMID, also of those that cmt does not allocate. */
extern struct cmt_rdtgroup *cmt_rdtgroups;

int cmt_rdtgroups_init(void);
void cmt_rdtgroups_exit(void);

/* The overflow owner is many processes. */
static __always_inline u32 cmt_rdtgroups_owner(u32 number)
{
	return number > CMT_OVERFLOW_OWNER ? number : CMT_RDTGROUP_SEVERAL;
}

/*
 * A member of @owner, of cmt_rdtgroups_owner(), runs with the RMID of its group.  Any
 * context.
 */
static __always_inline void cmt_rdtgroups_see(u32 rmid, u32 owner)
{
	if (unlikely(cmt_rdtgroup_see(&cmt_rdtgroups[rmid], owner)))
		cmt_foreign_queue_scan();
}

/*
 * The least RMID above @after whose group is the sole group of the owner with this number;
 * 0: there is none.  Racy, in any context.
 */
u32 cmt_rdtgroups_next(u32 number, u32 after);

/*
 * For the work item of scope/foreign.c, in this order: begin, see all threads and CPUs that are
 * members, judge all foreign RMIDs and write their UPDATEs.
 */
void cmt_rdtgroups_begin(void);
/* Under RCU. */
void cmt_rdtgroups_see_thread(struct task_struct *thread);
void cmt_rdtgroups_see_cpu(u32 rmid, unsigned int cpu);
void cmt_rdtgroups_judge(void);

/* No resctrl group has the RMID any more. */
void cmt_rdtgroups_forget(u32 rmid);

#endif
