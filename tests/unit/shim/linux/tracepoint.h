/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_TRACEPOINT_H
#define SHIM_LINUX_TRACEPOINT_H

#include <linux/kernel.h>
#include <linux/printk.h>

/* The test has the functions. */
struct tracepoint {
	const char *name;
};

void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tracepoint, void *data),
				void *data);
int tracepoint_probe_register(struct tracepoint *tracepoint, void *probe, void *data);
int tracepoint_probe_unregister(struct tracepoint *tracepoint, void *probe, void *data);
void tracepoint_synchronize_unregister(void);

#endif
