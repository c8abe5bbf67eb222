// SPDX-License-Identifier: GPL-2.0-or-later
#include "point.h"

#include <math.h>
#include <string.h>

void point_merge(struct point *to, const struct point *from)
{
	if (from->known) {
		if (!to->known || from->least < to->least)
			to->least = from->least;
		if (!to->known || from->most > to->most)
			to->most = from->most;
	}
	if (from->rated && (!to->rated || from->rate_most > to->rate_most))
		to->rate_most = from->rate_most;
	to->slots += from->slots;
	to->known += from->known;
	to->rated += from->rated;
	to->localed += from->localed;
	to->held += from->held;
	to->partial += from->partial;
	to->bytes_bounded += from->bytes_bounded;
	to->rate_bounded += from->rate_bounded;
	to->sum += from->sum;
	to->rate_sum += from->rate_sum;
	to->local_sum += from->local_sum;
}

struct point point_times(const struct point *from, uint32_t times)
{
	struct point point = *from;

	point.slots *= times;
	point.known *= times;
	point.rated *= times;
	point.localed *= times;
	point.held *= times;
	point.partial *= times;
	point.bytes_bounded *= times;
	point.rate_bounded *= times;
	point.sum *= times;
	point.rate_sum *= times;
	point.local_sum *= times;
	return point;
}

/* Of an IEEE 754 double, at least 1 << @bits: its exponent, and as much of its mantissa. */
static uint32_t code_of_large(double value, unsigned int bits)
{
	const unsigned int shift = 52 - bits;
	uint64_t word, exponent, mantissa;

	memcpy(&word, &value, sizeof(word));
	exponent = (word >> 52) - 1023 - bits;
	mantissa = (word & ((1ULL << 52) - 1)) | 1ULL << 52;
	/* to the nearest, and between two to the even one, as lrint() */
	mantissa = (mantissa + (1ULL << (shift - 1)) - 1 + (mantissa >> shift & 1)) >> shift;
	/* rounding may carry into the exponent, which is the next code, too */
	return (uint32_t)((exponent << bits) + mantissa);
}

uint32_t code_of(double value, unsigned int bits)
{
	uint32_t code;

	if (!(value > 0))
		return 0;
	if (value > 1e30)
		return CODE_MAX;
	if (value < (double)(1U << bits))
		return (uint32_t)lrint(value);
	code = code_of_large(value, bits);
	return code < CODE_MAX ? code : CODE_MAX;
}

double code_value(uint32_t code, unsigned int bits)
{
	uint32_t limit = 1U << bits, exponent;

	if (code < 2 * limit)
		return code;
	exponent = (code >> bits) - 1;
	return ldexp((double)(code - (exponent << bits)), (int)exponent);
}

static uint32_t pack(double value, unsigned int bits)
{
	uint32_t code = code_of(value, bits);

	return code < CODE_MAX ? code + 1 : CODE_MAX;
}

/* Of @window slots, in @whole parts: 0 only where there is none */
static uint32_t parts_of(uint32_t slots, uint32_t window, uint32_t whole)
{
	uint64_t parts = (uint64_t)slots * whole / window;

	if (!parts && slots)
		return 1;
	return parts < whole ? (uint32_t)parts : whole;
}

static uint8_t note_of(const struct point *point, uint32_t window)
{
	uint32_t known = point->known > point->rated ? point->known : point->rated;

	return (uint8_t)(parts_of(known, window, NOTE_SHARE) |
			 (point->partial ? NOTE_PARTIAL : 0) |
			 (point->held && point->held == point->slots ? NOTE_HELD : 0));
}

/* Of a point without a bandwidth there is no part. */
static uint32_t pack_local(const struct point *point)
{
	double rate = point->rate_sum / point->rated;
	double local = point->local_sum / point->localed;
	double parts = rate > 0 ? LOCAL_PARTS * local / rate : 0;

	return 1 + (uint32_t)lrint(parts < CODE_MAX - 1 ? parts : CODE_MAX - 1);
}

/* Of a single value, least and most equal the mean. */
static void pack_occupancy(struct packed *to, const struct point *point,
			   uint32_t unit_bytes)
{
	to->mean = pack(point->sum / point->known / unit_bytes, OCCUPANCY_BITS);
	to->least = to->most = to->mean;
	if (point->least == point->most)
		return;
	to->least = pack((double)point->least / unit_bytes, OCCUPANCY_BITS);
	to->most = pack((double)point->most / unit_bytes, OCCUPANCY_BITS);
}

static void pack_rate(struct packed *to, const struct point *point)
{
	to->rate = pack(point->rate_sum / point->rated / RATE_UNIT, RATE_BITS);
	to->rate_most = point->rated == 1 ?
			to->rate : pack(point->rate_most / RATE_UNIT, RATE_BITS);
	if (point->localed)
		to->local = pack_local(point);
}

struct packed point_pack(const struct point *point, uint32_t window,
			 uint32_t unit_bytes)
{
	struct packed to = {
		.there = parts_of(point->slots, window, THERE_WHOLE),
		.note = note_of(point, window),
	};

	if (point->known)
		pack_occupancy(&to, point, unit_bytes);
	if (point->rated)
		pack_rate(&to, point);
	return to;
}

bool packed_is_known(const struct packed *packed)
{
	return packed->mean || packed->rate;
}

bool packed_equal(const struct packed *a, const struct packed *b)
{
	return a->mean == b->mean && a->least == b->least && a->most == b->most &&
	       a->rate == b->rate && a->rate_most == b->rate_most &&
	       a->local == b->local && a->there == b->there && a->note == b->note;
}
