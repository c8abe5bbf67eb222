/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RMID to load on a CPU, and PQR_ASSOC in a tick.  Inlined in the switch path (cpu.c)
 * and in the tick (tick.c), where every instruction counts.
 */
#ifndef CMT_PQR_H
#define CMT_PQR_H

#include <linux/bits.h>
#include <linux/lockdep.h>
#include <linux/sched.h>

#include "compat.h"
#include "cpu.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "resctrl.h"

#define CMT_PQR_CLOSID		GENMASK_ULL(63, 32)
/* Intel reserves bits 11:10, which are 0: the processor refuses RMIDs beyond CPUID's */
#define CMT_PQR_RMID		GENMASK_ULL(11, 0)

static_assert(CMT_PQR_RMID == CMT_MAX_RMIDS - 1);

/* Another agent may load any RMID, also one that cmt does not allocate. */
static __always_inline u32 pqr_rmid(u64 pqr)
{
	return pqr & CMT_PQR_RMID;
}

/* PQR_ASSOC has an RMID that cmt did not load.  Interrupts off. */
void cmt_cpu_found(struct cmt_cpu *cpu, u64 pqr);

/* The processor refuses the RMID of the CPU: RMID 0 is loaded.  Interrupts off. */
void cmt_cpu_refused(struct cmt_cpu *cpu);

/* resctrl has written PQR_ASSOC after a switch.  Interrupts off. */
void cmt_cpu_reload(struct cmt_cpu *cpu);

/*
 * In a tick, the CPU gets another RMID.  The tick reads the RMID that the CPU ran with until
 * now, too.  Interrupts off.
 */
void cmt_cpu_tick_change(struct cmt_cpu *cpu, u32 rmid);

/* As cpu_rmid_of(), while another agent has the CPU. */
u32 cmt_cpu_rmid_beside(struct cmt_cpu *cpu, const struct task_struct *task);

/* The number of the owner of @task, or of this CPU; 0: neither has one. */
static __always_inline u32 cpu_owner_of(const struct task_struct *task)
{
	return READ_ONCE(cmt_owner_table[task->tgid]) ?: this_cpu_read(cmt_cpu_owner);
}

/* The RMID of the owner of @task, or of this CPU; 0: neither has one. */
static __always_inline u32 cpu_own(const struct task_struct *task)
{
	u32 own = cmt_owner_rmid(READ_ONCE(cmt_owner_table[task->tgid]));

	return own ?: cmt_owner_rmid(this_cpu_read(cmt_cpu_owner));
}

/* The RMID to load for @task, which is current or next on this CPU. */
static __always_inline u32 cpu_rmid_of(struct cmt_cpu *cpu,
				       const struct task_struct *task)
{
	if (unlikely(cpu->foreign))
		return cmt_cpu_rmid_beside(cpu, task);
	return cpu_own(task);
}

/* @task has run on this CPU with the CPU's RMID, without PQR_ASSOC. */
static __always_inline void cpu_account(const struct cmt_cpu *cpu,
					struct task_struct *task)
{
	if (cmt_backend->account)
		cmt_backend->account(task, cpu->rmid);
}

/* Read PQR_ASSOC, and load RMID 0; false: an access failed. */
static __always_inline bool cpu_tick_begin_pqr(struct cmt_cpu *cpu)
{
	u64 pqr;

	if (unlikely(cpu->reloading))
		cmt_cpu_reload(cpu);
	if (cmt_rdmsr_safe(CMT_MSR_PQR_ASSOC, &pqr))
		return false;
	cpu->tick_closid = pqr & CMT_PQR_CLOSID;
	if (unlikely(pqr_rmid(pqr) != cpu->rmid))
		cmt_cpu_found(cpu, pqr);
	return pqr_rmid(pqr) == CMT_RMID_NONE ||
	       !cmt_wrmsr_safe(CMT_MSR_PQR_ASSOC, cpu->tick_closid);
}

/*
 * Between begin() and end() this CPU runs with RMID 0: the memory accesses of a tick
 * would otherwise fill the cache for the interrupted task.  begin() checks whether
 * another agent has changed the association; it returns CMT_F_PQR_OVERWRITTEN if an owner
 * ran with another agent's RMID since the last tick, or 0.  end() loads the RMID of
 * current.  Interrupts off.
 */
static __always_inline u32 cmt_cpu_tick_begin(struct cmt_cpu *cpu)
{
	bool loads = true;
	u32 rmid;

	lockdep_assert_irqs_disabled();
	if (likely(cmt_caps.shared_rmids)) {
		loads = cpu_tick_begin_pqr(cpu);
		cpu->tick_loads = loads;
	} else {
		cpu_account(cpu, current);
	}
	if (likely(loads)) {
		rmid = cpu_rmid_of(cpu, current);
		if (unlikely(rmid != cpu->rmid))
			cmt_cpu_tick_change(cpu, rmid);
	}
	if (likely(!cpu->overwritten))
		return 0;
	cpu->overwritten = false;
	return CMT_F_PQR_OVERWRITTEN;
}

/* Where the RMIDs are only the module's, tick_loads stays false. */
static __always_inline void cmt_cpu_tick_end(struct cmt_cpu *cpu)
{
	if (!cpu->tick_loads || cpu->rmid == CMT_RMID_NONE)
		return;
	if (unlikely(cmt_wrmsr_safe(CMT_MSR_PQR_ASSOC,
				    cpu->tick_closid | cpu->rmid)))
		cmt_cpu_refused(cpu);
}

#endif
