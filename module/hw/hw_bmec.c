// SPDX-License-Identifier: GPL-2.0
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "backend.h"
#include "compat.h"
#include "hw_bmec.h"
#include "hw_msr.h"

/* What an event counts, of all RMIDs of a domain */
#define MSR_EVT_CFG_TOTAL	0xc0000400
#define MSR_EVT_CFG_LOCAL	0xc0000401

static u32 events;	/* CMT_F_MBM_*: those that can be configured */
static u32 types;	/* what the processor can count */

static struct {
	u32 other;	/* CMT_F_MBM_*: not read */
	bool seen;	/* a CPU of the domain is up */
	bool unknown;	/* at the last look a register could not be read */
} domains[CMT_MAX_DOMAINS];

void hw_bmec_init(u32 all_events, u32 all_types)
{
	memset(domains, 0, sizeof(domains));
	events = all_events & CMT_MBM_EVENTS;
	types = all_types;
}

bool hw_bmec_exists(void)
{
	return events;
}

/* The flag of an event that counts other types; types that nobody can choose do not matter. */
static u32 look_at(u32 msr, enum cmt_event event, bool *unknown)
{
	u64 value;

	if (!(events & hw_event_flag(event)))
		return 0;
	if (cmt_rdmsr_safe(msr, &value))
		*unknown = true;
	else if (!((value ^ hw_types_of(event)) & types))
		return 0;
	return hw_event_flag(event);
}

u32 hw_bmec_look(u32 domain)
{
	bool unknown = false;
	u32 found;

	if (!events)
		return 0;
	found = look_at(MSR_EVT_CFG_TOTAL, CMT_EVENT_MBM_TOTAL, &unknown) |
		look_at(MSR_EVT_CFG_LOCAL, CMT_EVENT_MBM_LOCAL, &unknown);
	WRITE_ONCE(domains[domain].unknown, unknown);
	WRITE_ONCE(domains[domain].other, hw_bmec_other(domain) | found);
	WRITE_ONCE(domains[domain].seen, true);
	return found;
}

u32 hw_bmec_other(u32 domain)
{
	return READ_ONCE(domains[domain].other);
}

void hw_bmec_forget(u32 domain)
{
	WRITE_ONCE(domains[domain].seen, false);
}

void hw_bmec_settle(u32 domain, u32 other)
{
	WRITE_ONCE(domains[domain].other, other);
}

static u32 lost_in(u32 domain, u64 assigned)
{
	return assigned & BIT_ULL(domain) ? 0 : hw_bmec_other(domain);
}

static const char *reason_of(u32 lost, bool unknown)
{
	if (!lost)
		return "";
	if (unknown)
		return "what AMD's bandwidth events count (BMEC) cannot be read";
	if (lost == CMT_F_MBM_TOTAL)
		return "resctrl's mbm_total_bytes_config is not the default";
	if (lost == CMT_F_MBM_LOCAL)
		return "resctrl's mbm_local_bytes_config is not the default";
	return "resctrl's mbm_{total,local}_bytes_config are not the default";
}

const char *hw_bmec_reason(u64 assigned)
{
	bool unknown = false;
	u32 domain, all = 0;

	for (domain = 0; domain < CMT_MAX_DOMAINS; domain++) {
		u32 lost = READ_ONCE(domains[domain].seen) ? lost_in(domain, assigned) : 0;

		all |= lost;
		unknown |= lost && READ_ONCE(domains[domain].unknown);
	}
	return reason_of(all, unknown);
}

u32 hw_bmec_lost(u64 assigned)
{
	u32 domain, all = events;

	for (domain = 0; domain < CMT_MAX_DOMAINS; domain++)
		if (READ_ONCE(domains[domain].seen))
			all &= lost_in(domain, assigned);
	return all;
}
