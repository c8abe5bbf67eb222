/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of one container in one window of time, and their rounding.  Pure. */
#ifndef REPORT_POINT_H
#define REPORT_POINT_H

#include <stdbool.h>
#include <stdint.h>

/* A window of some slots of 1 ms.  All 0: the container was not there. */
struct point {
	uint32_t slots;		/* in which it was there; of these: */
	uint32_t known;		/* with an occupancy, read or held */
	uint32_t rated;		/* with a bandwidth */
	uint32_t localed;	/* with a local bandwidth */
	uint32_t held;		/* not read: occupancy is the last reading's */
	uint32_t partial;	/* a value is a lower bound */
	uint32_t bytes_bounded;	/* and that value is the occupancy */
	uint32_t rate_bounded;	/* and that value is the bandwidth */
	uint64_t least, most;	/* bytes; of slots that are known */
	double sum;		/* bytes times slots */
	double rate_sum;	/* bytes a second times slots */
	double rate_most;	/* bytes a second */
	double local_sum;	/* of local bandwidth: bytes a second times slots */
};

/* Add the slots of @from, which are later. */
void point_merge(struct point *to, const struct point *from);

/* As if @from, which is not empty, came @times times. */
struct point point_times(const struct point *from, uint32_t times);

#define CODE_MAX 0xffffU

/*
 * Round to a mantissa of @bits bits: values below 1 << @bits are exact, others are off
 * by less than 1 / (1 << @bits) of themselves.  A greater value has a greater code.
 * Values beyond the largest code get the largest.
 */
uint32_t code_of(double value, unsigned int bits);
double code_value(uint32_t code, unsigned int bits);

/* How values are rounded: in @unit bytes, and in kB a second. */
#define OCCUPANCY_BITS	10U
#define RATE_BITS	7U
#define RATE_UNIT	1000.0
#define LOCAL_PARTS	64U	/* local bandwidth: in parts of the bandwidth */

#define THERE_WHOLE	0xffffU	/* parts of a window */

/* note: in how much of its window a point is known, and how */
#define NOTE_SHARE	0x3fU	/* sixty-thirds of the window, at least 1 */
#define NOTE_PARTIAL	0x40U
#define NOTE_HELD	0x80U	/* none of its slots was read */

/* A point as it goes into the page.  A code is 0 where the value is not known, else the
 * rounded value's and 1.
 */
struct packed {
	uint32_t mean, least, most;
	uint32_t rate, rate_most;
	uint32_t local;		/* LOCAL_PARTS of rate, and 1 */
	uint32_t there;		/* in THERE_WHOLE parts of the window, known or not; at least 1 */
	uint8_t note;
};

/* @window: slots that a whole point of its level has */
struct packed point_pack(const struct point *point, uint32_t window,
			 uint32_t unit_bytes);

bool packed_is_known(const struct packed *packed);
bool packed_equal(const struct packed *a, const struct packed *b);

#endif
