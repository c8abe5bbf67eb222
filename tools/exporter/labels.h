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

/* Who stands for all that have no series of their own. */
#define LABEL_OTHERS "(others)"
#define LABEL_VALUE_MAX 480	/* bytes of a value before they are escaped */
/* A byte takes at most 5: \\xff. */
#define LABELS_MAX (10 * (5 * LABEL_VALUE_MAX + 64))

struct labels {
	size_t len;
	char text[LABELS_MAX];	/* terminated */
};

/*
 * Append a label, unless the value is "".  @len: bytes of @value, which is terminated
 * there or later.
 */
void labels_add(struct labels *labels, const char *name, const char *value,
		size_t len);

/*
 * Who the row is of.  Of two rows that have the same labels one series is made; the
 * label id, the path of the cgroup, is there to make that rare.
 */
void labels_of_row(struct labels *labels, const struct cmt_usage_row *row,
		   bool emulated);

/* What else is known of the container; false: nothing. */
bool labels_of_info(struct labels *labels, const struct cmt_usage_row *row,
		    bool emulated);

/*
 * Append who the row is of, in labels that begin with @prefix, such as victim_id,
 * victim, victim_pod and victim_namespace.
 */
void labels_of_party(struct labels *labels, const char *prefix,
		     const struct cmt_usage_row *row);

/* For values of a model: no query takes them for measured ones unseen. */
void labels_emulated(struct labels *labels, bool emulated);

uint64_t labels_hash(const char *text, size_t len);

#endif
