/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of each container, from frames by container with CMT_USAGE_CHILDREN. */
#ifndef REPORT_PROCESSES_H
#define REPORT_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include <cmt/cmt.h>

#include "common/keys.h"

struct model;

#define PROCESSES_SHOWN	20U	/* of a container: those with the greatest occupancy, */
#define PROCESSES_MOST	200000U	/* of this number that are followed */

/* A process with a dedicated RMID in a container */
struct process {
	uint32_t member;
	uint32_t pid;
	char comm[CMT_COMM_LEN + 1];	/* raw bytes */
	uint64_t first_ns, last_ns;	/* of its frames: the first's begin, the last's end */
	uint64_t most;		/* bytes */
	double held;		/* bytes times slots, over: */
	double slots;
	double moved, local;	/* bytes, over ns: */
	double moved_ns, local_ns;
	bool partial;		/* some of these values are lower bounds */
};

struct processes {
	struct model *model;	/* the members of the processes */
	struct keys keys;	/* of struct process */
	uint64_t left_out;	/* rows of processes that there was no room for */
};

void processes_init(struct processes *processes, struct model *model);
void processes_free(struct processes *processes);

/* Returns 0 or -ENOMEM. */
int processes_add(struct processes *processes, const struct cmt_usage_frame *frame);

/* Give each member its own.  Returns 0 or -ENOMEM. */
int processes_finish(struct processes *processes);

#endif
