// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control.h"

int scope_try(const struct dev *dev, uint32_t scope, const char *patterns,
	      uint32_t *bad_at)
{
	struct cmt_scope arg = {
		.size = sizeof(arg),
		.scope = scope,
		.patterns_bytes = patterns ? strlen(patterns) : 0,
		.patterns = (uintptr_t)patterns,
	};
	int err = ioctl(dev->fd, CMT_IOC_SET_SCOPE, &arg) ? -errno : 0;

	if (bad_at)
		*bad_at = arg.bad_at;
	return err;
}

void scope_set(const struct dev *dev, uint32_t scope)
{
	int err = scope_try(dev, scope, NULL, NULL);

	CHECK(!err, "SET_SCOPE %u: %s", scope, strerror(-err));
}

int owner_order(const struct dev *dev, unsigned long number, uint32_t kind,
		uint64_t id, uint32_t options, struct cmt_attach *out)
{
	struct cmt_attach arg = {
		.size = sizeof(arg), .kind = kind, .options = options, .id = id,
	};
	int err = ioctl(dev->fd, number, &arg) ? -errno : 0;

	if (out)
		*out = arg;
	return err;
}

int attach(const struct dev *dev, uint32_t kind, uint64_t id, uint32_t options,
	   struct cmt_attach *out)
{
	return owner_order(dev, CMT_IOC_ATTACH, kind, id, options, out);
}

int detach(const struct dev *dev, uint32_t kind, uint64_t id)
{
	return owner_order(dev, CMT_IOC_DETACH, kind, id, 0, NULL);
}

int owner_register(const struct dev *dev, uint32_t kind, uint64_t id,
		   struct cmt_attach *out)
{
	return owner_order(dev, CMT_IOC_REGISTER, kind, id, 0, out);
}

int owner_unregister(const struct dev *dev, uint32_t kind, uint64_t id)
{
	return owner_order(dev, CMT_IOC_UNREGISTER, kind, id, 0, NULL);
}

int owner_read(const struct dev *dev, uint32_t kind, uint64_t id,
	       struct cmt_record *records, uint32_t room)
{
	struct cmt_read arg = {
		.size = sizeof(arg), .kind = kind, .count = room, .id = id,
		.records = (uintptr_t)records,
	};

	return ioctl(dev->fd, CMT_IOC_READ, &arg) ? -errno : (int)arg.count;
}

uint32_t waiting_get(const struct dev *dev, struct cmt_record *records,
		     uint32_t room)
{
	struct cmt_rmids arg = {
		.size = sizeof(arg), .count = room,
		.records = (uintptr_t)records,
	};
	uint32_t i;

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_PENDING, &arg), "GET_WAITING: %m");
	for (i = 0; i < arg.count; i++)
		CHECK(records[i].type == CMT_REC_ALLOC_FAIL &&
		      records[i].ts <= arg.as_of, "record %u: type %u", i,
		      records[i].type);
	return arg.count;
}

static const char *group_path(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), CGROUPS "/%s", name);
	return path;
}

uint64_t group_make(const char *name)
{
	const char *path = group_path(name);
	struct stat st;

	CHECK(!mkdir(path, 0755), "mkdir %s: %m", path);
	CHECK(!stat(path, &st), "stat %s: %m", path);
	return st.st_ino;
}

/* The processes of the cgroup, with their state from the scheduler. */
static void group_note(const char *name)
{
	char file[300], pids[256], path[64], stat[256], *pid, *rest;

	snprintf(file, sizeof(file), "%s/cgroup.procs", group_path(name));
	read_file(file, pids, sizeof(pids));
	for (pid = strtok_r(pids, "\n", &rest); pid;
	     pid = strtok_r(NULL, "\n", &rest)) {
		snprintf(path, sizeof(path), "/proc/%s/stat", pid);
		note("%s: %s", name, read_file(path, stat, sizeof(stat)));
	}
}

static bool group_gone(const char *name)
{
	return !rmdir(group_path(name)) || errno != EBUSY;
}

/* A reaped process may still be leaving the cgroup. */
void group_remove(const char *name)
{
	struct patience patience = patience_of(5000);

	while (!group_gone(name)) {
		if (!patience_left(&patience)) {
			group_note(name);
			FAIL("%s stays", group_path(name));
		}
		sleep_ms(1);
	}
}

void group_enter(const char *name, pid_t pid)
{
	char file[300], text[16];
	int err;

	snprintf(file, sizeof(file), "%s/cgroup.procs", group_path(name));
	snprintf(text, sizeof(text), "%d", pid);
	err = write_file(file, text);
	CHECK(!err, "%s: %s", file, strerror(-err));
}

void group_throttle(const char *name)
{
	char file[300];
	int err = write_file(CGROUPS "/cgroup.subtree_control", "+cpu");

	CHECK(!err, "the cpu controller: %s", strerror(-err));
	snprintf(file, sizeof(file), "%s/cpu.max", group_path(name));
	err = write_file(file, "1000 100000");
	CHECK(!err, "%s: %s", file, strerror(-err));
}

uint64_t ran_ns(pid_t pid)
{
	struct timespec ran;
	clockid_t clock;

	CHECK(!clock_getcpuclockid(pid, &clock) && !clock_gettime(clock, &ran),
	      "no time of process %d", pid);
	return ran.tv_sec * 1000000000ULL + ran.tv_nsec;
}

const char *container(unsigned int i)
{
	static char names[4][96];
	static unsigned int n;
	char *name = names[n++ % 4];

	snprintf(name, sizeof(names[0]), "docker-%064x.scope", i);
	return name;
}

const struct cmt_record *owner_find(const struct dev *dev, uint32_t kind,
				    uint64_t id)
{
	static struct snapshot snapshot;
	const struct cmt_record *r;

	dev_snapshot(dev, &snapshot);
	for (r = snapshot.records; r < snapshot.records + snapshot.count; r++) {
		uint32_t what = owner_kind(r);

		if (kind == CMT_OWNER_PROCESS && !what && r->tgid == id)
			return r;
		if (kind == CMT_OWNER_CGROUP && what == CMT_F_OWNER_CGROUP &&
		    r->owner.cgroup_id == id)
			return r;
		if (kind == CMT_OWNER_CPU && what == CMT_F_OWNER_CPU &&
		    r->owner_cpu == id)
			return r;
	}
	return NULL;
}

static volatile unsigned int *laps;	/* shared with all children */

static void __attribute__((constructor)) share_laps(void)
{
	laps = mmap(NULL, sizeof(*laps), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void wait_spin(void)
{
	unsigned int from = *laps;

	WAIT_FOR(*laps - from > 50, 5000, "no thread spins");
}

pid_t spin_on(int cpu)
{
	static char bytes[1 << 20];
	cpu_set_t set;
	size_t i;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (;; ++*laps)
		for (i = 0; i < sizeof(bytes); i += 64)
			((volatile char *)bytes)[i]++;
}

bool saw_tick(struct dev *dev, uint32_t cpu, uint32_t rmid)
{
	struct log log = { };
	bool saw = false;
	size_t i;

	dev_drain(dev, &log);
	for (i = 0; i < log.count; i++)
		saw |= log.records[i].type == CMT_REC_TICK &&
		       log.records[i].cpu == cpu && log.records[i].rmid == rmid;
	log_free(&log);
	return saw;
}

void wait_tick(struct dev *dev, uint32_t cpu, uint32_t rmid)
{
	saw_tick(dev, cpu, rmid);	/* what was before */
	WAIT_FOR(saw_tick(dev, cpu, rmid), 5000,
		 "CPU %u does not run under RMID %u", cpu, rmid);
}

void check_pool(const struct dev *dev)
{
	struct cmt_stats s = dev_stats(dev);

	CHECK(s.allocs - s.frees == s.rmids_active,
	      "%llu allocations, %llu frees, %u active",
	      (unsigned long long)s.allocs, (unsigned long long)s.frees,
	      s.rmids_active);
	CHECK(s.rmids_active + s.rmids_limbo + s.rmids_free + s.rmids_foreign ==
	      dev->info.rmids_usable, "%u active, %u in limbo, %u free of %u",
	      s.rmids_active, s.rmids_limbo, s.rmids_free,
	      dev->info.rmids_usable);
}

pid_t load_start(unsigned int seed)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	while (pid == 0) {
		seed = seed * 1103515245 + 12345;
		if (seed >> 16 & 4)
			group_enter("", getpid());
		else
			group_enter(container((seed >> 16) % LOAD_GROUPS), getpid());
		if (fork() == 0) {
			if (seed >> 16 & 8)
				execl(suite_path, suite_path, "--true", NULL);
			_exit(0);
		}
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
	return pid;
}

/* Counts the owners that are processes, cgroups and CPUs. */
static void count_kinds(const struct dev *dev, const uint64_t *ids,
			unsigned int by_kind[3])
{
	static struct snapshot snapshot;
	uint32_t i, k;

	dev_snapshot(dev, &snapshot);
	memset(by_kind, 0, 3 * sizeof(by_kind[0]));
	for (i = 0; i < snapshot.count; i++) {
		const struct cmt_record *r = &snapshot.records[i];

		by_kind[0] += !owner_kind(r);
		by_kind[2] += owner_kind(r) == CMT_F_OWNER_CPU;
		if (owner_kind(r) != CMT_F_OWNER_CGROUP)
			continue;
		by_kind[1]++;
		for (k = 0; k < LOAD_GROUPS; k++)
			if (r->owner.cgroup_id == ids[k])
				break;
		CHECK(k < LOAD_GROUPS, "a cgroup that is no container");
	}
}

void check_scope(const struct dev *dev, uint32_t scope, const uint64_t *ids)
{
	unsigned int groups = scope == CMT_SCOPE_CONTAINER ? LOAD_GROUPS : 0;
	unsigned int cpus = scope == CMT_SCOPE_CPU ? 2 : 0;
	unsigned int by_kind[3];

	count_kinds(dev, ids, by_kind);
	CHECK(!by_kind[0] == (scope != CMT_SCOPE_PROCESS) &&
	      by_kind[1] <= groups && by_kind[2] <= cpus,
	      "scope %u: %u processes, %u cgroups, %u CPUs", scope, by_kind[0],
	      by_kind[1], by_kind[2]);
	/* all RMIDs may still be in limbo, after many processes have exited */
	WAIT_FOR((count_kinds(dev, ids, by_kind),
		  by_kind[1] == groups && by_kind[2] == cpus), 5000,
		 "scope %u: %u cgroups, %u CPUs", scope, by_kind[1],
		 by_kind[2]);
}
