// SPDX-License-Identifier: GPL-2.0
/*
 * PQR_PLZA_ASSOC is resctrl's, or the firmware's.  It is read, and never written.
 *
 * On a CPU that has it enabled with an RMID, accesses at privilege level 0 count under
 * that RMID, and PQR_ASSOC applies to user space only.  All CPUs must have the same
 * RMID; the association may be enabled on some CPUs only.
 *
 * A change of the register has no event.  So the work item of scope/foreign.c reads it once a
 * second on every CPU that is not excluded, where CPUID lists the register.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "compat.h"
#include "cpu.h"
#include "hw/hw.h"

#define MSR_PQR_PLZA_ASSOC	0xc00003fc

static DEFINE_PER_CPU(u32, plza_found);	/* as cmt_info.plza */
static u32 plza;			/* of all CPUs */

/* After a failed access the last value is kept. */
static void read_cpu(void *unused)
{
	u64 value;

	if (!cmt_rdmsr_safe(MSR_PQR_PLZA_ASSOC, &value))
		this_cpu_write(plza_found, cmt_plza_of(value));
}

static bool is_asked(int cpu, void *unused)
{
	return READ_ONCE(per_cpu(cmt_cpus, cpu).up) && !cmt_is_excluded(cpu);
}

/* The RMID of the lowest CPU that has one counts. */
void cmt_plza_look(void)
{
	unsigned int cpu;
	u32 all = 0;

	if (!cmt_caps.has_plza)
		return;
	on_each_cpu_cond(is_asked, read_cpu, NULL, true);
	for_each_online_cpu(cpu)
		if (is_asked(cpu, NULL) && !(all & CMT_PLZA_HAS_RMID))
			all |= READ_ONCE(per_cpu(plza_found, cpu));
	WRITE_ONCE(plza, all);
}

u32 cmt_plza_rmid(void)
{
	u32 now = READ_ONCE(plza);
	u32 rmid = CMT_PLZA_RMID(now);

	return now & CMT_PLZA_HAS_RMID && rmid < cmt_caps.nr_rmids ?
	       rmid : CMT_RMID_NONE;
}

u32 cmt_plza_info(void)
{
	return cmt_caps.has_plza ? CMT_PLZA_EXISTS | READ_ONCE(plza) : 0;
}
