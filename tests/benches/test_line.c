// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * line_fit() of tests/bench: the line if there is one, or the reason why there is none.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define AT_0	250
#define SLOPE	100
#define N	60

static int n, failed;

static void check(bool ok, const char *name)
{
	printf("%s - %s\n", ok ? "ok" : "not ok", name);
	n++;
	failed += !ok;
}

/* 12 different x, each @N / 12 times */
static void fill(struct point *points)
{
	int i;

	for (i = 0; i < N; i++)
		points[i] = (struct point){ 2 + 3 * (i % 12),
					    AT_0 + SLOPE * (2 + 3 * (i % 12)) };
}

static const char *fit(struct point *points, size_t nr, struct line *line)
{
	return line_fit(points, nr, 0.02, 25, line);
}

static bool is_line(const char *why, const struct line *line)
{
	return !why && fabs(line->at_0 - AT_0) < 0.001 &&
	       fabs(line->slope - SLOPE) < 0.001;
}

int main(void)
{
	struct point points[N];
	struct line line;
	const char *why;
	int i;

	fill(points);
	check(is_line(fit(points, N, &line), &line), "points on a line");

	fill(points);
	points[3].y += 5000;
	points[16].y += 9000;
	check(is_line(fit(points, N, &line), &line),
	      "a disturbed point of each x moves nothing");

	fill(points);
	for (i = 0; i < N; i++)
		points[i].y += points[i].x > 15 ? 400 : 0;
	why = fit(points, N, &line);
	check(why && strstr(why, "off"), "a step is no line");

	fill(points);
	for (i = 0; i < N; i++)
		points[i].y += points[i].x * points[i].x * 3;
	why = fit(points, N, &line);
	check(why && strstr(why, "off"), "a curve is no line");

	fill(points);
	for (i = 0; i < N; i++)
		points[i].x = 7;
	check(fit(points, N, &line), "one x is no line");
	check(fit(points, 0, &line), "no point is no line");

	fill(points);
	for (i = 0; i < N; i++)
		points[i].x /= 12;
	why = fit(points, N, &line);
	check(why && strstr(why, "close"), "x within a small range are no line");

	fill(points);
	points[5].y = NAN;
	points[17].y = NAN;
	points[29].y = NAN;
	points[41].y = NAN;
	points[53].y = NAN;
	check(fit(points, N, &line), "what is no number is off the line");

	printf("%d passed, %d failed\n", n - failed, failed);
	return failed > 0;
}
