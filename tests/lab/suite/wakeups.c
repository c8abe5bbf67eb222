// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interrupts that the module adds to CPUs that are idle, and how many of their ticks
 * have nothing to read.  The guest's clock counts instructions (tests/vm/guest --icount), so
 * that the numbers depend on no host.
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

#define CPUS		4
#define SECOND		1000000000ULL
#define MS		1000000U
#define PERIOD_S	5

/* The interrupts of each CPU since the boot. */
struct interrupts {
	uint64_t timer[CPUS];	/* of the CPU's own timer */
	uint64_t all[CPUS];
};

static struct dev dev;

static void interrupts_read(struct interrupts *interrupts)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[1024], *at, *end;
	unsigned int cpu;

	CHECK(file && fgets(line, sizeof(line), file), "/proc/interrupts: %m");
	memset(interrupts, 0, sizeof(*interrupts));
	while (fgets(line, sizeof(line), file)) {
		bool timer = strstr(line, "LOC:");

		at = strchr(line, ':');
		/* ERR and MIS are of no CPU */
		if (!at || strstr(line, "ERR:") || strstr(line, "MIS:"))
			continue;
		at++;
		for (cpu = 0; cpu < CPUS; cpu++, at = end) {
			uint64_t n = strtoull(at, &end, 10);

			CHECK(end != at, "/proc/interrupts: %s", line);
			interrupts->all[cpu] += n;
			if (timer)
				interrupts->timer[cpu] = n;
		}
	}
	fclose(file);
}

/* Interrupts a second of an idle CPU, all but CPU 0 */
struct rates {
	double timer;
	double all;
	double ticks;
};

/* For PERIOD_S seconds, this process, on CPU 0, reads each @pause_ms; 0: it does not. */
static struct rates measure(unsigned int pause_ms)
{
	struct cmt_stats from = dev_stats(&dev), to;
	struct interrupts before, after;
	struct log log = { };
	struct rates rates = { };
	uint64_t begin, end;
	unsigned int cpu;
	double s;

	interrupts_read(&before);
	begin = now_ns();
	do {
		sleep_ms(pause_ms ? pause_ms : 1000);
		if (pause_ms)
			dev_drain_events(&dev, &log);
		end = now_ns();
	} while (end - begin < PERIOD_S * SECOND);
	interrupts_read(&after);
	to = dev_stats(&dev);
	log_free(&log);
	s = (end - begin) / 1e9;
	for (cpu = 1; cpu < CPUS; cpu++) {
		rates.timer += (after.timer[cpu] - before.timer[cpu]) / s / (CPUS - 1);
		rates.all += (after.all[cpu] - before.all[cpu]) / s / (CPUS - 1);
	}
	rates.ticks = (to.ticks - from.ticks) / s / CPUS;
	return rates;
}

/*
 * An idle CPU has one interrupt more for each tick, and none more for a reader on another
 * CPU.
 */
static void test_interrupts(void)
{
	static const struct {
		uint32_t interval_ns;
		unsigned int pause_ms;
	} modes[] = {
		{ 1000 * MS, 1000 }, { 100 * MS, 100 }, { 10 * MS, 100 }, { MS, 100 }, { MS, 1 },
	};
	struct rates idle, rates;
	size_t i;

	run_on(0, 0);
	dev_open(&dev, O_RDWR);
	idle = measure(0);
	note("no reader: %.1f interrupts a second of an idle CPU, %.1f of the timer", idle.all,
	     idle.timer);
	CHECK(!idle.ticks, "%.1f ticks without a reader", idle.ticks);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		double wanted = 1e9 / modes[i].interval_ns;

		dev_set_interval(&dev, modes[i].interval_ns);
		rates = measure(modes[i].pause_ms);
		note("interval %u ms, read each %u ms: %.1f interrupts a second, %.1f of the timer, %.1f ticks",
		     modes[i].interval_ns / MS, modes[i].pause_ms, rates.all, rates.timer,
		     rates.ticks);
		CHECK(rates.ticks > wanted * 0.95 - 1 && rates.ticks < wanted * 1.05 + 1,
		      "%.1f ticks a second", rates.ticks);
		CHECK(rates.all - idle.all < wanted * 1.05 + 5,
		      "%.1f interrupts a second more", rates.all - idle.all);
	}
	dev_close(&dev);
}

/* A process of container @i on @cpu: a millisecond of work in ten. */
static pid_t tenth_start(unsigned int i, int cpu)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid) {
		group_enter(container(i), pid);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(0, cpu);
	for (;;) {
		uint64_t begin = now_ns();

		while (now_ns() - begin < MS)
			;
		sleep_ms(9);
	}
}

/* What ticks of a CPU read. */
struct kinds {
	uint64_t all;
	uint64_t idle;		/* no owner runs, none has run since the tick before */
	uint64_t nothing;	/* of these: no RMID was due */
};

static void ticks_count(const struct log *log, struct kinds kinds[CPUS])
{
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];
		struct kinds *k = &kinds[r->cpu];

		if (r->type != CMT_REC_TICK)
			continue;
		k->all++;
		k->idle += !r->rmid;
		k->nothing += !r->rmid && !r->tick.read && !r->tick.waiting;
	}
}

/*
 * Nine tenths of each CPU are idle.  @containers have an RMID each, those beyond the CPUs
 * without a process that runs.
 */
static void measure_idle(unsigned int containers)
{
	struct kinds kinds[CPUS] = { }, sum = { };
	struct recorder recorder;
	pid_t pids[CPUS];
	unsigned int i;

	for (i = 0; i < containers; i++)
		group_make(container(i));
	for (i = 0; i < CPUS; i++)
		pids[i] = tenth_start(i, i);
	recorder_start(&recorder, &dev, true);
	sleep_ms(PERIOD_S * 1000);
	recorder_stop(&recorder);
	ticks_count(&recorder.log, kinds);
	log_free(&recorder.log);
	for (i = 0; i < CPUS; i++) {
		note("%u containers, CPU %u: %llu ticks, idle %.1f %%, nothing to read %.1f %%",
		     containers, i, (unsigned long long)kinds[i].all,
		     100.0 * kinds[i].idle / kinds[i].all,
		     100.0 * kinds[i].nothing / kinds[i].all);
		CHECK(kinds[i].all > PERIOD_S * 950, "ticks are missing");
		sum.all += kinds[i].all;
		sum.nothing += kinds[i].nothing;
	}
	note("%u containers: %.1f %% of the ticks have nothing to read", containers,
	     100.0 * sum.nothing / sum.all);
	/* the first CPU of the domain reads RMID 0 */
	CHECK(!kinds[0].nothing, "%llu ticks without RMID 0",
	      (unsigned long long)kinds[0].nothing);
	for (i = 0; i < CPUS; i++)
		reap(pids[i], SIGKILL);
	for (i = 0; i < containers; i++)
		group_remove(container(i));
}

static void test_idle(void)
{
	run_on(0, 0);
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	measure_idle(CPUS);
	measure_idle(50);
	dev_close(&dev);
}

const struct test wakeups_tests[] = {
	{ "wakeups_one_interrupt_a_tick", test_interrupts, "scope=container", 600 },
	{ "wakeups_ticks_with_nothing", test_idle, "scope=container", 600 },
	{ 0 }
};
