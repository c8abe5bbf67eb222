// SPDX-License-Identifier: GPL-2.0-or-later
/* What can be done about a neighbour: no command that the machine cannot run, or that is odd. */
#include "why/remedy.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

#define MIB (1024ULL * 1024)

static struct remedy_machine machine;
static struct remedy_case of;
static struct remedy remedy;

static void prepare(enum cmt_slowdown_resource resource)
{
	machine = (struct remedy_machine){
		.cgroups = "/sys/fs/cgroup", .mounted = true, .ways = 16, .ways_least = 1,
		.percent_least = 10,
	};
	of = (struct remedy_case){
		.label = "docker:batch", .path = "/system.slice/docker-1.scope",
		.resource = resource, .domain = 1, .held_bytes = 6 * MIB, .l3_bytes = 16 * MIB,
		.weight = 100,
	};
}

/* Half of what it holds, in ways, in its domain only, and for threads of cgroups below, too. */
START_TEST(test_cache)
{
	prepare(CMT_SLOWDOWN_CACHE);
	ck_assert(remedy_for(&machine, &of, &remedy));
	ck_assert_str_eq(remedy.what, "give it 3 of 16 ways of the cache (mask 0x7)");
	ck_assert_str_eq(remedy.commands,
		"mkdir -p /sys/fs/resctrl/limited-batch-6939a108; echo L3:1=7 > /sys/fs/resctrl/limited-batch-6939a108/schemata; "
		"for t in $(find '/sys/fs/cgroup/system.slice/docker-1.scope' -name cgroup.threads -exec cat {} +); "
		"do echo $t > /sys/fs/resctrl/limited-batch-6939a108/tasks; done");
	machine.mounted = false;
	machine.ways_least = 4;
	ck_assert(remedy_for(&machine, &of, &remedy));
	ck_assert_str_eq(remedy.what, "give it 4 of 16 ways of the cache (mask 0xf)");
	ck_assert_int_eq(strncmp(remedy.commands, "mount -t resctrl resctrl /sys/fs/resctrl; mkdir", 46), 0);
	/* where no occupancy is known: a quarter */
	of.held_bytes = 0;
	ck_assert(remedy_for(&machine, &of, &remedy));
	ck_assert_ptr_nonnull(strstr(remedy.commands, "L3:1=f "));
	machine.ways = 0;
	ck_assert(!remedy_for(&machine, &of, &remedy));
	machine.ways = 1;
	ck_assert(!remedy_for(&machine, &of, &remedy));
	machine.ways = 32;
	ck_assert(!remedy_for(&machine, &of, &remedy));
}
END_TEST

START_TEST(test_memory)
{
	prepare(CMT_SLOWDOWN_MEMORY);
	ck_assert(remedy_for(&machine, &of, &remedy));
	ck_assert_str_eq(remedy.what, "limit its memory bandwidth to 50 %");
	ck_assert_ptr_nonnull(strstr(remedy.commands, "echo MB:1=50 > "));
	machine.percent_least = 0;
	ck_assert(!remedy_for(&machine, &of, &remedy));
}
END_TEST

START_TEST(test_cpu)
{
	prepare(CMT_SLOWDOWN_CPU);
	ck_assert(remedy_for(&machine, &of, &remedy));
	ck_assert_str_eq(remedy.commands,
			 "echo 50 > '/sys/fs/cgroup/system.slice/docker-1.scope'/cpu.weight");
	of.weight = 1;
	ck_assert(!remedy_for(&machine, &of, &remedy));
	/* its controller is not on, or cgroup v2 is not mounted, or it is in no cgroup */
	of.weight = 0;
	ck_assert(!remedy_for(&machine, &of, &remedy));
	prepare(CMT_SLOWDOWN_CPU);
	machine.cgroups[0] = '\0';
	ck_assert(!remedy_for(&machine, &of, &remedy));
	prepare(CMT_SLOWDOWN_CPU);
	of.path = NULL;
	ck_assert(!remedy_for(&machine, &of, &remedy));
}
END_TEST

/* Root copies these lines into a shell: names are a container's to choose. */
START_TEST(test_hostile)
{
	static const char *const paths[] = {
		"/a'; rm -rf / #", "/a\nb", "/a\033[2J", "/\xff", "/\xc3\xa4",
	};
	static char longest[5000];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		prepare(CMT_SLOWDOWN_CACHE);
		of.path = paths[i];
		ck_assert(!remedy_for(&machine, &of, &remedy));
	}
	memset(longest, 'x', sizeof(longest) - 1);
	of.path = longest;
	ck_assert(!remedy_for(&machine, &of, &remedy));
	prepare(CMT_SLOWDOWN_CACHE);
	of.path = "/a b$(reboot)";
	of.label = "docker:../info;reboot $(x)";
	ck_assert(remedy_for(&machine, &of, &remedy));
	ck_assert_ptr_nonnull(strstr(remedy.commands, "mkdir -p /sys/fs/resctrl/limited----info-reboot---x--9c5118e5;"));
	ck_assert_ptr_nonnull(strstr(remedy.commands, "find '/sys/fs/cgroup/a b$(reboot)' -name"));
	of.label = longest;
	ck_assert(remedy_for(&machine, &of, &remedy));
}
END_TEST

/* Containers whose names differ in nothing that is in a group's name: each has its own group. */
START_TEST(test_groups)
{
	static const char *const labels[] = {
		"docker:a.b", "docker:a-b", "podman:a-b",
		"docker:a-name-that-is-longer-than-what-the-name-of-a-group-may-have-1",
		"docker:a-name-that-is-longer-than-what-the-name-of-a-group-may-have-2",
	};
	char groups[5][128], path[32];

	for (size_t i = 0; i < 5; i++) {
		prepare(CMT_SLOWDOWN_CACHE);
		of.label = labels[i];
		of.path = path;
		snprintf(path, sizeof(path), "/docker-%zu.scope", i);
		ck_assert(remedy_for(&machine, &of, &remedy));
		ck_assert_int_eq(sscanf(remedy.commands, "mkdir -p /sys/fs/resctrl/%127[^;]",
					groups[i]), 1);
		ck_assert_uint_le(strlen(groups[i]), 63);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(groups[i], groups[j]);
	}
}
END_TEST

/* Of this machine, whatever it is: nothing fails. */
START_TEST(test_this_machine)
{
	remedy_machine_read(&machine);
	ck_assert_uint_le(machine.ways, 32);
	ck_assert_uint_eq(remedy_weight(&machine, "/no/such/cgroup"), 0);
	ck_assert_uint_eq(remedy_weight(&machine, NULL), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("remedy");

	UNIT_CASE(suite, test_cache);
	UNIT_CASE(suite, test_memory);
	UNIT_CASE(suite, test_cpu);
	UNIT_CASE(suite, test_hostile);
	UNIT_CASE(suite, test_groups);
	UNIT_CASE(suite, test_this_machine);
	return unit_run(suite);
}
