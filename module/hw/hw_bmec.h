/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AMD's configurable bandwidth events (BMEC, APM vol. 2 19.3.3): another agent, as
 * resctrl with mbm_total_bytes_config, chooses which types of traffic an MBM event counts
 * in a domain.  The choice outlives that agent.  cmt reads it once a second, and never
 * writes it.  An event that counts other types than by default is not read.
 */
#ifndef CMT_HW_BMEC_H
#define CMT_HW_BMEC_H

#include <linux/types.h>

/*
 * @events: CMT_F_* that the processor has; 0: they are not configurable.  @types: the types of
 * traffic that it can count.
 */
void hw_bmec_init(u32 events, u32 types);

/*
 * On a CPU of @domain with interrupts off.  Returns the events, CMT_F_MBM_*, that count
 * something else than by default, or of which that is not known.  From now on they are not
 * read; an event that was not read before is not until hw_bmec_settle().
 */
u32 hw_bmec_look(u32 domain);

/* No CPU of @domain is up. */
void hw_bmec_forget(u32 domain);

/* From here on any context, any CPU; racy. */

bool hw_bmec_exists(void);

/* The events of @domain that are not read */
u32 hw_bmec_other(u32 domain);

/* No RMID of the domain has a base any more: the events that are not read are @other. */
void hw_bmec_settle(u32 domain, u32 other);

/*
 * @assigned: a bit for each domain with assignable counters on, which have configurations of
 * their own.
 */

/* Why some event is not read in some domain; empty: all are read in all domains. */
const char *hw_bmec_reason(u64 assigned);

/* The events that are read in no domain */
u32 hw_bmec_lost(u64 assigned);

#endif
