/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A victim, a streamer and a quiet one in a domain, and what is told of them. */
#ifndef TESTS_UNIT_SLOWDOWN_NEIGHBOURS_H
#define TESTS_UNIT_SLOWDOWN_NEIGHBOURS_H

#include "slowdown/slowdown.h"

#define NEIGHBOURS_PARTS	64

enum { VICTIM = 1, STREAMER, QUIET, OTHER };

extern struct slowdown sums;
extern struct slowdown_part parts[NEIGHBOURS_PARTS];

extern const struct slowdown_values streamer, quiet;
/* Holds half of a cache of 16 MiB; its misses differ from slot to slot and cost 100 cycles. */
struct slowdown_values victim_in(uint32_t slot);

void begin(uint32_t room);

/* One slot each, with these owners of domain 0 */
void add_one(uint64_t id, struct slowdown_values values);
void add_two(const struct slowdown_values *victim, const struct slowdown_values *streams);
void add_three(const struct slowdown_values *victim, const struct slowdown_values *streams,
	       const struct slowdown_values *rests);
/* @n slots with all three; not @held: no occupancy is known. */
void slot_of(uint32_t slot, bool held, uint32_t streamers_domain);
void slots_of(uint32_t n, bool held, uint32_t streamers_domain);

/* The share of @id's time that @by costs it, with all resources; 0: it is not told. */
double told(uint64_t id, uint64_t by);

#endif
