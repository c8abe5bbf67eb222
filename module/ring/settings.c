// SPDX-License-Identifier: GPL-2.0
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/stddef.h>

#include "hw/hw.h"
#include "ring.h"

typeof_member(struct cmt_record, state) cmt_settings;

/*
 * The settings are loaded after the time is read: so a record that lacks a change is older
 * than the record of that change, whatever came between here.
 */
static void settings_fill(struct cmt_record *record)
{
	record->ts = ktime_get_ns();
	record->state.scope = READ_ONCE(cmt_settings.scope);
	record->state.interval_ns = READ_ONCE(cmt_settings.interval_ns);
	record->state.resctrl = READ_ONCE(cmt_settings.resctrl);
	record->state.resctrl_mounted = READ_ONCE(cmt_settings.resctrl_mounted);
	record->state.counters = READ_ONCE(cmt_settings.counters);
}

void cmt_settings_emit(void)
{
	struct cmt_record record = {
		.type = CMT_REC_STATE,
		.flags = cmt_caps.record_flags,
	};
	unsigned long flags;

	local_irq_save(flags);
	settings_fill(&record);
	cmt_emit(&record);
	local_irq_restore(flags);
}
