/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The groups of resctrl, and the other agents, that count work of cmt's owners.  Pure. */
#ifndef TOOLS_BESIDE_H
#define TOOLS_BESIDE_H

#include "rows.h"

struct beside {
	uint32_t groups;	/* whose name or a CPU of which is known */
	/* One of them: the first with a CPU, or else the first with a name, or else any */
	bool any;
	bool named;
	bool has_cpu;
	uint32_t cpu;		/* of the group */
	uint32_t rmid;
	char name[CMT_CONTAINER_NAME_LEN];
	/* Rows of owners of whose work another RMID counts a part, and the first one's name */
	uint32_t incomplete;
	char first[CONTAINER_LABEL_LEN];	/* raw bytes */
};

/* Add a row: a group, an incomplete one, or neither. */
void beside_add(struct beside *beside, const struct row *row);
void beside_add_frame(struct beside *beside, const struct frame *frame);

/* Who counts work of cmt's owners: "CPU 1 is of resctrl group mon_groups/x". */
#define BESIDE_TEXT_LEN (CMT_CONTAINER_NAME_LEN + 96)
const char *beside_text(char buf[BESIDE_TEXT_LEN], const struct beside *beside);

/* What to do about that, after such a text; "": nothing. */
const char *beside_remedy(const struct beside *beside);

#endif
