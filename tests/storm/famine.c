// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocations that fail: one in five of an actor's, and in turn each of those
 * that a load, a call, or a CPU's coming online makes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define FAULTS		"/sys/kernel/debug/"
#define MOST_IN_CALL	2000

static const char *const injectors[] = { "failslab", "fail_page_alloc" };

static void inject(const char *injector, const char *name, const char *value)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), FAULTS "%s/%s", injector, name);
	if (access(path, F_OK))
		return;
	err = write_file(path, value);
	CHECK(!err, "%s: %s", path, strerror(-err));
}

bool famine_possible(void)
{
	return !access(FAULTS "failslab", F_OK);
}

/* Of those that may sleep, too; without a report for each */
void famine_prepare(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		inject(injectors[i], "verbose", "0");
		inject(injectors[i], "ignore-gfp-wait", "N");
		inject(injectors[i], "ignore-gfp-highmem", "N");
		inject(injectors[i], "min-order", "0");
		inject(injectors[i], "task-filter", "Y");
		inject(injectors[i], "interval", "1");
		inject(injectors[i], "times", "-1");
		inject(injectors[i], "probability", "0");
	}
}

void famine_everywhere(bool on)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		inject(injectors[i], "probability", on ? "20" : "0");
}

static int make_it_fail = -1;

void famine_suspend(bool suspend)
{
	if (make_it_fail >= 0)
		CHECK(pwrite(make_it_fail, suspend ? "0" : "1", 1, 0) == 1,
		      "make-it-fail: %m");
}

void famine_join(void)
{
	if (!famine_possible())
		return;
	if (make_it_fail < 0)
		make_it_fail = open("/proc/self/make-it-fail",
				    O_WRONLY | O_CLOEXEC);
	CHECK(make_it_fail >= 0, "make-it-fail: %m");
	famine_suspend(false);
}

/* The nth allocation of a task from now on fails; 0: none. */
static void fail_nth(int fd, unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	CHECK(pwrite(fd, text, n, 0) == n, "fail-nth: %m");
}

/* How many are left until one fails; 0: one has. */
static unsigned int fail_left(int fd)
{
	char text[16] = "";

	CHECK(pread(fd, text, sizeof(text) - 1, 0) > 0, "fail-nth: %m");
	return strtoul(text, NULL, 10);
}

static int fail_open(void)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0, "fail-nth: %m");
	return fd;
}

static void begin(void)
{
	struct stat st;

	if (!storm)
		storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	famine_prepare();
	CHECK(!stat("/lib/cmt.ko", &st), "/lib/cmt.ko: %m");
}

#define LOAD_PARAMS "ring_records=256 "

/* Load with the nth allocation failing; returns how many were made till the end. */
static unsigned int starve_load(const char *params, int fail, unsigned int nth)
{
	int fd = open("/lib/cmt.ko", O_RDONLY | O_CLOEXEC);
	unsigned int left;
	int err;

	CHECK(fd >= 0, "cmt.ko: %m");
	fail_nth(fail, nth);
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	left = fail_left(fail);
	fail_nth(fail, 0);
	close(fd);
	if (!err)
		CHECK(!module_unload(), "loaded, and does not unload");
	CHECK(left || !err || err == -ENOMEM || err == -EINVAL,
	      "load, allocation %u failing: %s", nth, strerror(-err));
	CHECK(!module_present() && access(DEV_PATH, F_OK) &&
	      access("/proc/cmt", F_OK), "allocation %u: something is left", nth);
	return nth - left;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* A stride that meets all of n numbers: it has no factor in common with n. */
static unsigned int stride(unsigned int n)
{
	unsigned int step = n * 0.618, a, b, rest;

	for (;; step--) {
		for (a = n, b = step; b; a = b, b = rest)
			rest = a % b;
		if (a == 1 || step <= 1)
			return 1 > step ? 1 : step;
	}
}

/*
 * Each allocation of the module's own part of a load in turn; as many as there is
 * time for, at equal distances, from another one at each seed.  What the kernel's
 * loader allocates before is known from a load with a bad parameter.
 */
void famine_load(void)
{
	uint64_t end = now_ns() + number("STORM_FAMINE", 20) * 1000000000;
	unsigned int first, all, n, step, done = 0;
	int fail;

	if (!famine_possible()) {
		note("this kernel cannot make allocations fail");
		return;
	}
	begin();
	fail = fail_open();
	starve_load("backend=foo", fail, INT_MAX);
	first = starve_load("backend=foo", fail, INT_MAX);
	all = starve_load(LOAD_PARAMS, fail, INT_MAX);
	CHECK(all > first, "%u allocations, %u before the module's", all, first);
	step = stride(all - first);
	n = number("STORM_SEED", 1) % (all - first);
	for (; done < all - first && now_ns() < end; done++) {
		starve_load(LOAD_PARAMS, fail, first + 1 + n);
		n = (n + step) % (all - first);
	}
	note("%u of %u allocations of a load failed, after %u of the loader",
	     done, all - first, first);
	CHECK(done, "no time for any");
	check_unloaded();
	check_log();
}

static struct dev dev;
static uint64_t group;
static pid_t sitter;

static int call_open(void)
{
	int fd = open(DEV_PATH, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : close(fd);
}

static int call_mmap(void)
{
	void *map = mmap(NULL, dev.info.ring_bytes, PROT_READ, MAP_SHARED,
			 dev.fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	/* which needs memory, too */
	return munmap(map, dev.info.ring_bytes) &&
		munmap(map, dev.info.ring_bytes) ? -errno : 0;
}

static int call_poll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(EPOLL_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (epoll_ctl(fd, EPOLL_CTL_ADD, dev.fd, &event) ||
	    epoll_wait(fd, &event, 1, 1) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int call_scope_process(void)
{
	return scope_try(&dev, CMT_SCOPE_PROCESS, NULL, NULL);
}

static int call_scope_container(void)
{
	return scope_try(&dev, CMT_SCOPE_CONTAINER,
			 "docker-<id>.scope *.service", NULL);
}

static int call_scope_manual(void)
{
	return scope_try(&dev, CMT_SCOPE_MANUAL, NULL, NULL);
}

static int call_scope_cpu(void)
{
	return scope_try(&dev, CMT_SCOPE_CPU, NULL, NULL);
}

static int attach_detach(uint32_t kind, uint64_t id, uint32_t options)
{
	int err = attach(&dev, kind, id, options, NULL);

	return err ? err : detach(&dev, kind, id);
}

static int call_attach_process(void)
{
	return attach_detach(CMT_OWNER_PROCESS, sitter, CMT_ATTACH_CHILDREN);
}

static int call_attach_cgroup(void)
{
	return attach_detach(CMT_OWNER_CGROUP, group, 0);
}

static int call_attach_cpu(void)
{
	return attach_detach(CMT_OWNER_CPU, 0, 0);
}

static int call_snapshot(void)
{
	static struct cmt_record records[MAX_RMIDS];
	struct cmt_rmids arg = {
		.size = sizeof(arg), .count = MAX_RMIDS,
		.records = (uintptr_t)records,
	};

	if (ioctl(dev.fd, CMT_IOC_GET_RMIDS, &arg))
		return -errno;
	arg.count = MAX_RMIDS;
	return ioctl(dev.fd, CMT_IOC_GET_PENDING, &arg) ? -errno : 0;
}

static int call_path(void)
{
	static char path[PATH_MAX];
	struct cmt_cgroup_path arg = {
		.size = sizeof(arg), .bytes = sizeof(path), .cgroup_id = group,
		.path = (uintptr_t)path,
	};

	if (!ioctl(dev.fd, CMT_IOC_PATH_OF_CGROUP, &arg))
		return 0;
	return errno == ENOTTY ? 0 : -errno;
}

static int call_procfs(void)
{
	char text[512];
	int fd = open("/proc/cmt/rmids", O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text));
	n = n < 0 ? -errno : 0;
	close(fd);
	return n;
}

static int call_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 ? -errno : (waitpid(pid, NULL, 0), 0);
}

static int call_mkdir(void)
{
	static const char path[] = CGROUPS "/other.service";
	int err = mkdir(path, 0755) ? -errno : 0;

	return err ? err : rmdir(path) ? -errno : 0;
}

static int call_move(void)
{
	char text[16];
	int err;

	snprintf(text, sizeof(text), "%d", sitter);
	err = write_file(CGROUPS "/one.service/cgroup.procs", text);
	return err ? err : write_file(CGROUPS "/cgroup.procs", text);
}

static const struct call {
	const char *name;
	int (*call)(void);
} calls[] = {
	{ "open", call_open }, { "mmap", call_mmap }, { "poll", call_poll },
	{ "scope process", call_scope_process },
	{ "scope container", call_scope_container },
	{ "attach process", call_attach_process },
	{ "attach cgroup", call_attach_cgroup },
	{ "attach cpu", call_attach_cpu },
	{ "scope cpu", call_scope_cpu }, { "scope manual", call_scope_manual },
	{ "snapshot", call_snapshot }, { "path", call_path },
	{ "procfs", call_procfs }, { "fork", call_fork },
	{ "mkdir", call_mkdir }, { "move", call_move },
};

/*
 * Refused, or done all the same, where the allocation was for no more than speed.
 * What was done in half is undone without a failure.
 */
static void starve_call(const struct call *call, int fail)
{
	unsigned int nth, left;
	int err;

	for (nth = 1; nth < MOST_IN_CALL; nth++) {
		fail_nth(fail, nth);
		err = call->call();
		left = fail_left(fail);
		fail_nth(fail, 0);
		detach(&dev, CMT_OWNER_PROCESS, sitter);
		detach(&dev, CMT_OWNER_CGROUP, group);
		detach(&dev, CMT_OWNER_CPU, 0);
		rmdir(CGROUPS "/other.service");
		if (left) {
			CHECK(!err, "%s: %s", call->name, strerror(-err));
			break;
		}
		CHECK(!err || err == -ENOMEM || err == -EAGAIN || err == -ENOSPC,
		      "%s, allocation %u failing: %s", call->name, nth,
		      strerror(-err));
		check_pool(&dev);
	}
	note("%s: %u allocations", call->name, nth - 1);
}

static void open_for_famine(const char *params)
{
	int err;

	begin();
	err = module_load(params);
	CHECK(!err, "load: %s", strerror(-err));
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
}

static void close_after_famine(void)
{
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
	check_unloaded();
	check_log();
}

void famine_calls(void)
{
	unsigned int i;
	int fail;

	if (!famine_possible()) {
		note("this kernel cannot make allocations fail");
		return;
	}
	open_for_famine(LOAD_PARAMS);
	fail = fail_open();
	group = group_make("one.service");
	sitter = park(0, NULL);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		starve_call(&calls[i], fail);
	scope_set(&dev, CMT_SCOPE_MANUAL);
	reap(sitter, 9);
	group_remove("one.service");
	check_pool(&dev);
	close_after_famine();
}

/* The thread that brings CPU 1 up is the kernel's. */
static int fail_open_hotplug(void)
{
	char path[64], text[64];
	struct dirent *entry;
	int fd = -1;
	DIR *proc;

	proc = opendir("/proc");
	CHECK(proc, "/proc: %m");
	while (fd < 0 && (entry = readdir(proc))) {
		if (atoi(entry->d_name) <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/comm",
			 atoi(entry->d_name));
		if (strcmp(read_file(path, text, sizeof(text)), "cpuhp/1\n"))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/fail-nth",
			 atoi(entry->d_name), atoi(entry->d_name));
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	closedir(proc);
	CHECK(fd >= 0, "no fail-nth of cpuhp/1: %m");
	return fd;
}

#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"

/*
 * CPU 1 comes online, the first time since the module was loaded where it is, with
 * the nth allocation of a task failing; returns how many that one made.
 */
static unsigned int starve_online(bool loaded, int fail, unsigned int nth)
{
	unsigned int left;
	int err;

	cpu_online(1, false);
	CHECK(!loaded || !module_load(LOAD_PARAMS), "load");
	fail_nth(fail, nth);
	err = write_file(CPU1_ONLINE, "1");
	left = fail_left(fail);
	fail_nth(fail, 0);
	CHECK(!err || !left, "CPU 1: %s", strerror(-err));
	if (err)
		cpu_online(1, true);
	if (!loaded)
		return nth - left;
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	CHECK(ring_state(&dev.rings[1]) == CMT_RING_ONLINE,
	      "allocation %u: the ring is not online", nth);
	dev_close(&dev);
	cpu_online(1, false);
	CHECK(!module_unload(), "unload");
	cpu_online(1, true);
	return nth - left;
}

/*
 * Those of the task that asks for the CPU, among which the module prepares it, and
 * those of the kernel's thread on the CPU, of which the module's are the last.
 */
static void starve_task(const char *who, int fail, bool only_last)
{
	uint64_t end = now_ns() + number("STORM_FAMINE", 20) * 1000000000 / 2;
	unsigned int first, all, n, step, done;

	starve_online(false, fail, INT_MAX);
	first = only_last ? starve_online(false, fail, INT_MAX) : 0;
	all = starve_online(true, fail, INT_MAX);
	/* the kernel's own number is not always the same */
	first = all > first + 2 ? first : all - 2;
	all -= first;
	step = stride(all);
	n = number("STORM_SEED", 1) % all;
	/* on a busy host, one at least */
	for (done = 0; done < all && (!done || now_ns() < end); done++) {
		starve_online(true, fail, first + 1 + n);
		n = (n + step) % all;
	}
	note("%s: %u of %u allocations failed, after %u", who, done, all, first);
}

void famine_online(void)
{
	if (!famine_possible()) {
		note("this kernel cannot make allocations fail");
		return;
	}
	begin();
	starve_task("who asks", fail_open(), false);
	starve_task("cpuhp/1", fail_open_hotplug(), true);
	check_unloaded();
	check_log();
}
