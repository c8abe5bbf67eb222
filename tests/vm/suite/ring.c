// SPDX-License-Identifier: GPL-2.0-or-later
/* The rings: each emitted record is delivered or counted as lost, for every reader. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

#define RUN_MS 1500

/*
 * A reader in a thread: keeps all records by index, so that the records of two readers
 * can be compared one by one.
 */
struct reader {
	struct dev dev;
	struct log log;
	unsigned int pause_ms;	/* between two rounds */
	uint64_t end_ns;
	pthread_t thread;
};

static void *reader_main(void *arg)
{
	struct reader *r = arg;

	while (now_ns() < r->end_ns) {
		dev_drain(&r->dev, &r->log);
		sleep_ms(r->pause_ms);
	}
	return NULL;
}

static void reader_start(struct reader *r, unsigned int pause_ms,
			 unsigned int run_ms)
{
	memset(r, 0, sizeof(*r));
	r->pause_ms = pause_ms;
	r->end_ns = now_ns() + run_ms * 1000000ULL;
	dev_open(&r->dev, O_RDONLY);
	dev_map(&r->dev, FROM_NOW);
	CHECK(!pthread_create(&r->thread, NULL, reader_main, r),
	      "pthread_create");
}

/* Ends when every record is accounted for; returns the number of lost records. */
static uint64_t reader_stop(struct reader *r)
{
	uint64_t lost = 0, delivered = 0;
	uint32_t cpu;

	pthread_join(r->thread, NULL);
	dev_drain(&r->dev, &r->log);
	for (cpu = 0; cpu < r->dev.info.nr_cpus; cpu++) {
		const struct ring *ring = &r->dev.rings[cpu];

		CHECK(ring->pos - ring->begin == ring->delivered + ring->lost,
		      "ring %u: emitted %llu, delivered %llu, lost %llu", cpu,
		      (unsigned long long)(ring->pos - ring->begin),
		      (unsigned long long)ring->delivered,
		      (unsigned long long)ring->lost);
		lost += ring->lost;
		delivered += ring->delivered;
	}
	CHECK(delivered == r->log.count, "counted %llu, has %zu",
	      (unsigned long long)delivered, r->log.count);
	CHECK(delivered, "a reader read nothing");
	return lost;
}

static void reader_free(struct reader *r)
{
	log_free(&r->log);
	dev_close(&r->dev);
}

/* The records of two readers at the same index of a ring are the same. */
static void readers_agree(const struct dev *dev, const struct log *fast,
			  const struct log *slow)
{
	size_t i, j, common = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++) {
		for (i = 0, j = 0; i < fast->count && j < slow->count;) {
			if (fast->records[i].cpu != cpu ||
			    (slow->records[j].cpu == cpu &&
			     fast->indices[i] < slow->indices[j])) {
				i++;
				continue;
			}
			if (slow->records[j].cpu != cpu ||
			    slow->indices[j] < fast->indices[i]) {
				j++;
				continue;
			}
			CHECK(!memcmp(&fast->records[i], &slow->records[j],
				      sizeof(struct cmt_record)),
			      "ring %u: two records have index %llu", cpu,
			      (unsigned long long)fast->indices[i]);
			common++;
			i++;
			j++;
		}
	}
	CHECK(common, "the readers have nothing in common");
}

/*
 * A check of the records alone: between two TICKs of a ring without a loss, the number
 * of SAMPLEs is the difference of the TICKs' counters.
 */
static void samples_add_up(const struct dev *dev, const struct log *log)
{
	uint64_t samples, next;
	unsigned int checked = 0;
	bool have_tick;
	uint32_t cpu;
	size_t i;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++) {
		have_tick = false;
		samples = next = 0;
		for (i = 0; i < log->count; i++) {
			const struct cmt_record *r = &log->records[i];

			if (r->cpu != cpu)
				continue;
			if (log->indices[i] != next)
				have_tick = false;
			next = log->indices[i] + 1;
			samples += r->type == CMT_REC_SAMPLE;
			if (r->type != CMT_REC_TICK)
				continue;
			CHECK(!have_tick || r->tick.read == samples,
			      "ring %u: TICK says %u samples, there are %llu",
			      cpu, r->tick.read, (unsigned long long)samples);
			checked += have_tick;
			have_tick = true;
			samples = 0;
		}
	}
	CHECK(checked > 10, "only %u ticks in a row", checked);
}

/* Reads until killed, in a separate process. */
static pid_t start_victim(void)
{
	struct reader victim;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	reader_start(&victim, 0, 60000);
	pthread_join(victim.thread, NULL);
	_exit(1);
}

static void ring_conservation(void)
{
	struct reader fast, fast2, slow;
	uint64_t fast_lost, slow_lost;
	struct cmt_stats s;
	pid_t victim;

	reader_start(&fast, 1, RUN_MS);
	reader_start(&fast2, 3, RUN_MS);
	reader_start(&slow, 400, RUN_MS);
	victim = start_victim();
	WAIT_FOR(dev_stats(&fast.dev).readers == 4, 5000, "%u readers",
		 dev_stats(&fast.dev).readers);
	sleep_ms(RUN_MS / 3);
	reap(victim, SIGKILL);
	CHECK(dev_stats(&fast.dev).readers == 3, "the dead still reads");

	fast_lost = reader_stop(&fast);
	reader_stop(&fast2);
	slow_lost = reader_stop(&slow);
	CHECK(slow_lost > 0, "the slow reader lost nothing: no test");
	readers_agree(&fast.dev, &fast.log, &slow.log);
	readers_agree(&fast.dev, &fast.log, &fast2.log);
	samples_add_up(&fast.dev, &fast.log);
	s = dev_stats(&fast.dev);
	CHECK(s.records >= fast.log.count + fast_lost, "%llu records",
	      (unsigned long long)s.records);
	note("fast: %zu delivered, %llu lost; slow: %zu delivered, %llu lost",
	     fast.log.count, (unsigned long long)fast_lost, slow.log.count,
	     (unsigned long long)slow_lost);
	reader_free(&fast);
	reader_free(&fast2);
	reader_free(&slow);
}

static uint64_t sum_of_heads(const struct dev *dev)
{
	uint64_t sum = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++)
		sum += ring_head(&dev->rings[cpu]);
	return sum;
}

static void ring_samples_only_while_read(void)
{
	struct dev idle, reader;
	uint64_t ticks;

	dev_open(&idle, O_RDONLY);
	CHECK(!dev_stats(&idle).readers, "a reader without a map");
	ticks = dev_stats(&idle).ticks;
	sleep_ms(50);
	CHECK(dev_stats(&idle).ticks == ticks, "ticks without a reader");

	dev_open(&reader, O_RDONLY);
	dev_map(&reader, FROM_NOW);
	CHECK(dev_stats(&idle).readers == 1, "no reader, or several");
	WAIT_FOR(dev_stats(&idle).ticks > ticks + 10, 5000, "no ticks");
	/* the map alone, without the descriptor, continues the sampling */
	close(reader.fd);
	ticks = dev_stats(&idle).ticks;
	WAIT_FOR(dev_stats(&idle).ticks > ticks + 10, 5000,
		 "ticks ended with the descriptor");
	dev_unmap(&reader);
	CHECK(!dev_stats(&idle).readers, "a reader is left");
	ticks = dev_stats(&idle).ticks;
	sleep_ms(50);
	CHECK(dev_stats(&idle).ticks == ticks, "ticks after the last close");

	/* ... and they come back */
	dev_map(&idle, FROM_NOW);
	WAIT_FOR(dev_stats(&idle).ticks > ticks + 10, 5000, "no ticks");
	CHECK(dev_stats(&idle).records <= sum_of_heads(&idle) &&
	      sum_of_heads(&idle) <= dev_stats(&idle).records,
	      "the heads are not the records");
	dev_close(&idle);
}

static bool is_tick(const struct cmt_record *r, uint32_t cpu,
		    uint32_t interval_ns)
{
	return r->type == CMT_REC_TICK && r->cpu == cpu &&
	       r->interval_ns == interval_ns;
}

/*
 * The slots by which the time of a TICK is later than the ticks and missed ticks before
 * it add up to: the lateness of the TICK, plus a constant.
 */
static int64_t tick_lateness(const struct cmt_record *r, uint64_t nth)
{
	return (int64_t)(r->ts / r->interval_ns - nth - r->tick.missed);
}

/*
 * Ticks and the missed ticks that they report fill the time, slot by slot.  The most
 * punctual tick of the first half and that of the second half are equally punctual.  A
 * single tick can be arbitrarily late, if a virtual CPU is stopped.
 */
static void check_slots(const struct dev *dev, const struct log *log,
			uint32_t interval_ns)
{
	uint64_t ticks, nth, half;
	const struct cmt_record *r;
	int64_t least[2];
	uint32_t cpu;
	size_t i;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++) {
		if (ring_state(&dev->rings[cpu]) != CMT_RING_ONLINE)
			continue;
		ticks = 0;
		for (i = 0; i < log->count; i++)
			ticks += is_tick(&log->records[i], cpu, interval_ns);
		CHECK(ticks > 2, "CPU %u: %llu ticks of %u ns", cpu,
		      (unsigned long long)ticks, interval_ns);

		least[0] = least[1] = INT64_MAX;
		for (i = 0, nth = 0; i < log->count; i++) {
			r = &log->records[i];
			if (!is_tick(r, cpu, interval_ns))
				continue;
			half = nth >= ticks / 2;
			if (tick_lateness(r, nth) < least[half])
				least[half] = tick_lateness(r, nth);
			nth++;
		}
		/*
		 * one TICK may be written at the end of its slot, another in the next
		 * slot
		 */
		CHECK(llabs(least[1] - least[0]) <= 1,
		      "CPU %u: ticks of %u ns drift by %lld slots", cpu,
		      interval_ns, (long long)(least[1] - least[0]));
	}
}

/* Wait until every CPU has written this number of records more. */
static void wait_records(const struct dev *dev, unsigned int records)
{
	uint32_t cpu;
	uint64_t head;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++) {
		if (ring_state(&dev->rings[cpu]) != CMT_RING_ONLINE)
			continue;
		head = ring_head(&dev->rings[cpu]);
		WAIT_FOR(ring_head(&dev->rings[cpu]) >= head + records, 20000,
			 "CPU %u stands still", cpu);
	}
}

static void ring_interval_change(void)
{
	static const uint32_t intervals[] = { 5000000, 500000, 20000000 };
	struct recorder rec;
	uint32_t last;
	uint64_t set_at[3];
	struct dev dev;
	unsigned int i;
	size_t k;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, true);
	wait_records(&dev, 80);
	for (i = 0; i < 3; i++) {
		dev_set_interval(&dev, intervals[i]);
		set_at[i] = now_ns();
		wait_records(&dev, 80);
	}
	recorder_stop(&rec);

	check_slots(&dev, &rec.log, 1000000);
	for (i = 0; i < 3; i++)
		check_slots(&dev, &rec.log, intervals[i]);
	/* no tick of the old interval after the call has returned */
	for (k = 0, i = 0, last = 1000000; k < rec.log.count; k++) {
		const struct cmt_record *r = &rec.log.records[k];

		if (r->type != CMT_REC_TICK)
			continue;
		while (i < 3 && r->ts > set_at[i])
			last = intervals[i++];
		CHECK(r->interval_ns == last ||
		      (i < 3 && r->interval_ns == intervals[i]),
		      "a tick of %u ns, %u is in force", r->interval_ns, last);
	}
	log_free(&rec.log);
	dev_close(&dev);
}

/* CLOCK_MONOTONIC must be one clock for all CPUs, because tests of order need this. */
static void ring_clock(void)
{
	uint64_t last = 0, now;
	cpu_set_t set;
	int i;

	for (i = 0; i < 400; i++) {
		CPU_ZERO(&set);
		CPU_SET(i % sysconf(_SC_NPROCESSORS_ONLN), &set);
		CHECK(!sched_setaffinity(0, sizeof(set), &set), "affinity: %m");
		now = now_ns();
		CHECK(now >= last, "the guest's clock went back by %llu ns",
		      (unsigned long long)(last - now));
		last = now;
	}
}

/* The shortest interval and the smallest ring, for a while. */
static void ring_hammer(void)
{
	struct reader fast, slow;

	reader_start(&fast, 0, 1000);
	reader_start(&slow, 50, 1000);
	reader_stop(&fast);
	CHECK(reader_stop(&slow) > 0, "the slow reader lost nothing");
	readers_agree(&fast.dev, &fast.log, &slow.log);
	reader_free(&fast);
	reader_free(&slow);
}

const struct test ring_tests[] = {
	{ "ring_clock", ring_clock, "", 0 },
	{ "ring_conservation", ring_conservation, "ring_records=256", 40 },
	{ "ring_hammer", ring_hammer, "ring_records=256 interval_us=100", 40 },
	{ "ring_samples_only_while_read", ring_samples_only_while_read, "", 0 },
	{ "ring_interval_change", ring_interval_change, "", 60 },
	{ }
};
