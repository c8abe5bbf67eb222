/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_SMP_H
#define SHIM_LINUX_SMP_H

#include <stdbool.h>

#include "../fake.h"
#include "../fake_perf.h"

typedef void (*smp_call_func_t)(void *info);

/* On CPU 0 */
static inline void on_each_cpu_cond(bool (*condition)(int cpu, void *info),
				    smp_call_func_t function, void *info, bool wait)
{
	(void)wait;
	if (condition(0, info))
		function(info);
}

#endif
