/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernels, 6.1 and newer.  The other files are written for the
 * newest one; no other file tests a version.
 */
#ifndef CMT_COMPAT_H
#define CMT_COMPAT_H

#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/deadline.h>
#include <linux/tick.h>
#include <linux/timekeeping.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <asm/asm.h>
#include <asm/processor.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "cmt needs Linux 6.1 or newer"
#endif

/*
 * 6.2 (bd2756811766): a task has one context for all PMUs.  Before, the software
 * context of a task keeps the PMU of the first event, until the task ends.
 */
#define CMT_PERF_CONTEXT_HAS_PMU (LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0))

/*
 * 6.2 (bd2756811766): perf retries, by a timer, events of any PMU that could not be
 * added.  Before, it does not retry software events before it schedules them again.
 */
#define CMT_PERF_RETRIES (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0))

/*
 * perf's state of a PMU on a CPU.  6.2 (bd2756811766): another structure; 6.15
 * (4eabf533fb18): it is there while the CPU has events of the PMU, else NULL.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define cmt_pmu_cpu	perf_cpu_pmu_context
#else
#define cmt_pmu_cpu	perf_cpu_context
#endif

static inline struct cmt_pmu_cpu *cmt_pmu_cpu_of(const struct pmu *pmu, int cpu)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	return *per_cpu_ptr(pmu->cpu_pmu_context, cpu);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return per_cpu_ptr(pmu->cpu_pmu_context, cpu);
#else
	return per_cpu_ptr(pmu->pmu_cpu_context, cpu);
#endif
}

/*
 * Has an event of the CPU no counter?  perf clears the flag late.  On the CPU, interrupts
 * off: perf clears and sets it when it schedules events.
 */
static inline bool cmt_pmu_cpu_lacks(const struct cmt_pmu_cpu *c)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return c->epc.rotate_necessary;
#else
	return c->ctx.rotate_necessary;
#endif
}

/*
 * The same of the running task's events: the task cannot go, and perf's timer reads the
 * same members in the same way.
 */
static inline bool cmt_pmu_task_lacks(const struct cmt_pmu_cpu *c)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return c->task_epc && c->task_epc->rotate_necessary;
#else
	return c->task_ctx && c->task_ctx->rotate_necessary;
#endif
}

/*
 * End these timers.  The PMU has no events, so none is started again; but a timer of an
 * event that has gone may still run, and perf frees it with the PMU.
 */
static inline void cmt_pmu_cancel_timers(struct pmu *pmu)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	int cpu;

	for_each_possible_cpu(cpu) {
		struct cmt_pmu_cpu *c = cmt_pmu_cpu_of(pmu, cpu);

		if (c)
			hrtimer_cancel(&c->hrtimer);
	}
#endif
}

/*
 * perf_event_attr has a third word for a PMU's configuration since 6.3, and a fourth since
 * 6.18
 */
static inline u64 cmt_perf_more_config(const struct perf_event_attr *attr)
{
#if defined(PERF_ATTR_SIZE_VER9)
	return attr->config3 | attr->config4;
#elif defined(PERF_ATTR_SIZE_VER8)
	return attr->config3;
#else
	return 0;
#endif
}

/*
 * 7.0: while a virtual machine has a mediated vPMU, perf makes no event that counts in guest
 * mode, too.  @error: of an event without any option
 */
static inline bool cmt_perf_is_barred(long error)
{
#ifdef PERF_PMU_CAP_MEDIATED_VPMU
	return error == -EOPNOTSUPP;
#else
	return false;
#endif
}

/* 6.16: cpuid_count() and similar functions have moved here */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <asm/cpuid/api.h>
#endif

/*
 * An MSR and the TSC without a call and without the hooks of paravirtualization,
 * which has no RDT monitoring.  A #GP, which the exception table catches, sets
 * *fault and is otherwise free: *fault can be looked at once for many accesses.
 */
static __always_inline void cmt_rdmsr_halves(u32 msr, u32 *low, u32 *high,
					     int *fault)
{
	asm volatile("1: rdmsr\n"
		     "2:\n"
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_RDMSR_SAFE, "%[fault]")
		     : "=a" (*low), "=d" (*high), [fault] "+r" (*fault)
		     : "c" (msr));
}

static __always_inline void cmt_wrmsr_halves(u32 msr, u32 low, u32 high,
					     int *fault)
{
	asm volatile("1: wrmsr\n"
		     "2:\n"
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_WRMSR_SAFE, "%[fault]")
		     : [fault] "+r" (*fault)
		     : "c" (msr), "a" (low), "d" (high));
}

/* 0 or -EIO; *value is 0 then */
static __always_inline int cmt_rdmsr_safe(u32 msr, u64 *value)
{
	u32 low, high;
	int fault = 0;

	cmt_rdmsr_halves(msr, &low, &high, &fault);
	*value = low | (u64)high << 32;
	return fault;
}

static __always_inline int cmt_wrmsr_safe(u32 msr, u64 value)
{
	int fault = 0;

	cmt_wrmsr_halves(msr, value, value >> 32, &fault);
	return fault;
}

/*
 * Write the two halves to MSR @select, then read MSR @ctr into them, and add the
 * bits of the high half to @highs.  A #GP sets nearly all bits of @highs, the two
 * highest ones among them.  One block, since the compiler would move registers
 * in between.
 */
#define cmt_msr_select_read(select, ctr, low, high, highs) ({			\
	asm volatile("mov %[sel], %%ecx\n"					\
		     "1: wrmsr\n"						\
		     "2: mov %[ct], %%ecx\n"					\
		     "3: rdmsr\n"						\
		     "4: or %%edx, %[all]\n"					\
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_WRMSR_SAFE, "%[all]") \
		     _ASM_EXTABLE_TYPE_REG(3b, 4b, EX_TYPE_RDMSR_SAFE, "%[all]") \
		     : "+a" (low), "+d" (high), [all] "+r" (highs)		\
		     : [sel] "i" (select), [ct] "i" (ctr) : "ecx");		\
})

static __always_inline u32 cmt_rdtsc_low(void)
{
	u32 low;

	asm volatile("rdtsc" : "=a" (low) : : "edx");
	return low;
}

static __always_inline u64 cmt_rdtsc(void)
{
	u64 low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high));
	return low | high << 32;
}

/* Where the kernel does not know the TSC's frequency, a cycle is a nanosecond. */
DECLARE_STATIC_KEY_FALSE(cmt_no_tsc);

static __always_inline u64 cmt_cycles(void)
{
	if (static_branch_unlikely(&cmt_no_tsc))
		return ktime_get_mono_fast_ns();
	return cmt_rdtsc();
}

static __always_inline u32 cmt_cycles_low(void)
{
	if (static_branch_unlikely(&cmt_no_tsc))
		return ktime_get_mono_fast_ns();
	return cmt_rdtsc_low();
}

/* 6.3 (bc292ab00f6c): vm_flags is changed through functions */
static inline void cmt_vm_flags_mod(struct vm_area_struct *vma,
				    vm_flags_t set, vm_flags_t clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* 6.15 (9779489a31d7): hrtimer_init() is gone, hrtimer_setup() is 6.13 */
static inline void
cmt_hrtimer_setup(struct hrtimer *timer,
		  enum hrtimer_restart (*function)(struct hrtimer *timer),
		  enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

/* 6.17 (128ea9f6ccfb): its name now; newer kernels complain of the old one */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define system_dfl_wq	system_unbound_wq
#endif

/* The RMID and CLOSID that resctrl gave to a task; 0: none, or no resctrl. */
static inline u32 cmt_task_rmid(const struct task_struct *task)
{
#ifdef CONFIG_X86_CPU_RESCTRL
	return READ_ONCE(task->rmid);
#else
	return 0;
#endif
}

static inline u32 cmt_task_closid(const struct task_struct *task)
{
#ifdef CONFIG_X86_CPU_RESCTRL
	return READ_ONCE(task->closid);
#else
	return 0;
#endif
}

/*
 * 6.9 (09909e098113): resctrl reads the counters of an L3 domain on one CPU: the first one
 * that is online and without nohz_full.  Before, and in a domain where all CPUs have
 * nohz_full, resctrl reads on any of them.  Can @cpu be the one?
 */
static inline bool cmt_resctrl_can_read_on(unsigned int cpu)
{
	return LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0) &&
	       !tick_nohz_full_cpu(cpu);
}

/*
 * isolcpus= of the command line.  7.0: HK_TYPE_DOMAIN has cpuset's isolated partitions, too,
 * which come and go, and is under RCU.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define CMT_HK_ISOLCPUS	HK_TYPE_DOMAIN_BOOT
#else
#define CMT_HK_ISOLCPUS	HK_TYPE_DOMAIN
#endif

#if defined(CONFIG_CFS_BANDWIDTH) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
/*
 * Another CPU that puts @task on its run queue, or takes it off, begins with the task's own
 * entity and goes up group by group.  Meanwhile it has pi_lock (it wakes the task up or
 * changes it), or on_rq is not 1, TASK_ON_RQ_QUEUED (it moves the task to another CPU).
 */
static inline bool cmt_task_is_queued(struct task_struct *task)
{
	return READ_ONCE(task->on_rq) == 1 && !raw_spin_is_locked(&task->pi_lock);
}

/* A user chooses the depth, and this runs in a tick: more groups are not looked at. */
#define CMT_TASK_GROUPS_MAX	32

/* 1, 0, or -EAGAIN: none of the groups that are looked at lacks, and there are more */
static inline int cmt_task_lacks_group(const struct task_struct *task)
{
	const struct sched_entity *se = &task->se;
	int i;

	if (!READ_ONCE(se->on_rq))
		return 0;
	for (i = 0; i < CMT_TASK_GROUPS_MAX; i++) {
		se = READ_ONCE(se->parent);
		if (!se)
			return 0;
		if (!READ_ONCE(se->on_rq))
			return 1;
	}
	return -EAGAIN;
}

/* x86 reads in this order, and another CPU takes longer than all three */
static inline int cmt_task_look(struct task_struct *task)
{
	bool before = cmt_task_is_queued(task);
	int lacks = cmt_task_lacks_group(task);

	return before && cmt_task_is_queued(task) ? lacks : -EAGAIN;
}
#endif

/*
 * Is @task, which waits for a CPU, out of its quota?  1, 0, or -EAGAIN: this moment does not
 * say.  The run queue is not locked.  RCU.
 *
 * Until 6.17 a group without quota leaves the run queue of the group above it; its tasks
 * stay in its own.  6.18 (e1fad12dcb66): each task leaves, and has a mark.
 */
static inline int cmt_task_throttled(struct task_struct *task)
{
	if (dl_prio(task->prio))
		return data_race(!!task->dl.dl_throttled);	/* a bit field */
#ifndef CONFIG_CFS_BANDWIDTH
	return 0;
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return READ_ONCE(task->throttled);
#else
	int throttled = cmt_task_look(task);

	/* this CPU may be virtual, and have stood still in one look: not in both */
	return throttled == 1 ? cmt_task_look(task) : throttled;
#endif
}

/*
 * The task that @cpu runs, or begins to run in a switch that is under way.  RCU: the task goes
 * a grace period after its last switch.  6.2 (e57ef2ed97c1): it is in a structure; 6.15: it
 * is a variable again.
 */
static inline struct task_struct *cmt_task_on(unsigned int cpu)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	return READ_ONCE(per_cpu(pcpu_hot, cpu).current_task);
#else
	return READ_ONCE(per_cpu(current_task, cpu));
#endif
}

/* 6.15 (741c10b096bc): the name of a kernfs node is under RCU; v2 renames none */
static inline const char *cmt_cgroup_name(struct cgroup *cgroup)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	return rcu_dereference_check(cgroup->kn->name, true);
#else
	return cgroup->kn->name;
#endif
}

/* 6.16: the exit tracepoint has a second argument: the group is dead */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define CMT_EXIT_PROBE_ARGS	void *data, struct task_struct *task, bool dead
#else
#define CMT_EXIT_PROBE_ARGS	void *data, struct task_struct *task
#endif

#endif
