/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records to columns of small numbers, and back, without a loss: docs/recording.md has
 * the layout.  Each member of a record is told as the difference from what a model
 * expects; the model is the same on both sides, and begins anew with each chunk.
 */
#ifndef LIBCMT_REC_COLUMNS_H
#define LIBCMT_REC_COLUMNS_H

#include <cmt/device.h>

#include "rec_bytes.h"
#include "rec_chunk.h"

#define REC_RECORDS_MAX	131072U	/* in a chunk */

struct rec_model;

/* What a model needs is some MiB; one serves all chunks.  NULL: no memory. */
struct rec_model *rec_model_new(void);
void rec_model_free(struct rec_model *model);

/*
 * Put @n records, at most REC_RECORDS_MAX, to @out.  @unit_bytes: of the counters, 0: not
 * known.
 * @cuts: filled in.  Returns 0 or -ENOMEM; then @out has a part of them.
 */
int rec_columns_encode(struct rec_model *model, const struct cmt_record *records,
		       uint32_t n, uint32_t unit_bytes, struct rec_buffer *out,
		       struct rec_cuts *cuts);

/*
 * All that is left at @in is @n records.  Returns 0, -ENOMEM or -EBADMSG.
 */
int rec_columns_decode(struct rec_model *model, struct rec_cursor *in,
		       struct cmt_record *records, uint32_t n);

#endif
