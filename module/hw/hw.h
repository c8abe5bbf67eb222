/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of RMIDs on this machine, and how they are read.
 *
 *	backend.h	a backend, and what it can do
 *	burst.h		the readings of one tick
 *	counter.h	from raw values to bytes
 *	domains.h	the L3 domains, by index
 *	hw_abmc.h	AMD's assignable counters
 *	hw_bmec.h	AMD's configurable events
 *	hw_mbm.h	the bandwidth that only resctrl reads
 */
#ifndef CMT_HW_H
#define CMT_HW_H

#include <linux/types.h>

#include "backend.h"
#include "burst.h"
#include "counter.h"
#include "domains.h"
#include "hw_abmc.h"
#include "hw_bmec.h"
#include "hw_mbm.h"

/* backend.c: constant once the module is loaded */
extern const struct cmt_backend *cmt_backend;
extern struct cmt_backend_caps cmt_caps;

/* The events that can be read now, in some domain. */
u32 cmt_backend_events(void);
/* Why MBM events are missing now, in some domain; empty: none is. */
const char *cmt_backend_mbm_reason(void);

/* Does the backend read any event?  If not, the ticks sample nothing. */
static inline bool cmt_backend_samples(void)
{
	return cmt_caps.events;
}

/* @name: auto, hw, software or emulated */
int cmt_backend_init(const char *name);

/* clock.c: the frequency of cmt_cycles(), which the kernel refines in the first seconds */
int cmt_clock_init(void);
u32 cmt_clock_khz(void);

/* exclude.c: CPUs without ticks; constant once init() has returned 0 */
int cmt_exclude_init(void);
bool cmt_is_excluded(unsigned int cpu);
bool cmt_excludes_any(void);

#endif
