/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lossless conversion of records to columns of small numbers, and back:
 * docs/recording.md has the layout.  Each member of a record is stored as the
 * difference from the value that a model predicts.  The model is the same on both
 * sides, and begins anew with each chunk.
 */
#ifndef LIBCMT_REC_COLUMNS_H
#define LIBCMT_REC_COLUMNS_H

#include <cmt/device.h>

#include "bytes.h"
#include "chunk.h"

#define REC_RECORDS_MAX	131072U	/* records in a chunk, at most */

struct rec_model;

/* A model has some MiB, and serves any number of chunks.  NULL: no memory. */
struct rec_model *rec_model_new(void);
void rec_model_free(struct rec_model *model);

/*
 * Append @n records, at most REC_RECORDS_MAX, to @out.  @unit_bytes: unit of the
 * counters; if not known, it is 0.  @cuts: filled in.  Returns 0, or -ENOMEM: @out has
 * a part of the records.
 */
int rec_columns_encode(struct rec_model *model, const struct cmt_record *records,
		       uint32_t n, uint32_t unit_bytes, struct rec_buffer *out,
		       struct rec_cuts *cuts);

/* Decode @n records from the rest of @in.  Returns 0, -ENOMEM or -EBADMSG. */
int rec_columns_decode(struct rec_model *model, struct rec_cursor *in,
		       struct cmt_record *records, uint32_t n);

#endif
