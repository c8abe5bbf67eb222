/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From raw counter values to bytes: what is known of one RMID in one L3
 * domain.  Pure; locking is the caller's (sampler.c).
 */
#ifndef CMT_COUNTER_H
#define CMT_COUNTER_H

#include <linux/types.h>

#include "backend.h"
#include "uapi/cmt.h"

/*
 * An MBM counter that is read at least once a second wraps at most once
 * between two readings (SDM vol. 3B 18.18.6.1); a tenth more is given for the
 * lateness of a timer.
 */
#define CMT_COUNTER_GAP_NS	1100000000ULL

/* The result of one read of a backend: raw is valid when status is 0. */
struct cmt_raw {
	u64 raw;
	int status;		/* 0, -EIO, -ENODATA or -EOPNOTSUPP */
};

/* One reading of an RMID: all its events, as good as at one time. */
struct cmt_reading {
	u64 ts;
	u32 epoch;		/* another one: the counters may have been reset */
	struct cmt_raw occupancy;
	struct cmt_raw total;
	struct cmt_raw local;
};

struct cmt_mbm {
	u64 prev;		/* raw */
	u64 units;		/* since the owner began, unwrapped */
	bool based;		/* prev is the previous reading */
};

struct cmt_counter {
	u32 generation;		/* whose values these are */
	u32 epoch;		/* of the last reading */
	bool begun;
	bool residual_known;
	u64 residual_bytes;
	u64 ts;			/* of the last reading */
	struct cmt_mbm total;
	struct cmt_mbm local;
};

/* A new owner begins in this domain, and nothing is known of it yet. */
void cmt_counter_begin(struct cmt_counter *counter, u32 generation,
		       const struct cmt_reading *reading);

/* It holds nothing here yet: what @reading finds is left from others. */
void cmt_counter_set_residue(struct cmt_counter *counter,
			     const struct cmt_reading *reading,
			     const struct cmt_backend_caps *caps);

/* It has had no traffic here yet: its own is counted from @reading on. */
void cmt_counter_set_base(struct cmt_counter *counter,
			  const struct cmt_reading *reading);

/*
 * Account a reading of RMID @rmid and make a SAMPLE of it: ts, type, flags,
 * rmid, generation and values; the rest of *sample is zeroed.  Call
 * cmt_counter_begin() first when the generation is a new one.
 */
void cmt_counter_sample(struct cmt_counter *counter, u32 rmid,
			const struct cmt_reading *reading,
			const struct cmt_backend_caps *caps,
			struct cmt_record *sample);

#endif
