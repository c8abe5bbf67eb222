// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tick interrupts the only CPU, which computes in rounds of equal length.  A longer
 * round has the interruption.  When the computing goes on, the ring has all records of
 * the tick.
 */
#include "bench.h"

#define SPINS		100	/* iterations in a round */
#define ROUNDS_MAX	100000000U
#define TRIES		3
#define VALUES		(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

struct rounds {
	uint64_t last;		/* end of the last round */
	uint64_t gap;		/* the longer one of the last two rounds */
	uint64_t previous;
	uint64_t undisturbed;	/* the shortest round of all */
};

static void round_compute(struct rounds *rounds)
{
	uint64_t now, gap;

	spin(SPINS);
	now = instructions();
	gap = now - rounds->last;
	rounds->gap = gap > rounds->previous ? gap : rounds->previous;
	rounds->previous = gap;
	if (gap < rounds->undisturbed)
		rounds->undisturbed = gap;
	rounds->last = now;
}

static void rounds_begin(struct rounds *rounds)
{
	rounds->previous = 0;
	rounds->undisturbed = UINT64_MAX;
	rounds->last = instructions();
	round_compute(rounds);
	round_compute(rounds);
}

static void tick_record(struct tick *tick, const struct cmt_record *record)
{
	tick->waiting = record->tick.waiting;
	tick->rmid = record->rmid;
	if (record->tick.read != tick->read)
		die("TICK says %u RMIDs were read, there are %u SAMPLEs",
		    record->tick.read, tick->read);
}

/* True: the tick is complete.  @values: of a complete SAMPLE */
static bool take(struct tick *tick, const struct cmt_record *record, uint32_t values)
{
	if (record->type == CMT_REC_TICK) {
		tick_record(tick, record);
		return true;
	}
	tick->channels += record->type == CMT_REC_CHANNEL &&
			  (record->flags & CMT_F_CHANNEL);
	if (record->type == CMT_REC_CHANNEL)
		tick->cycles += !!(record->flags & CMT_F_CHANNEL_IDLE);
	if (record->type != CMT_REC_SAMPLE)
		return false;
	tick->read++;
	if ((record->flags & VALUES) == values)
		tick->complete++;
	return false;
}

static void await_record(struct records *records, struct rounds *rounds)
{
	unsigned int i;

	for (i = 0; records->header->head == records->pos; i++) {
		if (i > ROUNDS_MAX)
			die("no tick");
		round_compute(rounds);
	}
	/* the tick came in this round or, before the head was read, in the last */
	round_compute(rounds);
}

/* Computes until the TICK is present; returns the length of the interruption. */
static double await_tick(struct records *records, struct tick *tick)
{
	struct cmt_record record;
	struct rounds rounds;

	rounds_begin(&rounds);
	for (;;) {
		await_record(records, &rounds);
		while (records_next(records, &record))
			if (take(tick, &record, records->values))
				return rounds.gap - rounds.undisturbed;
		rounds.last = instructions();
	}
}

/* False: another tick came before the computing began. */
static bool try_await(struct records *records, int fd, struct tick *tick)
{
	struct cmt_stats before, after;
	struct msrs msrs;

	*tick = (struct tick){ 0 };
	device_stats(fd, &before);
	records_drop(records);
	msrs = msrs_now();
	tick->whole = await_tick(records, tick);
	tick->msrs = msrs_since(&msrs);
	device_stats(fd, &after);
	tick->busy = after.busy_ns - before.busy_ns;
	tick->deferred = after.deferred - before.deferred;
	tick->missed = after.missed - before.missed;
	return after.ticks - before.ticks == 1;
}

void tick_await(struct records *records, int fd, struct tick *tick)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		if (try_await(records, fd, tick))
			return;
	}
	die("the module counts no single tick where one is seen");
}
