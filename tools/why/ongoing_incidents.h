/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The incidents that go on: who is slower now because of whom, and since when. */
#ifndef TOOLS_ONGOING_INCIDENTS_H
#define TOOLS_ONGOING_INCIDENTS_H

#include "common/rows.h"

#define ONGOING_MOST 8U

struct ongoing_incident {
	uint64_t id, by_id;	/* by_id: 0 where there is none */
	char victim[CONTAINER_LABEL_LEN];	/* raw bytes, as the next one: */
	char by[CONTAINER_LABEL_LEN];	/* of the neighbour that costs most; "": none now */
	enum cmt_slowdown_resource resource;
	double share, by_share, worst;	/* 0 to 1 */
	uint64_t begin_ns;
	bool before;		/* it began before that */
};

struct ongoing {
	uint32_t nr;		/* in the list, the slowest first */
	uint32_t more;		/* further ones */
	struct ongoing_incident list[ONGOING_MOST];
};

/* Of as many as there is room for, the least slow goes. */
void ongoing_add(struct ongoing *ongoing, const struct ongoing_incident *incident);

#endif
