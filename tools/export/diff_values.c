// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1e9

static const struct diff_value UNKNOWN = {
	.value = NAN, .lo = NAN, .hi = NAN,
};

double diff_unit(const struct diff *diff, unsigned int side)
{
	const struct cmt_info *info = cmt_recording_info(diff->spans[side].recording);

	return info ? info->upscale_bytes : 0;
}

/* Of an interval where the number is not known it is the largest known.  NAN: there is none. */
static double mean_counters(const struct diff_sum *sum)
{
	double unsized = (double)sum->unsized * sum->counters_most;

	if (sum->unsized && !(sum->counters_most > 0))
		return NAN;
	return (sum->counters + unsized) / (double)sum->slots;
}

/* Each counter is a multiple of its unit: the truth is less than one from it. */
static struct diff_value occupancy(const struct diff_sum *sum, double unit)
{
	double mean, off;

	if (!sum->slots)
		return UNKNOWN;
	mean = sum->held / (double)sum->slots;
	off = mean_counters(sum) * unit;
	if (isnan(off))
		return (struct diff_value){
			.known = true, .partial = sum->occupancy_partial, .value = mean,
			.lo = NAN, .hi = NAN,
		};
	return (struct diff_value){
		.known = true, .partial = sum->occupancy_partial, .value = mean,
		.lo = fmax(0, mean - off),
		.hi = sum->occupancy_partial ? INFINITY : mean + off,
	};
}

static struct diff_value bandwidth(const struct diff_sum *sum)
{
	double time = (double)sum->rated_ns;

	if (!sum->rated_ns)
		return UNKNOWN;
	return (struct diff_value){
		.known = true, .partial = sum->rate_partial,
		.value = sum->moved / time, .lo = sum->moved_lo / time,
		.hi = sum->moved_hi / time,
	};
}

/*
 * A count that is rounded to n significant bits is off by half of the lowest bit: by 2^-n
 * of the count that was, at most.  So is a sum of such counts.
 */
static double rounding(const struct diff *diff, unsigned int side)
{
	uint32_t bits = span_rounded_bits(&diff->spans[side]);

	return bits && bits < 64 ? ldexp(1, -(int)bits) : 0;
}

/* @off: by how much of it the sum of counts is off at most. */
static struct diff_value misses(const struct diff_sum *sum, double off)
{
	double rate;

	if (!sum->missed_ns)
		return UNKNOWN;
	rate = sum->misses / ((double)sum->missed_ns / SECOND_NS);
	return (struct diff_value){
		.known = true, .partial = sum->misses_partial, .value = rate,
		.lo = rate / (1 + off),
		.hi = sum->misses_partial ? INFINITY : rate / (1 - off),
	};
}

/* The quotient of two counts, both of which may be off */
static struct diff_value cpi(const struct diff_sum *sum, double off)
{
	double ratio;

	if (sum->instructions <= 0)
		return UNKNOWN;
	ratio = sum->cycles / sum->instructions;
	return (struct diff_value){
		.known = true, .value = ratio,
		.lo = ratio * (1 - off) / (1 + off),
		.hi = ratio * (1 + off) / (1 - off),
	};
}

struct diff_value diff_value(const struct diff *diff, const struct diff_row *row,
			     unsigned int side, enum diff_sort what)
{
	const struct diff_sum *sum = &row->sums[side];

	switch (what) {
	case DIFF_OCCUPANCY:
		return occupancy(sum, diff_unit(diff, side));
	case DIFF_BANDWIDTH:
		return bandwidth(sum);
	case DIFF_MISSES:
		return misses(sum, rounding(diff, side));
	default:
		return cpi(sum, rounding(diff, side));
	}
}

struct diff_value diff_change(const struct diff *diff, const struct diff_row *row,
			      enum diff_sort what)
{
	struct diff_value a = diff_value(diff, row, 0, what);
	struct diff_value b = diff_value(diff, row, 1, what);

	if (!a.known || !b.known)
		return UNKNOWN;
	return (struct diff_value){
		.known = true, .partial = a.partial || b.partial,
		.value = b.value - a.value, .lo = b.lo - a.hi, .hi = b.hi - a.lo,
	};
}

/* The sort key of a row: the change, or the value where it is in one recording only */
static double weight(const struct diff *diff, const struct diff_row *row)
{
	enum diff_sort what = diff->config->sort;
	struct diff_value value;

	if (diff_has(row, 0) && diff_has(row, 1))
		value = diff_change(diff, row, what);
	else
		value = diff_value(diff, row, diff_has(row, 1), what);
	return value.known ? fabs(value.value) : -1;
}

/* Both, only the first, only the second. */
static int group(const struct diff_row *row)
{
	return diff_has(row, 0) ? !diff_has(row, 1) : 2;
}

static int compare(const void *pa, const void *pb, void *ctx)
{
	const struct diff_row *a = *(const struct diff_row *const *)pa;
	const struct diff_row *b = *(const struct diff_row *const *)pb;
	double wa = weight(ctx, a), wb = weight(ctx, b);

	if (group(a) != group(b))
		return group(a) - group(b);
	if (wa != wb)
		return wa > wb ? -1 : 1;
	return strcmp(a->name, b->name);
}

int diff_sort(struct diff *diff)
{
	uint32_t nr = diff->rows.nr;

	diff->sorted = calloc(nr ? nr : 1, sizeof(struct diff_row *));
	if (!diff->sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		diff->sorted[i] = keys_at(&diff->rows, i);
	qsort_r(diff->sorted, nr, sizeof(struct diff_row *), compare, diff);
	return 0;
}

uint32_t diff_shown(const struct diff *diff)
{
	uint64_t top = diff->config->top;

	return top && top < diff->rows.nr ? (uint32_t)top : diff->rows.nr;
}
