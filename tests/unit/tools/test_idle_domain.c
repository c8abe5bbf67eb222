// SPDX-License-Identifier: GPL-2.0-or-later
/* Which L3 domain has least to do, of a made-up machine, and moving there. */
#include "why/remedy.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

#define CACHE "/sys/devices/system/cpu/cpu%u/cache/index3"

static char root[] = "/tmp/cmt-idle-XXXXXX";
static struct idle_domains all;

static void shell(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	ck_assert_int_eq(system(command), 0);
}

static void stat_is(const char *lines)
{
	shell("printf 'cpu  9 9 9 9 9\\n%sintr 7\\n' > %s/proc/stat", lines, root);
}

/* CPUs 0 and 1 are domain 3, CPU 2 is domain 7, and CPU 3 has no cache. */
static void machine(void)
{
	static const char *const lists[] = { "0-1", "0-1", "2" };

	ck_assert_ptr_nonnull(mkdtemp(root));
	shell("mkdir -p %s/proc", root);
	for (unsigned int cpu = 0; cpu < 3; cpu++) {
		shell("mkdir -p %s" CACHE, root, cpu);
		shell("echo %u > %s" CACHE "/id", cpu < 2 ? 3 : 7, root, cpu);
		shell("echo %s > %s" CACHE "/shared_cpu_list", lists[cpu], root, cpu);
	}
	stat_is("cpu0 0 0 0 100 0\\ncpu1 0 0 0 100 0\\ncpu2 0 0 0 500 0\\ncpu3 0 0 0 0 0\\n");
}

static void is_gone(void)
{
	shell("rm -r %s", root);
	strcpy(root, "/tmp/cmt-idle-XXXXXX");
}

/* By what idled since the begin, for each CPU; waiting for a disk is no load. */
START_TEST(test_least_loaded)
{
	const struct idle_domain *found;

	machine();
	idle_domains_begin(&all, root);
	ck_assert_uint_eq(all.nr, 2);
	ck_assert_ptr_null(idle_domain_find(&all, 3));
	stat_is("cpu0 0 0 0 140 10\\ncpu1 0 0 0 150 0\\ncpu2 0 0 0 540 20\\ncpu3 0 0 0 9999 0\\n");
	found = idle_domain_find(&all, 3);
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->id, 7);
	ck_assert_str_eq(found->list, "2");
	ck_assert_ptr_null(idle_domain_find(&all, 7));
	ck_assert_ptr_null(idle_domain_find(&all, 4));
	/* a CPU went away */
	stat_is("cpu0 0 0 0 140 10\\ncpu1 0 0 0 150 0\\n");
	ck_assert_ptr_null(idle_domain_find(&all, 3));
	found = idle_domain_find(&all, 7);
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->list, "0-1");
	is_gone();
}
END_TEST

/* cpuset.cpus is there where its controller is on, and is cut to what the parent has. */
START_TEST(test_may_have)
{
	char cgroup[64];

	machine();
	idle_domains_begin(&all, root);
	shell("mkdir -p %s/a/b", root);
	snprintf(cgroup, sizeof(cgroup), "%s/a/b", root);
	ck_assert(!idle_domain_may_have(cgroup, &all.domains[0]));
	shell("echo 0-2 > %s/a/cpuset.cpus.effective; : > %s/cpuset.cpus", root, cgroup);
	ck_assert(idle_domain_may_have(cgroup, &all.domains[0]));
	ck_assert(idle_domain_may_have(cgroup, &all.domains[1]));
	shell("echo 0,2-5 > %s/a/cpuset.cpus.effective", root);
	ck_assert(!idle_domain_may_have(cgroup, &all.domains[0]));
	ck_assert(idle_domain_may_have(cgroup, &all.domains[1]));
	shell("echo 2-0 > %s/a/cpuset.cpus.effective", root);
	ck_assert(!idle_domain_may_have(cgroup, &all.domains[1]));
	shell("echo 2x > %s/a/cpuset.cpus.effective", root);
	ck_assert(!idle_domain_may_have(cgroup, &all.domains[1]));
	shell("echo 0-99999 > %s/a/cpuset.cpus.effective", root);
	ck_assert(!idle_domain_may_have(cgroup, &all.domains[1]));
	ck_assert(!idle_domain_may_have("b", &all.domains[1]));
	is_gone();
}
END_TEST

/* A list that is cut would end in another CPU's number, here 15 for 154. */
START_TEST(test_long_lists)
{
	char cgroup[64], list[1024] = "0";
	struct idle_domain to = { .id = 9 };
	size_t used = 1;

	for (unsigned int cpu = 2; cpu < 256; cpu += 2)
		used += (size_t)snprintf(list + used, sizeof(list) - used, ",%u", cpu);
	machine();
	shell("echo %s > %s" CACHE "/shared_cpu_list", list, root, 2);
	idle_domains_begin(&all, root);
	ck_assert_uint_eq(all.nr, 1);
	ck_assert_uint_eq(all.domains[0].id, 3);
	shell("mkdir -p %s/a/b; : > %s/a/b/cpuset.cpus", root, root);
	shell("echo %s > %s/a/cpuset.cpus.effective", list, root);
	snprintf(cgroup, sizeof(cgroup), "%s/a/b", root);
	CPU_SET(15, &to.cpus);
	ck_assert(!idle_domain_may_have(cgroup, &to));
	is_gone();
}
END_TEST

START_TEST(test_move)
{
	struct remedy_machine moves = { 0 };
	struct remedy_case of = {
		.path = "/a/b", .resource = CMT_SLOWDOWN_MEMORY, .domain = 3,
		.idle = &all.domains[1],
	};
	struct remedy remedy;
	char expected[256];

	machine();
	idle_domains_begin(&all, root);
	shell("mkdir -p %s/a/b; : > %s/a/b/cpuset.cpus", root, root);
	shell("echo 0-2 > %s/a/cpuset.cpus.effective", root);
	strcpy(moves.cgroups, root);
	ck_assert(remedy_move(&moves, &of, &remedy));
	ck_assert_str_eq(remedy.what, "move it to L3 domain 7, the least loaded");
	snprintf(expected, sizeof(expected), "echo 2 > '%s/a/b'/cpuset.cpus", root);
	ck_assert_str_eq(remedy.commands, expected);
	of.resource = CMT_SLOWDOWN_CPU;
	ck_assert(!remedy_move(&moves, &of, &remedy));
	of.resource = CMT_SLOWDOWN_CACHE;
	of.path = "/a/c";
	ck_assert(!remedy_move(&moves, &of, &remedy));
	of.path = "/a/b";
	of.idle = NULL;
	ck_assert(!remedy_move(&moves, &of, &remedy));
	is_gone();
}
END_TEST

/* Of this machine, whatever it is: nothing fails. */
START_TEST(test_this_machine)
{
	idle_domains_begin(&all, "");
	idle_domain_find(&all, 0);
	idle_domains_begin(&all, "/no/such");
	ck_assert_uint_eq(all.nr, 0);
	ck_assert_ptr_null(idle_domain_find(&all, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("idle_domain");

	UNIT_CASE(suite, test_least_loaded);
	UNIT_CASE(suite, test_may_have);
	UNIT_CASE(suite, test_long_lists);
	UNIT_CASE(suite, test_move);
	UNIT_CASE(suite, test_this_machine);
	return unit_run(suite);
}
