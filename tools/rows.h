/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of rows, and which rows are shown in what order.  Pure. */
#ifndef TOOLS_ROWS_H
#define TOOLS_ROWS_H

#include "aggregate.h"

enum sort_key {
	SORT_DEFAULT,	/* occupancy; number for CPUs and domains */
	SORT_OCCUPANCY,
	SORT_TOTAL,
	SORT_LOCAL,
	SORT_NAME,
	SORT_NUMBER,	/* PID, CPU or domain */
	SORT_RMIDS,
	SORT_BUSY,
};

/* "docker:web", "cgroup:4711" and so on; raw bytes, at most this long. */
#define CONTAINER_LABEL_LEN (CMT_CONTAINER_NAME_LEN + 16)

const char *container_label(char buf[CONTAINER_LABEL_LEN],
			    const struct row *row);

/* "process", "cgroup", "cpu", "rest", "unknown" or "nobody" */
const char *row_kind(const struct row *row);

/* Who a row is of, with the name from @containers (NULL: there are none). */
void row_owner(struct row *row, const struct cmt_owner *owner,
	       struct cmt_containers *containers);

/* "process", "container", "cpu", "manual" or "unknown", of CMT_SCOPE_* */
const char *scope_name(uint32_t scope);

/* What @nr things of a scope are called: "containers", "CPU" and so on. */
const char *scope_noun(uint32_t scope, uint64_t nr);

/* 0 or -EINVAL. */
int scope_parse(const char *name, uint32_t *scope);

/* 0 or -EINVAL. */
int sort_key_parse(const char *name, enum sort_key *key);

struct selection {
	enum sort_key key;
	const char *filter;	/* a glob; NULL: all */
	uint32_t top;		/* 0: all */
	bool expand;		/* children behind their rows */
};

/*
 * Keep the rows whose name matches, in order of the key, at most so many of
 * them.  Those without an RMID and what belongs to nobody come last and do not
 * count; nor do children, which go with their row.
 */
void rows_select(struct frame *frame, const struct selection *selection);

#endif
