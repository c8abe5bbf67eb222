// SPDX-License-Identifier: GPL-2.0-or-later
#include "findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/errors.h"
#include "common/rows.h"
#include "watch/watch.h"

/* A finding is worth a note above one in this number of ticks or readings. */
#define FEW	100

#define SELDOM_NS	10000000ULL	/* a sampling interval that seldom disturbs resctrl */
#define INTERVAL_LEN	128

struct list {
	struct finding *findings;
	unsigned int nr;
};

static struct finding *add(struct list *list, const char *about, enum finding_state state)
{
	struct finding *finding = &list->findings[list->nr++];

	*finding = (struct finding){ .about = about, .state = state };
	return finding;
}

static void __attribute__((format(printf, 2, 3)))
say(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->what, sizeof(finding->what), format, args);
	va_end(args);
}

static void __attribute__((format(printf, 2, 3)))
advise(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->todo, sizeof(finding->todo), format, args);
	va_end(args);
}

static void judge_open(struct list *list, const struct facts *facts)
{
	struct cmt_error error = { .sz = sizeof(error) };
	struct finding *finding = add(list, "module", FINDING_PROBLEM);

	cmt_error_explain(&error, CMT_CALL_OPEN, facts->opened, facts->path);
	say(finding, "%s: %s", facts->path, error.reason);
	advise(finding, "%s", error.remedy);
}

static void advise_counters(struct finding *finding, bool is_virtual)
{
	if (is_virtual)
		advise(finding, "This is a virtual machine: the counters are the host's; "
		       "run cmt there, or on a machine without a hypervisor");
	else
		advise(finding, "Processors with Intel RDT or AMD PQoS have them; "
		       "some firmware has a setting that hides them");
}

static void judge_processor(struct list *list, const struct processor_facts *processor)
{
	struct finding *finding;

	if (!processor->known)
		return;
	if (processor->monitors) {
		say(add(list, "processor", FINDING_GOOD), "it counts cache occupancy");
		return;
	}
	finding = add(list, "processor", FINDING_PROBLEM);
	say(finding, "it shows no counters of cache occupancy");
	advise_counters(finding, processor->is_virtual);
}

static void judge_groups(struct list *list, bool has_groups)
{
	if (has_groups)
		say(add(list, "resctrl", FINDING_NOTE),
		    "mounted: cmtstat shows its groups without the module");
}

static void judge_module(struct list *list, const struct cmt_info *info)
{
	int len = (int)sizeof(info->module_version);
	struct finding *finding;

	if (!strncmp(info->module_version, cmt_version(), sizeof(info->module_version))) {
		say(add(list, "module", FINDING_GOOD), "%.*s, as the tools", len,
		    info->module_version);
		return;
	}
	finding = add(list, "module", FINDING_NOTE);
	say(finding, "%.*s, the tools are %s", len, info->module_version, cmt_version());
	advise(finding, "%s", ERROR_RELEASE);
}

static void judge_software(struct list *list, const struct facts *facts)
{
	const struct cmt_info *info = facts->info;
	struct finding *finding = add(list, "readings", FINDING_PROBLEM);

	say(finding, "no occupancy and no bandwidth: %.*s", (int)sizeof(info->reason),
	    info->reason);
	if (facts->processor.known && !facts->processor.monitors)
		advise_counters(finding, facts->processor.is_virtual);
	else
		advise(finding, "Remove backend=software from /etc/modprobe.d and reload the "
		       "module; for other reasons see docs/troubleshooting.md");
}

static void judge_readings(struct list *list, const struct facts *facts)
{
	const struct cmt_info *info = facts->info;
	struct finding *finding;

	if (info->backend == CMT_BACKEND_SOFTWARE) {
		judge_software(list, facts);
		return;
	}
	if (info->backend == CMT_BACKEND_EMULATED) {
		finding = add(list, "readings", FINDING_PROBLEM);
		say(finding, "EMULATED: they come from a model, nothing is measured");
		advise(finding, "Remove backend=emulated from /etc/modprobe.d and reload the "
		       "module");
		return;
	}
	say(add(list, "readings", FINDING_GOOD), "measured by the processor: %.*s",
	    (int)sizeof(info->reason), info->reason);
}

/* Without an assigned counter the bandwidth of an RMID is unknown. */
static void judge_assignable(struct list *list, uint32_t assignable)
{
	uint32_t all = CMT_ASSIGNABLE_ALL(assignable);
	uint32_t others = CMT_ASSIGNABLE_OTHERS(assignable);
	struct finding *finding;

	finding = add(list, "bandwidth", others < all ? FINDING_NOTE : FINDING_PROBLEM);
	say(finding, "AMD's assignable counters: %u in all, cmt has %u, others %u; an RMID "
	    "without a counter shows no bandwidth", all, CMT_ASSIGNABLE_OURS(assignable),
	    others);
	if (others)
		advise(finding, "Groups of resctrl hold the others: "
		       "umount /sys/fs/resctrl frees them, if nothing needs it");
}

static void judge_bandwidth(struct list *list, const struct cmt_info *info)
{
	if (info->backend != CMT_BACKEND_HARDWARE)
		return;
	if (info->assignable & CMT_ASSIGNABLE_ON)
		judge_assignable(list, info->assignable);
	else if (info->mbm_reason[0])
		say(add(list, "bandwidth", FINDING_NOTE), "%s: %.*s",
		    info->events & (CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL) ?
		    "not all of it is counted" : "not counted",
		    (int)sizeof(info->mbm_reason), info->mbm_reason);
	else
		say(add(list, "bandwidth", FINDING_GOOD), "counted for each RMID");
}

/* Without RDT, too. */
static void judge_waiting(struct list *list, const struct cmt_info *info)
{
	if (info->wait_reason[0])
		say(add(list, "waiting", FINDING_NOTE),
		    "what tasks wait for a CPU is not accounted: %.*s",
		    (int)sizeof(info->wait_reason), info->wait_reason);
	else
		say(add(list, "waiting", FINDING_GOOD),
		    "what tasks wait for a CPU is accounted for a tool that asks");
}

static void judge_rmids(struct list *list, const struct facts *facts)
{
	const struct cmt_stats *stats = &facts->stats;
	bool services = stats->pending && stats->pending <= facts->services_pending;
	struct finding *finding;

	finding = add(list, "RMIDs", services ? FINDING_NOTE :
		      stats->pending ? FINDING_PROBLEM : FINDING_GOOD);
	say(finding, "%u of %u in use, %u in limbo, %u pending owners share one",
	    stats->rmids_active, facts->info->rmids_usable, stats->rmids_limbo,
	    stats->pending);
	if (!stats->pending)
		return;
	if (services)
		advise(finding, "All are services. To leave services out: cmtctl scope container "
		       "-p PATTERNS, without ~*.service");
	else if (facts->scope == CMT_SCOPE_PROCESS || facts->scope == CMT_SCOPE_CPU)
		advise(finding, "One RMID for each container instead of each %s: "
		       "cmtctl scope container", scope_noun(facts->scope, 1));
	else if (facts->scope == CMT_SCOPE_MANUAL)
		advise(finding, "End attachments that do not matter: cmtctl show lists them, "
		       "cmtctl detach ends one");
	else
		advise(finding, "Match fewer containers (cmtctl scope container -p PATTERN), or "
		       "attach those that matter (cmtctl attach)");
}

/* Containers and services are found on the v2 hierarchy alone. */
static void judge_scope(struct list *list, const struct facts *facts)
{
	struct finding *finding;

	if (facts->scope != CMT_SCOPE_CONTAINER || facts->cgroups == CGROUPS_V2) {
		say(add(list, "scope", FINDING_GOOD), "%s", scope_name(facts->scope));
		return;
	}
	finding = add(list, "scope", facts->cgroups == CGROUPS_NONE ? FINDING_NOTE :
								    FINDING_PROBLEM);
	say(finding, "container, and the cgroup version here is %s: containers and services "
	    "below a cgroup of version 1 are not seen", cgroup_mode_name(facts->cgroups));
	advise(finding, "cmtctl scope process, or boot with systemd.unified_cgroup_hierarchy=1");
}

/* What is not in the rows of its owners: the work on CPUs, and in groups, of resctrl. */
static void judge_groups_beside(struct list *list, const struct facts *facts)
{
	uint32_t cpus = facts->stats.cpus_foreign;
	struct finding *finding;
	char text[BESIDE_TEXT_LEN];

	if (facts->groups_read && !cpus) {
		say(add(list, "resctrl", FINDING_NOTE),
		    "mounted: %u RMIDs are resctrl's; whether a group has tasks of several owners "
		    "is not known: %s", facts->stats.rmids_foreign, strerror(-facts->groups_read));
		return;
	}
	if (!facts->beside.any && !cpus) {
		say(add(list, "resctrl", FINDING_GOOD),
		    "mounted: %u RMIDs are resctrl's, and no group has tasks of several owners",
		    facts->stats.rmids_foreign);
		return;
	}
	finding = add(list, "resctrl", FINDING_NOTE);
	say(finding, "mounted: %u RMIDs are resctrl's, and %u CPUs are of its groups; %s: rows of "
	    "containers lack what runs there", facts->stats.rmids_foreign, cpus,
	    facts->beside.any ? beside_text(text, &facts->beside) : "no group is known");
	advise(finding, "cmtctl resctrl take counts it for cmt; resctrl's values of these "
	       "groups are wrong then");
}

/* A CPU's RMID that cmt did not load is then that of a program with access to MSRs. */
static void judge_unmounted(struct list *list, const struct facts *facts)
{
	uint32_t cpus = facts->stats.cpus_foreign;
	struct finding *finding;
	char text[BESIDE_TEXT_LEN];

	finding = add(list, "resctrl", cpus ? FINDING_NOTE : FINDING_GOOD);
	if (!cpus) {
		say(finding, "not mounted");
	} else if (facts->resctrl == CMT_RESCTRL_TAKE) {
		say(finding, "not mounted; cmt replaces the RMID that another program wrote on %u "
		    "CPUs: what that program shows is wrong", cpus);
		advise(finding, "cmtctl resctrl respect restores it");
	} else {
		say(finding, "not mounted; another program (pqos with MSRs?) wrote the RMID of %u "
		    "CPUs%s%s: rows of containers lack what runs there", cpus,
		    facts->beside.any ? "; " : "",
		    facts->beside.any ? beside_text(text, &facts->beside) : "");
		advise(finding, "cmtctl resctrl take counts it for cmt. If that program is gone, "
		       "pqos --iface=msr -r -t 1 removes its RMID");
	}
}

static void judge_resctrl(struct list *list, const struct facts *facts)
{
	struct finding *finding;

	if (!facts->mounted) {
		judge_unmounted(list, facts);
		return;
	}
	if (facts->resctrl != CMT_RESCTRL_TAKE) {
		judge_groups_beside(list, facts);
		return;
	}
	finding = add(list, "resctrl", FINDING_NOTE);
	say(finding, "mounted: cmt replaces the RMIDs of tasks in its groups; "
	    "resctrl's values of these groups are wrong");
	advise(finding, "cmtctl resctrl respect restores them");
}

/*
 * The command that makes the sampling interval @interval_ns, and the price of it for who has
 * verdicts now.
 */
static const char *interval_text(char buf[INTERVAL_LEN], const struct facts *facts,
				 uint64_t interval_ns)
{
	bool ends = facts->interval_ns <= WATCH_SLOT_NS && interval_ns > WATCH_SLOT_NS;

	snprintf(buf, INTERVAL_LEN, "cmtctl interval %gms%s", (double)interval_ns / 1e6,
		 ends ? "; above 1 ms there are no verdicts, incidents and slowdowns" : "");
	return buf;
}

/* Where the CPUs of an L3 share a register, and resctrl may read on any of them. */
static void judge_evtsel(struct list *list, const struct facts *facts)
{
	char text[INTERVAL_LEN];
	struct finding *finding;

	if (!facts->mounted || facts->info->evtsel != CMT_EVTSEL_EXPOSED)
		return;
	finding = add(list, "EVTSEL", FINDING_NOTE);
	say(finding, "the CPUs of an L3 share IA32_QM_EVTSEL, and this kernel's resctrl reads "
	    "on any of them: while cmt samples, a value in resctrl's files is now and then "
	    "that of another RMID; one of traffic that is smaller makes resctrl add 2^44 "
	    "units for good");
	advise(finding, "Linux 6.9 and newer read on one CPU of each L3, if one is without "
	       "nohz_full%s%s", facts->interval_ns < SELDOM_NS ? ". Less often wrong: " : "",
	       facts->interval_ns < SELDOM_NS ? interval_text(text, facts, SELDOM_NS) : "");
}

/* A client that finds this PMU does not ask resctrl. */
static void judge_intel_cqm(struct list *list, bool has_intel_cqm)
{
	struct finding *finding;

	if (!has_intel_cqm)
		return;
	finding = add(list, "perf", FINDING_NOTE);
	say(finding, "the PMU intel_cqm is registered: pqos reads processes there instead of in "
	    "resctrl; events of CPUs and cgroups are refused, because cmt's RMIDs follow "
	    "processes and what one CPU causes is not known");
	advise(finding, "For pqos -m remove intel_cqm=1 from /etc/modprobe.d and reload the "
	       "module; for events of an L3 or a cgroup use the PMU cmt");
}

/* The counters are by RMID: resctrl's groups have RMIDs, and cmt's RMIDs have no group. */
static void judge_telemetry(struct list *list, const struct facts *facts)
{
	struct finding *finding;

	if (!facts->has_telemetry)
		return;
	finding = add(list, "telemetry", FINDING_NOTE);
	if (facts->resctrl == CMT_RESCTRL_TAKE) {
		say(finding, "resctrl counts energy by RMID (AET): wrong for its groups "
		    "while cmt replaces the RMIDs of their tasks");
		advise(finding, "cmtctl resctrl respect restores them");
		return;
	}
	say(finding, "resctrl counts energy by RMID (AET): right for its groups; its "
	    "default group lacks the tasks with an RMID of cmt");
}

/* With PLZA, the kernel's work for a container is not in the container's row. */
static void judge_kernel(struct list *list, const struct cmt_info *info)
{
	uint32_t rmid = CMT_PLZA_RMID(info->plza);
	struct finding *finding;

	if (!(info->plza & CMT_PLZA_ON))
		return;
	finding = add(list, "kernel", FINDING_NOTE);
	if (!(info->plza & CMT_PLZA_HAS_RMID))
		say(finding, "AMD's PLZA is on without an RMID: the kernel's work counts for "
		    "the running task");
	else if (rmid && rmid < info->nr_rmids)
		say(finding, "AMD's PLZA is on: the kernel's work counts under RMID %u, as "
		    "the owner kernel, and not for the running task", rmid);
	else
		say(finding, "AMD's PLZA is on: the kernel's work counts under RMID %u, "
		    "which has no owner", rmid);
}

/* The module had no memory for these CPUs, or their L3s are beyond its table. */
static void judge_unread(struct list *list, const struct cmt_stats *stats)
{
	struct finding *finding;

	if (!stats->cpus_unread)
		return;
	finding = add(list, "CPUs", FINDING_PROBLEM);
	say(finding, "CPUs online and not sampled: %u, whose L3 domain is beyond the 64 that "
	    "cmt reads, or for which memory was short: tasks there are not counted",
	    stats->cpus_unread);
	advise(finding, "The kernel's log says which. Take a CPU that found no memory offline and "
	       "online again; keep what is to be measured on the other CPUs, with a cpuset or "
	       "taskset");
}

static void judge_ticks(struct list *list, const struct facts *facts)
{
	const struct cmt_stats *stats = &facts->stats;
	char text[INTERVAL_LEN];
	uint64_t longer_ns = 2ULL * facts->interval_ns;
	bool late = stats->missed > stats->ticks / FEW;
	struct finding *finding = add(list, "ticks", late ? FINDING_PROBLEM : FINDING_GOOD);

	say(finding, "%" PRIu64 " since the module was loaded, %" PRIu64 " missed",
	    (uint64_t)stats->ticks, (uint64_t)stats->missed);
	if (late && longer_ns <= facts->info->interval_max_ns)
		advise(finding, "A longer sampling interval is met more often: %s",
		       interval_text(text, facts, longer_ns));
}

static void judge_failures(struct list *list, const struct facts *facts)
{
	const struct cmt_stats *stats = &facts->stats;
	uint64_t failed = stats->read_errors + stats->read_unavailable;
	bool many = failed > stats->samples / FEW;
	struct finding *finding = add(list, "failures", many ? FINDING_PROBLEM :
				      stats->pqr_overwritten ? FINDING_NOTE : FINDING_GOOD);

	say(finding, "of %" PRIu64 " samples the processor answered %" PRIu64 " with Error, %"
	    PRIu64 " with Unavailable; owners ran with another agent's RMID %" PRIu64 " times",
	    (uint64_t)stats->samples, (uint64_t)stats->read_errors,
	    (uint64_t)stats->read_unavailable, (uint64_t)stats->pqr_overwritten);
	if (many)
		advise(finding, "cmtctl selftest shows which readings are right. Unavailable has "
		       "an RMID without a counter, as on AMD: fewer owners need fewer RMIDs");
	/* which agent does so now is the finding about resctrl */
}

unsigned int findings_make(const struct facts *facts, struct finding *findings)
{
	struct list list = { .findings = findings };

	if (facts->opened) {
		judge_open(&list, facts);
		judge_processor(&list, &facts->processor);
		judge_groups(&list, facts->has_groups);
		return list.nr;
	}
	judge_module(&list, facts->info);
	judge_readings(&list, facts);
	judge_bandwidth(&list, facts->info);
	judge_waiting(&list, facts->info);
	judge_rmids(&list, facts);
	judge_scope(&list, facts);
	judge_resctrl(&list, facts);
	judge_evtsel(&list, facts);
	judge_intel_cqm(&list, facts->has_intel_cqm);
	judge_telemetry(&list, facts);
	judge_kernel(&list, facts->info);
	judge_unread(&list, &facts->stats);
	judge_ticks(&list, facts);
	judge_failures(&list, facts);
	return list.nr;
}
