/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording in memory, for tests: of a machine that is made up. */
#ifndef TEST_RECORDING_H
#define TEST_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmt/cmt.h>

#define MADE_CHUNKS	512U
#define MADE_CPUS	4U
#define MADE_RMIDS	64U
#define MADE_UNIT	65536U
#define MADE_CGROUP	7000U	/* and its RMID: the id of a cgroup */
#define MADE_MS		1000000ULL
#define MADE_START	(1000 * MADE_MS)

/* What was written: each chunk with its place, and of DATA the first record. */
struct made {
	uint8_t *bytes;
	size_t nr_bytes, room;
	struct cmt_chunk_place places[MADE_CHUNKS];
	uint32_t first_record[MADE_CHUNKS];
	uint32_t nr_places;
	struct cmt_record *records;
	uint32_t nr_records, room_records;
	int refuse;		/* what the callback returns from now on */
	struct cmt_recorder *recorder;
};

extern const struct cmt_info made_info;

uint64_t made_any(void);

/* A recorder of its own, with HEAD and names written.  @chunk_records: 0: the default. */
void made_begin(struct made *made, uint32_t chunk_records);
/* Add to the recorder, and to made->records. */
void made_add(struct made *made, const struct cmt_record *records, uint32_t n);
/* What the machine does in a millisecond, from MADE_START on. */
void made_tick(struct made *made, uint64_t ms);
/* With pending owners and rows of CPU time. */
void made_state(struct made *made, uint64_t ms);
void made_end(struct made *made);
void made_free(struct made *made);

/* A file with these bytes, which is in no directory. */
int made_file(const uint8_t *bytes, size_t n);

#endif
