// SPDX-License-Identifier: GPL-2.0
/*
 * The reference of tests/bench for the cost that cmt adds to a context switch, a fork
 * and an exit: probes that do nothing.  No module with a tracepoint costs less.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static void probe_switch(void *unused, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
}

static void probe_fork(void *unused, struct task_struct *parent,
		       struct task_struct *child)
{
}

static void probe_exit(void *unused, struct task_struct *task)
{
}

static struct probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
} probes[] = {
	{ .name = "sched_switch", .function = probe_switch },
	{ .name = "sched_process_fork", .function = probe_fork },
	{ .name = "sched_process_exit", .function = probe_exit },
};

static void tracepoint_find(struct tracepoint *tracepoint, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tracepoint->name, probes[i].name))
			probes[i].tracepoint = tracepoint;
}

static void probes_unregister(size_t n)
{
	while (n--)
		tracepoint_probe_unregister(probes[n].tracepoint,
					    probes[n].function, NULL);
	tracepoint_synchronize_unregister();
}

static int __init bench_probe_init(void)
{
	size_t i;
	int ret;

	for_each_kernel_tracepoint(tracepoint_find, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = probes[i].tracepoint ?
		      tracepoint_probe_register(probes[i].tracepoint,
						probes[i].function, NULL) :
		      -ENOENT;
		if (ret) {
			probes_unregister(i);
			return ret;
		}
	}
	return 0;
}

static void __exit bench_probe_exit(void)
{
	probes_unregister(ARRAY_SIZE(probes));
}

module_init(bench_probe_init);
module_exit(bench_probe_exit);
MODULE_DESCRIPTION("Empty probes: a yardstick of tests/bench");
MODULE_LICENSE("GPL");
