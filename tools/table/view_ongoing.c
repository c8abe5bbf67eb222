// SPDX-License-Identifier: GPL-2.0-or-later
/* The incidents that go on, above a table */
#include "screen.h"

#include "common/format.h"
#include "heat.h"
#include "why/slower.h"

#define INCIDENT_LEN (8 * CONTAINER_LABEL_LEN + 256)

/* "web is 18 % slower, 16 % by batch (cache, an estimate), for 41 s, at most 20 %" */
static void incident_text(char text[INCIDENT_LEN], const struct ongoing_incident *incident,
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
	snprintf(text, INCIDENT_LEN, "%s is %.0f %% slower%s, for %s%.0f s, at most %.0f %%", victim,
		 100 * incident->share, because, incident->before ? "at least " : "",
		 (double)age_ns / 1e9, 100 * incident->worst);
}

void view_ongoing(struct screen *screen, const struct ongoing *ongoing,
		  uint64_t now_ns, unsigned int lines)
{
	uint32_t i, all = ongoing->nr + ongoing->more;
	char text[INCIDENT_LEN], more[48];
	unsigned int used = 0;

	if (!lines)
		return;
	for (i = 0; i < ongoing->nr; i++) {
		incident_text(text, &ongoing->list[i], now_ns);
		used += screen_rows(screen, text);
		if (i && used + (i + 1 < all) > lines)
			break;
		screen_wrapped(screen, heat_of_slowdown(ongoing->list[i].share), "%s", text);
	}
	if (i == all)
		return;
	snprintf(more, sizeof(more), "+%u incident%s", all - i, all - i == 1 ? "" : "s");
	screen_line(screen, ATTRIBUTE_NONE, more);
}
