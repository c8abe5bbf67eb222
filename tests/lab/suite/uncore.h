/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory channels: common functions of their tests. */
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

/* The values of the last record of each channel. */
struct traffic {
	uint64_t ts[SOCKETS_MAX][CHANNELS];
	uint64_t bytes[SOCKETS_MAX][CHANNELS][2];	/* read, written */
	uint64_t cycles[SOCKETS_MAX][CHANNELS][2];	/* idle, busy */
	uint64_t cycles_ts[SOCKETS_MAX][CHANNELS];	/* time of cycles */
	uint32_t flags[SOCKETS_MAX][CHANNELS];
	uint32_t rebased, records, cycles_read;
};

/* uncore.c */

/* The answer of cmt_device_uncore(); the caller frees @boxes. */
struct cmt_uncore uncore_of(struct cmt_box **boxes);
/* Counts the lines of this boot's log with @text. */
unsigned int lines_with(const char *text);

/* uncore_channels.c */

/* A reader that wants CHANNEL records. */
void open_reader(struct dev *dev, enum dev_from from);
void take_channels(struct dev *dev, struct traffic *t);
/* Wait until each of @n channels was read once more. */
void wait_channels(struct dev *dev, struct traffic *t, uint32_t n);
uint32_t nr_channels(void);

/* Accesses the registers of the first socket's boxes as another program does. */
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
