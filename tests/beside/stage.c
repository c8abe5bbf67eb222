// SPDX-License-Identifier: GPL-2.0-or-later
/* The module, its readers, and the containers that it finds. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lab/suite/rdtgroup.h"
#include "../vm/suite/control.h"
#include "beside.h"

#define READERS 3

static uint64_t containers[MAX_CONTAINERS];	/* ids of their cgroups */
static unsigned int nr_containers;
static pid_t readers[READERS];
static unsigned int nr_readers;

static const char *const reader_argv[READERS][8] = {
	{ "cmtstat", "--plain", "--no-marks" },
	{ "cmtstat", "record", "-f", "-o", "/run/recording" },
	{ "cmt-exporter", "--counters", "--listen", "127.0.0.1:9100" },
};

/* A file in which there is something when the reader has read */
static const char *const reader_output[READERS] = {
	"/run/reader0", "/run/recording", "/run/reader2",
};

/* Where pqos has a file that it locks */
static const char *const lock_dirs[] = { "/run/lock", "/var", "/var/lock" };

void stage(void)
{
	run_on(0, 0);
	for (unsigned int i = 0; i < sizeof(lock_dirs) / sizeof(lock_dirs[0]); i++)
		mkdir(lock_dirs[i], 0755);
	/* perf finds a cgroup only where there is some controller */
	write_file(CGROUPS "/cgroup.subtree_control", "+pids");
}

void kernel_module_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0, "%s: %m", path);
	CHECK(!syscall(SYS_finit_module, fd, "", 0) || errno == EEXIST, "%s: %m", path);
	close(fd);
}

static bool is_pending(const struct dev *dev, uint64_t id)
{
	static struct cmt_record records[MAX_RMIDS];
	uint32_t n = waiting_get(dev, records, MAX_RMIDS);

	for (uint32_t i = 0; i < n; i++)
		if (records[i].owner.cgroup_id == id)
			return true;
	return false;
}

static bool has_owner(const struct dev *dev, uint64_t id)
{
	return owner_find(dev, CMT_OWNER_CGROUP, id) || is_pending(dev, id);
}

void cmt_load(void)
{
	int err = module_load_exact("");
	struct dev dev;

	CHECK(!err, "the module does not load: %s", strerror(-err));
	dev_open(&dev, O_RDONLY);
	for (unsigned int i = 0; i < nr_containers; i++)
		WAIT_FOR(has_owner(&dev, containers[i]), 20000, "container %u has no owner", i);
	dev_close(&dev);
}

static bool follows_mount(void)
{
	char mounts[4096];
	bool follows;
	struct dev dev;

	if (!strstr(read_file("/proc/mounts", mounts, sizeof(mounts)), " " RESCTRL " "))
		return true;
	dev_open(&dev, O_RDONLY);
	follows = dev.info.resctrl_mounted;
	dev_close(&dev);
	return follows;
}

void cmt_follow(void)
{
	WAIT_FOR(!module_present() || follows_mount(), 20000, "cmt does not see the mount");
}

void cmt_unload(void)
{
	int err;

	WAIT_FOR((err = module_unload()) != -EAGAIN && err != -EBUSY, 20000,
		 "the module is in use");
	CHECK(!err, "the module does not unload: %s", strerror(-err));
}

pid_t program_start(const char *output, const char *const *argv)
{
	int fd = open(output, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
	pid_t pid = fork();

	CHECK(fd >= 0 && pid >= 0, "%s: %m", argv[0]);
	if (!pid) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(fd);
	return pid;
}

int program_end(pid_t pid, int signal)
{
	int status;

	if (signal)
		kill(pid, signal);
	CHECK(waitpid(pid, &status, 0) == pid, "waitpid: %m");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

size_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (size_t)st.st_size;
}

/* Ticks run exactly while there is a reader. */
void readers_start(bool all)
{
	char output[32];

	for (nr_readers = 0; nr_readers < (all ? READERS : 1); nr_readers++) {
		snprintf(output, sizeof(output), "/run/reader%u", nr_readers);
		readers[nr_readers] = program_start(output, reader_argv[nr_readers]);
	}
	for (unsigned int i = 0; i < nr_readers; i++)
		WAIT_FOR(file_size(reader_output[i]), 30000, "%s reads nothing",
			 reader_argv[i][0]);
}

void readers_stop(void)
{
	while (nr_readers)
		program_end(readers[--nr_readers], SIGTERM);
}

unsigned int container_make(void)
{
	CHECK(nr_containers < MAX_CONTAINERS, "too many containers");
	containers[nr_containers] = group_make(container(nr_containers));
	return nr_containers++;
}

void stage_clear(void)
{
	walkers_end();
	while (nr_containers)
		group_remove(container(--nr_containers));
}

static void passes_exec(unsigned int nr, unsigned int kib, unsigned int passes,
			const char *group)
{
	char size[16], times[16];
	const char *argv[] = { "walk", "passes", size, "1024", times, NULL };

	snprintf(size, sizeof(size), "%u", kib);
	snprintf(times, sizeof(times), "%u", passes);
	run_on(0, 1);
	group_enter(container(nr), getpid());
	if (group)
		resctrl_add(group, getpid());
	execvp(argv[0], (char *const *)argv);
	FAIL("walk: %m");
}

void passes_run(unsigned int kib, unsigned int passes, const char *group)
{
	unsigned int nr = container_make();
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (!pid)
		passes_exec(nr, kib, passes, group);
	expect_exit_0(pid, "walk");
	group_remove(container(nr));
	nr_containers--;
}

double group_value(const char *group, const char *event)
{
	char text[32], *end;
	double value;

	read_file(resctrl_event(group, event), text, sizeof(text));
	value = strtod(text, &end);
	return end == text ? (double)NAN : value;
}

static double kib_of(void *group)
{
	return group_value(group, "llc_occupancy") / 1024;
}

void group_kib(struct answer *answer, const char *group)
{
	settle(answer, kib_of, (void *)group, WALK_NEAR_KIB / 2.0, NULL);
}
