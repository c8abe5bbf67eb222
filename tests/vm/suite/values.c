// SPDX-License-Identifier: GPL-2.0-or-later
/* The values that readers ask for: which are in samples, and that none is wrong. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "control.h"

#define OCCUPANCY	CMT_F_OCCUPANCY
#define TOTAL		CMT_F_MBM_TOTAL
#define LOCAL		CMT_F_MBM_LOCAL
#define ALL		(OCCUPANCY | TOTAL | LOCAL)

#define PARAMS		EMULATED "scope=process ring_records=65536"
#define BYTES		(1 << 20)
#define SAMPLES		200	/* in a period, at least */
#define PERIODS		16
/* No tick that began before a change reads this long after it: CMT_BURST_MAX_NS is 1 ms. */
#define SLACK_NS	20000000

/* A time in which all samples have these values */
struct period {
	const char *what;
	uint32_t values;
	uint64_t from, to;
};

static struct period periods[PERIODS];
static unsigned int nr_periods;
/* Readings on demand count traffic, too, which the next sample in a ring has. */
static bool on_demand;

static int set_values(const struct dev *dev, uint32_t values)
{
	struct cmt_values arg = { .size = sizeof(arg), .values = values };

	return ioctl(dev->fd, CMT_IOC_SET_VALUES, &arg) ? -errno : 0;
}

static void ask(const struct dev *dev, uint32_t values)
{
	int err = set_values(dev, values);

	CHECK(!err, "SET_VALUES %#x: %s", values, strerror(-err));
}

/* From now on samples have @values. */
static void period(const struct dev *dev, const char *what, uint32_t values)
{
	uint64_t from = now_ns() + SLACK_NS, samples;

	WAIT_FOR(now_ns() > from, 10000, "the clock stands still");
	samples = dev_stats(dev).samples;
	WAIT_FOR(dev_stats(dev).samples >= samples + SAMPLES, 30000,
		 "%s: no samples", what);
	CHECK(nr_periods < PERIODS, "too many periods");
	periods[nr_periods++] = (struct period){
		.what = what, .values = values & dev->info.events,
		.from = from, .to = now_ns(),
	};
}

static void check_period(const struct period *p, const struct log *log)
{
	size_t i, n = 0;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->ts < p->from || r->ts >= p->to)
			continue;
		n++;
		CHECK((r->flags & ALL) == p->values, "%s: flags %#x, and not %#x",
		      p->what, r->flags, p->values);
	}
	note("%s: %zu samples with %#x", p->what, n, p->values);
	CHECK(n >= SAMPLES / 2, "%s: %zu samples", p->what, n);
}

struct last {
	uint32_t generation, flags;
	bool any;
	uint64_t total, local;
};

static void check_value(const struct cmt_record *r, const struct last *last,
			uint32_t value, uint64_t now, uint64_t before)
{
	CHECK(r->flags & value || !now, "a value of %llu without its flag",
	      (unsigned long long)now);
	if (!(r->flags & value) || !last->any)
		return;
	CHECK(now >= before, "RMID %u: %#x goes back: %llu, %llu", r->rmid, value,
	      (unsigned long long)before, (unsigned long long)now);
	if (last->flags & value)
		return;
	CHECK(r->flags & CMT_F_REBASED, "RMID %u: %#x is back without a new base",
	      r->rmid, value);
	CHECK(now == before || on_demand, "RMID %u: %llu bytes of %#x in a pause", r->rmid,
	      (unsigned long long)(now - before), value);
}

/* The guest has one domain. */
static void check_traffic(const struct log *log)
{
	static struct last lasts[MAX_RMIDS];
	size_t i;

	memset(lasts, 0, sizeof(lasts));
	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];
		struct last *last = &lasts[r->rmid % MAX_RMIDS];

		if (r->type != CMT_REC_SAMPLE)
			continue;
		if (last->generation != r->generation)
			*last = (struct last){ .generation = r->generation };
		check_value(r, last, TOTAL, r->sample.mbm_total_bytes, last->total);
		check_value(r, last, LOCAL, r->sample.mbm_local_bytes, last->local);
		if (r->flags & TOTAL)
			last->total = r->sample.mbm_total_bytes;
		if (r->flags & LOCAL)
			last->local = r->sample.mbm_local_bytes;
		last->any |= r->flags & TOTAL && r->flags & LOCAL;
		last->flags = r->flags;
	}
}

/* A process that reads when a byte comes, and is killed.  Before any descriptor is open. */
static pid_t reader(int *go)
{
	struct dev dev;
	int ends[2];
	pid_t pid;
	char byte;

	pid = fork_with_pipe(ends);
	if (pid) {
		*go = ends[1];
		return pid;
	}
	if (read(ends[0], &byte, 1) != 1)
		_exit(1);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (;;)
		pause();
}

static void check_end(struct recorder *recorder)
{
	unsigned int i;

	recorder_stop(recorder);
	for (i = 0; i < nr_periods; i++)
		check_period(&periods[i], &recorder->log);
	check_traffic(&recorder->log);
	log_free(&recorder->log);
}

/* The union of what readers ask for, as they come, change, go and are killed. */
static void values_union(void)
{
	pid_t walks = walk_memory(BYTES), reads;
	struct recorder recorder;
	struct dev dev, other;
	int go;

	reads = reader(&go);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&recorder, &dev, true);
	period(&dev, "by default", ALL);
	ask(&dev, OCCUPANCY);
	period(&dev, "occupancy", OCCUPANCY);
	dev_open(&other, O_RDONLY);
	ask(&other, TOTAL | OCCUPANCY);
	period(&dev, "another one, which does not read", OCCUPANCY);
	dev_map(&other, FROM_NOW);
	period(&dev, "which reads", OCCUPANCY | TOTAL);
	ask(&other, LOCAL);
	period(&dev, "and changes its mind", OCCUPANCY | LOCAL);
	dev_unmap(&other);
	dev_close(&other);
	period(&dev, "and is closed", OCCUPANCY);
	CHECK(write(go, "x", 1) == 1, "write: %m");
	WAIT_FOR(dev_stats(&dev).readers == 2, 10000, "no other reader");
	period(&dev, "a process", ALL);
	reap(reads, SIGKILL);
	period(&dev, "that is killed", OCCUPANCY);
	ask(&dev, ALL);
	period(&dev, "all again", ALL);
	reap(walks, SIGKILL);
	check_end(&recorder);
	dev_close(&dev);
}

static void wait_stale(void)
{
	uint64_t from = now_ns();

	while (now_ns() - from <= CMT_READ_FRESH_NS)
		;
}

/*
 * A reading on demand has what its descriptor asks for, and continues over ticks, which
 * read the same.
 */
static void values_on_demand(void)
{
	pid_t walks = walk_memory(BYTES);
	struct cmt_record a, b;
	struct dev dev, demand;
	struct recorder recorder;

	on_demand = true;
	dev_open(&dev, O_RDONLY);
	ask(&dev, OCCUPANCY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&recorder, &dev, true);
	period(&dev, "before", OCCUPANCY);
	CHECK(owner_read(&dev, CMT_OWNER_PROCESS, walks, &a, 1) == 1, "READ: %m");
	CHECK((a.flags & ALL) == OCCUPANCY, "flags %#x", a.flags);
	/* at once: the last reading is still fresh, and has not what is asked for now */
	dev_open(&demand, O_RDONLY);
	CHECK(owner_read(&demand, CMT_OWNER_PROCESS, walks, &a, 1) == 1, "READ: %m");
	CHECK((a.flags & ALL) == dev.info.events, "flags %#x", a.flags);
	period(&dev, "meanwhile", ALL);
	wait_stale();
	CHECK(owner_read(&demand, CMT_OWNER_PROCESS, walks, &a, 1) == 1, "READ: %m");
	period(&dev, "between readings", ALL);
	CHECK(owner_read(&demand, CMT_OWNER_PROCESS, walks, &b, 1) == 1, "READ: %m");
	CHECK((b.flags & ALL) == dev.info.events, "flags %#x", b.flags);
	CHECK(b.base == a.base, "base %u, then %u: ticks ended it", a.base, b.base);
	dev_close(&demand);
	period(&dev, "after", OCCUPANCY);
	reap(walks, SIGKILL);
	check_end(&recorder);
	dev_close(&dev);
}

static void values_bad(void)
{
	static const uint32_t bad[] = {
		0, 1, CMT_F_RESIDUAL, ALL | CMT_F_CYCLES, ~0U, CMT_F_EMULATED | OCCUPANCY,
	};
	struct dev dev;
	unsigned int i;

	dev_open(&dev, O_RDONLY);
	ask(&dev, OCCUPANCY);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(set_values(&dev, bad[i]) == -EINVAL, "%#x is taken", bad[i]);
	dev_map(&dev, FROM_NOW);
	dev_unmap(&dev);
	dev_close(&dev);
}

const struct test values_tests[] = {
	{ "values_union", values_union, PARAMS, 120 },
	{ "values_on_demand", values_on_demand, PARAMS, 120 },
	{ "values_bad", values_bad, "", 0 },
	{ }
};
