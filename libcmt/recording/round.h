/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts with nine significant bits: m * 2^e with m below 512.  The place of a rounded
 * count is its index in ascending order: 0, 1, 2 and so on.  The place of a count below
 * 512 is the count itself.  Otherwise it is 256 * e + m with m from 256 on.
 */
#ifndef LIBCMT_REC_ROUND_H
#define LIBCMT_REC_ROUND_H

#include <stdint.h>

#define REC_ROUND_BITS	9U
/* places of each e, with m from 256 to 511 */
#define REC_ROUND_LEAD	(1ULL << (REC_ROUND_BITS - 1))
#define REC_PLACE_MAX	((64 - REC_ROUND_BITS) * REC_ROUND_LEAD + 2 * REC_ROUND_LEAD - 1)

static inline unsigned int rec_exponent(uint64_t value)
{
	return value < 2 * REC_ROUND_LEAD ? 0 :
	       64 - REC_ROUND_BITS - (unsigned int)__builtin_clzll(value);
}

/* The place of the largest rounded count that is at most @value. */
static inline uint64_t rec_place(uint64_t value)
{
	unsigned int e = rec_exponent(value);

	return e * REC_ROUND_LEAD + (value >> e);
}

/* @place: at most REC_PLACE_MAX */
static inline uint64_t rec_of_place(uint64_t place)
{
	uint64_t e = place < 2 * REC_ROUND_LEAD ? 0 : place / REC_ROUND_LEAD - 1;

	return (place - e * REC_ROUND_LEAD) << e;
}

static inline int rec_is_rounded(uint64_t value)
{
	return !(value & ((1ULL << rec_exponent(value)) - 1));
}

/*
 * Round to nearest.  Where the result would exceed the largest rounded count, round
 * down.
 */
static inline uint64_t rec_round(uint64_t value)
{
	unsigned int e = rec_exponent(value);
	uint64_t half = e ? 1ULL << (e - 1) : 0;

	if (value <= UINT64_MAX - half)
		value += half;
	return rec_of_place(rec_place(value));
}

static inline uint32_t rec_round32(uint32_t value)
{
	uint64_t rounded = rec_round(value);

	return (uint32_t)(rounded <= UINT32_MAX ? rounded : rec_of_place(rec_place(value)));
}

#endif
