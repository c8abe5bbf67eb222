// SPDX-License-Identifier: GPL-2.0-or-later
/* A CPU that comes online and cannot be sampled (module/hotplug.c). */
#include <check.h>
#include <errno.h>
#include <string.h>

#include <linux/cpuhotplug.h>
#include <linux/printk.h>

#include "hotplug.h"
#include "hw/hw.h"
#include "ring/ring.h"
#include "sample/sample.h"
#include "scope/scope.h"
#include "uncore/uncore.h"
#include "unit.h"

struct fake_machine fake = { .nr_cpus = 1 };
u32 fake_cpu;
struct cmt_backend_caps cmt_caps;
DEFINE_PER_CPU(struct cmt_cpu, cmt_cpus);
DEFINE_PER_CPU(struct cmt_ring, cmt_rings);

static struct cmt_record slot;
static int (*prepare)(unsigned int cpu), (*up)(unsigned int cpu);
static int (*dead)(unsigned int cpu), (*down)(unsigned int cpu);
static int cpu_error, domain_error;	/* of an allocation */
static u32 domain_id;
static bool sampled;

int cpuhp_setup_state(enum cpuhp_state state, const char *name,
		      int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu))
{
	(void)name;
	if (state == CPUHP_BP_PREPARE_DYN) {
		prepare = startup;
		dead = teardown;
	} else {
		up = startup;
		down = teardown;
	}
	return state;
}

void cpuhp_remove_state(enum cpuhp_state state)
{
	(void)state;
}

int cmt_sampler_add_domain(u32 domain, u32 id)
{
	ck_assert_uint_lt(domain, CMT_MAX_DOMAINS);
	ck_assert_uint_eq(id, domain_id);
	return domain_error;
}

int cmt_sampler_prepare(unsigned int cpu)
{
	(void)cpu;
	return cpu_error;
}

int cmt_ring_prepare(unsigned int cpu)
{
	(void)cpu;
	cmt_rings.slots = &slot;
	return 0;
}

u32 cmt_topology_domain_id(u32 nodes_per_l3)
{
	(void)nodes_per_l3;
	return domain_id;
}

void cmt_cpu_up(u32 domain, u32 id)
{
	(void)id;
	cmt_cpus.up = true;
	cmt_cpus.domain = domain;
}

void cmt_cpu_down(void)
{
	cmt_cpus.up = false;
}

void cmt_sampler_cpu_up(u32 domain)
{
	(void)domain;
	sampled = true;
}

void cmt_sampler_cpu_down(u32 domain)
{
	(void)domain;
	sampled = false;
}

void cmt_ring_dead(unsigned int cpu)
{
	(void)cpu;
}

void cmt_scope_cpu_up(unsigned int cpu)
{
	(void)cpu;
}

void cmt_scope_cpu_down(unsigned int cpu)
{
	(void)cpu;
}

void cmt_perf_cpu_down(unsigned int cpu)
{
	(void)cpu;
}

void cmt_channels_set_ticks(unsigned int cpu, bool ticks)
{
	(void)cpu;
	(void)ticks;
}

void cmt_rings_sizes_are_known(void)
{
}

void cmt_sampler_cpus_are_up(void)
{
}

void cmt_sampler_cpus_go(void)
{
}

static void set_up(void)
{
	ck_assert(!cmt_hotplug_init());
	domain_error = cpu_error = 0;
	domain_id = 0;
	shim_lines = 0;
}

static void online(void)
{
	ck_assert(!prepare(0));
	ck_assert(!up(0));
	ck_assert(cmt_cpus.up == sampled);
	ck_assert(cmt_cpus.unread == !sampled);
}

static void offline(void)
{
	ck_assert(!down(0));
	ck_assert(!dead(0));
	ck_assert(!cmt_cpus.up && !cmt_cpus.unread && !sampled);
}

/* Each time that a CPU comes online and is not sampled, somebody can see it. */
static void check_without_memory(void)
{
	u32 i;

	for (i = 1; i < 3; i++) {
		online();
		ck_assert(!sampled);
		ck_assert_uint_eq(shim_lines, i);
		ck_assert_msg(strstr(shim_printed, "no memory for CPU 0"), "%s", shim_printed);
		offline();
	}
	domain_error = cpu_error = 0;
	online();
	ck_assert(sampled);
	ck_assert_uint_eq(shim_lines, 2);
	offline();
}

START_TEST(test_no_memory_for_cpu)
{
	cpu_error = -ENOMEM;
	check_without_memory();
}
END_TEST

START_TEST(test_no_memory_for_domain)
{
	domain_error = -ENOMEM;
	check_without_memory();
}
END_TEST

START_TEST(test_one_domain_too_many)
{
	for (; domain_id < CMT_MAX_DOMAINS; domain_id++) {
		online();
		ck_assert(sampled);
		offline();
	}
	online();
	ck_assert(!sampled);
	ck_assert_uint_eq(shim_lines, 1);
	ck_assert_msg(strstr(shim_printed, "one more than 64"), "%s", shim_printed);
	offline();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hotplug");
	TCase *tcase = tcase_create("online");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, test_no_memory_for_cpu);
	tcase_add_test(tcase, test_no_memory_for_domain);
	tcase_add_test(tcase, test_one_domain_too_many);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
