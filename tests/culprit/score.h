/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine says of a trace, and whether that is right. */
#ifndef CULPRIT_SCORE_H
#define CULPRIT_SCORE_H

#include <cmt/culprit.h>

#include "run.h"

#define SCORE_LATENCIES	4096
#define SCORE_BINS	3

/* Of the scenarios of one kind, or of several. */
struct score {
	uint32_t phases;	/* with an aggressor and harm enough */
	uint32_t right;
	uint32_t wrong;		/* another one was named first */
	uint32_t missed;
	uint32_t own;		/* the victim's own first verdict is right, too */
	uint32_t in20;		/* named within so many ms */
	uint32_t in30;
	uint32_t in130;
	uint32_t innocent;	/* scenarios without an aggressor */
	uint32_t accused;	/* of these, with an accusation */
	uint32_t true_other;	/* of runner 0, which did take another one's cache */
	uint32_t stray;		/* accusations of others, with an aggressor */
	struct score_bin {
		uint32_t told, right;
		double sum;	/* of the confidence told */
	} bins[SCORE_BINS];	/* all accusations, by confidence */
	uint32_t nr_latencies;
	uint16_t latency_ms[SCORE_LATENCIES];	/* of the right ones */
};

/* Adds what the engine says of @trace, with or without counters. */
int score_trace(struct score *score, const struct scenario *scenario,
		const struct trace *trace, bool counters);

/* @to has the sum. */
void score_add(struct score *to, const struct score *from);

/* The latency that @percent of the right ones do not exceed. */
double score_latency(struct score *score, double percent);

/* One slot of a trace as the engine takes it; @samples: HOST_RUNNERS of them. */
void score_samples(const struct host *host, const struct reading *readings,
		   bool counters, struct cmt_culprit_sample *samples);

/* The engine on a host that goes on, slot by slot. */
struct score_live;

struct score_live *score_live_new(const struct host *host, bool counters);
void score_live_free(struct score_live *live);

/* The slot of @host that has ended.  Returns how many accusations there were. */
uint32_t score_live_add(struct score_live *live, const struct host *host,
			uint64_t ms);

extern int score_verbose;

#endif
