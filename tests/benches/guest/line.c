// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Least squares through medians: a kernel tick during one of the module's ticks moves
 * one point, but not the median of its x.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

static int by_x_and_y(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
}

/* With as many points as this, an x with fewer than three has no median. */
#define MANY	60

/* Moves one point for each x to the front; returns their number. */
static size_t reduce(struct point *points, size_t n)
{
	size_t i, end, out = 0, least = n < MANY ? 1 : 3;

	qsort(points, n, sizeof(*points), by_x_and_y);
	for (i = 0; i < n; i = end) {
		for (end = i; end < n && points[end].x == points[i].x; end++)
			;
		if (end - i >= least)
			points[out++] = points[i + (end - i - 1) / 2];
	}
	return out;
}

static void least_squares(const struct point *points, size_t n,
			  struct line *line)
{
	double x = 0, y = 0, xx = 0, xy = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		x += points[i].x / n;
		y += points[i].y / n;
	}
	for (i = 0; i < n; i++) {
		xx += (points[i].x - x) * (points[i].x - x);
		xy += (points[i].x - x) * (points[i].y - y);
	}
	line->slope = xy / xx;
	line->at_0 = y - line->slope * x;
}

static bool is_on(const struct point *point, const struct line *line,
		  double tolerance, double slack)
{
	double y = line->at_0 + line->slope * point->x;

	return fabs(point->y - y) <= tolerance * fabs(y) + slack;
}

static const char *say_off(const struct point *point, const struct line *line)
{
	static char text[128];

	snprintf(text, sizeof(text),
		 "no line: %.0f at %.0f samples is off %.0f + %.1f a sample",
		 point->y, point->x, line->at_0, line->slope);
	return text;
}

const char *line_fit(struct point *points, size_t n, double tolerance,
		     double slack, struct line *line)
{
	size_t i;

	n = reduce(points, n);
	*line = (struct line){ .n = n };
	if (n < LINE_XS)
		return "no line: too few different numbers of samples";
	if (points[n - 1].x - points[0].x < LINE_SPREAD)
		return "no line: the numbers of samples are too close";
	least_squares(points, n, line);
	for (i = 0; i < n; i++) {
		if (!is_on(&points[i], line, tolerance, slack))
			return say_off(&points[i], line);
	}
	return NULL;
}
