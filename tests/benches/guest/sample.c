// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ticks and samples.  Processes that only sleep are added, so that every tick
 * takes more samples; the line through
 *
 *	busy_ns per tick = ns per tick + ns per sample * samples per tick
 *
 * at none and at many of them gives both, and a number in between must lie on
 * it.  busy_ns is the module's own and begins in its timer's function; what the
 * whole interrupt costs is seen from outside, by a loop that it interrupts.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

/*
 * About 10 ms, but no multiple of the 4 ms of the kernel's own tick: the two
 * come together seldom.
 */
#define INTERVAL_NS	9700000
#define WARM_UP_TICKS	3
#define TICKS		30

#define SLEEPERS_MAX	150
#define SPINS		100	/* between two looks at the clock */
#define GAP_MIN		600	/* more than such a round takes undisturbed */
#define TIMER_LATE_NS	10000	/* an interrupt is at most so late */

/* Share of the line's value by which the middle may be off it */
#define LINE_TOLERANCE	0.02

struct point {
	double samples;		/* per tick */
	double busy;		/* instructions per tick, by the module */
	double whole;		/* by the interrupted loop */
};

static pid_t sleepers[SLEEPERS_MAX];
static unsigned int nr_sleepers;

static void sleepers_add(unsigned int up_to)
{
	while (nr_sleepers < up_to) {
		pid_t pid = fork();

		if (pid < 0)
			die_errno("fork");
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		sleepers[nr_sleepers++] = pid;
	}
	/* they have our priority, and now their turn */
	sched_yield();
}

static void sleepers_end(void)
{
	while (nr_sleepers) {
		nr_sleepers--;
		kill(sleepers[nr_sleepers], SIGKILL);
		waitpid(sleepers[nr_sleepers], NULL, 0);
	}
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Was the interruption of the last @ns due at a boundary of the interval? */
static int boundary_in(uint64_t ns)
{
	uint64_t now = now_ns();

	ns += TIMER_LATE_NS;
	return now / INTERVAL_NS != (now - ns) / INTERVAL_NS;
}

/*
 * Compute for @ticks intervals.  Returns the median of the instructions that
 * an interruption at a boundary took.
 */
static double interrupted(unsigned int ticks)
{
	uint64_t end = instructions() + (uint64_t)ticks * INTERVAL_NS;
	uint64_t last = instructions(), now, undisturbed = UINT64_MAX;
	double gaps[TICKS + 1];
	size_t n = 0;

	for (; last < end; last = now) {
		spin(SPINS);
		now = instructions();
		if (now - last < undisturbed)
			undisturbed = now - last;
		if (now - last < GAP_MIN)
			continue;
		if (boundary_in(now - last) && n <= ticks)
			gaps[n++] = now - last;
		now = instructions();
	}
	if (2 * n < ticks)
		die("saw %zu of %u ticks", n, ticks);
	return median(gaps, n) - undisturbed;
}

static void point(int fd, unsigned int nr, struct point *p)
{
	struct cmt_stats before, after;
	double ticks;

	sleepers_add(nr);
	interrupted(WARM_UP_TICKS);
	device_stats(fd, &before);
	p->whole = interrupted(TICKS);
	device_stats(fd, &after);

	if (after.waiting || after.deferred != before.deferred ||
	    after.missed != before.missed)
		die("%u processes wait, %llu samples deferred, %llu ticks missed",
		    after.waiting, after.deferred - before.deferred,
		    after.missed - before.missed);
	ticks = after.ticks - before.ticks;
	if (fabs(ticks - TICKS) > 1)
		die("%.0f ticks in %d intervals", ticks, TICKS);
	p->samples = (after.samples - before.samples) / ticks;
	p->busy = (after.busy_ns - before.busy_ns) / ticks;
	if (p->samples < nr)
		die("%.1f samples per tick of %u sleepers", p->samples, nr);
}

/* How many sleepers can have an RMID, with some to spare. */
static unsigned int room(int fd, const struct cmt_info *info)
{
	struct cmt_stats stats;
	unsigned int free;

	device_stats(fd, &stats);
	free = info->rmids_usable - stats.rmids_active;
	if (free < 8)
		die("only %u RMIDs are free", free);
	free -= 4;
	return free < SLEEPERS_MAX ? free : SLEEPERS_MAX;
}

static void report(const struct point *p)
{
	double sample = (p[2].busy - p[0].busy) / (p[2].samples - p[0].samples);
	double tick = p[0].busy - sample * p[0].samples;
	double line = tick + sample * p[1].samples;

	if (fabs(p[1].busy - line) > LINE_TOLERANCE * line)
		die("no line: %.0f at %.1f samples, not %.0f", p[1].busy,
		    p[1].samples, line);
	figure("sample", sample);
	figure("tick", tick);
	figure("tick_whole", p[0].whole - sample * p[0].samples);
}

void bench_sample(void)
{
	struct cmt_info info;
	struct point points[3];
	unsigned int most;
	int fd = device_open();
	void *map;

	device_info(fd, &info);
	text("backend", info.backend == CMT_BACKEND_HARDWARE ? "hardware" :
							       "emulated");
	figure("rmids", info.nr_rmids);
	device_interval(fd, INTERVAL_NS);
	/* sampling begins with the first mapping */
	map = mmap(NULL, info.ring_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die_errno("mmap");

	most = room(fd, &info);
	real_time(true);
	point(fd, 0, &points[0]);
	point(fd, most / 3, &points[1]);
	point(fd, most, &points[2]);
	sleepers_end();
	real_time(false);
	munmap(map, info.ring_bytes);
	close(fd);
	report(points);
}
