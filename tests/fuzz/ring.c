// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two ring images as a module would not write them: read one by one, merged, and fed
 * to slots.  The input is laid over valid rings.
 */
#include "slots/feed.h"
#include "fuzz.h"
#include "image.h"
#include "reader/merge.h"
#include "slots/slots.h"

#define NR_CPUS	2
#define RECORDS	16
#define MS	1000000ULL
#define T0	(5000 * MS)
#define ROUNDS	64

static void make_rings(struct image_rings *rings, const uint8_t *data, size_t size)
{
	image_rings_new(rings, NR_CPUS, RECORDS);
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		void *image = image_ring(rings, cpu);

		for (uint32_t i = 0; i < RECORDS + 4; i++) {
			struct cmt_record r = i % 4 == 3 ?
				image_tick(cpu, T0 + i * MS) :
				image_sample(cpu, T0 + i * MS, 1 + i % 4, 1);

			image_put(image, &r);
		}
	}
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		struct cmt_ring_header *header = image_header(image_ring(rings, cpu));

		fuzz_overlay(&header->head, sizeof(header->head), &data, &size);
		fuzz_overlay(&header->state, sizeof(header->state), &data, &size);
	}
	for (uint32_t i = 0; i < RECORDS && size; i++)
		for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
			fuzz_overlay(&image_slots(image_ring(rings, cpu))[i],
				     sizeof(struct cmt_record), &data, &size);
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		fuzz_overlay(image_ring(rings, cpu), sizeof(struct cmt_ring_header), &data,
			     &size);
}

static void read_ring(const struct image_rings *rings, uint32_t cpu)
{
	struct cmt_record records[RECORDS / 2];
	struct cmt_ring ring;
	uint64_t lost, ts;
	int n;

	if (cmt_ring_init(&ring, image_ring(rings, cpu), rings->info.ring_bytes,
			  &rings->info, cpu, true))
		return;
	for (int i = 0; i < ROUNDS && !cmt_ring_refresh(&ring); i++) {
		n = cmt_ring_copy(&ring, records, RECORDS / 2, &lost);
		if (n < 0)
			return;
		FUZZ_CHECK(n <= RECORDS / 2);
		if (ring.pos < ring.head)
			cmt_ring_ts_at(&ring, ring.pos, &ts);
	}
}

static struct cmt_sources *open_sources(const struct image_rings *rings)
{
	struct cmt_sources *sources;

	FUZZ_CHECK(!cmt_sources_new(&sources, &rings->info, 50 * MS));
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		if (cmt_sources_add(sources, image_ring(rings, cpu),
				    rings->info.ring_bytes, true)) {
			cmt_sources_free(sources);
			return NULL;
		}
	}
	cmt_sources_now(sources, T0 + 1000 * MS);
	return sources;
}

static void check_counts(const struct cmt_sources *sources)
{
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		struct cmt_reader_counts c = { .sz = sizeof(c) };

		cmt_sources_counts(sources, cpu, &c);
		FUZZ_CHECK(c.emitted == c.delivered + c.lost + c.late + c.malformed +
			   c.pending);
	}
}

static void read_merged(const struct image_rings *rings)
{
	struct cmt_sources *sources = open_sources(rings);
	struct cmt_record records[8];
	struct cmt_merge *merge;
	uint64_t last = 0;
	int n = 1;

	if (!sources)
		return;
	FUZZ_CHECK(!cmt_merge_new(&merge, sources));
	for (int i = 0; i < ROUNDS && n > 0; i++) {
		n = cmt_merge_read(merge, records, 8);
		for (int k = 0; k < n; k++) {
			FUZZ_CHECK(!k || !cmt_ts_before(records[k].ts, last));
			last = records[k].ts;
		}
	}
	if (n == 0)
		check_counts(sources);
	cmt_merge_free(merge);
	cmt_sources_free(sources);
}

static int ignore_slot(void *ctx, const struct cmt_slot *slot)
{
	(void)ctx;
	(void)slot;
	return 0;
}

static void read_fed(const struct image_rings *rings)
{
	const struct cmt_slots_opts opts = {
		.sz = sizeof(opts), .nr_rmids = rings->info.nr_rmids, .nr_cpus = NR_CPUS,
	};
	struct cmt_sources *sources = open_sources(rings);
	struct cmt_slots *slots;
	struct cmt_round round;
	bool moved;

	if (!sources)
		return;
	FUZZ_CHECK(!cmt_slots_new(&slots, &opts, ignore_slot, NULL));
	for (int i = 0; i < ROUNDS && !cmt_feed_round(sources, slots, &round); i++) {
		FUZZ_CHECK(!cmt_feed_raise(slots, &round, &moved));
		if (!round.added && !round.dropped && !moved)
			break;
	}
	cmt_sources_free(sources);
	cmt_slots_free(slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_rings rings;

	make_rings(&rings, data, size);
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		read_ring(&rings, cpu);
	read_merged(&rings);
	read_fed(&rings);
	image_rings_free(&rings);
	return 0;
}
