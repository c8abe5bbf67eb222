/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The culprit engine on the rings of a device, and the names of owners in its verdicts
 */
#ifndef TOOLS_WATCH_H
#define TOOLS_WATCH_H

#include "frame/follow.h"
#include "replay/replay.h"
#include "why/marks.h"
#include "why/ongoing_incidents.h"

#define WATCH_SLOT_NS 1000000ULL	/* a longer sampling interval has too little */

struct watch {
	struct cmt_device *dev;
	struct replay *replay;	/* the source in place of a device, or NULL */
	uint64_t until_ns;	/* and how far watch_marks() reads it */
	struct cmt_usage *usage;
	struct cmt_culprit *culprit;
	struct lead *lead;	/* of a recording */
	const struct cmt_usage_frame *frame;	/* the last one, or NULL */
	uint64_t lost;		/* records */
	uint64_t coarse_ns;	/* the end of the last frame that is too coarse; 0: none was */
	uint64_t judged_ns;	/* the end of the last one that was judged; 0: none was */
	bool counted_known;	/* a recording has had a state: */
	uint32_t counted, counted_ever;	/* by the last one, and by any */
	char uncounted_reason[CMT_REASON_LEN];	/* the last one that was given */
	uint64_t looked_ns;
	bool look_due;		/* at files, with the next frame that has all rows */
	uint64_t slowers_ns;	/* the end of the frame with the last watch_slowers() */
	struct follow follow;
	struct budget budget;
};

/* Without these, slowdown by cache and memory is not known. */
#define WATCH_COUNTERS	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES)
#define WATCH_AGAIN_NS	10000000000ULL	/* before a victim's verdict is repeated */

/* Why it says nothing of cache and memory: NULL, or a reason's raw bytes. */
const char *watch_lacks(const struct cmt_info *info, char reason[CMT_REASON_LEN + 1]);

/* With a reason: "bandwidth is", "occupancy is" or "occupancy and bandwidth are". */
const char *watch_lacks_what(const struct cmt_info *info);

struct config;

/*
 * Verdicts are possible of the cache, or of waiting.  Tables have marks and slowdowns; a
 * program that reads the output pays for slowdowns only where it asks for them.
 */
bool watch_wanted(const struct config *config, const struct cmt_info *info,
		  uint32_t counters);

/*
 * @counters: as of cmt_usage_opts; 0: keep those requested of @dev.  @peak_bytes and
 * @cooldown_ns: as of cmt_culprit_opts.  Returns 0 or -errno; call watch_close() in any
 * case.
 */
int watch_open(struct watch *watch, struct cmt_device *dev, uint32_t counters,
	       uint64_t peak_bytes, uint64_t cooldown_ns);

/*
 * Begin to read the recording long enough before @from_ns for complete baselines.  Slots from
 * replay->to_ns on are not processed.
 */
int watch_open_replay(struct watch *watch, struct replay *replay, uint64_t from_ns,
		      uint64_t peak_bytes, uint64_t cooldown_ns);
void watch_close(struct watch *watch);

/*
 * Process a slot.  One with a longer sampling interval than WATCH_SLOT_NS is missing time for
 * the engine.  Returns 1, 0: none is complete yet, or it is behind the part,
 * or -errno.
 */
int watch_next(struct watch *watch);

/* Is the last frame too coarse to be judged?  Of a recording: the last one of the part */
bool watch_is_coarse(const struct watch *watch);

/*
 * Once a second, read the state that is in no record: names, and with the next frame of
 * all rows the CPU files of cgroups.  Returns 1: it was done, 0 or -errno.
 */
int watch_look(struct watch *watch);

/* Fetch a verdict and the names in it, in which paths are of the last frame.  As cmt_culprit_next(). */
int watch_verdict(struct watch *watch, const struct cmt_culprit_verdict **verdict,
		  struct why_names *names);

/*
 * Process the available records, for a bounded time, and add verdicts to @marks.
 * @followed: as of follow_id().  Returns 1: there are new ones, 0, or -errno; -EDQUOT: it
 * took too much CPU time, and @marks has a note.
 */
int watch_marks(struct watch *watch, struct marks *marks, uint64_t followed);

/* With a recording: more of watch_marks() is necessary up to until_ns. */
bool watch_is_behind(const struct watch *watch);

/*
 * About once a second, who is slower because of whom, with names; unknown while the
 * sampling is too coarse.
 */
void watch_slowers(struct watch *watch, struct slowers *slowers);

/* The incidents that go on, with names; none while the sampling is too coarse. */
void watch_ongoing(const struct watch *watch, struct ongoing *ongoing);

/*
 * What the processor's counters, and the kernel, do not count of @asked, and why.  Of a
 * recording: as of the last frame.
 */
uint32_t watch_uncounted(const struct watch *watch, uint32_t asked,
			 char reason[CMT_REASON_LEN]);

/* The same, of all frames of a recording until now. */
uint32_t watch_never_counted(const struct watch *watch, uint32_t asked,
			     char reason[CMT_REASON_LEN]);

/* With watch->frame. */
void watch_name(const struct watch *watch, struct why_name *name, uint64_t id);

#endif
