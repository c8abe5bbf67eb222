/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Details of one owner: its last milliseconds, and its part in each L3 domain.  Pure.
 */
#ifndef TOOLS_FOLLOW_H
#define TOOLS_FOLLOW_H

#include "common/rows.h"

#define FOLLOW_SLOTS 512U
#define FOLLOW_PARTS 16U	/* more domains than that are not shown */
#define FOLLOW_SLOT_NS 1000000ULL

struct follow_part {
	uint32_t domain;
	double occupancy;	/* bytes; NAN: not known */
	double rate;		/* bytes a second, of the last whole window; NAN: not known */
	bool occupancy_partial;	/* a lower bound */
	bool rate_partial;
	uint64_t bytes;		/* in the open window, */
	bool read;		/* in which the bandwidth was read, */
	bool partial;		/* and some of it was not */
};

struct follow {
	uint64_t id;		/* cmt_culprit_id(); 0: none */
	uint64_t newest;	/* slot, of CLOCK_MONOTONIC; 0: none yet */
	uint64_t window;	/* slot with which the parts' window began, */
	bool partial;		/* in which a slot was not known */
	float occupancy[FOLLOW_SLOTS];	/* bytes, by slot modulo; NAN: not known */
	float traffic[FOLLOW_SLOTS];	/* bytes a second; NAN: not read then */
	uint32_t nr_parts;	/* 0: there is only one domain */
	struct follow_part parts[FOLLOW_PARTS];
};

/* Another id starts from empty windows. */
void follow_id(struct follow *follow, uint64_t id);

/* A frame of one slot; slots that are left out are not known. */
void follow_add(struct follow *follow, const struct cmt_usage_frame *frame);

/* The values @age slots before the newest; NAN: not known. */
double follow_occupancy(const struct follow *follow, unsigned int age);
double follow_traffic(const struct follow *follow, unsigned int age);

#endif
