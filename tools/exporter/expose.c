// SPDX-License-Identifier: GPL-2.0-or-later
#include "expose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/names.h"
#include "common/rows.h"
#include "metrics.h"

#define VALUE_LEN 40	/* of a value as text */

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

/* @digits: the least number of digits, with zeroes in front.  Returns the end. */
static char *put_decimal(char *to, uint64_t n, unsigned int digits)
{
	char text[20];
	unsigned int i = sizeof(text);

	do {
		text[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n || sizeof(text) - i < digits);
	memcpy(to, text + i, sizeof(text) - i);
	return to + sizeof(text) - i;
}

static char *put_value(char *to, struct value value)
{
	switch (value.form) {
	case VALUE_NONE:
		break;
	case VALUE_WHOLE:
		return put_decimal(to, value.whole, 1);
	case VALUE_NS:
		to = put_decimal(to, value.whole / 1000000000, 1);
		*to++ = '.';
		return put_decimal(to, value.whole % 1000000000, 9);
	case VALUE_REAL:
		return to + snprintf(to, VALUE_LEN, "%.*g", 15, value.real);
	}
	return to;
}

/* The text after the labels of a series: @more, if there is one, and the value */
static void put_rest(struct writer *w, bool labels, const char *more,
		     struct value value)
{
	char text[MORE_LEN + VALUE_LEN + 8], *to = text;
	size_t len = more ? strnlen(more, MORE_LEN) : 0;

	if (labels && more)
		*to++ = ',';
	if (len)
		to = mempcpy(to, more, len);
	if (labels || more)
		*to++ = '}';
	*to++ = ' ';
	to = put_value(to, value);
	*to++ = '\n';
	body_put(w->out, text, (size_t)(to - text));
}

/* A line is put together of three pieces: a page has thousands. */
void metric_sample(struct writer *w, const char *suffix, const char *labels,
		   const char *more, struct value value)
{
	bool labelled = labels && *labels;

	if (value.form == VALUE_NONE)
		return;
	body_puts(w->out, w->metric->name);
	body_puts(w->out, suffix);
	if (labelled || more)
		body_put(w->out, "{", 1);
	if (labelled)
		body_puts(w->out, labels);
	put_rest(w, labelled, more, value);
}

static const char *sample_suffix(const struct metric *metric)
{
	switch (metric->type) {
	case METRIC_COUNTER:
		return "_total";
	case METRIC_INFO:
		return "_info";
	default:
		return "";
	}
}

void metric_line(struct writer *w, const char *labels, const char *more,
		 struct value value)
{
	metric_sample(w, sample_suffix(w->metric), labels, more, value);
}

static const char *type_name(const struct writer *w)
{
	switch (w->metric->type) {
	case METRIC_COUNTER:
		return "counter";
	case METRIC_INFO:
		return w->openmetrics ? "info" : "gauge";
	case METRIC_HISTOGRAM:
		return "histogram";
	default:
		return "gauge";
	}
}

static void put_comment(struct writer *w, const char *what, const char *suffix,
			const char *text)
{
	body_puts(w->out, what);
	body_puts(w->out, w->metric->name);
	body_puts(w->out, suffix);
	body_put(w->out, " ", 1);
	body_puts(w->out, text);
	body_put(w->out, "\n", 1);
}

/* In format 0.0.4 a metric has the name of its samples. */
static void put_head(struct writer *w)
{
	const struct metric *metric = w->metric;
	const char *suffix = w->openmetrics ? "" : sample_suffix(metric);

	put_comment(w, "# HELP ", suffix, metric->help);
	put_comment(w, "# TYPE ", suffix, type_name(w));
	if (w->openmetrics && metric->unit)
		put_comment(w, "# UNIT ", suffix, metric->unit);
}

int expose(struct body *out, const struct exposition *exposition,
	   bool openmetrics)
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
		body_puts(out, "# EOF\n");
	return out->failed ? -ENOMEM : 0;
}
