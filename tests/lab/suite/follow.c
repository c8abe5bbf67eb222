// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On AMD the CPUs of an L3 share EVTSEL and CTR.  A kernel whose resctrl reads on a known
 * CPU: while resctrl is mounted, all readings of the L3 are on this CPU, by the
 * processor's log.  Two sockets of two CPUs; the tests are about the second one.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define SOCKET	1
#define FIRST	2		/* its CPUs */
#define SECOND	3
#define BOTH	(1U << FIRST | 1U << SECOND)
#define BYTES	(256 << 10)
/* times that each client reads in a window, and windows for one statement */
#define ROUNDS	20
#define WINDOWS	10
/* resctrl's overflow worker runs once a second. */
#define PERIOD_MS	1100

struct bench {
	struct dev dev;
	struct worker *worker;	/* on SECOND */
	pid_t demand;		/* likewise */
};

static void bench_start(struct bench *b, const char *params)
{
	CHECK(!module_load(params), "the module does not load");
	dev_open(&b->dev, O_RDWR);
	dev_map(&b->dev, FROM_NOW);
	b->worker = worker_start(BYTES);
	worker_pin(b->worker, SECOND);
	worker_go(b->worker, true);
	worker_identify(b->worker, &b->dev);
	b->demand = demand_start(b->worker->pid, SECOND);
	run_on(0, SECOND);
}

static void bench_stop(struct bench *b)
{
	demand_stop(b->demand);
	worker_stop(b->worker);
	dev_close(&b->dev);
	CHECK(!module_unload(), "the module does not unload");
}

/* Every client reads: CMT_IOC_READ, resctrl if it is mounted, ticks and demand_start(). */
static void clients_read(const struct bench *b)
{
	static struct cmt_record records[64];
	char text[64];

	for (int i = 0; i < ROUNDS; i++) {
		CHECK(owner_read(&b->dev, CMT_OWNER_PROCESS, b->worker->pid, records,
				 64) > 0, "READ");
		read_file(RESCTRL "/mon_data/mon_L3_01/llc_occupancy", text,
			  sizeof(text));
		usleep(1000);
	}
}

/* The CPUs that read the L3 in a window of time: bits */
static uint32_t cpus_that_read(const struct bench *b)
{
	struct readings readings;
	uint32_t cpus = 0;

	readings_begin(&readings);
	clients_read(b);
	readings_end(&readings);
	for (size_t i = 0; i < readings.count; i++)
		if (readings.all[i].l3 == SOCKET)
			cpus |= 1U << readings.all[i].cpu;
	readings_free(&readings);
	return cpus;
}

static void check_only(const struct bench *b, unsigned int cpu, const char *when)
{
	for (int i = 0; i < WINDOWS; i++) {
		uint32_t cpus = cpus_that_read(b);

		CHECK(cpus == 1U << cpu, "%s: CPUs %#x read", when, cpus);
	}
}

static void test_mount(void)
{
	struct bench b;

	bench_start(&b, PROCESS);
	CHECK(b.dev.info.evtsel == CMT_EVTSEL_FOLLOWED, "evtsel %u", b.dev.info.evtsel);
	WAIT_FOR(cpus_that_read(&b) == BOTH, 20000, "none reads without ticks");
	for (int i = 0; i < 3; i++) {
		resctrl_mount();
		check_only(&b, FIRST, "mounted");
		resctrl_umount();
		WAIT_FOR(cpus_that_read(&b) == BOTH, 20000,
			 "none reads without ticks after the unmount");
	}
	bench_stop(&b);
}

/* The CPU is to have no ticks; while resctrl reads there, it has. */
static void test_excluded(void)
{
	struct bench b;

	bench_start(&b, PROCESS " exclude_cpus=2");
	check_only(&b, SECOND, "not mounted");
	for (int i = 0; i < 3; i++) {
		resctrl_mount();
		WAIT_FOR(cpus_that_read(&b) == 1U << FIRST, 20000,
			 "the mount is not followed");
		check_only(&b, FIRST, "mounted");
		resctrl_umount();
		WAIT_FOR(cpus_that_read(&b) == 1U << SECOND, 20000,
			 "the unmount is not followed");
	}
	bench_stop(&b);
}

/*
 * Do all readings of a period of the overflow worker come from the CPU?  The worker may
 * have to run on SECOND, like this process: where the host stops that CPU, both are late.
 */
static bool period_is_of(const struct bench *b, unsigned int cpu)
{
	uint64_t begin = now_ns();

	do {
		if (cpus_that_read(b) != 1U << cpu)
			return false;
	} while (now_ns() - begin < PERIOD_MS * 1000000ULL);
	return true;
}

/* When the first CPU comes online, the overflow worker runs once more on the other one. */
static void test_hotplug(void)
{
	struct bench b;

	resctrl_mount();
	bench_start(&b, PROCESS);
	for (int i = 0; i < 3; i++) {
		check_only(&b, FIRST, "both are online");
		cpu_online(FIRST, false);
		check_only(&b, SECOND, "the first is offline");
		cpu_online(FIRST, true);
		WAIT_FOR(period_is_of(&b, FIRST), 20000, "the first is not followed");
	}
	check_only(&b, FIRST, "both are online");
	bench_stop(&b);
	resctrl_umount();
}

const struct test follow_tests[] = {
	{ "follow_mount", test_mount, NULL, 200 },
	{ "follow_excluded_cpu", test_excluded, NULL, 200 },
	{ "follow_hotplug", test_hotplug, NULL, 200 },
	{ 0 }
};
