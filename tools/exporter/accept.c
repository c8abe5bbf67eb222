// SPDX-License-Identifier: GPL-2.0-or-later
/* The header Accept of a request (RFC 9110, 12.5.1). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http.h"

#define SPACE " \t"

/* The parameter q of a media range, 1 where there is none. */
static double quality_of(const char *range, size_t len)
{
	const char *end = range + len;

	while ((range = memchr(range, ';', (size_t)(end - range)))) {
		range++;
		range += strspn(range, SPACE);
		if (end - range > 2 && !strncasecmp(range, "q=", 2)) {
			double q = strtod(range + 2, NULL);

			return q >= 0 && q <= 1 ? q : 0;
		}
	}
	return 1;
}

static bool is_type(const char *range, size_t len, const char *type)
{
	size_t n = strcspn(range, ";," SPACE);

	return n == strlen(type) && n <= len && !strncasecmp(range, type, n);
}

/* The best of all ranges of the type; 0: it is not there. */
static double best_of(const char *accept, const char *type)
{
	double best = 0;

	while (*accept) {
		size_t len;

		accept += strspn(accept, "," SPACE);
		len = strcspn(accept, ",");
		if (is_type(accept, len, type) &&
		    quality_of(accept, len) > best)
			best = quality_of(accept, len);
		accept += len;
	}
	return best;
}

bool http_accepts_openmetrics(const char *accept)
{
	double openmetrics;

	if (!accept)
		return false;
	openmetrics = best_of(accept, "application/openmetrics-text");
	return openmetrics > 0 && openmetrics >= best_of(accept, "text/plain");
}
