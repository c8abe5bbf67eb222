/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /dev/cmt by the text of uapi/cmt.h, written without code of libcmt, so that both do not
 * have the same error.
 */
#ifndef CMT_SUITE_DEV_H
#define CMT_SUITE_DEV_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/cmt.h"

#define DEV_PATH "/dev/cmt"
#define MAX_RMIDS 4096

#define OWNER_KINDS (CMT_F_OWNER_CGROUP | CMT_F_OWNER_CPU | \
		     CMT_F_OWNER_OVERFLOW | CMT_F_OWNER_RESCTRL | \
		     CMT_F_OWNER_KERNEL)

/* The kind of an owner, one flag of OWNER_KINDS; 0: a process */
static inline uint32_t owner_kind(const struct cmt_record *r)
{
	/* the others describe who is in the group */
	if (r->flags & CMT_F_OWNER_RESCTRL)
		return CMT_F_OWNER_RESCTRL;
	return r->flags & OWNER_KINDS;
}

/* With fewer RMIDs, pending owners have RMID 0 and no dedicated RMID. */
#define OVERFLOW_MIN_RMIDS 8

struct ring {
	const struct cmt_ring_header *header;
	const struct cmt_record *slots;
	uint64_t records;	/* capacity */
	uint64_t begin;		/* index of the first record of this reader */
	uint64_t pos;		/* index of the next record */
	uint64_t delivered;
	uint64_t lost;
	uint64_t last_ts;
};

struct dev {
	int fd;
	struct cmt_info info;
	struct ring *rings;	/* info.nr_cpus elements; NULL: not mapped */
};

enum dev_from { FROM_OLDEST, FROM_NOW };

void dev_open(struct dev *dev, int flags);
void dev_map(struct dev *dev, enum dev_from from);
void dev_unmap(struct dev *dev);
void dev_close(struct dev *dev);

uint64_t ring_head(const struct ring *ring);
uint32_t ring_state(const struct ring *ring);

/*
 * Take one batch by the protocol: at most max records.  The first record has the index
 * ring->pos minus the returned number.  Every record is checked.
 */
unsigned int ring_take(const struct dev *dev, struct ring *ring,
		       struct cmt_record *records, unsigned int max);

struct cmt_stats dev_stats(const struct dev *dev);
void dev_set_interval(const struct dev *dev, uint32_t ns);

struct snapshot {
	uint64_t as_of;
	uint32_t count;
	struct cmt_record records[MAX_RMIDS];
};

void dev_snapshot(const struct dev *dev, struct snapshot *snapshot);
const struct cmt_record *snapshot_find(const struct snapshot *snapshot,
				       uint32_t tgid);

/* The overflow owner, or NULL */
const struct cmt_record *snapshot_rest(const struct snapshot *snapshot);

/* All records of a device, in memory. */
struct log {
	struct cmt_record *records;
	uint64_t *indices;	/* of each in its ring */
	size_t count;
	size_t room;
};

void log_add(struct log *log, const struct cmt_record *record, uint64_t index);
void log_sort(struct log *log);		/* by (ts, cpu, index) */
void log_free(struct log *log);
bool is_lifecycle(const struct cmt_record *record);

/* Take all present records. */
void dev_drain(struct dev *dev, struct log *log);
/* Take all present records; keep only lifecycle and CPU records. */
void dev_drain_events(struct dev *dev, struct log *log);

/* A thread that drains a device's events until it is stopped. */
struct recorder {
	struct dev *dev;
	struct log log;
	pthread_t thread;
	bool stop;
	bool samples;		/* keep the records, too */
};

void recorder_start(struct recorder *recorder, struct dev *dev, bool samples);
/* Afterwards the log is sorted, and no record in it was lost. */
void recorder_stop(struct recorder *recorder);

/* The first record of a type and tgid at or after log index from, or NULL. */
const struct cmt_record *log_find(const struct log *log, size_t from,
				  uint16_t type, uint32_t tgid);
size_t log_count(const struct log *log, uint16_t type);
/*
 * The number of ticks of CPU @cpu that deferred nothing; *samples: the SAMPLEs of @rmid in
 * them.  The first tick may lack records.
 */
size_t log_count_read(const struct log *log, uint32_t cpu, uint32_t rmid, size_t *samples);

/*
 * Replay a complete history, from the load of the module on, and check the rules of the
 * pool: one owner at a time, FIFO, limbo, generations, strictly increasing times.  The
 * history must lead to the snapshot.
 */
struct history {
	uint32_t allocs;
	uint32_t frees;
	uint32_t fails;
	uint32_t reused;	/* ALLOCs of an RMID that had an owner before */
	uint64_t least_limbo_ns;
	uint64_t owner[MAX_RMIDS];	/* owner_key(), 0: none */
	uint32_t generation[MAX_RMIDS];
};

/* A key of the owner, unique and never 0. */
uint64_t owner_key(const struct cmt_record *record);

void history_replay(struct history *history, const struct log *log,
		    const struct cmt_info *info);
void history_matches(const struct history *history,
		     const struct snapshot *snapshot);

#endif
