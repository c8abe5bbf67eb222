/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where chunks are, as an INDEX chunk has it. */
#ifndef LIBCMT_REC_INDEX_H
#define LIBCMT_REC_INDEX_H

#include <cmt/recording.h>

#include "rec_bytes.h"

#define REC_PLACES_MAX	(1U << 18)	/* in an INDEX chunk */

void rec_index_put(const struct cmt_chunk_place *places, uint32_t n,
		   struct rec_buffer *out);

/*
 * @places: @n of them, to be freed.  They follow each other from the begin of a file of
 * @bytes on, and are all in it.  Returns 0, -ENOMEM or -EBADMSG.
 */
int rec_index_get(struct rec_cursor *in, uint64_t bytes, struct cmt_chunk_place **places,
		  uint32_t *n);

#endif
