/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A backend reads the counters of RMIDs: by MSRs (hw.c), from registers in memory
 * (erdt.c), from a model (emulated.c), or not at all (software.c).
 * It does not depend on owners, records or rings.  Its readings are raw counter units,
 * which counter.c converts to bytes.
 */
#ifndef CMT_BACKEND_H
#define CMT_BACKEND_H

#include <linux/types.h>

#include "uapi/cmt.h"

struct cmt_burst;
struct cmt_raws;
struct task_struct;

/* IA32_QM_EVTSEL event ids, SDM vol. 3B 18.18.5.2 "Monitoring resource types" */
enum cmt_event {
	CMT_EVENT_OCCUPANCY	= 1,
	CMT_EVENT_MBM_TOTAL	= 2,
	CMT_EVENT_MBM_LOCAL	= 3,
};

#define CMT_MSR_PQR_ASSOC	0xc8f	/* SDM vol. 3B 18.18.3 */

#define CMT_MBM_EVENTS	(CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

#define CMT_MAX_DOMAINS		64	/* L3 domains in one machine: a u64 has their bits */
#define CMT_MAX_RMIDS		4096	/* AMD: the RMID fields of PQR_ASSOC and of
					 * QM_EVTSEL have 12 bits; Intel: 10
					 */

/* Capabilities of a backend; constant after init(), except mbm_reason. */
struct cmt_backend_caps {
	u32 backend;		/* CMT_BACKEND_* */
	u32 vendor;		/* CMT_VENDOR_* */
	u32 record_flags;	/* of all records but PERF and CHANNEL: CMT_F_EMULATED or 0 */
	u32 nr_rmids;		/* RMIDs are below this number, which is 2..CMT_MAX_RMIDS */
	u32 rmid_room;		/* nr_rmids, or more where another agent may load
				 * more: tables by RMID have so many elements
				 */
	/*
	 * CMT_F_OCCUPANCY | _MBM_TOTAL | _MBM_LOCAL; 0: nothing is read, and members about
	 * counters are 0
	 */
	u32 events;
	u32 upscale_bytes;	/* bytes per counter unit, not 0 */
	u32 counter_bits;	/* width of the MBM counters, 24..62 */
	u64 data_mask;		/* the data bits of a raw value, without status bits */
	u32 mbm_correct_above;	/* MBM of RMIDs above this one is corrected: */
	u32 mbm_correct_factor;	/* units * factor >> 20; above == U32_MAX: none */
	u32 mbm_unit_bytes;	/* bytes per unit of the MBM counters; 0: upscale_bytes */
	const u32 *mbm_factors;	/* units * factor >> 16, by RMID; NULL: none */
	bool shared_evtsel;	/* one reader per domain (AMD) */
	bool shared_rmids;	/* resctrl uses the same RMIDs */
	bool has_plza;		/* AMD's PQR_PLZA_ASSOC: plza.h */
	u32 nodes_per_l3;	/* NUMA nodes, each a domain; 1: no SNC */
	u64 l3_bytes;		/* size of one domain's L3; 0: unknown */
	char reason[64];	/* the reason for this backend, for messages */
	/*
	 * The reason for missing MBM events; empty: none is missing.  If abmc.c sets a
	 * reason, the MBM events of events are unavailable.
	 */
	const char *mbm_reason;
};

/*
 * Unless a comment says otherwise, a function is called on its CPU with interrupts off,
 * from any context, including the switch path with the run-queue lock held: it takes
 * raw spinlocks only, and never waits long.
 */
struct cmt_backend {
	/*
	 * Process context.  Check that the machine has the registers, and fill
	 * *caps.  -ENODEV: it has not, and caps->reason says why; the software
	 * backend, called with the same *caps, keeps that reason.
	 */
	int (*init)(struct cmt_backend_caps *caps);
	/* Process context.  After the last cpu_down() and read(). */
	void (*exit)(void);
	/*
	 * Process context.  Restore the registers that stay changed over a kexec: exit() does
	 * it, too.  CPUs may be up.  No tick reads any more; a program that still runs may
	 * read on demand.  NULL: there are none.
	 */
	void (*restore)(void);

	/*
	 * This CPU comes up.  @domain is the index of its domain; indices count
	 * from 0 in the order in which domains are found, so they are below
	 * CMT_MAX_DOMAINS and below the number of possible CPUs.
	 */
	void (*cpu_up)(u32 domain);

	/*
	 * @task, or other tasks with its RMID, have run on this CPU with @rmid
	 * since the last call here; called when the CPU changes its RMID, and
	 * in ticks.  NULL where the processor counts by PQR_ASSOC, and where
	 * nothing is counted.
	 */
	void (*account)(struct task_struct *task, u32 rmid);

	/*
	 * Read the RMIDs of the burst (burst.h), in this CPU's domain, and
	 * restore the registers for other agents.  -EAGAIN: another agent
	 * changed the registers meanwhile; -EIO: an access failed; no reading
	 * may be used then.  Neither this function nor read() is called if
	 * there are no events.
	 */
	int (*sample)(struct cmt_burst *burst);
	/*
	 * Read some of the backend's events of one RMID, with every access checked; a
	 * failed one is CMT_RAW_ERROR.
	 */
	void (*read)(u32 rmid, u32 events, struct cmt_raws *raws);
};

extern const struct cmt_backend cmt_hw_backend;
extern const struct cmt_backend cmt_erdt_backend;
extern const struct cmt_backend cmt_software_backend;
extern const struct cmt_backend cmt_emulated_backend;

/* CMT_VENDOR_* of this machine. */
u32 cmt_topology_vendor(void);
/* The x2APIC id of the CPU this runs on, or its APIC id where it has no other. */
u32 cmt_topology_apic_id(void);
/* The id of the L3 of the CPU this runs on, as resctrl numbers domains. */
u32 cmt_topology_l3_id(void);
/* The domain of the CPU this runs on: its L3, or with sub-NUMA clusters its node. */
u32 cmt_topology_domain_id(u32 nodes_per_l3);
/*
 * The number of NUMA nodes that share an L3, online or not; 1 where CPUID lists no L3.
 * Process context.
 */
u32 cmt_topology_nodes_per_l3(void);
/* The size of the L3 of the current CPU; 0: CPUID does not have it. */
u64 cmt_topology_l3_bytes(void);

#endif
