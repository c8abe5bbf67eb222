// SPDX-License-Identifier: LGPL-2.1-or-later
#include "crc.h"

#include <string.h>

#define POLYNOMIAL	0x82f63b78U	/* Castagnoli, the lowest bit first */

/*
 * A nibble at a time: the compiler can make the table of 16 entries.  Processors
 * without the CRC instruction are older than those with monitoring.
 */
#define BIT(c)		((c) >> 1 ^ ((c) & 1 ? POLYNOMIAL : 0))
#define ENTRY(n)	BIT(BIT(BIT(BIT((uint32_t)(n)))))

static const uint32_t table[16] = {
	ENTRY(0), ENTRY(1), ENTRY(2), ENTRY(3), ENTRY(4), ENTRY(5), ENTRY(6), ENTRY(7),
	ENTRY(8), ENTRY(9), ENTRY(10), ENTRY(11), ENTRY(12), ENTRY(13), ENTRY(14), ENTRY(15),
};

uint32_t cmt_crc32c_table(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint32_t crc = ~0U;

	for (; n; n--, p++) {
		crc = table[(crc ^ *p) & 15] ^ crc >> 4;
		crc = table[(crc ^ *p >> 4) & 15] ^ crc >> 4;
	}
	return ~crc;
}

#ifdef __x86_64__

__attribute__((target("sse4.2")))
static uint32_t crc32c_sse(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t crc = UINT32_MAX, word;

	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		crc = __builtin_ia32_crc32di(crc, word);
	}
	for (; n; n--, p++)
		crc = __builtin_ia32_crc32qi((uint32_t)crc, *p);
	return ~(uint32_t)crc;
}

uint32_t cmt_crc32c(const void *bytes, size_t n)
{
	return __builtin_cpu_supports("sse4.2") ? crc32c_sse(bytes, n) :
						  cmt_crc32c_table(bytes, n);
}

#else

uint32_t cmt_crc32c(const void *bytes, size_t n)
{
	return cmt_crc32c_table(bytes, n);
}

#endif
