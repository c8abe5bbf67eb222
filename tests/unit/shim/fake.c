// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include <linux/lockdep.h>

#include "fake.h"

struct fake_machine fake;
struct cpuinfo_x86 boot_cpu_data;
u32 fake_cpu;

static u64 *fake_evtsel(void)
{
	return &fake.evtsel[fake.shared_evtsel ? 0 : fake_cpu];
}

static void fake_meddle(void)
{
	if (fake.meddle)
		fake.meddle();
}

#define EXTENDED	(1U << 31)
#define CFG_CONFIGURE	(1ULL << 63)
#define CFG_ENABLE	(1ULL << 62)
#define CFG_ID(value)	((value) >> 48 & (FAKE_COUNTERS - 1))

/* An assigned counter. */
static u64 fake_read_assigned(u64 evtsel)
{
	u32 id = evtsel >> 32;

	if (!(fake.abmc & 1) || id >= FAKE_COUNTERS)
		return 1ULL << 63;
	return fake.configs[id] & CFG_ENABLE ? fake.assigned[id] : 1ULL << 62;
}

/* #GP while the mode is off */
static int fake_write_abmc(u64 value)
{
	if (!(fake.abmc & 1))
		return -EIO;
	fake.abmc_cfg = value;
	if (!(value & CFG_CONFIGURE))
		return 0;
	fake.configs[CFG_ID(value)] = value & ~CFG_CONFIGURE;
	fake.assigned[CFG_ID(value)] = 0;
	fake.configured++;
	return 0;
}

static u64 fake_read_ctr(void)
{
	u64 evtsel;
	u32 rmid, event;

	fake_meddle();
	fake.ctr_reads++;
	evtsel = *fake_evtsel();
	if (evtsel & EXTENDED)
		return fake_read_assigned(evtsel);
	rmid = evtsel >> 32;
	event = evtsel & 0xff;
	if (rmid >= FAKE_RMIDS || event >= FAKE_EVENTS)
		return 1ULL << 63;
	return fake.ctr[rmid][event];
}

u32 cmt_cycles_low(void)
{
	u32 cycles;

	fake.cycles += fake.cycles_step;
	cycles = fake.cycles;
	if (fake.after_look)
		fake.after_look();
	return cycles;
}

int cmt_rdmsr_safe(u32 msr, u64 *value)
{
	fake.msr_accesses++;
	if (msr == fake.faulting_msr)
		return -EIO;
	switch (msr) {
	case FAKE_MSR_EVTSEL:
		*value = *fake_evtsel();
		return 0;
	case FAKE_MSR_CTR:
		*value = fake_read_ctr();
		return 0;
	case FAKE_MSR_PQR:
		*value = fake.pqr[fake_cpu];
		return 0;
	case FAKE_MSR_SNC:
		*value = fake.snc[fake.package[fake_cpu]];
		return fake.has_snc ? 0 : -EIO;
	case FAKE_MSR_EXT_CFG:
		*value = fake.abmc;
		return 0;
	case FAKE_MSR_EVT_CFG:
	case FAKE_MSR_EVT_CFG + 1:
		*value = fake.evt_cfg[fake.package[fake_cpu]][msr - FAKE_MSR_EVT_CFG];
		return 0;
	case FAKE_MSR_ABMC_DSC:
		*value = fake.configs[CFG_ID(fake.abmc_cfg)] |
			 CFG_ID(fake.abmc_cfg) << 48;
		return fake.abmc & 1 ? 0 : -EIO;
	}
	return -EIO;
}

int cmt_wrmsr_safe(u32 msr, u64 value)
{
	fake.msr_accesses++;
	if (msr == fake.faulting_msr)
		return -EIO;
	switch (msr) {
	case FAKE_MSR_EVTSEL:
		*fake_evtsel() = value;
		fake.evtsel_writes++;
		return 0;
	case FAKE_MSR_PQR:
		fake.pqr[fake_cpu] = value;
		return 0;
	case FAKE_MSR_SNC:
		fake.snc[fake.package[fake_cpu]] = value;
		return fake.has_snc ? 0 : -EIO;
	case FAKE_MSR_ABMC_CFG:
		return fake_write_abmc(value);
	}
	return -EIO;
}

void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	const struct fake_cpuid *id = &fake.cpuid[fake_cpu];

	*eax = *ebx = *ecx = *edx = 0;
	if (leaf < 0x80000000 && leaf > id->max_leaf)
		return;
	switch (leaf) {
	case 0x0:
		*eax = id->max_leaf;
		break;
	case 0x80000000:
		*eax = 0x80000020;
		break;
	case 0x80000020:
		*eax = subleaf == 5 ? id->amd_width : 0;
		*ebx = subleaf == 5 ? id->amd_counters : id->amd_qos_ebx;
		*ecx = subleaf == 3 ? id->amd_types : 0;
		break;
	case 0x1:
		*ebx = id->apic_id << 24;
		break;
	case 0x4:
	case 0x8000001d:
		if (subleaf < 3)
			*eax = 1 | subleaf << 5;	/* a smaller cache */
		if (subleaf != 3 || !id->cache_eax)
			break;
		*eax = id->cache_eax;
		*ebx = id->cache_ebx;
		*ecx = id->cache_ecx;
		break;
	case 0x7:
		*ebx = id->pqm_ebx;
		break;
	case 0xb:
		*ebx = 2;
		*edx = id->apic_id;
		break;
	case 0xf:
		*ebx = subleaf ? id->l3_ebx : id->mon_ebx;
		*edx = subleaf ? id->l3_edx : id->mon_edx;
		*eax = subleaf ? id->l3_eax : 0;
		*ecx = subleaf ? id->l3_ecx : 0;
		break;
	}
}

u32 cpuid_eax(u32 leaf)
{
	u32 eax, ebx, ecx, edx;

	cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx);
	return eax;
}

u32 cpuid_ebx(u32 leaf)
{
	u32 eax, ebx, ecx, edx;

	cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx);
	return ebx;
}

void on_each_cpu(void (*function)(void *), void *arg, int wait)
{
	u32 here = fake_cpu;
	bool irqs_off = shim_irqs_off;

	(void)wait;
	shim_irqs_off = true;
	for_each_online_cpu(fake_cpu)
		function(arg);
	fake_cpu = here;
	shim_irqs_off = irqs_off;
}
