// SPDX-License-Identifier: GPL-2.0-or-later
#include "ongoing_incidents.h"

void ongoing_add(struct ongoing *ongoing, const struct ongoing_incident *incident)
{
	struct ongoing_incident *list = ongoing->list;
	uint32_t at = ongoing->nr;

	if (ongoing->nr < ONGOING_MOST)
		ongoing->nr++;
	else
		ongoing->more++;
	for (; at && list[at - 1].share < incident->share; at--)
		if (at < ONGOING_MOST)
			list[at] = list[at - 1];
	if (at < ONGOING_MOST)
		list[at] = *incident;
}
