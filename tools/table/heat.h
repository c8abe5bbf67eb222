/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which cells of a row stand out: what they say is much.  Pure. */
#ifndef TOOLS_HEAT_H
#define TOOLS_HEAT_H

#include "columns.h"
#include "screen.h"

/* From here on a share of the cache, and a slowdown, are warm or hot. */
#define HEAT_CACHE_WARM	0.25
#define HEAT_CACHE_HOT	0.50
#define HEAT_SLOWER_WARM 0.05
#define HEAT_SLOWER_HOT	0.20

/* Of a share of its time that others cost an owner */
enum attribute heat_of_slowdown(double share);

/* @by: the view that the row is of. */
enum attribute heat_of(enum view by, const struct column *column,
		       const struct row *row);

#endif
