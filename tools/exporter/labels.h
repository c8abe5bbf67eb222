/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels as both text formats write them: NAME="VALUE",NAME="VALUE".
 *
 * Values are text that users of the machine can choose.  They are written as valid
 * UTF-8 without control characters, and cut to LABEL_VALUE_MAX bytes.
 */
#ifndef EXPORTER_LABELS_H
#define EXPORTER_LABELS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABEL_VALUE_MAX 480	/* bytes of a value before they are escaped */
/* A byte takes at most 5: \\xff. */
#define LABELS_MAX (8 * (5 * LABEL_VALUE_MAX + 64))

struct labels {
	size_t len;
	char text[LABELS_MAX];	/* terminated */
};

/* Append a label, unless the value is "".  @len: bytes of @value. */
void labels_add(struct labels *labels, const char *name, const char *value,
		size_t len);

/*
 * Who the row is of.  Of two rows that have the same labels one series is made; the
 * label id, the path of the cgroup, is there to make that rare.
 */
void labels_of_row(struct labels *labels, const struct cmt_usage_row *row);

/* What else is known of the container; false: nothing. */
bool labels_of_info(struct labels *labels, const struct cmt_usage_row *row);

#endif
