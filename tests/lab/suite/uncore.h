/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory channels: what the tests of them share. */
#ifndef CMT_LAB_UNCORE_H
#define CMT_LAB_UNCORE_H

#include <stdint.h>

#include "bench.h"

#define ALL	"backend=software"
/* An access to a box takes QEMU long, and longer on a debug kernel. */
#define SLOWLY	ALL " interval_us=20000"

#define UNCORE_TESTS(name, ...) \
	const struct test uncore_##name##_tests[] = { __VA_ARGS__, { 0 } }

#define CHANNELS	8
#define SOCKETS_MAX	2
#define IMC_AT(id)	(0x22800 + (id) / 2 * 0x80000 + (id) % 2 * 0x8000)

/* What the last record of each channel said. */
struct traffic {
	uint64_t ts[SOCKETS_MAX][CHANNELS];
	uint64_t bytes[SOCKETS_MAX][CHANNELS][2];	/* read, written */
	uint64_t cycles[SOCKETS_MAX][CHANNELS][2];	/* idle, busy */
	uint64_t cycles_ts[SOCKETS_MAX][CHANNELS];	/* of these */
	uint32_t flags[SOCKETS_MAX][CHANNELS];
	uint32_t rebased, records, cycles_read;
};

/* uncore.c */

/* What cmt_device_uncore() says; @boxes is to be freed. */
struct cmt_uncore uncore_of(struct cmt_box **boxes);
/* Lines of this boot's log that have @text. */
unsigned int lines_with(const char *text);

/* uncore_channels.c */

/* A reader that wants CHANNEL records. */
void open_reader(struct dev *dev, enum dev_from from);
void take_channels(struct dev *dev, struct traffic *t);
/* Until each of @n channels was read once more. */
void wait_channels(struct dev *dev, struct traffic *t, uint32_t n);
uint32_t nr_channels(void);

/* The registers of the first socket's boxes, as another program has them. */
char *map_boxes(void);

static inline volatile uint32_t *control(char *boxes, uint32_t id, uint32_t i)
{
	return (volatile uint32_t *)(boxes + IMC_AT(id) + 0x40 + 4 * i);
}

static inline volatile uint64_t *counter(char *boxes, uint32_t id, uint32_t i)
{
	return (volatile uint64_t *)(boxes + IMC_AT(id) + 8 + 8 * i);
}

static inline volatile uint32_t *unit(char *boxes, uint32_t id)
{
	return (volatile uint32_t *)(boxes + IMC_AT(id));
}

#endif
