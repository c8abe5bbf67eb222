// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attempts of a hostile reader: to write to a ring around its protection, to use
 * privileged ioctls as root of a user namespace, and to find bytes in answers that the
 * module did not write.  Also the ids in a PID namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"
#include "dev.h"
#include "suite.h"

#define RW (PROT_READ | PROT_WRITE)
#define PAGE 4096UL

static const char magic[] = "CTMR";

/* The bytes that must survive every attempt. */
static bool is_intact(const char *map)
{
	return !memcmp(map, magic, 4);
}

/* What the owner of a mapping can do to it without a store. */
static void try_own_memory(char *map, const char *what)
{
	struct iovec from = { "evil", 4 }, to = { map, 4 };
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0, "/proc/self/mem: %m");
	CHECK(pwrite64(fd, "evil", 4, (off64_t)(uintptr_t)map) < 0,
	      "%s: /proc/self/mem wrote", what);
	close(fd);
	CHECK(process_vm_writev(getpid(), &from, 1, &to, 1, 0) < 0,
	      "%s: process_vm_writev() wrote", what);
	fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && read(fd, map, 4) < 0 && errno == EFAULT,
	      "%s: read(2) wrote: %m", what);
	close(fd);
	CHECK(is_intact(map), "%s: the ring has changed", what);
}

/* A debugger can write to text that its tracee cannot write to, but not to a ring. */
static void try_ptrace(char *map, const char *what)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status),
	      "no tracee: %#x", status);
	errno = 0;
	CHECK(ptrace(PTRACE_PEEKDATA, pid, map, NULL) != -1 || !errno,
	      "%s: a tracer cannot read the ring, so the test shows nothing", what);
	CHECK(ptrace(PTRACE_POKEDATA, pid, map, 0x6c697665L) == -1,
	      "%s: ptrace(2) wrote", what);
	CHECK(ptrace(PTRACE_POKETEXT, pid, map, 0x6c697665L) == -1,
	      "%s: ptrace(2) wrote text", what);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(is_intact(map), "%s: the ring has changed", what);
}

/* The mapping is moved and inherited */
static void try_protect(char *map, size_t bytes, const char *what)
{
	static const int rights[] = { PROT_WRITE, RW, RW | PROT_EXEC };
	pid_t pid;
	size_t i;

	for (i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		CHECK(mprotect(map, PAGE, rights[i]) && errno == EACCES,
		      "%s: mprotect(%#x): %m", what, rights[i]);
		CHECK(mprotect(map, bytes, rights[i]) && errno == EACCES,
		      "%s: mprotect(%#x) of all: %m", what, rights[i]);
	}
	CHECK(!mprotect(map, bytes, PROT_NONE) &&
	      mprotect(map, bytes, RW) && errno == EACCES &&
	      !mprotect(map, bytes, PROT_READ), "%s: by way of PROT_NONE: %m",
	      what);
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid)
		_exit(!(mprotect(map, bytes, RW) && errno == EACCES));
	expect_exit_0(pid, "who inherits the ring");
}

static char *try_move(char *map, size_t bytes, const char *what)
{
	char *moved, *at;

	at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(at != MAP_FAILED, "mmap: %m");
	moved = mremap(map, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
	if (moved == MAP_FAILED)
		return map;
	try_protect(moved, bytes, what);
	CHECK(mremap(moved, bytes, 2 * bytes, MREMAP_MAYMOVE) == MAP_FAILED,
	      "%s: the mapping grew", what);
	return moved;
}

static void try_all(const struct dev *dev, int flags, const char *what)
{
	size_t bytes = dev->info.ring_bytes;
	char *map = mmap64(NULL, bytes, PROT_READ, flags, dev->fd, 0);

	CHECK(map != MAP_FAILED, "%s: mmap: %m", what);
	CHECK(is_intact(map), "%s: no ring", what);
	try_own_memory(map, what);
	try_ptrace(map, what);
	try_protect(map, bytes, what);
	map = try_move(map, bytes, what);
	try_own_memory(map, what);
	munmap(map, bytes);
}

static void secure_read_only(void)
{
	struct dev ro, rw;

	dev_open(&ro, O_RDONLY);
	dev_open(&rw, O_RDWR);
	try_all(&ro, MAP_SHARED, "read-only, shared");
	try_all(&rw, MAP_SHARED, "read-write, shared");
	try_all(&ro, MAP_PRIVATE, "read-only, private");
	try_all(&rw, MAP_PRIVATE, "read-write, private");
	dev_close(&ro);
	dev_close(&rw);
}

static int set_resctrl(const struct dev *dev)
{
	struct cmt_resctrl arg = {
		.size = sizeof(arg), .mode = CMT_RESCTRL_TAKE,
	};

	return ioctl(dev->fd, CMT_IOC_SET_RESCTRL, &arg) ? -errno : 0;
}

static int set_interval(const struct dev *dev)
{
	struct cmt_interval arg = {
		.size = sizeof(arg), .interval_ns = 10000000,
	};

	return ioctl(dev->fd, CMT_IOC_SET_INTERVAL, &arg) ? -errno : 0;
}

/* Each ioctl that needs a capability */
static void expect_refusals(const struct dev *dev, const char *who)
{
	struct cmt_attach out;

	CHECK(set_interval(dev) == -EPERM, "%s: the interval", who);
	CHECK(set_resctrl(dev) == -EPERM, "%s: the resctrl mode", who);
	CHECK(scope_try(dev, CMT_SCOPE_CPU, NULL, NULL) == -EPERM,
	      "%s: the scope", who);
	CHECK(attach(dev, CMT_OWNER_CPU, 0, 0, &out) == -EPERM,
	      "%s: attaching", who);
	CHECK(detach(dev, CMT_OWNER_CPU, 0) == -EPERM, "%s: detaching", who);
	CHECK(owner_order(dev, CMT_IOC_REGISTER, CMT_OWNER_CPU, 0, 0, &out) ==
	      -EPERM, "%s: registering", who);
}

/*
 * Root of a user namespace has all capabilities, but over no resource of the machine.
 */
static void be_namespace_root(const struct dev *before)
{
	struct dev inside;

	if (unshare(CLONE_NEWUSER)) {
		CHECK(errno == EINVAL, "unshare: %m");
		note("the kernel has no user namespaces");
		_exit(0);
	}
	expect_refusals(before, "opened before the namespace");
	/* the ids are not mapped: the device belongs to the overflow user */
	inside.fd = open(DEV_PATH, O_RDWR | O_CLOEXEC);
	if (inside.fd >= 0)
		expect_refusals(&inside, "opened in the namespace");
	_exit(0);
}

static void be_nobody(const struct dev *before)
{
	CHECK(!setgid(65534) && !setuid(65534), "setuid: %m");
	expect_refusals(before, "nobody, with a descriptor of root");
	CHECK(open(DEV_PATH, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES,
	      "nobody opened the device");
	_exit(0);
}

#define CONTAINER_CAPABILITIES	0xa80425fbULL	/* the default of container runtimes */

/* Root of a container has the id of root, and the files in its /proc. */
static void be_container_root(void)
{
	static const char *const files[] = { "/proc/cmt/rmids", "/proc/cmt/stats" };
	char byte;
	int fd;

	capabilities_keep(CONTAINER_CAPABILITIES);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fd = open(files[i], O_RDONLY | O_CLOEXEC);
		CHECK(fd < 0 || (read(fd, &byte, 1) < 0 && errno == EPERM),
		      "root of a container read %s", files[i]);
	}
	_exit(0);
}

static void secure_privileges(void)
{
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = fork();
	if (!pid)
		be_namespace_root(&dev);
	expect_exit_0(pid, "root of a user namespace");
	pid = fork();
	if (!pid)
		be_nobody(&dev);
	expect_exit_0(pid, "nobody");
	pid = fork();
	if (!pid)
		be_container_root();
	expect_exit_0(pid, "root of a container");
	CHECK(!set_interval(&dev), "root may: %m");
	dev_close(&dev);
}

/* Leaves @byte where the next system call has its stack. */
static void poison_kernel_stack(int byte)
{
	struct pollfd fds[30];

	memset(fds, byte, sizeof(fds));
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		fds[i].fd = -1;
	poll(fds, sizeof(fds) / sizeof(fds[0]), 0);
}

#define ROOM 4096

/* An answer, from a kernel stack filled with @byte; of patterns, only their length. */
static void answer(const struct dev *dev, unsigned long command, uint32_t size,
		   int byte, unsigned char bytes[ROOM])
{
	memset(bytes, 0, ROOM);
	memcpy(bytes, &size, sizeof(size));
	poison_kernel_stack(byte);
	CHECK(!ioctl(dev->fd, command, bytes) || errno == ENOSPC,
	      "ioctl %#lx: %m", command);
}

static void secure_answers(void)
{
	static const struct {
		const char *name;
		unsigned long command;
		uint32_t size;
	} calls[] = {
		{ "GET_INFO", CMT_IOC_GET_INFO, sizeof(struct cmt_info) },
		{ "GET_PATTERNS", CMT_IOC_GET_PATTERNS,
		  sizeof(struct cmt_patterns) },
		{ "GET_UNCORE", CMT_IOC_GET_UNCORE, sizeof(struct cmt_uncore) },
	};
	static unsigned char a[ROOM], b[ROOM];
	struct dev dev;
	size_t i, at;

	dev_open(&dev, O_RDWR);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		answer(&dev, calls[i].command, calls[i].size, 0x5a, a);
		answer(&dev, calls[i].command, calls[i].size, 0xa5, b);
		for (at = 0; at < ROOM; at++)
			CHECK(a[at] == b[at], "%s: byte %zu is %#x, then %#x",
			      calls[i].name, at, a[at], b[at]);
	}
	dev_close(&dev);
}

static bool is_zero(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	while (len && !*at) {
		at++;
		len--;
	}
	return !len;
}

/* Unused bytes of a record are 0. */
static void check_unused(const struct cmt_record *r)
{
	const size_t comm = strnlen(r->owner.comm, CMT_COMM_LEN);

	switch (r->type) {
	case CMT_REC_STATE:
		CHECK(is_zero(&r->state + 1, sizeof(r->payload) -
			      sizeof(r->state)), "STATE: bytes behind");
		CHECK(!r->reserved, "STATE: reserved");
		break;
	case CMT_REC_CPU_ONLINE:
	case CMT_REC_CPU_OFFLINE:
		CHECK(!r->reserved && is_zero(r->payload, sizeof(r->payload)),
		      "record of type %u: bytes that nobody wrote", r->type);
		break;
	case CMT_REC_SAMPLE:
		CHECK(!r->reserved, "SAMPLE: reserved");
		break;
	default:
		if (is_lifecycle(r))
			CHECK(is_zero(r->owner.comm + comm, CMT_COMM_LEN - comm),
			      "record of type %u: bytes behind the name", r->type);
	}
}

/* Names that are shorter than a previous name, and records of every kind */
static void secure_records(void)
{
	struct log log = { 0 };
	struct dev dev;
	size_t i;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_OLDEST);
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		prctl(PR_SET_NAME, "fifteen-letters");
		prctl(PR_SET_NAME, "ab");
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	expect_exit_0(pid, "who has names");
	CHECK(!set_interval(&dev), "the interval: %m");
	cpu_online(1, false);
	cpu_online(1, true);
	WAIT_FOR((dev_drain(&dev, &log), log_count(&log, CMT_REC_CPU_ONLINE) &&
		  log_count(&log, CMT_REC_STATE) && log_count(&log, CMT_REC_FREE)),
		 10000, "not all kinds of records are there");
	for (i = 0; i < log.count; i++)
		check_unused(&log.records[i]);
	log_free(&log);
	dev_close(&dev);
}

/* Ids in ioctls are in the caller's namespace, ids in records are global. */
static void secure_pid_namespace(void)
{
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	struct dev dev;
	int gate[2];
	pid_t pid;
	char byte;

	CHECK(snapshot && !pipe(gate), "%m");
	dev_open(&dev, O_RDWR);
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	CHECK(pid >= 0, "a PID namespace: %m");
	if (!pid) {
		int ret = attach(&dev, CMT_OWNER_PROCESS, 1, 0, NULL);

		if (getpid() != 1 || write(gate[1], ret ? "n" : "y", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	CHECK(read(gate[0], &byte, 1) == 1 && byte == 'y',
	      "process 1 of the namespace cannot be attached from there");
	dev_snapshot(&dev, snapshot);
	CHECK(snapshot_find(snapshot, (uint32_t)pid), "no owner is process %d",
	      pid);
	CHECK(!snapshot_find(snapshot, 1), "init of the machine was attached");
	reap(pid, SIGKILL);
	free(snapshot);
	dev_close(&dev);
}

const struct test secure_tests[] = {
	{ "secure_read_only", secure_read_only, "ring_records=1024", 0 },
	{ "secure_privileges", secure_privileges, "ring_records=1024", 0 },
	{ "secure_answers", secure_answers, "ring_records=1024", 0 },
	{ "secure_records", secure_records, "ring_records=16384", 40 },
	{ "secure_pid_namespace", secure_pid_namespace, "scope=manual", 0 },
	{ }
};
