// SPDX-License-Identifier: GPL-2.0-or-later
/* A CPU goes offline and online. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

#define ROUNDS 4

/* The ring's CPU and state records, in order, with the records between them. */
static void check_ring_log(const struct log *log, uint32_t cpu, int rounds)
{
	bool offline = false;
	int went = 0, came = 0;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->cpu != cpu)
			continue;
		if (r->type == CMT_REC_CPU_ONLINE) {
			CHECK(offline, "CPU_ONLINE of a CPU that is online");
			offline = false;
			came++;
			continue;
		}
		CHECK(!offline, "type %u after CPU_OFFLINE", r->type);
		if (r->type == CMT_REC_CPU_OFFLINE) {
			offline = true;
			went++;
		}
	}
	CHECK(went == rounds && came == rounds, "%d CPU_OFFLINE, %d CPU_ONLINE",
	      went, came);
}

static void hotplug_while_reading(void)
{
	static struct snapshot before, after;
	const struct cmt_record *a, *b;
	pid_t pids[10];
	struct recorder rec;
	struct ring *ring;
	uint64_t head;
	struct dev dev;
	int i, round;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	ring = &dev.rings[1];
	for (i = 0; i < 10; i++)
		pids[i] = park(i % 3, NULL);
	dev_snapshot(&dev, &before);
	recorder_start(&rec, &dev, true);
	for (round = 0; round < ROUNDS; round++) {
		head = ring_head(ring);
		WAIT_FOR(ring_head(ring) > head + 5, 5000, "no ticks");
		cpu_online(1, false);
		CHECK(ring_state(ring) == CMT_RING_OFFLINE, "state %u",
		      ring_state(ring));
		CHECK(dev_stats(&dev).cpus_online == 1, "%u CPUs online",
		      dev_stats(&dev).cpus_online);
		head = ring_head(ring);
		sleep_ms(30);
		CHECK(ring_head(ring) == head, "records from an offline CPU");
		cpu_online(1, true);
		CHECK(ring_state(ring) == CMT_RING_ONLINE, "state %u",
		      ring_state(ring));
		WAIT_FOR(ring_head(ring) > head + 5, 5000,
			 "the CPU is back, its ticks are not");
	}
	recorder_stop(&rec);
	check_ring_log(&rec.log, 1, ROUNDS);
	dev_snapshot(&dev, &after);
	for (i = 0; i < 10; i++) {
		a = snapshot_find(&before, pids[i]);
		b = snapshot_find(&after, pids[i]);
		CHECK(a && b && a->rmid == b->rmid &&
		      a->generation == b->generation,
		      "process %d has another RMID", pids[i]);
	}
	log_free(&rec.log);
	dev_close(&dev);
}

/*
 * The module is loaded with a CPU offline: the CPU's ring is absent until it comes online.
 */
static void hotplug_offline_at_load(void)
{
	struct log log = { };
	struct dev dev;
	size_t i;

	cpu_online(1, false);
	CHECK(!module_load("ring_records=4096"), "load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	CHECK(ring_state(&dev.rings[1]) == CMT_RING_ABSENT, "state %u",
	      ring_state(&dev.rings[1]));
	cpu_online(1, true);
	CHECK(ring_state(&dev.rings[1]) == CMT_RING_ONLINE, "state %u",
	      ring_state(&dev.rings[1]));
	WAIT_FOR(ring_head(&dev.rings[1]) > 10, 5000, "no ticks");
	dev_drain(&dev, &log);
	for (i = 0; i < log.count && log.records[i].cpu != 1; i++)
		;
	CHECK(i < log.count && log.records[i].type == CMT_REC_CPU_ONLINE,
	      "the new ring does not begin with CPU_ONLINE");
	log_free(&log);
	dev_close(&dev);

	/* and gone again at unload */
	cpu_online(1, false);
	CHECK(!module_unload(), "unload");
	cpu_online(1, true);
}

/* Without a reader only the state is kept. */
static void hotplug_without_reader(void)
{
	struct dev dev;
	uint64_t ticks;
	int i;

	dev_open(&dev, O_RDONLY);
	ticks = dev_stats(&dev).ticks;
	for (i = 0; i < 2; i++) {
		cpu_online(1, false);
		CHECK(dev_stats(&dev).cpus_online == 1, "%u CPUs online",
		      dev_stats(&dev).cpus_online);
		cpu_online(1, true);
		CHECK(dev_stats(&dev).cpus_online == 2, "%u CPUs online",
		      dev_stats(&dev).cpus_online);
	}
	sleep_ms(20);
	CHECK(dev_stats(&dev).ticks == ticks, "ticks without a reader");
	dev_close(&dev);
}

/* The interval changes while a CPU is offline; afterwards the CPU must use the new one. */
static void hotplug_interval_meanwhile(void)
{
	struct log log = { };
	struct dev dev;
	uint64_t head;
	size_t i, ticks = 0;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	cpu_online(1, false);
	dev_set_interval(&dev, 3000000);
	head = ring_head(&dev.rings[1]);
	dev.rings[1].pos = head;
	cpu_online(1, true);
	WAIT_FOR(ring_head(&dev.rings[1]) > head + 10, 5000, "no ticks");
	dev_drain(&dev, &log);
	for (i = 0; i < log.count; i++) {
		if (log.records[i].cpu != 1 ||
		    log.records[i].type != CMT_REC_TICK)
			continue;
		ticks++;
		CHECK(log.records[i].interval_ns == 3000000,
		      "a tick of %u ns", log.records[i].interval_ns);
	}
	CHECK(ticks, "no tick of CPU 1");
	log_free(&log);
	dev_close(&dev);
}

const struct test hotplug_tests[] = {
	{ "hotplug_while_reading", hotplug_while_reading,
	  "ring_records=16384", 40 },
	{ "hotplug_offline_at_load", hotplug_offline_at_load, NULL, 0 },
	{ "hotplug_without_reader", hotplug_without_reader, "", 0 },
	{ "hotplug_interval_meanwhile", hotplug_interval_meanwhile,
	  "ring_records=16384", 0 },
	{ }
};
