// SPDX-License-Identifier: GPL-2.0-or-later
/* What cmtctl doctor says of a machine. */
#include <errno.h>
#include <string.h>
#include <uapi/cmt.h>

#include "cmtctl/findings.h"
#include "unit.h"

static struct cmt_info info;
static struct facts facts;
static struct finding findings[MAX_FINDINGS];
static unsigned int nr;

/* A machine on which all is as it should be. */
static void setup(void)
{
	info = (struct cmt_info){
		.backend = CMT_BACKEND_HARDWARE,
		.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
		.rmids_usable = 255, .interval_max_ns = 1000000000,
		.reason = "L3 monitoring in CPUID leaf 0xF",
	};
	strncpy(info.module_version, cmt_version(), sizeof(info.module_version) - 1);
	facts = (struct facts){
		.path = CMT_DEVICE_PATH,
		.processor = { .known = true, .monitors = true },
		.info = &info,
		.scope = CMT_SCOPE_CONTAINER, .cgroups = CGROUPS_V2, .interval_ns = 1000000,
		.stats = { .rmids_active = 12, .ticks = 10000, .samples = 90000 },
	};
}

/* The finding about @about, which there must be. */
static const struct finding *found(const char *about)
{
	nr = findings_make(&facts, findings);
	ck_assert_uint_le(nr, MAX_FINDINGS);
	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(findings[i].about, about))
			return &findings[i];
	ck_abort_msg("nothing about %s", about);
	return NULL;
}

static void says(const char *about, enum finding_state state, const char *what,
		 const char *todo)
{
	const struct finding *finding = found(about);

	ck_assert_int_eq(finding->state, state);
	if (!strstr(finding->what, what))
		ck_abort_msg("%s: \"%s\" is not in \"%s\"", about, what, finding->what);
	if (!todo)
		ck_assert_str_eq(finding->todo, "");
	else if (!strstr(finding->todo, todo))
		ck_abort_msg("%s: \"%s\" is not in \"%s\"", about, todo, finding->todo);
}

START_TEST(healthy_machine_has_no_problem)
{
	nr = findings_make(&facts, findings);
	ck_assert_uint_eq(nr, 9);
	for (unsigned int i = 0; i < nr; i++) {
		ck_assert_int_eq(findings[i].state, FINDING_GOOD);
		ck_assert_str_eq(findings[i].todo, "");
		ck_assert_str_ne(findings[i].what, "");
	}
}
END_TEST

START_TEST(missing_module_is_reported_with_processor)
{
	facts.opened = -ENOENT;
	facts.info = NULL;
	says("module", FINDING_PROBLEM, "not loaded", "modprobe cmt");
	says("processor", FINDING_GOOD, "counts", NULL);
	ck_assert_uint_eq(nr, 2);
	facts.has_groups = true;
	says("resctrl", FINDING_NOTE, "without the module", NULL);
	facts.processor.monitors = false;
	says("processor", FINDING_PROBLEM, "no counters", "firmware");
	facts.processor.is_virtual = true;
	says("processor", FINDING_PROBLEM, "no counters", "virtual machine");
	facts.processor.known = false;
	nr = findings_make(&facts, findings);
	ck_assert_uint_eq(nr, 2);
}
END_TEST

START_TEST(version_of_another_release_is_noted)
{
	/* as long as its field: not terminated */
	memset(info.module_version, '9', sizeof(info.module_version));
	says("module", FINDING_NOTE, "9999999999999999, the tools", "one release");
}
END_TEST

START_TEST(unmeasured_values_are_a_problem)
{
	info.backend = CMT_BACKEND_EMULATED;
	says("readings", FINDING_PROBLEM, "nothing is measured", "backend=emulated");
	info.backend = CMT_BACKEND_SOFTWARE;
	says("readings", FINDING_PROBLEM, info.reason, "troubleshooting");
	facts.processor.monitors = false;
	says("readings", FINDING_PROBLEM, info.reason, "firmware");
	facts.processor.is_virtual = true;
	says("readings", FINDING_PROBLEM, info.reason, "the counters are the host's");
	memset(info.reason, 'x', sizeof(info.reason));
	says("readings", FINDING_PROBLEM, "xxxx", "host's");
}
END_TEST

START_TEST(bandwidth_without_counters_is_reported)
{
	strcpy(info.mbm_reason, "the counters are too narrow");
	says("bandwidth", FINDING_NOTE, info.mbm_reason, NULL);
	info.events = CMT_F_OCCUPANCY;
	says("bandwidth", FINDING_NOTE, "not counted: the counters", NULL);
	info.events |= CMT_F_MBM_LOCAL;
	says("bandwidth", FINDING_NOTE, "not all of it is counted: the counters", NULL);
	info.assignable = CMT_ASSIGNABLE_ON | 32 | 20 << 10 | 12 << 20;
	says("bandwidth", FINDING_NOTE, "32 in all, cmt has 20, others 12", "umount");
	info.assignable = CMT_ASSIGNABLE_ON | 32 | 32 << 10;
	says("bandwidth", FINDING_NOTE, "cmt has 32, others 0", NULL);
	info.assignable = CMT_ASSIGNABLE_ON | 32 | 32U << 20;
	says("bandwidth", FINDING_PROBLEM, "cmt has 0, others 32", "umount");
}
END_TEST

START_TEST(waiting_that_the_kernel_cannot_account_is_noted)
{
	says("waiting", FINDING_GOOD, "accounted for a tool that asks", NULL);
	/* as long as its field: not terminated */
	memset(info.wait_reason, 'x', sizeof(info.wait_reason));
	info.backend = CMT_BACKEND_SOFTWARE;
	says("waiting", FINDING_NOTE, "not accounted: xxxx", NULL);
}
END_TEST

START_TEST(containers_that_cannot_be_seen_are_a_problem)
{
	says("scope", FINDING_GOOD, "container", NULL);
	facts.cgroups = CGROUPS_V1;
	says("scope", FINDING_PROBLEM, "are not seen", "cmtctl scope process");
	facts.cgroups = CGROUPS_HYBRID;
	says("scope", FINDING_PROBLEM, "are not seen", "cmtctl scope process");
	facts.cgroups = CGROUPS_NONE;
	says("scope", FINDING_NOTE, "are not seen", "cmtctl scope process");
	facts.scope = CMT_SCOPE_CPU;
	says("scope", FINDING_GOOD, "cpu", NULL);
}
END_TEST

START_TEST(pending_owners_are_a_problem)
{
	facts.stats.pending = 3;
	says("RMIDs", FINDING_PROBLEM, "12 of 255 in use, 0 in limbo, 3 pending owners", "scope container -p");
	facts.scope = CMT_SCOPE_PROCESS;
	says("RMIDs", FINDING_PROBLEM, "3 pending owners", "each container instead of each process");
	facts.scope = CMT_SCOPE_CPU;
	says("RMIDs", FINDING_PROBLEM, "3 pending owners", "each container instead of each CPU");
	facts.scope = CMT_SCOPE_MANUAL;
	says("RMIDs", FINDING_PROBLEM, "3 pending owners", "cmtctl detach");
	facts.scope = CMT_SCOPE_CONTAINER;
	facts.services_pending = 2;
	says("RMIDs", FINDING_PROBLEM, "3 pending owners", "scope container -p");
	facts.services_pending = 3;
	says("RMIDs", FINDING_NOTE, "3 pending owners", "without ~*.service");
}
END_TEST

START_TEST(kernel_association_is_noted)
{
	info.nr_rmids = 256;
	info.plza = CMT_PLZA_EXISTS;
	info.plza |= CMT_PLZA_ON;
	says("kernel", FINDING_NOTE, "without an RMID", NULL);
	info.plza |= CMT_PLZA_HAS_RMID | 9;
	says("kernel", FINDING_NOTE, "under RMID 9, as the owner kernel", NULL);
	info.plza |= 256;
	says("kernel", FINDING_NOTE, "RMID 265, which has no owner", NULL);
}
END_TEST

START_TEST(unread_cpus_are_a_problem)
{
	facts.stats.cpus_unread = 2;
	says("CPUs", FINDING_PROBLEM, "not sampled: 2,", "taskset");
}
END_TEST

START_TEST(mounted_resctrl_is_noted_in_both_modes)
{
	facts.mounted = true;
	facts.resctrl = CMT_RESCTRL_RESPECT;
	facts.stats.rmids_foreign = 7;
	says("resctrl", FINDING_GOOD, "7 RMIDs are resctrl's, and no group", NULL);
	facts.groups_read = -ENOMEM;
	says("resctrl", FINDING_NOTE, "is not known: Cannot allocate memory", NULL);
	facts.groups_read = 0;
	facts.stats.cpus_foreign = 2;
	says("resctrl", FINDING_NOTE, "2 CPUs are of its groups", "resctrl take");
	facts.beside = (struct beside){
		.any = true, .groups = 1, .named = true, .has_cpu = true, .cpu = 1,
		.name = "mon_groups/x",
	};
	says("resctrl", FINDING_NOTE, "; CPU 1 is of resctrl group mon_groups/x: rows of",
	     "resctrl take");
	facts.stats.cpus_foreign = 0;
	facts.beside.has_cpu = false;
	says("resctrl", FINDING_NOTE, "group mon_groups/x counts tasks of several owners",
	     "resctrl take");
	facts.resctrl = CMT_RESCTRL_TAKE;
	says("resctrl", FINDING_NOTE, "cmt replaces", "resctrl respect");
}
END_TEST

START_TEST(one_percent_is_the_limit)
{
	facts.stats.missed = 100;
	facts.stats.read_errors = 400;
	facts.stats.read_unavailable = 500;
	says("ticks", FINDING_GOOD, "10000 since", NULL);
	says("failures", FINDING_GOOD, "400 with Error, 500 with Unavailable", NULL);
	facts.stats.missed++;
	facts.stats.read_errors++;
	says("ticks", FINDING_PROBLEM, "101 missed", "interval 2ms; above 1 ms there are no verdicts");
	says("failures", FINDING_PROBLEM, "401 with Error", "cmtctl selftest");
}
END_TEST

/* It is longer than the interval in force, and has its price. */
START_TEST(interval_of_a_remedy_fits_the_machine)
{
	static const struct {
		uint32_t interval_ns;
		const char *command;
	} all[] = {
		{ 100000, "cmtctl interval 0.2ms" }, { 500000, "cmtctl interval 1ms" },
		{ 1000000, "cmtctl interval 2ms; above 1 ms" },
		{ 10000000, "cmtctl interval 20ms" }, { 1000000000, "" },
	};

	facts.stats.missed = 101;
	facts.mounted = true;
	info.evtsel = CMT_EVTSEL_EXPOSED;
	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		facts.interval_ns = all[i].interval_ns;
		says("ticks", FINDING_PROBLEM, "101 missed", all[i].command[0] ?
		     all[i].command : NULL);
		ck_assert_int_eq(!!strstr(found("ticks")->todo, "above 1 ms"),
				 all[i].interval_ns == 1000000);
		ck_assert_int_eq(!!strstr(found("EVTSEL")->todo,
					  "cmtctl interval 10ms; above 1 ms"),
				 all[i].interval_ns <= 1000000);
		ck_assert_int_eq(!!strstr(found("EVTSEL")->todo, "interval"),
				 all[i].interval_ns < 10000000);
	}
}
END_TEST

START_TEST(foreign_rmid_writes_are_noted)
{
	facts.stats.pqr_overwritten = 1;
	says("failures", FINDING_NOTE, "another agent's RMID 1 times", NULL);
}
END_TEST

START_TEST(cpus_of_another_agent_are_noted)
{
	facts.resctrl = CMT_RESCTRL_RESPECT;
	says("resctrl", FINDING_GOOD, "not mounted", NULL);
	facts.stats.cpus_foreign = 2;
	says("resctrl", FINDING_NOTE, "the RMID of 2 CPUs: rows of", "resctrl take");
	facts.beside = (struct beside){
		.any = true, .groups = 1, .has_cpu = true, .cpu = 1, .rmid = 2,
	};
	says("resctrl", FINDING_NOTE,
	     "; CPU 1 has RMID 2 of resctrl or another program: rows of", "pqos --iface=msr -r");
	facts.resctrl = CMT_RESCTRL_TAKE;
	says("resctrl", FINDING_NOTE, "cmt replaces the RMID", "resctrl respect");
}
END_TEST

static bool is_said(const char *about)
{
	nr = findings_make(&facts, findings);
	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(findings[i].about, about))
			return true;
	return false;
}

START_TEST(exposed_evtsel_is_noted_while_resctrl_is_mounted)
{
	info.evtsel = CMT_EVTSEL_EXPOSED;
	ck_assert(!is_said("EVTSEL"));
	facts.mounted = true;
	says("EVTSEL", FINDING_NOTE, "another RMID", "Linux 6.9");
	says("EVTSEL", FINDING_NOTE, "2^44 units for good", "Linux 6.9");
	info.evtsel = CMT_EVTSEL_FOLLOWED;
	ck_assert(!is_said("EVTSEL"));
}
END_TEST

START_TEST(intel_cqm_is_noted)
{
	ck_assert(!is_said("perf"));
	facts.has_intel_cqm = true;
	says("perf", FINDING_NOTE, "refused", "remove intel_cqm=1");
}
END_TEST

/* Intel's telemetry counts by RMID, and is resctrl's. */
START_TEST(telemetry_of_resctrl_is_noted)
{
	ck_assert(!is_said("telemetry"));
	facts.mounted = true;
	facts.has_telemetry = true;
	says("telemetry", FINDING_NOTE, "right for its groups", NULL);
	facts.resctrl = CMT_RESCTRL_TAKE;
	says("telemetry", FINDING_NOTE, "wrong for its groups", "resctrl respect");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("findings");
	TCase *tc = tcase_create("findings");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, healthy_machine_has_no_problem);
	tcase_add_test(tc, missing_module_is_reported_with_processor);
	tcase_add_test(tc, version_of_another_release_is_noted);
	tcase_add_test(tc, unmeasured_values_are_a_problem);
	tcase_add_test(tc, bandwidth_without_counters_is_reported);
	tcase_add_test(tc, waiting_that_the_kernel_cannot_account_is_noted);
	tcase_add_test(tc, containers_that_cannot_be_seen_are_a_problem);
	tcase_add_test(tc, pending_owners_are_a_problem);
	tcase_add_test(tc, unread_cpus_are_a_problem);
	tcase_add_test(tc, kernel_association_is_noted);
	tcase_add_test(tc, mounted_resctrl_is_noted_in_both_modes);
	tcase_add_test(tc, one_percent_is_the_limit);
	tcase_add_test(tc, interval_of_a_remedy_fits_the_machine);
	tcase_add_test(tc, foreign_rmid_writes_are_noted);
	tcase_add_test(tc, cpus_of_another_agent_are_noted);
	tcase_add_test(tc, exposed_evtsel_is_noted_while_resctrl_is_mounted);
	tcase_add_test(tc, intel_cqm_is_noted);
	tcase_add_test(tc, telemetry_of_resctrl_is_noted);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
