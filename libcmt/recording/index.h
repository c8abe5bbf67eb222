/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The positions of chunks, as in an INDEX chunk. */
#ifndef LIBCMT_REC_INDEX_H
#define LIBCMT_REC_INDEX_H

#include <cmt/recording.h>

#include "bytes.h"

#define REC_PLACES_MAX	(1U << 18)	/* in an INDEX chunk, at most */

void rec_index_put(const struct cmt_chunk_place *places, uint32_t n,
		   struct rec_buffer *out);

/*
 * @places: @n elements, free with free().  The chunks are adjacent, begin at the begin
 * of the file, and end within its @bytes.  Returns 0, -ENOMEM or -EBADMSG.
 */
int rec_index_get(struct rec_cursor *in, uint64_t bytes, struct cmt_chunk_place **places,
		  uint32_t *n);

#endif
