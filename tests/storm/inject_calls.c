// SPDX-License-Identifier: GPL-2.0-or-later
/* Each allocation of a call fails in turn */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
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

#include "inject.h"
#include "storm.h"

#define MOST_IN_CALL	2000

static struct dev dev;
static struct injected injected;
static uint64_t group;
static int group_fd;
static pid_t sitter;
static uint32_t cqm_type;	/* of the PMU */

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
	/* allocates memory, too */
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

static struct cmt_record records[MAX_RMIDS];
static struct cmt_box boxes[256];
static char cgroup_path[PATH_MAX];

/*
 * The pages of answers are there before a call.  A page fault of the kernel allocates, too:
 * without memory the call ends with EFAULT, and after it the pages are there, so that the
 * first allocation of the next call is the module's and would not fail any more.
 */
static void fault_in_answers(void)
{
	memset(records, 0, sizeof(records));
	memset(boxes, 0, sizeof(boxes));
	memset(cgroup_path, 0, sizeof(cgroup_path));
}

/* A call that succeeds has an answer. */
static int call_snapshot(void)
{
	struct cmt_rmids arg = {
		.size = sizeof(arg), .count = MAX_RMIDS, .records = (uintptr_t)records,
	};

	if (ioctl(dev.fd, CMT_IOC_GET_RMIDS, &arg))
		return -errno;
	if (!arg.as_of)
		return -EBADMSG;
	arg.count = MAX_RMIDS;
	arg.as_of = 0;
	if (ioctl(dev.fd, CMT_IOC_GET_PENDING, &arg))
		return -errno;
	return arg.as_of ? 0 : -EBADMSG;
}

static int call_read(void)
{
	int n = owner_read(&dev, 0, 0, records, MAX_RMIDS);

	return n < 0 ? n : 0;
}

static int call_register(void)
{
	int err = owner_register(&dev, CMT_OWNER_PROCESS, sitter, NULL);

	return err ? err : owner_unregister(&dev, CMT_OWNER_PROCESS, sitter);
}

static int call_uncore(void)
{
	struct cmt_uncore arg = {
		.size = sizeof(arg), .count = 256, .boxes = (uintptr_t)boxes,
	};

	return ioctl(dev.fd, CMT_IOC_GET_UNCORE, &arg) ? -errno : 0;
}

static int set_counters(uint32_t counters)
{
	struct cmt_counters arg = { .size = sizeof(arg), .counters = counters };

	return ioctl(dev.fd, CMT_IOC_SET_COUNTERS, &arg) ? -errno : 0;
}

static int call_counters(void)
{
	int err = set_counters(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_CHANNEL);

	return err ? err : set_counters(0);
}

/* An event of the PMU, of a process, a CPU, or a cgroup */
static int call_perf(pid_t pid, int cpu, unsigned long flags)
{
	struct perf_event_attr attr = {
		.type = cqm_type, .size = sizeof(attr), .config = 1,
	};
	uint64_t value[4];
	int fd, err = 0;

	fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
		     flags | PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (read(fd, value, sizeof(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int call_perf_task(void)
{
	return call_perf(sitter, -1, 0);
}

static int call_perf_cpu(void)
{
	return call_perf(-1, 0, 0);
}

static int call_perf_cgroup(void)
{
	return call_perf(group_fd, 0, PERF_FLAG_PID_CGROUP);
}

static int call_path(void)
{
	struct cmt_cgroup_path arg = {
		.size = sizeof(arg), .bytes = sizeof(cgroup_path), .cgroup_id = group,
		.path = (uintptr_t)cgroup_path,
	};

	cgroup_path[0] = '\0';
	if (!ioctl(dev.fd, CMT_IOC_PATH_OF_CGROUP, &arg))
		return cgroup_path[0] == '/' ? 0 : -EBADMSG;
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
	{ "read", call_read }, { "register", call_register },
	{ "uncore", call_uncore }, { "counters", call_counters },
	{ "event of a process", call_perf_task },
	{ "event of a CPU", call_perf_cpu },
	{ "event of a cgroup", call_perf_cgroup },
};

/*
 * The call fails, or succeeds if the allocation was an optimization.  The undo of a
 * partial call does not fail.
 */
static void starve_call(const struct call *call, int fail)
{
	unsigned int nth, left;
	int err;

	memset(&injected, 0, sizeof(injected));
	fault_in_answers();
	for (nth = 1; nth < MOST_IN_CALL; nth++) {
		inject_nth(fail, nth);
		err = call->call();
		left = inject_end(fail);
		detach(&dev, CMT_OWNER_PROCESS, sitter);
		detach(&dev, CMT_OWNER_CGROUP, group);
		detach(&dev, CMT_OWNER_CPU, 0);
		rmdir(CGROUPS "/other.service");
		if (left) {
			CHECK(!err, "%s: %s", call->name, strerror(-err));
			break;
		}
		inject_look(&injected, err);
		CHECK(!err || err == -ENOMEM || err == -EAGAIN || err == -ENOSPC,
		      "%s, allocation %u failing: %s", call->name, nth,
		      strerror(-err));
		check_pool(&dev);
	}
	CHECK(nth < MOST_IN_CALL, "%s: no end", call->name);
	inject_note(call->name, &injected);
	check_log();
}

static void open_for_famine(const char *params)
{
	int err;

	inject_begin();
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

	CHECK(famine_possible(), "this kernel cannot make allocations fail");
	open_for_famine("ring_records=256");
	cqm_type = pmu_type("cmt");
	CHECK(cqm_type, "no PMU cmt");
	fail = inject_open("thread-self");
	/* without a controller, perf does not accept cgroups */
	write_file(CGROUPS "/cgroup.subtree_control", "+pids");
	group = group_make("one.service");
	group_fd = open(CGROUPS "/one.service", O_RDONLY | O_CLOEXEC);
	CHECK(group_fd >= 0, "one.service: %m");
	sitter = park(0, NULL);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		starve_call(&calls[i], fail);
	inject_sum("calls");
	scope_set(&dev, CMT_SCOPE_MANUAL);
	reap(sitter, 9);
	close(group_fd);
	group_remove("one.service");
	check_pool(&dev);
	close_after_famine();
}
