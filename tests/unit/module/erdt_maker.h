/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ERDT table, made for tests: what a firmware writes, and what it may get wrong. */
#ifndef TEST_ERDT_MAKER_H
#define TEST_ERDT_MAKER_H

#include <stdint.h>
#include <string.h>

#define MAKER_BYTES	8192

/* Where the registers of domain 0 are, and those of each further domain after it */
#define MAKER_BASE	0xfd000000ULL
#define MAKER_STEP	0x100000ULL
#define MAKER_CMRC	0x10000U
#define MAKER_MMRC	0x20000U

struct maker {
	uint8_t table[MAKER_BYTES];
	uint32_t bytes;
	uint64_t base;		/* of domain 0's registers */
};

/* Where the fields are that tests change, from the beginning of their structure */
enum {
	AT_LENGTH = 2,
	AT_RMDD_FLAGS = 4, AT_RMDD_ID = 18, AT_RMDD_MAX = 20, AT_RMDD_CONTROL = 24,
	AT_RMDD_PAGES = 32,
	AT_CACD_ID = 6, AT_CACD_CPUS = 8,
	AT_INDEX_FN = 12, AT_BASE = 24, AT_PAGES = 32,
	AT_CLUMP = 36, AT_STRIDE = 38, AT_CMRC_UNIT = 40,
	AT_WIDTH = 36, AT_MMRC_UNIT = 37, AT_NR_FACTORS = 52, AT_FACTORS = 56,
};

static inline void maker_put(struct maker *m, uint32_t at, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		m->table[at + i] = value >> i * 8;
}

/* The table's length and checksum are right again. */
static inline void maker_seal(struct maker *m)
{
	uint8_t sum = 0;

	maker_put(m, 4, m->bytes, 4);
	m->table[9] = 0;
	for (uint32_t i = 0; i < m->bytes; i++)
		sum += m->table[i];
	m->table[9] = -sum;
}

static inline void maker_begin(struct maker *m)
{
	memset(m, 0, sizeof(*m));
	memcpy(m->table, "ERDT", 4);
	m->table[8] = 1;
	m->bytes = 64;
	m->base = MAKER_BASE;
	maker_seal(m);
}

/* Returns where it is. */
static inline uint32_t maker_struct(struct maker *m, uint32_t type, uint32_t bytes)
{
	uint32_t at = m->bytes;

	maker_put(m, at, type, 2);
	maker_put(m, at + AT_LENGTH, bytes, 2);
	m->bytes += bytes;
	return at;
}

/* Where the structures of a domain are. */
struct maker_domain {
	uint32_t rmdd, cacd, cmrc, mmrc;
};

/* A domain with CPUs 16 * @id and the next, @factors of 1.0, and @max_rmid. */
static inline struct maker_domain maker_domain(struct maker *m, uint32_t id,
					       uint32_t max_rmid, uint32_t factors)
{
	uint64_t base = m->base + id * MAKER_STEP;
	struct maker_domain d;

	d.rmdd = maker_struct(m, 0, 34);
	maker_put(m, d.rmdd + AT_RMDD_FLAGS, 1, 2);
	maker_put(m, d.rmdd + AT_RMDD_ID, id, 2);
	maker_put(m, d.rmdd + AT_RMDD_MAX, max_rmid, 4);
	maker_put(m, d.rmdd + AT_RMDD_CONTROL, base, 8);
	maker_put(m, d.rmdd + AT_RMDD_PAGES, 1, 2);
	d.cacd = maker_struct(m, 1, 16);
	maker_put(m, d.cacd + AT_CACD_ID, id, 2);
	maker_put(m, d.cacd + AT_CACD_CPUS, 16 * id, 4);
	maker_put(m, d.cacd + AT_CACD_CPUS + 4, 16 * id + 1, 4);
	d.cmrc = maker_struct(m, 3, 48);
	maker_put(m, d.cmrc + AT_INDEX_FN, 1, 1);
	maker_put(m, d.cmrc + AT_BASE, base + MAKER_CMRC, 8);
	maker_put(m, d.cmrc + AT_PAGES, 16, 4);
	maker_put(m, d.cmrc + AT_CLUMP, 64, 2);
	maker_put(m, d.cmrc + AT_STRIDE, 4096, 2);
	maker_put(m, d.cmrc + AT_CMRC_UNIT, 65536, 8);
	d.mmrc = maker_struct(m, 4, 56 + factors * 4);
	maker_put(m, d.mmrc + AT_INDEX_FN, 1, 1);
	maker_put(m, d.mmrc + AT_BASE, base + MAKER_MMRC, 8);
	maker_put(m, d.mmrc + AT_PAGES, 16, 4);
	maker_put(m, d.mmrc + AT_WIDTH, 44, 1);
	maker_put(m, d.mmrc + AT_MMRC_UNIT, 64, 8);
	maker_put(m, d.mmrc + AT_NR_FACTORS, factors, 4);
	for (uint32_t i = 0; i < factors; i++)
		maker_put(m, d.mmrc + AT_FACTORS + i * 4, 1 << 16, 4);
	maker_put(m, d.rmdd + AT_LENGTH, m->bytes - d.rmdd, 2);
	maker_seal(m);
	return d;
}

#endif
