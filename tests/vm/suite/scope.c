// SPDX-License-Identifier: GPL-2.0-or-later
/* Scopes: which processes, cgroups and CPUs are owners. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"

#define CONTAINERS "scope=container ring_records=16384"

static void scope_patterns(void)
{
	static const struct {
		const char *text;
		uint32_t bad_at;
	} bad[] = {
		{ "a//b", 2 }, { "ok <i>", 3 }, { " ", 0 }, { "!", 0 },
		{ "a\001", 1 },
	};
	static char text[CMT_PATTERNS_MAX + 2], after[CMT_PATTERNS_MAX];
	struct cmt_patterns arg = { .size = sizeof(arg) };
	uint32_t bad_at, before;
	struct dev dev;
	size_t i;

	dev_open(&dev, O_RDWR);
	CHECK(ioctl(dev.fd, CMT_IOC_GET_PATTERNS, &arg) && errno == ENOSPC,
	      "no room, but %m");
	before = arg.bytes;
	arg.text = (uintptr_t)text;
	CHECK(!ioctl(dev.fd, CMT_IOC_GET_PATTERNS, &arg) &&
	      arg.bytes == before && memmem(text, before, "\ndocker-<id>\n", 13),
	      "the patterns built in: %u bytes", arg.bytes);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(scope_try(&dev, CMT_SCOPE_CONTAINER, bad[i].text,
				&bad_at) == -EINVAL && bad_at == bad[i].bad_at,
		      "'%s': byte %u", bad[i].text, bad_at);
	}
	memset(text, 'a', sizeof(text) - 1);
	CHECK(scope_try(&dev, CMT_SCOPE_CONTAINER, text, &bad_at) == -EINVAL &&
	      bad_at == CMT_PATTERNS_MAX, "too long: byte %u", bad_at);
	CHECK(scope_try(&dev, 0, NULL, &bad_at) == -EINVAL &&
	      bad_at == UINT32_MAX, "scope 0: byte %u", bad_at);
	CHECK(scope_try(&dev, 5, "a", &bad_at) == -EINVAL &&
	      bad_at == UINT32_MAX, "scope 5: byte %u", bad_at);
	dev_close(&dev);

	dev_open(&dev, O_RDWR);
	CHECK(dev.info.scope == CMT_SCOPE_PROCESS, "scope %u", dev.info.scope);
	arg.text = (uintptr_t)after;
	CHECK(!ioctl(dev.fd, CMT_IOC_GET_PATTERNS, &arg) && arg.bytes == before,
	      "what was refused is in force: %u bytes", arg.bytes);
	CHECK(!scope_try(&dev, CMT_SCOPE_MANUAL, " a/b\t!c ", NULL), "good ones");
	arg.bytes = sizeof(after);
	CHECK(!ioctl(dev.fd, CMT_IOC_GET_PATTERNS, &arg) && arg.bytes == 6 &&
	      !memcmp(after, "a/b\n!c", 6), "GET_PATTERNS: %u bytes", arg.bytes);
	scope_set(&dev, CMT_SCOPE_CPU);
	arg.bytes = sizeof(after);
	CHECK(!ioctl(dev.fd, CMT_IOC_GET_PATTERNS, &arg) && arg.bytes == 6,
	      "they do not stay: %u bytes", arg.bytes);
	dev_close(&dev);
	dev_open(&dev, O_RDONLY);
	CHECK(dev.info.scope == CMT_SCOPE_CPU, "scope %u", dev.info.scope);
	dev_close(&dev);
}

static void scope_containers(void)
{
	const struct cmt_record *r;
	uint64_t id, nested;
	char inner[160];
	uint32_t rmid;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	CHECK(dev.info.scope == CMT_SCOPE_CONTAINER, "scope %u", dev.info.scope);
	CHECK(!owner_find(&dev, CMT_OWNER_PROCESS, getpid()), "a process's RMID");
	id = group_make(container(1));
	r = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(r && !strncmp(r->owner.comm, "docker-00000000", CMT_COMM_LEN),
	      "no ALLOC at mkdir, or not by its name");
	rmid = r->rmid;
	snprintf(inner, sizeof(inner), "%s/%s", container(1), container(2));
	nested = group_make(inner);
	CHECK(!owner_find(&dev, CMT_OWNER_CGROUP, nested),
	      "one in a container is one of its own");

	pid = spin_on(1);
	wait_tick(&dev, 1, 0);
	group_enter(container(1), pid);
	wait_tick(&dev, 1, rmid);
	group_enter("", pid);
	wait_tick(&dev, 1, 0);
	group_enter(inner, pid);
	wait_tick(&dev, 1, rmid);
	reap(pid, SIGKILL);
	CHECK(owner_find(&dev, CMT_OWNER_CGROUP, id), "freed while it is there");
	group_remove(inner);
	CHECK(owner_find(&dev, CMT_OWNER_CGROUP, id), "freed with what is in it");
	group_remove(container(1));
	CHECK(!owner_find(&dev, CMT_OWNER_CGROUP, id), "not freed");
	check_pool(&dev);
	dev_close(&dev);
}

#define DEEPEST 32

/* A container 32 levels deep is an owner, one 33 levels deep is none. */
static void scope_deepest(void)
{
	char path[2 * DEEPEST + 8] = "", *end = path;
	struct dev dev;
	int level;

	dev_open(&dev, O_RDWR);
	CHECK(!scope_try(&dev, CMT_SCOPE_CONTAINER, "deep", NULL), "scope");
	for (level = 1; level <= DEEPEST; level++, end += 2) {
		strcpy(end, "deep");
		CHECK(owner_find(&dev, CMT_OWNER_CGROUP, group_make(path)),
		      "level %d", level);
		group_remove(path);
		strcpy(end, "d");
		group_make(path);
		strcpy(end, "d/");
	}
	strcpy(end, "deep");
	CHECK(!owner_find(&dev, CMT_OWNER_CGROUP, group_make(path)),
	      "level %d", level);
	group_remove(path);
	while (end > path) {
		end[-1] = '\0';
		group_remove(path);
		end -= 2;
	}
	dev_close(&dev);
}

/* A child of a process in a container, and a process that is born in a container. */
static void scope_forks(void)
{
	const struct cmt_record *r;
	struct dev dev;
	uint32_t rmid;
	uint64_t id;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	id = group_make(container(1));
	r = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(r, "no ALLOC");
	rmid = r->rmid;
	pid = fork();
	if (pid == 0) {
		group_enter(container(1), getpid());
		reap(spin_on(1), 0);
		_exit(0);
	}
	wait_spin();	/* the child of the child, not the child before its move */
	wait_tick(&dev, 1, rmid);
	/* it is the subreaper's child when its parent has exited */
	CHECK(write_file(CGROUPS "/docker-00000000000000000000000000000000"
			 "00000000000000000000000000000001.scope/cgroup.kill",
			 "1") == 0, "cgroup.kill");
	reap(pid, 0);
	wait_tick(&dev, 1, 0);
	group_remove(container(1));
	check_pool(&dev);
	dev_close(&dev);
}

/* Processes and cgroups from before the change of the scope. */
static void scope_finds_containers(void)
{
	const struct cmt_record *r;
	uint64_t id, other;
	struct dev dev;
	pid_t pid;

	id = group_make(container(1));
	other = group_make("not-a-container");
	pid = spin_on(1);
	group_enter(container(1), pid);
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	CHECK(owner_find(&dev, CMT_OWNER_PROCESS, pid), "process scope");
	scope_set(&dev, CMT_SCOPE_CONTAINER);
	CHECK(!owner_find(&dev, CMT_OWNER_PROCESS, pid), "its RMID stays");
	CHECK(!owner_find(&dev, CMT_OWNER_CGROUP, other), "anything goes");
	r = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(r, "no RMID for what was there");
	wait_tick(&dev, 1, r->rmid);
	CHECK(!scope_try(&dev, CMT_SCOPE_CONTAINER, "not-*", NULL), "SET_SCOPE");
	CHECK(!owner_find(&dev, CMT_OWNER_CGROUP, id), "old patterns");
	CHECK(owner_find(&dev, CMT_OWNER_CGROUP, other), "new patterns");
	wait_tick(&dev, 1, 0);
	scope_set(&dev, CMT_SCOPE_PROCESS);
	r = owner_find(&dev, CMT_OWNER_PROCESS, pid);
	CHECK(r, "no RMID in process scope");
	wait_tick(&dev, 1, r->rmid);
	reap(pid, SIGKILL);
	group_remove(container(1));
	group_remove("not-a-container");
	check_pool(&dev);
	dev_close(&dev);
}

/* The first record of this type and cgroup, or NULL. */
static const struct cmt_record *log_group(const struct log *log, uint16_t type,
					  uint64_t id)
{
	size_t i;

	for (i = 0; i < log->count; i++)
		if (log->records[i].type == type &&
		    log->records[i].owner.cgroup_id == id)
			return &log->records[i];
	return NULL;
}

static bool was_sampled(const struct log *log, const struct cmt_record *alloc)
{
	size_t i;

	for (i = 0; i < log->count; i++)
		if (log->records[i].type == CMT_REC_SAMPLE &&
		    log->records[i].rmid == alloc->rmid &&
		    log->records[i].generation == alloc->generation)
			return true;
	return false;
}

/* Begins and ends within 5 ms, and still has its records. */
static void scope_short_life(void)
{
	const struct cmt_record *alloc, *gone;
	uint64_t id, life, shortest = UINT64_MAX;
	struct recorder rec;
	bool sampled = false;
	struct dev dev;
	int i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, true);
	/* the guest is not always this fast */
	for (i = 0; i < 200 && !sampled; i++) {
		id = group_make(container(i));
		sleep_ms(1);
		group_remove(container(i));
		recorder_stop(&rec);
		alloc = log_group(&rec.log, CMT_REC_ALLOC, id);
		gone = log_group(&rec.log, CMT_REC_FREE, id);
		CHECK(alloc && gone && alloc->rmid == gone->rmid &&
		      alloc->generation == gone->generation &&
		      alloc->ts < gone->ts, "no ALLOC and FREE");
		life = gone->ts - alloc->ts;
		if (life < shortest)
			shortest = life;
		sampled = life < slowness * 5000000 &&
			  was_sampled(&rec.log, alloc);
		log_free(&rec.log);
		recorder_start(&rec, &dev, true);
	}
	recorder_stop(&rec);
	note("round %d, shortest life %llu us", i,
	     (unsigned long long)shortest / 1000);
	CHECK(sampled, "never sampled within %u ms", 5 * slowness);
	dev_close(&dev);
}

static void scope_thousand(void)
{
	static struct snapshot snapshot;
	struct history history;
	struct recorder rec;
	struct cmt_stats s;
	struct dev dev;
	const unsigned int rounds = 1000 / slowness;
	unsigned int i;
	uint64_t none;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	recorder_start(&rec, &dev, false);
	for (i = 0; i < rounds; i++) {
		group_make(container(i));
		group_remove(container(i));
	}
	recorder_stop(&rec);
	s = dev_stats(&dev);
	/* where the host stops a CPU, RMIDs in limbo are not looked at meanwhile */
	none = s.alloc_fails - s.served;
	CHECK(s.rmids_active == 1 && s.allocs + none == rounds + 1 &&
	      s.frees + none == rounds && none <= rounds / 10,
	      "%u active, %llu allocations, %llu frees, %llu without an RMID",
	      s.rmids_active, (unsigned long long)s.allocs,
	      (unsigned long long)s.frees, (unsigned long long)none);
	check_pool(&dev);
	dev_snapshot(&dev, &snapshot);
	history_replay(&history, &rec.log, &dev.info);
	history_matches(&history, &snapshot);
	log_free(&rec.log);
	dev_close(&dev);
}

static void text_of(char *text, char c, unsigned int n, const char *after)
{
	memset(text, c, n);
	strcpy(text + n, after);
}

/* How often another task got the CPU of this one, which did not wait for anything */
static uint64_t preempted(const char *pid)
{
	static const char name[] = "\nnonvoluntary_ctxt_switches:";
	char path[64], text[4096];
	const char *value;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	value = strstr(read_file(path, text, sizeof(text)), name);
	CHECK(value, "%s: no%s", path, name);
	return strtoull(value + strlen(name), NULL, 10);
}

/* The same of all workers of the kernel that are not bound to a CPU; they stay for minutes. */
static uint64_t workers_preempted(void)
{
	char path[300], text[64];
	struct dirent *entry;
	uint64_t times = 0;
	DIR *proc = opendir("/proc");

	CHECK(proc, "/proc: %m");
	while ((entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (atoi(entry->d_name) > 0 &&
		    !strncmp(read_file(path, text, sizeof(text)), "kworker/u", 9))
			times += preempted(entry->d_name);
	}
	closedir(proc);
	return times;
}

/* In a change of scope.  A host that is busy preempts less often than the guest would. */
static uint64_t times_preempted(const struct dev *dev, const char *patterns)
{
	uint64_t before = workers_preempted(), times;

	CHECK(!scope_try(dev, CMT_SCOPE_CONTAINER, patterns, NULL), "patterns");
	times = workers_preempted() - before;
	note("%llu times preempted", (unsigned long long)times);
	return times;
}

/*
 * Other tasks run on the CPU on which a change of scope, in a worker, walks over many
 * cgroups.
 */
static void scope_walk_pauses(void)
{
	enum { N = 400, LONG = 60, LEAST = 10 };
	char name[LONG + 16], number[16], patterns[256] = "", pattern[64];
	struct dev dev;
	unsigned int i;
	pid_t spins[2];

	dev_open(&dev, O_RDWR);
	for (i = 0; i < N; i++) {
		snprintf(number, sizeof(number), "%u", i);
		text_of(name, 'a', LONG, number);
		group_make(name);
	}
	/* each is compared for long, and matches none */
	for (i = 0; i < 2; i++) {
		pattern[0] = '*';
		text_of(pattern + 1, 'a', 20 + i, "b\n");
		strcat(patterns, pattern);
	}
	for (i = 0; i < 2; i++)
		spins[i] = spin_on(i);
	WAIT_FOR(times_preempted(&dev, patterns) >= LEAST, 30000, "others seldom run");
	for (i = 0; i < 2; i++)
		reap(spins[i], SIGKILL);
	for (i = 0; i < N; i++) {
		snprintf(number, sizeof(number), "%u", i);
		text_of(name, 'a', LONG, number);
		group_remove(name);
	}
	dev_close(&dev);
}

#define CROWD	200
#define FEW	64		/* RMIDs, RMID 0 included */

/* The readings of one window's ticks: the last value of each RMID. */
struct window {
	bool seen[MAX_RMIDS];		/* in this tick */
	bool read[MAX_RMIDS];		/* in this window */
	uint64_t bytes[MAX_RMIDS];
	unsigned int ticks;
	bool late;			/* a tick deferred an RMID, or was missed */
};

/* Returns whether all RMIDs were read. */
static bool window_end(struct window *w, const struct dev *dev, uint32_t rmids,
		       uint64_t *most)
{
	uint64_t sum = 0;
	bool late = w->late;
	uint32_t i, n = 0;

	for (i = 0; i < MAX_RMIDS; i++) {
		n += w->read[i];
		sum += w->read[i] ? w->bytes[i] : 0;
	}
	memset(w, 0, sizeof(*w));
	if (late && n < rmids)
		return false;
	CHECK(n == rmids && sum <= dev->info.l3_bytes,
	      "%u of %u RMIDs, %llu bytes", n, rmids, (unsigned long long)sum);
	*most = sum > *most ? sum : *most;
	return true;
}

/*
 * The ticks of a window of idle_ticks read every RMID with an owner, the overflow RMID
 * and RMID 0.  They read no other RMID, and none twice in one tick.  So the sum over
 * the rows is the sum over the RMIDs.  One CPU is online, so one tick has all readings.
 */
static void check_ticks(struct dev *dev, uint32_t rmids, uint64_t *most)
{
	static struct window w;
	uint64_t deferred = 0, missed = 0;
	struct log log = { };
	unsigned int whole = 0;
	size_t i;

	memset(&w, 0, sizeof(w));
	for (i = 0; i < dev->info.nr_cpus; i++)
		dev->rings[i].pos = ring_head(&dev->rings[i]);
	sleep_ms(2000 * slowness);
	dev_drain(dev, &log);
	for (i = 0; i < log.count; i++) {
		const struct cmt_record *r = &log.records[i];

		if (r->type == CMT_REC_SAMPLE) {
			CHECK(!w.seen[r->rmid], "RMID %u twice in a tick",
			      r->rmid);
			w.seen[r->rmid] = w.read[r->rmid] = true;
			w.bytes[r->rmid] = r->sample.occupancy_bytes;
		}
		if (r->type != CMT_REC_TICK)
			continue;
		memset(w.seen, 0, sizeof(w.seen));
		/* deferred RMIDs, and those of missed ticks, are in a later window */
		w.late |= deferred != r->tick.deferred ||
			  missed != r->tick.missed;
		if (++w.ticks == dev->info.idle_ticks * slowness)
			whole += window_end(&w, dev, rmids, most);
		deferred = r->tick.deferred;
		missed = r->tick.missed;
	}
	log_free(&log);
	CHECK(whole > 3, "only %u windows read all", whole);
}

static void check_waiting(const struct dev *dev, const uint64_t *ids,
			  uint32_t first)
{
	static struct cmt_record records[CROWD];
	uint32_t i, n = waiting_get(dev, records, CROWD);

	CHECK(n == CROWD - first, "%u wait, not %u", n, CROWD - first);
	for (i = 0; i < n; i++)
		CHECK(records[i].flags & CMT_F_OWNER_CGROUP &&
		      records[i].owner.cgroup_id == ids[first + i],
		      "in place %u waits %llu", i,
		      (unsigned long long)records[i].owner.cgroup_id);
}

static void scope_overcommit(void)
{
	struct cmt_rmids room = { .size = sizeof(room) };
	static struct snapshot snapshot;
	const struct cmt_record *rest;
	uint64_t ids[CROWD], most = 0;
	struct dev dev;
	uint32_t i;
	pid_t pid;

	cpu_online(1, false);
	CHECK(!module_load(EMULATED "scope=container emulated_rmids=64 interval_us=2000 budget_us=100 "
			   "ring_records=65536 emulated_cache_kib=2048"), "load");
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < CROWD; i++)
		ids[i] = group_make(container(i));
	pid = spin_on(0);
	group_enter(container(CROWD - 1), pid);
	dev_snapshot(&dev, &snapshot);
	rest = snapshot_rest(&snapshot);
	CHECK(snapshot.count == FEW - 1 && rest, "%u owners", snapshot.count);
	for (i = 0; i < CROWD; i++)
		CHECK(!owner_find(&dev, CMT_OWNER_CGROUP, ids[i]) ==
		      (i >= FEW - 2), "container %u", i);
	check_waiting(&dev, ids, FEW - 2);
	CHECK(ioctl(dev.fd, CMT_IOC_GET_PENDING, &room) && errno == ENOSPC &&
	      room.count == CROWD - FEW + 2, "no room: %m, %u", room.count);
	wait_tick(&dev, 0, rest->rmid);
	check_ticks(&dev, FEW, &most);
	note("at most %llu KiB of 2048 in use", (unsigned long long)most >> 10);
	CHECK(most > 512 << 10, "the sum is not what the rest holds");

	/*
	 * an owner ends, and the oldest pending owner gets its RMID; a pending owner
	 * ends
	 */
	for (i = 0; i < 5; i++) {
		group_remove(container(i));
		WAIT_FOR(owner_find(&dev, CMT_OWNER_CGROUP, ids[FEW - 2 + i]),
			 5000, "%u is not served", FEW - 2 + i);
	}
	check_waiting(&dev, ids, FEW - 2 + 5);
	/* attached owners: before the others */
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, ids[CROWD - 1], 0, NULL), "attach");
	group_remove(container(5));
	WAIT_FOR(owner_find(&dev, CMT_OWNER_CGROUP, ids[CROWD - 1]), 5000,
		 "who is attached is not the next");
	wait_tick(&dev, 0, owner_find(&dev, CMT_OWNER_CGROUP,
				      ids[CROWD - 1])->rmid);
	/* also an owner that begins only now */
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, getpid(), 0, NULL), "attach");
	group_remove(container(6));
	WAIT_FOR(owner_find(&dev, CMT_OWNER_PROCESS, getpid()), 5000,
		 "who is attached last is not the next");
	CHECK(!detach(&dev, CMT_OWNER_PROCESS, getpid()), "detach");
	reap(pid, SIGKILL);
	for (i = CROWD - 1; i > 6; i--)
		group_remove(container(i));
	CHECK(!dev_stats(&dev).pending, "%u wait", dev_stats(&dev).pending);
	CHECK(dev_stats(&dev).rmids_active == 1, "%u active",
	      dev_stats(&dev).rmids_active);
	check_pool(&dev);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
	cpu_online(1, true);
}

#define OBJECTS		16382	/* the number of owners that the module can have */

/*
 * One container more than there are owner numbers: it is no owner until another one
 * ends.
 */
static void scope_full(void)
{
	struct dev dev;
	uint32_t i;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i <= OBJECTS; i++)
		group_make(container(i));
	CHECK(dev_stats(&dev).pending == OBJECTS - 6, "%u wait",
	      dev_stats(&dev).pending);
	pid = spin_on(1);
	group_enter(container(OBJECTS), pid);
	wait_tick(&dev, 1, 0);
	reap(pid, SIGKILL);
	group_remove(container(OBJECTS));
	group_remove(container(OBJECTS - 1));
	CHECK(dev_stats(&dev).pending == OBJECTS - 7, "%u wait",
	      dev_stats(&dev).pending);
	group_make(container(OBJECTS));
	CHECK(dev_stats(&dev).pending == OBJECTS - 6, "%u wait",
	      dev_stats(&dev).pending);
	group_remove(container(OBJECTS));
	for (i = OBJECTS - 1; i--; )
		group_remove(container(i));
	CHECK(!dev_stats(&dev).pending && dev_stats(&dev).rmids_active == 1,
	      "%u wait", dev_stats(&dev).pending);
	check_pool(&dev);
	dev_close(&dev);
}

#define CHANGES		1000

static void scope_changes(void)
{
	static struct snapshot snapshot;
	struct history history;
	uint64_t ids[LOAD_GROUPS];
	struct recorder rec;
	uint32_t i, scope;
	struct dev dev, look;
	pid_t load[2];

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_OLDEST);
	recorder_start(&rec, &dev, false);
	for (i = 0; i < LOAD_GROUPS; i++)
		ids[i] = group_make(container(i));
	for (i = 0; i < 2; i++)
		load[i] = load_start(i);
	for (i = 0; i < CHANGES / slowness / (again ? 4 : 1); i++) {
		scope = 1 + i % 4;
		scope_set(&dev, scope);
		check_scope(&dev, scope, ids);
		check_pool(&dev);
	}
	for (i = 0; i < 2; i++)
		reap(load[i], SIGKILL);
	scope_set(&dev, CMT_SCOPE_CONTAINER);

	/* the final owner of each process; the recorder reads the rings of dev */
	dev_open(&look, O_RDONLY);
	dev_map(&look, FROM_NOW);
	load[0] = spin_on(1);
	group_enter(container(0), load[0]);
	wait_tick(&look, 1, owner_find(&dev, CMT_OWNER_CGROUP, ids[0])->rmid);
	group_enter(container(1), load[0]);
	wait_tick(&look, 1, owner_find(&dev, CMT_OWNER_CGROUP, ids[1])->rmid);
	dev_close(&look);
	reap(load[0], SIGKILL);
	for (i = 0; i < LOAD_GROUPS; i++)
		group_remove(container(i));
	recorder_stop(&rec);
	CHECK(dev_stats(&dev).rmids_active == 1, "%u active",
	      dev_stats(&dev).rmids_active);
	CHECK(!dev_stats(&dev).pending, "%u wait", dev_stats(&dev).pending);
	check_pool(&dev);
	dev_snapshot(&dev, &snapshot);
	history_replay(&history, &rec.log, &dev.info);
	history_matches(&history, &snapshot);
	note("%u allocations, %u failed", history.allocs, history.fails);
	log_free(&rec.log);
	dev_close(&dev);
}

static void scope_cpus(void)
{
	const struct cmt_record *r;
	uint32_t rmid, generation;
	struct dev dev;
	pid_t pid;
	int i;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < 2; i++) {
		r = owner_find(&dev, CMT_OWNER_CPU, i);
		CHECK(r, "CPU %d has no RMID", i);
		wait_tick(&dev, i, r->rmid);
	}
	pid = spin_on(1);
	r = owner_find(&dev, CMT_OWNER_CPU, 1);
	rmid = r->rmid;
	generation = r->generation;
	wait_tick(&dev, 1, rmid);
	reap(pid, SIGKILL);
	cpu_online(1, false);
	CHECK(!owner_find(&dev, CMT_OWNER_CPU, 1), "an offline CPU has an RMID");
	CHECK(owner_find(&dev, CMT_OWNER_CPU, 0), "the other one has none");
	cpu_online(1, true);
	r = owner_find(&dev, CMT_OWNER_CPU, 1);
	CHECK(r && (r->rmid != rmid || r->generation != generation),
	      "the CPU is back, a new RMID is not");
	wait_tick(&dev, 1, r->rmid);
	scope_set(&dev, CMT_SCOPE_MANUAL);
	CHECK(dev_stats(&dev).rmids_active == 1, "%u active",
	      dev_stats(&dev).rmids_active);
	wait_tick(&dev, 0, 0);
	wait_tick(&dev, 1, 0);
	check_pool(&dev);
	dev_close(&dev);
}

/* Counted on all CPUs, while two processes take turns. */
static bool switches_count(const struct dev *dev)
{
	uint64_t before = dev_stats(dev).switches;

	for (int i = 0; i < 20; i++)
		sleep_ms(1);
	return dev_stats(dev).switches != before;
}

/* Owners that end by themselves: processes and a cgroup */
static void end_with_owners(struct dev *dev)
{
	struct dev other;
	uint64_t id;
	pid_t pid;

	pid = park(0, NULL);
	CHECK(!attach(dev, CMT_OWNER_PROCESS, pid, 0, NULL), "attach");
	CHECK(switches_count(dev), "a process is attached, and no switches");
	reap(pid, SIGKILL);
	WAIT_FOR(!switches_count(dev), 5000, "switches after an attached process");

	pid = park(0, NULL);
	dev_open(&other, O_RDWR);
	CHECK(!owner_register(&other, CMT_OWNER_PROCESS, pid, NULL), "register");
	CHECK(switches_count(dev), "a process is registered, and no switches");
	reap(pid, SIGKILL);
	dev_close(&other);
	WAIT_FOR(!switches_count(dev), 5000, "switches after a registered process");

	id = group_make("plain");
	CHECK(!attach(dev, CMT_OWNER_CGROUP, id, 0, NULL), "attach");
	CHECK(switches_count(dev), "a cgroup is attached, and no switches");
	group_remove("plain");
	WAIT_FOR(!switches_count(dev), 5000, "switches after a cgroup");
}

/* If all owners are CPUs, sched_switch has no probe. */
static void scope_without_switches(void)
{
	struct dev dev;
	uint64_t self = (uint64_t)getpid();

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	CHECK(!switches_count(&dev), "switches are counted, and CPUs are owners");
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, self, 0, NULL), "attach");
	CHECK(switches_count(&dev), "a process is attached, and no switches");
	CHECK(!detach(&dev, CMT_OWNER_PROCESS, self), "detach");
	CHECK(!switches_count(&dev), "switches without an attached owner");
	end_with_owners(&dev);
	CHECK(!attach(&dev, CMT_OWNER_CPU, 1, 0, NULL), "attach a CPU");
	CHECK(!switches_count(&dev), "CPUs are owners, but switches");
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, 1, 0, NULL), "attach /");
	CHECK(switches_count(&dev), "a cgroup is attached, and no switches");
	CHECK(!scope_try(&dev, CMT_SCOPE_PROCESS, NULL, NULL), "process");
	CHECK(switches_count(&dev), "no switches of processes");
	CHECK(!scope_try(&dev, CMT_SCOPE_MANUAL, NULL, NULL), "manual");
	CHECK(!switches_count(&dev), "switches without an owner");
	CHECK(!scope_try(&dev, CMT_SCOPE_CONTAINER, NULL, NULL), "container");
	CHECK(switches_count(&dev), "no switches of containers");
	dev_close(&dev);
}

#define SERVICES	7	/* one more than RMIDs, beside RMID 0 and the overflow RMID */

static const char *service(unsigned int i)
{
	static char names[4][32];
	static unsigned int n;
	char *name = names[n++ % 4];

	snprintf(name, sizeof(names[0]), "unit-%u.service", i);
	return name;
}

static bool has_rmid(const struct dev *dev, uint64_t cgroup)
{
	return owner_find(dev, CMT_OWNER_CGROUP, cgroup);
}

static const struct cmt_record *overflow_of(const struct dev *dev)
{
	static struct snapshot snapshot;

	dev_snapshot(dev, &snapshot);
	return snapshot_rest(&snapshot);
}

/* The pending owners are exactly these, in this order. */
static bool are_pending(const struct dev *dev, const uint64_t *ids, uint32_t nr)
{
	static struct cmt_record records[CROWD];
	uint32_t i, n = waiting_get(dev, records, CROWD);

	if (n != nr)
		return false;
	for (i = 0; i < n && records[i].owner.cgroup_id == ids[i]; i++)
		;
	return i == n;
}

/* The reason of a pending owner, CMT_WHY_*; 0: the owner is not pending. */
static uint64_t why_pending(const struct dev *dev, uint64_t cgroup)
{
	static struct cmt_record records[CROWD];
	uint32_t i, n = waiting_get(dev, records, CROWD);

	for (i = 0; i < n; i++)
		if (records[i].owner.cgroup_id == cgroup)
			return records[i].owner.why;
	return 0;
}

#define CHECK_PENDING(dev, ...) do {						\
	const uint64_t ids_[] = { __VA_ARGS__ };				\
										\
	WAIT_FOR(are_pending(dev, ids_, sizeof(ids_) / sizeof(ids_[0])), 5000,	\
		 "other owners are pending, or in another order");		\
} while (0)

/* The load without parameters of scope: containers, and services as the lower class. */
static void scope_default(void)
{
	const struct cmt_record *r;
	uint64_t id, unit, user, nested, inside, app;
	struct dev dev;
	pid_t pid;

	unit = group_make(service(0));
	CHECK(!module_load_exact(EMULATED "ring_records=16384"), "load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	CHECK(dev.info.scope == CMT_SCOPE_CONTAINER, "scope %u", dev.info.scope);
	CHECK(!owner_find(&dev, CMT_OWNER_PROCESS, getpid()), "a process has an RMID");
	r = owner_find(&dev, CMT_OWNER_CGROUP, unit);
	CHECK(r && r->flags & CMT_F_SERVICE, "a service has no RMID, or no flag");
	id = group_make(container(0));
	r = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(r && !(r->flags & CMT_F_SERVICE), "a container has no RMID, or a service's flag");
	user = group_make("user@1000.service");
	app = group_make("user@1000.service/app.service");
	CHECK(!has_rmid(&dev, user), "the manager of a user has an RMID");
	CHECK(has_rmid(&dev, app), "the service of a user has no RMID");

	/* a container in a service, and a service in a container */
	nested = group_make("unit-0.service/docker-0123456789abcdef");
	r = owner_find(&dev, CMT_OWNER_CGROUP, nested);
	CHECK(r, "a container in a service has no RMID");
	pid = spin_on(1);
	group_enter("unit-0.service/docker-0123456789abcdef", pid);
	wait_tick(&dev, 1, r->rmid);
	group_enter(service(0), pid);
	wait_tick(&dev, 1, owner_find(&dev, CMT_OWNER_CGROUP, unit)->rmid);
	reap(pid, SIGKILL);
	inside = group_make("docker-0000000000000000000000000000000000000000000000000000000000000000.scope/a.service");
	CHECK(!has_rmid(&dev, inside), "a service in a container has an RMID");

	group_remove("docker-0000000000000000000000000000000000000000000000000000000000000000.scope/a.service");
	group_remove("unit-0.service/docker-0123456789abcdef");
	group_remove("user@1000.service/app.service");
	group_remove("user@1000.service");
	group_remove(container(0));
	group_remove(service(0));
	check_pool(&dev);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

/*
 * Containers take the RMIDs of services, the newest first.  Pending services follow
 * containers.
 */
static void scope_services(void)
{
	uint64_t units[SERVICES], ids[SERVICES];
	const struct cmt_record *r;
	struct recorder rec;
	struct log *log = &rec.log;
	struct dev dev, look;
	uint32_t i, rmid;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	dev_open(&look, O_RDONLY);
	dev_map(&look, FROM_NOW);
	recorder_start(&rec, &dev, false);
	for (i = 0; i < SERVICES; i++)
		units[i] = group_make(service(i));
	CHECK_PENDING(&dev, units[6]);

	/* a service loses its newest RMID, and is pending behind the older service */
	pid = spin_on(1);
	group_enter(service(5), pid);
	r = owner_find(&dev, CMT_OWNER_CGROUP, units[5]);
	CHECK(r, "service 5 has no RMID");
	rmid = r->rmid;
	wait_tick(&look, 1, rmid);
	ids[0] = group_make(container(0));
	WAIT_FOR(has_rmid(&dev, ids[0]), 5000, "the container has no RMID");
	CHECK_PENDING(&dev, units[6], units[5]);
	CHECK(why_pending(&dev, units[5]) == CMT_WHY_RECLAIMED,
	      "the reclaimed service is pending for another reason");
	CHECK(why_pending(&dev, units[6]) == CMT_WHY_NO_RMID,
	      "a service that had no RMID is pending for another reason");
	r = overflow_of(&dev);
	CHECK(r, "no overflow RMID");
	wait_tick(&look, 1, r->rmid);

	/* an attached service is not of the lower class */
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, units[4], 0, NULL), "attach");
	for (i = 1; i < 6; i++)
		ids[i] = group_make(container(i));
	WAIT_FOR(has_rmid(&dev, ids[4]), 5000, "container 4 has no RMID");
	CHECK(has_rmid(&dev, units[4]), "an attached service lost its RMID");
	CHECK_PENDING(&dev, ids[5], units[6], units[5], units[3], units[2], units[1],
		      units[0]);
	CHECK(!detach(&dev, CMT_OWNER_CGROUP, units[4]), "detach");
	WAIT_FOR(has_rmid(&dev, ids[5]), 5000, "container 5 has no RMID");
	CHECK_PENDING(&dev, units[6], units[5], units[3], units[2], units[1], units[0],
		      units[4]);

	/*
	 * no container loses its RMID to another container, and containers are served
	 * before services
	 */
	ids[6] = group_make(container(6));
	CHECK_PENDING(&dev, ids[6], units[6], units[5], units[3], units[2], units[1],
		      units[0], units[4]);
	group_remove(container(0));
	WAIT_FOR(has_rmid(&dev, ids[6]), 5000, "container 6 has no RMID");
	CHECK_PENDING(&dev, units[6], units[5], units[3], units[2], units[1], units[0],
		      units[4]);
	group_remove(container(1));
	WAIT_FOR(has_rmid(&dev, units[6]), 5000, "the oldest pending service has no RMID");
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, units[4], 0, NULL), "attach");
	WAIT_FOR(has_rmid(&dev, units[4]), 5000, "an attached service has no RMID");
	CHECK_PENDING(&dev, units[5], units[3], units[2], units[1], units[0], units[6]);
	check_pool(&dev);

	/*
	 * the change of the scope restarts: containers first, and no RMID is reclaimed
	 */
	recorder_stop(&rec);
	r = log_group(log, CMT_REC_ALLOC_FAIL, units[5]);
	CHECK(r && r->owner.why == CMT_WHY_RECLAIMED && r->flags & CMT_F_SERVICE,
	      "no ALLOC_FAIL of the reclaimed service, or without its reason");
	r = log_group(log, CMT_REC_FREE, units[5]);
	CHECK(r && r->rmid == rmid, "no FREE of the reclaimed RMID");
	log_free(log);
	recorder_start(&rec, &dev, false);
	scope_set(&dev, CMT_SCOPE_CONTAINER);
	for (i = 2; i < 7; i++)
		WAIT_FOR(has_rmid(&dev, ids[i]), 5000, "container %u has no RMID", i);
	CHECK_PENDING(&dev, units[1], units[2], units[3], units[4], units[5], units[6]);
	recorder_stop(&rec);
	for (i = 0; i < SERVICES; i++) {
		r = log_group(log, CMT_REC_ALLOC_FAIL, units[i]);
		CHECK(!r || r->owner.why == CMT_WHY_NO_RMID, "an RMID of service %u is reclaimed",
		      i);
	}
	log_free(log);
	reap(pid, SIGKILL);
	for (i = 0; i < SERVICES; i++)
		group_remove(service(i));
	for (i = 2; i < 7; i++)
		group_remove(container(i));
	check_pool(&dev);
	dev_close(&look);
	dev_close(&dev);
}

/* Who waits longest is served first, whatever class it was of meanwhile. */
static void scope_keeps_place(void)
{
	uint64_t ids[9];
	struct dev dev;
	uint32_t i;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < 9; i++)
		ids[i] = group_make(container(i));
	CHECK_PENDING(&dev, ids[6], ids[7], ids[8]);
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, ids[6], 0, NULL), "attach");
	CHECK(!detach(&dev, CMT_OWNER_CGROUP, ids[6]), "detach");
	CHECK_PENDING(&dev, ids[6], ids[7], ids[8]);
	group_remove(container(0));
	WAIT_FOR(has_rmid(&dev, ids[6]) || has_rmid(&dev, ids[7]), 5000, "none is served");
	CHECK(!has_rmid(&dev, ids[7]), "an owner that was attached meanwhile lost its place");
	CHECK_PENDING(&dev, ids[7], ids[8]);

	/* also among the attached ones */
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, ids[8], 0, NULL), "attach");
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, ids[7], 0, NULL), "attach");
	group_remove(container(1));
	WAIT_FOR(has_rmid(&dev, ids[7]) || has_rmid(&dev, ids[8]), 5000, "none is served");
	CHECK(!has_rmid(&dev, ids[8]), "an owner that was attached earlier is served first");
	for (i = 2; i < 9; i++)
		group_remove(container(i));
	check_pool(&dev);
	dev_close(&dev);
}

/* A registered owner keeps its RMID, and has the flag of a service in container scope. */
static void scope_service_registered(void)
{
	const struct cmt_record *r;
	uint32_t rmid;
	uint64_t unit;
	struct dev dev;

	unit = group_make(service(0));
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	CHECK(!owner_register(&dev, CMT_OWNER_CGROUP, unit, NULL), "register");
	r = owner_find(&dev, CMT_OWNER_CGROUP, unit);
	CHECK(r && !(r->flags & CMT_F_SERVICE), "a service in process scope");
	rmid = r->rmid;
	scope_set(&dev, CMT_SCOPE_CONTAINER);
	r = owner_find(&dev, CMT_OWNER_CGROUP, unit);
	CHECK(r && r->rmid == rmid && r->flags & CMT_F_SERVICE, "no service in container scope");
	scope_set(&dev, CMT_SCOPE_PROCESS);
	r = owner_find(&dev, CMT_OWNER_CGROUP, unit);
	CHECK(r && r->rmid == rmid && !(r->flags & CMT_F_SERVICE), "a service after container scope");
	CHECK(!owner_unregister(&dev, CMT_OWNER_CGROUP, unit), "unregister");
	group_remove(service(0));
	check_pool(&dev);
	dev_close(&dev);
}

const struct test scope_tests[] = {
	{ "scope_patterns", scope_patterns, "", 0 },
	{ "scope_default", scope_default, NULL, 0 },
	{ "scope_service_registered", scope_service_registered, "ring_records=16384", 0 },
	{ "scope_services", scope_services,
	  EMULATED "scope=container emulated_rmids=8 ring_records=16384", 60 },
	{ "scope_keeps_place", scope_keeps_place,
	  EMULATED "scope=container emulated_rmids=8 ring_records=16384", 60 },
	{ "scope_containers", scope_containers, CONTAINERS, 0 },
	{ "scope_walk_pauses", scope_walk_pauses, "scope=manual", 60 },
	{ "scope_deepest", scope_deepest, "", 0 },
	{ "scope_forks", scope_forks, CONTAINERS, 0 },
	{ "scope_finds_containers", scope_finds_containers,
	  "ring_records=16384", 0 },
	{ "scope_short_life", scope_short_life,
	  CONTAINERS " interval_us=500", 60 },
	{ "scope_thousand", scope_thousand,
	  "scope=container interval_us=10000 ring_records=16384", 60 },
	{ "scope_overcommit", scope_overcommit, NULL, 60 },
	{ "scope_changes", scope_changes,
	  EMULATED "interval_us=10000 ring_records=65536 emulated_rmids=64",
	  120 },
	{ "scope_without_switches", scope_without_switches, "scope=cpu", 0 },
	{ "scope_cpus", scope_cpus, "scope=cpu ring_records=16384", 0 },
	{ "software_scope_thousand", scope_thousand,
	  SOFTWARE "scope=container interval_us=10000 ring_records=16384", 60 },
	{ "software_scope_cpus", scope_cpus,
	  SOFTWARE "scope=cpu ring_records=16384", 0 },
	{ }
};

#define NUMBERS_OF_SERVICES	(OBJECTS - 16384 / 4 + 1)

/* However many services there are, a container is an owner. */
static void scope_full_of_services(void)
{
	uint64_t id;
	struct dev dev;
	uint32_t i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < NUMBERS_OF_SERVICES + 3; i++)
		group_make(service(i));
	CHECK(dev_stats(&dev).pending == NUMBERS_OF_SERVICES - 6, "%u are pending",
	      dev_stats(&dev).pending);
	id = group_make(container(0));
	WAIT_FOR(has_rmid(&dev, id), 5000, "the container has no RMID");
	group_remove(container(0));
	while (i--)
		group_remove(service(i));
	CHECK(!dev_stats(&dev).pending, "%u are pending", dev_stats(&dev).pending);
	check_pool(&dev);
	dev_close(&dev);
}

const struct test full_tests[] = {
	{ "scope_full", scope_full,
	  EMULATED "scope=container emulated_rmids=8 ring_records=16384", 90 },
	{ "scope_full_of_services", scope_full_of_services,
	  EMULATED "scope=container emulated_rmids=8 ring_records=16384", 90 },
	{ }
};
