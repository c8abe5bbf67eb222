/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of owners in what --why says. */
#ifndef TOOLS_WHY_NAMES_H
#define TOOLS_WHY_NAMES_H

#include "common/rows.h"

struct why_name {
	char label[CONTAINER_LABEL_LEN];	/* raw bytes */
	const char *path;	/* of its cgroup; NULL: none, or not known */
};

struct why_names {
	struct why_name victim;
	struct why_name suspects[CMT_CULPRIT_SUSPECTS];
};

#endif
