// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the ticks of a domain's CPUs read together.  In 32 ticks they read a container that
 * does not run once, and one that runs in each tick, as RMID 0: this is what the made-up
 * machine of tests/benches does, too (unit.made).
 *
 * All CPUs have a tick at the same times, the multiples of the interval: a tick's number.
 * Checked are aligned windows of idle_ticks numbers in which no CPU of the domain missed a
 * tick, or deferred a reading, because the host did not run it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "../../vm/suite/dev.h"
#include "tests.h"

#define RESTING		100
#define INTERVAL_NS	100000000ULL
#define WINDOWS		3
#define CPUS_MOST	64

static struct dev dev;
static unsigned int cpus;
static uint32_t domain_of[CPUS_MOST];
static uint32_t running[CPUS_MOST];	/* the RMID that runs on a CPU, or 0 */
static uint32_t resting[RESTING];	/* RMIDs */

struct window {
	uint64_t number;		/* of its first tick, by its length */
	unsigned int ticks[CPUS_MOST];	/* of each CPU, that have no reading of another one */
	unsigned int samples[MAX_RMIDS];
	unsigned int all;
};

static uint64_t after[CPUS_MOST];	/* the tick to which the last one left nothing */

static uint32_t rmid_of(uint64_t id)
{
	const struct cmt_record *owner = owner_find(&dev, CMT_OWNER_CGROUP, id);

	CHECK(owner, "no owner %llu", (unsigned long long)id);
	return owner->rmid;
}

/* A container runs on each second CPU, and RESTING ones do not run. */
static void containers_start(pid_t *pids)
{
	uint64_t ids[RESTING + CPUS_MOST];
	unsigned int i, n = RESTING + cpus / 2;

	for (i = 0; i < n; i++) {
		ids[i] = group_make(container(i));
		pids[i] = i < RESTING ? park(0, NULL) : spin_on((i - RESTING) * 2);
		group_enter(container(i), pids[i]);
	}
	for (i = 0; i < n; i++) {
		if (i < RESTING)
			resting[i] = rmid_of(ids[i]);
		else
			running[(i - RESTING) * 2] = rmid_of(ids[i]);
	}
}

static void containers_end(const pid_t *pids)
{
	unsigned int i;

	for (i = 0; i < RESTING + cpus / 2; i++) {
		reap(pids[i], SIGKILL);
		group_remove(container(i));
	}
}

static bool is_whole(const struct window *w, uint32_t domain)
{
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		if (domain_of[cpu] == domain && w->ticks[cpu] != dev.info.idle_ticks)
			return false;
	return true;
}

static void expect(const struct window *w, uint32_t rmid, unsigned int times, const char *what)
{
	CHECK(w->samples[rmid] == times, "%s, RMID %u: %u samples in %u ticks", what, rmid,
	      w->samples[rmid], dev.info.idle_ticks);
}

static void check_window(const struct window *w, uint32_t domain)
{
	unsigned int i, every = dev.info.idle_ticks, hot = 1;

	expect(w, 0, every, "unattributed");
	for (i = 0; i < RESTING; i++)
		expect(w, resting[i], 1, "resting");
	for (i = 0; i < cpus; i++) {
		if (!running[i])
			continue;
		expect(w, running[i], domain_of[i] == domain ? every : 1, "running");
		hot += domain_of[i] == domain;
	}
	note("domain %u, window %llu: %u samples, %u of them of %u RMIDs that ran", domain,
	     (unsigned long long)w->number, w->all, hot * every, hot);
}

/* @number: of the tick */
static void window_add(struct window *w, const struct cmt_record *r, uint64_t number)
{
	if (r->type == CMT_REC_SAMPLE) {
		w->samples[r->rmid]++;
		w->all++;
	}
	if (r->type != CMT_REC_TICK)
		return;
	w->ticks[r->cpu] += number == after[r->cpu] && !r->tick.waiting;
	after[r->cpu] = r->tick.waiting ? 0 : number + 1;
}

/* The whole windows of one domain.  The first and the last one are never whole. */
static unsigned int check_domain(const struct log *log, uint32_t domain)
{
	static struct window w;
	unsigned int whole = 0;
	uint64_t number;

	memset(&w, 0, sizeof(w));
	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (domain_of[r->cpu] != domain)
			continue;
		number = r->ts / INTERVAL_NS;
		if (number / dev.info.idle_ticks != w.number) {
			if (is_whole(&w, domain)) {
				check_window(&w, domain);
				whole++;
			}
			memset(&w, 0, sizeof(w));
			w.number = number / dev.info.idle_ticks;
		}
		window_add(&w, r, number);
	}
	return whole;
}

/* Which CPUs have which domain is what their records say. */
static uint32_t domains_find(const struct log *log)
{
	uint32_t most = 0;

	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_TICK)
			continue;
		domain_of[r->cpu] = r->domain;
		most = r->domain > most ? r->domain : most;
	}
	return most + 1;
}

static unsigned int record(unsigned int seconds)
{
	uint32_t domain, domains;
	unsigned int whole = 0;
	struct recorder recorder;

	recorder_start(&recorder, &dev, true);
	sleep_ms(seconds * 1000);
	recorder_stop(&recorder);
	domains = domains_find(&recorder.log);
	CHECK(domains > 1, "one domain");
	for (domain = 0; domain < domains; domain++)
		whole += check_domain(&recorder.log, domain);
	log_free(&recorder.log);
	return whole;
}

static void test_windows(void)
{
	pid_t pids[RESTING + CPUS_MOST / 2];
	unsigned int whole = 0;
	struct log log = { };

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	CHECK(cpus >= 4 && cpus <= CPUS_MOST, "%u CPUs", cpus);
	CHECK(!module_load_exact("scope=container interval_us=100000 budget_us=100"), "load");
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	containers_start(pids);
	/* in a window in which it began, a container may have missed its turn */
	dev_drain(&dev, &log);
	log_free(&log);
	/* a domain has a whole window in 6.4 s, unless the host is busy */
	WAIT_FOR((whole += record(8)) >= WINDOWS, 500000, "%u windows in which no CPU missed a tick",
		 whole);
	containers_end(pids);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

const struct test ticks_tests[] = {
	{ "ticks_windows", test_windows, NULL, 900 },
	{ 0 }
};
