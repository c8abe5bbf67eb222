// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics that exist only on request */
#include <inttypes.h>
#include <string.h>

#include "common/names.h"
#include "labels.h"
#include "metrics.h"
#include "metrics_fine.h"

void emit_part_occupancy(struct writer *w)
{
	const struct series_set *set = w->exposition->set;
	char more[MORE_LEN];
	uint32_t i, j;

	for (i = 0; i < set->nr; i++) {
		const struct series *series = set->all[i];

		for (j = 0; series->seen && j < series->parts.nr; j++) {
			const struct part *part = &series->parts.all[j];

			snprintf(more, sizeof(more), "domain=\"%" PRIu32 "\"",
				 part->domain);
			metric_line(w, series->labels, more,
				    value_whole_if(part->occupancy_known,
						   part->occupancy));
		}
	}
}

static void part_memory(struct writer *w, const struct series *series,
			const struct part *part)
{
	char more[MORE_LEN];

	snprintf(more, sizeof(more), "domain=\"%" PRIu32 "\",kind=\"total\"",
		 part->domain);
	metric_line(w, series->labels, more,
		    value_whole_if(part->total_known, part->total));
	snprintf(more, sizeof(more), "domain=\"%" PRIu32 "\",kind=\"local\"",
		 part->domain);
	metric_line(w, series->labels, more,
		    value_whole_if(part->local_known, part->local));
}

void emit_part_memory(struct writer *w)
{
	const struct series_set *set = w->exposition->set;
	uint32_t i, j;

	for (i = 0; i < set->nr; i++)
		for (j = 0; j < set->all[i]->parts.nr; j++)
			part_memory(w, set->all[i], &set->all[i]->parts.all[j]);
}

/* None while there is no device. */
static uint32_t nr_channels(const struct writer *w)
{
	const struct machine *machine = w->exposition->machine;

	return machine->up ? machine->channels.nr : 0;
}

static void channel_line(struct writer *w, const struct channel *channel,
			 const char *direction, struct value value)
{
	char more[MORE_LEN];

	snprintf(more, sizeof(more),
		 "socket=\"%" PRIu32 "\",channel=\"%" PRIu32 "\"%s",
		 channel->socket, channel->channel, direction);
	metric_line(w, NULL, more, value);
}

void emit_channels(struct writer *w)
{
	uint32_t i;

	for (i = 0; i < nr_channels(w); i++) {
		const struct channel *channel =
			&w->exposition->machine->channels.all[i];

		channel_line(w, channel, ",direction=\"read\"",
			     value_whole_if(channel->read_known, channel->read));
		channel_line(w, channel, ",direction=\"written\"",
			     value_whole_if(channel->written_known,
					    channel->written));
	}
}

void emit_channels_incomplete(struct writer *w)
{
	uint32_t i;

	for (i = 0; i < nr_channels(w); i++) {
		const struct channel *channel =
			&w->exposition->machine->channels.all[i];

		channel_line(w, channel, "", value_whole(channel->incomplete));
	}
}

void emit_channels_reason(struct writer *w)
{
	const char *reason = w->exposition->machine->channels.reason;
	struct labels labels = { .len = 0 };

	if (!w->exposition->config->channels || !*reason)
		return;
	labels_add(&labels, "reason", reason, strlen(reason));
	metric_line(w, labels.text, NULL, value_whole(1));
}

static void histogram_lines(struct writer *w, const char *labels,
			    const struct histogram *histogram,
			    enum histogram_kind kind)
{
	char more[MORE_LEN];
	uint64_t sum = 0;
	int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const char *bound = histogram_bounds[kind][i];

		sum += histogram->counts[i];
		snprintf(more, sizeof(more), "le=\"%s\"", bound ? bound : "+Inf");
		metric_sample(w, "_bucket", labels, more, value_whole(sum));
	}
	metric_sample(w, "_sum", labels, NULL, value_real(histogram->sum));
	metric_sample(w, "_count", labels, NULL, value_whole(sum));
}

/* A machine without the value has no histogram of it, rather than one of nothing. */
void emit_histogram(struct writer *w)
{
	const struct series_set *set = w->exposition->set;
	uint32_t i;

	for (i = 0; i < set->nr; i++) {
		const struct series *series = set->all[i];
		const struct histogram *histogram;

		if (!series->histograms)
			continue;
		histogram = &series->histograms->of[w->metric->what];
		if (histogram_count(histogram))
			histogram_lines(w, series->labels, histogram,
					(enum histogram_kind)w->metric->what);
	}
}

static void culprit_kinds(struct writer *w, bool emulated)
{
	const struct culprits *culprits = &w->exposition->fine->culprits;
	char more[MORE_LEN];
	int kind;

	for (kind = CMT_CULPRIT_CACHE; kind < CULPRIT_KINDS; kind++) {
		uint64_t n = culprits->kinds[emulated][kind];

		snprintf(more, sizeof(more), "kind=\"%s\"%s",
			 culprit_kind_name((enum cmt_culprit_kind)kind),
			 emulated ? ",emulated=\"true\"" : "");
		metric_line(w, NULL, more, value_whole_if(n || emulated == culprits->emulated, n));
	}
}

/* All kinds of the present backend from the start, so that the first verdict is an increase. */
void emit_culprit_kinds(struct writer *w)
{
	if (!w->exposition->config->culprit)
		return;
	culprit_kinds(w, false);
	culprit_kinds(w, true);
}

static void other_pairs(struct writer *w, int kind, bool emulated)
{
	uint64_t n = w->exposition->fine->culprits.others[emulated][kind];
	struct labels labels = { .len = 0 };
	const char *name = culprit_kind_name((enum cmt_culprit_kind)kind);

	if (!n)
		return;
	labels_add(&labels, "kind", name, strlen(name));
	labels_add(&labels, "victim", LABEL_OTHERS, strlen(LABEL_OTHERS));
	labels_add(&labels, "suspect", LABEL_OTHERS, strlen(LABEL_OTHERS));
	labels_emulated(&labels, emulated);
	metric_line(w, labels.text, NULL, value_whole(n));
}

void emit_culprit_pairs(struct writer *w)
{
	const struct culprits *culprits = &w->exposition->fine->culprits;
	uint32_t i;
	int kind;

	for (i = 0; i < culprits->pairs.nr; i++)
		metric_line(w, culprits->pairs.all[i].labels, NULL,
			    value_whole(culprits->pairs.all[i].sum));
	for (kind = 0; kind < CULPRIT_KINDS; kind++) {
		other_pairs(w, kind, false);
		other_pairs(w, kind, true);
	}
}

static void other_waits(struct writer *w, bool emulated)
{
	uint64_t ns = w->exposition->machine->waits.others_ns[emulated];
	struct labels labels = { .len = 0 };

	if (!ns)
		return;
	labels_add(&labels, "victim", LABEL_OTHERS, strlen(LABEL_OTHERS));
	labels_add(&labels, "runner", LABEL_OTHERS, strlen(LABEL_OTHERS));
	labels_emulated(&labels, emulated);
	metric_line(w, labels.text, NULL, value_ns(ns));
}

void emit_wait_pairs(struct writer *w)
{
	const struct waits *waits = &w->exposition->machine->waits;
	uint32_t i;

	for (i = 0; i < waits->pairs.nr; i++)
		metric_line(w, waits->pairs.all[i].labels, NULL,
			    value_ns(waits->pairs.all[i].sum));
	other_waits(w, false);
	other_waits(w, true);
}

static void emit_slowdowns(struct writer *w, const struct slowdown_list *list)
{
	for (uint32_t i = 0; i < list->nr; i++)
		metric_line(w, list->all[i].labels, NULL, value_real(list->all[i].share));
}

void emit_slowdown_pairs(struct writer *w)
{
	emit_slowdowns(w, &w->exposition->fine->culprits.slowdowns.pairs);
}

void emit_slowdown_victims(struct writer *w)
{
	emit_slowdowns(w, &w->exposition->fine->culprits.slowdowns.victims);
}

static struct value culprit_value(const struct writer *w)
{
	const struct culprits *culprits = &w->exposition->fine->culprits;
	struct cmt_culprit_counts counts = culprits_counts(culprits);

	if (w->metric->what == FINE_NOT_FOLLOWED)
		return value_whole(counts.not_followed);
	return value_whole_if(culprits->engine, counts.learning);
}

void emit_fine(struct writer *w)
{
	const struct exporter_config *config = w->exposition->config;
	const struct fine *fine = w->exposition->fine;

	if (!config->culprit && !config->histograms)
		return;
	switch (w->metric->what) {
	case FINE_FRAMES:
		metric_line(w, NULL, NULL, value_whole(fine->frames));
		return;
	case FINE_LOST:
		metric_line(w, NULL, NULL, value_whole(fine->lost));
		return;
	}
	if (config->culprit)
		metric_line(w, NULL, NULL, culprit_value(w));
}
