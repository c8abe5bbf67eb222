// SPDX-License-Identifier: GPL-2.0-or-later
/* Invariants after the actors have ended, before and after the unload */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lab/lab.h"
#include "storm.h"

/* The pool of a device after the storm, in one line */
static void note_pool(const char *when, const struct cmt_stats *s)
{
	note("%s: %u active, %u limbo, %u free, %u foreign, %u pending", when,
	     s->rmids_active, s->rmids_limbo, s->rmids_free, s->rmids_foreign,
	     s->pending);
}

static bool pool_is_whole(const struct dev *dev)
{
	struct cmt_stats s = dev_stats(dev);

	return s.rmids_active + s.rmids_limbo + s.rmids_free +
		s.rmids_foreign == dev->info.rmids_usable;
}

static void check_whole(const struct dev *dev, const char *when)
{
	struct patience patience = patience_of(10000);

	while (!pool_is_whole(dev)) {
		struct cmt_stats s = dev_stats(dev);

		if (!patience_left(&patience)) {
			note_pool(when, &s);
			FAIL("%s: the pool has not all of %u RMIDs", when,
			     dev->info.rmids_usable);
		}
		sleep_ms(5);
	}
}

/* An owner is alive; a process that is ending has a moment. */
static bool owner_lives(const struct cmt_record *r)
{
	if (r->flags & (OWNER_KINDS | CMT_F_OWNER_RESCTRL))
		return true;
	return !kill(r->tgid, 0);
}

static bool owners_live(const struct dev *dev)
{
	static struct snapshot snapshot;
	uint32_t i;

	dev_snapshot(dev, &snapshot);
	for (i = 0; i < snapshot.count; i++)
		if (!owner_lives(&snapshot.records[i]))
			return false;
	return true;
}

/* Is each process an owner or pending? */
static bool all_processes_counted(const struct dev *dev)
{
	static struct cmt_record pending[16384 + MAX_RMIDS];
	static struct snapshot snapshot;
	uint32_t waiting, i;
	struct dirent *entry;
	bool all = true;
	DIR *proc;

	dev_snapshot(dev, &snapshot);
	waiting = waiting_get(dev, pending, 16384 + MAX_RMIDS);
	proc = opendir("/proc");
	CHECK(proc, "/proc: %m");
	while ((entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || process_is(pid, 'Z') || process_is_kernel(pid) ||
		    snapshot_find(&snapshot, pid))
			continue;
		for (i = 0; i < waiting && pending[i].tgid != (uint32_t)pid; i++)
			;
		all &= i < waiting || kill(pid, 0);
	}
	closedir(proc);
	return all;
}

/* The number of owners that a scope without owners cannot have */
static unsigned int strangers(const struct dev *dev)
{
	static struct snapshot snapshot;
	unsigned int n = 0;
	uint32_t i;

	dev_snapshot(dev, &snapshot);
	for (i = 0; i < snapshot.count; i++)
		n += !(snapshot.records[i].flags &
		       (CMT_F_OWNER_OVERFLOW | CMT_F_OWNER_RESCTRL));
	return n;
}

static int remove_group(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	if (type == FTW_DP && ftw->level)
		rmdir(path);
	return 0;
}

static unsigned int groups_left;

static int count_group(const char *path, const struct stat *st, int type,
		       struct FTW *ftw)
{
	(void)path, (void)st;
	groups_left += type == FTW_D && ftw->level;
	return 0;
}

static unsigned int remove_groups(void)
{
	nftw(CGROUPS, remove_group, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	groups_left = 0;
	nftw(CGROUPS, count_group, 8, FTW_PHYS | FTW_MOUNT);
	return groups_left;
}

/* resctrl is unmounted, and its RMIDs return to the pool. */
static void end_resctrl(const struct dev *dev)
{
	if (resctrl_mounted())
		resctrl_umount();
	WAIT_FOR(!dev_stats(dev).rmids_foreign, 20000,
		 "%u RMIDs stay foreign without resctrl",
		 dev_stats(dev).rmids_foreign);
	check_whole(dev, "without resctrl");
}

void check_loaded(struct rng *rng)
{
	struct dev dev;

	cpu_online(1, true);
	check_outsiders();
	WAIT_FOR(!remove_groups(), 10000, "cgroups stay");
	dev_open(&dev, O_RDWR);
	check_whole(&dev, "after the storm");
	WAIT_FOR(owners_live(&dev), 10000, "an owner is dead");
	if (rng_one_in(rng, 2))
		end_resctrl(&dev);
	scope_set(&dev, CMT_SCOPE_PROCESS);
	WAIT_FOR(all_processes_counted(&dev), 10000,
		 "a process has no owner, and is not pending");
	WAIT_FOR(owners_live(&dev), 10000, "an owner is dead in process scope");
	check_whole(&dev, "in process scope");
	scope_set(&dev, CMT_SCOPE_MANUAL);
	WAIT_FOR(!strangers(&dev) && !dev_stats(&dev).pending, 10000,
		 "%u owners and %u pending ones in manual scope",
		 strangers(&dev), dev_stats(&dev).pending);
	WAIT_FOR(!dev_stats(&dev).rmids_limbo, 20000, "%u RMIDs stay in limbo",
		 dev_stats(&dev).rmids_limbo);
	check_pool(&dev);
	/* so that this process has an RMID when the module is unloaded */
	scope_set(&dev, CMT_SCOPE_PROCESS);
	dev_close(&dev);
}

static uint64_t pqr_of_cpu(int cpu)
{
	cpu_set_t set;
	uint64_t pqr;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set), "affinity: %m");
	sched_yield();
	pqr = lab_get(LAB_PQR, 0);
	CPU_SET(!cpu, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set), "affinity: %m");
	return pqr;
}

static void check_pqr(void)
{
	uint64_t pqr;
	int cpu;

	if (!lab_present())
		return;
	for (cpu = 0; cpu < 2; cpu++) {
		pqr = pqr_of_cpu(cpu);
		CHECK(!pqr, "CPU %d has CLOSID %u, RMID %u after the unload",
		      cpu, PQR_CLOSID(pqr), PQR_RMID(pqr));
	}
}

static void enter(const char *group, const struct witness *witness)
{
	char path[128], text[16];
	int err;

	snprintf(path, sizeof(path), RESCTRL "/%s/tasks", group);
	snprintf(text, sizeof(text), "%d", witness->pid);
	err = write_file(path, text);
	CHECK(!err, "%s: %s", path, strerror(-err));
}

/*
 * Groups that resctrl makes after the unload work.  Tasks of one group have the same
 * RMID, tasks of other groups another RMID, and tasks in no group RMID 0.
 */
static void check_groups_work(void)
{
	static const char *const groups[] = { "", "a", "a/mon_groups/m" };
	struct witness *witnesses[WITNESSES];
	uint64_t pqr[WITNESSES];
	unsigned int i;

	resctrl_mount();
	if (mkdir(RESCTRL "/a", 0755) || mkdir(RESCTRL "/a/mon_groups/m", 0755)) {
		CHECK(errno == ENOSPC, "mkdir: %m");
		resctrl_umount();
		return;
	}
	for (i = 0; i < WITNESSES; i++) {
		witnesses[i] = witness_start(i);
		enter(groups[i % 3 ? 1 : 0], witnesses[i]);
		enter(groups[i % 3], witnesses[i]);
	}
	for (i = 0; i < WITNESSES; i++) {
		pqr[i] = witness_pqr(witnesses[i]);
		CHECK(i < 3 || pqr[i] == pqr[i - 3],
		      "two tasks of '%s': %#llx and %#llx", groups[i % 3],
		      (unsigned long long)pqr[i - 3], (unsigned long long)pqr[i]);
	}
	CHECK(!pqr[0] && PQR_CLOSID(pqr[1]) == 1 && PQR_CLOSID(pqr[2]) == 1 &&
	      PQR_RMID(pqr[1]) && PQR_RMID(pqr[1]) != PQR_RMID(pqr[2]),
	      "PQR_ASSOC of root, group and mon_group: %#llx, %#llx, %#llx",
	      (unsigned long long)pqr[0], (unsigned long long)pqr[1],
	      (unsigned long long)pqr[2]);
	for (i = 0; i < WITNESSES; i++)
		reap(witnesses[i]->pid, SIGKILL);
	resctrl_umount();
}

void check_unloaded(void)
{
	CHECK(!module_present() && access(DEV_PATH, F_OK) &&
	      access("/proc/cmt", F_OK), "the module left something");
	cpu_online(1, true);
	check_outsiders();
	/* a CPU that is assigned to a group has the group's RMID until then */
	if (resctrl_mounted())
		resctrl_umount();
	check_pqr();
	if (lab_present())
		check_groups_work();
}

/*
 * An allocation that fails without __GFP_NOWARN is reported with a stack trace, which
 * is not an error.  Such reports are excluded from the search for /etc/bad-log, and
 * from the log that is kept.
 */
static void write_log(char *log, FILE *to)
{
	bool in_report = false;
	char *line, *save;

	for (line = strtok_r(log, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strstr(line, "page allocation failure") ||
		    strstr(line, "FAULT_INJECTION: forcing") ||
		    strstr(line, "vmalloc error"))
			in_report = true;
		if (!in_report || !strstr(line, "Call Trace:"))
			fprintf(to, "%s\n", line);
		if (strstr(line, "</TASK>"))
			in_report = false;
	}
}

#define LOG_BYTES	(4U << 20)
#define MESSAGE_BYTES	4096U	/* no message is longer */

/* The messages since the last call, whose text the kernel cuts at the end of the buffer */
void check_log(void)
{
	static char log[LOG_BYTES];
	FILE *to = fopen("/run/storm.log", "w");
	int n = klogctl(4, log, sizeof(log) - 1);	/* READ_CLEAR */
	int status;

	CHECK(to && n >= 0, "the kernel's log: %m");
	log[n] = '\0';
	write_log(log, to);
	CHECK(!fclose(to), "/run/storm.log: %m");
	status = system("grep -n -E -f /etc/bad-log /run/storm.log >&2");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1,
	      "the kernel's log has the lines above, or grep failed: status %#x", status);
	CHECK(n < (int)(LOG_BYTES - MESSAGE_BYTES), "the kernel's log is longer than %d bytes", n);
}
