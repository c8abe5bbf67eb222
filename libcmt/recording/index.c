// SPDX-License-Identifier: LGPL-2.1-or-later
#include "index.h"

#include <errno.h>
#include <stdlib.h>

#include "chunk.h"

#define PLACE_LEAST	7U	/* bytes of a place, at least */

void rec_index_put(const struct cmt_chunk_place *places, uint32_t n,
		   struct rec_buffer *out)
{
	uint64_t sequence = 0, ns = 0;

	rec_put_varint(out, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct cmt_chunk_place *p = &places[i];
		uint64_t first_ns = p->first_ns;

		/* a difference of 0 is that there is no time */
		first_ns += first_ns && first_ns == ns;
		rec_put_varint(out, p->nr_bytes);
		rec_put_varint(out, p->kind);
		rec_put_varint(out, p->flags);
		rec_put_varint(out, p->records);
		rec_put_varint(out, p->sequence ? p->sequence - sequence : 0);
		rec_put_varint(out, first_ns ? first_ns - ns : 0);
		rec_put_varint(out, p->last_ns - first_ns);
		sequence = p->sequence ? p->sequence : sequence;
		ns = first_ns ? first_ns : ns;
	}
}

static void get_place(struct rec_cursor *in, struct cmt_chunk_place *p,
		      uint64_t *sequence, uint64_t *ns)
{
	uint64_t d;

	p->nr_bytes = (uint32_t)rec_get_varint(in);
	p->kind = (uint32_t)rec_get_varint(in);
	p->flags = (uint32_t)rec_get_varint(in);
	p->records = (uint32_t)rec_get_varint(in);
	d = rec_get_varint(in);
	p->sequence = d ? *sequence + d : 0;
	*sequence += d;
	d = rec_get_varint(in);
	p->first_ns = d ? *ns + d : 0;
	*ns += d;
	p->last_ns = p->first_ns + rec_get_varint(in);
}

int rec_index_get(struct rec_cursor *in, uint64_t bytes, struct cmt_chunk_place **places,
		  uint32_t *n)
{
	uint64_t sequence = 0, ns = 0, offset = 0;
	struct cmt_chunk_place *all;

	*n = rec_get_count(in, PLACE_LEAST);
	all = *n <= REC_PLACES_MAX ? calloc(*n + 1ULL, sizeof(*all)) : NULL;
	if (!all)
		return *n <= REC_PLACES_MAX ? -ENOMEM : -EBADMSG;
	for (uint32_t i = 0; i < *n && !in->bad; i++) {
		all[i].offset = offset;
		get_place(in, &all[i], &sequence, &ns);
		in->bad |= all[i].nr_bytes < REC_HEADER ||
			   all[i].nr_bytes > bytes - offset;
		offset += all[i].nr_bytes;
	}
	if (in->bad) {
		free(all);
		return -EBADMSG;
	}
	*places = all;
	return 0;
}
