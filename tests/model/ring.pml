// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The broadcast ring: one writer (module/ring/writer.h), one reader (libcmt/ring/ring.c).
 * Readers map the ring read-only and do not know of each other, so that what
 * holds for one holds for each of several.
 *
 * A record is two words, both of them its own index.  The orders that the C code
 * does not forbid are explored:
 *
 *	stores	wait in the writer's buffer.  Those of the words leave it in any
 *		order; a release store leaves it after all that came before it; a
 *		write barrier lets nothing of later leave before what is earlier.
 *	loads	of the words are done in any order.  An acquire load is done before
 *		all loads behind it; a load barrier is between those before it and
 *		those behind it.
 *
 * A store that has left the buffer is seen by all CPUs at once (x86, Armv8).
 *
 * Bounds: RECORDS records through a ring of CAPACITY, copied by up to BATCH.
 *
 * The names of the steps (W1 .. W5, R1 .. R6) are in the C code, too.  With one of
 * the macros below the model is one step short, and spin finds what goes wrong:
 *
 *	NO_RELEASE	W3 is a plain store
 *	NO_WRITE_BARRIER	without W4
 *	NO_ACQUIRE	R2 is a plain load
 *	NO_LOAD_BARRIER	without R4
 *	KEEPS_OLDEST	R6 keeps one record more: i >= head - CAPACITY
 *	PUBLISHES_PAIRS	W3 publishes two records that were filled in one go
 *	HEAD_BEFORE_STATE	R1 and R2 the other way round
 */
#ifndef CAPACITY
#define CAPACITY 4
#endif
#ifndef RECORDS
#define RECORDS 7
#endif
#ifndef BATCH
#define BATCH 2
#endif
#ifdef PUBLISHES_PAIRS
#define STEP 2
#else
#define STEP 1
#endif

#define ONLINE 1
#define OFFLINE 2
#define NOTHING 99

#define WORD(index, word) (2 * ((index) % CAPACITY) + (word))
#define OLDEST(h) ((h) < CAPACITY -> 0 : (h) - CAPACITY + 1)

/* Shared memory. */
byte slots[2 * CAPACITY] = NOTHING;
byte head;
byte state;

/* The writer's buffer: words of records from `fills` on, and a head. */
bit waits[2 * STEP];
bit head_waits;
byte head_value;

proctype writer()
{
	byte n, i;

	state = ONLINE;				/* W1, release: nothing is before it */
	do
	:: n < RECORDS ->
		/* W2: the record into its slot. */
		for (i : 0 .. 2 * STEP - 1) {
			waits[i] = 1
		}
#ifdef NO_RELEASE
		head_waits = 1;
		head_value = n + STEP;
#endif
		do
		:: waits[0] -> atomic { slots[WORD(n, 0)] = n; waits[0] = 0 }
		:: waits[1] -> atomic { slots[WORD(n, 1)] = n; waits[1] = 0 }
#ifdef PUBLISHES_PAIRS
		:: waits[2] -> atomic { slots[WORD(n + 1, 0)] = n + 1; waits[2] = 0 }
		:: waits[3] -> atomic { slots[WORD(n + 1, 1)] = n + 1; waits[3] = 0 }
		:: !waits[0] && !waits[1] && !waits[2] && !waits[3] -> break
#else
#ifdef NO_RELEASE
		:: !waits[0] && !waits[1] && !head_waits -> break
#else
		:: !waits[0] && !waits[1] -> break
#endif
#endif
		:: head_waits -> atomic { head = head_value; head_waits = 0 }
		od;
#ifndef NO_RELEASE
		/* W3: head, after the record; two heads stay in their order. */
		if
		:: head_waits -> head = head_value
		:: else
		fi;
#ifdef NO_WRITE_BARRIER
		atomic { head_waits = 1; head_value = n + STEP };
#else
		head = n + STEP;		/* W4: before the next record */
#endif
#endif
		n = n + STEP
	:: else -> break
	od;
	if
	:: head_waits -> atomic { head = head_value; head_waits = 0 }
	:: else
	fi;
	state = OFFLINE				/* W5, release: after head */
}

/* Of the reader. */
byte pos, delivered, lost;
byte first, end, oldest, h, h2, i, seen;
byte copy[2 * BATCH];
bit wanted[2 * BATCH];
bit h2_wanted;

#define COPIED(index, word) copy[2 * ((index) - first) + (word)]

/* What R3 copies, if head is `h`. */
inline plan()
{
	first = OLDEST(h);
	if
	:: first < pos -> first = pos
	:: else
	fi;
	end = h;
	if
	:: end - first > BATCH -> end = first + BATCH
	:: else
	fi;
	for (i : 0 .. 2 * BATCH - 1) {
		copy[i] = NOTHING;
		wanted[i] = (i < 2 * (end - first))
	}
}

#define LOAD(k) wanted[k] -> atomic { \
		copy[k] = slots[WORD(first + (k) / 2, (k) % 2)]; wanted[k] = 0 }

#if BATCH == 2
#define NONE_WANTED (!wanted[0] && !wanted[1] && !wanted[2] && !wanted[3])
#define LOADS :: LOAD(0) :: LOAD(1) :: LOAD(2) :: LOAD(3)
#else
#define NONE_WANTED (!wanted[0] && !wanted[1] && !wanted[2] && !wanted[3] && \
		     !wanted[4] && !wanted[5])
#define LOADS :: LOAD(0) :: LOAD(1) :: LOAD(2) :: LOAD(3) :: LOAD(4) :: LOAD(5)
#endif

proctype reader()
{
	byte guess;

	do
	:: seen == OFFLINE && pos == h -> break
	:: else ->
#ifdef HEAD_BEFORE_STATE
		h = head;			/* R2 */
		seen = state;			/* R1 */
#else
		seen = state;			/* R1, acquire */
#ifdef NO_ACQUIRE
		/* Some loads of R3 come first: the CPU has guessed head. */
		select(guess : pos .. RECORDS);
		h = guess;
		plan();
		do
		LOADS
		:: true -> break
		od;
		h = head;
		if
		:: h == guess
		:: h != guess -> plan()		/* they are done again */
		fi;
#else
		h = head;			/* R2, acquire */
#endif
#endif
		/* OFFLINE: head covers all that the ring will ever hold. */
		assert(seen != OFFLINE || h == RECORDS);
		if
		:: seen == 0 && h -> assert(state)
		:: else
		fi;
#ifndef NO_ACQUIRE
		plan();
#endif
		h2_wanted = 1;
		/* R3: copy. */
		do
		LOADS
#ifdef NO_LOAD_BARRIER
		:: h2_wanted -> atomic { h2 = head; h2_wanted = 0 }
#endif
		:: NONE_WANTED -> break
		od;
		/* R4: load barrier; R5: head again. */
		if
		:: h2_wanted -> h2 = head
		:: else
		fi;
		/* R6: keep what the writer had not come back to. */
		atomic {
			assert(h2 >= h);
			h = h2;
			oldest = OLDEST(h);
#ifdef KEEPS_OLDEST
			if
			:: oldest -> oldest--
			:: else
			fi;
#endif
			if
			:: oldest < first -> oldest = first
			:: else
			fi;
			lost = lost + oldest - pos;
			if
			:: oldest >= end -> pos = oldest
			:: else ->
				for (i : oldest .. end - 1) {
					/* No torn record, and no other than i. */
					assert(COPIED(i, 0) == i && COPIED(i, 1) == i)
				}
				delivered = delivered + end - oldest;
				pos = end
			fi;
			assert(delivered + lost == pos)
		}
	od;
	/* Conservation. */
	assert(pos == RECORDS && delivered + lost == RECORDS)
}

init {
	atomic { run writer(); run reader() }
}
