// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

#define MODULE_PATH "/lib/cmt.ko"
#define MODULE_NEXT_PATH "/lib/cmt-next.ko"

void note(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("# %s\n", text);
	fflush(stdout);
}

void fail_at(const char *file, int line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("# %s:%d: %s\n", file, line, text);
	fflush(stdout);
	_exit(1);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

struct patience patience_of(unsigned int ms)
{
	return (struct patience){ slowness * ms * 1000000ULL, now_ns() };
}

/*
 * A process that polls every few milliseconds, and now polls after seconds, was not
 * scheduled.
 */
bool patience_left(struct patience *patience)
{
	const uint64_t most = 200 * 1000000ULL;
	uint64_t now = now_ns(), spent = now - patience->asked_ns;

	patience->asked_ns = now;
	if (spent > most)
		spent = most;
	if (spent > patience->left_ns)
		return false;
	patience->left_ns -= spent;
	return true;
}

int module_load(const char *params)
{
	bool model = wants_model && !strstr(params, "backend=");
	char named[512];

	snprintf(named, sizeof(named), "%s%s%s", model ? EMULATED : "",
		 strstr(params, "scope=") ? "" : "scope=process ", params);
	return module_load_exact(named);
}

int module_load_exact(const char *params)
{
	int fd = open(module_is_next ? MODULE_NEXT_PATH : MODULE_PATH,
		      O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "cmt", O_NONBLOCK) ? -errno : 0;
}

bool module_present(void)
{
	char text[4096];

	read_file("/proc/modules", text, sizeof(text));
	return !strncmp(text, "cmt ", 4) || strstr(text, "\ncmt ");
}

char *read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n;

	while (fd >= 0 && done < size - 1) {
		n = read(fd, text + done, size - 1 - done);
		if (n <= 0)
			break;
		done += n;
	}
	text[done] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

uint32_t pmu_type(const char *pmu)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	return strtoul(read_file(path, text, sizeof(text)), NULL, 10);
}

uint64_t proc_value(const char *text, const char *name)
{
	char key[64];
	const char *p;

	snprintf(key, sizeof(key), "%s ", name);
	p = strncmp(text, key, strlen(key)) ? strstr(text, key) : text;
	CHECK(p && (p == text || p[-1] == '\n'), "no %s in the text", name);
	return strtoull(p + strlen(key), NULL, 10);
}

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

void cpu_online(int cpu, bool online)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	err = write_file(path, online ? "1" : "0");
	CHECK(!err, "%s: %s", path, strerror(-err));
}

static void *park_thread(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

pid_t fork_with_pipe(int ends[2])
{
	pid_t pid;

	CHECK(!pipe(ends), "pipe: %m");
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	return pid;
}

void run_on(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(pid, sizeof(set), &set), "affinity: %m");
}

pid_t fork_on(int cpu)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_on(0, cpu);
	}
	return pid;
}

pid_t walk_memory(size_t bytes)
{
	pid_t pid = fork();
	volatile char *p;
	size_t i;

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		_exit(1);
	for (;;)
		for (i = 0; i < bytes; i += 64)
			p[i]++;
}

/* Returns when the child and all its threads exist. */
pid_t park(unsigned int threads, const char *comm)
{
	int ready[2];
	pthread_t t;
	char byte;
	pid_t pid;

	pid = fork_with_pipe(ready);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (comm)
			prctl(PR_SET_NAME, comm);
		while (threads--)
			CHECK(!pthread_create(&t, NULL, park_thread, NULL),
			      "pthread_create");
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1, "a child did not start");
	close(ready[0]);
	return pid;
}

pid_t park_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};
	long got = syscall(SYS_clone3, &args, sizeof(args));

	CHECK(got >= 0, "clone3: %m");
	if (got)
		return got;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

void reap(pid_t pid, int signal)
{
	if (signal)
		kill(pid, signal);
	CHECK(waitpid(pid, NULL, 0) == pid, "waitpid %d: %m", pid);
}

void expect_exit_0(pid_t pid, const char *who)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid, "waitpid %s: %m", who);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status),
	      "%s ended with status %#x", who, status);
}

void capabilities_keep(uint64_t set)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)set, (uint32_t)set, 0 },
		{ set >> 32, set >> 32, 0 },
	};

	CHECK(!syscall(SYS_capset, &header, data), "capset: %m");
}

/* The fields after comm in /proc/PID/stat; comm may have any byte. */
static char *stat_fields(pid_t pid, char *text, size_t size)
{
	char path[64], *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	read_file(path, text, size);
	p = strrchr(text, ')');
	return p && p[1] ? p + 2 : NULL;
}

bool process_is(pid_t pid, char state)
{
	char text[1024], *p = stat_fields(pid, text, sizeof(text));

	return p && *p == state;
}

bool process_is_kernel(pid_t pid)
{
	char text[1024], *p = stat_fields(pid, text, sizeof(text));
	unsigned int flags = 0;

	/* state ppid pgrp session tty tpgid flags; PF_KTHREAD */
	return p && sscanf(p, "%*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
		flags & 0x00200000;
}

#define INNER_LOG "/tmp/inner.log"

/* The output of the inner suite, except passed tests. */
static void show_inner(void)
{
	FILE *log = fopen(INNER_LOG, "r");
	char line[512];

	CHECK(log, INNER_LOG ": %m");
	while (fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "ok ", 3))
			note("  %s", line);
	}
	fclose(log);
}

void run_suite(const char *program, const char *option, const char *prefix)
{
	char slow[16];
	const char *args[9] = { program, "--run", prefix, "--slow", slow };
	unsigned int n = 5;
	pid_t pid = fork();
	int status;

	/* the options of this suite that describe the guest */
	snprintf(slow, sizeof(slow), "%u", slowness);
	if (has_hw)
		args[n++] = "--hw";
	if (wants_model)
		args[n++] = "--emulated";
	args[n] = option;
	if (pid == 0) {
		if (!freopen(INNER_LOG, "w", stdout))
			_exit(1);
		execv(program, (char *const *)args);
		_exit(127);
	}
	CHECK(waitpid(pid, &status, 0) == pid, "waitpid: %m");
	if (!status)
		return;
	show_inner();
	FAIL("%s ended with status %#x", program, status);
}
