// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print the records of a ring in a file, as a reader at position 0 finds them, with
 * libcmt's ring.c.  The file has what a mapping of the ring has.
 */
#include "record_text.h"
#include "ring/ring.h"

#define BATCH 16

/* What the device would say of this ring. */
static struct cmt_info info_of(const struct cmt_ring_header *header)
{
	return (struct cmt_info){
		.abi_version = CMT_ABI_VERSION,
		.instance = header->instance,
		.ring_records = header->records,
	};
}

static int read_records(struct cmt_ring *ring, uint64_t *lost)
{
	struct cmt_record records[BATCH];
	uint64_t gap;
	int n;

	while (ring->pos < ring->head) {
		n = cmt_ring_copy(ring, records, BATCH, &gap);
		if (n < 0)
			return n;
		*lost += gap;
		for (int i = 0; i < n; i++)
			if (record_print(stdout, &records[i]))
				return -1;
	}
	return 0;
}

static int print_ring(const void *image, size_t bytes)
{
	const struct cmt_ring_header *header = image;
	struct cmt_info info;
	struct cmt_ring ring;
	uint64_t lost = 0;

	if (bytes < sizeof(*header))
		return -1;
	info = info_of(header);
	if (cmt_ring_init(&ring, image, bytes, &info, header->cpu, true))
		return -1;
	ring.start = 0;
	ring.pos = 0;
	if (read_records(&ring, &lost))
		return -1;
	printf("delivered=%" PRIu64 " lost=%" PRIu64 "\n", ring.pos - lost, lost);
	return 0;
}

int main(int argc, char **argv)
{
	static struct {
		_Alignas(64) unsigned char bytes[CMT_RING_DATA_OFFSET +
						 65536 * sizeof(struct cmt_record)];
	} image;
	FILE *in = argc == 2 ? fopen(argv[1], "rb") : NULL;
	int err;

	if (!in) {
		fprintf(stderr, "Usage: %s FILE\n", argv[0]);
		return 2;
	}
	err = print_ring(&image, fread(&image, 1, sizeof(image), in));
	if (err)
		fprintf(stderr, "%s: no ring of this ABI\n", argv[1]);
	fclose(in);
	return err ? 1 : 0;
}
