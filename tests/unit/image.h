/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ring images in memory, written as the module writes them. */
#ifndef TEST_IMAGE_H
#define TEST_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/cmt.h"

#define IMAGE_INSTANCE 0x1122334455667788ULL

/* Info of a plausible machine. */
void image_info(struct cmt_info *info, uint32_t nr_cpus, uint32_t records);
/* Write the header of an online, empty ring to info->ring_bytes of memory. */
void image_init(void *image, const struct cmt_info *info, uint32_t cpu);
struct cmt_ring_header *image_header(void *image);
struct cmt_record *image_slots(void *image);
/* The rings of all CPUs of one machine. */
struct image_rings {
	struct cmt_info info;
	char *bytes;
};

/* Of image_info(), online and empty; to be freed with image_rings_free(). */
void image_rings_new(struct image_rings *rings, uint32_t nr_cpus, uint32_t records);
void image_rings_free(struct image_rings *rings);
/* The ring of one CPU. */
void *image_ring(const struct image_rings *rings, uint32_t cpu);
/* Publish one record. */
void image_put(void *image, const struct cmt_record *record);

struct cmt_record image_tick(uint32_t cpu, uint64_t ts);
struct cmt_record image_sample(uint32_t cpu, uint64_t ts, uint32_t rmid,
			       uint32_t generation);
/* @cycles, half as many instructions, and a microsecond. */
struct cmt_record image_perf(uint32_t cpu, uint64_t ts, uint32_t rmid,
			     uint32_t generation, uint64_t cycles);
struct cmt_record image_event(uint16_t type, uint32_t cpu, uint64_t ts,
			      uint32_t rmid, uint32_t generation);

#endif
