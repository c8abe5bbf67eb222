/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between kernels, 6.1 and newer.  The other files are written
 * for the newest one; no other file tests a version.
 */
#ifndef CMT_COMPAT_H
#define CMT_COMPAT_H

#include <linux/cgroup.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/version.h>
#include <asm/msr.h>

/* 6.16 (c435e608cf59): rdmsrl_safe() is named rdmsrq_safe(), wrmsrl_safe() too */
static inline int cmt_rdmsr_safe(u32 msr, u64 *value)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	return rdmsrq_safe(msr, value);
#else
	unsigned long long v = 0;
	int ret = rdmsrl_safe(msr, &v);

	*value = v;
	return ret;
#endif
}

static inline int cmt_wrmsr_safe(u32 msr, u64 value)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	return wrmsrq_safe(msr, value);
#else
	return wrmsrl_safe(msr, value);
#endif
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

/* The RMID that resctrl gave to a task; NULL: this kernel has no resctrl. */
static inline u32 *cmt_task_rmid(struct task_struct *task)
{
#ifdef CONFIG_X86_CPU_RESCTRL
	return &task->rmid;
#else
	return NULL;
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

/* 6.16: the exit tracepoint also tells whether the group is dead */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define CMT_EXIT_PROBE_ARGS	void *data, struct task_struct *task, bool dead
#else
#define CMT_EXIT_PROBE_ARGS	void *data, struct task_struct *task
#endif

#endif
