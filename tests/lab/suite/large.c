// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module on a machine with many CPUs and L3 domains: how much memory its rings have, how
 * long a load, a walk of all processes and an unload take, and that a reader misses nothing
 * while half of the CPUs go and come back.  How long interrupts are off is not measured here:
 * the host runs a few of the guest's CPUs at a time, and the guest's clock goes on meanwhile.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "../../vm/suite/dev.h"
#include "tests.h"

#define CONTAINERS	200
#define CPUS_MAX	1024
/* Some thousand ticks a second of all CPUs together are what QEMU can run. */
#define INTERVAL	" interval_us=100000"
#define CPU_BYTES	(4ULL << 30)	/* memory of a machine for each of its CPUs */
#define SECOND		1000000000ULL
/* Ends a hang or a growth that is not linear: on two idle cores it takes a second. */
#define LIMIT_NS	(300 * SECOND)

static struct dev dev;
static unsigned int cpus;

static void note_ns(const char *what, uint64_t begin)
{
	uint64_t ns = now_ns() - begin;

	note("%u CPUs: %s: %llu ms", cpus, what, (unsigned long long)ns / 1000000);
	CHECK(ns <= LIMIT_NS, "%s: %llu ms", what, (unsigned long long)ns / 1000000);
}

/* The pages of vmalloc() that the functions of ring.c have, by the kernel's list */
static uint64_t kernel_ring_bytes(void)
{
	FILE *file = fopen("/proc/vmallocinfo", "r");
	const char *pages;
	uint64_t sum = 0;
	char line[512];

	CHECK(file, "/proc/vmallocinfo: %m");
	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, "[cmt]") ||
		    !(strstr(line, "cmt_ring_prepare") || strstr(line, "slots_new")))
			continue;
		pages = strstr(line, "pages=");
		CHECK(pages, "vmallocinfo: %s", line);
		sum += strtoull(pages + strlen("pages="), NULL, 10) * 4096;
	}
	fclose(file);
	return sum;
}

static void check_memory(void)
{
	uint64_t slots = 0, bytes = 0;
	uint32_t cpu, least = UINT32_MAX, most = 0;

	for (cpu = 0; cpu < cpus; cpu++) {
		uint32_t records = dev.rings[cpu].records;

		slots += (uint64_t)records * sizeof(struct cmt_record);
		least = records < least ? records : least;
		most = records > most ? records : most;
	}
	bytes = slots + (uint64_t)cpus * CMT_RING_DATA_OFFSET;
	note("%u CPUs: rings of %u to %u records, %llu bytes", cpus, least, most,
	     (unsigned long long)bytes);
	CHECK(kernel_ring_bytes() == slots, "the kernel has %llu bytes for the slots, not %llu",
	      (unsigned long long)kernel_ring_bytes(), (unsigned long long)slots);
	CHECK(bytes * 1000 <= cpus * CPU_BYTES, "more than 0.1 %% of the memory");
	CHECK(!dev_stats(&dev).rings_small, "%u rings are too small",
	      dev_stats(&dev).rings_small);
}

static unsigned int owners_of_kind(uint32_t kind)
{
	static struct snapshot snapshot;
	unsigned int n = 0;
	uint32_t i;

	dev_snapshot(&dev, &snapshot);
	for (i = 0; i < snapshot.count; i++)
		n += owner_kind(&snapshot.records[i]) == kind;
	return n;
}

static pid_t members[CONTAINERS];	/* one of each container */

static void containers_start(void)
{
	unsigned int i;

	for (i = 0; i < CONTAINERS; i++) {
		group_make(container(i));
		members[i] = fork();
		CHECK(members[i] >= 0, "fork: %m");
		if (!members[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		group_enter(container(i), members[i]);
	}
}

static void containers_end(void)
{
	unsigned int i;

	for (i = 0; i < CONTAINERS; i++) {
		reap(members[i], SIGKILL);
		group_remove(container(i));
	}
}

static void walk_to(uint32_t scope, const char *what)
{
	uint64_t begin = now_ns();

	scope_set(&dev, scope);
	note_ns(what, begin);
}

/* The records of going and coming of each CPU, in order; the others have none. */
static void check_cpu_records(const struct log *log, unsigned int from)
{
	static uint8_t seen[CPUS_MAX];
	unsigned int cpu;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type == CMT_REC_CPU_OFFLINE)
			CHECK(!seen[r->cpu]++, "CPU %u: OFFLINE again", r->cpu);
		if (r->type == CMT_REC_CPU_ONLINE)
			CHECK(seen[r->cpu]++ == 1, "CPU %u: ONLINE without OFFLINE", r->cpu);
	}
	for (cpu = 0; cpu < cpus; cpu++)
		CHECK(seen[cpu] == (cpu < from ? 0 : 2), "CPU %u: %u records", cpu, seen[cpu]);
}

static void ticks_everywhere(void)
{
	static uint64_t heads[CPUS_MAX];
	unsigned int cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		heads[cpu] = ring_head(&dev.rings[cpu]);
	for (cpu = 0; cpu < cpus; cpu++)
		WAIT_FOR(ring_head(&dev.rings[cpu]) > heads[cpu] + 2, 120000,
			 "CPU %u has no ticks", cpu);
}

/* The upper half: domains go with their last CPU, and come back. */
static void half_goes_and_comes(void)
{
	unsigned int cpu, half = cpus / 2;
	struct recorder recorder;
	uint64_t begin;

	ticks_everywhere();
	recorder_start(&recorder, &dev, false);
	begin = now_ns();
	for (cpu = half; cpu < cpus; cpu++) {
		cpu_online(cpu, false);
		CHECK(ring_state(&dev.rings[cpu]) == CMT_RING_OFFLINE, "CPU %u: state %u", cpu,
		      ring_state(&dev.rings[cpu]));
	}
	note("%u CPUs: %u go offline: %llu ms each", cpus, cpus - half,
	     (unsigned long long)((now_ns() - begin) / (cpus - half) / 1000000));
	CHECK(dev_stats(&dev).cpus_online == half, "%u CPUs", dev_stats(&dev).cpus_online);
	begin = now_ns();
	for (cpu = half; cpu < cpus; cpu++) {
		cpu_online(cpu, true);
		CHECK(ring_state(&dev.rings[cpu]) == CMT_RING_ONLINE, "CPU %u: state %u", cpu,
		      ring_state(&dev.rings[cpu]));
	}
	note("%u CPUs: %u come online: %llu ms each", cpus, cpus - half,
	     (unsigned long long)((now_ns() - begin) / (cpus - half) / 1000000));
	ticks_everywhere();
	recorder_stop(&recorder);
	check_cpu_records(&recorder.log, half);
	log_free(&recorder.log);
}

static void load(const char *params)
{
	uint64_t begin = now_ns();

	CHECK(!module_load_exact(params), "load: %s", params);
	note_ns("load", begin);
	dev_open(&dev, O_RDWR);
}

static void unload(void)
{
	uint64_t begin;

	note("%u CPUs: how long interrupts are off is not measured: the guest's CPUs run in turn",
	     cpus);
	dev_close(&dev);
	begin = now_ns();
	CHECK(!module_unload(), "unload");
	note_ns("unload", begin);
}

static void count_cpus(void)
{
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	CHECK(cpus >= 2 && cpus <= CPUS_MAX, "%u CPUs", cpus);
}

static void test_reader(void)
{
	count_cpus();
	load("scope=container" INTERVAL);
	CHECK(dev.info.nr_cpus == cpus && dev_stats(&dev).cpus_online == cpus,
	      "%u rings, %u CPUs online", dev.info.nr_cpus, dev_stats(&dev).cpus_online);
	dev_map(&dev, FROM_NOW);
	check_memory();
	containers_start();
	CHECK(owners_of_kind(CMT_F_OWNER_CGROUP) >= CONTAINERS, "%u containers are owners",
	      owners_of_kind(CMT_F_OWNER_CGROUP));
	walk_to(CMT_SCOPE_PROCESS, "walk of all processes, scope process");
	walk_to(CMT_SCOPE_CPU, "walk, scope cpu");
	walk_to(CMT_SCOPE_CONTAINER, "walk of all cgroups and processes, scope container");
	CHECK(owners_of_kind(CMT_F_OWNER_CGROUP) >= CONTAINERS, "%u containers are owners again",
	      owners_of_kind(CMT_F_OWNER_CGROUP));
	half_goes_and_comes();
	containers_end();
	unload();
}

/* The other backends load, walk and unload there, too. */
static void test_backends(void)
{
	static const char *const backends[] = { EMULATED, SOFTWARE };
	size_t i;

	count_cpus();
	for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		char params[80];

		snprintf(params, sizeof(params), "%sscope=container" INTERVAL, backends[i]);
		note("%s", params);
		load(params);
		dev_map(&dev, FROM_NOW);
		check_memory();
		ticks_everywhere();
		walk_to(CMT_SCOPE_PROCESS, "walk of all processes, scope process");
		unload();
	}
}

const struct test large_tests[] = {
	{ "large_reader", test_reader, NULL, 3000 },
	{ "large_backends", test_backends, NULL, 1000 },
	{ 0 }
};
