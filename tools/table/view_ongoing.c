// SPDX-License-Identifier: GPL-2.0-or-later
/* The incidents that go on, above a table */
#include "screen.h"

#include "common/format.h"
#include "heat.h"
#include "why/slower.h"

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

void view_ongoing(struct screen *screen, const struct ongoing *ongoing,
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
