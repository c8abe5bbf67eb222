// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes without privileges that change their name or their cgroup as fast as they
 * can.  Snapshots stay exact and short, and the CPUs are not interrupted at each change.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "waits.h"

#define MS		1000000ULL
#define LAST_NAME	"last-name"

static bool has_name(const struct cmt_record *r, const char *name)
{
	return r && !strncmp(r->owner.comm, name, CMT_COMM_LEN);
}

/* Shared with the children: renamers end with LAST_NAME. */
static volatile bool *stop;

static volatile bool *shared_flag(void)
{
	volatile bool *flag = mmap(NULL, sizeof(*flag), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(flag != MAP_FAILED, "mmap: %m");
	return flag;
}

static void flood_init(void)
{
	stop = shared_flag();
}

#define RENAMES_S	3	/* a snapshot that waits for the renamers ends, too late */

/* A process that changes its name all the time, for RENAMES_S at most. */
static pid_t renamer(int cpu)
{
	uint64_t end = now_ns() + slowness * RENAMES_S * 1000 * MS;
	char name[] = "name-a";
	unsigned int i;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(0, cpu);
	for (i = 0; !*stop && (i % 1024 || now_ns() < end); i++) {
		name[5] = 'a' + i % 26;
		prctl(PR_SET_NAME, name);
	}
	prctl(PR_SET_NAME, LAST_NAME);
	for (;;)
		pause();
}

/* The state of each RMID at an instant, from the records of the rings. */
static void log_state(const struct log *log, uint64_t as_of,
		      const struct cmt_record **state)
{
	size_t i;

	memset(state, 0, MAX_RMIDS * sizeof(state[0]));
	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->ts > as_of || r->type == CMT_REC_ALLOC_FAIL || !is_lifecycle(r))
			continue;
		state[r->rmid] = r->type == CMT_REC_FREE ? NULL : r;
	}
}

/* The snapshot has the state of each RMID at its instant, and no other. */
static void check_exact(const struct snapshot *snapshot, const struct log *log)
{
	static const struct cmt_record *state[MAX_RMIDS];
	uint32_t i, n = 0;

	log_state(log, snapshot->as_of, state);
	for (i = 0; i < MAX_RMIDS; i++)
		n += !!state[i];
	CHECK(n == snapshot->count, "%u RMIDs in the snapshot, %u by the records",
	      snapshot->count, n);
	for (i = 0; i < snapshot->count; i++) {
		const struct cmt_record *r = &snapshot->records[i];
		const struct cmt_record *by = state[r->rmid];

		CHECK(by && by->generation == r->generation && by->tgid == r->tgid &&
		      by->flags == r->flags &&
		      by->owner.cgroup_id == r->owner.cgroup_id &&
		      has_name(by, r->owner.comm),
		      "RMID %u: %.16s in the snapshot, %.16s by the records", r->rmid,
		      r->owner.comm, by ? by->owner.comm : "no owner");
	}
}

/* Two UPDATEs of an owner have at least a millisecond between them. */
static void check_rate(const struct log *log, pid_t pid)
{
	uint64_t last = 0;
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_UPDATE || r->tgid != (uint32_t)pid)
			continue;
		CHECK(!n || r->ts - last >= MS, "UPDATE %u of %d after %llu ns", n, pid,
		      (unsigned long long)(r->ts - last));
		last = r->ts;
		n++;
	}
	CHECK(n > 10, "%u UPDATEs of %d", n, pid);
	note("%u UPDATEs of process %d", n, pid);
}

#define SNAPSHOTS	24
#define RENAMERS	4
#define GROUPS		3500	/* many RMIDs with an owner: a long snapshot */

static struct snapshot snapshots[SNAPSHOTS];

static void take_snapshots(const struct dev *dev)
{
	uint64_t from, took, longest = 0, begin = now_ns();
	unsigned int i;

	for (i = 0; i < SNAPSHOTS; i++) {
		from = now_ns();
		dev_snapshot(dev, &snapshots[i]);
		took = now_ns() - from;
		longest = took > longest ? took : longest;
		CHECK(took < slowness * 1000 * MS, "snapshot %u took %llu ms", i,
		      (unsigned long long)(took / MS));
	}
	note("%u snapshots in %llu us, the longest in %llu us", SNAPSHOTS,
	     (unsigned long long)(now_ns() - begin) / 1000,
	     (unsigned long long)longest / 1000);
}

static bool snapshot_has_name(const struct dev *dev, pid_t pid, const char *name)
{
	static struct snapshot snapshot;

	dev_snapshot(dev, &snapshot);
	return has_name(snapshot_find(&snapshot, (uint32_t)pid), name);
}

static void flood_names(void)
{
	pid_t pids[RENAMERS];
	struct recorder rec;
	struct dev dev;
	unsigned int i;

	flood_init();
	dev_open(&dev, O_RDWR);
	CHECK(dev.info.nr_rmids == MAX_RMIDS, "%u RMIDs", dev.info.nr_rmids);
	dev_map(&dev, FROM_OLDEST);
	recorder_start(&rec, &dev, false);
	for (i = 0; i < GROUPS / slowness; i++)
		group_make(container(i));
	run_on(0, 0);
	for (i = 0; i < RENAMERS; i++) {
		pids[i] = renamer(1);
		CHECK(!attach(&dev, CMT_OWNER_PROCESS, pids[i], 0, NULL), "attach");
	}
	take_snapshots(&dev);
	/* enough for check_rate(); the snapshots take less on a busy machine */
	for (i = 0; i < RENAMERS; i++)
		WAIT_FOR(ran_ns(pids[i]) > 50 * MS, 10000,
			 "process %d does not run", pids[i]);
	*stop = true;
	for (i = 0; i < RENAMERS; i++)
		WAIT_FOR(snapshot_has_name(&dev, pids[i], LAST_NAME), 5000,
			 "the last name of process %d is missing", pids[i]);
	recorder_stop(&rec);
	for (i = 0; i < SNAPSHOTS; i++)
		check_exact(&snapshots[i], &rec.log);
	for (i = 0; i < RENAMERS; i++) {
		check_rate(&rec.log, pids[i]);
		reap(pids[i], SIGKILL);
	}
	log_free(&rec.log);
	for (i = 0; i < GROUPS / slowness; i++)
		group_remove(container(i));
	check_pool(&dev);
	dev_close(&dev);
}

/* The last name comes also if the process exits at once, before its FREE. */
static void flood_name_at_exit(void)
{
	const struct cmt_record *update, *gone;
	struct recorder rec;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, false);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "first-name");
		prctl(PR_SET_NAME, "second-name");
		prctl(PR_SET_NAME, LAST_NAME);
		_exit(0);
	}
	expect_exit_0(pid, "a child");
	recorder_stop(&rec);
	update = log_find(&rec.log, 0, CMT_REC_UPDATE, pid);
	gone = log_find(&rec.log, 0, CMT_REC_FREE, pid);
	CHECK(has_name(update, "first-name"), "the first UPDATE is of %.16s",
	      update ? update->owner.comm : "no name");
	CHECK(has_name(gone, LAST_NAME), "the FREE is of %.16s",
	      gone ? gone->owner.comm : "no name");
	while (update && !has_name(update, LAST_NAME))
		update = log_find(&rec.log, update + 1 - rec.log.records, CMT_REC_UPDATE,
				  pid);
	CHECK(update && update < gone, "no UPDATE with the last name before the FREE");
	log_free(&rec.log);
	dev_close(&dev);
}

/* Reads snapshots until it is killed. */
static pid_t snapshot_reader(const struct dev *dev)
{
	static struct snapshot snapshot;
	static char text[1 << 16];
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	while (!pid) {
		dev_snapshot(dev, &snapshot);
		read_file("/proc/cmt/rmids", text, sizeof(text));
	}
	return pid;
}

#define KILLED		60
#define READERS		3

/* A reader that is killed in a snapshot leaves nothing behind. */
static void flood_killed_readers(void)
{
	pid_t pids[READERS], name;
	struct snapshot *last = &snapshots[0];
	struct recorder rec;
	struct dev dev;
	unsigned int i, k;

	flood_init();
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	recorder_start(&rec, &dev, false);
	name = renamer(1);
	for (i = 0; i < KILLED / slowness; i++) {
		for (k = 0; k < READERS; k++)
			pids[k] = snapshot_reader(&dev);
		sleep_ms(1 + i % 7);
		for (k = 0; k < READERS; k++)
			reap(pids[k], SIGKILL);
	}
	dev_snapshot(&dev, last);
	*stop = true;
	WAIT_FOR(snapshot_has_name(&dev, name, LAST_NAME), 5000, "no last name");
	recorder_stop(&rec);
	check_exact(last, &rec.log);
	reap(name, SIGKILL);
	log_free(&rec.log);
	check_pool(&dev);
	dev_close(&dev);
}

#define THROTTLED	12
#define ROUNDS		200
#define SLOW_MS		100	/* a period of the throttling */

static const char *throttled_group(unsigned int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "throttled%u", i);
	return name;
}

/* Reads snapshots, with a hundredth of a CPU. */
static pid_t throttled_reader(const struct dev *dev, unsigned int i)
{
	static struct snapshot snapshot;
	pid_t pid;

	group_make(throttled_group(i));
	group_throttle(throttled_group(i));
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	run_on(0, 1);
	group_enter(throttled_group(i), getpid());
	for (;;)
		dev_snapshot(dev, &snapshot);
}

/* A reader that loses its CPU in a snapshot does not delay another reader. */
static void flood_throttled_readers(void)
{
	uint64_t from, took, longest = 0;
	unsigned int i, slow = 0;
	pid_t pids[THROTTLED];
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	CHECK(dev.info.nr_rmids == MAX_RMIDS, "%u RMIDs", dev.info.nr_rmids);
	run_on(0, 0);
	for (i = 0; i < THROTTLED; i++)
		pids[i] = throttled_reader(&dev, i);
	for (i = 0; i < ROUNDS; i++) {
		sleep_ms(10 + i % 20);
		from = now_ns();
		dev_snapshot(&dev, &snapshots[0]);
		took = now_ns() - from;
		longest = took > longest ? took : longest;
		slow += took > slowness * SLOW_MS * MS;
	}
	note("%u of %u snapshots took more than %u ms, the longest %llu us", slow, i,
	     slowness * SLOW_MS, (unsigned long long)longest / 1000);
	CHECK(slow < 3, "%u of %u snapshots took more than %u ms", slow, i,
	      slowness * SLOW_MS);
	for (i = 0; i < THROTTLED; i++) {
		reap(pids[i], SIGKILL);
		group_remove(throttled_group(i));
	}
	check_pool(&dev);
	dev_close(&dev);
}

#define ASKED		10
#define ASKED_SLOW_MS	5000	/* without its CPU the other reader takes tens of seconds */

static volatile bool *asked;	/* shared with the child */

/* What a reader without rights may ask of a descriptor, but for readings */
static void ask_all(void)
{
	struct cmt_patterns patterns = { .size = sizeof(patterns) };
	struct pollfd ready = { .events = POLLIN };
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	*asked = true;
	waits_ask(&dev, CMT_F_WAITED);
	dev_map(&dev, FROM_NOW);
	CHECK(ioctl(dev.fd, CMT_IOC_GET_PATTERNS, &patterns) && errno == ENOSPC,
	      "GET_PATTERNS: %m");
	ready.fd = dev.fd;
	poll(&ready, 1, 1);
	dev_close(&dev);
}

/* From here on with a millisecond of a CPU in each second */
static void ask_for_ever(void)
{
	group_set(0, "cpu.max", "1000 1000000");
	for (;;)
		ask_all();
}

/* The number of periods in which container 0 was out of its quota */
static uint64_t times_throttled(void)
{
	char path[256], text[1024];

	snprintf(path, sizeof(path), CGROUPS "/%s/cpu.stat", container(0));
	return proc_value(read_file(path, text, sizeof(text)), "nr_throttled");
}

/*
 * The first reader that asks what tasks wait runs out of its quota: what is prepared for it
 * takes many milliseconds.  That does not delay another reader.
 */
static void flood_throttled_wants(void)
{
	uint64_t from, took, longest = 0, before;
	unsigned int i;
	pid_t pid;

	asked = shared_flag();
	group_make(container(0));
	groups_limit_cpu();
	pid = waits_fork(0, ask_for_ever);
	WAIT_FOR(*asked, 60000, "the reader does not ask");
	before = times_throttled();
	WAIT_FOR(times_throttled() > before + 1, 60000, "the reader is not throttled");
	for (i = 0; i < ASKED; i++) {
		from = now_ns();
		ask_all();
		took = now_ns() - from;
		longest = took > longest ? took : longest;
	}
	note("%u times, the longest %llu us", i, (unsigned long long)longest / 1000);
	group_enter("", pid);
	reap(pid, SIGKILL);
	group_remove(container(0));
	CHECK(longest < slowness * ASKED_SLOW_MS * MS, "the longest took %llu ms",
	      (unsigned long long)(longest / MS));
}

#define TRACING		"/sys/kernel/tracing/"
#define LIMBO_US	2000

static void trace_write(const char *file, const char *text)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), TRACING "%s", file);
	err = write_file(path, text);
	CHECK(!err, "%s: %s", path, strerror(-err));
}

static void trace_clear(const char *file)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | O_TRUNC);
	CHECK(fd >= 0, "%s: %m", path);
	close(fd);
}

/* The kernel patches the function: that must not happen while two CPUs run (tests/vm/init). */
static void probe_enable(bool enable)
{
	cpu_online(1, false);
	trace_write("events/kprobes/cmt_ask/enable", enable ? "1" : "0");
	cpu_online(1, true);
}

/* Note the time of each call of a function of the module. */
static void trace_start(const char *function)
{
	char probe[64];

	snprintf(probe, sizeof(probe), "p:cmt_ask cmt:%s", function);
	trace_write("trace_clock", "mono");
	trace_write("kprobe_events", probe);
	probe_enable(true);
	trace_clear("trace");
	trace_write("tracing_on", "1");
}

/* The number of calls until now */
static unsigned long trace_calls(void)
{
	unsigned long calls = 0;
	char text[256];

	read_file(TRACING "kprobe_profile", text, sizeof(text));
	sscanf(text, " cmt_ask %lu", &calls);
	return calls;
}

static void trace_stop(void)
{
	trace_write("tracing_on", "0");
}

/* The trace has been read: without its event it may be empty. */
static void trace_end(void)
{
	probe_enable(false);
	trace_clear("kprobe_events");
}

/* The time of a line of the trace, us; 0: the line is of no call. */
static uint64_t line_us(const char *line)
{
	unsigned long long s, us;
	const char *p = strstr(line, ": cmt_ask: ");

	if (!p)
		return 0;
	while (p > line && p[-1] != ' ')
		p--;
	return sscanf(p, "%llu.%llu", &s, &us) == 2 ? s * 1000000 + us : 0;
}

/*
 * No more calls than one in @apart_us, and some by the test.  A guest that is not scheduled
 * makes fewer calls, so fewer than one in @share may be closer to the call before.
 */
static void check_calls(const char *what, unsigned int changes, uint64_t took_ns,
			uint64_t apart_us, unsigned int share)
{
	unsigned int calls = 0, close = 0;
	uint64_t us, last = 0;
	char line[256];
	FILE *trace = fopen(TRACING "trace", "r");

	CHECK(trace, TRACING "trace: %m");
	while (fgets(line, sizeof(line), trace)) {
		us = line_us(line);
		if (!us)
			continue;
		calls++;
		close += us - last < apart_us * 3 / 4;
		last = us;
	}
	fclose(trace);
	trace_end();
	note("%s: %u changes in %llu ms: %u calls, %u of them close to another", what,
	     changes, (unsigned long long)(took_ns / MS), calls, close);
	CHECK(calls > 20, "%u calls", calls);
	CHECK(calls <= took_ns / 1000 / apart_us + 20, "%u calls", calls);
	CHECK(close * share < calls, "%u of %u calls are close to another", close, calls);
}

#define RATE_MS		1500

/* A process moves between two containers: every CPU is asked once in a limbo. */
static void flood_moves(void)
{
	uint64_t from, took;
	unsigned int moves = 0;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	group_make(container(0));
	group_make(container(1));
	trace_start("cmt_cpus_drain"); /* interrupts all CPUs */
	from = now_ns();
	while (now_ns() - from < RATE_MS * MS) {
		group_enter(container(moves & 1), getpid());
		moves++;
	}
	took = now_ns() - from;
	trace_stop();
	group_enter("", getpid());
	group_remove(container(0));
	group_remove(container(1));
	check_calls("moves", moves, took, LIMBO_US, 4);
	check_pool(&dev);
	dev_close(&dev);
}

#define CROWD		200
#define CALLS		200
#define POSTPONED_US	1000

/* The second name is postponed. */
static pid_t two_names_again_and_again(unsigned int i)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		prctl(PR_SET_NAME, "first-name");
		prctl(PR_SET_NAME, "second-name");
		usleep(40000 + i * 313);
	}
}

/* Many processes rename themselves: one timer writes their postponed UPDATEs. */
static void flood_crowd(void)
{
	pid_t pids[CROWD];
	uint64_t from, took;
	unsigned long before;
	unsigned int i;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	for (i = 0; i < CROWD; i++)
		pids[i] = two_names_again_and_again(i);
	trace_start("pending_expired");
	before = trace_calls();
	from = now_ns();
	WAIT_FOR(trace_calls() - before > CALLS, 20000, "%lu calls",
		 trace_calls() - before);
	took = now_ns() - from;
	trace_stop();
	for (i = 0; i < CROWD; i++)
		reap(pids[i], SIGKILL);
	check_calls("names", CROWD, took, POSTPONED_US, 16);
	check_pool(&dev);
	dev_close(&dev);
}

/* The number of calls by this process, and in *all of those by every task */
static unsigned int trace_calls_here(unsigned int *all)
{
	FILE *file = fopen(TRACING "trace", "r");
	char line[256], task[16];
	unsigned int n = 0;

	CHECK(file, "trace: %m");
	snprintf(task, sizeof(task), "-%d ", getpid());
	*all = 0;
	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, "cmt_ask:"))
			continue;
		++*all;
		n += !!strstr(line, task);
	}
	fclose(file);
	return n;
}

/*
 * A program may run out of its quota at any instant, and then no tick would run: so none
 * stops and starts ticks itself.
 */
static void flood_ticks(void)
{
	unsigned long calls;
	unsigned int here, all;
	struct dev dev;

	dev_open(&dev, O_RDWR);
	trace_start("cmt_ticks_prepare");
	calls = trace_calls();
	dev_map(&dev, FROM_NOW);
	dev_set_interval(&dev, 2000000);
	dev_set_interval(&dev, 1000000);
	calls = trace_calls() - calls;
	trace_stop();
	here = trace_calls_here(&all);
	trace_end();
	CHECK(calls == 3, "%lu starts of ticks", calls);
	CHECK(all == calls, "%u of them in the trace", all);
	CHECK(!here, "%u of them by the program", here);
	dev_close(&dev);
}

/*
 * The same of a change of the scope: between the old scope and the new one no process has an
 * owner.
 */
static void flood_scope(void)
{
	unsigned int here, all;
	struct dev dev;

	dev_open(&dev, O_RDWR);
	trace_start("cmt_pending_run"); /* near the end of a change */
	scope_set(&dev, CMT_SCOPE_CONTAINER);
	scope_set(&dev, CMT_SCOPE_PROCESS);
	scope_set(&dev, CMT_SCOPE_PROCESS);
	trace_stop();
	here = trace_calls_here(&all);
	trace_end();
	CHECK(all == 3, "%u changes of the scope", all);
	CHECK(!here, "%u of them by the program", here);
	check_pool(&dev);
	dev_close(&dev);
}

const struct test flood_tests[] = {
	{ "flood_names", flood_names, SOFTWARE "scope=container ring_records=65536", 90 },
	{ "flood_name_at_exit", flood_name_at_exit, "ring_records=16384", 0 },
	{ "flood_killed_readers", flood_killed_readers,
	  SOFTWARE "scope=process ring_records=65536", 60 },
	{ "flood_throttled_readers", flood_throttled_readers, SOFTWARE "scope=process",
	  60 },
	{ "flood_throttled_wants", flood_throttled_wants, SOFTWARE "scope=process", 120 },
	{ "flood_moves", flood_moves, SOFTWARE "scope=container", 40 },
	{ "flood_crowd", flood_crowd, SOFTWARE "scope=process", 120 },
	{ "flood_ticks", flood_ticks, SOFTWARE "scope=process", 0 },
	{ "flood_scope", flood_scope, SOFTWARE "scope=process", 0 },
	{ }
};
