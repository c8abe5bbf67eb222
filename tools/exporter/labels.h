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

/* The row for all containers without a series */
#define LABEL_OTHERS "(others)"
/* Of a pair, where it is not known who that was */
#define LABEL_UNKNOWN "(unknown)"
#define LABEL_VALUE_MAX 480	/* bytes of a value as it is written, without its hash */
#define LABELS_MAX (10 * (LABEL_VALUE_MAX + 64))

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
 * The labels of a row.  Two rows with equal labels become one series; the label id, the
 * path of the cgroup, makes this rare.
 */
void labels_of_row(struct labels *labels, const struct cmt_usage_row *row,
		   bool emulated);

/* Further labels of the container.  False: there are none. */
bool labels_of_info(struct labels *labels, const struct cmt_usage_row *row,
		    bool emulated);

/*
 * Append the labels of a row, with names that begin with @prefix, such as victim_id,
 * victim, victim_pod and victim_namespace.
 */
void labels_of_party(struct labels *labels, const char *prefix,
		     const struct cmt_usage_row *row);

/* For values of a model: no query takes them for measured ones unseen. */
void labels_emulated(struct labels *labels, bool emulated);

uint64_t labels_hash(const char *text, size_t len);

#endif
