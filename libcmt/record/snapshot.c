// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record.h"

#include <stdlib.h>

/* More than any module has owners; in bytes, it fits 32 bits. */
#define RECORDS_MAX	(16U << 20)

/* One piece of memory: the structure, then its records. */
struct block {
	struct cmt_snapshot snapshot;
	struct cmt_record records[];
};

struct cmt_snapshot *cmt_snapshot_alloc(uint32_t room)
{
	struct block *block = calloc(1, sizeof(*block) + (size_t)room *
					sizeof(block->records[0]));

	if (!block)
		return NULL;
	block->snapshot.entry_size = sizeof(block->records[0]);
	block->snapshot.records = block->records;
	return &block->snapshot;
}

int cmt_snapshot_new(struct cmt_snapshot **snapshot, uint64_t as_of,
		     const struct cmt_record *records, uint32_t count)
{
	struct cmt_snapshot *s;

	if (count > RECORDS_MAX)
		return -EINVAL;
	s = cmt_snapshot_alloc(count);
	if (!s)
		return -ENOMEM;
	s->as_of = as_of;
	s->count = count;
	if (records && count)
		memcpy(s->records, records, count * sizeof(*records));
	*snapshot = s;
	return 0;
}

void cmt_snapshot_free(struct cmt_snapshot *snapshot)
{
	free(snapshot);
}
