/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much slower each container is, because of which neighbours. */
#ifndef TOOLS_SLOWER_H
#define TOOLS_SLOWER_H

#include "why_names.h"

#define SLOWER_PARTS	6U
#define SLOWER_MOST	256U
#define SLOWER_LITTLE	1024U
#define SLOWER_RESOURCES (CMT_SLOWDOWN_MEMORY + 1)
#define SLOWER_LEAST	0.01	/* a smaller share is not reported */
#define SLOWER_SLOTS	1000		/* before the first estimate */

struct slower_part {
	uint64_t by_id;
	struct why_name by;
	uint32_t domain;
	enum cmt_slowdown_resource resource;
	double share;
};

/* Of all pairs by one resource */
struct slower_sum {
	double share, low, high;
	double all;	/* what all cost together */
};

struct slower {
	uint64_t id;
	struct why_name name;
	double share, low, high;	/* because of all others together */
	struct slower_sum sums[SLOWER_RESOURCES];
	bool too_little;	/* it ran too little: all but the CPU is not known */
	uint32_t nr_parts;
	struct slower_part parts[SLOWER_PARTS];	/* the greatest first */
};

/* The slowest first, without names.  Returns their number, or -ENOMEM. */
int slower_list(const struct cmt_culprit *culprit, struct slower list[SLOWER_MOST]);

/* Those that ran too little to tell by cache and memory */
struct slower_little {
	uint32_t nr, all;	/* in ids, and of all */
	uint64_t ids[SLOWER_LITTLE];	/* ascending */
};

void slower_read_little(const struct cmt_culprit *culprit, struct slower_little *little);
bool slower_is_little(const struct slower_little *little, uint64_t id);

/* At one moment, for the rows of a table. */
struct slowers {
	bool known;		/* the engine has seen a second */
	bool complete;		/* others than those in the list are not slower */
	uint32_t nr;
	struct slower list[SLOWER_MOST];
	struct slower_little little;
};

/* The slowest first, without names. */
void slowers_read(struct slowers *slowers, const struct cmt_culprit *culprit);

/*
 * Set row.slowed and row.slower of a frame by container, whose counters tell what of it
 * is known; @slowers must outlive their use.
 */
void slowers_set(const struct slowers *slowers, struct frame *frame);

/*
 * The bounds of row.slowed, where that is known.  A share below SLOWER_LEAST is not
 * reported: of it there are only bounds.
 */
double slower_low(const struct row *row);
double slower_high(const struct row *row);

/* "18% batch cache", "<1%"; ">" before it: a part is not known.  Of a row where it is known. */
const char *slower_text(char *buf, size_t size, const struct row *row);

/* "CPU", "cache" or "memory" */
const char *slower_resource(enum cmt_slowdown_resource resource);

#endif
