// SPDX-License-Identifier: GPL-2.0-or-later
/* What cmt does where perf makes no event (module/cpu/perf_events.c). */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "fake.h"
#include "fake_perf.h"
#include "cpu/perf_cpu.h"
#include "hw/hw.h"
#include "unit.h"

#define BARRED	"a virtual machine has the counters (mediated vPMU)"

struct cmt_backend_caps cmt_caps;

static struct pmu pmu;
static struct cmt_pmu_cpu pmu_cpu;
static struct perf_event events[64];
static u32 created, released;	/* attempts, events */
static u64 failing_from;	/* the first of the kernel's event numbers that fail */
static int error;
static u64 now;
static u32 lacking;	/* values that the sums before an event lack */
static struct cmt_perf perf;
static char reason[CMT_PERF_REASON_BYTES];

u64 ktime_get_ns(void)
{
	return now;
}

void cmt_perf_lack(struct cmt_perf *p, u32 bits)
{
	ck_assert_ptr_eq(p, &perf);
	lacking |= bits;
}

struct cmt_pmu_cpu *cmt_pmu_cpu_of(const struct pmu *of, int cpu)
{
	ck_assert_ptr_eq(of, &pmu);
	ck_assert_int_eq(cpu, 0);
	return &pmu_cpu;
}

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr,
						    int cpu, void *task, void *overflow,
						    void *context)
{
	struct perf_event *event = &events[created++];

	ck_assert_uint_lt(created, 64);
	ck_assert(!attr->exclude_guest);
	if (error && attr->config >= failing_from)
		return (void *)(long)error;
	*event = (struct perf_event){ .pmu = &pmu, .state = PERF_EVENT_STATE_ACTIVE };
	return event;
}

void perf_event_release_kernel(struct perf_event *event)
{
	event->pmu = NULL;
	released++;
}

static void set_up(void)
{
	memset(&pmu_cpu, 0, sizeof(pmu_cpu));
	memset(&perf, 0, sizeof(perf));
	cmt_caps = (struct cmt_backend_caps){ .vendor = CMT_VENDOR_INTEL };
	perf.limit = CMT_PERF_NR;
	created = released = 0;
	failing_from = 0;
	error = 0;
	lacking = 0;
	now = 100 * NSEC_PER_SEC;
}

/* As perf_want.c: the values that are counted, and in reason why others are not. */
static u32 want(u32 wanted)
{
	cmt_perf_events_update(0, &perf, wanted);
	reason[0] = '\0';
	return cmt_perf_events_counted(0, &perf, reason);
}

/* A second later */
static u32 retry(u32 wanted)
{
	now += NSEC_PER_SEC;
	cmt_perf_events_retry_tasks();
	cmt_perf_events_retry(0, &perf);
	return want(wanted);
}

START_TEST(test_all_are_counted)
{
	ck_assert_uint_eq(want(CMT_PERF_EVENTS), CMT_PERF_EVENTS);
	ck_assert_uint_eq(created, 4);
	ck_assert_uint_eq(lacking, BIT(CMT_PERF_NR) - 1);
	ck_assert_str_eq(reason, "");
	ck_assert_uint_eq(want(0), 0);
	ck_assert_uint_eq(released, 4);
}
END_TEST

/* While a virtual machine has the counters; counters=first changes nothing. */
START_TEST(test_virtual_machine)
{
	u32 wanted = CMT_PERF_EVENTS | (_i ? CMT_F_COUNTERS_FIRST : 0);

	error = -EOPNOTSUPP;
	ck_assert_uint_eq(want(wanted), 0);
	ck_assert_str_eq(reason, BARRED);
	ck_assert_uint_eq(created, 1);
	ck_assert_uint_eq(retry(wanted), 0);
	ck_assert_str_eq(reason, BARRED);
	ck_assert_uint_eq(created, 2);
	error = 0;
	ck_assert_uint_eq(retry(wanted), CMT_PERF_EVENTS);
	ck_assert_str_eq(reason, "");
}
END_TEST

/* After the virtual machine, another program needs the counters. */
START_TEST(test_reason_after_virtual_machine)
{
	error = -EOPNOTSUPP;
	want(CMT_F_CYCLES);
	error = 0;
	pmu_cpu.cpu_lacks = true;
	ck_assert_uint_eq(retry(CMT_F_CYCLES), 0);
	ck_assert_str_eq(reason, "other events need the counters of CPU 0: cmt gives way");
}
END_TEST

/* What the machine lacks is not asked for again, and the rest is counted. */
START_TEST(test_machine_lacks)
{
	u32 rest = CMT_F_CYCLES | CMT_F_INSTRUCTIONS;

	error = -ENOENT;
	failing_from = PERF_COUNT_HW_CACHE_REFERENCES;
	ck_assert_uint_eq(want(CMT_PERF_EVENTS), rest);
	ck_assert_str_eq(reason, "this machine does not count LLC misses");
	ck_assert_uint_eq(created, 4);
	ck_assert_uint_eq(retry(CMT_PERF_EVENTS), rest);
	ck_assert_str_eq(reason, "this machine does not count LLC misses");
	ck_assert_uint_eq(created, 4);
}
END_TEST

START_TEST(test_amd_has_no_llc_events)
{
	cmt_caps.vendor = CMT_VENDOR_AMD;
	ck_assert_uint_eq(want(CMT_F_CYCLES | CMT_F_LLC_MISSES), CMT_F_CYCLES);
	ck_assert_str_eq(reason, "this machine does not count LLC misses");
	ck_assert_uint_eq(created, 1);
}
END_TEST

START_TEST(test_other_error)
{
	error = -EACCES;
	ck_assert_uint_eq(want(CMT_F_CYCLES), 0);
	ck_assert_str_eq(reason, "no counter of cycles on CPU 0: error 13");
}
END_TEST

/* What could not be made for want of memory is asked for again a second later, not before. */
START_TEST(test_error_passes)
{
	u32 rest = CMT_PERF_EVENTS & ~CMT_F_LLC_MISSES;

	error = -ENOMEM;
	failing_from = PERF_COUNT_HW_CACHE_MISSES;
	ck_assert_uint_eq(want(CMT_PERF_EVENTS), rest);
	ck_assert_str_eq(reason, "no counter of LLC misses on CPU 0: error 12");
	error = 0;
	ck_assert_uint_eq(want(CMT_PERF_EVENTS), rest);
	ck_assert_uint_eq(created, 4);
	ck_assert_uint_eq(retry(CMT_PERF_EVENTS), CMT_PERF_EVENTS);
	ck_assert_str_eq(reason, "");
	ck_assert_uint_eq(released, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_events");
	TCase *tcase = tcase_create("errors");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, test_all_are_counted);
	tcase_add_loop_test(tcase, test_virtual_machine, 0, 2);
	tcase_add_test(tcase, test_reason_after_virtual_machine);
	tcase_add_test(tcase, test_machine_lacks);
	tcase_add_test(tcase, test_amd_has_no_llc_events);
	tcase_add_test(tcase, test_other_error);
	tcase_add_test(tcase, test_error_passes);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
