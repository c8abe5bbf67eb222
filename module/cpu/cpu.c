// SPDX-License-Identifier: GPL-2.0
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "cpu.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "rdtgroups.h"
#include "ring/ring.h"

#define UNREAD_MAX	(10 * HZ)	/* see is_unread() */

/* Note that some work of @rmid's owner on this CPU counted under another RMID. */
static void cpu_overwritten(struct cmt_cpu *cpu, u32 rmid)
{
	cpu->pqr_overwritten++;
	cpu->overwritten = true;
	cmt_note_overwritten(cpu->domain, rmid);
	cmt_cpu_mark(cpu, rmid);
}

/*
 * The RMID that another agent has loaded, as an index of tables by RMID.  A processor
 * refuses RMIDs beyond the tables.  An RMID that it did not refuse counts as RMID 0.
 */
static u32 pqr_others_rmid(u64 pqr)
{
	u32 rmid = pqr_rmid(pqr);

	return likely(rmid < cmt_caps.rmid_room) ? rmid : CMT_RMID_NONE;
}

/* Does the RMID of a resctrl group count for the owner of @task alone? */
static bool is_sole(const struct task_struct *task, u32 rmid)
{
	return cmt_task_rmid(task) == rmid &&
	       cmt_rdtgroup_is_sole(&cmt_rdtgroups[rmid],
				    cmt_rdtgroups_owner(cpu_owner_of(task)));
}

/*
 * Another agent has loaded an RMID: resctrl that of the current task's group, or if the task
 * is in none, that of the CPU's; a program with access to MSRs that of the CPU.  RMID 0: the
 * CPU is cmt's.
 */
static void cpu_foreign_set(struct cmt_cpu *cpu, u32 rmid)
{
	cpu->foreign = rmid;
	cpu->switch_loads = !rmid;
	if (!rmid || !cmt_task_rmid(current))
		cpu->default_rmid = rmid;
	cmt_foreign_see(rmid);
}

/*
 * A program that saved the RMID of cmt's which it replaced may restore that one instead of
 * RMID 0.  resctrl restores nothing, and may hand out the same RMID.
 */
static bool is_restored(const struct cmt_cpu *cpu, u32 found)
{
	return cpu->foreign && found == cpu->replaced && !cmt_resctrl_mounted();
}

/* PQR_ASSOC has an RMID that cmt did not load. */
void cmt_cpu_found(struct cmt_cpu *cpu, u64 pqr)
{
	u32 found = pqr_others_rmid(pqr);

	if (cpu->rmid != cpu->foreign && !is_sole(current, found))
		cpu_overwritten(cpu, cpu->rmid);
	if (!cpu->foreign)
		cpu->replaced = cpu->rmid;
	cpu_foreign_set(cpu, is_restored(cpu, found) ? CMT_RMID_NONE : found);
	cmt_foreign_queue_scan();
}

/*
 * The CLOSID half is read at every write, because resctrl changes it at any time.  If
 * the processor refuses the RMID, RMID 0 is loaded instead of the previous RMID.
 * Returns the loaded RMID.
 *
 * The RMID that is found here may be the RMID of @next, and is then loaded at once.  As
 * long as cpu->rmid equals cpu_rmid_of(), every later write of resctrl is noticed, also
 * a write of RMID 0.
 */
static u32 pqr_load(struct cmt_cpu *cpu, const struct task_struct *next,
		    u32 rmid)
{
	u64 pqr;

	if (cmt_rdmsr_safe(CMT_MSR_PQR_ASSOC, &pqr))
		return cpu->rmid;
	if (unlikely(pqr_rmid(pqr) != cpu->rmid)) {
		cmt_cpu_found(cpu, pqr);
		rmid = cpu_rmid_of(cpu, next);
	}
	pqr &= CMT_PQR_CLOSID;
	if (likely(!cmt_wrmsr_safe(CMT_MSR_PQR_ASSOC, pqr | rmid)))
		return rmid;
	cpu_overwritten(cpu, rmid);
	if (cmt_wrmsr_safe(CMT_MSR_PQR_ASSOC, pqr))
		return cpu->rmid;
	return CMT_RMID_NONE;
}

void cmt_cpu_refused(struct cmt_cpu *cpu)
{
	cpu_overwritten(cpu, cpu->rmid);
	cpu->rmid = CMT_RMID_NONE;
}

/*
 * Note that the CPU runs with @rmid from now on.  The next tick reads the RMID that it ran
 * with until now, and the RMID that it runs with then.
 */
static __always_inline void cpu_rmid_set(struct cmt_cpu *cpu, u32 rmid)
{
	cmt_cpu_mark(cpu, cpu->rmid);
	cpu->rmid = rmid;
	if (unlikely(cpu->perf))
		cmt_perf_turn(cpu->perf, rmid);
}

/* perf.c gets the RMID at the end of the tick. */
noinline void cmt_cpu_tick_change(struct cmt_cpu *cpu, u32 rmid)
{
	cmt_cpu_mark(cpu, cpu->rmid);
	cpu->rmid = rmid;
}

static __always_inline void cpu_loaded(struct cmt_cpu *cpu, u32 rmid)
{
	cpu->pqr_writes++;
	cpu_rmid_set(cpu, rmid);
}

/*
 * The slow path of a load.  @prev ran on this CPU with the previous RMID.  Nothing is left to
 * be done behind this call, so the fast path saves no registers.
 */
static noinline void cpu_load_slow(struct cmt_cpu *cpu, struct task_struct *prev,
				   const struct task_struct *next, u32 rmid)
{
	if (cmt_caps.shared_rmids)
		rmid = pqr_load(cpu, next, rmid);
	else
		cpu_account(cpu, prev);
	cpu_loaded(cpu, rmid);
}

static __always_inline void cpu_load(struct cmt_cpu *cpu,
				     struct task_struct *prev,
				     const struct task_struct *next, u32 rmid)
{
	u64 pqr;

	if (unlikely(!cmt_caps.shared_rmids ||
		     cmt_rdmsr_safe(CMT_MSR_PQR_ASSOC, &pqr) ||
		     pqr_rmid(pqr) != cpu->rmid ||
		     cmt_wrmsr_safe(CMT_MSR_PQR_ASSOC,
				    (pqr & CMT_PQR_CLOSID) | rmid)))
		cpu_load_slow(cpu, prev, next, rmid);
	else
		cpu_loaded(cpu, rmid);
}

/*
 * @task runs on the CPU with the RMID that resctrl loaded: as a member of a group, or as any
 * task on a CPU of a group.  An exiting task may have left its owner.
 */
static void cpu_member_see(struct cmt_cpu *cpu, const struct task_struct *task)
{
	u32 owner = CMT_RDTGROUP_SEVERAL, theirs = cmt_task_rmid(task);

	if (theirs && (theirs != cpu->foreign || task->flags & PF_EXITING))
		return;
	if (theirs)
		owner = cmt_rdtgroups_owner(cpu_owner_of(task));
	else
		cpu->default_rmid = cpu->foreign;
	cmt_rdtgroups_see(cpu->foreign, owner);
}

/* cpu_rmid_of() while another agent has the CPU */
u32 cmt_cpu_rmid_beside(struct cmt_cpu *cpu, const struct task_struct *task)
{
	u32 own = cpu_own(task), foreign = cpu->foreign;

	if (cmt_resctrl_mounted())
		cpu_member_see(cpu, task);
	if (!own)
		return foreign;
	if (READ_ONCE(cmt_settings.resctrl) == CMT_RESCTRL_TAKE)
		return own;
	if (!is_sole(task, foreign))
		cpu_overwritten(cpu, own);
	return foreign;
}

static void cpu_load_if_other(struct cmt_cpu *cpu, struct task_struct *task)
{
	u32 rmid = cpu_rmid_of(cpu, task);

	if (rmid != cpu->rmid)
		cpu_load(cpu, task, task, rmid);
}

/*
 * resctrl writes PQR_ASSOC in __switch_to(), after this probe.  Where resctrl may write,
 * the probe leaves the register alone.  A self-interrupt follows as soon as the switch
 * is over, reads the register, and loads the RMID of @next.
 */
static noinline void cpu_switch_resctrl(struct cmt_cpu *cpu,
					struct task_struct *prev,
					struct task_struct *next)
{
	if (!cmt_resctrl_writes(prev, next)) {
		cpu_load_if_other(cpu, next);
		return;
	}
	cpu->reloading = true;
	irq_work_queue(&cpu->reload);
}

/*
 * Has resctrl written the RMID that is loaded, which may by chance be the RMID of an owner
 * of cmt's?
 */
static bool is_foreign_write(const struct cmt_cpu *cpu, u32 loaded)
{
	return loaded != cpu->rmid ||
	       (loaded != cpu->foreign && loaded == cmt_task_rmid(current));
}

/*
 * After a switch in which resctrl may have written.  A write of resctrl here overwrote
 * nothing of cmt's.  Without a write, the RMID that resctrl wants is the one that it loaded
 * last.
 */
void cmt_cpu_reload(struct cmt_cpu *cpu)
{
	u64 pqr;
	u32 rmid;

	cpu->reloading = false;
	if (cmt_rdmsr_safe(CMT_MSR_PQR_ASSOC, &pqr))
		return;
	rmid = pqr_others_rmid(pqr);
	if (is_foreign_write(cpu, rmid))
		cpu_foreign_set(cpu, rmid);
	cpu_rmid_set(cpu, rmid);
	cpu_load_if_other(cpu, current);
}

static void cpu_reload_fn(struct irq_work *work)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);

	if (cpu->up && cpu->reloading)
		cmt_cpu_reload(cpu);
}

/* Check for writes of another agent, as a tick does. */
static void cpu_look(struct cmt_cpu *cpu)
{
	u64 pqr;

	if (!cmt_caps.shared_rmids ||
	    cmt_rdmsr_safe(CMT_MSR_PQR_ASSOC, &pqr) ||
	    !is_foreign_write(cpu, pqr_others_rmid(pqr)))
		return;
	cmt_cpu_found(cpu, pqr);
	cpu_rmid_set(cpu, pqr_others_rmid(pqr));
}

/* Another agent has the CPU, or had it until now: the register says which. */
static noinline void cpu_switch_beside(struct cmt_cpu *cpu,
				       struct task_struct *next)
{
	cpu_look(cpu);
	cpu_load_if_other(cpu, next);
}

/* While resctrl is mounted.  Threads of one process may be in different groups. */
static __always_inline void cpu_switch_mounted(struct cmt_cpu *cpu,
					       struct task_struct *prev,
					       struct task_struct *next)
{
	cpu->switches += prev->tgid != next->tgid;
	if (cpu->up)
		cpu_switch_resctrl(cpu, prev, next);
}

/* To another process */
static __always_inline void cpu_switch_process(struct cmt_cpu *cpu,
					       struct task_struct *prev,
					       struct task_struct *next)
{
	u32 rmid = cpu_own(next);

	cpu->switches++;
	if (rmid == cpu->rmid)
		return;
	if (likely(cpu->switch_loads))
		cpu_load(cpu, prev, next, rmid);
	else if (cpu->up)
		cpu_switch_beside(cpu, next);
}

/*
 * The switch path, with the run-queue lock held and interrupts off: no lock, no
 * allocation.  Threads of one process have one owner.
 */
void notrace cmt_probe_switch(void *data, bool preempt,
			      struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state)
{
	if (static_branch_unlikely(&cmt_resctrl_key))
		cpu_switch_mounted(this_cpu_ptr(&cmt_cpus), prev, next);
	else if (prev->tgid != next->tgid)
		cpu_switch_process(this_cpu_ptr(&cmt_cpus), prev, next);
}

static noinline void notrace switch_odd(struct task_struct *prev,
					struct task_struct *next,
					unsigned int prev_state)
{
	cmt_wait_switch_odd(this_cpu_ptr(&cmt_cpus), prev, next, prev_state);
	cmt_probe_switch(NULL, false, prev, next, prev_state);
}

void notrace cmt_probe_switch_waits(void *data, bool preempt,
				    struct task_struct *prev,
				    struct task_struct *next,
				    unsigned int prev_state)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);

	if (unlikely(!cmt_wait_switch(cpu, prev, next, prev_state)))
		switch_odd(prev, next, prev_state);
	else if (static_branch_unlikely(&cmt_resctrl_key))
		cpu_switch_mounted(cpu, prev, next);
	else if (prev->tgid != next->tgid)
		cpu_switch_process(cpu, prev, next);
}

void cmt_cpu_refresh(void)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);

	lockdep_assert_irqs_disabled();
	if (!cpu->up)
		return;
	if (cpu->reloading)
		cmt_cpu_reload(cpu);
	WRITE_ONCE(cpu->looked, jiffies);
	cpu_look(cpu);
	cpu_load_if_other(cpu, current);
}

static void cpu_refresh_ipi(void *unused)
{
	cmt_cpu_refresh();
}

void cmt_cpus_refresh(void)
{
	on_each_cpu(cpu_refresh_ipi, NULL, true);
}

static bool is_not_excluded(int cpu, void *unused)
{
	return !cmt_is_excluded(cpu);
}

/*
 * Where no RMID changes, a switch does not read PQR_ASSOC, and an excluded CPU has no tick
 * to do it: may another agent, or resctrl for a group of CPUs, have written it since?
 */
static bool is_unread(const struct cmt_cpu *c)
{
	return cmt_caps.shared_rmids &&
	       time_after(jiffies, READ_ONCE(c->looked) + UNREAD_MAX);
}

/*
 * Does the excluded CPU lack the RMID of its task?  Every switch on it is over that began
 * before the owners changed, and later ones load the right RMID.  So what is read here of a
 * CPU without a later switch does not change, and an RMID in limbo is no owner's.
 */
static bool is_stale(int cpu, void *unused)
{
	const struct cmt_cpu *c = per_cpu_ptr(&cmt_cpus, cpu);
	u32 foreign = READ_ONCE(c->foreign), rmid = READ_ONCE(c->rmid), own;

	if (!cmt_is_excluded(cpu) || !READ_ONCE(c->up))
		return false;
	if (READ_ONCE(c->reloading) || is_unread(c))
		return true;
	if (foreign)
		return rmid != foreign ||
		       READ_ONCE(cmt_settings.resctrl) == CMT_RESCTRL_TAKE;
	rcu_read_lock();
	own = READ_ONCE(cmt_owner_table[cmt_task_on(cpu)->tgid]);
	rcu_read_unlock();
	own = cmt_owner_rmid(own) ?: cmt_owner_rmid(per_cpu(cmt_cpu_owner, cpu));
	return rmid != own;
}

void cmt_cpus_drain(void)
{
	on_each_cpu_cond(is_not_excluded, cpu_refresh_ipi, NULL, true);
	if (!cmt_excludes_any())
		return;
	synchronize_rcu();	/* a switch has interrupts off */
	on_each_cpu_cond(is_stale, cpu_refresh_ipi, NULL, true);
}

static void cpu_account_ipi(void *unused)
{
	const struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);

	if (cpu->up)
		cpu_account(cpu, current);
}

void cmt_cpus_account(void)
{
	if (cmt_backend->account)
		on_each_cpu(cpu_account_ipi, NULL, true);
}

/* cmt has loaded nothing on this CPU so far. */
void cmt_cpu_up(u32 domain, u32 domain_id)
{
	struct cmt_cpu *c = this_cpu_ptr(&cmt_cpus);
	unsigned long flags;
	u64 pqr = 0;

	local_irq_save(flags);
	this_cpu_write(cmt_rings.domain_id, domain_id);
	c->domain = domain;
	if (cmt_caps.shared_rmids)
		cmt_rdmsr_safe(CMT_MSR_PQR_ASSOC, &pqr);
	c->default_rmid = CMT_RMID_NONE;
	c->replaced = CMT_RMID_NONE;
	cpu_foreign_set(c, pqr_others_rmid(pqr));
	c->rmid = c->foreign;
	c->reloading = false;
	c->overwritten = false;
	cmt_backend->cpu_up(domain);
	c->up = true;
	cmt_cpu_refresh();
	local_irq_restore(flags);
}

/* Load the RMID that resctrl loaded last, unless another agent has written one since. */
static void cpu_restore_pqr(const struct cmt_cpu *c)
{
	u64 pqr;

	if (cmt_rdmsr_safe(CMT_MSR_PQR_ASSOC, &pqr) || pqr_rmid(pqr) != c->rmid)
		return;
	cmt_wrmsr_safe(CMT_MSR_PQR_ASSOC,
		       (pqr & CMT_PQR_CLOSID) | c->foreign);
}

void cmt_cpu_down(void)
{
	struct cmt_cpu *c = this_cpu_ptr(&cmt_cpus);
	unsigned long flags;

	local_irq_save(flags);
	cpu_look(c);
	c->up = false;
	c->switch_loads = false;
	if (cmt_caps.shared_rmids)
		cpu_restore_pqr(c);
	c->foreign = CMT_RMID_NONE;
	c->default_rmid = CMT_RMID_NONE;
	c->rmid = CMT_RMID_NONE;
	local_irq_restore(flags);
}

/* Per-CPU data of a module cannot be initialized with addresses at build time. */
int cmt_cpus_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(cmt_cpus, cpu).reload = IRQ_WORK_INIT_HARD(cpu_reload_fn);
	return 0;
}

void cmt_cpus_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(cmt_cpus, cpu).reload);
}
