/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times in which neighbours made a container slower, with what each of them cost. */
#ifndef REPORT_INCIDENTS_H
#define REPORT_INCIDENTS_H

#include "why/why_view.h"

#define INCIDENTS_LISTED 500U	/* those that cost most */

struct incident {
	struct cmt_incident told;
	char victim[CONTAINER_LABEL_LEN];	/* raw bytes */
	char parts[CMT_INCIDENT_PARTS][CONTAINER_LABEL_LEN];
};

/* Begins as zeroes. */
struct incidents {
	struct incident *all;	/* after incidents_finish() in the order of their begins */
	uint32_t nr, room;
	uint64_t left_out;
};

/* One that has ended, or is open at the end of the page.  Returns 0 or -ENOMEM. */
int incidents_add(struct incidents *incidents, const struct why_incident *incident);

/* Nothing is added after this. */
void incidents_finish(struct incidents *incidents);
void incidents_free(struct incidents *incidents);

#endif
