// SPDX-License-Identifier: GPL-2.0-or-later
#include "heat.h"

#include "cells.h"
#include "shares.h"

static enum attribute heat(double share, double warm, double hot)
{
	return share >= hot ? ATTRIBUTE_HOT :
	       share >= warm ? ATTRIBUTE_WARM : ATTRIBUTE_NONE;
}

/* Sums of owners, and caches, are full without anybody's doing. */
static enum attribute cache_heat(enum view by, const struct row *row)
{
	bool owned = by == VIEW_CONTAINER || by == VIEW_PROCESS;

	if (!owned || row_is_remainder(row) || !row->occupancy.known || !row->l3_bytes)
		return ATTRIBUTE_NONE;
	return heat(row->occupancy.value / (double)row->l3_bytes, HEAT_CACHE_WARM,
		    HEAT_CACHE_HOT);
}

enum attribute heat_of_slowdown(double share)
{
	return heat(share, HEAT_SLOWER_WARM, HEAT_SLOWER_HOT);
}

enum attribute heat_of(enum view by, const struct column *column,
		       const struct row *row)
{
	if (column->get == get_occupancy || column->get == get_percent ||
	    column->get == get_bar)
		return cache_heat(by, row);
	if (column->get == get_slower && row->slowed.known)
		return heat_of_slowdown(row->slowed.value);
	if (column->get == get_letter && row->letter)
		return (enum attribute)shares_attribute(row->letter);
	if (column->get == get_note && row->mark)
		return ATTRIBUTE_NOTE;
	return ATTRIBUTE_NONE;
}
