// SPDX-License-Identifier: GPL-2.0
/*
 * The software backend: RMIDs that are only numbers, for processors without L3
 * monitoring.  Owners, lifecycle records and ticks are those of any backend.  There
 * is no occupancy and no bandwidth: nothing is sampled, and no MSR is accessed.
 */
#include <linux/limits.h>
#include <linux/types.h>

#include "backend.h"
#include "uapi/cmt.h"

/* *caps has the reason: the feature that the hardware lacks, or the choice by name. */
static int software_init(struct cmt_backend_caps *caps)
{
	caps->backend = CMT_BACKEND_SOFTWARE;
	caps->vendor = cmt_topology_vendor();
	caps->record_flags = 0;
	caps->nr_rmids = CMT_MAX_RMIDS;
	caps->rmid_room = CMT_MAX_RMIDS;
	caps->events = 0;
	caps->upscale_bytes = 0;
	caps->counter_bits = 0;
	caps->data_mask = 0;
	caps->mbm_correct_above = U32_MAX;
	caps->shared_evtsel = false;
	caps->shared_rmids = false;
	caps->nodes_per_l3 = 1;
	caps->l3_bytes = cmt_topology_l3_bytes();
	caps->mbm_reason = caps->reason;
	return 0;
}

static void software_exit(void)
{
}

static void software_cpu_up(u32 domain)
{
}

const struct cmt_backend cmt_software_backend = {
	.init		= software_init,
	.exit		= software_exit,
	.cpu_up		= software_cpu_up,
};
