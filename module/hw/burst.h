/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A burst: the readings of one tick, on one CPU, with interrupts off.  The backends
 * instantiate cmt_burst_run() with their reading of one RMID inlined; sample/tick.c
 * chooses the RMIDs, and accounts the readings.  Pure.
 *
 * Two queues, one bit per RMID.  Hot RMIDs were loaded on this CPU since its last tick,
 * or count without being loaded (RMID 0), and are read in every tick.  The turn queue has
 * RMIDs that were not loaded; each has its turn once in CMT_TURN_TICKS ticks.  RMIDs for
 * which the budget or the room does not suffice stay in their queue, and are read first in
 * the next tick: a queue is read from its cursor on, cyclically.  A burst that can read all
 * RMIDs reads in any order.  Otherwise hot RMIDs come first, and may use three quarters of
 * budget and room.  However long a reading takes, a tick reads one hot RMID and one RMID of
 * the turn queue.
 *
 * Claims.  In one tick an RMID is read once in a domain, by the first CPU that claims
 * it, and only the CPU that has claimed it accesses the counter.  The claim is
 * cmt_counter.seen: the mark of the last tick that read the RMID, odd while that tick
 * is still reading.  A mark is the tick's boundary in units of 65 us, doubled, so that
 * no two ticks have the same mark.  No CPU waits for another one: an RMID that another
 * CPU is reading for an earlier tick stays in its queue.
 */
#ifndef CMT_BURST_H
#define CMT_BURST_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

#include "backend.h"
#include "compat.h"
#include "counter.h"

#define CMT_TURN_TICKS		32
#define CMT_BURST_MAX		80	/* readings */
#define CMT_RMID_WORDS		BITS_TO_LONGS(CMT_MAX_RMIDS)	/* at most */
#define CMT_BURST_QUEUES	3

#define CMT_MARK_SHIFT		16	/* ns, of a unit */
#define CMT_MARK_GAP		(CMT_COUNTER_GAP_NS >> CMT_MARK_SHIFT)

/* The mark of a tick, from its boundary's CLOCK_MONOTONIC. */
static inline u32 cmt_mark(u64 ns)
{
	return (u32)(ns >> CMT_MARK_SHIFT) << 1;
}

struct cmt_queue {
	unsigned long *rmids;
	u32 cursor;		/* the bit where the next burst begins */
};

struct cmt_reading {
	struct cmt_counter *counter;	/* claimed */
	u32 seen;			/* cmt_counter.seen before the claim */
	u32 cycles;			/* cycles between claim and reading, low half */
	struct cmt_raws raws;
};

struct cmt_burst {
	/* in: */
	struct cmt_counter *counters;	/* counters of the domain, by RMID */
	const u32 *generations;		/* by RMID */
	const unsigned long *readable;	/* RMIDs with an owner, and RMID 0 */
	const struct cmt_backend_caps *caps;
	unsigned long words;		/* words of each bitmap, not 0 */
	u32 mark;			/* the mark of this tick */
	u32 start;			/* cycles at the mark's time, low half */
	u32 budget;			/* the longest time after start, in cycles */
	u32 room;			/* readings, at most CMT_BURST_MAX */
	u32 events;			/* of the backend's, those to be read; may be 0 */
	/* upper bound of the number of RMIDs in the queues */
	u32 due;
	unsigned long due_words;	/* a bit for each word that has such RMIDs */
	bool careful;			/* check every access */
	struct cmt_reading *first;	/* read regardless of the time */
	struct cmt_queue hot;
	struct cmt_queue turn;
	struct cmt_queue mixed;		/* both queues; the cursor stays 0 */
	/* out: */
	struct cmt_reading *end;	/* end of readings */
	unsigned long busy;		/* not 0: other CPUs were reading some RMIDs */
	bool cut;			/* RMIDs are left; in: the last burst left RMIDs */
	/* some raw value may have no data; always, if an event was not read */
	bool flawed;
	struct cmt_reading readings[CMT_BURST_MAX];
};

/* @bits: zero, CMT_BURST_QUEUES times @words, which has room for every RMID. */
static inline void cmt_burst_init(struct cmt_burst *burst, unsigned long *bits,
				  u32 words)
{
	burst->hot.rmids = bits;
	burst->turn.rmids = bits + words;
	burst->mixed.rmids = bits + 2 * words;
}

enum cmt_claim { CMT_CLAIM_READ, CMT_CLAIM_SKIP, CMT_CLAIM_BUSY };

/* The rare cases, out of line: all but a finished reading in the last CMT_MARK_GAP. */
enum cmt_claim cmt_claim_odd(struct cmt_counter *counter, u32 mark, u32 *seen);

/*
 * The claimed counter does not continue its last reading.  Returns whether there
 * is an owner; the claim is released if there is none.
 */
bool cmt_burst_renew(const struct cmt_burst *burst, struct cmt_counter *counter,
		     u32 seen);

/*
 * Queue the idle RMIDs whose turn it is at tick number @tick, in this CPU's words: the
 * @first, and every @readers-th from there.
 */
static __always_inline void cmt_burst_add_turns(struct cmt_burst *burst,
						u64 tick, u32 first,
						u32 readers)
{
	unsigned long due = 0x100000001UL << (tick % CMT_TURN_TICKS);
	unsigned long *turn = burst->turn.rmids, word;

	for (word = first; word < burst->words; word += readers)
		turn[word] |= READ_ONCE(burst->readable[word]) & due;
}

/* Is anything to be read?  Most ticks without a reading end here. */
static __always_inline bool cmt_burst_is_due(struct cmt_burst *burst)
{
	const unsigned long *hot = burst->hot.rmids, *turn = burst->turn.rmids;
	unsigned long word = 0, words = 0;
	u32 due = 0;

	do {
		unsigned long rmids = hot[word] | turn[word];

		if (!rmids)
			continue;
		burst->mixed.rmids[word] = rmids;
		due += hweight_long(rmids);
		words |= BIT(word);
	} while (++word != burst->words);
	if (!due)
		return false;
	burst->due_words = words;
	burst->due = due;
	return true;
}

/* The next pass after @pass.  False: there is none. */
bool cmt_burst_next(struct cmt_burst *burst, int pass, struct cmt_queue **queue,
		    u32 *budget, u32 *room);

/* Discard the readings: the state is that before the burst. */
void cmt_burst_discard(struct cmt_burst *burst);

/* RMIDs left in the queues. */
u32 cmt_burst_waiting(const struct cmt_burst *burst);

/*
 * Claim a counter outside of a tick.  False: another reader has claimed it.  *seen: for
 * the release when nothing is read.
 */
static inline bool cmt_claim_any(struct cmt_counter *counter, u32 *seen)
{
	*seen = READ_ONCE(counter->seen);
	return !(*seen & 1) && try_cmpxchg(&counter->seen, seen, *seen | 1);
}

/* Let the next tick read the RMID again. */
static __always_inline void cmt_claim_release(struct cmt_counter *counter,
					      u32 seen)
{
	/*
	 * pairs with the cmpxchg in cmt_claim(): the accounting is visible to the next
	 * claim
	 */
	smp_store_release(&counter->seen, seen);
}

/*
 * @busy: the tick's mark, odd.  The two conditions, 0 < age <= CMT_MARK_GAP and no
 * reading under way, are one comparison: an even difference has no highest bit after
 * the rotation.  *seen: for the release when nothing is read.
 */
static __always_inline enum cmt_claim
cmt_claim(struct cmt_counter *counter, u32 busy, u32 *seen)
{
	u32 old = READ_ONCE(counter->seen);

	*seen = old;
	if (unlikely(ror32(busy - old, 1) - 0x80000001U >= (u32)CMT_MARK_GAP))
		return cmt_claim_odd(counter, busy - 1, seen);
	if (unlikely(!try_cmpxchg(&counter->seen, &old, busy)))
		return old >> 1 == busy >> 1 ? CMT_CLAIM_SKIP : CMT_CLAIM_BUSY;
	return CMT_CLAIM_READ;
}

/* The lowest bits of @rmids, at most @n. */
static inline unsigned long cmt_lowest(unsigned long rmids, u32 n)
{
	unsigned long rest = rmids;

	if (hweight_long(rmids) <= n)
		return rmids;
	while (n--)
		rest &= rest - 1;
	return rmids & ~rest;
}

/*
 * Read the RMIDs @due of word @word by @read(@context, rmid, raws), until @limit.
 * Returns the RMIDs that were not read in time; adds busy ones to *busy.
 */
static __always_inline unsigned long
cmt_burst_word(struct cmt_burst *burst, u32 word, unsigned long due, u32 limit,
	       unsigned long *busy,
	       void (*read)(void *context, u32 rmid, struct cmt_raws *raws),
	       void *context)
{
	u32 first = word * BITS_PER_LONG, mark = burst->mark | 1;
	struct cmt_counter *counters = burst->counters + first;
	const u32 *generations = burst->generations + first;
	struct cmt_reading *reading = burst->end;

	/* else the compiler adds @first to @bit again and again */
	OPTIMIZER_HIDE_VAR(counters);
	OPTIMIZER_HIDE_VAR(generations);
	do {
		unsigned long bit = __ffs(due);
		struct cmt_counter *counter = &counters[bit];
		enum cmt_claim claim;

		claim = cmt_claim(counter, mark, &reading->seen);
		if (unlikely(claim != CMT_CLAIM_READ)) {
			if (claim == CMT_CLAIM_BUSY)
				*busy |= BIT(bit);
			continue;
		}
		/* with the claim: no reading of another CPU is later, and older in value */
		reading->cycles = cmt_cycles_low();
		if (unlikely((s32)(reading->cycles - limit) >= 0) &&
		    reading != burst->first) {
			cmt_claim_release(counter, reading->seen);
			break;
		}
		/* loaded after the claim */
		if (unlikely(counter->key != READ_ONCE(generations[bit])) &&
		    !cmt_burst_renew(burst, counter, reading->seen))
			continue;
		reading->counter = counter;
		read(context, first + bit, &reading->raws);
		reading++;
	} while (due &= due - 1);
	burst->end = reading;
	return due;
}

/*
 * Read the RMIDs of one queue until the time @limit, or until @last is reached.  Returns
 * whether one of these ended the reading.
 */
static __always_inline bool
cmt_burst_queue(struct cmt_burst *burst, struct cmt_queue *queue, u32 limit,
		struct cmt_reading *last,
		void (*read)(void *context, u32 rmid, struct cmt_raws *raws),
		void *context)
{
	u32 cursor = queue->cursor, first = cursor / BITS_PER_LONG, word;
	unsigned long part = ~0UL << cursor % BITS_PER_LONG;
	/*
	 * the words from the cursor on, then the words before it and the cursor's own
	 */
	unsigned long words = burst->due_words & (~0UL << first);
	unsigned long around = burst->due_words & ~((~0UL << 1) << first);
	unsigned long *rmids = queue->rmids, due, late, kept;

	if (likely(!cursor))
		around = 0;
	for (;;) {
		unsigned long all, busy = 0;

		if (!words) {
			if (!around)
				break;
			words = around;
			around = 0;
			part = ~part;
		}
		word = __ffs(words);
		words &= words - 1;
		all = rmids[word] & READ_ONCE(burst->readable[word]);
		kept = 0;
		if (word == first) {
			kept = all & ~part;
			all &= part;
		}
		due = all;
		if (unlikely(last - burst->end < BITS_PER_LONG))
			due = cmt_lowest(due, last - burst->end);
		late = all & ~due;
		if (likely(due))
			late |= cmt_burst_word(burst, word, due, limit, &busy,
					       read, context);
		burst->busy |= busy;
		rmids[word] = kept | late | busy;
		if (unlikely(late)) {
			queue->cursor = word * BITS_PER_LONG + __ffs(late);
			return true;
		}
	}
	queue->cursor = 0;
	return false;
}

/* Nothing is left, but RMIDs that were busy: they are hot in the next burst. */
static inline void cmt_burst_empty(struct cmt_burst *burst)
{
	unsigned long *hot = burst->hot.rmids, *turn = burst->turn.rmids;
	const unsigned long *mixed = burst->mixed.rmids;
	unsigned long words = burst->due_words;

	for (; words; words &= words - 1) {
		u32 word = __ffs(words);

		hot[word] = mixed[word];
		turn[word] = 0;
	}
}

/*
 * Read the due RMIDs in passes.  First all RMIDs in any order, if there is room for
 * them and half of the budget suffices, which is so for most bursts.  If not, or after
 * a burst that left some: hot RMIDs up to three quarters, the turn queue with the rest,
 * and then hot ones again.
 */
static __always_inline void
cmt_burst_run(struct cmt_burst *burst,
	      void (*read)(void *context, u32 rmid, struct cmt_raws *raws),
	      void *context)
{
	/* with room for all that is due, no word has to be looked at for it */
	u32 budget = burst->budget / 2, room = CMT_BURST_MAX + BITS_PER_LONG;
	struct cmt_queue *queue = &burst->mixed;
	int pass = 0;

	burst->end = burst->readings;
	burst->first = NULL;
	burst->busy = 0;
	if (unlikely(burst->due > burst->room || burst->cut))
		cmt_burst_next(burst, pass++, &queue, &budget, &room);
	for (;; pass++) {
		burst->cut = cmt_burst_queue(burst, queue,
					     burst->start + budget,
					     burst->readings + room, read,
					     context);
		if (likely(!pass && !burst->cut))
			return cmt_burst_empty(burst);
		if (!cmt_burst_next(burst, pass, &queue, &budget, &room))
			return;
	}
}

#endif
