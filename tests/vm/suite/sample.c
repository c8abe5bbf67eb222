// SPDX-License-Identifier: GPL-2.0-or-later
/* The samples. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control.h"

#define MIB (1024 * 1024)

static void check_flags(const struct cmt_record *r)
{
	CHECK(r->flags & CMT_F_OCCUPANCY || !r->sample.occupancy_bytes,
	      "an occupancy that is none: flags %#x", r->flags);
	CHECK(r->flags & CMT_F_MBM_TOTAL || !r->sample.mbm_total_bytes,
	      "a total that is none: flags %#x", r->flags);
	CHECK(r->flags & CMT_F_MBM_LOCAL || !r->sample.mbm_local_bytes,
	      "a local that is none: flags %#x", r->flags);
	CHECK(!(r->flags & (CMT_F_ERROR | CMT_F_UNAVAILABLE)),
	      "the model has no errors: flags %#x", r->flags);
}

/*
 * One CPU reads all RMIDs in one tick with interrupts off.  So the samples of a tick
 * are of one instant, and their sum must fit without a tolerance.
 */
static void sample_sum_within_cache(void)
{
	static const size_t sizes[] = { 1, 2, 8 };
	uint64_t sum = 0, most = 0, deferred = 0, samples = 0;
	pid_t walkers[3];
	struct recorder rec;
	bool whole = false;
	struct dev dev;
	size_t i;

	CHECK(!write_file("/sys/devices/system/cpu/cpu1/online", "0"),
	      "CPU 1 does not go offline");
	CHECK(!module_load(EMULATED "emulated_cache_kib=2048 budget_us=100 "
			   "interval_us=2000 ring_records=16384"), "load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	CHECK(dev.info.l3_bytes == 2 * MIB, "cache of %llu",
	      (unsigned long long)dev.info.l3_bytes);
	for (i = 0; i < 3; i++)
		walkers[i] = walk_memory(sizes[i] * MIB);
	recorder_start(&rec, &dev, true);
	sleep_ms(3000);
	recorder_stop(&rec);

	for (i = 0; i < rec.log.count; i++) {
		const struct cmt_record *r = &rec.log.records[i];

		if (r->type == CMT_REC_SAMPLE) {
			check_flags(r);
			sum += r->sample.occupancy_bytes;
			samples++;
		}
		if (r->type != CMT_REC_TICK)
			continue;
		whole = whole && r->tick.deferred == deferred;
		CHECK(!whole || sum <= dev.info.l3_bytes,
		      "%llu bytes in a cache of %llu",
		      (unsigned long long)sum,
		      (unsigned long long)dev.info.l3_bytes);
		if (whole && sum > most)
			most = sum;
		whole = true;
		deferred = r->tick.deferred;
		sum = 0;
	}
	note("%llu samples, at most %llu KiB of 2048 in use",
	     (unsigned long long)samples, (unsigned long long)most >> 10);
	CHECK(most > dev.info.l3_bytes / 2, "the cache does not fill: %llu",
	      (unsigned long long)most);
	log_free(&rec.log);
	/* the children inherited the descriptor */
	for (i = 0; i < 3; i++)
		reap(walkers[i], SIGKILL);
	dev_close(&dev);
	CHECK(!write_file("/sys/devices/system/cpu/cpu1/online", "1"),
	      "CPU 1 does not come back");
	CHECK(!module_unload(), "unload");
}

struct traffic {
	uint32_t generation;
	uint64_t total, local, residual;
};

/* By domain and RMID; the guest has few of each. */
static struct traffic traffic[4][MAX_RMIDS];

static void check_traffic(const struct cmt_record *r)
{
	struct traffic *t;

	CHECK(r->domain < 4, "domain %u", r->domain);
	t = &traffic[r->domain][r->rmid];
	if (t->generation == r->generation) {
		/* total is read before local: compare with the next sample */
		CHECK(t->local <= r->sample.mbm_total_bytes,
		      "RMID %u: more local than total", r->rmid);
		CHECK(r->sample.mbm_total_bytes >= t->total &&
		      r->sample.mbm_local_bytes >= t->local,
		      "RMID %u: traffic decreases", r->rmid);
		CHECK(r->sample.residual_bytes == t->residual,
		      "RMID %u: the residue changes", r->rmid);
	}
	t->generation = r->generation;
	t->total = r->sample.mbm_total_bytes;
	t->local = r->sample.mbm_local_bytes;
	t->residual = r->sample.residual_bytes;
}

static void sample_traffic(void)
{
	struct recorder rec;
	uint64_t most = 0;
	struct dev dev;
	int i;
	size_t k;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, true);
	/* several generations of the same RMIDs: the pool has six */
	for (i = 0; i < 8; i++) {
		pid_t a = walk_memory(4 * MIB), b = walk_memory(1 * MIB);

		sleep_ms(150);
		reap(a, SIGKILL);
		reap(b, SIGKILL);
	}
	recorder_stop(&rec);
	for (k = 0; k < rec.log.count; k++) {
		const struct cmt_record *r = &rec.log.records[k];

		if (r->type != CMT_REC_SAMPLE)
			continue;
		check_flags(r);
		check_traffic(r);
		if (r->rmid && r->sample.mbm_total_bytes > most)
			most = r->sample.mbm_total_bytes;
	}
	CHECK(most > MIB, "a walk moves only %llu bytes",
	      (unsigned long long)most);
	log_free(&rec.log);
	dev_close(&dev);
}

/* Every SAMPLE is of an owner that had the RMID at that time. */
static void sample_owner_alive(void)
{
	struct recorder rec;
	uint32_t generation[MAX_RMIDS] = { };
	uint64_t strays = 0, samples = 0;
	struct dev dev;
	size_t k;
	int i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	recorder_start(&rec, &dev, true);
	for (i = 0; i < 100; i++)
		reap(park(i % 3, NULL), SIGKILL);
	recorder_stop(&rec);
	for (k = 0; k < rec.log.count; k++) {
		const struct cmt_record *r = &rec.log.records[k];

		if (r->type == CMT_REC_ALLOC)
			generation[r->rmid] = r->generation;
		if (r->type != CMT_REC_SAMPLE || !r->rmid)
			continue;
		samples++;
		strays += generation[r->rmid] != r->generation;
	}
	CHECK(samples > 100, "only %llu samples", (unsigned long long)samples);
	CHECK(!strays, "%llu of %llu samples carry the wrong generation",
	      (unsigned long long)strays, (unsigned long long)samples);
	log_free(&rec.log);
	dev_close(&dev);
}

/* Refused, so that the load fails: no CPU reads, or an impossible CPU is named. */
static void sample_exclude_bad(void)
{
	static const char *const bad[] = { "0-3", "0-1000", "99", "1,99", "x",
					   "1-", "\"\"" };
	char params[128];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(params, sizeof(params), EMULATED "exclude_cpus=%s",
			 bad[i]);
		CHECK(module_load(params) == -EINVAL,
		      "exclude_cpus=%s is not refused", bad[i]);
	}
	CHECK(!module_load(EMULATED "exclude_cpus=none"), "none is refused");
	CHECK(!module_unload(), "unload");
	CHECK(module_load(EMULATED "budget_us=4") == -EINVAL &&
	      module_load(EMULATED "budget_us=101") == -EINVAL,
	      "budget_us is not checked");
}

/* CPU 1 has no ticks; its RMID is in every complete tick of CPU 0. */
static void sample_exclude(void)
{
	uint64_t ticks = 0, samples = 0, quiet = 0, deferred = 0, before;
	static struct snapshot snapshot;
	const struct cmt_record *owner;
	struct recorder rec;
	bool seen = false;
	struct dev dev;
	cpu_set_t set;
	pid_t pid;
	size_t i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	CHECK(ring_state(&dev.rings[1]) == CMT_RING_QUIET, "state %u",
	      ring_state(&dev.rings[1]));
	CHECK(dev_stats(&dev).cpus_online == 2, "%u CPUs online",
	      dev_stats(&dev).cpus_online);
	pid = walk_memory(MIB);
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	CHECK(!sched_setaffinity(pid, sizeof(set), &set), "affinity: %m");
	before = dev_stats(&dev).ticks;
	WAIT_FOR(dev_stats(&dev).ticks > before + 10, 10000, "no ticks");
	dev_snapshot(&dev, &snapshot);
	owner = snapshot_find(&snapshot, pid);
	CHECK(owner, "the process has no RMID");
	recorder_start(&rec, &dev, true);
	before = dev_stats(&dev).ticks;
	WAIT_FOR(dev_stats(&dev).ticks > before + 200, 20000, "no ticks");
	recorder_stop(&rec);
	for (i = 0; i < rec.log.count; i++) {
		const struct cmt_record *r = &rec.log.records[i];

		quiet += r->cpu == 1 && (r->type == CMT_REC_TICK ||
					 r->type == CMT_REC_SAMPLE);
		seen |= r->type == CMT_REC_SAMPLE && r->rmid == owner->rmid;
		if (r->type != CMT_REC_TICK)
			continue;
		if (r->tick.deferred == deferred) {
			ticks++;
			samples += seen;
		}
		deferred = r->tick.deferred;
		seen = false;
	}
	note("%llu whole ticks of CPU 0, the process on CPU 1 in %llu",
	     (unsigned long long)ticks, (unsigned long long)samples);
	CHECK(!quiet, "%llu ticks and samples of CPU 1",
	      (unsigned long long)quiet);
	/* an RMID that has not run would be in one of CMT_TURN_TICKS */
	CHECK(samples * 2 * slowness > ticks, "in %llu of %llu ticks",
	      (unsigned long long)samples, (unsigned long long)ticks);
	log_free(&rec.log);
	reap(pid, SIGKILL);

	dev_close(&dev);
}

/* The owner's kind, as /proc/cmt/rmids names it */
static const char *kind_name(const struct cmt_record *r)
{
	return r->flags & CMT_F_OWNER_OVERFLOW ? "overflow" : "process";
}

/* The line of an owner in /proc/cmt/rmids, up to the name */
static void proc_line(char *line, size_t size, const struct cmt_record *r)
{
	char residue[24] = "-";

	if (r->flags & CMT_F_RESIDUAL)
		snprintf(residue, sizeof(residue), "%llu",
			 (unsigned long long)r->owner.residual_bytes);
	snprintf(line, size, "\n%u %u %s %u %llu %llu %s ", r->rmid, r->generation,
		 kind_name(r), r->tgid, (unsigned long long)r->owner.cgroup_id,
		 (unsigned long long)r->ts, residue);
}

static void proc_agrees(void)
{
	static struct snapshot snapshot;
	static char text[65536];
	struct cmt_stats s;
	struct dev dev;
	uint32_t i;
	char line[160];
	pid_t pid;

	/* U+009B, which a terminal takes for the begin of a control sequence */
	pid = park(0, "odd \xc2\x9bm\n\\");
	dev_open(&dev, O_RDONLY);
	dev_snapshot(&dev, &snapshot);
	read_file("/proc/cmt/rmids", text, sizeof(text));
	CHECK(text[0] == '#', "/proc/cmt/rmids is empty");
	for (i = 0; i < snapshot.count; i++) {
		proc_line(line, sizeof(line), &snapshot.records[i]);
		CHECK(strstr(text, line), "/proc/cmt/rmids: not there:%s",
		      line);
	}
	/* nothing is read */
	CHECK(strstr(text, " - odd "), "/proc/cmt/rmids: an unknown residue is a number");
	CHECK(!strstr(text, "\n# EMULATED: ") == (dev.info.backend != CMT_BACKEND_EMULATED),
	      "/proc/cmt/rmids: what a model says is not told from what is measured");
	CHECK(strstr(text, " odd \\xc2\\x9bm\\x0a\\x5c\n"),
	      "/proc/cmt/rmids: a name is not escaped");
	reap(pid, SIGKILL);

	s = dev_stats(&dev);
	read_file("/proc/cmt/stats", text, sizeof(text));
	CHECK(proc_value(text, "allocs") == s.allocs &&
	      proc_value(text, "frees") == s.frees &&
	      proc_value(text, "rmids_active") == s.rmids_active &&
	      proc_value(text, "ticks") == s.ticks &&
	      proc_value(text, "cpus_online") == s.cpus_online,
	      "/proc/cmt/stats is not GET_STATS");
	dev_close(&dev);
}

/* Has the RMID a SAMPLE after record @after of the log, up to record @to? */
static bool is_sampled(const struct log *log, uint32_t rmid, size_t after, size_t to)
{
	for (size_t i = after + 1; i < to; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type == CMT_REC_SAMPLE && r->rmid == rmid)
			return true;
	}
	return false;
}

/*
 * The ticks of CPU 1 that found another RMID than the tick before, and how many of them
 * have no SAMPLE of the earlier RMID.  Another CPU may have taken the sample.
 */
static void count_unread(const struct log *log, size_t *changes, size_t *unread)
{
	size_t tick = 0;
	bool any = false;

	*changes = *unread = 0;
	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];
		uint32_t before = any ? log->records[tick].rmid : 0;

		if (r->type != CMT_REC_TICK || r->cpu != 1)
			continue;
		if (before && r->rmid != before && !r->tick.waiting) {
			(*changes)++;
			*unread += !is_sampled(log, before, tick, i);
		}
		tick = i;
		any = true;
	}
}

#define LEFT_MOVES	500

/*
 * A process that runs all the time gets another owner again and again, also shortly before
 * a tick.  The tick that finds it with another RMID reads the earlier RMID.
 */
static void sample_left_rmid(void)
{
	struct timespec pause = { };
	size_t changes, unread;
	struct recorder rec;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	group_make(container(0));
	group_make(container(1));
	pid = spin_on(1);
	run_on(0, 0);
	wait_spin();
	recorder_start(&rec, &dev, true);
	for (unsigned int i = 0; i < LEFT_MOVES; i++) {
		group_enter(container(i & 1), pid);
		pause.tv_nsec = 500000 + i * 7919 % 1000 * 1000;
		nanosleep(&pause, NULL);
	}
	recorder_stop(&rec);
	reap(pid, SIGKILL);
	group_remove(container(0));
	group_remove(container(1));
	count_unread(&rec.log, &changes, &unread);
	note("%zu ticks with another RMID, the earlier one unread in %zu", changes,
	     unread);
	CHECK(changes > LEFT_MOVES / 20, "%zu ticks with another RMID", changes);
	/* a burst that the host interrupted is discarded */
	CHECK(unread * 20 < changes, "unread in %zu of %zu ticks", unread, changes);
	log_free(&rec.log);
	dev_close(&dev);
}

#define UNATTRIBUTED_TICKS	200

/* CPU @cpu reads RMID 0 in each of its ticks, and the other CPU never does. */
static void check_unattributed(struct dev *dev, uint32_t cpu)
{
	uint64_t before = dev_stats(dev).ticks;
	size_t ticks, samples, of_others;
	struct log earlier = { };
	struct recorder rec;

	dev_drain(dev, &earlier);
	log_free(&earlier);
	recorder_start(&rec, dev, true);
	WAIT_FOR(dev_stats(dev).ticks > before + UNATTRIBUTED_TICKS, 20000, "no ticks");
	recorder_stop(&rec);
	log_count_read(&rec.log, !cpu, 0, &of_others);
	ticks = log_count_read(&rec.log, cpu, 0, &samples);
	note("RMID 0: %zu samples in %zu ticks of CPU %u, %zu by the other CPU", samples,
	     ticks, cpu, of_others);
	/* a tick may be cut by the begin of the record */
	CHECK(ticks > UNATTRIBUTED_TICKS / 4 && samples <= ticks && samples + 1 >= ticks,
	      "RMID 0: %zu samples in %zu ticks", samples, ticks);
	CHECK(!of_others, "RMID 0: %zu samples by the other CPU", of_others);
	log_free(&rec.log);
}

/* No CPU runs with another RMID: the first CPU of the domain reads RMID 0 all the same. */
static void sample_unattributed(void)
{
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	check_unattributed(&dev, 0);
	dev_close(&dev);
}

/* CPU 1 reads, because CPU 0 is excluded; CPU 0 does while CPU 1 is offline. */
static void sample_unattributed_moves(void)
{
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	check_unattributed(&dev, 1);
	cpu_online(1, false);
	check_unattributed(&dev, 0);
	cpu_online(1, true);
	check_unattributed(&dev, 1);
	dev_close(&dev);
}

const struct test sample_tests[] = {
	{ "sample_sum_within_cache", sample_sum_within_cache, NULL, 0 },
	{ "sample_traffic", sample_traffic,
	  EMULATED "emulated_rmids=12 ring_records=16384 "
	  "emulated_cache_kib=2048", 0 },
	{ "sample_owner_alive", sample_owner_alive,
	  EMULATED "emulated_rmids=12 ring_records=65536", 0 },
	{ "sample_exclude_bad", sample_exclude_bad, NULL, 0 },
	{ "sample_exclude", sample_exclude,
	  EMULATED "exclude_cpus=1 ring_records=16384 budget_us=100", 60 },
	{ "sample_left_rmid", sample_left_rmid,
	  EMULATED "emulated_rmids=64 scope=container ring_records=16384", 60 },
	{ "sample_unattributed", sample_unattributed,
	  EMULATED "scope=manual ring_records=16384", 60 },
	{ "sample_unattributed_moves", sample_unattributed_moves,
	  EMULATED "scope=manual exclude_cpus=0 ring_records=16384", 60 },
	{ "proc_agrees", proc_agrees, "", 0 },
	{ }
};
