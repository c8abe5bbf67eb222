/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The findings of cmtctl doctor, from the facts */
#ifndef TOOLS_FINDINGS_H
#define TOOLS_FINDINGS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/beside.h"
#include "common/cgroups.h"
#include "processor.h"

enum finding_state {
	FINDING_GOOD,
	FINDING_NOTE,		/* works, and may be unexpected */
	FINDING_PROBLEM,
};

struct finding {
	const char *about;
	enum finding_state state;
	char what[320];		/* the module's texts in it are raw bytes */
	char todo[320];		/* empty: nothing */
};

struct facts {
	int opened;		/* 0, or -errno of cmt_device_open() */
	const char *path;	/* of the device */
	struct processor_facts processor;
	bool has_groups;	/* resctrl is mounted and monitors */
	bool has_telemetry;	/* Intel's AET, which is resctrl's */
	bool has_intel_cqm;	/* the perf PMU of this name */
	/* The following members only where opened is 0. */
	const struct cmt_info *info;
	struct cmt_stats stats;
	uint32_t interval_ns;	/* of sampling, now */
	uint32_t services_pending;	/* of stats.pending */
	uint32_t scope;		/* CMT_SCOPE_* */
	enum cgroup_mode cgroups;	/* where containers are looked for */
	uint32_t resctrl;	/* CMT_RESCTRL_* */
	bool mounted;
	int groups_read;	/* 0, or -errno: beside is not known */
	struct beside beside;	/* groups of resctrl with tasks of several owners or a CPU */
};

#define MAX_FINDINGS	14U

/* Fills @findings, most basic first.  Returns how many, MAX_FINDINGS at most. */
unsigned int findings_make(const struct facts *facts, struct finding *findings);

#endif
