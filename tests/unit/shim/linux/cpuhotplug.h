/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_CPUHOTPLUG_H
#define SHIM_LINUX_CPUHOTPLUG_H

enum cpuhp_state {
	CPUHP_BP_PREPARE_DYN	= 1,
	CPUHP_AP_ONLINE_DYN	= 2,
};

/* The test has the CPUs. */
int cpuhp_setup_state(enum cpuhp_state state, const char *name,
		      int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu));
void cpuhp_remove_state(enum cpuhp_state state);

#endif
