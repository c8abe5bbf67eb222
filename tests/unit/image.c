// SPDX-License-Identifier: GPL-2.0-or-later
#include "image.h"

#include <stdlib.h>
#include <string.h>

void image_info(struct cmt_info *info, uint32_t nr_cpus, uint32_t records)
{
	uint64_t bytes = CMT_RING_DATA_OFFSET +
			 (uint64_t)records * sizeof(struct cmt_record);

	*info = (struct cmt_info){
		.size = sizeof(*info),
		.abi_version = CMT_ABI_VERSION,
		.backend = CMT_BACKEND_EMULATED,
		.scope = CMT_SCOPE_PROCESS,
		.instance = IMAGE_INSTANCE,
		.nr_cpus = nr_cpus,
		.nr_rmids = 64,
		.rmids_usable = 63,
		.events = CMT_F_OCCUPANCY,
		.upscale_bytes = 1024,
		.counter_bits = 24,
		.ring_records = records,
		.interval_ns = 1000000,
		.interval_min_ns = 100000,
		.interval_max_ns = 1000000000,
		.ring_bytes = (bytes + 4095) / 4096 * 4096,
		.limbo_ns = 2000000,
		.ring_hold_ns = 2000000000,
		.budget_ns = 20000,
		.idle_ticks = 32,
		.resctrl = CMT_RESCTRL_RESPECT,
		.module_version = "0.1.0",
		.reason = "test",
	};
}

struct cmt_ring_header *image_header(void *image)
{
	return image;
}

struct cmt_record *image_slots(void *image)
{
	return (struct cmt_record *)((char *)image + CMT_RING_DATA_OFFSET);
}

void image_init(void *image, const struct cmt_info *info, uint32_t cpu)
{
	struct cmt_ring_header *header = image_header(image);

	memset(header, 0, sizeof(*header));
	header->magic = CMT_RING_MAGIC;
	header->abi_version = info->abi_version;
	header->instance = info->instance;
	header->cpu = cpu;
	header->records = info->ring_records;
	header->record_bytes = sizeof(struct cmt_record);
	header->data_offset = CMT_RING_DATA_OFFSET;
	header->state = CMT_RING_ONLINE;
}

void *image_ring(const struct image_rings *rings, uint32_t cpu)
{
	return rings->bytes + cpu * rings->info.ring_bytes;
}

void image_rings_new(struct image_rings *rings, uint32_t nr_cpus, uint32_t records)
{
	image_info(&rings->info, nr_cpus, records);
	rings->bytes = calloc(nr_cpus, rings->info.ring_bytes);
	if (!rings->bytes)
		abort();
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		image_init(image_ring(rings, cpu), &rings->info, cpu);
}

void image_rings_free(struct image_rings *rings)
{
	free(rings->bytes);
	rings->bytes = NULL;
}

void image_put(void *image, const struct cmt_record *record)
{
	struct cmt_ring_header *header = image_header(image);
	uint64_t head = header->head;

	/* The barrier between the last head and this slot. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(&image_slots(image)[head & (header->records - 1)], record,
	       sizeof(*record));
	__atomic_store_n((uint64_t *)&header->head, head + 1,
			 __ATOMIC_RELEASE);
}

struct cmt_record image_tick(uint32_t cpu, uint64_t ts)
{
	return (struct cmt_record){
		.ts = ts,
		.type = CMT_REC_TICK,
		.cpu = cpu,
		.interval_ns = 1000000,
	};
}

struct cmt_record image_sample(uint32_t cpu, uint64_t ts, uint32_t rmid,
			       uint32_t generation)
{
	return (struct cmt_record){
		.ts = ts,
		.type = CMT_REC_SAMPLE,
		.flags = CMT_F_OCCUPANCY,
		.cpu = cpu,
		.rmid = rmid,
		.generation = generation,
		.sample.occupancy_bytes = ts,
	};
}

struct cmt_record image_perf(uint32_t cpu, uint64_t ts, uint32_t rmid,
			     uint32_t generation, uint64_t cycles)
{
	return (struct cmt_record){
		.ts = ts,
		.type = CMT_REC_PERF,
		.flags = CMT_F_CYCLES | CMT_F_INSTRUCTIONS,
		.cpu = cpu,
		.rmid = rmid,
		.generation = generation,
		.ran_ns = 1000,
		.perf.cycles = cycles,
		.perf.instructions = cycles / 2,
	};
}

struct cmt_record image_event(uint16_t type, uint32_t cpu, uint64_t ts,
			      uint32_t rmid, uint32_t generation)
{
	struct cmt_record record = {
		.ts = ts,
		.type = type,
		.cpu = cpu,
		.rmid = rmid,
		.generation = generation,
		.tgid = 1000 + rmid,
		.owner.cgroup_id = 7000 + rmid,
	};

	memcpy(record.owner.comm, "name", 4);
	return record;
}
