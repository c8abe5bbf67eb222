/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AMD's assignable bandwidth counters (ABMC, APM vol. 2 19.3.3.3): the registers,
 * and which counters are cmt's.  abmc.c decides which RMIDs have one.
 *
 * While the mode is on, a domain has few counters, and each counts one RMID and
 * some types of traffic.  A counter begins at 0 when it is configured.
 */
#ifndef CMT_HW_ABMC_H
#define CMT_HW_ABMC_H

#include <linux/types.h>

#include "backend.h"

/* What L3_QOS_ABMC_CFG.CtrID has room for. */
#define HW_ABMC_MAX	32

#define HW_ABMC_NO_RMID	CMT_MAX_RMIDS

/*
 * The state of a domain.  Another agent switches the mode.  The CPU that finds the
 * switch sets the state CHANGING, in which MBM is unavailable until hw_abmc_settle().
 */
enum hw_abmc_state {
	HW_ABMC_UNKNOWN,	/* no CPU has been up */
	HW_ABMC_OFF,		/* each RMID has its counters */
	HW_ABMC_ON,
	HW_ABMC_CHANGING,
};

/* Process context; 0 or -ENOMEM.  Without the counters, nothing is done. */
int hw_abmc_init(void);
void hw_abmc_exit(void);

/* On a CPU of @domain with interrupts off; so are all functions down to the next note. */
void hw_abmc_cpu_up(u32 domain);

/* The mode for readings from now on */
enum hw_abmc_state hw_abmc_look(u32 domain);

/* Has the register still the mode of @state? */
bool hw_abmc_is_still(enum hw_abmc_state state);

/* The mode was switched twice: set the state CHANGING. */
void hw_abmc_switched(u32 domain);

/* Read the assigned counter of a claimed RMID; CMT_RAW_UNAVAILABLE: it has none. */
u64 hw_abmc_read(u32 domain, u32 rmid, enum cmt_event event);

/*
 * Find the counters that other agents use, and those that they took from cmt.  False:
 * the domain is not ON, or an access failed.
 */
bool hw_abmc_scan(u32 domain);

/*
 * Assign free counters to a claimed RMID, or release its counters.  The next reading
 * has no base.
 */
void hw_abmc_assign(u32 domain, u32 rmid);
void hw_abmc_release(u32 domain, u32 rmid);

/* End the state CHANGING, when no RMID of the domain has a base any more. */
void hw_abmc_settle(u32 domain);

/* From here on any context, any CPU; racy. */

/* The domains in the state ON: a bit for each index */
u64 hw_abmc_domains_on(void);

/* Has this processor such counters?  Can they count what cmt wants? */
bool hw_abmc_exists(void);
bool hw_abmc_usable(void);

struct hw_abmc_view {
	enum hw_abmc_state state;
	u32 counters;		/* in all */
	u32 ours;
	u32 others;		/* as of the last scan */
};

void hw_abmc_view(u32 domain, struct hw_abmc_view *view);

/* The RMID that a counter of cmt's counts; HW_ABMC_NO_RMID: it is not cmt's. */
u32 hw_abmc_rmid_of(u32 domain, u32 id);

/* RMIDs with a counter, and those of them that lost one: a bit for each RMID. */
void hw_abmc_rmids(u32 domain, unsigned long *assigned, unsigned long *lost);

/*
 * The recent running time of an RMID; the least value above 0, if it was read and did
 * not run.  An update that is lost when two CPUs write at once does not matter.
 */
u32 hw_abmc_heat_of(u32 domain, u32 rmid);
/* Raise the heat: the RMID is loaded on a CPU of the domain. */
void hw_abmc_heat(u32 domain, u32 rmid);
/* Lower the heat by an eighth. */
void hw_abmc_cool(u32 domain, u32 rmid);

#endif
