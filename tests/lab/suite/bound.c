// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * With a thousand RMIDs no tick keeps interrupts off for long, at any interval.  The
 * guest's clock counts instructions, so times are exact: one nanosecond is one
 * instruction (tests/vm/guest --icount).
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

#define OWNERS		1000
#define IRQS_OFF_MAX_NS	100000
/* no MSR access, no message and no walk under the lock */
#define LOCK_MAX_NS	20000

static void owners_start(unsigned int count)
{
	while (count--) {
		pid_t pid = fork();

		CHECK(pid >= 0, "fork: %m");
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

/* Wait until each RMID was read again. */
static void all_read(uint32_t count, uint32_t interval_ns)
{
	static struct snapshot snapshot;
	static uint64_t seen[MAX_RMIDS];
	struct dev dev;
	uint32_t i;

	dev_open(&dev, O_RDONLY);
	dev_snapshot(&dev, &snapshot);
	CHECK(snapshot.count >= count, "only %u RMIDs have an owner",
	      snapshot.count);
	for (i = 0; i < snapshot.count; i++)
		seen[i] = lab_ask(LAB_LAST, LAB_ARG(L3,
						    snapshot.records[i].rmid,
						    1)).second;
	for (i = 0; i < snapshot.count; i++) {
		uint32_t arg = LAB_ARG(L3, snapshot.records[i].rmid, 1);

		WAIT_FOR(lab_ask(LAB_LAST, arg).second != seen[i], 200000,
			 "interval %u: RMID %u is not read", interval_ns,
			 snapshot.records[i].rmid);
	}
	dev_close(&dev);
}

static void check_interval(struct dev *dev, uint32_t interval_ns)
{
	struct cmt_stats stats, before = dev_stats(dev);

	dev_set_interval(dev, interval_ns);
	all_read(OWNERS, interval_ns);
	stats = dev_stats(dev);
	note("interval %u us: %llu ticks, %llu samples, %llu deferred; since the load interrupts were off for %llu ns at most, the owner lock held for %llu",
	     interval_ns / 1000,
	     (unsigned long long)(stats.ticks - before.ticks),
	     (unsigned long long)(stats.samples - before.samples),
	     (unsigned long long)(stats.deferred - before.deferred),
	     (unsigned long long)stats.irqs_off_ns,
	     (unsigned long long)stats.lock_held_ns);
	CHECK(stats.irqs_off_ns && stats.irqs_off_ns <= IRQS_OFF_MAX_NS,
	      "interrupts were off for %llu ns",
	      (unsigned long long)stats.irqs_off_ns);
	CHECK(stats.lock_held_ns && stats.lock_held_ns <= LOCK_MAX_NS,
	      "the owner lock was held for %llu ns",
	      (unsigned long long)stats.lock_held_ns);
}

static void test_bound(void)
{
	static const uint32_t intervals[] = { 100000, 1000000, 1000000000 };
	struct dev dev;
	size_t i;

	dev_open(&dev, O_RDWR);
	CHECK(dev.info.nr_rmids >= OWNERS, "%u RMIDs", dev.info.nr_rmids);
	dev_map(&dev, FROM_NOW);
	owners_start(OWNERS);
	for (i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++)
		check_interval(&dev, intervals[i]);
	dev_close(&dev);
}

const struct test bound_tests[] = {
	{ "interrupts_off_at_most_100_us", test_bound, PROCESS, 500 },
	{ 0 }
};
