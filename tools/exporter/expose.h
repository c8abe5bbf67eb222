/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics as text: the exposition format of Prometheus, 0.0.4, and OpenMetrics 1.0.
 *
 * A value that is not known has no line.
 */
#ifndef EXPORTER_EXPOSE_H
#define EXPORTER_EXPOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "body.h"
#include "collect.h"

/* The input of a page, owned by the caller */
struct exposition {
	const struct machine *machine;
	const struct series_set *set;
	const struct fine *fine;
	const struct exporter_config *config;
	/* Of the exporter itself. */
	double started;		/* CLOCK_REALTIME, seconds */
	uint64_t render_ns;	/* the time that the last page took; 0: there was none */
	uint64_t pages;		/* made, this one included */
};

/* Returns 0 or -ENOMEM: @out has failed. */
int expose(struct body *out, const struct exposition *exposition,
	   bool openmetrics);

#endif
