// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#include "control.h"
#include "waits.h"

struct perfs perfs_of(const struct log *log, const struct cmt_record *owner, int cpu,
		      uint64_t from, uint64_t to)
{
	struct perfs sum = { };

	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_PERF || r->ts <= from || r->ts > to ||
		    r->rmid != owner->rmid || r->generation != owner->generation ||
		    (cpu >= 0 && r->cpu != cpu))
			continue;
		sum.records++;
		sum.without += !(r->flags & CMT_F_WAITED);
		sum.quotas += !!(r->flags & CMT_F_WAIT_QUOTA);
		sum.ran_ns += r->ran_ns;
		sum.waited_ns += r->perf.waited_ns;
		if (!sum.first_ns && r->perf.waited_ns)
			sum.first_ns = r->ts;
	}
	return sum;
}

void waits_ask(const struct dev *dev, uint32_t counters)
{
	struct cmt_counters arg = { .size = sizeof(arg), .counters = counters };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_COUNTERS, &arg),
	      "SET_COUNTERS %#x: %m", counters);
}

struct cmt_record waits_container(const struct dev *dev, unsigned int i)
{
	const struct cmt_record *owner =
		owner_find(dev, CMT_OWNER_CGROUP, group_make(container(i)));

	CHECK(owner, "container %u has no RMID", i);
	return *owner;
}

void groups_limit_cpu(void)
{
	CHECK(!write_file(CGROUPS "/cgroup.subtree_control", "+cpu"), "no cpu controller");
}

void group_set(unsigned int i, const char *file, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), CGROUPS "/%s/%s", container(i), file);
	CHECK(!write_file(path, value), "%s: %s", path, value);
}

uint64_t group_throttled_us(unsigned int i)
{
	char path[256], text[1024];

	snprintf(path, sizeof(path), CGROUPS "/%s/cpu.stat", container(i));
	return proc_value(read_file(path, text, sizeof(text)), "throttled_usec");
}

uint64_t task_waited(const char *path)
{
	unsigned long long first, second;
	char text[128];

	read_file(path, text, sizeof(text));
	return sscanf(text, "%llu %llu", &first, &second) == 2 ? second : 0;
}

uint64_t process_waited(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	uint64_t ns = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	CHECK(dir, "%s: %m", path);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/schedstat", pid,
			 entry->d_name);
		ns += entry->d_name[0] == '.' ? 0 : task_waited(path);
	}
	closedir(dir);
	return ns;
}

pid_t waits_fork(unsigned int i, void (*run)(void))
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	/* both: it does not run elsewhere, and may be stopped as soon as this returns */
	group_enter(container(i), pid ? pid : getpid());
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run();
	_exit(1);
}

void waits_spin(void)
{
	for (;;)
		;
}

static void *spin_thread(void *unused)
{
	(void)unused;
	waits_spin();
	return NULL;
}

void waits_spin_twice(void)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, spin_thread, NULL), "pthread_create");
	waits_spin();
}
