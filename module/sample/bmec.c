// SPDX-License-Identifier: GPL-2.0
/*
 * AMD's configurable bandwidth events.  A change of what an event counts has no interrupt,
 * so the work item of scope/foreign.c looks once a second, on one CPU of each domain; a CPU
 * that comes up has looked before it reads (hw.c).
 */
#include <linux/smp.h>

#include "sampler.h"

/* A call to a CPU of the domain */
struct bmec_call {
	u32 domain;
	u32 other;	/* events that count something else */
	bool done;
};

static void call_run(void *info)
{
	const struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	struct bmec_call *call = info;

	if (!cpu->up || cpu->domain != call->domain)
		return;
	call->other = hw_bmec_look(call->domain);
	call->done = true;
}

/*
 * The processor clears the counters in a change.  So before an event is read again no RMID
 * has a base; where one is being read, the next look tries again.
 */
static void look_at(u32 domain)
{
	struct bmec_call call = { .domain = domain };
	int cpu = cmt_sampler_reader(domain, 0);

	if (cpu >= 0)
		smp_call_function_single(cpu, call_run, &call, true);
	if (call.done && call.other != hw_bmec_other(domain) &&
	    cmt_domain_lose_bases(domain))
		hw_bmec_settle(domain, call.other);
}

void cmt_bmec_look(void)
{
	u32 domain;

	if (!hw_bmec_exists() || !cmt_backend_samples())
		return;
	for (domain = 0; domain < cmt_sampler_domains(); domain++)
		look_at(domain);
}
