/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenarios: a host, what happens on it, and who is to be named for it.  A seed and
 * a kind are a scenario.
 */
#ifndef CULPRIT_SCENARIO_H
#define CULPRIT_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "host.h"

enum kind {
	/* with an aggressor */
	KIND_STREAM,		/* begins to stream */
	KIND_BURSTS,		/* streams for 5 to 50 ms now and then */
	KIND_GROW,		/* its working set grows over 40 to 200 ms */
	KIND_MANY,		/* four to eight small ones begin at once */
	KIND_CHANGING,		/* one streams, ends, then another one */
	KIND_DOMAINS,		/* two domains; the other one has a decoy */
	KIND_BYPASS,		/* saturates the memory, past the cache */
	/* without */
	KIND_LARGE,		/* a large neighbour that is always the same */
	KIND_SELF,		/* the victim's own working set outgrows the cache */
	KIND_QUOTA,		/* the victim is throttled by its quota */
	KIND_STARTUP,		/* the victim, then a small neighbour, starts */
	KIND_RISE,		/* load that rises everywhere */
	KIND_QUIET,		/* nothing happens */
	/* what is outside of all containers is RMID 0 */
	KIND_OUTSIDE,		/* an aggressor begins to stream */
	KIND_OUT_GROWS,		/* an aggressor's set grows over 40 to 200 ms */
	KIND_BESIDE,		/* a container streams; the load outside varies */
	KIND_OUT_VARIES,	/* innocent: its load varies; others may change */
	KIND_OUT_RISES,		/* innocent: its load rises slowly; likewise */
	KINDS,
};

#define KINDS_INSIDE	KIND_OUTSIDE	/* all kinds before it */

#define SCENARIO_VICTIM	0	/* id of the container that suffers */
#define SCENARIO_PHASES	2

/* Who is to be named, by container id, from when to when. */
struct phase {
	uint32_t onset_ms;
	uint32_t end_ms;	/* a name that comes later is late */
	uint32_t harm_end_ms;	/* harm is of onset_ms .. here */
	uint32_t culprits;	/* a bit for each id */
};

struct scenario {
	enum kind kind;
	uint64_t seed;
	bool hard;
	uint32_t warm_ms;	/* before the first reading */
	uint32_t length_ms;
	uint32_t nr_phases;	/* 0: no container may be named */
	struct phase phases[SCENARIO_PHASES];
	struct host host;
};

const char *kind_name(enum kind kind);
bool kind_innocent(enum kind kind);
bool kind_abrupt(enum kind kind);

/* @hard: more jitter, load steps, and decoys that begin with the aggressor. */
void scenario_make(struct scenario *scenario, enum kind kind, uint64_t seed,
		   bool hard);

#endif
