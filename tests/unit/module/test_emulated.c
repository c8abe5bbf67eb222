// SPDX-License-Identifier: GPL-2.0-or-later
/* The emulated backend around its model (module/hw/emulated.c). */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bug.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "hw/backend.h"
#include "hw/counter.h"
#include "fake.h"
#include "uapi/cmt.h"
#include "unit.h"

#define MIB	(1ULL << 20)
#define MS	1000000ULL

uint *shim_param_emulated_rmids(void);
uint *shim_param_emulated_cache_kib(void);

static const struct cmt_backend *emulated = &cmt_emulated_backend;
static struct cmt_backend_caps caps;
static struct mm_struct mm;
static struct task_struct task = { .mm = &mm };
static struct task_struct kthread;

static void set_up(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(&caps, 0, sizeof(caps));
	fake.nr_cpus = 3;
	fake.clock_ns = 1000 * MS;
	fake_cpu = 0;
	*shim_param_emulated_rmids() = 256;
	*shim_param_emulated_cache_kib() = 0;
	shim_lines = 0;
	shim_allocs_left = -1;
	mm.rss_pages = 16 * MIB >> PAGE_SHIFT;
}

static void tear_down(void)
{
	shim_irqs_off = false;
	emulated->exit();
	ck_assert_int_eq(shim_allocs_live, 0);
	ck_assert_uint_eq(shim_locks_held, 0);
	ck_assert_uint_eq(shim_warnings, 0);
}

/* CPUs 0 and 1 share a cache, CPU 2 has its own. */
static void set_up_started(void)
{
	set_up();
	ck_assert_int_eq(emulated->init(&caps), 0);
	shim_irqs_off = true;
	for (fake_cpu = 0; fake_cpu < 3; fake_cpu++)
		emulated->cpu_up(fake_cpu / 2);
	fake_cpu = 0;
}

/* @rmid runs on @cpu for @ns. */
static void run(u32 cpu, u32 rmid, u64 ns)
{
	fake_cpu = cpu;
	emulated->account(&kthread, 0);
	fake.clock_ns += ns;
	emulated->account(&task, rmid);
}

static u64 read_on(u32 cpu, u32 rmid, enum cmt_event event)
{
	struct cmt_raws raws;

	fake_cpu = cpu;
	emulated->read(rmid, caps.events, &raws);
	switch (event) {
	case CMT_EVENT_OCCUPANCY:
		return raws.occupancy;
	case CMT_EVENT_MBM_TOTAL:
		return raws.total;
	default:
		return raws.local;
	}
}

static u64 occupancy_on(u32 cpu, u32 rmid)
{
	return read_on(cpu, rmid, CMT_EVENT_OCCUPANCY) * caps.upscale_bytes;
}

START_TEST(test_init_caps)
{
	strcpy(caps.reason, "why not the other one");
	ck_assert_int_eq(emulated->init(&caps), 0);
	ck_assert_uint_eq(caps.backend, CMT_BACKEND_EMULATED);
	ck_assert_uint_eq(caps.record_flags, CMT_F_EMULATED);
	ck_assert_uint_eq(caps.nr_rmids, 256);
	ck_assert_uint_eq(caps.counter_bits, 32);
	ck_assert_uint_eq(caps.upscale_bytes, 64);
	ck_assert_uint_eq(caps.mbm_correct_above, U32_MAX);
	ck_assert_uint_eq(caps.l3_bytes, 32 * MIB);	/* CPUID knows none */
	ck_assert_str_eq(caps.reason, "why not the other one");
}
END_TEST

START_TEST(test_init_params_in_range)
{
	*shim_param_emulated_rmids() = _i ? CMT_MAX_RMIDS : 2;
	*shim_param_emulated_cache_kib() = _i ? 1048576 : 1024;
	ck_assert_int_eq(emulated->init(&caps), 0);
	ck_assert_uint_eq(caps.nr_rmids, _i ? CMT_MAX_RMIDS : 2);
	ck_assert_uint_eq(caps.l3_bytes, _i ? 1024 * MIB : MIB);
	ck_assert_str_eq(caps.reason, "a model of a shared cache");
}
END_TEST

static const struct {
	uint rmids, cache_kib;
	const char *line;
} bad_params[] = {
	{ 1, 0, "cmt: emulated_rmids=1 is not in 2..4096\n" },
	{ 0, 1, "cmt: emulated_rmids=0 is not in 2..4096\n" },
	{ 4097, 0, "cmt: emulated_rmids=4097 is not in 2..4096\n" },
	{ 2, 1023,
	  "cmt: emulated_cache_kib=1023 is neither 0 nor in 1024..1048576\n" },
	{ 2, 1048577,
	  "cmt: emulated_cache_kib=1048577 is neither 0 nor in 1024..1048576\n" },
};

START_TEST(test_init_params_out_of_range)
{
	*shim_param_emulated_rmids() = bad_params[_i].rmids;
	*shim_param_emulated_cache_kib() = bad_params[_i].cache_kib;
	ck_assert_int_eq(emulated->init(&caps), -EINVAL);
	ck_assert_uint_eq(shim_lines, 1);
	ck_assert_str_eq(shim_printed, bad_params[_i].line);
}
END_TEST

/* Every allocation fails once. */
START_TEST(test_init_out_of_memory)
{
	int allocs;

	for (allocs = 0; allocs < 10; allocs++) {
		shim_allocs_left = allocs;
		ck_assert_int_eq(emulated->init(&caps), -ENOMEM);
		ck_assert_int_eq(shim_allocs_live, 0);
	}
	shim_allocs_left = allocs;
	ck_assert_int_eq(emulated->init(&caps), 0);
}
END_TEST

START_TEST(test_account_fills)
{
	run(0, 5, 1 * MS);
	ck_assert_uint_eq(occupancy_on(0, 5), 4 * MS);
	ck_assert_uint_eq(read_on(0, 5, CMT_EVENT_MBM_TOTAL), 4 * MS / 64);
	ck_assert_uint_eq(read_on(0, 5, CMT_EVENT_MBM_LOCAL), 4 * MS / 64);
	run(0, 5, 100 * MS);
	ck_assert_uint_eq(occupancy_on(0, 5), 16 * MIB);
}
END_TEST

START_TEST(test_account_rmid_0_and_kernel_threads)
{
	run(0, 0, 10 * MS);
	fake.clock_ns += 10 * MS;
	emulated->account(&kthread, 5);
	run(0, caps.nr_rmids, 10 * MS);
	ck_assert_uint_eq(occupancy_on(0, 0), 0);
	ck_assert_uint_eq(occupancy_on(0, 5), 0);
	/* the kernel thread's time was not left for the next one */
	emulated->account(&task, 5);
	fake.clock_ns += 1 * MS;
	ck_assert_uint_eq(occupancy_on(0, 5), 0);
}
END_TEST

/* Settled for all CPUs of the domain, and for no other. */
START_TEST(test_settle_is_for_the_domain)
{
	run(1, 5, 1 * MS);
	run(2, 5, 1 * MS);
	ck_assert_uint_eq(occupancy_on(0, 5), 4 * MS);
	run(2, 5, 1 * MS);
	ck_assert_uint_eq(occupancy_on(0, 5), 4 * MS);
	ck_assert_uint_eq(occupancy_on(2, 5), 8 * MS);
}
END_TEST

START_TEST(test_settle_once_a_tick)
{
	run(0, 5, 1 * MS);
	ck_assert_uint_eq(occupancy_on(0, 5), 4 * MS);
	run(1, 5, 40000);
	ck_assert_uint_eq(occupancy_on(1, 5), 4 * MS);
	fake.clock_ns -= 60000;	/* this CPU's clock lags a little */
	ck_assert_uint_eq(occupancy_on(1, 5), 4 * MS);
	fake.clock_ns += 100000;
	ck_assert_uint_eq(occupancy_on(1, 5), 4 * MS + 160000);
}
END_TEST

START_TEST(test_settle_after_cpu_down)
{
	run(1, 5, 1 * MS);
	ck_assert_uint_eq(occupancy_on(0, 5), 4 * MS);
}
END_TEST

/* Time offline counts for no owner. */
START_TEST(test_cpu_up_again)
{
	fake_cpu = 1;
	fake.clock_ns += 1000 * MS;
	emulated->cpu_up(0);
	fake.clock_ns += 1 * MS;
	emulated->account(&task, 5);
	ck_assert_uint_eq(occupancy_on(0, 5), 4 * MS);
}
END_TEST

START_TEST(test_read_never_sums_above_the_cache)
{
	u64 sum = 0;
	u32 rmid;

	for (rmid = 1; rmid < 100; rmid++)
		run(rmid % 2, rmid, 10 * MS);
	for (rmid = 0; rmid < caps.nr_rmids; rmid++)
		sum += occupancy_on(0, rmid);
	ck_assert_uint_le(sum, 32 * MIB);
	ck_assert_uint_ge(sum, 32 * MIB - 100 * 64);
}
END_TEST

START_TEST(test_read_mbm_wraps_at_its_width)
{
	u64 before, units;

	mm.rss_pages = 64 * MIB >> PAGE_SHIFT;	/* half of it misses */
	run(0, 5, 1000 * MS);
	before = read_on(0, 5, CMT_EVENT_MBM_TOTAL);
	/* 2 bytes a nanosecond */
	run(0, 5, 200000 * MS);
	units = read_on(0, 5, CMT_EVENT_MBM_TOTAL);
	ck_assert_uint_lt(units, 1ULL << 32);
	ck_assert_uint_eq((u32)(units - before), (u32)(400000 * MS / 64));
	ck_assert_uint_gt(400000 * MS / 64, 1ULL << 32);
}
END_TEST

static TCase *init_tests(void)
{
	TCase *tcase = tcase_create("init");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_init_caps);
	tcase_add_loop_test(tcase, test_init_params_in_range, 0, 2);
	tcase_add_loop_test(tcase, test_init_params_out_of_range, 0,
			    sizeof(bad_params) / sizeof(bad_params[0]));
	tcase_add_test(tcase, test_init_out_of_memory);
	return tcase;
}

static TCase *run_tests(void)
{
	TCase *tcase = tcase_create("run");

	tcase_add_checked_fixture(tcase, set_up_started, tear_down);
	tcase_add_test(tcase, test_account_fills);
	tcase_add_test(tcase, test_account_rmid_0_and_kernel_threads);
	tcase_add_test(tcase, test_settle_is_for_the_domain);
	tcase_add_test(tcase, test_settle_once_a_tick);
	tcase_add_test(tcase, test_settle_after_cpu_down);
	tcase_add_test(tcase, test_cpu_up_again);
	tcase_add_test(tcase, test_read_never_sums_above_the_cache);
	tcase_add_test(tcase, test_read_mbm_wraps_at_its_width);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("emulated");

	suite_add_tcase(suite, init_tests());
	suite_add_tcase(suite, run_tests());
	return unit_run(suite);
}
