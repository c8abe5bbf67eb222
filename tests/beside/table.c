// SPDX-License-Identifier: GPL-2.0-or-later
#include "beside.h"

const struct test beside_tests[] = {
	{ "pqos_by_cpu", pqos_by_cpu, NULL, 300 },
	{ "pqos_by_pid", pqos_by_pid, NULL, 300 },
	{ "pqos_by_msr", pqos_by_msr, NULL, 300 },
	{ "perf_all", perf_all, NULL, 300 },
	{ "perf_cpu", perf_cpu, NULL, 300 },
	{ "perf_pid", perf_pid, NULL, 300 },
	{ "perf_cgroup", perf_cgroup, NULL, 300 },
	{ "perf_counts", perf_counts, NULL, 300 },
	{ "groups_of_tasks", groups_of_tasks, NULL, 300 },
	{ "groups_of_cpus", groups_of_cpus, NULL, 300 },
	{ "groups_nested", groups_nested, NULL, 300 },
	{ "groups_root", groups_root, NULL, 300 },
	{ "bad_removed", bad_removed, NULL, 300 },
	{ "bad_churn", bad_churn, NULL, 600 },
	{ "bad_killed", bad_killed, NULL, 300 },
	{ "bad_rmids", bad_rmids, NULL, 300 },
	{ "bad_options", bad_options, NULL, 60 },
	{ "selftest_cmt", selftest_cmt, NULL, 300 },
	{ "selftest_mbm", selftest_mbm, NULL, 300 },
	{ 0 },
};
