// SPDX-License-Identifier: GPL-2.0-or-later
#include "point.h"

#include <math.h>

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
	to->held += from->held;
	to->partial += from->partial;
	to->sum += from->sum;
	to->rate_sum += from->rate_sum;
}

struct point point_times(const struct point *from, uint32_t times)
{
	struct point point = *from;

	point.slots *= times;
	point.known *= times;
	point.rated *= times;
	point.held *= times;
	point.partial *= times;
	point.sum *= times;
	point.rate_sum *= times;
	return point;
}

uint32_t code_of(double value, unsigned int bits)
{
	double limit = (double)(1U << bits);
	uint32_t exponent = 0, code;

	if (!(value > 0))
		return 0;
	if (value > 1e30)
		return CODE_MAX;
	while (value >= 2 * limit) {
		value /= 2;
		exponent++;
	}
	/* rounding may carry into the exponent, which is the next code all the same */
	code = (exponent << bits) + (uint32_t)lrint(value);
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

static uint8_t note_of(const struct point *point, uint32_t window)
{
	uint32_t share = (uint32_t)((uint64_t)point->known * NOTE_SHARE / window);

	if (!share && (point->known || point->rated))
		share = 1;
	return (uint8_t)((share < NOTE_SHARE ? share : NOTE_SHARE) |
			 (point->partial ? NOTE_PARTIAL : 0) |
			 (point->held && point->held == point->slots ? NOTE_HELD : 0));
}

struct packed point_pack(const struct point *point, uint32_t window,
			 uint32_t unit_bytes)
{
	struct packed to = { .note = note_of(point, window) };

	if (point->known) {
		to.mean = pack(point->sum / point->known / unit_bytes, OCCUPANCY_BITS);
		to.least = pack((double)point->least / unit_bytes, OCCUPANCY_BITS);
		to.most = pack((double)point->most / unit_bytes, OCCUPANCY_BITS);
	}
	if (point->rated) {
		to.rate = pack(point->rate_sum / point->rated / RATE_UNIT, RATE_BITS);
		to.rate_most = pack(point->rate_most / RATE_UNIT, RATE_BITS);
	}
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
	       a->note == b->note;
}
