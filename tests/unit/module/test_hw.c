// SPDX-License-Identifier: GPL-2.0-or-later
/* The hardware backend and the topology (module/hw/hw.c, topology.c). */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>

#include "hw/backend.h"
#include "hw/burst.h"
#include "hw/counter.h"
#include "fake.h"
#include "hw/hw_abmc.h"
#include "hw/hw_bmec.h"
#include "hw/hw_mbm.h"
#include "uapi/cmt.h"
#include "unit.h"

#define ARRAY_LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

#define CTR_E			(1ULL << 63)
#define CTR_U			(1ULL << 62)

#define ALL_EVENTS	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define OTHERS_EVTSEL	0x0000000900000001ULL	/* another agent's */
#define LATER_EVTSEL	0x0000000700000002ULL	/* and what it changes to */

static const struct cmt_backend *hw = &cmt_hw_backend;
static struct cmt_backend_caps caps;
static u32 meddle_calls, meddle_times;

/* Four CPUs in two packages, 16 MiB of L3 each, 200 RMIDs, all events. */
static void set_up(void)
{
	u32 i;

	memset(&fake, 0, sizeof(fake));
	memset(&boot_cpu_data, 0, sizeof(boot_cpu_data));
	memset(&caps, 0xff, sizeof(caps));
	fake_cpu = 0;
	shim_irqs_off = false;
	meddle_calls = 0;
	meddle_times = 0;

	boot_cpu_data.x86 = 6;
	boot_cpu_data.x86_vendor = X86_VENDOR_INTEL;
	boot_cpu_data.x86_model = 0x6a;
	fake.nr_cpus = FAKE_CPUS;
	fake.features = 1U << X86_FEATURE_CQM |
			1U << X86_FEATURE_CQM_LLC |
			1U << X86_FEATURE_CQM_OCCUP_LLC |
			1U << X86_FEATURE_CQM_MBM_TOTAL |
			1U << X86_FEATURE_CQM_MBM_LOCAL;
	for (i = 0; i < FAKE_CPUS; i++) {
		fake.cpuid[i] = (struct fake_cpuid) {
			.max_leaf = 0x14,
			.apic_id = i / 2 * 16 + i % 2,
			.pqm_ebx = 1U << 12,
			.mon_ebx = 255,
			.mon_edx = 1U << 1,
			.l3_ebx = 90112,
			.l3_ecx = 199,
			.l3_edx = 7,
			/* unified, level 3, 16 threads share it */
			.cache_eax = 3 | 3 << 5 | 15 << 14,
			/* 16 ways, 1 partition, 64 bytes; 16384 sets */
			.cache_ebx = 15U << 22 | 63,
			.cache_ecx = 16383,
		};
		fake.package[i] = i / 2;
		fake.pqr[i] = 0x0000000300000000ULL;
		fake.evtsel[i] = OTHERS_EVTSEL;
	}
}

static void tear_down(void)
{
	ck_assert_uint_eq(shim_locks_held, 0);
}

static void start(void)
{
	ck_assert_int_eq(hw->init(&caps), 0);
	shim_irqs_off = true;
	hw->cpu_up(0);
	fake.ctr_reads = 0;
	fake.evtsel_writes = 0;
}

static void set_up_started(void)
{
	set_up();
	start();
}

static void set_up_amd(void)
{
	set_up();
	boot_cpu_data.x86_vendor = X86_VENDOR_AMD;
	fake.features |= 1U << X86_FEATURE_TOPOEXT;
	fake.shared_evtsel = true;
	start();
}

static void assert_refused(const char *reason)
{
	ck_assert_int_eq(hw->init(&caps), -ENODEV);
	ck_assert_str_eq(caps.reason, reason);
}

/* init */

START_TEST(test_init_intel)
{
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.backend, CMT_BACKEND_HARDWARE);
	ck_assert_uint_eq(caps.vendor, CMT_VENDOR_INTEL);
	ck_assert_uint_eq(caps.record_flags, 0);
	ck_assert_uint_eq(caps.nr_rmids, 200);
	ck_assert_uint_eq(caps.events, ALL_EVENTS);
	ck_assert_uint_eq(caps.upscale_bytes, 90112);
	ck_assert_uint_eq(caps.counter_bits, 24);
	ck_assert_uint_eq(caps.mbm_correct_above, U32_MAX);
	ck_assert(!caps.shared_evtsel);
	ck_assert_uint_eq(caps.l3_bytes, 16ULL << 20);
	ck_assert_str_eq(caps.reason, "L3 monitoring in CPUID leaf 0xF");
}
END_TEST

/* CPUID 0x80000020 EBX bit 9, which is AMD's */
START_TEST(test_init_plza)
{
	u32 i;

	for (i = 0; i < FAKE_CPUS; i++)
		fake.cpuid[i].amd_qos_ebx = 1U << 9;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert(!caps.has_plza);
	boot_cpu_data.x86_vendor = X86_VENDOR_AMD;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert(caps.has_plza);
	for (i = 0; i < FAKE_CPUS; i++)
		fake.cpuid[i].amd_qos_ebx = 1U << 5;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert(!caps.has_plza);
}
END_TEST

START_TEST(test_init_least_rmid_of_all_cpus)
{
	u32 most = fake.cpuid[0].mon_ebx;

	fake.cpuid[2].l3_ecx = 143;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.nr_rmids, 144);
	ck_assert_uint_eq(caps.rmid_room, most + 1);
	fake.cpuid[1].mon_ebx = 63;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.nr_rmids, 64);
	/* another agent may load what the other CPUs have */
	ck_assert_uint_eq(caps.rmid_room, most + 1);
}
END_TEST

START_TEST(test_init_more_rmids_than_pqr_holds)
{
	u32 i;

	for (i = 0; i < FAKE_CPUS; i++) {
		fake.cpuid[i].mon_ebx = U32_MAX;
		fake.cpuid[i].l3_ecx = U32_MAX;
	}
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.nr_rmids, CMT_MAX_RMIDS);
	ck_assert_uint_eq(caps.rmid_room, CMT_MAX_RMIDS);
}
END_TEST

START_TEST(test_init_events_all_cpus_have)
{
	fake.cpuid[3].l3_edx = 5;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.events, CMT_F_OCCUPANCY | CMT_F_MBM_LOCAL);
}
END_TEST

START_TEST(test_init_events_the_kernel_allows)
{
	fake.features &= ~(1U << X86_FEATURE_CQM_MBM_LOCAL);
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.events, CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL);
}
END_TEST

static const struct {
	u8 vendor;
	u32 eax, bits, vendor_id;
	bool shared;
} widths[] = {
	{ X86_VENDOR_INTEL,      0, 24, CMT_VENDOR_INTEL, false },
	{ X86_VENDOR_INTEL,      8, 32, CMT_VENDOR_INTEL, false },
	{ X86_VENDOR_INTEL,     38, 62, CMT_VENDOR_INTEL, false },
	/* bit 61 is the overflow bit */
	{ X86_VENDOR_INTEL,  0x126, 61, CMT_VENDOR_INTEL, false },
	{ X86_VENDOR_INTEL,  0x100, 24, CMT_VENDOR_INTEL, false },
	{ X86_VENDOR_AMD,        0, 44, CMT_VENDOR_AMD, true },
	{ X86_VENDOR_AMD,        8, 32, CMT_VENDOR_AMD, true },
	{ X86_VENDOR_HYGON,      0, 32, CMT_VENDOR_HYGON, true },
	{ X86_VENDOR_UNKNOWN,    0, 24, CMT_VENDOR_OTHER, false },
};

START_TEST(test_init_width)
{
	u32 i;

	boot_cpu_data.x86_vendor = widths[_i].vendor;
	for (i = 0; i < FAKE_CPUS; i++)
		fake.cpuid[i].l3_eax = widths[_i].eax;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.counter_bits, widths[_i].bits);
	ck_assert_uint_eq(caps.vendor, widths[_i].vendor_id);
	ck_assert(caps.shared_evtsel == widths[_i].shared);
}
END_TEST

START_TEST(test_init_width_impossible)
{
	u32 i;

	for (i = 0; i < FAKE_CPUS; i++)
		fake.cpuid[i].l3_eax = 39;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.counter_bits, 24);
	ck_assert_str_eq(caps.reason,
			 "CPUID leaf 0xF; impossible counter width 24+39 ignored");
}
END_TEST

static const struct {
	u8 model, stepping;
	u32 max_rmid, above, millionths;
} corrections[] = {
	{ 0x4f, 1,   7, U32_MAX, 1000000 },
	{ 0x4f, 1,  23,  15,  969650 },
	{ 0x4f, 1,  39,  31, 1066667 },
	{ 0x55, 5, 135, 127, 1254863 },
	{ 0x55, 7, 143, 127, 1185255 },	/* Cascade Lake, 144 RMIDs */
	{ 0x55, 7, 191, 127,  969744 },
	{ 0x55, 7, 199, 191, 1280246 },
	{ 0x55, 7, 215, U32_MAX, 1000000 },
	{ 0x55, 7, 223, 191, 1143118 },
	{ 0x55, 7, 231, U32_MAX, 1000000 },	/* beyond the table */
	{ 0x55, 7,   6, U32_MAX, 1000000 },
	{ 0x6a, 6, 143, U32_MAX, 1000000 },	/* Ice Lake: no erratum */
};

START_TEST(test_init_mbm_correction)
{
	double factor;
	u32 i;

	boot_cpu_data.x86_model = corrections[_i].model;
	boot_cpu_data.x86_stepping = corrections[_i].stepping;
	for (i = 0; i < FAKE_CPUS; i++)
		fake.cpuid[i].l3_ecx = corrections[_i].max_rmid;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.mbm_correct_above, corrections[_i].above);
	factor = corrections[_i].millionths * 1048576.0 / 1000000 + 0.5;
	ck_assert_uint_eq(caps.mbm_correct_factor, (u32)factor);
}
END_TEST

START_TEST(test_init_no_leaf)
{
	fake.cpuid[0].max_leaf = 0xd;
	assert_refused("no CPUID leaf 0xF");
}
END_TEST

START_TEST(test_init_no_leaf_in_vm)
{
	fake.cpuid[0].max_leaf = 0xd;
	fake.features |= 1U << X86_FEATURE_HYPERVISOR;
	assert_refused("no CPUID leaf 0xF (in a VM)");
}
END_TEST

START_TEST(test_init_no_pqm)
{
	fake.cpuid[0].pqm_ebx = ~(1U << 12);
	assert_refused("no RDT monitoring in CPUID leaf 7");
}
END_TEST

/* EBX alone, the largest RMID, does not say that there is L3 monitoring. */
START_TEST(test_init_no_l3)
{
	fake.cpuid[0].mon_edx = ~(1U << 1);
	assert_refused("no L3 monitoring in CPUID leaf 0xF");
}
END_TEST

START_TEST(test_init_one_cpu_without)
{
	fake.cpuid[3].mon_edx = 0;
	assert_refused("no L3 monitoring in CPUID leaf 0xF");
}
END_TEST

START_TEST(test_init_cpus_differ)
{
	fake.cpuid[1].l3_ebx = 65536;
	assert_refused("CPUs differ in counter unit or width");
}
END_TEST

static void on_all_cpus_l3(u32 ebx, u32 ecx, u32 edx)
{
	u32 i;

	for (i = 0; i < FAKE_CPUS; i++) {
		fake.cpuid[i].l3_ebx = ebx;
		fake.cpuid[i].l3_ecx = ecx;
		fake.cpuid[i].l3_edx = edx;
	}
}

START_TEST(test_init_no_unit)
{
	on_all_cpus_l3(0, 199, 7);
	assert_refused("CPUID leaf 0xF gives no counter unit");
}
END_TEST

START_TEST(test_init_no_rmid)
{
	on_all_cpus_l3(65536, 0, 7);
	assert_refused("CPUID leaf 0xF gives no RMID but 0");
}
END_TEST

START_TEST(test_init_no_event)
{
	on_all_cpus_l3(65536, 199, 0xf8);
	assert_refused("CPUID leaf 0xF lists no event");
}
END_TEST

START_TEST(test_init_kernel_disabled)
{
	fake.features &= ~(1U << X86_FEATURE_CQM_LLC);
	assert_refused("the kernel has disabled L3 monitoring");
}
END_TEST

static const u32 probed_msrs[] = { FAKE_MSR_PQR, FAKE_MSR_EVTSEL, FAKE_MSR_CTR };

/* A hypervisor that lists the leaf only; "auto" takes the software backend then. */
START_TEST(test_init_faults)
{
	fake.faulting_msr = probed_msrs[_i];
	assert_refused("the registers of RDT cannot be accessed");
	fake.features |= 1U << X86_FEATURE_HYPERVISOR;
	assert_refused("the registers of RDT cannot be accessed (in a VM)");
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
	fake.faulting_msr = 0;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
	ck_assert(!shim_irqs_off);
}
END_TEST

/* resctrl on another CPU may be between its write of EVTSEL and its reading. */
START_TEST(test_init_does_not_write_shared_evtsel)
{
	boot_cpu_data.x86_vendor = X86_VENDOR_AMD;
	fake.shared_evtsel = true;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(fake.evtsel_writes, 0);
	ck_assert_uint_eq(fake.ctr_reads, 0);
	fake.faulting_msr = FAKE_MSR_EVTSEL;
	assert_refused("the registers of RDT cannot be accessed");
}
END_TEST

START_TEST(test_init_skylake_erratum)
{
	boot_cpu_data.x86_model = 0x55;
	boot_cpu_data.x86_stepping = 4;
	fake.features |= 1U << X86_FEATURE_HYPERVISOR;
	assert_refused("erratum: monitoring is wrong on this Skylake stepping (in a VM)");
	boot_cpu_data.x86_stepping = 5;
	ck_assert_int_eq(hw->init(&caps), 0);
}
END_TEST

/* reads of one RMID, every access checked */

static u64 read_one(u32 rmid, enum cmt_event event)
{
	struct cmt_raws raws;

	hw->read(rmid, caps.events, &raws);
	switch (event) {
	case CMT_EVENT_OCCUPANCY:
		return raws.occupancy;
	case CMT_EVENT_MBM_TOTAL:
		return raws.total;
	default:
		return raws.local;
	}
}

START_TEST(test_read_value)
{
	fake.ctr[42][CMT_EVENT_MBM_TOTAL] = 0x123456789abULL;
	fake.ctr[42][CMT_EVENT_MBM_LOCAL] = 0x3ULL;
	ck_assert_uint_eq(read_one(42, CMT_EVENT_MBM_TOTAL), 0x123456789abULL);
	ck_assert_uint_eq(read_one(42, CMT_EVENT_MBM_LOCAL), 3);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
}
END_TEST

START_TEST(test_read_status_bits)
{
	fake.ctr[5][CMT_EVENT_OCCUPANCY] = CTR_E | 1234;
	fake.ctr[5][CMT_EVENT_MBM_TOTAL] = CTR_U | 1234;
	ck_assert(read_one(5, CMT_EVENT_OCCUPANCY) & CMT_RAW_ERROR);
	ck_assert(read_one(5, CMT_EVENT_MBM_TOTAL) & CMT_RAW_UNAVAILABLE);
	/* EVTSEL was ours: repeating would not help */
	ck_assert_uint_eq(fake.ctr_reads, 6);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
}
END_TEST

/* Intel: there is no data now, and no counter began anew. */
START_TEST(test_read_unavailable_is_of_one_event)
{
	fake.ctr[5][CMT_EVENT_MBM_TOTAL] = CTR_U;
	fake.ctr[5][CMT_EVENT_MBM_LOCAL] = 500;
	ck_assert_uint_eq(read_one(5, CMT_EVENT_MBM_LOCAL), 500);
}
END_TEST

START_TEST(test_read_missing_event)
{
	fake.ctr[1][CMT_EVENT_MBM_TOTAL] = 5;
	on_all_cpus_l3(65536, 199, 1);
	start();
	ck_assert_uint_eq(read_one(1, CMT_EVENT_OCCUPANCY), 0);
	ck_assert_uint_eq(read_one(1, CMT_EVENT_MBM_TOTAL), 0);
	ck_assert_uint_eq(fake.ctr_reads, 2);
	ck_assert_str_eq(caps.mbm_reason, "CPUID leaf 0xF lists no MBM event");
}
END_TEST

START_TEST(test_overflow_bit_is_no_data)
{
	u32 i;

	ck_assert_uint_eq(caps.data_mask, (1ULL << 62) - 1);
	for (i = 0; i < FAKE_CPUS; i++)
		fake.cpuid[i].l3_eax = 0x108;
	start();
	ck_assert_uint_eq(caps.data_mask, (1ULL << 61) - 1);
}
END_TEST

START_TEST(test_read_faults)
{
	fake.faulting_msr = FAKE_MSR_CTR;
	ck_assert(read_one(1, CMT_EVENT_OCCUPANCY) & CMT_RAW_ERROR);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
	fake.faulting_msr = FAKE_MSR_EVTSEL;
	ck_assert(read_one(1, CMT_EVENT_OCCUPANCY) & CMT_RAW_ERROR);
	ck_assert_uint_eq(fake.ctr_reads, 0);
}
END_TEST

/* The other agent selects its own between our EVTSEL and our CTR. */
static void change_evtsel(void)
{
	if (meddle_calls++ < meddle_times)
		fake.evtsel[0] = LATER_EVTSEL;
}

static void prepare_meddling(u32 times, u64 others_ctr)
{
	fake.ctr[7][CMT_EVENT_MBM_TOTAL] = others_ctr;
	fake.ctr[42][CMT_EVENT_OCCUPANCY] = 4242;
	meddle_times = times;
	fake.meddle = change_evtsel;
}

START_TEST(test_read_retries_when_evtsel_changed)
{
	prepare_meddling(3, CTR_E);
	ck_assert_uint_eq(read_one(42, CMT_EVENT_OCCUPANCY), 4242);
	ck_assert_uint_eq(fake.ctr_reads, 4 + 2);
	/* what it wrote last is what it gets back */
	ck_assert_uint_eq(fake.evtsel[0], LATER_EVTSEL);
}
END_TEST

/* No error bit, and a value that is another RMID's. */
START_TEST(test_read_detects_foreign_value)
{
	prepare_meddling(2, 999);
	ck_assert_uint_eq(read_one(42, CMT_EVENT_OCCUPANCY), 4242);
	ck_assert_uint_eq(fake.ctr_reads, 3 + 2);
}
END_TEST

START_TEST(test_read_retries_are_bounded)
{
	prepare_meddling(U32_MAX, CTR_E);
	ck_assert(read_one(42, CMT_EVENT_OCCUPANCY) & CMT_RAW_ERROR);
	ck_assert_uint_eq(fake.ctr_reads, 3 * 4);
	ck_assert_uint_eq(fake.evtsel[0], LATER_EVTSEL);
}
END_TEST

/* bursts */

#define RMIDS		FAKE_RMIDS
#define TICK_NS		1000000000ULL

static struct cmt_counter counters[RMIDS];
static u32 generations[RMIDS];
static unsigned long readable[CMT_RMID_WORDS];
static unsigned long bits[CMT_BURST_QUEUES * CMT_RMID_WORDS];
static struct cmt_burst burst;
static struct cmt_reading *const readings = burst.readings;

/* RMIDs 1 to 60 have an owner, and 10, 20 and 30 are hot. */
static void prepare_burst(void)
{
	u32 rmid;

	memset(readable, 0, sizeof(readable));
	memset(&burst, 0, sizeof(burst));
	memset(bits, 0, sizeof(bits));
	for (rmid = 0; rmid < RMIDS; rmid++) {
		cmt_counter_reset(&counters[rmid]);
		counters[rmid].seen = cmt_mark(TICK_NS) - 2;
		generations[rmid] = 0;
	}
	for (rmid = 1; rmid <= 60; rmid++) {
		generations[rmid] = 100 + rmid;
		__set_bit(rmid, readable);
	}
	burst.counters = counters;
	burst.generations = generations;
	burst.readable = readable;
	burst.caps = &caps;
	burst.words = RMIDS / BITS_PER_LONG;
	burst.mark = cmt_mark(TICK_NS);
	burst.budget = 1000000;
	burst.room = CMT_BURST_MAX;
	burst.events = caps.events;
	cmt_burst_init(&burst, bits, CMT_RMID_WORDS);
	for (rmid = 10; rmid <= 30; rmid += 10)
		__set_bit(rmid, burst.hot.rmids);
	fake.ctr[20][CMT_EVENT_OCCUPANCY] = 2000;
	fake.ctr[20][CMT_EVENT_MBM_TOTAL] = 1ULL << 40;
	fake.ctr[20][CMT_EVENT_MBM_LOCAL] = 7;
	fake.cycles_step = 1;
	fake.msr_accesses = 0;
}

static int burst_once(void)
{
	burst.start = fake.cycles;
	cmt_burst_is_due(&burst);
	return hw->sample(&burst);
}

static u32 meddle_at;

/* An agent that is not kept off by interrupts: firmware. */
static void change_evtsel_once(void)
{
	if (++meddle_calls == meddle_at)
		fake.evtsel[0] = LATER_EVTSEL;
}

START_TEST(test_burst_six_accesses_each)
{
	prepare_burst();
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(burst.end - readings, 3);
	ck_assert_ptr_eq(readings[1].counter, &counters[20]);
	ck_assert_uint_eq(readings[1].raws.occupancy, 2000);
	ck_assert_uint_eq(readings[1].raws.total, 1ULL << 40);
	ck_assert_uint_eq(readings[1].raws.local, 7);
	ck_assert(!burst.flawed);
	/* save, three of six, look, restore */
	ck_assert_uint_eq(fake.msr_accesses, 1 + 3 * 6 + 2);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
	ck_assert(!cmt_burst_is_due(&burst));
}
END_TEST

/* What is read of RMID 20, in two accesses for each event, and three around all */
static const u32 wanted[] = {
	CMT_F_OCCUPANCY, CMT_F_MBM_TOTAL, CMT_F_MBM_LOCAL,
	CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL, CMT_F_OCCUPANCY | CMT_F_MBM_LOCAL,
	CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
};

static void assert_some(u32 events)
{
	ck_assert_uint_eq(readings[1].raws.occupancy,
			  events & CMT_F_OCCUPANCY ? 2000 : 0);
	ck_assert_uint_eq(readings[1].raws.total,
			  events & CMT_F_MBM_TOTAL ? 1ULL << 40 : 0);
	ck_assert_uint_eq(readings[1].raws.local,
			  events & CMT_F_MBM_LOCAL ? 7 : 0);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
}

START_TEST(test_burst_reads_what_is_wanted)
{
	u32 events = wanted[_i];

	prepare_burst();
	/* what an earlier burst left is not taken for a reading */
	memset(burst.readings, 0xff, sizeof(burst.readings));
	burst.events = events;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(burst.end - readings, 3);
	ck_assert_uint_eq(fake.msr_accesses,
			  1 + 3 * 2 * __builtin_popcount(events) + 2);
	assert_some(events);
	ck_assert(burst.flawed);
}
END_TEST

/* The look at EVTSEL is for the event that was read last. */
START_TEST(test_burst_of_some_is_discarded_when_evtsel_changed)
{
	prepare_burst();
	burst.events = wanted[_i];
	meddle_at = 3 * __builtin_popcount(wanted[_i]);
	fake.meddle = change_evtsel_once;
	ck_assert_int_eq(burst_once(), -EAGAIN);
	ck_assert_uint_eq(fake.evtsel[0], LATER_EVTSEL);
}
END_TEST

/* The processor has none of what is wanted. */
START_TEST(test_burst_reads_nothing)
{
	prepare_burst();
	memset(burst.readings, 0xff, sizeof(burst.readings));
	burst.events = 0;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(burst.end - readings, 3);
	ck_assert_uint_eq(fake.ctr_reads, 0);
	ck_assert_uint_eq(fake.evtsel_writes, 0);
	ck_assert(burst.flawed);
	assert_some(0);
}
END_TEST

START_TEST(test_read_what_is_wanted)
{
	struct cmt_raws raws;

	fake.ctr[42][CMT_EVENT_OCCUPANCY] = 4;
	fake.ctr[42][CMT_EVENT_MBM_TOTAL] = 5;
	hw->read(42, CMT_F_MBM_TOTAL, &raws);
	ck_assert_uint_eq(raws.occupancy, 0);
	ck_assert_uint_eq(raws.total, 5);
	ck_assert_uint_eq(fake.ctr_reads, 1);
	hw->read(42, 0, &raws);
	ck_assert_uint_eq(raws.total, 0);
	ck_assert_uint_eq(fake.ctr_reads, 1);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
}
END_TEST

static const u64 flaws[] = { CTR_E, CTR_U };

START_TEST(test_burst_status_bit_is_seen)
{
	prepare_burst();
	fake.ctr[30][CMT_EVENT_MBM_LOCAL] = flaws[_i] | 5;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert(burst.flawed);
	ck_assert_uint_eq(readings[2].raws.local, flaws[_i] | 5);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
}
END_TEST

/* Both bits can be an access that failed: everything is looked at then. */
START_TEST(test_burst_both_status_bits_are_read_again)
{
	prepare_burst();
	fake.ctr[10][CMT_EVENT_MBM_LOCAL] = CTR_E;
	fake.ctr[30][CMT_EVENT_MBM_LOCAL] = CTR_U;
	ck_assert_int_eq(burst_once(), -EIO);
	cmt_burst_discard(&burst);
	burst.careful = true;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert(burst.flawed);
	ck_assert_uint_eq(burst.end - readings, 3);
	ck_assert(readings[0].raws.local & CMT_RAW_ERROR);
	ck_assert_uint_eq(readings[1].raws.occupancy, 2000);
	ck_assert(readings[2].raws.local & CMT_RAW_UNAVAILABLE);
}
END_TEST

START_TEST(test_burst_fault)
{
	prepare_burst();
	fake.faulting_msr = FAKE_MSR_CTR;
	ck_assert_int_eq(burst_once(), -EIO);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
	cmt_burst_discard(&burst);
	burst.careful = true;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert(readings[1].raws.occupancy & CMT_RAW_ERROR);
	fake.faulting_msr = FAKE_MSR_EVTSEL;
	burst.careful = false;
	ck_assert_int_eq(burst_once(), -EIO);
}
END_TEST

/* Between the last EVTSEL and the look at it. */
START_TEST(test_burst_discarded_when_evtsel_changed)
{
	u32 seen = cmt_mark(TICK_NS) - 2;

	prepare_burst();
	meddle_at = 9;
	fake.meddle = change_evtsel_once;
	ck_assert_int_eq(burst_once(), -EAGAIN);
	/* what the other agent wrote stays */
	ck_assert_uint_eq(fake.evtsel[0], LATER_EVTSEL);
	ck_assert_uint_eq(counters[20].seen, burst.mark | 1);
	cmt_burst_discard(&burst);
	ck_assert_uint_eq(counters[20].seen, seen);
	ck_assert_uint_eq(cmt_burst_waiting(&burst), 3);
	/* and all is read in the next tick */
	burst.mark += 2;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(burst.end - readings, 3);
}
END_TEST

/* A sample of RMID 20 from a burst of its own; its flags. */
static u32 sample_20(u64 total, bool discard)
{
	struct cmt_record sample = { .ts = TICK_NS };

	fake.ctr[20][CMT_EVENT_MBM_TOTAL] = total;
	burst.mark += 2;
	__set_bit(20, burst.hot.rmids);
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_ptr_eq(readings[0].counter, &counters[20]);
	if (discard) {
		cmt_burst_discard(&burst);
		return 0;
	}
	cmt_counter_sample(&counters[20], &readings[0].raws, burst.events, &caps,
			   &sample);
	cmt_claim_release(&counters[20], burst.mark);
	return sample.flags;
}

static void check_discards_without_local(void)
{
	const u32 there = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL;

	ck_assert_uint_eq(caps.events, there);
	prepare_burst();
	memset(burst.hot.rmids, 0, burst.words * sizeof(long));
	ck_assert_uint_eq(sample_20(1000, false), there | CMT_F_REBASED);
	sample_20(1100, true);
	ck_assert_uint_eq(sample_20(1200, false), there);
	ck_assert_uint_eq(counters[20].total.units, 200);
	/* what the processor itself says once still ends the base */
	sample_20(CTR_U | 1300, true);
	ck_assert_uint_eq(sample_20(1400, false), there | CMT_F_REBASED);
}

/* A discarded burst does not end the base of the event that is there. */
START_TEST(test_burst_discarded_without_local)
{
	on_all_cpus_l3(65536, 199, 3);
	start();
	check_discards_without_local();
}
END_TEST

/* AMD: the pair is shared, so a good-looking value may be another RMID's. */

/* Each write may come between resctrl's two accesses. */
START_TEST(test_read_shared_restores_once)
{
	struct cmt_raws raws;

	fake_cpu = 1;
	hw->cpu_up(0);
	fake.ctr[42][CMT_EVENT_OCCUPANCY] = 4242;
	hw->read(42, caps.events, &raws);
	ck_assert_uint_eq(raws.occupancy, 4242);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
	ck_assert_uint_eq(fake.evtsel_writes, 3 + 1);
}
END_TEST

START_TEST(test_read_shared_detects_foreign_value)
{
	prepare_meddling(2, 999);
	ck_assert_uint_eq(read_one(42, CMT_EVENT_OCCUPANCY), 4242);
	ck_assert_uint_eq(fake.ctr_reads, 3 + 2);
	ck_assert_uint_eq(fake.evtsel[0], LATER_EVTSEL);
}
END_TEST

/* Whose it was is not known, and AMD says it once only. */
START_TEST(test_read_shared_unavailable_holds_for_the_repetition)
{
	fake.ctr[42][CMT_EVENT_MBM_TOTAL] = 5;
	fake.ctr[7][CMT_EVENT_MBM_TOTAL] = CTR_U;
	meddle_at = 2;
	fake.meddle = change_evtsel_once;
	ck_assert_uint_eq(read_one(42, CMT_EVENT_MBM_TOTAL), CTR_U | 5);
	meddle_at = 0;
	ck_assert_uint_eq(read_one(42, CMT_EVENT_MBM_TOTAL), 5);
}
END_TEST

/* It is said of bandwidth alone. */
START_TEST(test_read_shared_unavailable_is_not_of_occupancy)
{
	prepare_meddling(2, CTR_U);
	ck_assert_uint_eq(read_one(42, CMT_EVENT_OCCUPANCY), 4242);
}
END_TEST

/* A sample of RMID 20 from hw->read() */
static struct cmt_record read_20(u64 total, u64 local)
{
	struct cmt_record sample = { .ts = TICK_NS };
	struct cmt_raws raws;

	fake.ctr[20][CMT_EVENT_MBM_TOTAL] = total;
	fake.ctr[20][CMT_EVENT_MBM_LOCAL] = local;
	hw->read(20, caps.events, &raws);
	cmt_counter_sample(&counters[20], &raws, caps.events, &caps, &sample);
	return sample;
}

static const struct {
	u64 total, local;
} anew[] = {
	{ CTR_U, 500 }, { 500, CTR_U }, { CTR_U, CTR_U },
	{ CTR_U, CTR_E },
};

/* The one Unavailable of an RMID is of both events: what follows continues nothing. */
START_TEST(test_read_shared_unavailable_is_of_both_events)
{
	struct cmt_record sample;

	prepare_burst();
	read_20(10, 10);
	ck_assert_uint_eq(read_20(11, 11).flags & CMT_F_REBASED, 0);
	sample = read_20(anew[_i].total, anew[_i].local);
	ck_assert_uint_eq(sample.flags & CMT_MBM_EVENTS, 0);
	ck_assert(sample.flags & CMT_F_UNAVAILABLE);
	ck_assert(!(sample.flags & CMT_F_ERROR) == !(anew[_i].local & CTR_E));
	ck_assert_uint_eq(read_20(600, 600).flags, ALL_EVENTS | CMT_F_REBASED);
	ck_assert_uint_eq(read_20(605, 607).flags, ALL_EVENTS);
	ck_assert_uint_eq(counters[20].total.units, 1 + 5);
	ck_assert_uint_eq(counters[20].local.units, 1 + 7);
}
END_TEST

START_TEST(test_read_shared_never_ours)
{
	prepare_meddling(U32_MAX, 999);
	ck_assert(read_one(42, CMT_EVENT_OCCUPANCY) & CMT_RAW_ERROR);
	ck_assert_uint_eq(fake.ctr_reads, 3 * 4);
	/* four tries wrote it four times; the other agent's was not undone */
	ck_assert_uint_eq(fake.evtsel_writes, 3 * 4);
	ck_assert_uint_eq(fake.evtsel[0], LATER_EVTSEL);
}
END_TEST

START_TEST(test_read_shared_error_bit_restores)
{
	fake.ctr[5][CMT_EVENT_OCCUPANCY] = CTR_E;
	ck_assert(read_one(5, CMT_EVENT_OCCUPANCY) & CMT_RAW_ERROR);
	fake.ctr[5][CMT_EVENT_OCCUPANCY] = CTR_U;
	ck_assert(read_one(5, CMT_EVENT_OCCUPANCY) & CMT_RAW_UNAVAILABLE);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
}
END_TEST

START_TEST(test_read_shared_fault_unlocks)
{
	fake.faulting_msr = FAKE_MSR_EVTSEL;
	ck_assert(read_one(5, CMT_EVENT_OCCUPANCY) & CMT_RAW_ERROR);
	ck_assert_uint_eq(shim_locks_held, 0);
	fake.faulting_msr = FAKE_MSR_CTR;
	ck_assert(read_one(5, CMT_EVENT_OCCUPANCY) & CMT_RAW_ERROR);
	ck_assert_uint_eq(shim_locks_held, 0);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
}
END_TEST

START_TEST(test_burst_shared_restores_once)
{
	prepare_burst();
	fake.evtsel_writes = 0;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(fake.evtsel_writes, 9 + 1);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
	/* the next burst saves the value of its time */
	fake.evtsel[0] = LATER_EVTSEL;
	__set_bit(10, burst.hot.rmids);
	burst.mark += 2;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(fake.evtsel[0], LATER_EVTSEL);
}
END_TEST

/* In every burst, whatever another agent does: the value is the RMID's. */
START_TEST(test_burst_shared_reads_each_by_itself)
{
	prepare_burst();
	meddle_at = 5;
	fake.meddle = change_evtsel_once;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(burst.end - readings, 3);
	ck_assert_uint_eq(readings[1].raws.total, 1ULL << 40);
	/* one of nine was repeated */
	ck_assert_uint_eq(fake.ctr_reads, 10);
	ck_assert_uint_eq(fake.evtsel[0], LATER_EVTSEL);
}
END_TEST

/* The processor's report that an RMID began anew is resctrl's: its bandwidth is not read. */
START_TEST(test_read_shared_skips_rmids_of_resctrl)
{
	struct cmt_raws raws;

	fake.ctr[42][CMT_EVENT_OCCUPANCY] = 4242;
	hw_mbm_skip(42, true);
	ck_assert(hw_mbm_skips());
	ck_assert(hw_mbm_skips_rmid(42));
	ck_assert(!hw_mbm_skips_rmid(41));
	hw->read(42, caps.events, &raws);
	ck_assert_uint_eq(raws.occupancy, 4242);
	ck_assert_uint_eq(raws.total, CTR_U);
	ck_assert_uint_eq(raws.local, CTR_U);
	ck_assert_uint_eq(fake.ctr_reads, 1);
	hw->read(41, caps.events, &raws);
	ck_assert_uint_eq(fake.ctr_reads, 1 + 3);
	hw_mbm_skip(42, false);
	ck_assert(!hw_mbm_skips());
	hw->read(42, caps.events, &raws);
	ck_assert_uint_eq(raws.total, 0);
	ck_assert_uint_eq(fake.ctr_reads, 1 + 3 + 3);
}
END_TEST

START_TEST(test_burst_shared_skips_rmids_of_resctrl)
{
	prepare_burst();
	hw_mbm_skip(20, true);
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(burst.end - readings, 3);
	ck_assert_uint_eq(readings[1].raws.occupancy, 2000);
	ck_assert_uint_eq(readings[1].raws.total, CTR_U);
	ck_assert_uint_eq(readings[1].raws.local, CTR_U);
	ck_assert_uint_eq(readings[0].raws.total, 0);
	ck_assert_uint_eq(fake.ctr_reads, 3 + 1 + 3);
}
END_TEST

/* Intel reports no such thing. */
START_TEST(test_read_private_skips_none)
{
	fake.ctr[42][CMT_EVENT_MBM_TOTAL] = 7;
	hw_mbm_skip(42, true);
	ck_assert(!hw_mbm_skips());
	ck_assert_uint_eq(read_one(42, CMT_EVENT_MBM_TOTAL), 7);
}
END_TEST

/* Assignable counters: occupancy goes on, MBM is unavailable, and it is said. */
/* AMD's assignable counters */

#define TOTAL_OF(rmid)	(1ULL << 62 | (u64)(rmid) << 32 | 0x7f)
#define LOCAL_OF(rmid)	(1ULL << 62 | (u64)(rmid) << 32 | 0x15)
#define MEANING		0x40008fffffffffffULL	/* not which counter it is */

static void set_up_abmc(void)
{
	set_up();
	boot_cpu_data.x86_vendor = X86_VENDOR_AMD;
	fake.features |= 1U << X86_FEATURE_TOPOEXT;
	fake.shared_evtsel = true;
	fake.cpuid[0].amd_qos_ebx = 1U << 5;
	fake.cpuid[0].amd_types = 0x7f;
	fake.cpuid[0].amd_counters = 3;
	fake.abmc = 1;
	start();
}

static void tear_down_abmc(void)
{
	hw->exit();
	tear_down();
}

static u64 meaning(u32 id)
{
	return fake.configs[id] & MEANING;
}

static enum hw_abmc_state state(void)
{
	struct hw_abmc_view view;

	hw_abmc_view(0, &view);
	return view.state;
}

static bool has_lost(u32 rmid)
{
	unsigned long assigned[CMT_RMID_WORDS] = { 0 };
	unsigned long lost[CMT_RMID_WORDS] = { 0 };

	hw_abmc_rmids(0, assigned, lost);
	return test_bit(rmid, lost);
}

START_TEST(test_abmc_assign_from_the_top)
{
	hw_abmc_assign(0, 20);
	ck_assert_uint_eq(meaning(3), TOTAL_OF(20));
	ck_assert_uint_eq(meaning(2), LOCAL_OF(20));
	hw_abmc_assign(0, 20);
	ck_assert_uint_eq(fake.configured, 2);
	ck_assert_uint_eq(fake.abmc, 1);
}
END_TEST

START_TEST(test_abmc_read)
{
	fake.ctr[20][CMT_EVENT_OCCUPANCY] = 5;
	fake.ctr[20][CMT_EVENT_MBM_TOTAL] = 999;	/* and is no measurement */
	ck_assert(read_one(20, CMT_EVENT_MBM_TOTAL) & CMT_RAW_UNAVAILABLE);
	hw_abmc_assign(0, 20);
	fake.assigned[3] = 7000;
	fake.assigned[2] = 6000;
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), 7000);
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_LOCAL), 6000);
	ck_assert_uint_eq(read_one(20, CMT_EVENT_OCCUPANCY), 5);
	ck_assert_uint_eq(fake.evtsel[0], OTHERS_EVTSEL);
	ck_assert(read_one(21, CMT_EVENT_MBM_TOTAL) & CMT_RAW_UNAVAILABLE);
}
END_TEST

START_TEST(test_abmc_keeps_counters_of_others)
{
	fake.configs[3] = TOTAL_OF(7);
	fake.configs[1] = LOCAL_OF(7);
	hw_abmc_assign(0, 20);
	ck_assert_uint_eq(fake.configs[3], TOTAL_OF(7));
	ck_assert_uint_eq(fake.configs[1], LOCAL_OF(7));
	ck_assert_uint_eq(meaning(2), TOTAL_OF(20));
	ck_assert_uint_eq(meaning(0), LOCAL_OF(20));
	hw_abmc_assign(0, 21);
	ck_assert_uint_eq(fake.configured, 2);
	hw_abmc_release(0, 20);
	ck_assert_uint_eq(meaning(2), 0);
	ck_assert_uint_eq(fake.configs[3], TOTAL_OF(7));
	ck_assert_uint_eq(fake.configs[1], LOCAL_OF(7));
}
END_TEST

/* Taken, for another RMID or for none, or gone back: until it is released. */
static const struct {
	u64 config, value;
} losses[] = {
	{ TOTAL_OF(7), 9000 }, { 0, 9000 }, { LOCAL_OF(20), 9000 },
	{ TOTAL_OF(20), 6999 },
};

START_TEST(test_abmc_lost)
{
	hw_abmc_assign(0, 20);
	fake.assigned[3] = 7000;
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), 7000);
	fake.configs[3] = losses[_i].config;
	fake.assigned[3] = losses[_i].value;
	ck_assert(read_one(20, CMT_EVENT_MBM_TOTAL) & CMT_RAW_UNAVAILABLE);
	ck_assert(has_lost(20));
	fake.configs[3] = TOTAL_OF(20);
	fake.assigned[3] = 10000;
	ck_assert(read_one(20, CMT_EVENT_MBM_TOTAL) & CMT_RAW_UNAVAILABLE);
	fake.configs[3] = losses[_i].config;
	hw_abmc_release(0, 20);
	ck_assert(!has_lost(20));
	if (losses[_i].config != TOTAL_OF(20))
		ck_assert_uint_eq(fake.configs[3], losses[_i].config);
}
END_TEST

/* A new counter may have no value at first; one that had values is lost. */
START_TEST(test_abmc_unavailable_at_first)
{
	u32 i;

	hw_abmc_assign(0, 20);
	fake.assigned[3] = CTR_U;
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), CTR_U);
	ck_assert(!has_lost(20));
	fake.assigned[3] = 0;
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), 0);
	fake.assigned[3] = 70;
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), 70);
	fake.assigned[3] = CTR_U;
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), CTR_U);
	ck_assert(has_lost(20));
	hw_abmc_release(0, 20);
	hw_abmc_assign(0, 20);
	fake.assigned[3] = CTR_U;
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), CTR_U);
	ck_assert(!has_lost(20));
	/* another agent took it */
	fake.configs[3] = TOTAL_OF(7);
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), CTR_U);
	ck_assert(has_lost(20));
}
END_TEST

/* Of assigned counters CPUID says by itself how wide they are; those of RMIDs have 44 bits. */
static const struct {
	u32 eax;
	u64 raw, value;
} abmc_widths[] = {
	{ 0, 1ULL << 61 | 1ULL << 44 | 7000, 7000 },
	{ 0, 1ULL << 43 | 7000, 1ULL << 43 | 7000 },
	{ 8, 1ULL << 32 | 7000, 7000 },
	{ 28, 1ULL << 50 | 7000, 1ULL << 50 | 7000 },
	{ 39, 1ULL << 44 | 7000, 7000 },	/* impossible */
	{ 0x100 | 28, 1ULL << 50 | 7000, 1ULL << 50 | 7000 },
	{ 0x100 | 28, 1ULL << 61 | 7000, CTR_U },
	{ 0x100, 1ULL << 61, CTR_U },
};

START_TEST(test_abmc_width)
{
	hw->exit();
	fake.cpuid[0].amd_width = abmc_widths[_i].eax;
	shim_irqs_off = false;
	start();
	hw_abmc_assign(0, 20);
	fake.assigned[3] = abmc_widths[_i].raw;
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL),
			  abmc_widths[_i].value);
	ck_assert(has_lost(20) == (abmc_widths[_i].value == CTR_U));
	/* what is beside the counter does not hide that it went on, or back */
	fake.assigned[3] &= ~(1ULL << 61);
	if (!has_lost(20))
		ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL),
				  abmc_widths[_i].value);
}
END_TEST

START_TEST(test_abmc_scan)
{
	struct hw_abmc_view view;

	hw_abmc_assign(0, 20);
	fake.configs[0] = TOTAL_OF(7);
	ck_assert(hw_abmc_scan(0));
	hw_abmc_view(0, &view);
	ck_assert_uint_eq(view.counters, 4);
	ck_assert_uint_eq(view.ours, 2);
	ck_assert_uint_eq(view.others, 1);
	fake.configs[3] = TOTAL_OF(8);
	ck_assert(hw_abmc_scan(0));
	ck_assert(has_lost(20));
	hw_abmc_view(0, &view);
	ck_assert_uint_eq(view.others, 2);
	fake.abmc = 0;
	ck_assert(!hw_abmc_scan(0));
}
END_TEST

/* What was read by the one kind of counter is never continued by the other. */
START_TEST(test_abmc_switched_off)
{
	hw_abmc_assign(0, 20);
	fake.ctr[20][CMT_EVENT_MBM_TOTAL] = 1ULL << 40;
	fake.abmc = 0x10;
	ck_assert(read_one(20, CMT_EVENT_MBM_TOTAL) & CMT_RAW_UNAVAILABLE);
	ck_assert_int_eq(state(), HW_ABMC_CHANGING);
	fake.abmc = 0x11;
	ck_assert(read_one(20, CMT_EVENT_MBM_TOTAL) & CMT_RAW_UNAVAILABLE);
	fake.abmc = 0x10;
	hw_abmc_settle(0);
	ck_assert_int_eq(state(), HW_ABMC_OFF);
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), 1ULL << 40);
	ck_assert_uint_eq(fake.abmc, 0x10);
}
END_TEST

static void switch_on(void)
{
	if (++meddle_calls == meddle_times)
		fake.abmc = 1;
}

/* In the middle of a burst: nothing of it is bandwidth. */
START_TEST(test_abmc_switched_in_burst)
{
	struct cmt_reading *reading;

	fake.abmc = 0;
	hw_abmc_settle(0);
	prepare_burst();
	meddle_times = 1 + _i;
	fake.meddle = switch_on;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(burst.end - readings, 3);
	ck_assert_uint_eq(fake.abmc, 1);
	for (reading = readings; reading != burst.end; reading++) {
		ck_assert(reading->raws.total & CMT_RAW_UNAVAILABLE);
		ck_assert(reading->raws.local & CMT_RAW_UNAVAILABLE);
	}
	ck_assert_uint_eq(readings[1].raws.occupancy, 2000);
}
END_TEST

#define LIE	(1ULL << 42)

static void all_mbm(u64 value)
{
	u32 rmid;

	for (rmid = 0; rmid < RMIDS; rmid++) {
		fake.ctr[rmid][CMT_EVENT_MBM_TOTAL] = value;
		fake.ctr[rmid][CMT_EVENT_MBM_LOCAL] = value;
	}
}

/* On, for two of the calls; off again, all counters begin anew. */
static void switch_twice(void)
{
	if (++meddle_calls == meddle_times)
		all_mbm(LIE);
	else if (meddle_calls == meddle_times + 2)
		all_mbm(0);
}

/* The register says off before the burst and after it, and lies were read. */
START_TEST(test_abmc_switched_twice_in_burst)
{
	struct cmt_reading *reading;

	fake.abmc = 0;
	hw_abmc_settle(0);
	prepare_burst();
	meddle_times = 1 + _i;
	fake.meddle = switch_twice;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_int_eq(state(), HW_ABMC_CHANGING);
	for (reading = readings; reading != burst.end; reading++) {
		ck_assert(reading->raws.total & CMT_RAW_UNAVAILABLE);
		ck_assert(reading->raws.local & CMT_RAW_UNAVAILABLE);
	}
	ck_assert_uint_eq(readings[1].raws.occupancy, 2000);
}
END_TEST

/* The same between two bursts: the counters of some RMID are less. */
START_TEST(test_abmc_switched_twice_between_bursts)
{
	const struct cmt_raws before = { 0, 6, 8 };

	fake.abmc = 0;
	hw_abmc_settle(0);
	prepare_burst();
	cmt_counter_begin(&counters[20], 20, 120, &caps);
	cmt_counter_set_base(&counters[20], &before, caps.events, &caps);
	fake.ctr[10][CMT_EVENT_MBM_TOTAL] = 4;
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_int_eq(state(), HW_ABMC_CHANGING);
	ck_assert(readings[0].raws.total & CMT_RAW_UNAVAILABLE);
	hw_abmc_settle(0);
	ck_assert_int_eq(state(), HW_ABMC_OFF);
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_LOCAL), 7);
}
END_TEST

#define MARK_UNITS	(((1ULL << 26) + 90111) / 90112)	/* most of an L3 between two marks */

/* An RMID whose last reading was @prev, one mark ago, is now read as @now. */
static void reads_on(u32 rmid, u64 prev, u64 now)
{
	const struct cmt_raws before = { 0, prev, prev };

	cmt_counter_begin(&counters[rmid], rmid, 100 + rmid, &caps);
	cmt_counter_set_base(&counters[rmid], &before, caps.events, &caps);
	fake.ctr[rmid][CMT_EVENT_MBM_TOTAL] = now;
	fake.ctr[rmid][CMT_EVENT_MBM_LOCAL] = now;
}

/* Another agent was told that one RMID is counted anew: this is no switch, which is of all. */
START_TEST(test_abmc_off_one_began_anew)
{
	struct cmt_reading *reading;

	fake.abmc = 0;
	hw_abmc_settle(0);
	prepare_burst();
	reads_on(10, 1ULL << 40, 5);
	reads_on(20, MARK_UNITS + _i, MARK_UNITS + 7);
	reads_on(30, 1ULL << 30, 1ULL << 31);
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_uint_eq(burst.end - readings, 3);
	ck_assert_int_eq(state(), HW_ABMC_OFF);
	for (reading = readings; reading != burst.end; reading++) {
		u32 rmid = reading->counter - counters;

		ck_assert_uint_eq(reading->raws.total, fake.ctr[rmid][CMT_EVENT_MBM_TOTAL]);
		ck_assert_uint_eq(reading->raws.local, fake.ctr[rmid][CMT_EVENT_MBM_LOCAL]);
	}
}
END_TEST

/* After a switch, others may have passed what they had before, if that was little. */
START_TEST(test_abmc_switched_twice_and_passed)
{
	fake.abmc = 0;
	hw_abmc_settle(0);
	prepare_burst();
	reads_on(10, 1ULL << 40, 5);
	reads_on(20, MARK_UNITS - 1, 1ULL << 20);
	reads_on(30, 0, 1ULL << 20);
	ck_assert_int_eq(burst_once(), 0);
	ck_assert_int_eq(state(), HW_ABMC_CHANGING);
	ck_assert(readings[1].raws.total & CMT_RAW_UNAVAILABLE);
}
END_TEST

/* One reading by itself. */
START_TEST(test_abmc_switched_twice_in_reading)
{
	fake.abmc = 0;
	hw_abmc_settle(0);
	meddle_times = 2;
	fake.meddle = switch_twice;
	ck_assert(read_one(20, CMT_EVENT_MBM_TOTAL) & CMT_RAW_UNAVAILABLE);
	ck_assert_int_eq(state(), HW_ABMC_CHANGING);
}
END_TEST

/* An event that the processor does not have is 0, and has no counter. */
START_TEST(test_abmc_without_local)
{
	struct cmt_raws raws;

	hw->exit();
	on_all_cpus_l3(65536, 199, 3);
	start();
	hw_abmc_assign(0, 20);
	ck_assert_uint_eq(fake.configured, 1);
	fake.assigned[3] = 7000;
	hw->read(20, caps.events, &raws);
	ck_assert_uint_eq(raws.total, 7000);
	ck_assert_uint_eq(raws.local, 0);
}
END_TEST

START_TEST(test_abmc_off_without_local)
{
	hw->exit();
	on_all_cpus_l3(65536, 199, 3);
	fake.abmc = 0;
	start();
	check_discards_without_local();
}
END_TEST

static const u32 abmc_msrs[] = {
	FAKE_MSR_EXT_CFG, FAKE_MSR_ABMC_CFG, FAKE_MSR_ABMC_DSC, FAKE_MSR_EVTSEL,
	FAKE_MSR_CTR,
};

START_TEST(test_abmc_faults)
{
	hw_abmc_assign(0, 20);
	fake.assigned[3] = 7000;
	fake.faulting_msr = abmc_msrs[_i];
	ck_assert(read_one(20, CMT_EVENT_MBM_TOTAL) &
		  (CMT_RAW_ERROR | CMT_RAW_UNAVAILABLE));
	hw_abmc_scan(0);
	hw_abmc_assign(0, 21);
	fake.faulting_msr = 0;
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), 7000);
	ck_assert_uint_eq(meaning(3), TOTAL_OF(20));
}
END_TEST

START_TEST(test_abmc_release_faults)
{
	struct hw_abmc_view view;

	hw_abmc_assign(0, 20);
	fake.faulting_msr = abmc_msrs[1 + _i];
	hw_abmc_release(0, 20);
	ck_assert(has_lost(20));
	fake.faulting_msr = 0;
	hw_abmc_release(0, 20);
	hw_abmc_view(0, &view);
	ck_assert_uint_eq(view.ours, 0);
	ck_assert_uint_eq(meaning(3), 0);
}
END_TEST

START_TEST(test_abmc_heat)
{
	u32 i, hot;

	ck_assert_uint_eq(hw_abmc_heat_of(0, 20), 0);
	read_one(20, CMT_EVENT_OCCUPANCY);
	read_one(20, CMT_EVENT_OCCUPANCY);
	ck_assert_uint_eq(hw_abmc_heat_of(0, 20), 1);
	hw_abmc_heat(0, 20);
	hot = hw_abmc_heat_of(0, 20);
	ck_assert_uint_gt(hot, 1);
	for (i = 0; i < 100; i++)
		hw_abmc_cool(0, 20);
	ck_assert_uint_eq(hw_abmc_heat_of(0, 20), 0);
}
END_TEST

START_TEST(test_abmc_nothing_to_count)
{
	ck_assert(hw_abmc_usable());
	hw->exit();
	fake.cpuid[0].amd_types = 0;
	start();
	ck_assert(!hw_abmc_usable());
}
END_TEST

static TCase *abmc_tests(void)
{
	TCase *tcase = tcase_create("assignable counters");

	tcase_add_checked_fixture(tcase, set_up_abmc, tear_down_abmc);
	tcase_add_test(tcase, test_abmc_assign_from_the_top);
	tcase_add_test(tcase, test_abmc_read);
	tcase_add_test(tcase, test_abmc_keeps_counters_of_others);
	tcase_add_loop_test(tcase, test_abmc_lost, 0, ARRAY_LENGTH(losses));
	tcase_add_test(tcase, test_abmc_unavailable_at_first);
	tcase_add_loop_test(tcase, test_abmc_width, 0,
			    ARRAY_LENGTH(abmc_widths));
	tcase_add_test(tcase, test_abmc_scan);
	tcase_add_test(tcase, test_abmc_switched_off);
	tcase_add_loop_test(tcase, test_abmc_switched_in_burst, 0, 9);
	tcase_add_loop_test(tcase, test_abmc_switched_twice_in_burst, 0, 8);
	tcase_add_test(tcase, test_abmc_switched_twice_between_bursts);
	tcase_add_loop_test(tcase, test_abmc_off_one_began_anew, 0, 8);
	tcase_add_test(tcase, test_abmc_switched_twice_and_passed);
	tcase_add_test(tcase, test_abmc_switched_twice_in_reading);
	tcase_add_test(tcase, test_abmc_without_local);
	tcase_add_test(tcase, test_abmc_off_without_local);
	tcase_add_loop_test(tcase, test_abmc_faults, 0,
			    ARRAY_LENGTH(abmc_msrs));
	tcase_add_loop_test(tcase, test_abmc_release_faults, 0, 2);
	tcase_add_test(tcase, test_abmc_heat);
	tcase_add_test(tcase, test_abmc_nothing_to_count);
	return tcase;
}

/* AMD's configurable events */

#define READS	0x33

static void set_up_bmec(void)
{
	u32 i;

	set_up_amd();
	shim_irqs_off = false;
	for (i = 0; i < FAKE_CPUS; i++) {
		fake.cpuid[i].amd_qos_ebx = 1U << 3;
		fake.cpuid[i].amd_types = 0x7f;
		fake.evt_cfg[i][0] = 0x7f;
		fake.evt_cfg[i][1] = 0x15;
	}
	fake.ctr[20][CMT_EVENT_OCCUPANCY] = 5;
	fake.ctr[20][CMT_EVENT_MBM_TOTAL] = 7000;
	fake.ctr[20][CMT_EVENT_MBM_LOCAL] = 6000;
	start();
}

static bool is_read(enum cmt_event event)
{
	return read_one(20, event) == fake.ctr[20][event];
}

/* As sample/bmec.c does */
static void look_and_settle(u32 domain)
{
	hw_bmec_settle(domain, hw_bmec_look(domain));
}

static const struct {
	u64 total, local;
	u32 other;
	const char *reason;
} choices[] = {
	{ 0x7f, 0x15, 0, "" },
	{ READS, 0x15, CMT_F_MBM_TOTAL,
	  "resctrl's mbm_total_bytes_config is not the default" },
	{ 0x7f, 0x11, CMT_F_MBM_LOCAL,
	  "resctrl's mbm_local_bytes_config is not the default" },
	{ 0x15, 0x7f, CMT_MBM_EVENTS,
	  "resctrl's mbm_{total,local}_bytes_config are not the default" },
	{ 0, 0, CMT_MBM_EVENTS,
	  "resctrl's mbm_{total,local}_bytes_config are not the default" },
	/* bits beside the types */
	{ 0x17f, 1ULL << 40 | 0x15, 0, "" },
};

static void assert_choice(u32 i)
{
	ck_assert_uint_eq(hw_bmec_other(0), choices[i].other);
	ck_assert_uint_eq(hw_bmec_lost(hw_abmc_domains_on()), choices[i].other);
	ck_assert_str_eq(hw_bmec_reason(hw_abmc_domains_on()), choices[i].reason);
	ck_assert_uint_lt(strlen(choices[i].reason), 64);
	ck_assert(is_read(CMT_EVENT_OCCUPANCY));
	ck_assert(is_read(CMT_EVENT_MBM_TOTAL) !=
		  !!(choices[i].other & CMT_F_MBM_TOTAL));
	ck_assert(is_read(CMT_EVENT_MBM_LOCAL) !=
		  !!(choices[i].other & CMT_F_MBM_LOCAL));
}

START_TEST(test_bmec_choice)
{
	fake.evt_cfg[0][0] = choices[_i].total;
	fake.evt_cfg[0][1] = choices[_i].local;
	look_and_settle(0);
	assert_choice(_i);
}
END_TEST

/* It outlives its agent: so it is there when the module is loaded. */
START_TEST(test_bmec_choice_from_before)
{
	struct cmt_raws raws;

	fake.evt_cfg[0][0] = READS;
	shim_irqs_off = false;
	start();
	hw->read(20, caps.events, &raws);
	ck_assert_uint_eq(raws.total, CMT_RAW_UNAVAILABLE);
	ck_assert_uint_eq(raws.local, 6000);
}
END_TEST

/* It is read again when the bases are gone, and not before. */
START_TEST(test_bmec_default_again)
{
	fake.evt_cfg[0][1] = 0x11;
	ck_assert_uint_eq(hw_bmec_look(0), CMT_F_MBM_LOCAL);
	ck_assert(!is_read(CMT_EVENT_MBM_LOCAL));
	fake.evt_cfg[0][1] = 0x15;
	ck_assert_uint_eq(hw_bmec_look(0), 0);
	ck_assert(!is_read(CMT_EVENT_MBM_LOCAL));
	hw_bmec_settle(0, 0);
	ck_assert(is_read(CMT_EVENT_MBM_LOCAL));
}
END_TEST

START_TEST(test_bmec_of_one_domain)
{
	fake_cpu = 2;
	fake.evt_cfg[1][0] = READS;
	hw->cpu_up(1);
	ck_assert(!is_read(CMT_EVENT_MBM_TOTAL));
	fake_cpu = 0;
	ck_assert(is_read(CMT_EVENT_MBM_TOTAL));
	ck_assert_uint_eq(hw_bmec_lost(hw_abmc_domains_on()), 0);
	ck_assert_str_eq(hw_bmec_reason(hw_abmc_domains_on()), choices[1].reason);
}
END_TEST

/* A domain without a CPU has no events, and no reason why they are missing. */
START_TEST(test_bmec_of_a_domain_that_is_down)
{
	fake_cpu = 2;
	fake.evt_cfg[1][0] = READS;
	hw->cpu_up(1);
	hw_bmec_forget(1);
	ck_assert_str_eq(hw_bmec_reason(hw_abmc_domains_on()), "");
	fake_cpu = 0;
	fake.evt_cfg[0][0] = READS;
	hw_bmec_look(0);
	ck_assert_uint_eq(hw_bmec_lost(hw_abmc_domains_on()), CMT_F_MBM_TOTAL);
	fake_cpu = 2;
	hw->cpu_up(1);
	ck_assert_uint_eq(hw_bmec_lost(hw_abmc_domains_on()), CMT_F_MBM_TOTAL);
}
END_TEST

/* Types that the processor cannot tell apart are not chosen. */
START_TEST(test_bmec_supported_types)
{
	u32 i;

	shim_irqs_off = false;
	for (i = 0; i < FAKE_CPUS; i++)
		fake.cpuid[i].amd_types = 0x4f;
	fake.evt_cfg[0][0] = 0x4f;
	fake.evt_cfg[0][1] = 0x05;
	start();
	assert_choice(0);
	fake.evt_cfg[0][0] = 0x0f;
	look_and_settle(0);
	assert_choice(1);
}
END_TEST

START_TEST(test_bmec_faults)
{
	fake.faulting_msr = FAKE_MSR_EVT_CFG + _i;
	look_and_settle(0);
	ck_assert(is_read(CMT_EVENT_MBM_TOTAL) == _i);
	ck_assert(is_read(CMT_EVENT_MBM_LOCAL) != _i);
	ck_assert_str_eq(hw_bmec_reason(hw_abmc_domains_on()),
			 "what AMD's bandwidth events count (BMEC) cannot be read");
	fake.faulting_msr = 0;
	look_and_settle(0);
	assert_choice(0);
}
END_TEST

/* The counters of one event go on while the other is not read. */
START_TEST(test_bmec_base_of_the_other_event)
{
	prepare_burst();
	memset(burst.hot.rmids, 0, burst.words * sizeof(long));
	fake.evt_cfg[0][0] = READS;
	look_and_settle(0);
	ck_assert_uint_eq(sample_20(1000, false) & CMT_MBM_EVENTS,
			  CMT_F_MBM_LOCAL);
	fake.ctr[20][CMT_EVENT_MBM_LOCAL] += 100;
	ck_assert_uint_eq(sample_20(1000, false), CMT_F_OCCUPANCY |
			  CMT_F_MBM_LOCAL | CMT_F_UNAVAILABLE);
	ck_assert_uint_eq(counters[20].local.units, 100);
	ck_assert_uint_eq(counters[20].total.units, 0);
}
END_TEST

/* An assigned counter has a configuration of its own. */
START_TEST(test_bmec_beside_assigned_counters)
{
	shim_irqs_off = false;
	fake.cpuid[0].amd_qos_ebx |= 1U << 5;
	fake.cpuid[0].amd_counters = 3;
	fake.abmc = 1;
	fake.evt_cfg[0][0] = READS;
	start();
	hw_abmc_assign(0, 20);
	fake.assigned[3] = 70;
	ck_assert_uint_eq(read_one(20, CMT_EVENT_MBM_TOTAL), 70);
	ck_assert_str_eq(hw_bmec_reason(hw_abmc_domains_on()), "");
	ck_assert_uint_eq(hw_bmec_lost(hw_abmc_domains_on()), 0);
	fake.abmc = 0;
	hw_abmc_settle(0);
	ck_assert(!is_read(CMT_EVENT_MBM_TOTAL));
	ck_assert(is_read(CMT_EVENT_MBM_LOCAL));
	ck_assert_str_eq(hw_bmec_reason(hw_abmc_domains_on()), choices[1].reason);
	hw->exit();
}
END_TEST

/* Without the bit there are no such registers. */
START_TEST(test_bmec_is_not_there)
{
	u32 i;

	shim_irqs_off = false;
	for (i = 0; i < FAKE_CPUS; i++)
		fake.cpuid[i].amd_qos_ebx = 0;
	fake.evt_cfg[0][0] = READS;
	start();
	look_and_settle(0);
	assert_choice(0);
	ck_assert(!hw_bmec_exists());
}
END_TEST

static TCase *bmec_tests(void)
{
	TCase *tcase = tcase_create("configurable events");

	tcase_add_checked_fixture(tcase, set_up_bmec, tear_down);
	tcase_add_loop_test(tcase, test_bmec_choice, 0, ARRAY_LENGTH(choices));
	tcase_add_test(tcase, test_bmec_choice_from_before);
	tcase_add_test(tcase, test_bmec_default_again);
	tcase_add_test(tcase, test_bmec_of_one_domain);
	tcase_add_test(tcase, test_bmec_of_a_domain_that_is_down);
	tcase_add_test(tcase, test_bmec_supported_types);
	tcase_add_loop_test(tcase, test_bmec_faults, 0, 2);
	tcase_add_test(tcase, test_bmec_base_of_the_other_event);
	tcase_add_test(tcase, test_bmec_beside_assigned_counters);
	tcase_add_test(tcase, test_bmec_is_not_there);
	return tcase;
}

/* topology */

START_TEST(test_topology_l3_id_drops_thread_bits)
{
	for (fake_cpu = 0; fake_cpu < FAKE_CPUS; fake_cpu++)
		ck_assert_uint_eq(cmt_topology_l3_id(), fake_cpu / 2);
	fake_cpu = 0;
	fake.cpuid[0].apic_id = 0x35;
	/* 12 threads take four bits, as 16 do */
	fake.cpuid[0].cache_eax = 3 | 3 << 5 | 11 << 14;
	ck_assert_uint_eq(cmt_topology_l3_id(), 3);
	fake.cpuid[0].cache_eax = 3 | 3 << 5;
	ck_assert_uint_eq(cmt_topology_l3_id(), 0x35);
}
END_TEST

START_TEST(test_topology_without_x2apic_leaf)
{
	fake.cpuid[0].max_leaf = 0x4;
	fake.cpuid[0].apic_id = 0x35;
	ck_assert_uint_eq(cmt_topology_l3_id(), 3);
}
END_TEST

/* The leaf is the last one, or there and empty. */
START_TEST(test_topology_last_leaf_is_x2apic)
{
	u32 apic_id = fake.cpuid[0].apic_id = 0x1035;

	fake.cpuid[0].max_leaf = 0xb;
	ck_assert_uint_eq(cmt_topology_l3_id(), apic_id >> 4);
}
END_TEST

START_TEST(test_topology_without_l3)
{
	fake.cpuid[3].cache_eax = 0;
	fake.package[3] = 9;
	fake_cpu = 3;
	ck_assert_uint_eq(cmt_topology_l3_id(), 9);
	ck_assert_uint_eq(cmt_topology_l3_bytes(), 0);
}
END_TEST

START_TEST(test_topology_amd_needs_topoext)
{
	boot_cpu_data.x86_vendor = X86_VENDOR_AMD;
	ck_assert_uint_eq(cmt_topology_l3_bytes(), 0);
	fake.features |= 1U << X86_FEATURE_TOPOEXT;
	ck_assert_uint_eq(cmt_topology_l3_bytes(), 16ULL << 20);
}
END_TEST

/* 4 GiB: the product does not fit in 32 bits. */
START_TEST(test_topology_l3_bytes_large)
{
	fake.cpuid[0].cache_ebx = 15U << 22 | 3 << 12 | 63;
	fake.cpuid[0].cache_ecx = (1U << 20) - 1;
	ck_assert_uint_eq(cmt_topology_l3_bytes(), 4ULL << 30);
}
END_TEST

static TCase *init_tests(void)
{
	TCase *tcase = tcase_create("init");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_init_intel);
	tcase_add_test(tcase, test_init_least_rmid_of_all_cpus);
	tcase_add_test(tcase, test_init_plza);
	tcase_add_test(tcase, test_init_more_rmids_than_pqr_holds);
	tcase_add_test(tcase, test_init_events_all_cpus_have);
	tcase_add_test(tcase, test_init_events_the_kernel_allows);
	tcase_add_loop_test(tcase, test_init_width, 0, ARRAY_LENGTH(widths));
	tcase_add_test(tcase, test_init_width_impossible);
	tcase_add_loop_test(tcase, test_init_mbm_correction, 0,
			    ARRAY_LENGTH(corrections));
	tcase_add_test(tcase, test_init_no_leaf);
	tcase_add_test(tcase, test_init_no_leaf_in_vm);
	tcase_add_test(tcase, test_init_no_pqm);
	tcase_add_test(tcase, test_init_no_l3);
	tcase_add_test(tcase, test_init_one_cpu_without);
	tcase_add_test(tcase, test_init_cpus_differ);
	tcase_add_test(tcase, test_init_no_unit);
	tcase_add_test(tcase, test_init_no_rmid);
	tcase_add_test(tcase, test_init_no_event);
	tcase_add_test(tcase, test_init_kernel_disabled);
	tcase_add_loop_test(tcase, test_init_faults, 0,
			    ARRAY_LENGTH(probed_msrs));
	tcase_add_test(tcase, test_init_does_not_write_shared_evtsel);
	tcase_add_test(tcase, test_init_skylake_erratum);
	tcase_add_test(tcase, test_topology_l3_id_drops_thread_bits);
	tcase_add_test(tcase, test_topology_without_x2apic_leaf);
	tcase_add_test(tcase, test_topology_last_leaf_is_x2apic);
	tcase_add_test(tcase, test_topology_without_l3);
	tcase_add_test(tcase, test_topology_amd_needs_topoext);
	tcase_add_test(tcase, test_topology_l3_bytes_large);
	return tcase;
}

/* Sub-NUMA clusters: CPUs 0 and 1 are a node each of one L3, 2 and 3 of another. */

#define SNC_OFF	0x8000000000000001ULL	/* and a bit that is none of ours */

static u64 snc_waited;	/* the mode when readings under way were last waited for */

void synchronize_rcu(void)
{
	snc_waited = fake.snc[0];
}

static void set_up_snc(void)
{
	u32 i;

	set_up();
	snc_waited = 0;
	fake.has_snc = true;
	for (i = 0; i < FAKE_CPUS; i++) {
		fake.node[i] = i;
		fake.snc[fake.package[i]] = SNC_OFF;
		fake.ctr[7][CMT_EVENT_OCCUPANCY] = 70;
		fake.ctr[107][CMT_EVENT_OCCUPANCY] = 1070;
	}
}

START_TEST(test_snc_divides_cpuid_rmids)
{
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.nodes_per_l3, 2);
	ck_assert_uint_eq(caps.nr_rmids, 100);
	ck_assert_uint_eq(caps.rmid_room, 256);	/* of PQR_ASSOC */
	ck_assert_uint_eq(caps.upscale_bytes, 45056);
	ck_assert_uint_eq(caps.l3_bytes, 8ULL << 20);
	ck_assert_str_eq(caps.reason,
			 "L3 monitoring in CPUID leaf 0xF, 2 nodes per L3 (SNC)");
}
END_TEST

START_TEST(test_snc_reads_the_nodes_own_rmids)
{
	static const u64 expected[FAKE_CPUS] = { 70, 1070, 70, 1070 };

	ck_assert_int_eq(hw->init(&caps), 0);
	shim_irqs_off = true;
	for (fake_cpu = 0; fake_cpu < FAKE_CPUS; fake_cpu++) {
		hw->cpu_up(fake_cpu);
		ck_assert_uint_eq(read_one(7, CMT_EVENT_OCCUPANCY),
				  expected[fake_cpu]);
		prepare_burst();
		__set_bit(7, burst.hot.rmids);
		ck_assert_int_eq(burst_once(), 0);
		ck_assert_uint_eq(readings[0].raws.occupancy,
				  expected[fake_cpu]);
	}
}
END_TEST

/* Every second node is offline when the module is loaded, and comes up later. */
START_TEST(test_snc_counts_nodes_that_are_offline)
{
	fake.offline[1] = fake.offline[3] = true;
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(caps.nodes_per_l3, 2);
	ck_assert_uint_eq(caps.upscale_bytes, 45056);
	fake.offline[1] = fake.offline[3] = false;
	shim_irqs_off = true;
	for (fake_cpu = 0; fake_cpu < FAKE_CPUS; fake_cpu++) {
		hw->cpu_up(fake_cpu);
		ck_assert_uint_eq(read_one(7, CMT_EVENT_OCCUPANCY),
				  fake_cpu % 2 ? 1070 : 70);
	}
}
END_TEST

/* The firmware's tables do not say where the CPUs are. */
START_TEST(test_snc_skips_cpus_without_node)
{
	fake.node[1] = fake.node[3] = NUMA_NO_NODE;
	start();
	ck_assert_uint_eq(caps.nodes_per_l3, 1);
}
END_TEST

START_TEST(test_snc_mode_is_restored)
{
	ck_assert_int_eq(hw->init(&caps), 0);
	ck_assert_uint_eq(fake.snc[0], SNC_OFF);
	shim_irqs_off = true;
	for (fake_cpu = 0; fake_cpu < FAKE_CPUS; fake_cpu++)
		hw->cpu_up(fake_cpu);
	ck_assert_uint_eq(fake.snc[0], SNC_OFF - 1);
	ck_assert_uint_eq(fake.snc[1], SNC_OFF - 1);
	fake_cpu = 0;
	shim_irqs_off = false;
	ck_assert_uint_eq(fake.snc[1], SNC_OFF - 1);
	hw->exit();
	ck_assert_uint_eq(fake.snc[0], SNC_OFF);
	ck_assert_uint_eq(fake.snc[1], SNC_OFF);
}
END_TEST

/* Before a kexec, with CPUs up; the module may be unloaded after that. */
START_TEST(test_snc_mode_is_restored_before_exit)
{
	start();
	ck_assert_uint_eq(fake.snc[0], SNC_OFF - 1);
	hw->restore();
	ck_assert_uint_eq(fake.snc[0], SNC_OFF);
	hw->exit();
	ck_assert_uint_eq(fake.snc[0], SNC_OFF);
}
END_TEST

/* A program that reads on demand after that: another RMID's counter is none of its own. */
START_TEST(test_snc_reads_nothing_once_restored)
{
	struct cmt_raws raws;

	fake_cpu = 1;
	start();
	ck_assert_uint_eq(read_one(7, CMT_EVENT_OCCUPANCY), 1070);
	hw->restore();
	hw->read(7, ALL_EVENTS, &raws);
	ck_assert_uint_eq(raws.occupancy, CTR_U);
	ck_assert_uint_eq(raws.total, CTR_U);
	ck_assert_uint_eq(raws.local, CTR_U);
	ck_assert_uint_eq(snc_waited, SNC_OFF - 1);
}
END_TEST

START_TEST(test_snc_mode_of_a_newer_kernel_stays)
{
	fake.snc[0] = fake.snc[1] = SNC_OFF - 1;
	start();
	ck_assert_uint_eq(caps.nodes_per_l3, 2);
	hw->restore();
	ck_assert_uint_eq(read_one(7, CMT_EVENT_OCCUPANCY), 70);
	hw->exit();
	ck_assert_uint_eq(fake.snc[0], SNC_OFF - 1);
}
END_TEST

/* A resume from hibernation has reset the register of the package of the CPU that stayed up. */
START_TEST(test_snc_mode_of_a_newer_kernel_stays_after_reset)
{
	fake.snc[0] = fake.snc[1] = SNC_OFF - 1;
	start();
	fake.snc[0] = SNC_OFF;
	fake_cpu = 1;
	hw->cpu_up(1);
	ck_assert_uint_eq(fake.snc[0], SNC_OFF - 1);
	hw->exit();
	ck_assert_uint_eq(fake.snc[0], SNC_OFF - 1);
	ck_assert_uint_eq(fake.snc[1], SNC_OFF - 1);
}
END_TEST

#define SNC_REFUSAL	"several NUMA nodes per L3, counted in no known way"

START_TEST(test_snc_needs_its_register)
{
	fake.has_snc = false;
	assert_refused(SNC_REFUSAL);
	fake.features |= 1U << X86_FEATURE_HYPERVISOR;
	assert_refused(SNC_REFUSAL " (in a VM)");
}
END_TEST

/*
 * What MSR 0xca0 is elsewhere is not known, and it is left alone: Haswell and Broadwell with
 * Cluster-on-Die, Cascade Lake, and a processor that is no server's.
 */
static const u8 models_without_snc[] = { 0x3f, 0x4f, 0x55, 0x8c };

START_TEST(test_snc_needs_a_known_model)
{
	boot_cpu_data.x86_model = models_without_snc[_i];
	boot_cpu_data.x86_stepping = 7;
	assert_refused(SNC_REFUSAL);
	ck_assert_uint_eq(fake.snc[0], SNC_OFF);
}
END_TEST

/* A node without an RMID but 0, or with a part of a unit */
START_TEST(test_snc_needs_rmids_and_unit)
{
	on_all_cpus_l3(90112, 2, 7);
	assert_refused(SNC_REFUSAL);
	on_all_cpus_l3(1, 199, 7);
	assert_refused(SNC_REFUSAL);
}
END_TEST

/* Nodes never share an L3 there. */
START_TEST(test_snc_is_intels)
{
	boot_cpu_data.x86_vendor = X86_VENDOR_AMD;
	fake.features |= 1U << X86_FEATURE_TOPOEXT;
	start();
	ck_assert_uint_eq(caps.nodes_per_l3, 1);
	ck_assert_uint_eq(caps.nr_rmids, 200);
	ck_assert_uint_eq(fake.snc[0], SNC_OFF);
	hw->exit();
}
END_TEST

START_TEST(test_snc_one_node_per_l3)
{
	u32 i;

	for (i = 0; i < FAKE_CPUS; i++)
		fake.node[i] = fake.package[i];
	start();
	ck_assert_uint_eq(caps.nodes_per_l3, 1);
	ck_assert_uint_eq(fake.snc[0], SNC_OFF);
}
END_TEST

static TCase *snc_tests(void)
{
	TCase *tcase = tcase_create("sub-NUMA clusters");

	tcase_add_checked_fixture(tcase, set_up_snc, tear_down);
	tcase_add_test(tcase, test_snc_divides_cpuid_rmids);
	tcase_add_test(tcase, test_snc_reads_the_nodes_own_rmids);
	tcase_add_test(tcase, test_snc_counts_nodes_that_are_offline);
	tcase_add_test(tcase, test_snc_skips_cpus_without_node);
	tcase_add_test(tcase, test_snc_mode_is_restored);
	tcase_add_test(tcase, test_snc_mode_is_restored_before_exit);
	tcase_add_test(tcase, test_snc_reads_nothing_once_restored);
	tcase_add_test(tcase, test_snc_mode_of_a_newer_kernel_stays);
	tcase_add_test(tcase, test_snc_mode_of_a_newer_kernel_stays_after_reset);
	tcase_add_test(tcase, test_snc_needs_its_register);
	tcase_add_loop_test(tcase, test_snc_needs_a_known_model, 0,
			    ARRAY_LENGTH(models_without_snc));
	tcase_add_test(tcase, test_snc_needs_rmids_and_unit);
	tcase_add_test(tcase, test_snc_is_intels);
	tcase_add_test(tcase, test_snc_one_node_per_l3);
	return tcase;
}

static TCase *private_tests(void)
{
	TCase *tcase = tcase_create("private registers");

	tcase_add_checked_fixture(tcase, set_up_started, tear_down);
	tcase_add_test(tcase, test_read_value);
	tcase_add_test(tcase, test_read_status_bits);
	tcase_add_test(tcase, test_read_unavailable_is_of_one_event);
	tcase_add_test(tcase, test_read_missing_event);
	tcase_add_test(tcase, test_overflow_bit_is_no_data);
	tcase_add_test(tcase, test_read_faults);
	tcase_add_test(tcase, test_read_retries_when_evtsel_changed);
	tcase_add_test(tcase, test_read_detects_foreign_value);
	tcase_add_test(tcase, test_read_retries_are_bounded);
	tcase_add_test(tcase, test_burst_six_accesses_each);
	tcase_add_loop_test(tcase, test_burst_reads_what_is_wanted, 0,
			    ARRAY_LENGTH(wanted));
	tcase_add_loop_test(tcase, test_burst_of_some_is_discarded_when_evtsel_changed,
			    0, ARRAY_LENGTH(wanted));
	tcase_add_test(tcase, test_burst_reads_nothing);
	tcase_add_test(tcase, test_read_what_is_wanted);
	tcase_add_loop_test(tcase, test_burst_status_bit_is_seen, 0,
			    ARRAY_LENGTH(flaws));
	tcase_add_test(tcase, test_burst_both_status_bits_are_read_again);
	tcase_add_test(tcase, test_burst_fault);
	tcase_add_test(tcase, test_burst_discarded_when_evtsel_changed);
	tcase_add_test(tcase, test_burst_discarded_without_local);
	tcase_add_test(tcase, test_read_private_skips_none);
	return tcase;
}

static TCase *shared_tests(void)
{
	TCase *tcase = tcase_create("shared registers");

	tcase_add_checked_fixture(tcase, set_up_amd, tear_down);
	tcase_add_test(tcase, test_read_shared_restores_once);
	tcase_add_test(tcase, test_read_shared_detects_foreign_value);
	tcase_add_test(tcase, test_read_shared_unavailable_holds_for_the_repetition);
	tcase_add_test(tcase, test_read_shared_unavailable_is_not_of_occupancy);
	tcase_add_loop_test(tcase, test_read_shared_unavailable_is_of_both_events,
			    0, ARRAY_LENGTH(anew));
	tcase_add_test(tcase, test_read_shared_never_ours);
	tcase_add_test(tcase, test_read_shared_error_bit_restores);
	tcase_add_test(tcase, test_read_shared_fault_unlocks);
	tcase_add_test(tcase, test_burst_shared_restores_once);
	tcase_add_test(tcase, test_burst_shared_reads_each_by_itself);
	tcase_add_test(tcase, test_read_shared_skips_rmids_of_resctrl);
	tcase_add_test(tcase, test_burst_shared_skips_rmids_of_resctrl);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("hw");

	suite_add_tcase(suite, init_tests());
	suite_add_tcase(suite, private_tests());
	suite_add_tcase(suite, snc_tests());
	suite_add_tcase(suite, shared_tests());
	suite_add_tcase(suite, abmc_tests());
	suite_add_tcase(suite, bmec_tests());
	return unit_run(suite);
}
