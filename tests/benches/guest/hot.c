// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * 200 owners, 10 of which run before every tick, and a budget for 30 samples a tick.
 * The 10 are read in every tick, the others in turn.  The records show which RMIDs a
 * tick read, and how many ticks ago an idle one was read.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

#define OWNERS		200
#define HOT		10
#define BUDGET_SAMPLES	30
#define BUDGET_MIN_US	5	/* the module refuses a lower budget */
#define INTERVAL_NS	1000000
#define TICKS		320
#define WARM_UP_TICKS	64	/* every RMID is read before the count begins */
#define SPINS		1000
#define TRIES		5	/* ticks, while the host lets ticks be missed */

struct owner {
	uint32_t rmid;
	uint64_t read_at;	/* the last tick that read the RMID */
};

struct hot {
	struct owner owners[OWNERS];	/* the first HOT are hot */
	uint64_t tick;		/* number of the current tick */
	unsigned int in_tick;	/* samples in the current tick so far */
	/* after the warm-up: */
	unsigned int hot_missed;	/* times that a tick did not read a hot owner */
	unsigned int most;	/* samples in a tick */
	uint64_t oldest;	/* ticks from one reading to the next */
	double samples;
	uint64_t missed_before;	/* ticks until the end of the warm-up */
	uint64_t missed;	/* ticks until now */
};

static struct owner *owner_of(struct hot *hot, uint32_t rmid)
{
	int i;

	for (i = 0; i < OWNERS; i++) {
		if (hot->owners[i].rmid == rmid)
			return &hot->owners[i];
	}
	return NULL;
}

static void on_sample(struct hot *hot, const struct cmt_record *record)
{
	struct owner *owner = owner_of(hot, record->rmid);

	hot->in_tick++;
	if (owner)
		owner->read_at = hot->tick;
}

static void judge(struct hot *hot)
{
	uint64_t age;
	int i;

	for (i = 0; i < OWNERS; i++) {
		age = hot->tick - hot->owners[i].read_at;
		if (i < HOT)
			hot->hot_missed += age > 0;
		else if (age > hot->oldest)
			hot->oldest = age;
	}
	if (hot->in_tick > hot->most)
		hot->most = hot->in_tick;
	hot->samples += hot->in_tick;
}

static void on_tick(struct hot *hot, const struct cmt_record *record)
{
	hot->missed = record->tick.missed;
	if (hot->tick > WARM_UP_TICKS)
		judge(hot);
	else
		hot->missed_before = hot->missed;
	hot->in_tick = 0;
	hot->tick++;
}

/* Takes all records; true: a tick was among them. */
static bool take(struct hot *hot, struct records *records)
{
	struct cmt_record record;
	bool ticked = false;

	while (records_next(records, &record)) {
		if (record.type == CMT_REC_SAMPLE)
			on_sample(hot, &record);
		if (record.type != CMT_REC_TICK)
			continue;
		on_tick(hot, &record);
		ticked = true;
	}
	return ticked;
}

static void run(struct hot *hot, struct records *records)
{
	records_drop(records);
	while (hot->tick <= WARM_UP_TICKS + TICKS) {
		runners_wake(HOT);
		while (!take(hot, records))
			spin(SPINS);
	}
}

/* All setup except the owners. */
static void begin(struct hot *hot)
{
	int i;

	for (i = 0; i < OWNERS; i++)
		hot->owners[i].read_at = 0;
	hot->tick = 0;
	hot->in_tick = 0;
	hot->hot_missed = 0;
	hot->most = 0;
	hot->oldest = 0;
	hot->samples = 0;
}

/*
 * After ticks that were missed because the host did not run the guest, the next tick
 * has their turns, too.  Such a run is no measurement of the budget.
 */
static void run_undisturbed(struct hot *hot, struct records *records)
{
	int tries = TRIES;

	do {
		begin(hot);
		run(hot, records);
	} while (hot->missed != hot->missed_before && --tries);
}

static void owners_find(struct hot *hot, int fd)
{
	int i;

	for (i = 0; i < OWNERS; i++) {
		hot->owners[i].rmid = device_rmid_of(fd, 0, runners_pid(i));
		if (hot->owners[i].rmid == CMT_RMID_NONE)
			die("owner %d of %d has no RMID", i, OWNERS);
	}
}

static void report(const struct hot *hot)
{
	double readings = (double)TICKS * HOT;

	figure("hot_share", 100 * (readings - hot->hot_missed) / readings);
	figure("hot_idle_age", hot->oldest);
	figure("hot_samples_most", hot->most);
	figure("hot_samples_mean", hot->samples / TICKS);
}

static void measure(int fd, const struct cmt_info *info)
{
	static struct hot hot;
	struct records records;

	device_scope(fd, CMT_SCOPE_PROCESS, NULL);
	device_interval(fd, INTERVAL_NS);
	if (device_room(fd, info) < OWNERS)
		die("only %u RMIDs are free", device_room(fd, info));
	records_open(&records, fd, info);
	real_time(true);
	runners_add(OWNERS);
	owners_find(&hot, fd);
	run_undisturbed(&hot, &records);
	runners_end();
	real_time(false);
	records_close(&records);
	report(&hot);
}

/* Whole microseconds, rounded down. */
static unsigned int budget_us(const struct costs *costs)
{
	double us = floor((costs->tick + BUDGET_SAMPLES * costs->sample) / 1000);

	return us < BUDGET_MIN_US ? BUDGET_MIN_US : us;
}

void bench_hot(const char *params, const struct costs *costs)
{
	unsigned int us = budget_us(costs);
	struct cmt_info info;
	char all[512];
	int fd;

	if (costs->sample <= 0) {
		missing("hot_share", "the cost of a sample is not known");
		return;
	}
	snprintf(all, sizeof(all), "%s budget_us=%u", params, us);
	module_load(all);
	fd = device_open();
	device_info(fd, &info);
	if (info.budget_ns == us * 1000) {
		figure("hot_budget_us", us);
		measure(fd, &info);
	} else {
		missing("hot_share", "budget_us=%u gives a budget of %u ns", us,
			info.budget_ns);
	}
	close(fd);
	module_unload();
}
