// SPDX-License-Identifier: GPL-2.0-or-later
#include "expose.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "metrics.h"
#include "names.h"
#include "rows.h"

/* 0: no such value, or it cannot be read. */
static uint64_t resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	if (!statm)
		return 0;
	if (fscanf(statm, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(statm);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_value(struct writer *w, struct value value)
{
	switch (value.form) {
	case VALUE_NONE:
		break;
	case VALUE_WHOLE:
		fprintf(w->out, "%" PRIu64, value.whole);
		break;
	case VALUE_NS:
		fprintf(w->out, "%" PRIu64 ".%09" PRIu64,
			value.whole / 1000000000, value.whole % 1000000000);
		break;
	case VALUE_REAL:
		fprintf(w->out, "%.3f", value.real);
		break;
	}
}

/* @labels: of a series, or NULL; @more: one more, or NULL.  Both as they are written. */
void metric_line(struct writer *w, const char *labels, const char *more,
		 struct value value)
{
	const char *metric = w->metric->name;
	bool both = labels && *labels && more;

	if (value.form == VALUE_NONE)
		return;
	fputs_unlocked(metric, w->out);
	if (w->metric->type == METRIC_COUNTER)
		fputs_unlocked("_total", w->out);
	else if (w->metric->type == METRIC_INFO)
		fputs_unlocked("_info", w->out);
	if (labels || more) {
		fputc_unlocked('{', w->out);
		fputs_unlocked(labels ? labels : "", w->out);
		fputs_unlocked(both ? "," : "", w->out);
		fputs_unlocked(more ? more : "", w->out);
		fputc_unlocked('}', w->out);
	}
	fputc_unlocked(' ', w->out);
	put_value(w, value);
	fputc_unlocked('\n', w->out);
}

static const char *type_name(const struct writer *w)
{
	switch (w->metric->type) {
	case METRIC_COUNTER:
		return "counter";
	case METRIC_INFO:
		return w->openmetrics ? "info" : "gauge";
	default:
		return "gauge";
	}
}

/* In 0.0.4 a metric is called what its samples are called. */
static void put_head(struct writer *w)
{
	const struct metric *metric = w->metric;
	const char *suffix = w->openmetrics ? "" :
			     metric->type == METRIC_COUNTER ? "_total" :
			     metric->type == METRIC_INFO ? "_info" : "";

	fprintf(w->out, "# HELP %s%s %s\n", metric->name, suffix, metric->help);
	fprintf(w->out, "# TYPE %s%s %s\n", metric->name, suffix, type_name(w));
	if (w->openmetrics && metric->unit)
		fprintf(w->out, "# UNIT %s %s\n", metric->name, metric->unit);
}

int expose(FILE *out, const struct exposition *exposition, bool openmetrics)
{
	struct writer w = {
		.out = out, .openmetrics = openmetrics,
		.exposition = exposition,
		.resident = resident_bytes(),
		.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
	};

	for (w.metric = metrics; w.metric->name; w.metric++) {
		put_head(&w);
		w.metric->emit(&w);
	}
	if (openmetrics)
		fputs("# EOF\n", out);
	return ferror(out) ? -ENOMEM : 0;
}
