// SPDX-License-Identifier: GPL-2.0
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/stddef.h>

#include "hw/hw.h"
#include "ring.h"

typeof_member(struct cmt_record, state) cmt_settings;

void cmt_settings_emit(void)
{
	struct cmt_record record = {
		.type = CMT_REC_STATE,
		.flags = cmt_caps.record_flags,
		.state.scope = READ_ONCE(cmt_settings.scope),
		.state.interval_ns = READ_ONCE(cmt_settings.interval_ns),
		.state.resctrl = READ_ONCE(cmt_settings.resctrl),
		.state.resctrl_mounted = READ_ONCE(cmt_settings.resctrl_mounted),
		.state.counters = READ_ONCE(cmt_settings.counters),
	};
	unsigned long flags;

	local_irq_save(flags);
	record.ts = ktime_get_ns();
	cmt_emit(&record);
	local_irq_restore(flags);
}
