// SPDX-License-Identifier: GPL-2.0
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "hw/hw.h"
#include "size.h"

#define HOLD_NS		250000000ULL

/* The records of a tick beside samples: TICK, and room for lifecycle records */
#define TICK_RECORDS	4

/* The least number of samples in a tick, at any interval */
#define CAP_MIN		4

/* The size of a ring is for this number of samples a tick. */
#define CAP_DEFAULT_MIN	12
#define CAP_DEFAULT_MAX	CMT_BURST_MAX

#define RECORDS_DEFAULT_MIN	4096

u32 cmt_size_cap(u32 records, u32 interval_ns)
{
	u64 per_tick = div_u64((u64)records * interval_ns, HOLD_NS);

	return clamp_t(u64, per_tick, CAP_MIN + TICK_RECORDS,
		       CMT_BURST_MAX + TICK_RECORDS) - TICK_RECORDS;
}

u64 cmt_size_hold_ns(u32 records, u32 interval_ns)
{
	u32 per_tick = cmt_size_cap(records, interval_ns) + TICK_RECORDS;

	return (u64)(records / per_tick) * interval_ns;
}

u32 cmt_size_records(u32 rmids, u32 readers, u32 interval_ns)
{
	u32 cap = CAP_DEFAULT_MIN;
	u64 records;

	if (readers)
		cap = clamp_t(u32, 2 * DIV_ROUND_UP(rmids, readers),
			      CAP_DEFAULT_MIN, CAP_DEFAULT_MAX);
	records = div_u64((cap + TICK_RECORDS) * HOLD_NS, interval_ns);
	return clamp_t(u64, roundup_pow_of_two(records + 1), RECORDS_DEFAULT_MIN,
		       CMT_RING_RECORDS_MAX);
}
