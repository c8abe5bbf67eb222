// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fields.h"
#include "common/format.h"
#include "findings.h"

static const char *const state_words[] = {
	[FINDING_GOOD] = "good",
	[FINDING_NOTE] = "note",
	[FINDING_PROBLEM] = "problem",
};

/* Pending services are no problem: they are of the lower class. */
static uint32_t services_pending(const struct ctl *ctl)
{
	struct cmt_owner owner = { .sz = sizeof(owner) };
	struct cmt_snapshot *pending;
	uint32_t i, n = 0;

	if (cmt_device_pending(ctl->dev, &pending))
		return 0;
	for (i = 0; i < pending->count; i++)
		n += !cmt_record_owner(cmt_snapshot_at(pending, i), &owner) &&
		     owner.service && !owner.attached;
	cmt_snapshot_free(pending);
	return n;
}

/*
 * Groups of resctrl, and the programs that wrote the RMID of a CPU themselves.  Groups whose
 * tasks are all one owner's are in the row of that owner.
 */
static void find_groups(const struct ctl *ctl, struct facts *facts)
{
	const struct cmt_containers_opts opts = {
		.sz = sizeof(opts), .device = ctl->dev, .flags = CMT_CONTAINERS_NO_PAUSE,
	};
	struct cmt_owner owner = { .sz = sizeof(owner) };
	struct cmt_containers *containers = NULL;
	struct cmt_snapshot *owners = NULL;
	struct row row;

	facts->groups_read = cmt_device_snapshot(ctl->dev, &owners);
	if (facts->groups_read)
		return;
	/* without names there is still the number of groups */
	if (cmt_containers_new(&containers, &opts))
		containers = NULL;
	for (uint32_t i = 0; i < owners->count; i++) {
		if (cmt_record_owner(cmt_snapshot_at(owners, i), &owner) ||
		    (!owner.group_tid && owner.group_cpu == CMT_GROUP_NO_CPU))
			continue;
		row_owner(&row, &owner, containers);
		beside_add(&facts->beside, &row);
	}
	cmt_snapshot_free(owners);
	cmt_containers_free(containers);
}

static int ask_module(const struct ctl *ctl, struct facts *facts, const char **what)
{
	int ret;

	facts->info = cmt_device_info(ctl->dev);
	facts->stats.size = sizeof(facts->stats);
	*what = "cannot read the statistics";
	ret = cmt_device_stats(ctl->dev, &facts->stats);
	if (!ret) {
		*what = "cannot read the scope";
		ret = cmt_device_scope(ctl->dev, &facts->scope);
	}
	if (!ret) {
		*what = "cannot read the interval";
		ret = cmt_device_interval(ctl->dev, &facts->interval_ns);
	}
	if (!ret) {
		*what = "cannot read the resctrl mode";
		ret = cmt_device_resctrl(ctl->dev, &facts->resctrl, &facts->mounted);
	}
	if (!ret && (facts->mounted || facts->stats.cpus_foreign))
		find_groups(ctl, facts);
	if (!ret && facts->stats.pending && facts->scope == CMT_SCOPE_CONTAINER)
		facts->services_pending = services_pending(ctl);
	return ret;
}

static int print_json(const struct finding *finding)
{
	struct fields fields;
	int ret = fields_begin(&fields, true);

	if (ret)
		return ret;
	fields_text(&fields, "about", finding->about);
	fields_text(&fields, "state", state_words[finding->state]);
	fields_text(&fields, "finding", finding->what);
	fields_text(&fields, "remedy", finding->todo[0] ? finding->todo : NULL);
	return fields_end(&fields);
}

static void print_text(const struct finding *finding)
{
	char text[4 * sizeof(finding->what)];

	escape_text(text, sizeof(text), finding->what, ESCAPE_ASCII);
	printf("%-8s %-10s %s\n", state_words[finding->state], finding->about, text);
	if (!finding->todo[0])
		return;
	escape_text(text, sizeof(text), finding->todo, ESCAPE_ASCII);
	printf("%-19s %s\n", "", text);
}

static int print(const struct ctl *ctl, const struct finding *findings, unsigned int nr)
{
	unsigned int problems = 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++) {
		problems += findings[i].state == FINDING_PROBLEM;
		if (ctl->json)
			ret = print_json(&findings[i]);
		else
			print_text(&findings[i]);
	}
	return ret ? ret : problems ? EXIT_RUNTIME : 0;
}

int ctl_doctor(const struct ctl *ctl, const char **what)
{
	struct facts facts = { .opened = ctl->opened };
	struct finding findings[MAX_FINDINGS];
	struct cgroup_mount mount;
	int ret = 0;

	facts.path = ctl->config->device ? ctl->config->device : CMT_DEVICE_PATH;
	processor_read(&facts.processor);
	cgroup_find(&mount);
	facts.cgroups = mount.mode;
	facts.has_groups = !access("/sys/fs/resctrl/mon_data", F_OK);
	facts.has_telemetry = !access("/sys/fs/resctrl/info/PERF_PKG_MON", F_OK);
	facts.has_intel_cqm = !access("/sys/bus/event_source/devices/intel_cqm", F_OK);
	if (!facts.opened)
		ret = ask_module(ctl, &facts, what);
	if (ret)
		return ret;
	*what = "cannot print";
	return print(ctl, findings, findings_make(&facts, findings));
}
