/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CMT_LAB_TESTS_H
#define CMT_LAB_TESTS_H

#include "../../vm/suite/suite.h"

extern const struct test occupancy_tests[];
extern const struct test accesses_tests[];
extern const struct test churn_tests[];
extern const struct test containers_tests[];
extern const struct test containers_delay_tests[];
extern const struct test sockets_tests[];
extern const struct test snc_tests[];
extern const struct test resctrl_tests[];
extern const struct test faults_tests[];
extern const struct test traffic_tests[];
extern const struct test limit_tests[];
extern const struct test correction_tests[];
extern const struct test erratum_tests[];
extern const struct test nodes_tests[];
extern const struct test reset_tests[];
extern const struct test kexec_counters_tests[];
extern const struct test kexec_channels_tests[];
extern const struct test unload_tests[];
extern const struct test selftest_tests[];
extern const struct test closid_tests[];
extern const struct test groups_tests[];
extern const struct test cpu_groups_tests[];
extern const struct test agent_tests[];
extern const struct test sole_tests[];
extern const struct test source_tests[];
extern const struct test readers_tests[];
extern const struct test follow_tests[];
extern const struct test abmc_tests[];
extern const struct test abmc_scarce_tests[];
extern const struct test abmc_domains_tests[];
extern const struct test tracked_tests[];
extern const struct test planted_tests[];
extern const struct test erdt_tests[];
extern const struct test erdt_rmids_tests[];
extern const struct test erdt_mrrm_tests[];
extern const struct test erdt_ram_tests[];
extern const struct test erdt_cpus_tests[];
extern const struct test erdt_cut_tests[];
extern const struct test resume_tests[];
extern const struct test bound_tests[];
extern const struct test plza_tests[];
extern const struct test rmids_tests[];
extern const struct test domains_tests[];
extern const struct test large_tests[];
extern const struct test ticks_tests[];
extern const struct test wakeups_tests[];
extern const struct test code_tests[];
extern const struct test pmu_tests[];
extern const struct test pmu_icount_tests[];
extern const struct test pmu_off_tests[];
extern const struct test perf_counts_tests[];
extern const struct test perf_share_tests[];
extern const struct test perf_shares_tests[];
extern const struct test wait_truth_tests[];
extern const struct test wait_usage_tests[];
extern const struct test wait_schedules_tests[];
extern const struct test culprit_tests[];
extern const struct test culprit_evict_tests[];
extern const struct test slowdown_tests[];
extern const struct test uncore_listing_tests[];
extern const struct test uncore_none_tests[];
extern const struct test uncore_channels_tests[];
extern const struct test uncore_idle_tests[];
extern const struct test uncore_unknown_tests[];
extern const struct test uncore_screen_tests[];
extern const struct test uncore_driver_tests[];
extern const struct test uncore_reader_tests[];
extern const struct test uncore_ones_tests[];
extern const struct test uncore_stride_tests[];
extern const struct test uncore_room_tests[];
extern const struct test uncore_bar_tests[];
extern const struct test uncore_no_bar_tests[];
extern const struct test uncore_offset_tests[];
extern const struct test uncore_loop_tests[];
extern const struct test uncore_access_tests[];
extern const struct test uncore_ram_tests[];
extern const struct test uncore_huge_tests[];
extern const struct test uncore_width_tests[];
extern const struct test uncore_twice_tests[];
extern const struct test uncore_differ_tests[];

#endif
