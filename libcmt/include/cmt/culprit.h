/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Culprit: how much slower an owner is because of which neighbour, in which incidents, and
 * verdicts: which owner took cache, bandwidth or CPU time from which other one, since when, and
 * with which confidence.
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
 * The caller adds slot after slot, by cmt_culprit_add() or from a struct cmt_usage: the
 * occupancy and traffic of each owner and, where they are known, counters of the
 * processor.  An owner that loses cache while another one gains is a victim.  A verdict
 * names the suspects, in the order of what each gained while the victim lost.
 * docs/slowdown.md has the method, its limits and its figures.
 *
 * What tasks waited for a CPU, and who ran there, is in the frames of a usage
 * (CMT_USAGE_WAITS).  Sums over a second make a verdict: no baseline is needed, nor RDT.
 *
 * A verdict is an inference from counters, never a measurement; it has a confidence.  No
 * verdict is made from a single slot.  An interference that began before the first slot,
 * or lasts longer than the baselines, is part of the baselines: no verdict about cache or
 * memory names it; cmt_culprit_slowdown() does.  What makes a victim slower for a time is an
 * incident, whether it began with a verdict, slowly, or before the first slot.
 *
 * Pure, except cmt_culprit_refresh(): no descriptor, no clock.  All memory that is kept is
 * allocated by cmt_culprit_new().  An estimate of slowdowns allocates some while it is made;
 * every 250th slot has one, and without memory it is made in a later slot.  A replay gives the
 * same verdicts as the live run.
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
	uint32_t max_owners;	/**< most pairs of owner and L3 domain that are
				 *   followed at once; 0: 1024; at most 16384.
				 *   Samples of others only count in not_followed
				 */
	uint32_t unit_bytes;	/**< cmt_info.upscale_bytes, 0: bytes */
	uint64_t slot_ns;	/**< 0 or 1 ms; other values are not supported yet */
	uint64_t peak_bytes;	/**< greatest traffic of the memory of one L3 domain,
				 *   bytes a second; 0: not known.  Without it and
				 *   without counters there is no
				 *   CMT_CULPRIT_BANDWIDTH
				 */
	uint64_t cooldown_ns;	/**< least time between two verdicts of the same
				 *   victim, L3 domain, kind and first suspect, of
				 *   which the last four are remembered; 0: 1 s
				 */
	uint64_t reserved[4];	/**< 0 */
};

/** cmt_culprit_sample.valid: which values are known.  Others must be 0. */
#define CMT_CULPRIT_OCCUPANCY	 (1U << 0) /**< read in this slot */
#define CMT_CULPRIT_TRAFFIC	 (1U << 1)
#define CMT_CULPRIT_CYCLES	 (1U << 2)
#define CMT_CULPRIT_INSTRUCTIONS (1U << 3)
#define CMT_CULPRIT_MISSES	 (1U << 4)
#define CMT_CULPRIT_IDLE	 (1U << 5) /**< the owner did not run and was not
					    *   read: its occupancy is unchanged, and
					    *   the next reading has its traffic
					    */
#define CMT_CULPRIT_REFERENCES	 (1U << 6)
#define CMT_CULPRIT_RAN		 (1U << 7)

/** cmt_culprit_sample.flags */
#define CMT_CULPRIT_NO_VICTIM	 (1U << 0) /**< the owner can only be a suspect, as
					    *   RMID 0 and the overflow RMID
					    */
#define CMT_CULPRIT_NO_REST	 (1U << 1) /**< CMT_CULPRIT_SLOT_IDLE does not hold
					    *   for the owner
					    */

/** One owner in one L3 domain in one slot. */
struct cmt_culprit_sample {
	uint64_t id;		/**< of the owner, chosen by the caller and never used
				 *   again for another owner: for instance a cgroup
				 *   id, or an RMID with its generation
				 */
	uint32_t domain;	/**< below 64; 0 where occupancy is the sum of all
				 *   domains: a suspect may then be in another domain
				 *   than the victim
				 */
	uint32_t valid;		/**< CMT_CULPRIT_OCCUPANCY | ... */
	uint32_t flags;		/**< CMT_CULPRIT_NO_VICTIM | ... */
	uint32_t span;		/**< number of slots that the traffic covers, where
				 *   readings before this one are missing; 0: 1
				 */
	uint64_t occupancy_bytes;
	uint64_t traffic_bytes;	/**< since the last reading */
	uint64_t cycles;
	uint64_t instructions;
	uint64_t misses;	/**< of the last-level cache */
	uint64_t references;	/**< of the last-level cache; misses are among them */
	uint64_t ran_ns;	/**< CPU time, of all CPUs */
};

/** cmt_culprit_slot.flags */
#define CMT_CULPRIT_SLOT_PART	 (1U << 0) /**< the slot lacks owners: an owner that
					    *   was in the last complete slot, or in
					    *   one since, is not forgotten
					    */
#define CMT_CULPRIT_SLOT_IDLE	 (1U << 1) /**< with CMT_CULPRIT_SLOT_PART: an owner
					    *   without a sample counts as
					    *   CMT_CULPRIT_IDLE, unless its last
					    *   sample had CMT_CULPRIT_NO_REST
					    */

/** An owner that is read in every slot from the first one on can be in a verdict after at
 *  most this number of slots.
 */
#define CMT_CULPRIT_LEARN	 190U

/** A slot.  An owner without a sample is unknown in the slot, and forgotten after 2 s. */
struct cmt_culprit_slot {
	size_t sz;		/**< sizeof(struct cmt_culprit_slot) */
	uint64_t start_ns;	/**< CLOCK_MONOTONIC; that of the slot before plus a
				 *   multiple of slot_ns
				 */
	uint32_t nr_samples;
	uint32_t sample_size;	/**< bytes from one sample to the next: sizeof(struct
				 *   cmt_culprit_sample)
				 */
	const struct cmt_culprit_sample *samples;	/**< each owner and domain
							 *   at most once, in any
							 *   order; the same order
							 *   in each slot is fastest
							 */
	uint32_t flags;		/**< CMT_CULPRIT_SLOT_* */
	uint32_t reserved;	/**< 0 */
};

/** Time in which a quota or the hypervisor kept an owner from running. */
struct cmt_culprit_cpu {
	size_t sz;		/**< sizeof(struct cmt_culprit_cpu) */
	uint64_t id;
	uint64_t start_ns;	/**< begin of the time that the values cover */
	uint64_t end_ns;	/**< its end, 1 ms to 60 s later */
	uint32_t valid;		/**< CMT_CULPRIT_CPU_* */
	uint32_t reserved;	/**< 0 */
	uint64_t throttled_ns;	/**< throttled by its own quota */
	uint64_t stolen_ns;	/**< runnable, while the hypervisor had the CPU */
};

#define CMT_CULPRIT_CPU_THROTTLED (1U << 0)
#define CMT_CULPRIT_CPU_STOLEN	  (1U << 2)

/** Kinds of trouble. */
enum cmt_culprit_kind {
	CMT_CULPRIT_NONE,
	CMT_CULPRIT_CACHE,	/**< the victim lost cache to suspects */
	CMT_CULPRIT_BANDWIDTH,	/**< other owners saturate the memory */
	CMT_CULPRIT_THROTTLED,	/**< the victim's quota is used up; no suspect */
	CMT_CULPRIT_WAIT,	/**< the victim's tasks wait for CPUs.  Suspects are
				 *   other owners that ran there; none: its own tasks
				 *   did, or that is not known
				 */
	CMT_CULPRIT_STOLEN,	/**< the hypervisor took CPU time; no suspect */
};

/** One suspect. */
struct cmt_culprit_suspect {
	uint64_t id;
	double share;		/**< share in what all suspects took, 0..1; of
				 *   CMT_CULPRIT_WAIT in waited_ns
				 */
	uint64_t taken_bytes;	/**< of the victim's cache; an estimate */
	uint64_t occupancy_bytes;	/**< now */
	uint64_t occupancy_before;	/**< the median before */
	uint64_t traffic_bytes;	/**< bytes a second, now */
	uint64_t traffic_before;	/**< bytes a second, the 90th percentile before */
};

#define CMT_CULPRIT_SUSPECTS	8

/** cmt_culprit_verdict.flags */
#define CMT_CULPRIT_COUNTED	(1U << 0) /**< counters of the processor confirm
					   *   that the victim is slower; without
					   *   this flag only its loss of cache is
					   *   known
					   */
#define CMT_CULPRIT_CLIPPED	(1U << 1) /**< there may be more suspects */
#define CMT_CULPRIT_PARTIAL	(1U << 2) /**< waited_ns is a lower bound: some of the
					   *   second is not known
					   */
#define CMT_CULPRIT_QUOTA	(1U << 3) /**< of CMT_CULPRIT_WAIT: a task was out of
					   *   its quota, too, which is not in waited_ns
					   */

/** The library owns it: a later version appends members. */
struct cmt_culprit_verdict {
	uint64_t id;		/**< of the victim */
	uint32_t domain;
	enum cmt_culprit_kind kind;
	uint32_t flags;		/**< CMT_CULPRIT_COUNTED | ... */
	uint32_t nr_suspects;	/**< the first one is the culprit */
	uint64_t ts_ns;		/**< end of the last slot that the verdict is made of */
	uint64_t since_ns;	/**< begin of the interference, as far as is known; of
				 *   CMT_CULPRIT_WAIT the first of the seconds, one
				 *   after another, in which the victim waits, and if
				 *   there are suspects, in which there are some
				 */
	double confidence;	/**< 0..1: the share of such verdicts that is right in
				 *   the simulation of docs/slowdown.md.  1 for
				 *   CMT_CULPRIT_THROTTLED and _WAIT, which the
				 *   kernel reports.  NAN: not known, always for
				 *   CMT_CULPRIT_STOLEN
				 */
	uint64_t lost_bytes;	/**< occupancy: median before, less now */
	uint64_t occupancy_bytes;
	uint64_t occupancy_before;
	uint64_t refetched_bytes;	/**< the victim's traffic above its median */
	double cpi;		/**< cycles per instruction, now; NAN: not known */
	double cpi_before;	/**< the median before; NAN: not known */
	double mpki;		/**< misses per 1,000 instructions; NAN: not known */
	double mpki_before;	/**< the median before; NAN: not known */
	double cpu_share;	/**< share of the time in which the victim was kept
				 *   from running, 0..1; of CMT_CULPRIT_WAIT that of the
				 *   time in which its tasks could run.  NAN for kinds
				 *   of cache and memory
				 */
	struct cmt_culprit_suspect suspects[CMT_CULPRIT_SUSPECTS];
	/* Of CMT_CULPRIT_WAIT; else 0.  Occupancies are not known then. */
	uint64_t waited_ns;	/**< by the victim's tasks, in the last second */
	uint64_t waited_self_ns;	/**< of this, while other tasks of the victim ran */
	uint64_t waited_unknown_ns;	/**< of this, while it is not known who ran */
};

/** What a neighbour takes. */
enum cmt_slowdown_resource {
	CMT_SLOWDOWN_CPU,	/**< the kernel's account of the last second, no estimate */
	CMT_SLOWDOWN_CACHE,
	CMT_SLOWDOWN_MEMORY,	/**< a miss takes longer while others miss */
};

/** In the place of an owner because of which another one is slower: something outside this
 *  machine, as a neighbour of the hypervisor's.  No owner has this id.
 */
#define CMT_CULPRIT_OUTSIDE	UINT64_MAX

/** How much slower an owner is because of one other owner, also where nothing changes: the
 *  share of its time, running or waiting for a CPU, that it would not need without the other
 *  one.  Waits for a CPU count where they are a twentieth of a second, and of that time.
 */
struct cmt_slowdown {
	uint64_t id;		/**< the owner that is slower */
	uint64_t by;		/**< the owner because of which it is; of
				 *   CMT_SLOWDOWN_CPU also @id itself, else also
				 *   CMT_CULPRIT_OUTSIDE
				 */
	uint32_t domain;	/**< 0 of CMT_SLOWDOWN_CPU */
	enum cmt_slowdown_resource resource;
	double share;		/**< 0..1, in about the last second */
	double low;		/**< bounds, as docs/slowdown.md says; of CMT_SLOWDOWN_CPU
				 *   only a lower one where some of the second is not
				 *   known
				 */
	double high;
	double most;		/**< what all other owners together cost it by this
				 *   resource, in all domains; the sum by all resources is
				 *   below 1.  It may be less than the sum of the single
				 *   shares, and by memory than a single one: each of them
				 *   is what one owner less would change
				 */
	double cpus;		/**< on which @id could run, in about the last second: it
				 *   loses share * cpus s of CPU time a second.  NAN:
				 *   not known, as where the CPU time is known in less
				 *   than two fifths of the slots in which it ran
				 */
};

/** What one neighbour cost the victim of an incident, by one resource. */
struct cmt_incident_part {
	uint64_t by;
	uint32_t domain;	/**< 0 of CMT_SLOWDOWN_CPU */
	enum cmt_slowdown_resource resource;
	double share;		/**< as of cmt_slowdown, now */
	uint64_t held_bytes;	/**< what @by holds of the cache of @domain, by the last
				 *   reading; 0: not known, and of CMT_SLOWDOWN_CPU
				 */
	uint64_t lost_ns;	/**< CPU time that it cost since the begin; see
				 *   CMT_INCIDENT_LOST
				 */
};

#define CMT_INCIDENT_PARTS	12

/** cmt_incident.flags */
#define CMT_INCIDENT_OPEN	(1U << 0) /**< it has not ended */
#define CMT_INCIDENT_BEFORE	(1U << 1) /**< the victim was slower when the first
					   *   estimate was made: begin_ns is the begin of
					   *   the first slot, and it began before
					   */
#define CMT_INCIDENT_CLIPPED	(1U << 2) /**< there are more parts */
#define CMT_INCIDENT_LOST	(1U << 3) /**< lost_ns is known, but for times in which the
					   *   victim's CPU time was not, with a tenth at most
					   *   of what neighbours cost it; else lost_ns is 0
					   */
#define CMT_INCIDENT_UNKNOWN	(1U << 4) /**< it has ended because counters of the victim
					   *   stopped that sufficed before: it may still be
					   *   slower.  Not of waits alone, whose end is known
					   */

/**
 * A time in which neighbours made a victim slower: from CMT_INCIDENT_BEGIN on, until it is
 * less than CMT_INCIDENT_END for a second.  A victim has one at a time.  At most 128 are open:
 * that of a further victim begins when another one has ended, if it is still slower then.
 * The library owns it: a later version appends members.
 */
struct cmt_incident {
	uint64_t number;	/**< from 1 on */
	uint64_t id;		/**< of the victim */
	uint32_t flags;		/**< CMT_INCIDENT_OPEN | ... */
	uint32_t nr_parts;
	uint64_t begin_ns;	/**< as far as is known */
	uint64_t end_ns;	/**< while it is open: of the last estimate */
	double share;		/**< because of all neighbours together, now, 0..1; of an
				 *   ended one 0
				 */
	double low;		/**< bounds of share */
	double high;
	double worst;		/**< the greatest share */
	uint64_t lost_ns;	/**< CPU time: what the victim would not have needed, and of
				 *   CMT_SLOWDOWN_CPU what it waited for
				 */
	double cpi;		/**< cycles per instruction, in the last second; NAN: not
				 *   known
				 */
	double mpki;		/**< misses per 1,000 instructions; NAN: not known */
	struct cmt_incident_part parts[CMT_INCIDENT_PARTS];	/**< what cost most first; of
							 *   more, those that cost most
							 */
	double cpi_without;	/**< what cpi would be without all neighbours; NAN: not
				 *   known
				 */
};

/** Slowdowns, as shares of the victim's time, at which an incident begins and ends.  As an
 *  estimate is late by about a second, a slowdown that rises begins an incident from
 *  CMT_INCIDENT_END on, if it reaches CMT_INCIDENT_BEGIN with its rise in the last second.
 */
#define CMT_INCIDENT_BEGIN	0.05
#define CMT_INCIDENT_END	0.025

struct cmt_culprit_counts {
	size_t sz;		/**< sizeof(struct cmt_culprit_counts) */
	uint64_t slots;
	uint64_t samples;
	uint64_t verdicts;
	uint64_t missing;	/**< slots missing between those that were added */
	uint64_t not_followed;	/**< samples of owners beyond max_owners */
	uint64_t verdicts_dropped;	/**< replaced by newer ones before they were fetched */
	uint32_t owners;	/**< owners followed now */
	uint32_t learning;	/**< of these, owners whose baselines are too short */
	uint32_t counted;	/**< owners that may be victims, and that have all counters
				 *   that slowdowns by memory need, lately, in some L3
				 *   domain; while none of these runs, those that are
				 *   never victims.  0: slowdowns by memory are not known
				 */
	uint32_t referenced;	/**< those of them with references in enough slots of some
				 *   L3 domain: of the others, slowdowns by cache are not
				 *   known
				 */
};

/** Free @culprit with cmt_culprit_free().  Returns 0, -EINVAL (options) or -ENOMEM. */
CMT_API int cmt_culprit_new(struct cmt_culprit **culprit,
			    const struct cmt_culprit_opts *opts);
CMT_API void cmt_culprit_free(struct cmt_culprit *culprit);

/**
 * Add the next slot.  Slots must be in the order of time.  After a gap of more than 64
 * slots, the baselines begin again.
 *
 * Returns the number of verdicts that cmt_culprit_next() has, or -EINVAL (not after the
 * slot before, or impossible; nothing changed).
 */
CMT_API int cmt_culprit_add(struct cmt_culprit *culprit,
			    const struct cmt_culprit_slot *slot);

/**
 * Add the times in which an owner was kept from running.  From a twentieth of the time on
 * there is a verdict.  From then on, for as long as @cpu covers, the owner is in no verdict
 * about cache or memory unless counters confirm it: a pause looks like a loss of cache.
 * Verdicts about waits, and slowdowns, do not change.
 *
 * Returns the number of verdicts that cmt_culprit_next() has, or -EINVAL.  An owner that
 * is not followed is no error.
 */
CMT_API int cmt_culprit_add_cpu(struct cmt_culprit *culprit,
				const struct cmt_culprit_cpu *cpu);

/**
 * The oldest verdict that was not fetched.  The newest 64 are kept.
 * @verdict: valid until the next call with @culprit
 * Returns 1, or 0: there is none.
 */
CMT_API int cmt_culprit_next(struct cmt_culprit *culprit,
			     const struct cmt_culprit_verdict **verdict);

/**
 * The greatest slowdowns now, the greatest first.  Those by cache and memory are estimates;
 * they need cycles, instructions and misses of the slots, those by cache also references, in
 * two fifths of the slots or more, and are better with occupancies.  Waits for a CPU need
 * frames (CMT_USAGE_WAITS).
 * An owner that ran too little has none by cache and memory (cmt_culprit_too_little()).
 * Where there are more than 1,024, these are of them the greatest of each victim by each
 * resource, which has the total, and then the greatest of all others.
 * @slowdowns: room for @n, at most 1024.  Takes a millisecond for hundreds of owners.
 * Returns the number of those stored, -EINVAL (@n) or -ENOMEM.
 */
CMT_API int cmt_culprit_slowdown(const struct cmt_culprit *culprit,
				 struct cmt_slowdown *slowdowns, uint32_t n);

/**
 * The greatest slowdowns over the last minute, or since the first second: means of an estimate
 * every 250 ms, each of which weighs e to the -1 after a minute.  Also those that are none
 * now.  Seconds in which the owner ran too little to tell count as if there was none.  A gap
 * of more than 64 slots is left out of the mean, and what was before it is so much older.
 * Where there are more than 1,024, they are chosen as those of now.
 * @slowdowns: room for @n, at least 1
 * Returns the number of those stored, -EINVAL (@n) or -ENOMEM.
 */
CMT_API int cmt_culprit_slowdown_minute(const struct cmt_culprit *culprit,
					struct cmt_slowdown *slowdowns, uint32_t n);

/**
 * Owners that ran in the last seconds, but too little in the last one to tell how much slower
 * they are by cache and memory: this is not known, and not 0.  Waits for a CPU are known.
 * @ids: room for @n, in the order of ids; what has no owner is not among them
 * Returns the number of all such owners, which may be more than @n, or -ENOMEM.
 */
CMT_API int cmt_culprit_too_little(const struct cmt_culprit *culprit, uint64_t *ids,
				   uint32_t n);

/**
 * The next incident that began or ended since the last call.  An estimate every 250 ms finds
 * them, from the first second on.  The newest 32 are kept.
 * @incident: valid until the next call with @culprit
 * Returns 1, or 0: there is none.
 */
CMT_API int cmt_culprit_next_incident(struct cmt_culprit *culprit,
				      const struct cmt_incident **incident);

/** The open incident @i, from 0 on, in the order of numbers; valid until the next call with
 *  @culprit.  NULL: there are not so many.
 */
CMT_API const struct cmt_incident *cmt_culprit_incident_at(const struct cmt_culprit *culprit,
							   uint32_t i);

struct cmt_usage_frame;
struct cmt_usage_row;

/**
 * Add a frame of a usage as the next slot.  The usage must be by container or by process,
 * with an interval_ns and a slot_ns of 1 ms.  With CMT_USAGE_DOMAINS, each L3 domain is
 * judged by itself; without it, sums over all domains count as domain 0.  A frame without
 * a TICK is ignored.  A frame that cmt_usage_flush() ended must not be added.
 * CMT_USAGE_BRIEF is made for this: owners that did not run cost nothing.  With
 * CMT_USAGE_WAITS, and CMT_F_WAITED in the counters of the usage, there are verdicts of
 * CMT_CULPRIT_WAIT, at the end of a second; also where a device reads nothing.
 *
 * Returns as cmt_culprit_add().
 */
CMT_API int cmt_culprit_add_frame(struct cmt_culprit *culprit,
				  const struct cmt_usage_frame *frame);

/** Ids from here on are of owners in no cgroup, as the overflow RMID. */
#define CMT_CULPRIT_NO_CGROUP	(0xffULL << 56)

/**
 * The id in verdicts of a row of @frame, or of a part of a row.  By container: the id of
 * the cgroup, or CMT_CULPRIT_NO_CGROUP and above.  By process: made of the RMID and its
 * generation.
 */
CMT_API uint64_t cmt_culprit_id(const struct cmt_usage_frame *frame,
				const struct cmt_usage_row *row);

/**
 * Read from the kernel the time in which a quota or the hypervisor kept the cgroups of
 * @frame from running since the last call, and add it as cmt_culprit_add_cpu() does.  Sources: cpu.stat (also
 * of the cgroups above), cpu.pressure and /proc/stat.  @frame must be by container, and
 * not brief.  Reads some files of each cgroup that is followed: call it about once a
 * second.  The first call only stores the values.  A file that cannot be read, or has
 * another format, makes its value unknown.
 *
 * Throttled time counts only where all runnable tasks of the cgroup were kept from running.
 * Steal time is that of the machine; the part of an owner is estimated from
 * its CPU time.  Of an owner that wanted several CPUs, steal time, and throttled time without
 * cpu.pressure, are the part of the time that they were of what it wanted.
 *
 * @root: where cgroup v2 is mounted; used on the first call.  NULL: found by the library
 * Returns as cmt_culprit_add_cpu(), -EINVAL, or -errno of opening the root; -ENOENT:
 * cgroup v2 is not mounted.
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
