/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Culprit: who took cache or bandwidth from whom, since when, and how sure that is.
 *
 *	struct cmt_culprit_opts opts = { .sz = sizeof(opts) };
 *
 *	cmt_culprit_new(&culprit, &opts);
 *	for (each frame of 1 ms) {
 *		cmt_culprit_add_frame(culprit, frame);
 *		while (cmt_culprit_next(culprit, &verdict) > 0)
 *			show(verdict);
 *	}
 *
 * Owners are fed slot by slot, by cmt_culprit_add() or from a struct cmt_usage: what
 * each held, what it moved, and, where they are known, the counters of the processor.
 * An owner that loses cache while another one gains is a victim, and a verdict names the
 * suspects by what each gained when the victim lost.  docs/culprit.md has the method,
 * its limits and its figures.
 *
 * A verdict is an inference from counters, never a measurement: it says how sure it
 * is.  No verdict rests on one slot.  What was there before the first slot, or stays
 * for longer than the baselines are long, is in the baselines: no verdict names it,
 * and cmt_culprit_standing() estimates it.
 *
 * Pure but for cmt_culprit_refresh(): no descriptor, no clock.  No memory is allocated
 * but in cmt_culprit_new().  A replay gives the verdicts of the live run.
 */
#ifndef CMT_CULPRIT_H
#define CMT_CULPRIT_H

#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cmt_culprit;

struct cmt_culprit_opts {
	size_t sz;		/**< sizeof(struct cmt_culprit_opts) */
	uint32_t max_owners;	/**< owners times L3 domains that are followed at
				 *   once; 0: 1024; at most 16384.  Others are
				 *   counted, and not followed.
				 */
	uint32_t unit_bytes;	/**< cmt_info.upscale_bytes, 0: bytes */
	uint64_t slot_ns;	/**< 0: 1 ms, and nothing else yet */
	uint64_t peak_bytes;	/**< that the memory of one L3 domain moves in a
				 *   second; 0: not known.  Without it, and without
				 *   counters, there is no CMT_CULPRIT_BANDWIDTH.
				 */
	uint64_t cooldown_ns;	/**< a victim has no second verdict of the same kind
				 *   and first suspect for so long; 0: 1 s
				 */
	uint64_t reserved[4];	/**< 0 */
};

/** cmt_culprit_sample.valid: which values are known.  Others must be 0. */
#define CMT_CULPRIT_OCCUPANCY	 (1U << 0) /**< read in this slot */
#define CMT_CULPRIT_TRAFFIC	 (1U << 1)
#define CMT_CULPRIT_CYCLES	 (1U << 2)
#define CMT_CULPRIT_INSTRUCTIONS (1U << 3)
#define CMT_CULPRIT_MISSES	 (1U << 4)
#define CMT_CULPRIT_IDLE	 (1U << 5) /**< it did not run, and so was not
					    *   read: what it held stays, and what it
					    *   moves is told with the next reading
					    */

/** cmt_culprit_sample.flags */
#define CMT_CULPRIT_NO_VICTIM	 (1U << 0) /**< such as RMID 0, or the overflow
					    *   RMID: can be a suspect only
					    */
#define CMT_CULPRIT_NO_REST	 (1U << 1) /**< it is not idle in slots that it is not
					    *   in: CMT_CULPRIT_SLOT_PART
					    */

/** One owner in one L3 domain in one slot. */
struct cmt_culprit_sample {
	uint64_t id;		/**< of the owner: the caller's, and no other owner
				 *   has it later.  That of a cgroup, or an RMID and
				 *   its generation.
				 */
	uint32_t domain;	/**< below 64; 0 where occupancy is the sum of all domains:
				 *   then a suspect may be in another one
				 */
	uint32_t valid;		/**< CMT_CULPRIT_OCCUPANCY | ... */
	uint32_t flags;		/**< CMT_CULPRIT_NO_VICTIM | ... */
	uint32_t span;		/**< slots that the traffic is of, where readings
				 *   before this one are missing; 0: 1
				 */
	uint64_t occupancy_bytes;
	uint64_t traffic_bytes;	/**< since the last reading */
	uint64_t cycles;
	uint64_t instructions;
	uint64_t misses;	/**< of the last-level cache */
};

/** cmt_culprit_slot.flags */
#define CMT_CULPRIT_SLOT_PART	 (1U << 0) /**< who is not in it, and was in the last
					    *   slot without this flag or in one since,
					    *   is not forgotten for that
					    */
#define CMT_CULPRIT_SLOT_IDLE	 (1U << 1) /**< with CMT_CULPRIT_SLOT_PART: and is
					    *   CMT_CULPRIT_IDLE, as if a sample said so,
					    *   unless its last one had
					    *   CMT_CULPRIT_NO_REST
					    */

/** Slots after which, at the latest, one that is read in each is known well enough to be
 *  in a verdict, where it was there from the first one on.
 */
#define CMT_CULPRIT_LEARN	 190U

/** A slot.  An owner that is not in it is unknown there, and after 2 s forgotten. */
struct cmt_culprit_slot {
	size_t sz;		/**< sizeof(struct cmt_culprit_slot) */
	uint64_t start_ns;	/**< CLOCK_MONOTONIC; of the slot before and some
				 *   slots more
				 */
	uint32_t nr_samples;
	uint32_t sample_size;	/**< bytes from one sample to the next: sizeof(struct
				 *   cmt_culprit_sample)
				 */
	const struct cmt_culprit_sample *samples;	/**< each owner and domain
							 *   at most once; same
							 *   order in each slot is
							 *   fastest
							 */
	uint32_t flags;		/**< CMT_CULPRIT_SLOT_* */
	uint32_t reserved;	/**< 0 */
};

/** What kept an owner from running, from cpu.stat, cpu.pressure and steal time. */
struct cmt_culprit_cpu {
	size_t sz;		/**< sizeof(struct cmt_culprit_cpu) */
	uint64_t id;
	uint64_t start_ns;	/**< the values are of this time, */
	uint64_t end_ns;	/**< 1 ms to 60 s */
	uint32_t valid;		/**< CMT_CULPRIT_CPU_* */
	uint32_t reserved;	/**< 0 */
	uint64_t throttled_ns;	/**< by its own quota */
	uint64_t starved_ns;	/**< it could have run, and others did */
	uint64_t stolen_ns;	/**< the hypervisor took the CPU */
};

#define CMT_CULPRIT_CPU_THROTTLED (1U << 0)
#define CMT_CULPRIT_CPU_STARVED	  (1U << 1)
#define CMT_CULPRIT_CPU_STOLEN	  (1U << 2)

/** Kinds of trouble. */
enum cmt_culprit_kind {
	CMT_CULPRIT_NONE,
	CMT_CULPRIT_CACHE,	/**< its cache was taken */
	CMT_CULPRIT_BANDWIDTH,	/**< the memory is saturated, not by the victim */
	CMT_CULPRIT_OWN_SET,	/**< its own working set grew: no suspect */
	CMT_CULPRIT_THROTTLED,	/**< by its quota: no suspect */
	CMT_CULPRIT_STARVED,	/**< of CPU time: no suspect is known */
	CMT_CULPRIT_STOLEN,	/**< by the hypervisor: no suspect */
};

/** One suspect. */
struct cmt_culprit_suspect {
	uint64_t id;
	double share;		/**< of what all suspects took, 0..1 */
	uint64_t taken_bytes;	/**< of the victim's cache; an estimate */
	uint64_t occupancy_bytes;	/**< now, */
	uint64_t occupancy_before;	/**< and the median before */
	uint64_t traffic_bytes;	/**< a second, now, */
	uint64_t traffic_before;	/**< and the 90th percentile before */
};

#define CMT_CULPRIT_SUSPECTS	8

/** cmt_culprit_verdict.flags */
#define CMT_CULPRIT_COUNTED	(1U << 0) /**< counters of the processor confirm
					   *   that the victim is slower; otherwise
					   *   it is only known to lose cache
					   */
#define CMT_CULPRIT_CLIPPED	(1U << 1) /**< there may be more suspects */

/** The library owns it: a later version appends members. */
struct cmt_culprit_verdict {
	uint64_t id;		/**< of the victim */
	uint32_t domain;
	enum cmt_culprit_kind kind;
	uint32_t flags;		/**< CMT_CULPRIT_COUNTED | ... */
	uint32_t nr_suspects;	/**< the first one is the culprit */
	uint64_t ts_ns;		/**< end of the slot that decided */
	uint64_t since_ns;	/**< when it began, as far as is known */
	double confidence;	/**< 0..1: so many of such verdicts are right in
				 *   docs/culprit.md's simulation.  Of CPU trouble 1:
				 *   the kernel told.  NAN: not known, as of
				 *   CMT_CULPRIT_OWN_SET and CMT_CULPRIT_STOLEN.
				 */
	uint64_t lost_bytes;	/**< occupancy: median before, less now */
	uint64_t occupancy_bytes;
	uint64_t occupancy_before;
	uint64_t refetched_bytes;	/**< traffic above its median: what it
					 *   fetched again
					 */
	double cpi;		/**< cycles per instruction, now; NAN: not known */
	double cpi_before;	/**< the median before */
	double mpki;		/**< misses per 1,000 instructions; likewise */
	double mpki_before;
	double cpu_share;	/**< of the time that it wanted and did not get; NAN
				 *   where the kind is none of the CPU
				 */
	struct cmt_culprit_suspect suspects[CMT_CULPRIT_SUSPECTS];
	uint64_t apart_ns;	/**< the first suspect is read so seldom: it began in
				 *   the time of this length after since_ns; 0: it is
				 *   read in each slot.  RMID 0 is read once in 32.
				 */
};

/** Who displaces whom now: estimated, by flows, also where nothing changes.  Traffic has
 *  write-backs, and so the bytes are up to twice what is displaced.
 */
struct cmt_culprit_flow {
	uint64_t id;		/**< who loses lines, */
	uint64_t by;		/**< and by whose fills */
	uint32_t domain;
	uint32_t reserved;	/**< 0 */
	uint64_t bytes;		/**< a second, mean of about the last second */
};

struct cmt_culprit_counts {
	size_t sz;		/**< sizeof(struct cmt_culprit_counts) */
	uint64_t slots;
	uint64_t samples;
	uint64_t verdicts;
	uint64_t missing;	/**< slots that were left out */
	uint64_t not_followed;	/**< samples of owners beyond max_owners */
	uint64_t not_told;	/**< verdicts replaced before they were fetched */
	uint32_t owners;	/**< followed now */
	uint32_t learning;	/**< of these, with baselines too short yet */
};

/** Returns 0, -EINVAL (options) or -ENOMEM. */
CMT_API int cmt_culprit_new(struct cmt_culprit **culprit,
			    const struct cmt_culprit_opts *opts);
CMT_API void cmt_culprit_free(struct cmt_culprit *culprit);

/**
 * The next slot.  One that is not after the one before it is -EINVAL; where more
 * than 64 are left out, the baselines begin anew.
 *
 * Returns how many verdicts cmt_culprit_next() has, or -EINVAL: nothing changed.
 */
CMT_API int cmt_culprit_add(struct cmt_culprit *culprit,
			    const struct cmt_culprit_slot *slot);

/**
 * What kept an owner from running.  It makes a verdict where that is a twentieth of
 * the time or more, and while it holds no neighbour is accused for that owner.
 *
 * Returns how many verdicts cmt_culprit_next() has, or -EINVAL.  An owner that is
 * not followed is no error.
 */
CMT_API int cmt_culprit_add_cpu(struct cmt_culprit *culprit,
				const struct cmt_culprit_cpu *cpu);

/**
 * The oldest verdict that was not fetched.  At most 64 wait, the newest.
 * @verdict: valid until the next call with @culprit
 * Returns 1, or 0: there is none.
 */
CMT_API int cmt_culprit_next(struct cmt_culprit *culprit,
			     const struct cmt_culprit_verdict **verdict);

/**
 * The greatest flows now, greatest first: an estimate, which accuses nobody.
 * @flows: room for @n, at most 1024.  Takes a millisecond for hundreds of owners.
 * Returns how many were stored, or -EINVAL.
 */
CMT_API int cmt_culprit_standing(const struct cmt_culprit *culprit,
				 struct cmt_culprit_flow *flows, uint32_t n);

struct cmt_usage_frame;
struct cmt_usage_row;

/**
 * A frame of a usage is the next slot.  The usage is by container or by process, and
 * its interval_ns and slot_ns are 1 ms; with CMT_USAGE_DOMAINS the parts of its rows
 * are kept apart by domain, and without it sums are of domain 0.  A frame in which no
 * CPU ticked says nothing, and is left out.  What cmt_usage_flush() ends is no slot.
 * With CMT_USAGE_BRIEF, which is for this, who did not run costs nothing.
 *
 * Returns as cmt_culprit_add().
 */
CMT_API int cmt_culprit_add_frame(struct cmt_culprit *culprit,
				  const struct cmt_usage_frame *frame);

/** What is in no cgroup, such as the overflow RMID, has an id from here on. */
#define CMT_CULPRIT_NO_CGROUP	(0xffULL << 56)

/**
 * The id that a row of @frame, or a part of one, has in verdicts.  By container that of
 * its cgroup, or CMT_CULPRIT_NO_CGROUP and above.  By process it is of the RMID and its
 * generation.
 */
CMT_API uint64_t cmt_culprit_id(const struct cmt_usage_frame *frame,
				const struct cmt_usage_row *row);

/**
 * Ask the kernel what kept the cgroups in the rows of @frame, which is by container,
 * from running since the last call, and tell it as cmt_culprit_add_cpu() does: from
 * cpu.stat (also of the cgroups above), cpu.pressure and /proc/stat.  Reads some files
 * of each cgroup that is followed: call it once a second or so, with a frame that is not
 * brief.  The first call of all
 * tells nothing.  What cannot be read, or is not as the kernel writes it, is not known.
 *
 * Throttled is, and starved, while nothing of the cgroup ran that wanted to.  Steal time
 * is the machine's, and an owner's part of it is estimated by the CPU time that it had.
 *
 * @root: where cgroup v2 is mounted, on the first call; NULL finds it
 * Returns as cmt_culprit_add_cpu(), -EINVAL, or -errno of opening the root; -ENOENT:
 * there is none.
 */
CMT_API int cmt_culprit_refresh(struct cmt_culprit *culprit,
				const struct cmt_usage_frame *frame,
				const char *root);

/** Returns 0 or -EINVAL (sz). */
CMT_API int cmt_culprit_counts(const struct cmt_culprit *culprit,
			       struct cmt_culprit_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
