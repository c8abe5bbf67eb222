// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of the PMU cmt while no reading of a counter has a value. */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../vm/suite/timed.h"
#include "bench.h"
#include "tests.h"

#define OCCUPANCY	1
#define MEMORY		(16 << 20)
#define HELD		(4 << 20)	/* half of an L3 */
#define ENABLED_NS	100000000

static int event_of(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = pmu_type("cmt"), .size = sizeof(attr), .config = OCCUPANCY,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
			      (unsigned long)PERF_FLAG_FD_CLOEXEC);

	CHECK(fd >= 0, "perf_event_open: %m");
	return fd;
}

static int cpu_event(void)
{
	return event_of(-1, 0);
}

/* What a source has known once is not a value of an event that is opened now. */
static void test_new_event(void)
{
	pid_t pid = walk_memory(MEMORY);
	int first = cpu_event(), second;
	struct timed t;

	WAIT_FOR(timed(first).bytes, 20000, "no occupancy");
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_UNAVAILABLE, 1, 1));
	sleep_ms(1);	/* what was read just before is not taken again */
	second = cpu_event();
	WAIT_FOR((t = timed(second)).enabled > ENABLED_NS, 10000, "it is not enabled");
	CHECK(!t.running && !t.bytes, "%llu bytes, and it ran for %llu of %llu ns",
	      (unsigned long long)t.bytes, (unsigned long long)t.running,
	      (unsigned long long)t.enabled);
	CHECK(timed(first).bytes, "the value of the first event is lost");
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_UNAVAILABLE, 0, 0));
	WAIT_FOR(timed(second).running, 10000, "it never runs");
	close(first);
	WAIT_FOR(timed(second).bytes, 10000, "no value");
	close(second);
	reap(pid, SIGKILL);
}

/*
 * The only CPU of a domain goes offline: what the owner held there is no present value,
 * until the CPU is online again.
 */
static void test_domain_goes(void)
{
	pid_t pid;
	int fd;

	CHECK(lab_get(LAB_CONFIG, LAB_C_L3S) == 2, "not two sockets");
	run_on(0, 1);
	pid = walk_memory(HELD);
	run_on(0, 0);
	fd = event_of(pid, -1);
	WAIT_FOR(timed(fd).bytes > HELD / 4 * 3, 30000, "no occupancy");
	/* it must not take its lines to the other domain */
	kill(pid, SIGSTOP);
	run_on(pid, 0);
	cpu_online(1, false);
	WAIT_FOR(timed(fd).bytes < HELD / 4, 10000, "%llu bytes without CPU 1",
		 (unsigned long long)timed(fd).bytes);
	cpu_online(1, true);
	WAIT_FOR(timed(fd).bytes > HELD / 2, 10000, "no occupancy again");
	close(fd);
	reap(pid, SIGKILL);
}

const struct test cqm_domains_tests[] = {
	{ "cqm_domain_goes_offline", test_domain_goes, "scope=manual", 120 },
	{ 0 }
};

const struct test cqm_measured_tests[] = {
	{ "cqm_new_event_of_an_old_source", test_new_event, "scope=manual", 60 },
	{ 0 }
};
