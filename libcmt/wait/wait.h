/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For whom tasks waited: in each slot of time, what an owner waited for a CPU is shared out
 * among the owners that ran on that CPU in the slot, in proportion to their times there.  Its
 * own tasks have the part that a task waited while another one of them ran.  The parts add up
 * to what was waited.
 */
#ifndef LIBCMT_WAIT_WAIT_H
#define LIBCMT_WAIT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* Part of a wait for which no other one ran, or of which that is not known */
#define WAIT_UNKNOWN	UINT32_MAX

/* What @victim waited while @by ran.  Both are the caller's numbers. */
struct wait_part {
	uint32_t victim, by;
	uint64_t ns;
};

/* What one owner did on one CPU in the slot, or a part of it. */
struct wait_entry {
	uint32_t party;
	uint32_t next;		/* of the same CPU, or WAIT_UNKNOWN */
	bool idles;
	uint64_t ran_ns, waited_ns;
};

/* All members are 0 at first. */
struct wait_sums {
	/* the slot */
	uint32_t *first;	/* by CPU: its first entry */
	uint32_t nr_cpus;
	uint32_t *cpus;		/* those with entries */
	uint32_t nr_used;
	struct wait_entry *entries;
	uint32_t nr_entries, room_entries;
	uint32_t *entry_of;	/* by party, on the CPU at hand; WAIT_UNKNOWN: none */
	uint32_t room_parties;
	/* the interval */
	struct wait_part *parts;
	uint32_t nr_parts, room_parts;
	uint32_t *index;	/* of parts, by hash; WAIT_UNKNOWN: free */
	uint32_t mask;		/* 0: there is no index */
};

/* Returns 0 or -ENOMEM. */
int wait_init(struct wait_sums *sums, uint32_t nr_cpus);

/*
 * @party ran on @cpu for @ran_ns, and its tasks waited for it for @waited_ns; what it did in a
 * slot may come in several calls.  Parties are numbered from 0 on: the sums have an element
 * for each up to the greatest.  @idles: the time has that of the idle task, as RMID 0's has.
 * Returns 0 or -ENOMEM.
 */
int wait_add(struct wait_sums *sums, uint32_t cpu, uint32_t party, uint64_t ran_ns,
	     uint64_t waited_ns, bool idles);

/* The slot is complete.  Returns 0 or -ENOMEM. */
int wait_slot_end(struct wait_sums *sums);

/* The interval is complete: parts begin anew. */
void wait_reset(struct wait_sums *sums);

void wait_free(struct wait_sums *sums);

#endif
