// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read a ring as hexadecimal bytes, the header's first 128 and then the slots, and
 * print what a reader at position 0 finds: docs/abi.md shows both.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "uapi/cmt.h"

#define SLOTS_MAX 16

struct image {
	struct cmt_ring_header header;
	struct cmt_record slots[SLOTS_MAX];
};

static size_t read_image(unsigned char *bytes, size_t room)
{
	unsigned int byte;
	size_t n = 0;

	while (n < room && scanf("%2x", &byte) == 1)
		bytes[n++] = (unsigned char)byte;
	return n;
}

static void print_record(uint64_t position, const struct cmt_record *r)
{
	printf("%" PRIu64 ": ts=%" PRIu64 " cpu=%u flags=0x%x rmid=%u generation=%u domain=%u",
	       position, (uint64_t)r->ts, r->cpu, r->flags, r->rmid, r->generation,
	       r->domain);
	switch (r->type) {
	case CMT_REC_ALLOC:
		printf(" ALLOC tgid=%u cgroup_id=%" PRIu64 " comm=%.*s\n", r->tgid,
		       (uint64_t)r->owner.cgroup_id, CMT_COMM_LEN, r->owner.comm);
		break;
	case CMT_REC_SAMPLE:
		printf(" SAMPLE occupancy_bytes=%" PRIu64 " mbm_total_bytes=%" PRIu64
		       " mbm_local_bytes=%" PRIu64 "\n",
		       (uint64_t)r->sample.occupancy_bytes,
		       (uint64_t)r->sample.mbm_total_bytes,
		       (uint64_t)r->sample.mbm_local_bytes);
		break;
	case CMT_REC_TICK:
		printf(" TICK interval_ns=%u read=%u waiting=%u\n", r->interval_ns,
		       r->tick.read, r->tick.waiting);
		break;
	default:
		printf(" type=%u\n", r->type);
	}
}

int main(void)
{
	static struct image image;
	size_t n = read_image((unsigned char *)&image, sizeof(image));
	const struct cmt_ring_header *h = &image.header;
	uint64_t position, lost = 0;

	if (n < sizeof(*h) || h->magic != CMT_RING_MAGIC ||
	    h->record_bytes != sizeof(struct cmt_record) || !h->records ||
	    h->records > SLOTS_MAX || n != sizeof(*h) + h->records * sizeof(struct cmt_record))
		return 1;
	printf("cpu=%u records=%u state=%u head=%" PRIu64 "\n", h->cpu, h->records,
	       h->state, (uint64_t)h->head);
	for (position = 0; position < h->head; position++) {
		if (position + h->records <= h->head)
			lost++;
		else
			print_record(position, &image.slots[position & (h->records - 1)]);
	}
	printf("delivered=%" PRIu64 " lost=%" PRIu64 "\n", (uint64_t)h->head - lost, lost);
	return 0;
}
