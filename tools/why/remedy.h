/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the administrator of this machine can do about a neighbour: commands, which are shown
 * and never run.  Nothing that the machine cannot do.
 */
#ifndef TOOLS_REMEDY_H
#define TOOLS_REMEDY_H

#include <cmt/culprit.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/cgroups.h"
#include "idle_domain.h"

struct remedy_machine {
	char cgroups[PATH_MAX];	/* where cgroup v2 is mounted; "": nowhere */
	bool mounted;		/* resctrl is */
	uint32_t ways;		/* of an L3 cache, that a resctrl group can have; 0: none can */
	uint32_t ways_least;	/* in a mask */
	uint32_t percent_least;	/* of the bandwidth of memory; 0: there is no limit of it */
};

/* From /sys, /proc and CPUID.  What cannot be read is what the machine cannot do. */
void remedy_machine_read(struct remedy_machine *machine);

/* A neighbour, and what it takes */
struct remedy_case {
	const char *label;	/* raw bytes */
	const char *path;	/* of its cgroup; NULL: none */
	enum cmt_slowdown_resource resource;
	uint32_t domain;
	uint64_t held_bytes, l3_bytes;	/* of the cache; 0: not known */
	uint32_t weight;	/* its cpu.weight; 0: not known */
	const struct idle_domain *idle;	/* has less to do than @domain; NULL: none */
};

#define REMEDY_WHAT_LEN	160
#define REMEDY_DO_LEN	2048

struct remedy {
	char what[REMEDY_WHAT_LEN];
	char commands[REMEDY_DO_LEN];	/* for a shell of root's */
};

/* Returns false: nothing is known that would help. */
bool remedy_for(const struct remedy_machine *machine, const struct remedy_case *of,
		struct remedy *remedy);

/* To the CPUs of that other L3 domain, if its cgroup can have them.  Returns as remedy_for(). */
bool remedy_move(const struct remedy_machine *machine, const struct remedy_case *of,
		 struct remedy *remedy);

/* The cpu.weight of a cgroup; 0: not known */
uint32_t remedy_weight(const struct remedy_machine *machine, const char *path);

#endif
