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

/* 0 or -EINVAL. */
int sort_key_parse(const char *name, enum sort_key *key);

/*
 * Keep the rows whose name matches @filter (a glob; NULL: all), in order of
 * @key, at most @top of them (0: all).  What belongs to nobody comes last and
 * does not count for @top.
 */
void rows_select(struct frame *frame, enum sort_key key, const char *filter,
		 uint32_t top);

#endif
