// SPDX-License-Identifier: LGPL-2.1-or-later
/* A ring that this process writes, as the module writes its own. */
#include "ring.h"

#include "barrier.h"

void cmt_ring_begin(struct cmt_ring_header *header, const struct cmt_info *info,
		    uint32_t cpu, uint32_t state)
{
	*header = (struct cmt_ring_header){
		.magic = CMT_RING_MAGIC,
		.abi_version = info->abi_version,
		.instance = info->instance,
		.cpu = cpu,
		.records = info->ring_records,
		.record_bytes = sizeof(struct cmt_record),
		.data_offset = CMT_RING_DATA_OFFSET,
		.state = state,
	};
}

void cmt_ring_put(struct cmt_ring_header *header, const struct cmt_record *record)
{
	char *data = (char *)header + header->data_offset;
	uint64_t head = header->head;

	((struct cmt_record *)(void *)data)[head & (header->records - 1)] = *record;
	cmt_store_release64(&header->head, head + 1);
}
