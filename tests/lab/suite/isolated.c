// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs that the kernel's command line isolates have no ticks; those of a partition, which
 * come and go, have.
 */
#include <fcntl.h>
#include <string.h>

#include "../../vm/suite/control.h"
#include "tests.h"

#define PARTITION CGROUPS "/partition/"

enum { BOOT_CPU, ISOLCPUS, PARTITION_CPU, OTHER_CPU, CPUS };

static void partition_make(void)
{
	char text[64];

	CHECK(!write_file(CGROUPS "/cgroup.subtree_control", "+cpuset"), "no cpuset controller");
	group_make("partition");
	CHECK(!write_file(PARTITION "cpuset.cpus", "2"), "cpuset.cpus");
	CHECK(!write_file(PARTITION "cpuset.cpus.partition", "isolated"), "partition");
	CHECK(!strncmp(read_file(PARTITION "cpuset.cpus.partition", text, sizeof(text)),
		       "isolated\n", 9), "no partition, but %s", text);
}

static void test_isolated(void)
{
	static const uint32_t states[CPUS] = {
		[BOOT_CPU] = CMT_RING_ONLINE, [ISOLCPUS] = CMT_RING_QUIET,
		[PARTITION_CPU] = CMT_RING_ONLINE, [OTHER_CPU] = CMT_RING_ONLINE,
	};
	struct dev dev;
	int cpu;

	partition_make();
	CHECK(!module_load("scope=manual"), "the module does not load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (cpu = 0; cpu < CPUS; cpu++)
		CHECK(ring_state(&dev.rings[cpu]) == states[cpu], "CPU %d has state %u", cpu,
		      ring_state(&dev.rings[cpu]));
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	group_remove("partition");
}

const struct test isolated_tests[] = {
	{ "isolated_by_command_line_only", test_isolated, NULL, 60 },
	{ 0 }
};
