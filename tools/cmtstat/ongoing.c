// SPDX-License-Identifier: GPL-2.0-or-later
#include "ongoing.h"

#include <string.h>

#include "common/format.h"
#include "heat.h"
#include "screen.h"
#include "slower.h"

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

/* "web is 18 % slower, 16 % by batch (cache, an estimate), for 41 s, at most 20 %" */
static void put_incident(struct screen *screen, const struct ongoing_incident *incident,
			 uint64_t now_ns)
{
	char victim[4 * CONTAINER_LABEL_LEN], by[4 * CONTAINER_LABEL_LEN];
	char because[sizeof(by) + 64] = "";
	uint64_t age_ns = now_ns > incident->begin_ns ? now_ns - incident->begin_ns : 0;

	escape_text(victim, sizeof(victim), label_name(incident->victim), ESCAPE_ASCII);
	escape_text(by, sizeof(by), label_name(incident->by), ESCAPE_ASCII);
	if (by[0])
		snprintf(because, sizeof(because), ", %.0f %% by %s (%s%s)",
			 100 * incident->by_share, by, slower_resource(incident->resource),
			 incident->resource == CMT_SLOWDOWN_CPU ? "" : ", an estimate");
	screen_wrapped(screen, heat_of_slowdown(incident->share),
		       "%s is %.0f %% slower%s, for %s%.0f s, at most %.0f %%", victim,
		       100 * incident->share, because,
		       incident->before ? "at least " : "", (double)age_ns / 1e9,
		       100 * incident->worst);
}

void ongoing_put(struct screen *screen, const struct ongoing *ongoing,
		   uint64_t now_ns, unsigned int lines)
{
	uint32_t i, all = ongoing->nr + ongoing->more, nr = ongoing->nr;
	char more[48];

	if (!lines)
		return;
	if (nr > lines || all > nr)
		nr = nr < lines ? nr : lines - 1;
	for (i = 0; i < nr; i++)
		put_incident(screen, &ongoing->list[i], now_ns);
	if (all == nr)
		return;
	snprintf(more, sizeof(more), "+%u incident%s", all - nr, all - nr == 1 ? "" : "s");
	screen_line(screen, ATTRIBUTE_NONE, more);
}
