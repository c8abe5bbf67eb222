// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines above a table that are about the memory of the machine. */
#include "screen.h"

#include <math.h>

#include "common/format.h"

#define VALUE_LEN (FORMAT_LEN + 8)

static const char *rate_text(char buf[VALUE_LEN], const struct measure *m)
{
	char rate[FORMAT_LEN];

	snprintf(buf, VALUE_LEN, "%s%s", m->known && m->partial ? ">" : "",
		 m->known ? format_rate(rate, m->value) : "-");
	return buf;
}

/* The RMIDs may have more than the channels carried. */
static const char *signed_text(char buf[VALUE_LEN], double rate)
{
	char text[FORMAT_LEN];

	snprintf(buf, VALUE_LEN, "%s%s", rate < 0 ? "-" : "",
		 format_rate(text, fabs(rate)));
	return buf;
}

/* Where a part is not known, there may still be a bound. */
static const char *unattributed_text(char buf[VALUE_LEN + 8],
				     const struct memory *memory)
{
	char text[VALUE_LEN];

	if (memory->unattributed_known)
		snprintf(buf, VALUE_LEN + 8, "%s",
			 signed_text(text, memory->unattributed));
	else if (isfinite(memory->hi))
		snprintf(buf, VALUE_LEN + 8, "at most %s",
			 signed_text(text, memory->hi));
	else
		snprintf(buf, VALUE_LEN + 8, "-");
	return buf;
}

static void put_sums(struct screen *screen, const struct memory *memory)
{
	char total[VALUE_LEN], read[VALUE_LEN], written[VALUE_LEN];
	char rmids[VALUE_LEN], unattributed[VALUE_LEN + 8];

	screen_wrapped(screen, ATTRIBUTE_NONE,
		       "memory: %s (read %s, written %s), all RMIDs: %s, unattributed to RMIDs: %s",
		       rate_text(total, &memory->total),
		       rate_text(read, &memory->read),
		       rate_text(written, &memory->written),
		       rate_text(rmids, &memory->rmids),
		       unattributed_text(unattributed, memory));
}

/* Without channels, only a user who requested them gets the reason. */
void view_memory(struct screen *screen, const struct report *report)
{
	const struct memory *memory = &report->frame.memory;
	char escaped[4 * sizeof(report->channels_reason)];

	if (memory->nr_channels)
		put_sums(screen, memory);
	if (!memory->nr_channels && report->frame.by != VIEW_CHANNEL)
		return;
	if (!report->channels_reason[0])
		return;
	escape_text(escaped, sizeof(escaped), report->channels_reason,
		    ESCAPE_ASCII);
	screen_wrapped(screen, ATTRIBUTE_BOLD, "%s, because: %s",
		       memory->nr_channels ?
		       "UNAVAILABLE: some memory channels" :
		       "UNAVAILABLE: memory channels are not available here",
		       escaped);
}
