// SPDX-License-Identifier: GPL-2.0-or-later
#include "lead.h"

#include <stdlib.h>

#include "watch.h"

#define INCIDENTS	256	/* twice as many as the engine follows at once */
#define FIRST_NS	1000000000ULL	/* so long is what the first estimate of one is of */
#define LOOK_NS		(50 * WATCH_SLOT_NS)	/* shares change less often */

struct lead {
	uint64_t from_ns;
	uint64_t now_ns;	/* end of the last frame that was judged */
	uint64_t looked_ns;	/* 0: the part has not begun */
	uint32_t nr;
	/* that began before the part: cost of before it, worst since then */
	struct cmt_incident before[INCIDENTS];
	struct cmt_incident cut;
};

struct lead *lead_new(uint64_t from_ns)
{
	struct lead *lead = calloc(1, sizeof(*lead));

	if (lead)
		lead->from_ns = from_ns;
	return lead;
}

static struct cmt_incident *before_of(struct lead *lead, uint64_t number)
{
	for (uint32_t i = 0; i < lead->nr; i++)
		if (lead->before[i].number == number)
			return &lead->before[i];
	return NULL;
}

/* The first slot may begin a little before the part. */
static bool began_before(const struct lead *lead, const struct cmt_incident *told)
{
	return told->begin_ns + WATCH_SLOT_NS <= lead->from_ns;
}

/* One that is open at the begin of the part, or whose first estimate is of time before it, too */
static void add_before(struct lead *lead, const struct cmt_incident *told)
{
	struct cmt_incident *before = &lead->before[lead->nr];
	uint64_t in_ns = told->end_ns > lead->from_ns ? told->end_ns - lead->from_ns : 0;
	double part = in_ns < FIRST_NS ? 1 - (double)in_ns / FIRST_NS : 0;

	if (lead->nr == INCIDENTS || !began_before(lead, told))
		return;
	lead->nr++;
	*before = *told;
	before->worst = told->share;
	before->lost_ns = (uint64_t)(part * (double)told->lost_ns);
	for (uint32_t i = 0; i < told->nr_parts; i++)
		before->parts[i].lost_ns = (uint64_t)(part * (double)told->parts[i].lost_ns);
}

void lead_follow(struct lead *lead, const struct cmt_culprit *culprit, uint64_t end_ns)
{
	const struct cmt_incident *told;

	lead->now_ns = end_ns;
	if (end_ns < lead->from_ns ||
	    (lead->looked_ns && end_ns - lead->looked_ns < LOOK_NS))
		return;
	lead->looked_ns = end_ns;
	for (uint32_t i = 0; (told = cmt_culprit_incident_at(culprit, i)); i++) {
		struct cmt_incident *before = before_of(lead, told->number);

		if (!before)
			add_before(lead, told);
		else if (before->worst < told->share)
			before->worst = told->share;
	}
}

static uint64_t part_before(const struct cmt_incident *before,
			    const struct cmt_incident_part *part)
{
	for (uint32_t i = 0; i < before->nr_parts; i++) {
		const struct cmt_incident_part *p = &before->parts[i];

		if (p->by == part->by && p->resource == part->resource &&
		    p->domain == part->domain && p->lost_ns <= part->lost_ns)
			return p->lost_ns;
	}
	return 0;
}

/* What has cost most first, as the engine has it */
static int cmp_part(const void *pa, const void *pb)
{
	const struct cmt_incident_part *a = pa, *b = pb;

	if (a->lost_ns != b->lost_ns)
		return a->lost_ns > b->lost_ns ? -1 : 1;
	return (a->share < b->share) - (a->share > b->share);
}

static void subtract(struct cmt_incident *cut, const struct cmt_incident *before)
{
	uint32_t nr = 0;

	cut->lost_ns -= before->lost_ns;
	/* the last estimate may be newer than the last look */
	cut->worst = before->worst > cut->share ? before->worst : cut->share;
	for (uint32_t i = 0; i < cut->nr_parts; i++) {
		struct cmt_incident_part part = cut->parts[i];
		uint64_t lost_ns = part_before(before, &part);

		part.lost_ns -= lost_ns;
		if (!lost_ns || part.lost_ns || part.share > 0)
			cut->parts[nr++] = part;
	}
	cut->nr_parts = nr;
	qsort(cut->parts, nr, sizeof(cut->parts[0]), cmp_part);
}

/* What was lost by the begin of the part, or at the end, is not known: nor is what is between. */
static void lose(struct cmt_incident *told)
{
	told->flags &= ~CMT_INCIDENT_LOST;
	told->lost_ns = 0;
	for (uint32_t i = 0; i < told->nr_parts; i++)
		told->parts[i].lost_ns = 0;
}

/*
 * The last estimate of one that goes on may be of before the part.  The engine keeps one open
 * for a second after its end.
 */
static uint64_t end_of(const struct lead *lead, const struct cmt_incident *told)
{
	if (!(told->flags & CMT_INCIDENT_OPEN) || told->share < CMT_INCIDENT_END)
		return told->end_ns;
	return lead->now_ns;
}

bool lead_is_over(const struct lead *lead, const struct cmt_incident *told)
{
	return lead && (!lead->looked_ns || end_of(lead, told) < lead->from_ns);
}

const struct cmt_incident *lead_cut(struct lead *lead, const struct cmt_incident *told)
{
	const struct cmt_incident *before;
	struct cmt_incident was;

	if (!lead || !began_before(lead, told))
		return told;
	lead->cut = *told;
	lead->cut.begin_ns = lead->from_ns;
	lead->cut.end_ns = end_of(lead, told);
	lead->cut.flags |= CMT_INCIDENT_BEFORE;
	before = before_of(lead, told->number);
	if (!before)
		return &lead->cut;
	was = *before;
	if (!(was.flags & told->flags & CMT_INCIDENT_LOST)) {
		lose(&was);
		lose(&lead->cut);
	}
	subtract(&lead->cut, &was);
	return &lead->cut;
}
