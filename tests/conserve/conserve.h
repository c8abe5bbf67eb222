/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings in a shared file: writer.c is the module's writer of all of them, readers.c
 * has the readers, each a process, with libcmt's reader.  live.c is the writer for the
 * programs: device.c has them take the file for the device, account.c counts what a
 * recording has.
 */
#ifndef CONSERVE_H
#define CONSERVE_H

#include <stdint.h>
#include <string.h>

#include "uapi/cmt.h"

#define NR_RINGS	8
#define RING_RECORDS	4096U
#define RING_BYTES	(CMT_RING_DATA_OFFSET + RING_RECORDS * sizeof(struct cmt_record))
#define INSTANCE	0x1122334455667788ULL

#define LIVE_RMID	1	/* of the records of live.c */
#define LIVE_CGROUP	7001	/* their owner */

/* What record @index of ring @cpu is: every word but the first depends on both. */
static inline void record_make(struct cmt_record *record, uint16_t cpu, uint64_t index)
{
	uint64_t words[sizeof(*record) / 8];
	unsigned int i;

	words[0] = index;
	for (i = 1; i < sizeof(*record) / 8; i++)
		words[i] = (index + 1 + ((uint64_t)cpu << 48)) *
			   0x9e3779b97f4a7c15ULL + i;
	memcpy(record, words, sizeof(*record));
	record->cpu = cpu;
}

/* Headers of all rings, with no record, at @at. */
void prepare_rings(char *at);
/* Write @each records to each of them.  Returns 0, or 1 where there is no thread. */
int write_rings(uint64_t each);

#endif
