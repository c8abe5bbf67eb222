/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which metrics there are, in one table. */
#ifndef EXPORTER_METRICS_H
#define EXPORTER_METRICS_H

#include "expose.h"

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_INFO };

struct value {
	enum { VALUE_NONE, VALUE_WHOLE, VALUE_NS, VALUE_REAL } form;
	uint64_t whole;		/* VALUE_NS: ns, written as seconds */
	double real;
};

struct metric;

/* A page that is being written. */
struct writer {
	FILE *out;
	bool openmetrics;
	const struct exposition *exposition;
	const struct metric *metric;
	uint64_t resident;	/* bytes of this process, 0: not known */
	uint64_t cpu_ns;	/* of this process */
};

struct metric {
	const char *name;	/* without _total and _info; NULL ends the table */
	enum metric_type type;
	const char *unit;	/* which the name ends in; NULL: none */
	void (*emit)(struct writer *w);
	int what;		/* for emit() */
	const char *help;
};

extern const struct metric metrics[];

/* A sample of w->metric, unless there is no value. */
void metric_line(struct writer *w, const char *labels, const char *more,
		 struct value value);

#endif
