// SPDX-License-Identifier: GPL-2.0
#include <linux/irqflags.h>
#include <linux/ktime.h>

#include "cmt.h"
#include "perf/perf.h"
#include "sample/sampler.h"
#include "cpu/resctrl.h"
#include "scope/scope.h"

void cmt_state_emit(void)
{
	struct cmt_record record = {
		.type = CMT_REC_STATE,
		.flags = cmt_caps.record_flags,
		.state.scope = cmt_scope(),
		.state.interval_ns = cmt_sampler_interval(),
		.state.resctrl = cmt_resctrl_mode(),
		.state.resctrl_mounted = cmt_resctrl_mounted(),
		.state.counters = cmt_perf_counts(),
	};
	unsigned long flags;

	local_irq_save(flags);
	record.ts = ktime_get_ns();
	cmt_emit(&record);
	local_irq_restore(flags);
}
