/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of the last ten minutes that is served: made on request, by a child. */
#ifndef EXPORTER_SERVED_H
#define EXPORTER_SERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "http.h"
#include "recent.h"
#include "report/page.h"

#define SERVED_NS	10000000000ULL	/* a page is served for so long */
#define SERVED_LIMIT_NS	60000000000ULL	/* and takes no longer to be made */
#define SERVED_AGAIN_NS	1000000000ULL	/* before a failed page is tried again */
#define SERVED_POINTS	(8ULL << 20)	/* bytes of its timelines */
#define SERVED_BYTES	(16ULL << 20)	/* a larger page is not served */

struct served {
	struct recent *recent;
	struct child child;
	int fd;			/* of the page; -1: there is none */
	uint64_t bytes;
	uint64_t version;	/* of the last page */
	uint64_t end_ns;	/* CLOCK_MONOTONIC: of the page, or of the failure */
	char policy[PAGE_POLICY_LEN];
	int err;		/* why the last page was not made */
};

void served_open(struct served *served, struct recent *recent);
void served_close(struct served *served);

/* See whether the child has ended, and drop an old page. */
void served_step(struct served *served);

/* As http_source.report(), of a struct served. */
int served_report(void *ctx, bool asked, struct http_report *report);

#endif
