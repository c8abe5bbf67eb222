/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by hw.c, hw_read.c, hw_abmc.c and hw_bmec.c */
#ifndef CMT_HW_MSR_H
#define CMT_HW_MSR_H

#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "backend.h"
#include "uapi/cmt.h"

#define HW_MSR_QM_EVTSEL	0xc8d
#define HW_MSR_QM_CTR		0xc8e

#define HW_CPUID_AMD_QOS	0x80000020

/* EAX of the leaves of counters */
#define HW_CPUID_WIDTH		GENMASK(7, 0)	/* above 24 bits */
#define HW_CPUID_OVERFLOW	BIT(8)		/* there is HW_CTR_OVERFLOW */

#define HW_CTR_OVERFLOW		BIT_ULL(61)	/* of QM_CTR */

/* AMD's types of traffic: all, as the event mbm_total counts, and those of mbm_local */
#define HW_TYPES_TOTAL		0x7fU
#define HW_TYPES_LOCAL		0x15U

#define HW_ALL_EVENTS	(CMT_F_OCCUPANCY | CMT_MBM_EVENTS)

/* Constant after init(), except the last one. */
struct hw {
	struct cmt_backend_caps *caps;
	u32 nr_rmids;
	u32 events;
	bool shared_evtsel;
	bool has_abmc;		/* AMD's assignable counters: hw_abmc.h */
	u32 types;		/* AMD: the types of traffic that can be chosen; 0: none */
	u32 nodes_per_l3;
	bool snc_was_off;	/* cmt switches the RMID sharing mode on, and off at the end */
	bool restored;		/* it is off again: EVTSEL takes other numbers */
};

/* Accessed by its own CPU only, with interrupts off. */
struct hw_cpu {
	u32 domain;
	u32 rmid_base;		/* the node's part of the RMID in EVTSEL */
	/* EVTSEL in a sequence of checked readings: */
	bool saved;		/* the first one has begun */
	u64 others;		/* what another agent wrote last */
	u64 selected;		/* what this CPU wrote last */
};

extern struct hw hw;
DECLARE_PER_CPU(struct hw_cpu, hw_cpus);

/* CMT_F_* of an event */
static inline u32 hw_event_flag(enum cmt_event event)
{
	return CMT_F_OCCUPANCY << (event - CMT_EVENT_OCCUPANCY);
}

/* The types of traffic of an MBM event, if the processor has them and nobody chose others */
static inline u32 hw_types_of(enum cmt_event event)
{
	return event == CMT_EVENT_MBM_TOTAL ? HW_TYPES_TOTAL : HW_TYPES_LOCAL;
}

/*
 * hw.c: the width of counters with this offset in CPUID, 0 for an impossible one.  @vendor:
 * CMT_VENDOR_*
 */
u32 hw_counter_bits(u32 offset, bool overflow_bit, u32 vendor);

/* hw_read.c: the counters */
void hw_read_init(void);
int hw_sample(struct cmt_burst *burst);
void hw_read(u32 rmid, u32 events, struct cmt_raws *raws);

/*
 * AMD: one reading of the counter that @evtsel selects in this CPU's domain, as a part of
 * hw_sample() or hw_read(), which restore EVTSEL.  CMT_RAW_ERROR: an access failed, or
 * another agent changed EVTSEL at each attempt.
 */
u64 hw_read_selected(u64 evtsel);

#endif
