// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The perf PMUs cmt and intel_cqm, through perf_event_open(2) and sysfs as their clients
 * use them, against CMT_IOC_READ.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"
#include "timed.h"

/* for the model; the lab's processor has a cache of its own */
#define SMALL		"emulated_cache_kib=1024 "
#define MANUAL		SMALL "scope=manual ring_records=16384"
#define MIB		(1024 * 1024ULL)
#define MEMORY		(16 * MIB)	/* more than any cache of these tests */

enum { OCCUPANCY = 1, TOTAL, LOCAL };
enum { DISABLED = 1, INHERIT = 2, THREADS = 4, PINNED = 8 };

static volatile char *memory_new(void)
{
	char *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	CHECK(memory != MAP_FAILED, "mmap: %m");
	return memory;
}

static bool is_on_one_cpu(pid_t pid)
{
	cpu_set_t set;

	return !sched_getaffinity(pid, sizeof(set), &set) && CPU_COUNT(&set) == 1;
}

/* Has traffic on one CPU for ever. */
static pid_t walk_on(int cpu)
{
	volatile char *memory;
	cpu_set_t set;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid) {
		WAIT_FOR(is_on_one_cpu(pid), 5000, "it is on no CPU alone");
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	memory = memory_new();
	for (;;)
		for (size_t i = 0; i < MEMORY; i += 64)
			memory[i]++;
}

static const char *pmu = "cmt";

/* Valid until the next call. */
static const char *pmu_file(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu, name);
	return path;
}

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
		      unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags);

	return fd < 0 ? -errno : fd;
}

static int try_event(uint64_t config, pid_t pid, int cpu, unsigned int options,
		     unsigned long flags)
{
	struct perf_event_attr attr = {
		.type = pmu_type(pmu),
		.size = sizeof(attr),
		.config = config,
		.disabled = !!(options & DISABLED),
		.inherit = !!(options & INHERIT),
		.inherit_thread = !!(options & THREADS),
		.pinned = !!(options & PINNED),
	};

	return event_open(&attr, pid, cpu, flags | PERF_FLAG_FD_CLOEXEC);
}

static int task_event(uint64_t config, pid_t pid, unsigned int options)
{
	int fd = try_event(config, pid, -1, options, 0);

	CHECK(fd >= 0, "event %llu of %d: %s", (unsigned long long)config, pid,
	      strerror(-fd));
	return fd;
}

static int cpu_event(uint64_t config, int cpu)
{
	int fd = try_event(config, -1, cpu, 0, 0);

	CHECK(fd >= 0, "event %llu of CPU %d: %s", (unsigned long long)config,
	      cpu, strerror(-fd));
	return fd;
}

static uint64_t value(int fd)
{
	uint64_t bytes;

	CHECK(read(fd, &bytes, sizeof(bytes)) == sizeof(bytes), "read: %m");
	return bytes;
}

static uint64_t sum(const int *fds, int n)
{
	uint64_t bytes = 0;

	while (n--)
		bytes += value(*fds++);
	return bytes;
}

/* The reading of an owner now, or of all RMIDs with an owner.  One L3 domain. */
static struct cmt_record truth(const struct dev *dev, uint32_t kind, uint64_t id)
{
	static struct cmt_record records[MAX_RMIDS];
	int i, n = owner_read(dev, kind, id, records, MAX_RMIDS);

	CHECK(n >= 1, "READ: %d", n);
	for (i = 1; i < n; i++)
		records[0].sample.occupancy_bytes +=
			records[i].sample.occupancy_bytes;
	return records[0];
}

static bool is_between(uint64_t bytes, uint64_t a, uint64_t b, uint64_t room)
{
	uint64_t least = a < b ? a : b, most = a < b ? b : a;

	return bytes + room >= least && bytes <= most + room;
}

/* The count of an event lies between two readings, at least once in many attempts. */
static void check_occupancy(const struct dev *dev, const int *fds, int n,
			    uint32_t kind, uint64_t id, uint64_t room)
{
	uint64_t before = 0, said = 0, after = 0;
	struct patience patience = patience_of(5000);

	do {
		CHECK(patience_left(&patience), "said %llu, and it was %llu to %llu",
		      (unsigned long long)said, (unsigned long long)before,
		      (unsigned long long)after);
		before = truth(dev, kind, id).sample.occupancy_bytes;
		said = sum(fds, n);
		after = truth(dev, kind, id).sample.occupancy_bytes;
	} while (!said || !is_between(said, before, after, room));
	note("said %llu, read %llu and %llu", (unsigned long long)said,
	     (unsigned long long)before, (unsigned long long)after);
}

/* Wait until the counts are of readings after this call. */
static uint64_t sum_later(const int *fds, int n)
{
	for (int i = 0; i < 2; i++) {
		uint64_t bytes = sum(fds, n);

		WAIT_FOR(sum(fds, n) != bytes, 20000, "no traffic");
	}
	return sum(fds, n);
}

static uint64_t traffic(const struct dev *dev, pid_t pid)
{
	return truth(dev, CMT_OWNER_PROCESS, pid).sample.mbm_total_bytes;
}

/* The traffic between two times, by the events and by readings before and after. */
static void check_traffic(const struct dev *dev, const int *fds, int n, pid_t pid)
{
	uint64_t outer = traffic(dev, pid), said = sum_later(fds, n);
	uint64_t inner = traffic(dev, pid), end;

	WAIT_FOR(traffic(dev, pid) > inner + 4 * MIB, 20000, "no traffic");
	end = traffic(dev, pid);
	WAIT_FOR(sum(fds, n) - said >= end - inner, 5000,
		 "said %llu, and it was %llu",
		 (unsigned long long)(sum(fds, n) - said),
		 (unsigned long long)(end - inner));
	said = sum(fds, n) - said;
	outer = traffic(dev, pid) - outer;
	CHECK(said <= outer, "said %llu, and it was %llu",
	      (unsigned long long)said, (unsigned long long)outer);
}

static void stop(pid_t pid)
{
	kill(pid, SIGSTOP);
	WAIT_FOR(process_is(pid, 'T'), 5000, "it does not stop");
}

/*
 * An event that begins at *from of the traffic of a process that is stopped: lines
 * that it changed may be written back meanwhile.
 */
static int event_from(const struct dev *dev, pid_t pid, uint64_t *from)
{
	struct patience patience = patience_of(5000);
	int fd = -1;

	do {
		CHECK(patience_left(&patience), "its traffic does not end");
		if (fd >= 0)
			close(fd);
		*from = traffic(dev, pid);
		fd = task_event(TOTAL, pid, 0);
	} while (traffic(dev, pid) != *from);
	return fd;
}

/* Between two stops the event counts what the readings show, to the byte. */
static void check_exact(const struct dev *dev, pid_t pid)
{
	uint64_t from;
	int fd, other;

	stop(pid);
	fd = event_from(dev, pid, &from);
	other = task_event(LOCAL, pid, 0);
	kill(pid, SIGCONT);
	WAIT_FOR(traffic(dev, pid) > from + 4 * MIB, 20000, "no traffic");
	stop(pid);
	WAIT_FOR(value(fd) == traffic(dev, pid) - from, 5000,
		 "said %llu, and it was %llu", (unsigned long long)value(fd),
		 (unsigned long long)(traffic(dev, pid) - from));
	note("traffic of %llu bytes, as it was read",
	     (unsigned long long)value(fd));
	kill(pid, SIGCONT);
	close(fd);
	close(other);
}

static void check_text(const char *file, const char *text)
{
	char got[64];

	read_file(pmu_file(file), got, sizeof(got));
	CHECK(!strcmp(got, text), "%s: %s: \"%s\"", pmu, file, got);
}

static void check_unit(const char *file, const char *unit)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s", unit, wants_model ? " EMULATED" : "");
	check_text(file, text);
}

/* The files that pqos, libvirt and perf's tools read, read in the same way. */
static void check_sysfs(void)
{
	CHECK(pmu_type(pmu) > PERF_TYPE_MAX - 1, "type %u", pmu_type(pmu));
	check_text("events/llc_occupancy", "event=0x01");
	check_text("events/llc_occupancy.scale", "1");
	check_unit("events/llc_occupancy.unit", "Bytes");
	check_text("events/llc_occupancy.snapshot", "1");
	check_text("events/total_bytes", "event=0x02");
	check_text("events/total_bytes.scale", "1e-6");
	check_unit("events/total_bytes.unit", "MB");
	check_text("events/local_bytes", "event=0x03");
	check_text("events/local_bytes.scale", "1e-6");
	check_unit("events/local_bytes.unit", "MB");
	check_text("format/event", "config:0-7");
	CHECK(access(pmu_file("cpumask"), F_OK), "a cpumask: perf -p opens by CPU");
	CHECK(access(pmu_file("events/total_bytes.snapshot"), F_OK), "a snapshot");
	CHECK(access(pmu_file("events/total_bytes.per-pkg"), F_OK),
	      "perf would drop the CPU that reports");
}

static void cqm_sysfs(void)
{
	check_sysfs();
	pmu = "intel_cqm";
	check_sysfs();
	CHECK(!access("/sys/devices/intel_cqm/type", F_OK), "where pqos looks: %m");
}

static void check_pmus(const char *params, bool cmt, bool intel_cqm)
{
	CHECK(!module_load(params), "load \"%s\"", params);
	CHECK(!!pmu_type("cmt") == cmt, "\"%s\": the PMU cmt", params);
	CHECK(!!pmu_type("intel_cqm") == intel_cqm, "\"%s\": the PMU intel_cqm",
	      params);
	CHECK(!module_unload(), "unload");
}

/* A client that finds intel_cqm does not ask resctrl. */
static void cqm_intel_cqm_is_there_on_request(void)
{
	check_pmus("", true, false);
	check_pmus("intel_cqm=0", true, false);
	check_pmus("intel_cqm=1", true, true);
	check_pmus(SOFTWARE "intel_cqm=1", false, false);
}

static void expect_bad(const struct perf_event_attr *from, const char *what,
		       int err)
{
	struct perf_event_attr attr = *from;
	int fd = event_open(&attr, 0, -1, 0);

	CHECK(fd == -err, "%s: %s", what, fd < 0 ? strerror(-fd) : "accepted");
}

#define EXPECT_BAD(err, ...) do {					\
	struct perf_event_attr attr_ = {				\
		.type = pmu_type(pmu), .size = sizeof(attr_), .config = 1,	\
	};								\
	__typeof__(attr_) *a = &attr_;					\
	__VA_ARGS__;							\
	expect_bad(a, #__VA_ARGS__, err);				\
} while (0)

static void drop_rights(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { };

	CHECK(!syscall(SYS_capset, &head, data), "capset: %m");
}

/* config3 and config4: Linux 6.1 has no such members; its headers have none, either. */
static void check_more_config(void)
{
	for (size_t at = 128; at < 144; at += 8) {
		union {
			struct perf_event_attr attr;
			uint64_t words[144 / 8];	/* PERF_ATTR_SIZE_VER9 */
		} u = { .words = { 0 } };
		int fd;

		u.words[at / 8] = 1;
		u.attr.type = pmu_type(pmu);
		u.attr.size = (uint32_t)at + 8;
		u.attr.config = OCCUPANCY;
		fd = event_open(&u.attr, 0, -1, 0);
		CHECK(fd == -EINVAL || fd == -E2BIG, "the word at %zu: %s", at,
		      fd < 0 ? strerror(-fd) : "accepted");
	}
}

static void cqm_bad_input(void)
{
	pid_t pid;

	EXPECT_BAD(EINVAL, a->config = 0);
	EXPECT_BAD(EINVAL, a->config = 4);
	EXPECT_BAD(EINVAL, a->config = 0x101);
	EXPECT_BAD(EINVAL, a->config = 1ULL << 32 | 1);
	EXPECT_BAD(EINVAL, a->config1 = 1);
	EXPECT_BAD(EINVAL, a->config2 = 1);
	EXPECT_BAD(EINVAL, a->sample_period = 1);
	EXPECT_BAD(EINVAL, a->sample_freq = 100; a->freq = 1);
	EXPECT_BAD(EINVAL, a->exclude_user = 1);
	EXPECT_BAD(EINVAL, a->exclude_kernel = 1);
	EXPECT_BAD(EINVAL, a->exclude_hv = 1);
	EXPECT_BAD(EINVAL, a->exclude_idle = 1);
	EXPECT_BAD(EINVAL, a->exclude_host = 1);
	EXPECT_BAD(EINVAL, a->exclude_guest = 1);
	EXPECT_BAD(EINVAL, a->inherit = 1; a->inherit_stat = 1);
	EXPECT_BAD(EINVAL, a->remove_on_exec = 1);
	check_more_config();
	CHECK(try_event(OCCUPANCY, 0, 0, 0, 0) == -EINVAL,
	      "a task's event of one CPU");
	CHECK(try_event(OCCUPANCY, -1, 3, 0, 0) < 0, "a CPU that is not there");
	CHECK(try_event(OCCUPANCY, -1, 0, PINNED, 0) == -EINVAL, "a CPU's pinned event");
	CHECK(try_event(OCCUPANCY, 1 << 21, -1, 0, 0) == -ESRCH, "no such task");
	CHECK(try_event(OCCUPANCY, 2, -1, 0, 0) == -ESRCH, "a kernel thread");
	pid = fork();
	if (!pid) {
		drop_rights();
		CHECK(try_event(OCCUPANCY, 0, -1, 0, 0) == -EACCES,
		      "without rights");
		_exit(0);
	}
	expect_exit_0(pid, "one without rights");
}

static bool is_owner(const struct dev *dev, uint32_t kind, uint64_t id)
{
	return owner_find(dev, kind, id);
}

static void cqm_task(void)
{
	struct dev dev;
	pid_t pid;
	int fds[3];

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	CHECK(!is_owner(&dev, CMT_OWNER_PROCESS, pid), "an owner before");
	for (int i = 0; i < 3; i++)
		fds[i] = task_event(OCCUPANCY + i, pid, 0);
	CHECK(is_owner(&dev, CMT_OWNER_PROCESS, pid), "no owner");
	check_occupancy(&dev, &fds[0], 1, CMT_OWNER_PROCESS, pid, 0);
	check_traffic(&dev, &fds[1], 1, pid);
	close(fds[1]);
	check_exact(&dev, pid);
	fds[1] = task_event(TOTAL, pid, 0);
	CHECK(value(fds[2]), "no local traffic");
	CHECK(module_unload() == -EWOULDBLOCK, "unloaded, and events are open");
	close(fds[0]);
	close(fds[1]);
	CHECK(is_owner(&dev, CMT_OWNER_PROCESS, pid), "no owner with one left");
	close(fds[2]);
	WAIT_FOR(!is_owner(&dev, CMT_OWNER_PROCESS, pid), 5000, "not let go");
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/*
 * Traffic after the close of an event is counted by no event, also if the next event
 * replaces the closed one before the module has released it.
 */
static void cqm_reopened(void)
{
	int fd, local, tries;
	struct dev dev;
	uint64_t from;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	local = task_event(LOCAL, pid, 0);
	for (tries = 0; tries < 20; tries++) {
		fd = task_event(TOTAL, pid, 0);
		WAIT_FOR(value(fd), 20000, "no traffic");
		from = traffic(&dev, pid);
		close(fd);
		WAIT_FOR(traffic(&dev, pid) > from + MIB / 4, 20000, "no traffic");
		from = traffic(&dev, pid);
		fd = task_event(TOTAL, pid, 0);
		stop(pid);
		CHECK(value(fd) <= traffic(&dev, pid) - from,
		      "said %llu at once, and it was %llu",
		      (unsigned long long)value(fd),
		      (unsigned long long)(traffic(&dev, pid) - from));
		close(fd);
		kill(pid, SIGCONT);
	}
	close(local);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

#define MANY		2000
#define GAP_NS		100000000
#define GAP_TRIES	6

/* A client with MANY events of a process */
static pid_t client_of_many(pid_t of)
{
	const struct rlimit limit = { 2 * MANY, 2 * MANY };
	int ready[2];
	char byte;
	pid_t pid = fork_with_pipe(ready);

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CHECK(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit: %m");
		for (int i = 0; i < MANY; i++)
			task_event(OCCUPANCY, of, 0);
		CHECK(write(ready[1], "x", 1) == 1, "write: %m");
		for (;;)
			pause();
	}
	close(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1, "a client without its events");
	close(ready[0]);
	return pid;
}

/*
 * The longest time, ns, that the value of @fd stays while the client ends, and then.  Of a
 * turn that takes long, as the host stops the guest, a little counts.
 */
static uint64_t longest_gap(int fd, pid_t client)
{
	const uint64_t most = 5 * 1000000ULL;
	uint64_t bytes = sum_later(&fd, 1), at = now_ns(), gap = 0, longest = 0, end = 0;

	kill(client, SIGKILL);
	while (!end || at < end) {
		uint64_t now = now_ns();

		gap += now - at < most ? now - at : most;
		at = now;
		if (value(fd) != bytes) {
			bytes = value(fd);
			gap = 0;
		}
		if (gap > longest)
			longest = gap;
		if (!end && process_is(client, 'Z'))
			end = now + 5 * (uint64_t)GAP_NS;
		sleep_ms(1);
	}
	return longest;
}

/*
 * A client with many events of one process ends: values of another client stay as young as
 * before.  The host may stop the guest for as long, not each time.
 */
static void cqm_many_are_closed(void)
{
	pid_t walker = walk_on(1), of = park(0, NULL), client;
	int fd = cpu_event(TOTAL, 1), tries = 0;
	uint64_t gap;

	for (int i = 0; i < 50; i++)
		park(0, NULL);
	do {
		CHECK(tries++ < GAP_TRIES, "a value is too old each time");
		client = client_of_many(of);
		gap = longest_gap(fd, client);
		reap(client, 0);
		note("a value was %llu ms old", (unsigned long long)gap / 1000000);
	} while (gap >= GAP_NS);
	close(fd);
	reap(walker, SIGKILL);
}

/* For a sleeping process perf asks no PMU: the work item updates the count. */
static void cqm_sleeper(void)
{
	struct dev dev;
	pid_t pid;
	int fd;

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	fd = task_event(OCCUPANCY, pid, DISABLED);
	CHECK(!value(fd), "a value, and it is disabled");
	WAIT_FOR(truth(&dev, CMT_OWNER_PROCESS, pid).sample.occupancy_bytes,
		 5000, "no occupancy");
	stop(pid);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enable: %m");
	check_occupancy(&dev, &fd, 1, CMT_OWNER_PROCESS, pid, 0);
	reap(pid, SIGKILL);
	close(fd);
	dev_close(&dev);
}

#define THREADS 4

static void *thread_main(void *memory_given)
{
	volatile char *memory = memory_given;

	for (;;) {
		for (size_t i = 0; i < MIB; i += 64)
			memory[i]++;
		memory = (char *)memory_given + rand() % 15 * MIB;
	}
	return NULL;
}

/* Returns the number of threads.  @tids: the first THREADS + 1 of them. */
static int threads_of(pid_t pid, pid_t *tids)
{
	const struct dirent *entry;
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	CHECK(dir, "%s: %m", path);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && n <= THREADS)
			tids[n++] = atoi(entry->d_name);
	closedir(dir);
	return n;
}

/* A process of THREADS running threads and a leader that sleeps.  @tids: all threads. */
static pid_t many_threads(pid_t tids[THREADS + 1])
{
	pthread_t thread;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		void *memory = (void *)memory_new();

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&thread, NULL, thread_main, memory);
		for (;;)
			pause();
	}
	WAIT_FOR(threads_of(pid, tids) == THREADS + 1, 15000, "no threads");
	return pid;
}

static int nonzero(const int *fds, int n)
{
	int found = 0;

	while (n--)
		found += !!value(*fds++);
	return found;
}

/* As perf stat -p: an event for each thread.  All threads share one RMID. */
static void cqm_threads(void)
{
	int occupancy[THREADS + 1], total[THREADS + 1], i;
	pid_t tids[THREADS + 1], pid;
	uint64_t before, said;
	struct dev dev;

	dev_open(&dev, O_RDWR);
	pid = many_threads(tids);
	for (i = 0; i <= THREADS; i++) {
		occupancy[i] = task_event(OCCUPANCY, tids[i], 0);
		total[i] = task_event(TOTAL, tids[i], 0);
	}
	check_occupancy(&dev, occupancy, THREADS + 1, CMT_OWNER_PROCESS, pid,
			MIB / 8);
	CHECK(nonzero(occupancy, THREADS + 1) == 1, "several report");
	check_traffic(&dev, total, THREADS + 1, pid);
	for (i = 0; i < THREADS; i++) {
		before = sum(total + i, THREADS + 1 - i);
		close(total[i]);
		close(occupancy[i]);
		said = sum(total + i + 1, THREADS - i);
		CHECK(said >= before, "%llu after %llu: one was closed",
		      (unsigned long long)said, (unsigned long long)before);
		check_occupancy(&dev, occupancy + i + 1, THREADS - i,
				CMT_OWNER_PROCESS, pid, MIB / 8);
	}
	reap(pid, SIGKILL);
	dev_close(&dev);
}

static void cqm_enable(void)
{
	uint64_t first, then;
	struct dev dev;
	pid_t pid;
	int fd;

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	fd = task_event(TOTAL, pid, DISABLED);
	then = traffic(&dev, pid);
	WAIT_FOR(traffic(&dev, pid) > then + 4 * MIB, 20000, "no traffic");
	CHECK(!value(fd), "%llu, and it is disabled",
	      (unsigned long long)value(fd));
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enable: %m");
	check_traffic(&dev, &fd, 1, pid);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "disable: %m");
	first = value(fd);
	then = traffic(&dev, pid);
	WAIT_FOR(traffic(&dev, pid) > then + 4 * MIB, 20000, "no traffic");
	CHECK(value(fd) == first, "it counts, and it is disabled");
	CHECK(!ioctl(fd, PERF_EVENT_IOC_RESET, 0), "reset: %m");
	CHECK(!value(fd), "reset");
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enable: %m");
	check_traffic(&dev, &fd, 1, pid);
	reap(pid, SIGKILL);
	close(fd);
	dev_close(&dev);
}

/* A process that forks a spinning child for each byte. */
static pid_t forker(int go[2])
{
	pid_t pid = fork_with_pipe(go);
	char byte;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go[0], &byte, 1) != 1)
		_exit(1);
	walk_on(1);
	if (read(go[0], &byte, 1) != 1)
		_exit(1);
	_exit(0);
}

static void cqm_inherit(void)
{
	struct dev dev;
	uint64_t said;
	int go[2], fds[2];
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = forker(go);
	fds[0] = task_event(OCCUPANCY, pid, INHERIT);
	fds[1] = task_event(TOTAL, pid, INHERIT);
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	check_occupancy(&dev, &fds[0], 1, CMT_OWNER_PROCESS, pid, MIB / 8);
	check_traffic(&dev, &fds[1], 1, pid);
	/* the child dies with its parent; the count stays */
	said = value(fds[1]);
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	reap(pid, 0);
	CHECK(value(fds[1]) >= said, "a step back at the exit");
	close(fds[0]);
	close(fds[1]);
	dev_close(&dev);
}

static pid_t try_child(pid_t pid)
{
	char file[64], text[64];

	snprintf(file, sizeof(file), "/proc/%d/task/%d/children", pid, pid);
	return atoi(read_file(file, text, sizeof(text)));
}

/* Only threads inherit: a new child is no part of the owner. */
static void cqm_inherit_thread(void)
{
	pid_t pid, child;
	struct dev dev;
	int go[2], fd;

	dev_open(&dev, O_RDWR);
	pid = forker(go);
	fd = task_event(TOTAL, pid, INHERIT | THREADS);
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	WAIT_FOR((child = try_child(pid)), 10000, "no child");
	WAIT_FOR(ran_ns(child) > 500000000, 30000, "the child does not run");
	CHECK(value(fd) < MIB, "%llu bytes of a child", (unsigned long long)value(fd));
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	reap(pid, 0);
	close(fd);
	dev_close(&dev);
}

/* A process whose first thread exits after a byte, and the second one never */
static pid_t leader_new(int go[2])
{
	pid_t pid = fork_with_pipe(go);
	pthread_t thread;
	char byte;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, thread_main, (void *)memory_new());
	if (read(go[0], &byte, 1) == 1)
		syscall(SYS_exit, 0);
	_exit(1);
}

/*
 * The event of a thread is an event of its process: the process goes on counting after the
 * thread's exit.
 */
static void cqm_leader(void)
{
	uint64_t said;
	int go[2], fd;
	pid_t pid;

	pid = leader_new(go);
	fd = task_event(TOTAL, pid, 0);
	WAIT_FOR(value(fd) > MIB, 20000, "no value");
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	WAIT_FOR(process_is(pid, 'Z'), 5000, "the leader does not exit");
	said = value(fd);
	WAIT_FOR(value(fd) > said + 4 * MIB, 20000, "%llu since the exit at %llu",
		 (unsigned long long)(value(fd) - said), (unsigned long long)said);
	reap(pid, SIGKILL);
	close(fd);
}

static void cqm_exit(void)
{
	uint64_t said, last;
	struct dev dev;
	pid_t pid, other;
	int fds[2], cpu, fd;

	dev_open(&dev, O_RDWR);
	cpu = cpu_event(TOTAL, 0);
	pid = walk_on(1);
	fds[0] = task_event(OCCUPANCY, pid, 0);
	fds[1] = task_event(TOTAL, pid, 0);
	WAIT_FOR(value(fds[0]) && value(fds[1]) > MIB, 20000, "no values");
	said = value(fds[1]);
	reap(pid, SIGKILL);
	WAIT_FOR(!is_owner(&dev, CMT_OWNER_PROCESS, pid), 5000, "an owner");
	/* a CPU event changes with the work item alone: the exit has been seen */
	other = walk_on(1);
	fd = task_event(TOTAL, other, 0);
	sum_later(&cpu, 1);
	close(fd);
	reap(other, SIGKILL);
	last = value(fds[1]);
	CHECK(last >= said && value(fds[0]), "a step back at the exit");
	/* other owners get its RMID, and their traffic is not counted */
	for (int i = 0; i < 20; i++) {
		other = walk_on(1);
		fd = task_event(TOTAL, other, 0);
		WAIT_FOR(value(fd), 5000, "no traffic");
		reap(other, SIGKILL);
		close(fd);
	}
	CHECK(value(fds[1]) == last, "others' traffic is in it: %llu, %llu",
	      (unsigned long long)last, (unsigned long long)value(fds[1]));
	close(fds[0]);
	close(fds[1]);
	close(cpu);
	dev_close(&dev);
}

static void client(pid_t pid, int done)
{
	int fds[2] = { task_event(OCCUPANCY, pid, 0), task_event(TOTAL, pid, 0) };
	struct dev dev;

	dev_open(&dev, O_RDWR);
	check_occupancy(&dev, &fds[0], 1, CMT_OWNER_PROCESS, pid, 0);
	check_traffic(&dev, &fds[1], 1, pid);
	CHECK(write(done, "x", 1) == 1, "write: %m");
	for (;;)
		pause();
}

/* Each event counts all traffic; one client is killed. */
static void cqm_clients(void)
{
	int done[2], fd;
	char bytes[2];
	pid_t pid, clients[2];
	struct dev dev;

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	fd = task_event(TOTAL, pid, 0);
	CHECK(!pipe(done), "pipe: %m");
	for (int i = 0; i < 2; i++) {
		clients[i] = fork();
		CHECK(clients[i] >= 0, "fork: %m");
		if (!clients[i])
			client(pid, done[1]);
	}
	close(done[1]);
	for (int i = 0; i < 2; i++)
		CHECK(read(done[0], &bytes[i], 1) == 1, "a client failed");
	reap(clients[0], SIGKILL);
	check_traffic(&dev, &fd, 1, pid);
	reap(clients[1], SIGKILL);
	close(fd);
	WAIT_FOR(!is_owner(&dev, CMT_OWNER_PROCESS, pid), 5000, "not let go");
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/* One CPU of a domain reports all traffic, whichever CPU has the event. */
static void cqm_cpus(void)
{
	uint64_t before, after;
	int fds[2], total[2];
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	for (int cpu = 0; cpu < 2; cpu++) {
		fds[cpu] = cpu_event(OCCUPANCY, cpu);
		total[cpu] = cpu_event(TOTAL, cpu);
	}
	CHECK(value(fds[0]) && !value(fds[1]), "%llu and %llu",
	      (unsigned long long)value(fds[0]),
	      (unsigned long long)value(fds[1]));
	check_occupancy(&dev, fds, 2, 0, 0, 4 * MIB);
	WAIT_FOR(sum(total, 2) > 4 * MIB, 20000, "no traffic");
	/* as perf -C 1 */
	close(fds[0]);
	check_occupancy(&dev, &fds[1], 1, 0, 0, 4 * MIB);
	close(fds[1]);
	before = sum(total, 2);
	close(total[0]);
	after = value(total[1]);
	CHECK(after >= before, "%llu after %llu", (unsigned long long)after,
	      (unsigned long long)before);
	close(total[1]);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/*
 * A value that cannot be read at one time stays as before.  The lab plants faults here
 * (tests/lab/check cqm).  Others take some of the walk's cache between two readings.
 */
static void cqm_steady(void)
{
	struct patience patience = patience_of(2000);
	uint64_t last = 0, now;
	struct dev dev;
	pid_t pid;
	int fd;

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	fd = cpu_event(OCCUPANCY, 0);
	WAIT_FOR(value(fd) > MIB / 4, 20000, "no occupancy");
	while (patience_left(&patience)) {
		now = value(fd);
		CHECK(now >= last / 4, "%llu after %llu", (unsigned long long)now,
		      (unsigned long long)last);
		last = now;
	}
	close(fd);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/* The reporter's CPU goes offline: the other one reports, and nothing is counted twice. */
static void cqm_cpu_goes_offline(void)
{
	uint64_t before;
	int fds[2], total[2];
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = walk_on(0);
	for (int i = 0; i < 2; i++) {
		fds[i] = cpu_event(OCCUPANCY, !i);
		total[i] = cpu_event(TOTAL, !i);
	}
	WAIT_FOR(value(fds[0]) && sum(total, 2) > MIB, 20000, "no values");
	cpu_online(1, false);
	WAIT_FOR(value(fds[1]), 5000, "the other one does not report");
	CHECK(!value(fds[0]), "two report");
	before = sum(total, 2);
	WAIT_FOR(sum(total, 2) > before + MIB, 20000, "no more traffic");
	cpu_online(1, true);
	before = sum(total, 2);
	WAIT_FOR(sum(total, 2) > before + MIB, 20000, "no more traffic");
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/*
 * perf disables one event after the other, and drops the value of one that did not
 * run: that of CPU 0.
 */
static void check_disabled(const int fds[2])
{
	int of_all = cpu_event(TOTAL, 0);

	WAIT_FOR(value(fds[1]), 5000, "that of CPU 1 has no value");
	CHECK(!ioctl(fds[1], PERF_EVENT_IOC_DISABLE, 0), "disable: %m");
	sum_later(&of_all, 1);
	CHECK(value(fds[1]) && !value(fds[0]), "it went to one that did not run");
	CHECK(!ioctl(fds[0], PERF_EVENT_IOC_DISABLE, 0), "disable: %m");
	sum_later(&of_all, 1);
	CHECK(value(fds[1]) && !value(fds[0]), "%llu and %llu after the end",
	      (unsigned long long)value(fds[1]),
	      (unsigned long long)value(fds[0]));
	close(of_all);
}

static void cqm_cgroup(void)
{
	int cgroup, fds[2], total[2];
	uint64_t id, before;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	/* the root's children have perf's implicit controller from a first write on */
	write_file(CGROUPS "/cgroup.subtree_control", "+pids");
	id = group_make("cqm");
	cgroup = open(CGROUPS "/cqm", O_RDONLY | O_CLOEXEC);
	CHECK(cgroup >= 0, "open: %m");
	for (int cpu = 0; cpu < 2; cpu++) {
		fds[cpu] = try_event(OCCUPANCY, cgroup, cpu, 0,
				     PERF_FLAG_PID_CGROUP);
		total[cpu] = try_event(TOTAL, cgroup, cpu, 0,
				       PERF_FLAG_PID_CGROUP);
		CHECK(fds[cpu] >= 0 && total[cpu] >= 0, "a cgroup's: %s",
		      strerror(-fds[cpu]));
	}
	WAIT_FOR(is_owner(&dev, CMT_OWNER_CGROUP, id), 5000, "no owner");
	CHECK(!sum(fds, 2), "a value of an empty cgroup");
	pid = walk_on(1);
	group_enter("cqm", pid);
	check_occupancy(&dev, fds, 2, CMT_OWNER_CGROUP, id, MIB / 8);
	/* it moves to the event that runs, once: two reads before and after see both */
	WAIT_FOR(value(fds[1]), 5000, "the event that runs does not report");
	CHECK(nonzero(fds, 2) == 1, "two report");
	before = sum(total, 2);
	WAIT_FOR(sum(total, 2) > before + 4 * MIB, 20000, "no traffic");
	check_disabled(fds);
	reap(pid, SIGKILL);
	for (int cpu = 0; cpu < 2; cpu++) {
		close(fds[cpu]);
		close(total[cpu]);
	}
	close(cgroup);
	WAIT_FOR(!is_owner(&dev, CMT_OWNER_CGROUP, id), 5000, "not let go");
	group_remove("cqm");
	dev_close(&dev);
}

/*
 * On intel_cqm a client takes the event of a CPU for what this CPU causes.  That of a
 * cgroup cannot be told apart when it is opened.  Both are refused, whatever the value,
 * and the value of a task is right.
 */
static void cqm_intel_cqm_counts_tasks_only(void)
{
	int cgroup, fd;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	write_file(CGROUPS "/cgroup.subtree_control", "+pids");
	group_make("cqm");
	cgroup = open(CGROUPS "/cqm", O_RDONLY | O_CLOEXEC);
	CHECK(cgroup >= 0, "open: %m");
	pid = walk_on(1);
	pmu = "intel_cqm";
	for (int value = OCCUPANCY; value <= LOCAL; value++) {
		CHECK(try_event(value, -1, 1, 0, 0) == -EOPNOTSUPP,
		      "event %d of a CPU", value);
		CHECK(try_event(value, cgroup, 1, 0, PERF_FLAG_PID_CGROUP) ==
		      -EOPNOTSUPP, "event %d of a cgroup", value);
	}
	fd = task_event(OCCUPANCY, pid, 0);
	check_occupancy(&dev, &fd, 1, CMT_OWNER_PROCESS, pid, 0);
	close(fd);
	fd = task_event(TOTAL, pid, 0);
	check_traffic(&dev, &fd, 1, pid);
	close(fd);
	reap(pid, SIGKILL);
	close(cgroup);
	group_remove("cqm");
	dev_close(&dev);
}

static int timed_cgroup_event(uint64_t config, int cgroup, int cpu)
{
	struct perf_event_attr attr = {
		.type = pmu_type(pmu),
		.size = sizeof(attr),
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = event_open(&attr, cgroup, cpu,
			    PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);

	CHECK(fd >= 0, "event %llu of a cgroup: %s", (unsigned long long)config,
	      strerror(-fd));
	return fd;
}

/* perf prints "not counted" for an event that is enabled and never ran. */
static void check_not_counted(int fd)
{
	struct timed t = timed(fd);
	uint64_t from = t.enabled;

	WAIT_FOR((t = timed(fd)).enabled - from > 100000000, 10000,
		 "it is not enabled");
	CHECK(!t.running && !t.bytes, "%llu bytes, and it ran for %llu of %llu ns",
	      (unsigned long long)t.bytes, (unsigned long long)t.running,
	      (unsigned long long)t.enabled);
}

/* A cgroup without an RMID is not measured.  It is, when there is an RMID. */
static void cqm_cgroup_pending(void)
{
	int cgroup, fds[2];
	pid_t pids[8], pid;
	struct timed t;
	struct dev dev;
	uint64_t id;

	dev_open(&dev, O_RDWR);
	for (int i = 0; i < 8; i++) {
		pids[i] = park(0, NULL);
		CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pids[i], NULL),
		      "REGISTER: %m");
	}
	write_file(CGROUPS "/cgroup.subtree_control", "+pids");
	id = group_make("cqm");
	cgroup = open(CGROUPS "/cqm", O_RDONLY | O_CLOEXEC);
	CHECK(cgroup >= 0, "open: %m");
	pid = walk_on(1);
	group_enter("cqm", pid);
	fds[0] = timed_cgroup_event(OCCUPANCY, cgroup, 1);
	fds[1] = timed_cgroup_event(TOTAL, cgroup, 1);
	check_not_counted(fds[0]);
	check_not_counted(fds[1]);
	for (int i = 0; i < 8; i++)
		reap(pids[i], SIGKILL);
	WAIT_FOR(is_owner(&dev, CMT_OWNER_CGROUP, id), 5000, "no RMID");
	for (int i = 0; i < 2; i++) {
		WAIT_FOR(timed(fds[i]).running, 5000, "it never runs");
		t = timed(fds[i]);
		/* perf scales traffic, of which a part was not counted */
		CHECK(i ? t.running < t.enabled : t.running == t.enabled,
		      "event %d ran for %llu of %llu ns", i,
		      (unsigned long long)t.running,
		      (unsigned long long)t.enabled);
		WAIT_FOR(timed(fds[i]).bytes, 20000, "no value");
		close(fds[i]);
	}
	close(cgroup);
	reap(pid, SIGKILL);
	WAIT_FOR(!is_owner(&dev, CMT_OWNER_CGROUP, id), 5000, "not let go");
	group_remove("cqm");
	dev_close(&dev);
}

/* A cgroup of version 1 cannot be an owner. */
static void cqm_cgroup_v1(void)
{
	char dir[] = "/tmp/cqm-XXXXXX", group[64], procs[96], text[16];
	int cgroup, fd, err;
	pid_t pid;

	CHECK(mkdtemp(dir), "mkdtemp: %m");
	WAIT_FOR(!mount("none", dir, "cgroup", 0, "perf_event"), 5000,
		 "mount: %m");
	snprintf(group, sizeof(group), "%s/old", dir);
	CHECK(!mkdir(group, 0755), "mkdir: %m");
	cgroup = open(group, O_RDONLY | O_CLOEXEC);
	CHECK(cgroup >= 0, "open: %m");
	pid = walk_on(1);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", group);
	snprintf(text, sizeof(text), "%d", pid);
	err = write_file(procs, text);
	CHECK(!err, "%s: %s", procs, strerror(-err));
	fd = timed_cgroup_event(OCCUPANCY, cgroup, 1);
	check_not_counted(fd);
	close(fd);
	close(cgroup);
	reap(pid, SIGKILL);
	WAIT_FOR(!rmdir(group), 5000, "rmdir: %m");
	CHECK(!umount(dir), "umount: %m");
	rmdir(dir);
}

/* The owner stays in every scope. */
static void cqm_scope(void)
{
	static const uint32_t scopes[] = {
		CMT_SCOPE_CONTAINER, CMT_SCOPE_CPU, CMT_SCOPE_PROCESS,
		CMT_SCOPE_MANUAL,
	};
	uint64_t last = 0, cpu_last = 0;
	int fd, cpu_fd;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	fd = task_event(TOTAL, pid, 0);
	cpu_fd = cpu_event(TOTAL, 0);
	for (int i = 0; i < 4; i++) {
		scope_set(&dev, scopes[i]);
		CHECK(value(fd) >= last && value(cpu_fd) >= cpu_last,
		      "scope %u: a step back", scopes[i]);
		check_traffic(&dev, &fd, 1, pid);
		last = value(fd);
		cpu_last = value(cpu_fd);
	}
	reap(pid, SIGKILL);
	close(fd);
	close(cpu_fd);
	dev_close(&dev);
}

/* Without an RMID an event would count nothing, and perf could not report this later. */
static void cqm_no_rmid(void)
{
	pid_t pids[8], pid;
	int fd = -1;

	for (int i = 0; i < 8; i++)
		pids[i] = park(0, NULL);
	pid = park(0, NULL);
	fd = try_event(OCCUPANCY, pid, -1, 0, 0);
	CHECK(fd == -EBUSY, "%d", fd);
	for (int i = 0; i < 8; i++)
		reap(pids[i], SIGKILL);
	reap(pid, SIGKILL);
}

/* As perf stat COMMAND: the event is enabled at exec, and the process ends. */
static void cqm_exec(void)
{
	struct perf_event_attr attr = {
		.type = pmu_type(pmu), .size = sizeof(attr), .config = OCCUPANCY,
		.disabled = 1, .enable_on_exec = 1, .inherit = 1,
	};
	int go[2], fd;
	char byte;
	pid_t pid;

	CHECK(!pipe(go), "pipe: %m");
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		if (read(go[0], &byte, 1) == 1)
			execl(suite_path, suite_path, "--pause", NULL);
		_exit(1);
	}
	fd = event_open(&attr, pid, -1, 0);
	CHECK(fd >= 0, "open: %s", strerror(-fd));
	CHECK(!value(fd), "a value before the exec");
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	WAIT_FOR(value(fd), 5000, "no value after the exec");
	reap(pid, SIGKILL);
	close(fd);
}

/* The last value that perf stat -x prints, in the unit that perf shows. */
static double perf_says(const char *options, unsigned int *lines)
{
	char command[256], line[256];
	double number = -1;
	FILE *pipe;

	snprintf(command, sizeof(command), "perf stat -x, %s sleep 1 2>&1",
		 options);
	pipe = popen(command, "r");
	CHECK(pipe, "popen: %m");
	*lines = 0;
	while (fgets(line, sizeof(line), pipe)) {
		const char *at = line;

		note("perf: %.*s", (int)strcspn(line, "\n"), line);
		/* with -I the time comes first */
		if (strstr(options, "-I"))
			at = strchr(line, ',') ? strchr(line, ',') + 1 : line;
		if (sscanf(at, "%lf,", &number) == 1)
			++*lines;
	}
	CHECK(!pclose(pipe) && *lines, "%s", command);
	return number;
}

static void check_perf(const struct dev *dev, const char *options,
		       unsigned int lines, uint32_t kind, uint64_t id,
		       uint64_t room)
{
	uint64_t before = truth(dev, kind, id).sample.occupancy_bytes, after;
	unsigned int said_lines;
	double said = perf_says(options, &said_lines);

	after = truth(dev, kind, id).sample.occupancy_bytes;
	CHECK(said_lines >= lines, "%u lines", said_lines);
	CHECK(said > 0 && is_between(said, before, after, room),
	      "%s: %.0f, and it was %llu to %llu", options, said,
	      (unsigned long long)before, (unsigned long long)after);
}

/* The values of Debian's perf are those of CMT_IOC_READ. */
static void cqm_perf_tool(void)
{
	char options[128];
	unsigned int lines;
	struct dev dev;
	pid_t pid;
	int fd;

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	fd = task_event(TOTAL, pid, 0);
	WAIT_FOR(value(fd) > MEMORY, 20000, "no traffic");
	snprintf(options, sizeof(options),
		 "-e cmt/llc_occupancy/ -p %d", pid);
	check_perf(&dev, options, 1, CMT_OWNER_PROCESS, pid, MIB);
	strcat(options, " -I 100");
	check_perf(&dev, options, 5, CMT_OWNER_PROCESS, pid, MIB);
	check_perf(&dev, "-e cmt/llc_occupancy/ -a", 1, 0, 0,
		   4 * MIB);
	check_perf(&dev, "-e cmt/llc_occupancy/ -C 1", 1, 0, 0,
		   4 * MIB);
	snprintf(options, sizeof(options),
		 "-e cmt/total_bytes/ -p %d", pid);
	CHECK(perf_says(options, &lines) > 0, "no traffic");
	reap(pid, SIGKILL);
	close(fd);
	dev_close(&dev);
}

/* Of a cgroup, repeatedly. */
static void cqm_perf_cgroup(void)
{
	unsigned int lines;
	struct dev dev;
	uint64_t id;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	write_file(CGROUPS "/cgroup.subtree_control", "+pids");
	id = group_make("cqm");
	attach(&dev, CMT_OWNER_CGROUP, id, 0, NULL);
	pid = walk_on(1);
	group_enter("cqm", pid);
	WAIT_FOR(truth(&dev, CMT_OWNER_CGROUP, id).sample.mbm_total_bytes >
		 MEMORY, 20000, "no traffic");
	for (int i = 0; i < 4; i++)
		check_perf(&dev, "-e cmt/llc_occupancy/ -a -G cqm", 1,
			   CMT_OWNER_CGROUP, id, MIB);
	CHECK(perf_says("-e cmt/total_bytes/ -a -G cqm", &lines) > 0,
	      "no traffic");
	reap(pid, SIGKILL);
	detach(&dev, CMT_OWNER_CGROUP, id);
	group_remove("cqm");
	dev_close(&dev);
}

/* The traffic of all owners, by READ */
static uint64_t traffic_of_all(const struct dev *dev)
{
	static struct cmt_record records[MAX_RMIDS];
	int n = owner_read(dev, 0, 0, records, MAX_RMIDS);
	uint64_t bytes = 0;

	CHECK(n >= 1, "READ: %d", n);
	while (n--)
		bytes += records[n].sample.mbm_total_bytes;
	return bytes;
}

/* The bytes of a line of perf stat -x, whose values are MB; 0: it has none. */
static uint64_t bytes_of_line(const char *line, bool has_time)
{
	double number = 0;

	note("perf: %.*s", (int)strcspn(line, "\n"), line);
	if (has_time)
		line = strchr(line, ',') ? strchr(line, ',') + 1 : "";
	return sscanf(line, "%lf,", &number) == 1 ? (uint64_t)(number * 1e6) : 0;
}

static bool is_near(uint64_t said, uint64_t bytes, uint64_t percent)
{
	return 100 * said + percent * bytes >= 100 * bytes &&
	       100 * said <= (100 + percent) * bytes;
}

/* Each takes more than a second; a busy host makes many of them inconclusive. */
#define PERF_TRIES	40

/*
 * Is each line what the owners' traffic was meanwhile, and the sum of the lines, too?  A line
 * is read some time after perf has read the events, and values are up to 20 ms old.  The
 * first line is of perf's begin, too.
 */
static bool intervals_are_right(const struct dev *dev)
{
	static const char command[] =
		"perf stat -x, -e cmt/total_bytes/ -a -I 100 sleep 1 2>&1";
	uint64_t last = 0, now, bytes, said = 0, first = 0;
	unsigned int lines = 0, wrong = 0;
	double at, last_at = 0;
	FILE *pipe = popen(command, "r");
	char line[256];

	CHECK(pipe, "popen: %m");
	while (fgets(line, sizeof(line), pipe)) {
		now = traffic_of_all(dev);
		bytes = bytes_of_line(line, true);
		at = strtod(line, NULL);
		if (lines++ > 1) {
			note("READ: %llu bytes, and perf %llu",
			     (unsigned long long)(now - last),
			     (unsigned long long)bytes);
			/* the last interval is as short as a value may be old */
			wrong += at - last_at > 0.08 && !is_near(bytes, now - last, 60);
			said += bytes;
		} else {
			first = now;
		}
		last = now;
		last_at = at;
	}
	CHECK(!pclose(pipe), "%s", command);
	note("%u of %u lines are wrong; READ: %llu bytes, and perf %llu", wrong, lines,
	     (unsigned long long)(last - first), (unsigned long long)said);
	return lines > 5 && !wrong && is_near(said, last - first, 15);
}

/* Two CPUs of one L3 domain: whichever event has the value, perf shows it. */
static void cqm_perf_intervals(void)
{
	unsigned int tries = 0;
	struct dev dev;
	pid_t pids[2];

	dev_open(&dev, O_RDWR);
	for (int cpu = 0; cpu < 2; cpu++) {
		pids[cpu] = walk_on(cpu);
		/* perf, and the reader of its lines, do not wait */
		CHECK(!setpriority(PRIO_PROCESS, (id_t)pids[cpu], 19), "setpriority: %m");
		CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pids[cpu], NULL),
		      "REGISTER: %m");
	}
	WAIT_FOR(traffic(&dev, pids[0]) && traffic(&dev, pids[1]), 20000, "no traffic");
	while (!intervals_are_right(&dev))
		CHECK(++tries < PERF_TRIES, "perf has other values than READ");
	for (int cpu = 0; cpu < 2; cpu++)
		reap(pids[cpu], SIGKILL);
	dev_close(&dev);
}

static uint64_t cgroup_traffic(const struct dev *dev, uint64_t id)
{
	return truth(dev, CMT_OWNER_CGROUP, id).sample.mbm_total_bytes;
}

/*
 * perf stat -a -G of a task that moves from CPU 1 to CPU 0 meanwhile: is the count at least
 * the traffic between "begin" and "end", and at most that of the whole time?  False, too, if
 * all traffic since the move would do: the host was busy.
 */
static bool count_is_right(const struct dev *dev, uint64_t id, pid_t pid)
{
	static const char command[] =
		"perf stat -x, -e cmt/total_bytes/ -a -G cqm"
		" sh -c 'echo begin; sleep 1; echo end; sleep 0.2' 2>&1";
	uint64_t outer, begin = 0, moved = 0, end = 0, said = 0, now;
	char line[256];
	FILE *pipe;

	run_on(pid, 1);
	outer = cgroup_traffic(dev, id);
	pipe = popen(command, "r");
	CHECK(pipe, "popen: %m");
	while (fgets(line, sizeof(line), pipe)) {
		if (!strcmp(line, "begin\n")) {
			begin = cgroup_traffic(dev, id);
			sleep_ms(700);
			moved = cgroup_traffic(dev, id);
			run_on(pid, 0);
		} else if (!strcmp(line, "end\n")) {
			end = cgroup_traffic(dev, id);
		} else {
			said += bytes_of_line(line, false);
		}
	}
	CHECK(!pclose(pipe) && begin && end, "%s", command);
	now = cgroup_traffic(dev, id);
	outer = now - outer;
	note("READ: %llu to %llu bytes, %llu since the move",
	     (unsigned long long)(end - begin), (unsigned long long)outer,
	     (unsigned long long)(now - moved));
	return said >= end - begin && said <= outer && now - moved < end - begin;
}

static void cqm_perf_cgroup_moves(void)
{
	unsigned int tries = 0;
	struct dev dev;
	uint64_t id;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	write_file(CGROUPS "/cgroup.subtree_control", "+pids");
	id = group_make("cqm");
	attach(&dev, CMT_OWNER_CGROUP, id, 0, NULL);
	pid = walk_on(1);
	CHECK(!setpriority(PRIO_PROCESS, (id_t)pid, 19), "setpriority: %m");
	group_enter("cqm", pid);
	WAIT_FOR(cgroup_traffic(&dev, id) > MEMORY, 20000, "no traffic");
	while (!count_is_right(&dev, id, pid))
		CHECK(++tries < PERF_TRIES, "perf has other values than READ");
	reap(pid, SIGKILL);
	detach(&dev, CMT_OWNER_CGROUP, id);
	group_remove("cqm");
	dev_close(&dev);
}

/* As an event that the kernel does not have, and not as 0 */
static void cqm_perf_refused(void)
{
	static const char command[] = "perf stat -x, -a -e intel_cqm/llc_occupancy/"
		" sleep 0.1 2>&1";
	bool refused = false;
	char line[256];
	FILE *pipe = popen(command, "r");

	CHECK(pipe, "popen: %m");
	while (fgets(line, sizeof(line), pipe)) {
		note("perf: %.*s", (int)strcspn(line, "\n"), line);
		refused |= !strncmp(line, "<not supported>,", 16);
	}
	pclose(pipe);
	CHECK(refused, "%s", command);
}

/* The occupancy of the only process in the output. */
static uint64_t cmtstat_says(void)
{
	static const char command[] = "cmtstat --by process --csv -n 1 |"
		" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ==\""
		"occupancy_bytes\") n = i } $0 ~ /suite/ { print $n }'";
	char line[64] = "";
	FILE *pipe = popen(command, "r");

	CHECK(pipe, "popen: %m");
	CHECK(fgets(line, sizeof(line), pipe), "cmtstat shows no such process");
	CHECK(!pclose(pipe), "%s", command);
	note("cmtstat: %s", strtok(line, "\n"));
	return strtoull(line, NULL, 10);
}

/*
 * perf and cmtstat, of a process that has nearly all of the cache: within 1 % of each
 * other, at least once in several times.
 */
static void cqm_as_cmtstat(void)
{
	struct patience patience = patience_of(60000);
	double perf = 0, cmtstat = 0;
	unsigned int lines;
	char options[128];
	struct dev dev;
	pid_t pid;
	int fd;

	dev_open(&dev, O_RDWR);
	pid = walk_on(1);
	fd = task_event(TOTAL, pid, 0);
	snprintf(options, sizeof(options),
		 "-e cmt/llc_occupancy/ -p %d", pid);
	do {
		CHECK(patience_left(&patience), "perf %.0f, cmtstat %.0f", perf,
		      cmtstat);
		perf = perf_says(options, &lines);
		cmtstat = cmtstat_says();
	} while (perf <= 0 || perf > 1.01 * cmtstat || cmtstat > 1.01 * perf);
	reap(pid, SIGKILL);
	close(fd);
	dev_close(&dev);
}

/*
 * A process that had an event is scheduled when the module is gone, while perf looks at
 * the contexts of tasks: hold_patches() has an event.
 */
static void cqm_process_outlives_module(void)
{
	pid_t pid = park(0, NULL);

	CHECK(!module_load(""), "load");
	close(task_event(1, pid, 0));
	WAIT_FOR(!module_unload(), 10000, "the module does not unload");
	kill(pid, SIGSTOP);
	WAIT_FOR(process_is(pid, 'T'), 5000, "it does not stop");
	kill(pid, SIGCONT);
	WAIT_FOR(process_is(pid, 'S'), 5000, "it does not go on");
	reap(pid, SIGKILL);
}

struct opener {
	pid_t of;		/* the thread that the event is for */
	pid_t tid;		/* the thread that opens the event */
	int fd;			/* or -errno */
	bool done;
};

static void *write_tid(void *end)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	CHECK(write(*(int *)end, &tid, sizeof(tid)) == sizeof(tid), "write: %m");
	for (;;)
		pause();
}

/* A process with a second thread, whose id is *tid. */
static pid_t two_threads(pid_t *tid)
{
	pthread_t thread;
	int ends[2];
	pid_t pid = fork_with_pipe(ends);

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CHECK(!pthread_create(&thread, NULL, write_tid, &ends[1]),
		      "pthread_create");
		for (;;)
			pause();
	}
	CHECK(read(ends[0], tid, sizeof(*tid)) == sizeof(*tid), "read: %m");
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void *open_for_thread(void *arg)
{
	struct opener *o = arg;

	__atomic_store_n(&o->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	o->fd = try_event(OCCUPANCY, o->of, -1, 0, 0);
	__atomic_store_n(&o->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The opener waits in the kernel, which in the build with wide windows is in one. */
static bool is_open_or_waits(const struct opener *o)
{
	pid_t tid = __atomic_load_n(&o->tid, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&o->done, __ATOMIC_ACQUIRE) ||
	       (tid && process_is(tid, 'D'));
}

/*
 * The process of a thread is killed and reaped while an event is opened for the thread.
 * In the build with wide windows this is between the reference to the thread, which perf
 * takes, and the look-up of the process.
 */
static void cqm_task_is_reaped(void)
{
	int refused = 0;

	for (int i = 0; i < 20; i++) {
		struct opener o = { .fd = -1 };
		pid_t pid = two_threads(&o.of);
		pthread_t thread;

		CHECK(!pthread_create(&thread, NULL, open_for_thread, &o),
		      "pthread_create");
		if (i % 2)
			WAIT_FOR(is_open_or_waits(&o), 5000, "no event");
		reap(pid, SIGKILL);
		CHECK(!pthread_join(thread, NULL), "pthread_join");
		CHECK(o.fd >= 0 || o.fd == -ESRCH, "event of %d: %s", o.of,
		      strerror(-o.fd));
		refused += o.fd < 0;
		if (o.fd >= 0)
			close(o.fd);
	}
	note("%d of 20 events were refused", refused);
}

const struct test cqm_tests[] = {
	{ "cqm_sysfs", cqm_sysfs, "intel_cqm=1", 0 },
	{ "cqm_intel_cqm_is_there_on_request", cqm_intel_cqm_is_there_on_request, NULL, 0 },
	{ "cqm_intel_cqm_counts_tasks_only", cqm_intel_cqm_counts_tasks_only,
	  MANUAL " intel_cqm=1", 60 },
	{ "cqm_bad_input", cqm_bad_input, "", 0 },
	{ "cqm_task", cqm_task, MANUAL, 60 },
	{ "cqm_task_is_reaped", cqm_task_is_reaped, MANUAL, 60 },
	{ "cqm_reopened", cqm_reopened, MANUAL, 60 },
	{ "cqm_sleeper", cqm_sleeper, MANUAL, 0 },
	{ "cqm_threads", cqm_threads, MANUAL, 60 },
	{ "cqm_enable", cqm_enable, MANUAL, 60 },
	{ "cqm_inherit", cqm_inherit, MANUAL, 60 },
	{ "cqm_inherit_thread", cqm_inherit_thread, MANUAL, 60 },
	{ "cqm_exit", cqm_exit, MANUAL, 60 },
	{ "cqm_leader", cqm_leader, MANUAL, 60 },
	{ "cqm_exec", cqm_exec, MANUAL, 0 },
	{ "cqm_clients", cqm_clients, MANUAL, 60 },
	{ "cqm_cpus", cqm_cpus, SMALL, 60 },
	{ "cqm_steady", cqm_steady, SMALL, 60 },
	{ "cqm_cpu_goes_offline", cqm_cpu_goes_offline, SMALL, 60 },
	{ "cqm_cgroup", cqm_cgroup, MANUAL, 60 },
	{ "cqm_cgroup_pending", cqm_cgroup_pending,
	  EMULATED SMALL "scope=manual emulated_rmids=8", 60 },
	{ "cqm_cgroup_v1", cqm_cgroup_v1, MANUAL, 60 },
	{ "cqm_scope", cqm_scope, MANUAL, 90 },
	{ "cqm_process_outlives_module", cqm_process_outlives_module, NULL, 0 },
	{ "cqm_no_rmid", cqm_no_rmid, EMULATED "emulated_rmids=8", 0 },
	{ }
};

/* In the lab, whose walkers cause traffic without end, and where perf and cmtstat are. */
const struct test cqm_tools_tests[] = {
	{ "cqm_many_are_closed", cqm_many_are_closed, MANUAL, 120 },
	{ "cqm_perf_tool", cqm_perf_tool, MANUAL, 60 },
	{ "cqm_perf_cgroup", cqm_perf_cgroup, MANUAL, 60 },
	{ "cqm_perf_intervals", cqm_perf_intervals, MANUAL, 120 },
	{ "cqm_perf_cgroup_moves", cqm_perf_cgroup_moves, MANUAL, 120 },
	{ "cqm_perf_refused", cqm_perf_refused, MANUAL " intel_cqm=1", 0 },
	{ "cqm_as_cmtstat", cqm_as_cmtstat, MANUAL, 90 },
	{ }
};
