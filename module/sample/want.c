// SPDX-License-Identifier: GPL-2.0
/*
 * Which values are read: those that some reader wants.  Ticks and readings on demand read
 * the same values, so that each continues the other one.  A value that a reading lacks has
 * no base in the next one (counter.c): it may be wanted again at any time.
 */
#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "hw/hw.h"
#include "sampler.h"

#define NR_VALUES	3

static DEFINE_RAW_SPINLOCK(want_lock);
static u32 nr_wanting[NR_VALUES];	/* readers, by value */

u32 cmt_wanted_events;

static u32 value_flag(u32 i)
{
	return CMT_F_OCCUPANCY << i;
}

static void wants_count(const struct cmt_want *want, int by)
{
	u32 i;

	for (i = 0; want->reads && i < NR_VALUES; i++)
		if (want->values & value_flag(i))
			nr_wanting[i] += by;
}

static void want_change(struct cmt_want *want, u32 values, bool reads)
{
	u32 all = 0, i;

	lockdep_assert_held(&want_lock);
	wants_count(want, -1);
	want->values = values;
	WRITE_ONCE(want->reads, reads);
	wants_count(want, 1);
	for (i = 0; i < NR_VALUES; i++)
		all |= nr_wanting[i] ? value_flag(i) : 0;
	WRITE_ONCE(cmt_wanted_events, all & cmt_caps.events);
}

void cmt_want_values(struct cmt_want *want, u32 values)
{
	raw_spin_lock(&want_lock);
	want_change(want, values, want->reads);
	raw_spin_unlock(&want_lock);
}

void cmt_want_begin(struct cmt_want *want)
{
	if (READ_ONCE(want->reads))
		return;
	raw_spin_lock(&want_lock);
	want_change(want, want->values, true);
	raw_spin_unlock(&want_lock);
}

void cmt_want_end(struct cmt_want *want)
{
	raw_spin_lock(&want_lock);
	want_change(want, want->values, false);
	raw_spin_unlock(&want_lock);
}
