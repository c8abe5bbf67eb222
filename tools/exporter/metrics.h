/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which metrics there are, in one table. */
#ifndef EXPORTER_METRICS_H
#define EXPORTER_METRICS_H

#include "expose.h"

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_INFO, METRIC_HISTOGRAM };

struct value {
	enum { VALUE_NONE, VALUE_WHOLE, VALUE_NS, VALUE_REAL } form;
	uint64_t whole;		/* VALUE_NS: ns, written as seconds */
	double real;
};

struct metric;

/* A page that is being written. */
struct writer {
	struct body *out;
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

static inline struct value value_none(void)
{
	return (struct value){ .form = VALUE_NONE };
}

static inline struct value value_whole(uint64_t n)
{
	return (struct value){ .form = VALUE_WHOLE, .whole = n };
}

static inline struct value value_ns(uint64_t n)
{
	return (struct value){ .form = VALUE_NS, .whole = n };
}

static inline struct value value_real(double n)
{
	return (struct value){ .form = VALUE_REAL, .real = n };
}

static inline struct value value_whole_if(bool known, uint64_t n)
{
	return known ? value_whole(n) : value_none();
}

#define MORE_LEN 64	/* bytes of more labels, at most */

/*
 * A sample of w->metric, unless there is no value.  @labels: of a series, or NULL;
 * @more: one or two more, or NULL.  Both as they are written.
 */
void metric_line(struct writer *w, const char *labels, const char *more,
		 struct value value);

/* The same for a sample whose name has the suffix @suffix, such as "_bucket". */
void metric_sample(struct writer *w, const char *suffix, const char *labels,
		   const char *more, struct value value);

#endif
