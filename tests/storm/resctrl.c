// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * resctrl is mounted and unmounted, its groups are made and removed, and tasks are
 * moved.  After each action the actor checks that every task is where it was put.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lab/lab.h"
#include "storm.h"

#define CTRLS	3	/* and the root group, 0 */
#define MONS	3	/* MON groups in each CTRL group, numbered from 1; 0: none */
#define CROWD	24

/* A CTRL group, with the MON groups in it */
struct ctrl {
	bool there;
	uint32_t closid;
	bool mons[MONS + 1];
};

static struct ctrl ctrls[CTRLS + 1];
static struct { unsigned int ctrl, mon; } places[WITNESSES];
static pid_t crowd[CROWD];
static bool began;

bool resctrl_mounted(void)
{
	char text[4096];

	return strstr(read_file("/proc/mounts", text, sizeof(text)),
		      " " RESCTRL " ");
}

void resctrl_mount(void)
{
	CHECK(!mount("resctrl", RESCTRL, "resctrl", 0, NULL) || errno == EBUSY,
	      "mount: %m");
	did(DEED_mounts);
}

void resctrl_umount(void)
{
	CHECK(!umount(RESCTRL), "umount: %m");
}

static void witness_look(struct witness *self)
{
	uint32_t closid = __atomic_load_n(&self->closid, __ATOMIC_ACQUIRE);
	uint64_t pqr = lab_get(LAB_PQR, 0);

	__atomic_store_n(&self->pqr, pqr, __ATOMIC_RELAXED);
	__atomic_fetch_add(&self->looks, 1, __ATOMIC_SEQ_CST);
	if (closid == NO_CLOSID || closid == PQR_CLOSID(pqr) ||
	    closid != __atomic_load_n(&self->closid, __ATOMIC_ACQUIRE))
		return;
	self->wrong_pqr = pqr;
	__atomic_fetch_add(&self->wrong, 1, __ATOMIC_RELEASE);
}

static bool kernel_is_realtime(void)
{
	struct utsname name;

	CHECK(!uname(&name), "uname: %m");
	return strstr(name.version, " PREEMPT_RT ");
}

static void move_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/*
 * Runs on both CPUs in turn for a short time, and never keeps a CPU.  On PREEMPT_RT the
 * scheduler moves it as it likes: there the kernel may warn in affine_move_task() when
 * CPU 1 goes off and comes back during sched_setaffinity() (docs/reliability.md).
 */
static void witness_main(struct witness *self)
{
	bool moves = !kernel_is_realtime();
	unsigned int i;

	for (i = 0;; i++) {
		if (moves)
			move_to(i % 2);
		witness_look(self);
		usleep(500);
		witness_look(self);
	}
}

struct witness *witness_start(unsigned int i)
{
	struct witness *self = &storm->witnesses[i];
	pid_t pid;

	memset(self, 0, sizeof(*self));
	self->closid = NO_CLOSID;
	pid = storm_fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid)
		witness_main(self);
	self->pid = pid;
	return self;
}

uint64_t witness_pqr(const struct witness *witness)
{
	uint64_t from = __atomic_load_n(&witness->looks, __ATOMIC_ACQUIRE);

	WAIT_FOR(__atomic_load_n(&witness->looks, __ATOMIC_ACQUIRE) > from + 1,
		 20000, "a witness does not run");
	return __atomic_load_n(&witness->pqr, __ATOMIC_RELAXED);
}

static const char *group_path(unsigned int ctrl, unsigned int mon)
{
	static char path[128];
	int n = snprintf(path, sizeof(path), RESCTRL);

	if (ctrl)
		n += snprintf(path + n, sizeof(path) - n, "/c%u", ctrl);
	if (mon)
		snprintf(path + n, sizeof(path) - n, "/mon_groups/m%u", mon);
	return path;
}

/* The group in /proc/PID/cpu_resctrl_groups; the task may be gone. */
static bool group_is(pid_t pid, unsigned int ctrl, unsigned int mon,
		     bool mounted)
{
	char path[64], said[128], expected[64] = "res:\nmon:\n", *end;

	snprintf(path, sizeof(path), "/proc/%d/cpu_resctrl_groups", pid);
	read_file(path, said, sizeof(said));
	if (mounted && ctrl)
		sprintf(expected, "res:c%u\nmon:", ctrl);
	else if (mounted)
		sprintf(expected, "res:/\nmon:");
	if (mounted && mon)
		sprintf(expected + strlen(expected), "m%u\n", mon);
	else if (mounted)
		strcat(expected, "\n");
	if (!*said || !strcmp(said, expected))
		return true;
	while ((end = strchr(said, '\n')))
		*end = ' ';
	note("process %d is in %s, not in c%u m%u", pid, said, ctrl, mon);
	return false;
}

static bool is_witness(pid_t pid)
{
	unsigned int i;

	for (i = 0; i < WITNESSES; i++)
		if (storm->witnesses[i].pid == pid)
			return true;
	return false;
}

void check_outsiders(void)
{
	bool mounted = resctrl_mounted();
	unsigned int strayed = 0;
	struct dirent *entry;
	DIR *proc;

	proc = opendir("/proc");
	CHECK(proc, "/proc: %m");
	while ((entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && !is_witness(pid))
			strayed += !group_is(pid, 0, 0, mounted);
	}
	closedir(proc);
	CHECK(!strayed, "%u tasks are in groups that they were not put in", strayed);
}

/* While the groups change, witnesses do not judge. */
static void expect_none(void)
{
	unsigned int i;

	for (i = 0; i < WITNESSES; i++)
		__atomic_store_n(&storm->witnesses[i].closid, NO_CLOSID,
				 __ATOMIC_SEQ_CST);
}

static void expect_places(bool mounted)
{
	unsigned int i;

	for (i = 0; i < WITNESSES; i++)
		__atomic_store_n(&storm->witnesses[i].closid, mounted ?
				 ctrls[places[i].ctrl].closid : 0,
				 __ATOMIC_SEQ_CST);
}

/* From here on, until the next action, the CLOSID of a task is its group's. */
static void check_witnesses(struct rng *rng)
{
	bool mounted = resctrl_mounted();
	const struct witness *w;
	unsigned int i;

	expect_places(mounted);
	if (rng_one_in(rng, 4))
		witness_pqr(&storm->witnesses[rng_below(rng, WITNESSES)]);
	for (i = 0; i < WITNESSES; i++) {
		w = &storm->witnesses[i];
		CHECK(!w->wrong, "a task of c%u m%u: %llu times wrong in %llu, CLOSID %u, RMID %u",
		      places[i].ctrl, places[i].mon, (unsigned long long)w->wrong,
		      (unsigned long long)w->looks, PQR_CLOSID(w->wrong_pqr),
		      PQR_RMID(w->wrong_pqr));
		CHECK(group_is(w->pid, places[i].ctrl, places[i].mon, mounted),
		      "witness %u is elsewhere", i);
	}
	did(DEED_looks);
}

/* resctrl gives the lowest CLOSID that is free. */
static uint32_t free_closid(void)
{
	uint32_t closid;
	unsigned int c;

	for (closid = 1;; closid++) {
		for (c = 1; c <= CTRLS; c++)
			if (ctrls[c].there && ctrls[c].closid == closid)
				break;
		if (c > CTRLS)
			return closid;
	}
}

static void leave_group(unsigned int ctrl, unsigned int mon)
{
	unsigned int i;

	for (i = 0; i < WITNESSES; i++) {
		if (places[i].ctrl != ctrl || (mon && places[i].mon != mon))
			continue;
		places[i].mon = 0;
		if (!mon)
			places[i].ctrl = 0;
	}
}

/* If all RMIDs are in use or in limbo, a group gets none. */
static void make_or_remove(unsigned int ctrl, unsigned int mon)
{
	struct ctrl *group = &ctrls[ctrl];
	bool *there = mon ? &group->mons[mon] : &group->there;
	const char *path = group_path(ctrl, mon);
	uint32_t closid = free_closid();

	if (*there) {
		CHECK(!rmdir(path), "rmdir %s: %m", path);
		leave_group(ctrl, mon);
		if (!mon)
			memset(group, 0, sizeof(*group));
		*there = false;
		return;
	}
	if (mkdir(path, 0755)) {
		CHECK(errno == ENOSPC || errno == EBUSY, "mkdir %s: %m", path);
		return;
	}
	did(mon ? DEED_mon_groups : DEED_groups);
	*there = true;
	if (!mon)
		group->closid = closid;
}

static void deed_group(struct rng *rng)
{
	unsigned int ctrl = rng_below(rng, CTRLS + 1);
	unsigned int mon = rng_below(rng, MONS + 1);

	if (!ctrls[ctrl].there)
		mon = 0;
	if (ctrl || mon)
		make_or_remove(ctrl, mon);
}

static void deed_move(struct rng *rng)
{
	unsigned int i = rng_below(rng, WITNESSES);
	unsigned int ctrl = rng_below(rng, CTRLS + 1);
	unsigned int mon = rng_below(rng, MONS + 1);
	char path[160], text[16];
	int err;

	ctrl = ctrls[ctrl].there ? ctrl : 0;
	mon = ctrls[ctrl].mons[mon] ? mon : 0;
	/* resctrl moves a task to a MON group only from the CTRL group above */
	snprintf(path, sizeof(path), "%s/tasks", group_path(ctrl, 0));
	snprintf(text, sizeof(text), "%d", storm->witnesses[i].pid);
	err = write_file(path, text);
	CHECK(!err, "%s: %s", path, strerror(-err));
	if (mon) {
		snprintf(path, sizeof(path), "%s/tasks", group_path(ctrl, mon));
		err = write_file(path, text);
		CHECK(!err, "%s: %s", path, strerror(-err));
	}
	places[i].ctrl = ctrl;
	places[i].mon = mon;
	did(DEED_tasks);
}

/* A process that is a member of a group for a short time, and ends in it */
static void deed_pass(struct rng *rng)
{
	unsigned int mon = rng_below(rng, MONS + 1);
	char path[160], text[16];
	pid_t pid;
	int err;

	if (!mon || !ctrls[0].mons[mon])
		return;
	pid = storm_fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid)
		for (;;)
			usleep(200);
	snprintf(path, sizeof(path), "%s/tasks", group_path(0, mon));
	snprintf(text, sizeof(text), "%d", pid);
	err = write_file(path, text);
	CHECK(!err, "%s: %s", path, strerror(-err));
	usleep(rng_below(rng, 20000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	did(DEED_tasks);
}

/* The CPUs of a group, which counts tasks there that are in no group. */
static void deed_cpus(struct rng *rng)
{
	static const char *const masks[] = { "0", "1", "2", "3" };
	unsigned int mon = rng_below(rng, MONS + 1);
	char path[160];

	if (!mon || !ctrls[0].mons[mon])
		return;
	snprintf(path, sizeof(path), "%s/cpus", group_path(0, mon));
	write_file(path, masks[rng_below(rng, 4)]);
}

static void deed_read(struct rng *rng)
{
	static const char *const events[] = {
		"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes",
	};
	unsigned int ctrl = rng_below(rng, CTRLS + 1);
	char path[192], text[64];

	if (!ctrls[ctrl].there)
		ctrl = 0;
	snprintf(path, sizeof(path), "%s/mon_data/mon_L3_00/%s",
		 group_path(ctrl, 0), events[rng_below(rng, 3)]);
	read_file(path, text, sizeof(text));
}

static void forget_groups(void)
{
	memset(ctrls, 0, sizeof(ctrls));
	memset(places, 0, sizeof(places));
	ctrls[0].there = true;
}

/* Tasks without a group, more than there are RMIDs, some of them new */
static void replace_crowd(struct rng *rng)
{
	unsigned int i;

	for (i = 0; i < CROWD; i++) {
		if (crowd[i] && rng_one_in(rng, 2))
			continue;
		if (crowd[i]) {
			kill(crowd[i], SIGKILL);
			waitpid(crowd[i], NULL, 0);
		}
		crowd[i] = storm_fork();
		if (!crowd[i])
			for (;;)
				pause();
	}
}

static void begin(void)
{
	unsigned int i;

	began = true;
	forget_groups();
	for (i = 0; i < WITNESSES; i++)
		witness_start(i);
	if (resctrl_mounted())
		resctrl_umount();
	resctrl_mount();
}

static void deed_mount(void)
{
	if (resctrl_mounted())
		resctrl_umount();
	else
		resctrl_mount();
	forget_groups();
}

void act_resctrl(struct rng *rng)
{
	static void (*const deeds[])(struct rng *) = {
		deed_group, deed_group, deed_group, deed_move, deed_move,
		deed_move, deed_cpus, deed_read, deed_pass, replace_crowd,
	};

	if (!began)
		begin();
	expect_none();
	if (rng_one_in(rng, 40) || !resctrl_mounted())
		deed_mount();
	else
		deeds[rng_below(rng, sizeof(deeds) / sizeof(deeds[0]))](rng);
	check_witnesses(rng);
	if (rng_one_in(rng, 12))
		check_outsiders();
}
