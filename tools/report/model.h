/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of a report, from the frames of 1 ms of a usage by container with
 * CMT_USAGE_DOMAINS | CMT_USAGE_BRIEF | CMT_USAGE_WAITS.
 *
 * A slot of a container is read, held, unknown, or the container is absent.  It is held
 * where the container was not read because it did not run: the occupancy of its last
 * reading counts, and the next reading brings the bandwidth of all slots since the last
 * one.  Lost or unsampled slots are unknown, and no value is held through them.
 */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include <cmt/cmt.h>

#include "common/rows.h"
#include "incidents.h"
#include "processes.h"
#include "pyramid.h"
#include "sums.h"
#include "wait_pairs.h"
#include "why/slower.h"
#include "why/why_view.h"

#define MODEL_SLOT_NS	1000000ULL
#define MODEL_SLOTS_MAX	(7ULL * 24 * 3600 * 1000)	/* a week */
#define MODEL_GAPS	1000U	/* that are listed; others are counted */
#define MODEL_VERDICTS	500U	/* that are listed: the surest */

/* Members without rows in frames; others are enum cmt_usage_kind. */
enum {
	MEMBER_CHANNEL = 100,	/* of memory: rate is reads and writes, local is reads */
	MEMBER_CHANNELS,	/* all of them */
	MEMBER_RMIDS,		/* the traffic of all RMIDs */
};

/* A container, or a row that is none. */
struct member {
	uint64_t id;		/* cmt_culprit_id() */
	uint32_t kind;		/* enum cmt_usage_kind, or MEMBER_* */
	char label[CONTAINER_LABEL_LEN];	/* raw bytes */
	char *path;		/* of its cgroup, raw bytes; NULL: none, or not known */
	char *image;		/* likewise */
	bool user;		/* its name is the word of a user: CMT_CONTAINER_OF_USER */
	bool parts;		/* its RMIDs are of parts of its cgroup: of processes */
	struct process *processes;	/* the first ones of this number: */
	uint32_t nr_processes, processes_left_out;
	uint64_t first, last;	/* slots in which it was there */
	struct point all;	/* of all its slots */
	uint32_t verdicts;	/* as a victim, */
	uint32_t suspected;	/* and as a suspect */
	uint32_t seconds;	/* in which it was asked whether it ran enough to be judged, */
	uint32_t little;	/* and it did not */
	uint32_t why;		/* CMT_USAGE_WHY_*, of any of its slots */
	uint64_t blank;		/* of its slots, those that were not sampled, or were lost */
	uint64_t waited_ns;	/* for a CPU, of all its tasks, in the others */
	bool waits;		/* waited_ns is known of some slot, */
	bool waits_partial;	/* and not of another one, or is a lower bound */
	/* on the way: */
	uint64_t done;		/* slots before this one are in the pyramid, */
	uint64_t unrated;	/* and the last one without a bandwidth is before this one */
	uint64_t occupancy;	/* of its last reading */
	uint64_t seen;		/* frames: the last one with a row of it */
	bool present;
	bool holding;		/* occupancy is known */
};

/* Slots in which nothing is known of anything. */
enum gap_why {
	GAP_UNREAD,		/* no CPU was sampled */
	GAP_LOST,		/* records of that time are missing */
};

struct gap {
	uint64_t slot, nr;
	enum gap_why why;
};

struct model_verdict {
	struct cmt_culprit_verdict verdict;
	char victim[CONTAINER_LABEL_LEN];	/* raw bytes */
	char suspects[CMT_CULPRIT_SUSPECTS][CONTAINER_LABEL_LEN];
};

struct model {
	struct pyramid pyramid;
	struct spool *spool;
	uint64_t start_ns;	/* of slot 0 */
	uint64_t slots;		/* so far */
	uint64_t ticked;	/* behind the last slot in which a CPU was sampled */
	uint64_t frames;
	bool lost_last;		/* the last frame lacks records */
	struct sums sums;
	struct wait_pairs wait_pairs;
	struct incidents incidents;
	struct member *members;
	uint32_t nr, room;
	uint32_t *table;	/* hash of id -> member + 1; 0: free */
	uint32_t table_size;	/* a power of two */
	uint64_t l3_bytes;	/* of one domain */
	uint32_t nr_domains;
	struct gap gaps[MODEL_GAPS];
	uint32_t nr_gaps;
	uint64_t gaps_left_out;
	uint64_t gap_slots;
	uint64_t lost, dropped, missed;	/* records, records, ticks */
	uint32_t period;	/* slots from one sample of a CPU to the next */
	uint32_t sampling_ns;	/* the longest that was in force */
	uint32_t nr_cpus;	/* the most that ticked in a slot */
	uint32_t counters;	/* CMT_F_* that some record had */
	uint64_t processes_left_out;	/* rows of processes that are in no list */
	char channels_reason[CMT_REASON_LEN + 1];	/* of the last frame */
	bool emulated;
	bool not_emulated;	/* some frames were not */
	struct model_verdict *verdicts;
	uint32_t nr_verdicts, room_verdicts;
	uint64_t verdicts_left_out;
	uint32_t lightest;	/* verdict, where the list is full and that was found */
	bool lightest_found;
};

/* @start_ns: of the first slot, CLOCK_MONOTONIC; a multiple of MODEL_SLOT_NS. */
void model_init(struct model *model, struct spool *spool, uint32_t unit_bytes,
		uint64_t start_ns);
void model_free(struct model *model);

/* Returns 0, -ERANGE (its time is before the last one or more than MODEL_SLOTS_MAX after
 *  the begin) or -errno.
 */
int model_add(struct model *model, const struct cmt_usage_frame *frame);

/* A verdict of the engine that has the same frames.  Returns 0 or -ENOMEM. */
int model_verdict(struct model *model, const struct cmt_culprit_verdict *verdict,
		  const struct why_names *names);

/* Who of those that are there now ran too little for a slowdown by cache and memory. */
void model_judge(struct model *model, const struct slower_little *little);

/*
 * The page ends at @end_ns: all points are in the spool, and blobs with verdicts are
 * marked as wanted.
 */
int model_finish(struct model *model, uint64_t end_ns);

/* NULL: it has no row in any frame. */
const struct member *model_find(const struct model *model, uint64_t id);

#endif
