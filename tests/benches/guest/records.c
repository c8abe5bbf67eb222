// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader's part of the contract in uapi/cmt.h, for one ring and one CPU.  The
 * writer interrupts the reader, so the reader never runs during a write.
 */
#include <sys/mman.h>

#include "bench.h"

void records_open_of(struct records *records, int fd, const struct cmt_info *info,
		     unsigned int cpu)
{
	void *map = mmap(NULL, info->ring_bytes, PROT_READ, MAP_SHARED, fd,
			 (off_t)cpu * info->ring_bytes);

	if (map == MAP_FAILED)
		die_errno("mmap");
	records->header = map;
	records->bytes = info->ring_bytes;
	records->values = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	records_drop(records);
}

void records_open(struct records *records, int fd, const struct cmt_info *info)
{
	records_open_of(records, fd, info, 0);
}

void records_close(struct records *records)
{
	munmap((void *)records->header, records->bytes);
}

void records_drop(struct records *records)
{
	records->pos = records->header->head;
}

bool records_next(struct records *records, struct cmt_record *record)
{
	const struct cmt_ring_header *header = records->header;
	const struct cmt_record *slots =
		(const void *)((const char *)header + header->data_offset);
	uint64_t head = __atomic_load_n(&header->head, __ATOMIC_ACQUIRE);

	if (records->pos == head)
		return false;
	*record = slots[records->pos & (header->records - 1)];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	head = __atomic_load_n(&header->head, __ATOMIC_RELAXED);
	if (head - records->pos >= header->records)
		die("records were overwritten before they were read");
	records->pos++;
	return true;
}
