// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is slower because of whom, and incidents, as text. */
#include "why_view.h"

#include <math.h>

#include "why_json.h"

#define LITTLE_NAMED	4U

const char *why_label(char buf[WHY_LABEL_LEN], const struct why_name *name)
{
	escape_text(buf, WHY_LABEL_LEN, name->label, ESCAPE_ASCII);
	return buf;
}

const char *why_time(char buf[FORMAT_LEN], const struct why_state *state, uint64_t ts_ns)
{
	if (!state->clock.nr)
		return "?";
	return format_time(buf, clock_steps_at(&state->clock, ts_ns) + (int64_t)ts_ns);
}

static void put_resource(FILE *out, enum cmt_slowdown_resource resource, uint32_t domain)
{
	fprintf(out, ", %s", slower_resource(resource));
	if (resource != CMT_SLOWDOWN_CPU)
		fprintf(out, " of L3 domain %u", domain);
	fputc('\n', out);
}

static void put_head(FILE *out, const struct why_name *name, double share, double low,
		     double high)
{
	char label[WHY_LABEL_LEN];

	fprintf(out, "%s is %.0f %% slower because of its neighbours", why_label(label, name),
		100 * share);
	if (high > low)
		fprintf(out, " (estimate: %.0f to %.0f %%)", 100 * low, 100 * high);
}

static void put_share(FILE *out, const struct why_name *by, double share,
		      enum cmt_slowdown_resource resource, uint32_t domain)
{
	char label[WHY_LABEL_LEN];

	fprintf(out, "    %s: %.0f %%", why_label(label, by), 100 * share);
	put_resource(out, resource, domain);
}

static void put_slower(FILE *out, const struct slower *slower)
{
	put_head(out, &slower->name, slower->share, slower->low, slower->high);
	fputc('\n', out);
	for (uint32_t i = 0; i < slower->nr_parts; i++) {
		const struct slower_part *part = &slower->parts[i];

		if (part->share < SLOWER_LEAST)
			break;
		put_share(out, &part->by, part->share, part->resource, part->domain);
	}
}

static void put_little(FILE *out, const struct why_little *little)
{
	uint32_t n = little->nr < LITTLE_NAMED ? little->nr : LITTLE_NAMED;
	char label[WHY_LABEL_LEN];

	if (!n)
		return;
	fputs("Too little time to tell by cache and memory: ", out);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "", why_label(label, &little->list[i].name));
	if (little->nr > n)
		fprintf(out, " and %u more", little->nr - n);
	fputc('\n', out);
}

int why_view_slower(FILE *out, const struct why_state *state, const struct slower *list,
		    uint32_t n, bool any, const struct why_little *little,
		    const struct cmt_culprit_counts *counts)
{
	if (state->json)
		return why_json_slower(out, list, n, little);
	if (state->no_occupancy && counts->counted)
		fputs("How much slower containers are is estimated from counters alone.\n", out);
	if (!any && counts->referenced)
		fputs("No container is slower by 1 % or more because of its neighbours.\n", out);
	for (uint32_t i = 0; i < n; i++)
		put_slower(out, &list[i]);
	put_little(out, little);
	if (!counts->counted)
		fputs("Slowdown by cache and memory is not known: it needs counters of cycles, instructions, misses and references.\n",
		      out);
	else if (!counts->referenced)
		fputs("Slowdown by cache is not known: it needs a counter of references.\n", out);
	else if (counts->referenced < counts->counted)
		fprintf(out, "Slowdown by cache is not known of %u of %u owners: it needs a counter of references.\n",
			counts->counted - counts->referenced, counts->counted);
	return 0;
}

/* Where all is by CPU, the cycles would be the same. */
static void put_pace(FILE *out, const struct cmt_incident *told)
{
	if (isnan(told->cpi) || told->cpi_without >= told->cpi)
		return;
	fprintf(out, "    cycles per instruction %.2f, %.2f without them; misses per 1,000 instructions %.2f\n",
		told->cpi, told->cpi_without, told->mpki);
}

static const char *seconds(char buf[FORMAT_LEN], uint64_t ns)
{
	if (ns < 1000000000ULL)
		snprintf(buf, FORMAT_LEN, "%.0f ms", (double)ns / 1e6);
	else
		snprintf(buf, FORMAT_LEN, "%.1f s", (double)ns / 1e9);
	return buf;
}

static void put_lost(FILE *out, const struct cmt_incident *told)
{
	char lost[FORMAT_LEN];

	fprintf(out, "; at worst %.0f %%", 100 * told->worst);
	if (told->flags & CMT_INCIDENT_LOST)
		fprintf(out, "; %s of CPU time lost", seconds(lost, told->lost_ns));
}

static void put_remedies(FILE *out, const struct why_incident *incident)
{
	char label[WHY_LABEL_LEN];

	if (incident->nr_remedies)
		fputs("    to end it, as root:\n", out);
	for (uint32_t i = 0; i < incident->nr_remedies; i++)
		fprintf(out, "      %s: %s\n        %s\n",
			why_label(label, &incident->parts[incident->remedies[i].part]),
			incident->remedies[i].remedy.what,
			incident->remedies[i].remedy.commands);
}

static void put_going_on(FILE *out, const struct why_state *state,
			 const struct why_incident *incident, bool is_event)
{
	const struct cmt_incident *told = incident->told;
	char since[FORMAT_LEN];

	put_head(out, &incident->victim, told->share, told->low, told->high);
	if (told->flags & CMT_INCIDENT_BEFORE)
		fputs(", since before the start", out);
	else
		fprintf(out, ", since %s", why_time(since, state, told->begin_ns));
	if (!is_event)
		put_lost(out, told);
	fputc('\n', out);
	for (uint32_t i = 0; i < told->nr_parts; i++) {
		const struct cmt_incident_part *part = &told->parts[i];

		if (part->share >= SLOWER_LEAST)
			put_share(out, &incident->parts[i], part->share, part->resource,
				  part->domain);
	}
	put_pace(out, told);
	put_remedies(out, incident);
}

/* A part of less than a hundredth of all that was lost is not shown, where that is known. */
static void put_ended(FILE *out, const struct why_incident *incident)
{
	const struct cmt_incident *told = incident->told;
	char label[WHY_LABEL_LEN], text[FORMAT_LEN];
	bool known = told->flags & CMT_INCIDENT_LOST;

	fprintf(out, "%s %s slower because of its neighbours, after %s%s",
		why_label(label, &incident->victim),
		told->flags & CMT_INCIDENT_UNKNOWN ? "is not known to be still" : "is no longer",
		told->flags & CMT_INCIDENT_BEFORE ? "at least " : "",
		seconds(text, told->end_ns - told->begin_ns));
	put_lost(out, told);
	fputc('\n', out);
	for (uint32_t i = 0; i < told->nr_parts; i++) {
		const struct cmt_incident_part *part = &told->parts[i];

		if (known && part->lost_ns < told->lost_ns / 100)
			break;
		fprintf(out, "    %s", why_label(label, &incident->parts[i]));
		if (known)
			fprintf(out, ": %s", seconds(text, part->lost_ns));
		put_resource(out, part->resource, part->domain);
	}
}

int why_view_incident(FILE *out, const struct why_state *state,
		      const struct why_incident *incident, bool is_event)
{
	bool is_open = incident->told->flags & CMT_INCIDENT_OPEN;
	char time[FORMAT_LEN];

	if (state->json)
		return why_json_incident(out, state, incident, is_event);
	if (is_event)
		fprintf(out, "%s ", why_time(time, state, incident->told->end_ns));
	if (is_open)
		put_going_on(out, state, incident, is_event);
	else
		put_ended(out, incident);
	return 0;
}
