/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers to columns, and back.  Inline, because every member of a record passes here.
 * code() appends a number to its column, or takes a number from the column.  So one
 * function describes a record for both directions.
 */
#ifndef LIBCMT_REC_CODER_H
#define LIBCMT_REC_CODER_H

#include "bytes.h"
#include "model.h"
#include "round.h"

/*
 * A column has one byte for each number: the number's bit length, 0 .. 64.  The bits
 * below the highest one, of all columns, are in one sequence of bits.
 */
struct coder {
	struct rec_model *model;
	bool encode;
	bool bad;
	uint8_t *at[REC_COLUMNS];
	const uint8_t *end[REC_COLUMNS];
	/* the sequence of bits */
	uint64_t word;
	unsigned int held;	/* bits in word */
	struct rec_buffer bits;	/* the output of an encoder */
	const uint8_t *from, *to;	/* the input of a decoder */
};

static inline void bits_put(struct coder *c, uint64_t value, unsigned int n)
{
	c->word |= value << c->held;
	if (c->held + n < 64) {
		c->held += n;
		return;
	}
	rec_put_u64(&c->bits, c->word);
	c->word = c->held ? value >> (64 - c->held) : 0;
	c->held = c->held + n - 64;
}

/* @n: at most 32 */
static inline uint64_t bits_take(struct coder *c, unsigned int n)
{
	uint64_t value;

	while (c->held < n && c->from != c->to) {
		c->word |= (uint64_t)*c->from++ << c->held;
		c->held += 8;
	}
	if (c->held < n) {
		c->bad = true;
		return 0;
	}
	value = c->word & ((1ULL << n) - 1);
	c->word >>= n;
	c->held -= n;
	return value;
}

static inline uint64_t number_take(struct coder *c, unsigned int bits)
{
	uint64_t low;

	if (bits < 2)
		return bits;
	bits--;
	if (bits <= 32)
		return 1ULL << bits | bits_take(c, bits);
	low = bits_take(c, 32);
	return 1ULL << bits | bits_take(c, bits - 32) << 32 | low;
}

static inline uint64_t take(struct coder *c, unsigned int column)
{
	if (c->at[column] == c->end[column] || *c->at[column] > 64) {
		c->bad = true;
		return 0;
	}
	return number_take(c, *c->at[column]++);
}

static inline uint64_t code(struct coder *c, unsigned int column, uint64_t value)
{
	unsigned int bits;

	if (!c->encode)
		return take(c, column);
	bits = value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
	*c->at[column]++ = (uint8_t)bits;
	if (bits > 1)
		bits_put(c, value ^ 1ULL << (bits - 1), bits - 1);
	return value;
}

/* A number below 64, stored in the column's byte itself. */
static inline unsigned int code_symbol(struct coder *c, unsigned int column,
				       unsigned int value)
{
	if (c->encode) {
		*c->at[column]++ = (uint8_t)value;
		return value;
	}
	if (c->at[column] == c->end[column]) {
		c->bad = true;
		return 0;
	}
	return *c->at[column]++;
}

/* A signed difference, divided by 2^@n and rounded down. */
static inline uint64_t rec_shift(uint64_t d, unsigned int n)
{
	return d >> n | (d >> 63 ? ~(UINT64_MAX >> n) : 0);
}

/* A value near @expected, greater or less. */
CMT_APART static uint64_t code_off(struct coder *c, unsigned int column, uint64_t value,
				   uint64_t expected)
{
	uint64_t d = value - expected;

	d = code(c, column, d << 1 ^ (0 - (d >> 63)));
	return expected + (d >> 1 ^ (0 - (d & 1)));
}

/* Encode a value that is as expected, which most are: the number 0.  False: it is another. */
static inline bool code_expected(struct coder *c, unsigned int column, uint64_t value,
				 uint64_t expected)
{
	if (!c->encode || value != expected)
		return false;
	*c->at[column]++ = 0;
	return true;
}

static inline uint64_t code_near(struct coder *c, unsigned int column, uint64_t value,
				 uint64_t expected)
{
	return code_expected(c, column, value, expected) ? value :
	       code_off(c, column, value, expected);
}

/* As code_near(), modulo 2^32. */
static inline uint32_t code_near32(struct coder *c, unsigned int column, uint32_t value,
				   uint32_t expected)
{
	int32_t d = (int32_t)(value - expected);

	return code_expected(c, column, value, expected) ? value :
	       expected + (uint32_t)code_off(c, column, (uint64_t)(int64_t)d, 0);
}

static inline unsigned int column_of(unsigned int group, unsigned int field)
{
	return REC_COL_GROUPS + group * REC_FIELDS + field;
}

/* records.c */

/* The first pass: type and time, one CPU after the other. */
void rec_code_time(struct coder *c, struct cmt_record *r, struct rec_stream *s);
/* The second pass: everything but the CPU, in the order of the records. */
void rec_code_rest(struct coder *c, struct cmt_record *r, struct rec_stream *s);

#endif
