// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of an RMID: the pool (module/owner/rmid.c) under the owner lock, the work item
 * of module/scope/pending.c, CPUs that switch (module/cpu/cpu.c), processes that begin and
 * end, and resctrl, which takes an RMID without asking.
 *
 * What is held:
 *	alone	an RMID that is taken from the pool is on no CPU, and on its way to
 *		none; and nobody ever loads the RMID of another owner
 *	whole	at the end each RMID is free, in limbo or resctrl's, and the sums of
 *		the pool are right at every step
 *
 * Each step that has the owner lock is atomic.  A CPU looks up the RMID of what it
 * is to run, and loads it: two steps with interrupts off, between which all else
 * may happen, but not the interrupt by which the work item asks.
 *
 * The 2 ms of limbo only delay what is modelled here, and are left out.
 *
 * Bounds: RMIDS, PROCESSES, CPUS below; LIVES processes begin, in all, and resctrl
 * looks LOOKS times.
 *
 * With one of the macros below a step is missing, and spin finds what goes wrong:
 *
 *	NO_DRAIN	an RMID leaves limbo without the CPUs having been asked
 *	LATE_DRAIN	a drain counts for what was freed before its end
 *	NO_RETURN	an owner that ended while its RMID was read is given it
 *	NO_AGAIN	resctrl's look does not wait for an RMID that is being given
 *	REFRESH_IN_SWITCH	the CPUs answer also in the middle of a switch
 */
#define RMIDS 2
#define PROCESSES 2
#define CPUS 2
#ifndef LIVES
#define LIVES 2
#endif
#ifndef LOOKS
#define LOOKS 2
#endif

#define FREE 0
#define ACTIVE 1
#define LIMBO 2
#define FOREIGN 3

byte state[RMIDS + 1];		/* element 0 is not used, here and below */
byte owner[RMIDS + 1];		/* of an ACTIVE RMID; 0: it is being given */
bit covered[RMIDS + 1];		/* in limbo since before the drain began */
byte nr_free = RMIDS, nr_active, nr_limbo, nr_foreign;

bit lives[PROCESSES + 1];
byte rmid_of[PROCESSES + 1];	/* cmt_owner_rmids */
byte begun, ended;

byte runs[CPUS];		/* a process, or 0 */
byte loaded[CPUS];		/* PQR_ASSOC */
byte looked[CPUS];		/* what is about to be loaded */
bit busy[CPUS];			/* in a switch */
bit asked[CPUS];
bit stopped;

#define IS_ON(p) (runs[0] == (p) || runs[1] == (p))
#define ON_NO_CPU(r) (loaded[0] != (r) && loaded[1] != (r) && \
		      looked[0] != (r) && looked[1] != (r))

inline check_sums()
{
	assert(nr_free + nr_active + nr_limbo + nr_foreign == RMIDS)
}

inline load(p)
{
	/* alone: its own, or one that it, or resctrl, had a moment ago */
	assert(!looked[self] || owner[looked[self]] == p ||
	       state[looked[self]] == LIMBO ||
	       state[looked[self]] == FOREIGN);
	loaded[self] = looked[self];
	looked[self] = 0;
	runs[self] = p
}

proctype cpu(byte self)
{
	byte next;

end:	do
	:: !busy[self] && !stopped -> atomic {		/* C1: look up */
		if
		:: next = 0
		:: lives[1] && !IS_ON(1) -> next = 1
		:: lives[2] && !IS_ON(2) -> next = 2
		fi;
		busy[self] = 1;
		looked[self] = rmid_of[next]
	   }
	:: busy[self] -> d_step {
		load(next);
		busy[self] = 0;
		next = 0
	   }	/* C2: load */
#ifdef REFRESH_IN_SWITCH
	:: asked[self] -> asked[self] = 0
#else
	/* An interrupt does both at once: no other one comes between. */
	:: asked[self] && !busy[self] -> d_step {
		looked[self] = rmid_of[runs[self]];
		load(runs[self]);
		asked[self] = 0
	   }
#endif
	od
}

/* A process that ended runs on, until its CPU switches or is asked. */
proctype process(byte self)
{
	byte r;

	do
	:: d_step { begun < LIVES && !IS_ON(self) ->
		begun++;
		lives[self] = 1
	   };
	   d_step {
		lives[self] = 0;
		r = rmid_of[self];
		if
		:: r ->
			assert(state[r] == ACTIVE && owner[r] == self);
			rmid_of[self] = 0;
			owner[r] = 0;
			state[r] = LIMBO;
			covered[r] = 0;
			nr_active--;
			nr_limbo++
		:: else
		fi;
		r = 0;
		check_sums()
	   }
	:: begun == LIVES -> break
	od;
	ended++
}

inline drain()
{
	/* D1: the time up to which it will count */
	d_step {
		for (i : 1 .. RMIDS) {
			covered[i] = (state[i] == LIMBO)
		}
		i = 0
	}
#ifndef NO_DRAIN
	/* D2: every CPU looks up what it runs with */
	asked[0] = 1;
	!asked[0];
	asked[1] = 1;
	!asked[1];
#endif
	/* D3 */
	d_step {
		for (i : 1 .. RMIDS) {
			if
#ifdef LATE_DRAIN
			:: state[i] == LIMBO ->
#else
			:: state[i] == LIMBO && covered[i] ->
#endif
				state[i] = FREE;
				nr_limbo--;
				nr_free++
			:: else
			fi;
			covered[i] = 0
		}
		i = 0;
		check_sums()
	}
}

/* In three steps, so that the RMID is read without the lock. */
inline give()
{
	/* G1: taken */
	atomic {
		r = 0;
		p = 0;
		if
		:: state[1] == FREE -> r = 1
		:: state[2] == FREE -> r = 2
		:: else
		fi;
		if
		:: r && lives[1] && !rmid_of[1] -> p = 1
		:: r && lives[2] && !rmid_of[2] -> p = 2
		:: else -> r = 0
		fi;
		if
		:: r ->
			assert(ON_NO_CPU(r));	/* alone */
			state[r] = ACTIVE;
			owner[r] = 0;
			nr_free--;
			nr_active++
		:: else
		fi
	}
	/* G2: its residue is read.  G3: told to its owner, or back */
	if
	:: r -> d_step {
		if
#ifndef NO_RETURN
		:: !lives[p] ->
			state[r] = FREE;
			nr_active--;
			nr_free++
#endif
		:: else ->
			owner[r] = p;
			rmid_of[p] = r
		fi;
		check_sums();
		r = 0;
		p = 0
	   }
	:: else
	fi
}

proctype work()
{
	byte i, r, p;

	do
	:: ended < PROCESSES -> drain(); give()
	:: else -> break
	od;
	stopped = 1;
	/* whole */
	atomic {
		assert(nr_active == 0);
		for (i : 1 .. RMIDS) {
			assert(state[i] != ACTIVE)
		}
	}
}

/* It finds that it uses an RMID: module/cpu/resctrl.c, exclude() and include(). */
proctype resctrl()
{
	byte r, o, looks;

	do
	:: atomic { looks < LOOKS -> looks++;
		if
		:: r = 1
		:: r = 2
		fi };
	   d_step {
		o = owner[r];
		if
		:: state[r] == FOREIGN ->
			state[r] = LIMBO;
			covered[r] = 0;
			nr_foreign--;
			nr_limbo++
		:: state[r] == FREE || state[r] == LIMBO ->
			if
			:: state[r] == FREE -> nr_free--
			:: else -> nr_limbo--
			fi;
			state[r] = FOREIGN;
			nr_foreign++
		:: state[r] == ACTIVE && o ->
			rmid_of[o] = 0;
			owner[r] = 0;
			state[r] = FOREIGN;
			nr_active--;
			nr_foreign++
#ifdef NO_AGAIN
		:: else ->
			state[r] = FOREIGN;
			nr_active--;
			nr_foreign++
#else
		:: else		/* taken and not given yet: looked at again */
#endif
		fi;
		o = 0;
		r = 0;
		check_sums()
	   }
	:: looks == LOOKS -> break
	od
}

init {
	atomic {
		run cpu(0); run cpu(1);
		run process(1); run process(2);
		run work(); run resctrl()
	}
}
