/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As one_cpu.h, for files of the rooms above cpu.  Of module/cpu/cpu.h there is what these
 * use; the test has the functions.
 */
#ifndef SHIM_ROOMS_H
#define SHIM_ROOMS_H

#include "one_cpu.h"

#define CMT_CPU_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/limits.h>

#include "cmt.h"

struct cmt_perf;

struct cmt_cpu {
	bool up;
	bool unread;
	u32 domain;
	unsigned long *ran, *forward;
	struct cmt_perf *perf;
	struct perf_sum *sum;
};

DECLARE_PER_CPU(struct cmt_cpu, cmt_cpus);

void cmt_cpu_up(u32 domain, u32 domain_id);
void cmt_cpu_down(void);
void cmt_cpus_refresh(void);
bool cmt_resctrl_is_mounted(void);
bool cmt_resctrl_mounted(void);
void cmt_notes_drop(u32 rmid);
#define CMT_WAIT_REASON	""
const char *cmt_wait_alloc(void);
void cmt_wait_free(void);
void cmt_wait_begin(void);

struct task_struct;

#define CMT_EXIT_PROBE_ARGS	void *data, struct task_struct *task
void cmt_probe_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state);
void cmt_probe_switch_waits(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state);
void cmt_probe_wakeup(void *data, struct task_struct *task);
void cmt_probe_wakeup_new(void *data, struct task_struct *task);

#include "cpu/perf.h"

#endif
