/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The window of open slots: the slot of a time, its contents beside readings (entries.h
 * has those), and when it is retired.  Slots are found by their start and reused.
 *
 * The window moves in one of two ways.  cmt_slots_add() moves it to a record that is
 * newer than all slots: records come in order, or nearly so.  The feed moves it by
 * cmt_slots_raise(): records come in any order within the window, and no earlier one
 * follows.
 */
#ifndef LIBCMT_WINDOW_H
#define LIBCMT_WINDOW_H

#include "channels.h"
#include "counts.h"
#include "entries.h"
#include "slots.h"

struct cpu {
	struct cmt_slot_cpu out;
	uint64_t ts;		/* of the last TICK */
};

struct slot {
	uint32_t number;	/* of the slot in cmt_entries */
	uint64_t start;
	bool open;
	uint64_t lost;
	uint32_t nr_cpus;
	struct cpu *cpus;	/* [cpu]; with ticks, if it had a record */
	struct cmt_counts perf;
	struct cmt_channels channels;
};

/* The slots that overlap [begin, end] lack records of the CPU. */
struct gap {
	uint64_t begin, end;
	bool open;		/* in some slot that is not retired */
};

struct cmt_slots {
	uint64_t slot_ns;
	uint32_t window, nr_rmids, nr_cpus;
	uint32_t perf_max;	/* of a slot */
	uint32_t events_max;	/* of an RMID, in the window */
	cmt_slot_fn fn;
	void *ctx;
	struct cmt_tracker *tracker;
	struct cmt_entries *entries;
	struct cmt_slots_counts counts;
	uint64_t floor;		/* earlier records are late; */
	uint64_t newest;	/* start of the newest slot, */
	bool started;		/* if these two are set */
	uint64_t lost;		/* not in any slot yet */
	uint32_t nr_gaps;	/* open ones */
	struct gap *gaps;	/* [cpu] */
	uint64_t synced;	/* 1 + @missed of the last cmt_slots_sync_missed() */
	struct cmt_snapshot *snapshot;	/* waits for the floor, or NULL */
	struct slot *last;		/* found */
	struct slot slots[];
};

static inline bool window_in_last(const struct cmt_slots *slots, uint64_t ts)
{
	const struct slot *last = slots->last;

	return last->open && ts - last->start < slots->slot_ns;
}

/* Records from this time on are beyond the window.  Valid if started. */
static inline uint64_t window_end(const struct cmt_slots *slots)
{
	return slots->floor + slots->window * slots->slot_ns;
}

/*
 * The slot of @ts; the window moves if necessary.  0: *found is the slot, or NULL for a
 * late record.  Otherwise the result of the callback.
 */
int window_find(struct cmt_slots *slots, uint64_t ts, struct slot **found);

/* Make the slot of @ts, which is in the window, the last one.  Returns as the callback. */
int window_take(struct cmt_slots *slots, uint64_t ts);

/* Retire all slots before @floor, in order, until the callback stops it. */
int window_raise(struct cmt_slots *slots, uint64_t floor);

/* NULL: none is open. */
struct slot *window_oldest(const struct cmt_slots *slots);

/* Give the tracker the snapshot that waits, if all slots before it are retired at @ts. */
void window_use_snapshot(struct cmt_slots *slots, uint64_t ts);

/* slots.c: what the feed adds */

/*
 * Raise the floor: no record before @ts follows.  Retires the slots that end before
 * @ts.  Returns 0 or the result of the callback.
 */
int cmt_slots_raise(struct cmt_slots *slots, uint64_t ts);

/*
 * Add @n possible records of one ring in its order, none before the floor, and all
 * before the limit.  Returns 0, or -ENOMEM: some records were not added.
 */
int cmt_slots_add_checked(struct cmt_slots *slots,
			  const struct cmt_record *records, uint32_t n);

/* Was a snapshot given after @missed, or is one about to be in force? */
bool cmt_slots_synced(const struct cmt_slots *slots, uint64_t missed);

#endif
