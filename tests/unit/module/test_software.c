// SPDX-License-Identifier: GPL-2.0-or-later
/* The software backend (module/hw/software.c). */
#include <check.h>
#include <string.h>

#include "hw/backend.h"
#include "fake.h"
#include "unit.h"
#include "uapi/cmt.h"

START_TEST(test_init_keeps_the_reason_and_accesses_no_msr)
{
	const struct cmt_backend *software = &cmt_software_backend;
	/* what another backend has left */
	struct cmt_backend_caps caps = {
		.reason = "no CPUID leaf 0xF", .record_flags = 1,
		.events = CMT_F_OCCUPANCY, .upscale_bytes = 64,
		.counter_bits = 24, .shared_rmids = true,
		.shared_evtsel = true,
	};

	ck_assert_int_eq(software->init(&caps), 0);
	ck_assert_uint_eq(caps.backend, CMT_BACKEND_SOFTWARE);
	ck_assert_uint_eq(caps.nr_rmids, 4096);
	ck_assert_uint_eq(caps.record_flags, 0);
	ck_assert_uint_eq(caps.events, 0);
	ck_assert_uint_eq(caps.upscale_bytes, 0);
	ck_assert_uint_eq(caps.counter_bits, 0);
	ck_assert(!caps.shared_rmids && !caps.shared_evtsel);
	ck_assert_uint_eq(caps.nodes_per_l3, 1);
	ck_assert_str_eq(caps.reason, "no CPUID leaf 0xF");
	ck_assert_str_eq(caps.mbm_reason, caps.reason);
	software->cpu_up(0);
	software->exit();
	ck_assert_uint_eq(fake.msr_accesses, 0);
}
END_TEST

START_TEST(test_nothing_is_read_or_accounted)
{
	ck_assert_ptr_null(cmt_software_backend.sample);
	ck_assert_ptr_null(cmt_software_backend.read);
	ck_assert_ptr_null(cmt_software_backend.account);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("software");
	TCase *tc = tcase_create("software");

	tcase_add_test(tc, test_init_keeps_the_reason_and_accesses_no_msr);
	tcase_add_test(tc, test_nothing_is_read_or_accounted);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
