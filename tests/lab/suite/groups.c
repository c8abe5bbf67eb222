// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * resctrl's groups keep their tasks, CPUs and RMIDs, and the module restores all that
 * it changed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define BYTES		(1 << 20)
#define CPUS		2

/* Sleeping processes, and the CLOSID group of each one. */
#define SLEEPERS	300
#define SLEEP_MS	200	/* 300 times: what a busy host has the time for */
#define IN_B		20	/* the first ones */
#define ROUNDS		6
#define GROUPS_MAX	1024

static pid_t sleepers[SLEEPERS];

static void sleeper_start(unsigned int i)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			sleep_ms(SLEEP_MS);
	}
	sleepers[i] = pid;
	if (i < IN_B)
		resctrl_add("B", pid);
}

static void sleeper_stop(unsigned int i)
{
	kill(sleepers[i], SIGKILL);
	waitpid(sleepers[i], NULL, 0);
}

/* The line of a process in cpu_resctrl_groups that begins with @key. */
static const char *groups_line(pid_t pid, const char *key)
{
	static char text[256];
	char path[64], *line;

	snprintf(path, sizeof(path), "/proc/%d/cpu_resctrl_groups", pid);
	read_file(path, text, sizeof(text));
	line = strstr(text, key);
	CHECK(line, "%s: %s", path, text);
	return strtok(line + strlen(key), "\n") ?: "";
}

static unsigned int count_moved(void)
{
	unsigned int i, moved = 0;

	for (i = 0; i < SLEEPERS; i++) {
		const char *group = groups_line(sleepers[i], "res:");

		if (!strcmp(group, i < IN_B ? "B" : "/"))
			continue;
		if (!moved++)
			note("sleeper %u is in the group %s", i, group);
	}
	return moved;
}

static const char *member(unsigned int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "B/mon_groups/m%u", i);
	return name;
}

/* Makes groups while resctrl has RMIDs; returns the number of groups. */
static unsigned int members_make(void)
{
	unsigned int n = 0;

	while (n < GROUPS_MAX && resctrl_try_make(member(n)))
		n++;
	return n;
}

/* Counts groups with a task that was not put there. */
static unsigned int members_populated(unsigned int count)
{
	char path[96], text[64];
	unsigned int i, n = 0;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), RESCTRL "/%s/tasks", member(i));
		n += !!*read_file(path, text, sizeof(text));
	}
	return n;
}

/*
 * When a group is removed, resctrl moves all tasks with the group's RMID to the parent
 * group.  A task with an RMID of cmt must not be among them.
 */
static void test_tasks_stay(void)
{
	unsigned int i, round, groups, made = 0, populated = 0, moved = 0;
	struct dev dev;

	resctrl_mount();
	CHECK(!module_load(PROCESS), "the module does not load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	resctrl_make("B");
	for (i = 0; i < SLEEPERS; i++)
		sleeper_start(i);
	for (round = 0; round < ROUNDS; round++) {
		groups = members_make();
		made += groups;
		for (i = round % 2; i < SLEEPERS; i += 2) {
			sleeper_stop(i);
			sleeper_start(i);
		}
		populated += members_populated(groups);
		for (i = 0; i < groups; i++)
			resctrl_remove(member(i));
		moved += count_moved();
	}
	note("%u groups made and removed, %u had a task that was not put there; %u times a task was in another group than it was put in",
	     made, populated, moved);
	CHECK(made >= ROUNDS * dev.info.nr_rmids / 2, "too few groups");
	CHECK(!populated && !moved, "resctrl takes tasks for a group's");
	for (i = 0; i < SLEEPERS; i++)
		sleeper_stop(i);
	resctrl_remove("B");
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

static void check_cpu(const char *when, int cpu, uint32_t rmid)
{
	uint64_t pqr;

	run_on(0, cpu);
	pqr = lab_get(LAB_PQR, 0);
	CHECK((uint32_t)pqr == rmid && !(pqr >> 32),
	      "%s: CPU %d has RMID %u, CLOSID %u, and not RMID %u", when, cpu,
	      (uint32_t)pqr, (uint32_t)(pqr >> 32), rmid);
}

static void unload_and_check(const char *when, uint32_t rmid)
{
	CHECK(!module_unload(), "the module does not unload");
	check_cpu(when, 0, rmid);
	check_cpu(when, 1, 0);
}

/*
 * Afterwards every RMID belongs to a group: no task may have an RMID that it was not
 * given.
 */
static void check_tasks(const struct worker *grouped)
{
	unsigned int i, n, foreign = 0;
	char name[32];

	lab_ask(LAB_FLUSH, 0);	/* otherwise RMIDs stay in resctrl's limbo */
	for (n = 0; n < GROUPS_MAX; n++) {
		snprintf(name, sizeof(name), "mon_groups/all%u", n);
		if (!resctrl_try_make(name))
			break;
	}
	for (i = 0; i < SLEEPERS; i++)
		foreign += !!*groups_line(sleepers[i], "mon:");
	note("%u groups beside; %u tasks have an RMID of one of them", n,
	     foreign);
	CHECK(!foreign, "an RMID was left in a task");
	CHECK(!strcmp(groups_line(grouped->pid, "mon:"), "t"),
	      "the one in a group is not there any more");
	while (n--) {
		snprintf(name, sizeof(name), "mon_groups/all%u", n);
		resctrl_remove(name);
	}
}

/* A load, sampling, a change by resctrl meanwhile, and an unload. */
static void load_for(const char *mask)
{
	struct dev dev;

	CHECK(!module_load(PROCESS), "the module does not load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	WAIT_FOR(dev_stats(&dev).ticks >= 50, 30000, "there are no ticks");
	resctrl_cpus("mon_groups/g", mask);
	WAIT_FOR(dev_stats(&dev).ticks >= 100, 30000, "there are no ticks");
	dev_close(&dev);
}

/*
 * After an unload every CPU has the RMID that resctrl would load, also if resctrl
 * changed it while the module was loaded.  No task has an RMID of cmt.
 */
static void test_unload(void)
{
	struct worker *here, *grouped;
	uint32_t group, t;
	unsigned int i;

	resctrl_mount();
	resctrl_make("mon_groups/g");
	resctrl_make("mon_groups/t");
	resctrl_cpus("mon_groups/g", "1");
	here = worker_start(64 << 10);
	worker_pin(here, 0);
	worker_go(here, true);
	group = group_rmid(here, 0);
	worker_go(here, false);
	grouped = worker_start(64 << 10);
	resctrl_add("mon_groups/t", grouped->pid);
	worker_go(grouped, true);
	t = group_rmid(grouped, group);
	/*
	 * resctrl writes at each switch from and to the task, which would hide a fault
	 */
	worker_halt(grouped);
	for (i = IN_B; i < SLEEPERS; i++)
		sleeper_start(i);
	for (i = 0; i < IN_B; i++)
		sleepers[i] = sleepers[IN_B];

	load_for("0");
	unload_and_check("taken from the group", 0);
	load_for("1");
	unload_and_check("given to the group", group);
	load_for("1");
	unload_and_check("left in the group", group);
	kill(grouped->pid, SIGCONT);
	check_under(grouped, "the one in a group", t);
	check_tasks(grouped);
	worker_stop(grouped);
	worker_stop(here);
	for (i = IN_B; i < SLEEPERS; i++)
		sleeper_stop(i);
	resctrl_remove("mon_groups/g");
	resctrl_remove("mon_groups/t");
	resctrl_umount();
	check_cpu("unmounted", 0, 0);
	check_cpu("unmounted", 1, 0);
}

/* The lifecycle record of an RMID of resctrl; NULL: there is none. */
static const struct cmt_record *find_event(const struct log *log, uint16_t type,
					   uint32_t rmid)
{
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type == type && r->rmid == rmid &&
		    r->flags & CMT_F_OWNER_RESCTRL)
			return r;
	}
	return NULL;
}

/* Samples of the group equal the counter, and the bytes that its worker walks. */
static void check_samples(struct dev *dev, struct worker *worker,
			  uint32_t group)
{
	const struct cmt_record *sample;
	struct recorder recorder;
	struct readings readings;
	size_t matched;

	model_begin();
	worker_wait(worker, 3);
	recorder_start(&recorder, dev, true);
	readings_begin(&readings);
	worker_wait(worker, 50);
	wait_read(L3, group);
	recorder_stop(&recorder);
	readings_end(&readings);
	matched = samples_match(&recorder.log, &readings, group);
	sample = last_sample(&recorder.log, group);
	CHECK(matched && sample, "the group is not sampled");
	note("%zu samples of the group equal the counter; the last one says %llu of %u bytes",
	     matched, (unsigned long long)sample->sample.occupancy_bytes,
	     BYTES);
	CHECK(sample->sample.occupancy_bytes + lab_unit() > BYTES,
	      "the samples are not of the worker");
	readings_free(&readings);
	log_free(&recorder.log);
	lab_switch(false);
}

#define CROWD 80	/* more than there are RMIDs */

/* No owner gets an RMID of resctrl's, with many pending owners. */
static void check_stays_foreign(const struct dev *dev, uint32_t group)
{
	static struct snapshot snapshot;
	uint32_t i;

	for (i = IN_B; i < IN_B + CROWD; i++)
		sleeper_start(i);
	CHECK(!dev_stats(dev).rmids_free, "RMIDs are left");
	dev_snapshot(dev, &snapshot);
	for (i = 0; i < snapshot.count; i++)
		CHECK(snapshot.records[i].rmid != group ||
		      snapshot.records[i].flags & CMT_F_OWNER_RESCTRL,
		      "process %u has the group's RMID",
		      snapshot.records[i].tgid);
	for (i = IN_B; i < IN_B + CROWD; i++)
		sleeper_stop(i);
	CHECK(dev_stats(dev).rmids_foreign == 1, "%u RMIDs are foreign",
	      dev_stats(dev).rmids_foreign);
}

/* A group of resctrl is sampled as an owner of its own kind. */
static void test_owners(void)
{
	const struct cmt_record *alloc, *free;
	struct recorder recorder;
	struct dev dev, events;
	struct worker *worker;
	uint32_t group;

	resctrl_mount();
	CHECK(!module_load(PROCESS), "the module does not load");
	resctrl_make("mon_groups/g");
	worker = worker_start(BYTES);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	dev_open(&events, O_RDONLY);
	dev_map(&events, FROM_NOW);
	recorder_start(&recorder, &events, false);
	worker_identify(worker, &dev);
	resctrl_add("mon_groups/g", worker->pid);
	worker_go(worker, true);
	group = group_rmid(worker, worker->rmid);
	WAIT_FOR(resctrl_owner(&dev, group), 10000,
		 "RMID %u has no owner of resctrl's kind", group);
	check_samples(&dev, worker, group);
	worker_stop(worker);
	check_stays_foreign(&dev, group);
	resctrl_remove("mon_groups/g");
	check_stays_foreign(&dev, group);
	resctrl_umount();
	WAIT_FOR(!resctrl_owner(&dev, group), 10000,
		 "RMID %u is resctrl's after the unmount", group);
	WAIT_FOR(!dev_stats(&dev).rmids_foreign, 10000, "RMIDs stay foreign");
	recorder_stop(&recorder);
	alloc = find_event(&recorder.log, CMT_REC_ALLOC, group);
	free = find_event(&recorder.log, CMT_REC_FREE, group);
	CHECK(alloc && free && alloc->ts < free->ts &&
	      alloc->generation == free->generation,
	      "the records of the owner do not fit");
	log_free(&recorder.log);
	dev_close(&events);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
}

#define GROUP_CLOSID 1

/* All tasks have RMIDs of cmt; tasks in groups keep their CLOSID. */
static void test_take(void)
{
	unsigned int percent, beside;
	struct worker *worker, *other;
	uint32_t own, others, group;
	struct dev dev;

	resctrl_mount();
	resctrl_make("c");
	resctrl_make("c/mon_groups/m");
	CHECK(!module_load(PROCESS), "the module does not load");
	worker = worker_start(64 << 10);
	other = worker_start(64 << 10);
	worker_pin(worker, 1);
	worker_pin(other, 1);
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	worker_identify(worker, &dev);
	worker_identify(other, &dev);
	own = worker->rmid;
	others = other->rmid;
	resctrl_add("c", worker->pid);
	resctrl_add("c/mon_groups/m", worker->pid);
	worker_go(worker, true);
	worker_go(other, true);
	group = group_rmid(worker, own);
	check_under(worker, "respected, the one in a group", group);

	resctrl_set_mode(&dev, CMT_RESCTRL_TAKE);
	WAIT_FOR(percent_under(worker, own, 10) == 100, 10000,
		 "the RMID of cmt's is not loaded");
	percent = percent_under(worker, own, 500);
	beside = percent_under(other, others, 500);
	note("taken: under cmt's RMID for %u %% of walks, the one beside for %u %%",
	     percent, beside);
	CHECK(percent >= 99 && beside >= 99, "under another agent's RMID");
	CHECK(closids_of(worker) == 1U << GROUP_CLOSID &&
	      closids_of(other) == 1, "a CLOSID did not survive");
	CHECK(dev_stats(&dev).rmids_foreign, "the group's RMID is handed out");

	resctrl_set_mode(&dev, CMT_RESCTRL_RESPECT);
	check_under(worker, "respected again, the one in a group", group);
	check_under(other, "the one beside", others);
	resctrl_set_mode(&dev, CMT_RESCTRL_TAKE);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	check_under(worker, "unloaded, the one in a group", group);
	check_under(other, "the one beside", 0);
	worker_stop(worker);
	worker_stop(other);
	resctrl_remove("c");
	resctrl_umount();
}

#define DYING_BYTES	(96UL << 20)	/* exit takes long */

/* A process with many pages, which are present on return. */
static pid_t start_large(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	CHECK(!pipe(ready), "pipe: %m");
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		char *memory = mmap(NULL, DYING_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
				    -1, 0);

		if (memory == MAP_FAILED || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	CHECK(read(ready[0], &byte, 1) == 1, "no memory");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/*
 * resctrl takes the RMID of a container while the last member of the container is
 * dying: the exit frees no RMID, neither resctrl's nor the next owner's.
 */
static void test_dying(void)
{
	static struct snapshot snapshot;
	const struct cmt_record *owner;
	struct worker *worker;
	uint32_t i, n, rmid;
	struct dev dev;
	uint64_t id = 0;
	pid_t large;

	resctrl_mount();
	CHECK(!module_load("scope=container"), "the module does not load");
	worker = worker_start(64 << 10);
	worker_go(worker, true);
	large = start_large();
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	/* the last container gets the RMID that resctrl hands out first */
	n = dev.info.nr_rmids - 2;
	for (i = 0; i < n; i++)
		id = group_make(container(i));
	owner = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(owner, "the last container has no RMID");
	rmid = owner->rmid;
	group_enter(container(n - 1), large);
	resctrl_make("mon_groups/g");
	kill(large, SIGKILL);
	resctrl_add("mon_groups/g", worker->pid);
	WAIT_FOR(dev_stats(&dev).rmids_foreign == 1, 10000,
		 "the group's RMID is not noticed");
	waitpid(large, NULL, 0);
	dev_snapshot(&dev, &snapshot);
	for (i = 0; i < snapshot.count; i++)
		CHECK(snapshot.records[i].rmid != rmid ||
		      snapshot.records[i].flags & CMT_F_OWNER_RESCTRL,
		      "RMID %u has another owner", rmid);
	CHECK(dev_stats(&dev).pending == 1, "%u owners are pending",
	      dev_stats(&dev).pending);
	check_pool(&dev);
	for (i = 0; i < n; i++)
		group_remove(container(i));
	WAIT_FOR(dev_stats(&dev).rmids_active == 1, 10000, "%u are active",
		 dev_stats(&dev).rmids_active);
	check_pool(&dev);
	worker_stop(worker);
	resctrl_remove("mon_groups/g");
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

const struct test groups_tests[] = {
	/* first: resctrl has handed out no RMID so far */
	{ "groups_take_rmid_of_exiting_process", test_dying, NULL, 120 },
	{ "groups_keep_their_tasks", test_tasks_stay, NULL, 300 },
	{ "groups_unload_leaves_nothing", test_unload, NULL, 300 },
	{ "groups_are_owners", test_owners, NULL, 120 },
	{ "groups_taken_and_respected", test_take, NULL, 120 },
	{ 0 }
};
