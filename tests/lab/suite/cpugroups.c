// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs of resctrl's groups (the file cpus): tasks in no group count to the CPU's group, also
 * those of owners, until resctrl takes the CPU back or the mode is "take".
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define BYTES		(1 << 20)

/* The worker is on CPU 0, which a group of resctrl has. */
static void check_counted(struct worker *worker, uint32_t group,
			  const char *when)
{
	unsigned int percent, wrong;
	uint64_t truth, said;

	check_under(worker, when, group);
	lab_ask(LAB_FLUSH, 0);
	percent = percent_under(worker, group, 100);
	wrong = wrong_reads("mon_groups/g", group);
	truth = lab_get(LAB_OF_USER, LAB_ARG(L3, group, worker->space));
	said = resctrl_read("mon_groups/g", "llc_occupancy");
	note("%s: under the group's RMID for %u %% of walks; %llu of the worker's %u bytes have it, resctrl says %llu; %u of %u readings are wrong",
	     when, percent, (unsigned long long)truth, BYTES,
	     (unsigned long long)said, wrong, RESCTRL_LOOKS);
	CHECK(percent == 100, "%s: under RMID %u", when, worker->other_rmid);
	CHECK(!wrong, "%s: resctrl reads wrong numbers", when);
	CHECK(truth >= BYTES && said + lab_unit() > BYTES,
	      "%s: the group is not counted", when);
}

/* A CPU without an owner keeps the RMID that it had at load. */
static void test_cpus(void)
{
	struct worker *worker;
	struct dev dev;
	uint32_t group;

	resctrl_mount();
	resctrl_make("mon_groups/g");
	resctrl_cpus("mon_groups/g", "1");
	worker = worker_start(BYTES);
	worker_pin(worker, 0);
	model_begin();
	worker_go(worker, true);
	group = group_rmid(worker, 0);
	check_counted(worker, group, "without the module");
	CHECK(!module_load("scope=manual"), "the module does not load");
	check_counted(worker, group, "without a reader");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	WAIT_FOR(dev_stats(&dev).ticks >= 100, 30000, "there are no ticks");
	check_counted(worker, group, "with a reader");
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	check_counted(worker, group, "after the module");
	lab_switch(false);
	worker_stop(worker);
	resctrl_remove("mon_groups/g");
	resctrl_umount();
}

#define CHANGES		20

/* The RMID of a process without an owner; afterwards this process is on CPU 1 again. */
static uint32_t rmid_without_owner(int cpu)
{
	uint64_t pqr;

	run_on(0, cpu);
	pqr = lab_get(LAB_PQR, 0);
	run_on(0, 1);
	return pqr;
}

/* A group, the module, a worker on CPU 0, and this process on CPU 1 */
static struct worker *begin_on_cpu_0(void)
{
	struct worker *worker;

	resctrl_mount();
	resctrl_make("mon_groups/g");
	CHECK(!module_load("scope=container"), "the module does not load");
	worker = worker_start(64 << 10);
	worker_pin(worker, 0);
	run_on(0, 1);
	return worker;
}

/*
 * resctrl gives CPU 0 to a group while a container runs there, and takes CPU 0 back
 * while no owner runs.  Tasks without an owner run with the RMID that resctrl set last.
 */
static void test_cpus_under_an_owner(void)
{
	struct worker *worker;
	struct dev dev;
	unsigned int i;
	uint32_t rmid;

	worker = begin_on_cpu_0();
	dev_open(&dev, O_RDWR);
	group_make(container(0));
	group_enter(container(0), worker->pid);
	worker_go(worker, true);
	for (i = 0; i < CHANGES; i++) {
		worker_wait(worker, 2);
		resctrl_cpus("mon_groups/g", "1");
		worker_halt(worker);
		resctrl_cpus("mon_groups/g", "0");
		rmid = rmid_without_owner(0);
		CHECK(!rmid, "RMID %u after change %u", rmid, i);
		CHECK(!kill(worker->pid, SIGCONT), "SIGCONT: %m");
	}
	resctrl_remove("mon_groups/g");
	resctrl_umount();
	WAIT_FOR(!dev_stats(&dev).rmids_foreign, 10000, "RMIDs stay foreign");
	worker_stop(worker);
	group_remove(container(0));
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
}

/* The CPU of a process in a group is given to the same group. */
static void test_cpus_under_a_member(void)
{
	struct worker *worker;
	struct dev dev;
	uint32_t rmid, group;

	worker = begin_on_cpu_0();
	dev_open(&dev, O_RDONLY);
	resctrl_add("mon_groups/g", worker->pid);
	worker_go(worker, true);
	group = group_rmid(worker, 0);
	WAIT_FOR(dev_stats(&dev).rmids_foreign == 1, 10000,
		 "the group's RMID is not noticed");
	resctrl_cpus("mon_groups/g", "1");
	worker_halt(worker);
	rmid = rmid_without_owner(0);
	CHECK(rmid == group, "RMID %u on the CPU of RMID %u", rmid, group);
	worker_stop(worker);
	resctrl_remove("mon_groups/g");
	rmid = rmid_without_owner(0);
	CHECK(!rmid, "RMID %u on a CPU of no group", rmid);
	resctrl_umount();
	WAIT_FOR(!dev_stats(&dev).rmids_foreign, 10000, "RMIDs stay foreign");
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
}

/*
 * In CPU scope no RMID changes, and without a reader there is no tick: so the module
 * does not read the value that the unmount has written.
 */
static void test_cpus_at_unmount(void)
{
	struct dev dev;

	resctrl_mount();
	resctrl_make("mon_groups/g");
	resctrl_cpus("mon_groups/g", "1");
	CHECK(!module_load("scope=cpu"), "the module does not load");
	dev_open(&dev, O_RDONLY);
	WAIT_FOR(dev_stats(&dev).rmids_foreign == 1, 10000,
		 "the group's RMID is not noticed");
	resctrl_umount();
	WAIT_FOR(!dev_stats(&dev).rmids_foreign, 10000, "RMIDs stay foreign");
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
}

/* resctrl counts a container that runs on the CPU of a group. */
static void check_grouped(struct dev *dev, struct worker *worker, uint32_t own,
			  uint32_t group)
{
	const struct cmt_record *r;

	check_counted(worker, group, "in a container");
	check_marks(dev, own, true, "on the group's CPU");
	WAIT_FOR(resctrl_owner(dev, group), 10000, "the group has no owner");
	WAIT_FOR((r = resctrl_owner(dev, group))->flags & CMT_F_OWNER_CPU, 10000,
		 "the records do not name a CPU");
	CHECK(r->owner_cpu == 1 && !(r->flags & CMT_F_GROUP_SOLE) &&
	      !r->owner.cgroup_id, "flags %#x, CPU %u", r->flags, r->owner_cpu);
	CHECK(dev_stats(dev).cpus_foreign == 1, "%u CPUs are foreign",
	      dev_stats(dev).cpus_foreign);
}

/*
 * CPU 1 is a group's, and a container runs there: resctrl's value of the group is the
 * container's working set.  By "take" the container is counted by cmt, and when the group
 * loses the CPU as well.
 */
static void test_container(void)
{
	struct worker *worker;
	struct dev dev;
	uint32_t own;

	resctrl_mount();
	resctrl_make("mon_groups/g");
	CHECK(!module_load("scope=container"), "the module does not load");
	worker = worker_start(BYTES);
	worker_pin(worker, 1);
	run_on(0, 0);
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	own = owner_find(&dev, CMT_OWNER_CGROUP, group_make(container(0)))->rmid;
	group_enter(container(0), worker->pid);
	model_begin();
	worker_go(worker, true);
	check_own(&dev, worker, own, "without a CPU group");
	resctrl_cpus("mon_groups/g", "2");
	check_grouped(&dev, worker, own, group_rmid(worker, own));
	resctrl_set_mode(&dev, CMT_RESCTRL_TAKE);
	check_own(&dev, worker, own, "taken");
	resctrl_set_mode(&dev, CMT_RESCTRL_RESPECT);
	check_grouped(&dev, worker, own, group_rmid(worker, own));
	resctrl_cpus("mon_groups/g", "0");
	check_own(&dev, worker, own, "without its CPU");
	WAIT_FOR(!dev_stats(&dev).cpus_foreign, 10000, "a CPU stays foreign");
	lab_switch(false);
	worker_stop(worker);
	group_remove(container(0));
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_remove("mon_groups/g");
	resctrl_umount();
}

/* On CPU 1: a container's process, and a process of the group "t" beside it */
struct pair {
	struct dev dev;
	struct worker *inside;
	struct worker *member;
	uint32_t own;		/* the container's RMID */
	uint32_t t;		/* the RMID of "t" */
	bool takes;		/* the mode is "take", and "respect" while checked */
};

static void pair_begin(struct pair *pair, const char *mode, bool reads)
{
	char params[64];

	resctrl_mount();
	resctrl_make("mon_groups/t");
	snprintf(params, sizeof(params), "scope=container resctrl=%s", mode);
	CHECK(!module_load(params), "the module does not load");
	pair->takes = !strcmp(mode, "take");
	pair->inside = worker_start(64 << 10);
	pair->member = worker_start(64 << 10);
	worker_pin(pair->inside, 1);
	worker_pin(pair->member, 1);
	run_on(0, 0);
	dev_open(&pair->dev, O_RDWR);
	if (reads)
		dev_map(&pair->dev, FROM_NOW);
	pair->own = owner_find(&pair->dev, CMT_OWNER_CGROUP,
			       group_make(container(0)))->rmid;
	group_enter(container(0), pair->inside->pid);
	resctrl_add("mon_groups/t", pair->member->pid);
	worker_go(pair->inside, true);
	worker_go(pair->member, true);
	pair->t = group_rmid(pair->member, 0);
}

static void pair_end(struct pair *pair)
{
	worker_stop(pair->inside);
	worker_stop(pair->member);
	group_remove(container(0));
	dev_close(&pair->dev);
	CHECK(!module_unload(), "the module does not unload");
}

/* Only one of them runs, or both. */
static void pair_run(struct pair *pair, bool inside, bool member)
{
	kill(pair->inside->pid, SIGCONT);
	kill(pair->member->pid, SIGCONT);
	if (!inside)
		worker_halt(pair->inside);
	if (!member)
		worker_halt(pair->member);
}

/* From now on, both run: the container's process with @rmid, the other one with "t"'s. */
static void pair_check(struct pair *pair, uint32_t rmid, const char *when)
{
	pair_run(pair, true, true);
	if (pair->takes) {
		check_under(pair->inside, when, pair->own);
		resctrl_set_mode(&pair->dev, CMT_RESCTRL_RESPECT);
	}
	check_under(pair->inside, when, rmid);
	check_under(pair->member, "the member", pair->t);
	if (pair->takes)
		resctrl_set_mode(&pair->dev, CMT_RESCTRL_TAKE);
}

/* The RMID of a group that has CPU 1 now, of which it is the first one so far. */
static uint32_t rmid_of_cpu(struct pair *pair, const char *group)
{
	uint32_t rmid;

	pair_run(pair, true, false);
	resctrl_cpus(group, "2");
	resctrl_set_mode(&pair->dev, CMT_RESCTRL_RESPECT);
	rmid = group_rmid(pair->inside, pair->own);
	if (pair->takes)
		resctrl_set_mode(&pair->dev, CMT_RESCTRL_TAKE);
	return rmid;
}

/* resctrl writes the CPU's group while this or that task runs there. */
static void cpus_in_any_order(struct pair *pair)
{
	uint32_t g, h;

	resctrl_make("mon_groups/g");
	resctrl_make("mon_groups/h");
	g = rmid_of_cpu(pair, "mon_groups/g");
	pair_check(pair, g, "given while the container runs");
	pair_run(pair, false, true);
	resctrl_cpus("mon_groups/g", "0");
	pair_check(pair, pair->own, "taken back while the member runs");
	pair_run(pair, false, true);
	resctrl_cpus("mon_groups/g", "2");
	pair_check(pair, g, "given while the member runs");
	pair_run(pair, false, false);
	resctrl_cpus("mon_groups/g", "0");
	pair_check(pair, pair->own, "taken back while none runs");
	pair_run(pair, false, false);
	resctrl_cpus("mon_groups/g", "2");
	pair_check(pair, g, "given while none runs");
	resctrl_cpus("mon_groups/g", "0");
	pair_check(pair, pair->own, "taken back while both run");
	h = rmid_of_cpu(pair, "mon_groups/h");
	CHECK(h != g, "two groups of RMID %u", h);
	resctrl_cpus("mon_groups/g", "2");
	pair_check(pair, g, "moved between groups while both run");
	pair_run(pair, false, true);
	resctrl_cpus("mon_groups/h", "2");
	pair_check(pair, h, "moved between groups while the member runs");
	resctrl_remove("mon_groups/h");
	pair_check(pair, pair->own, "the group is removed while both run");
	resctrl_cpus("mon_groups/g", "2");
	pair_run(pair, false, true);
	resctrl_remove("mon_groups/g");
	pair_check(pair, pair->own, "the group is removed while the member runs");
}

/* The CPU is one of the member's own group: resctrl writes nothing when it switches. */
static void cpu_of_the_member(struct pair *pair)
{
	resctrl_cpus("mon_groups/t", "2");
	pair_check(pair, pair->t, "given to the member's group while both run");
	pair_run(pair, false, true);
	resctrl_cpus("mon_groups/t", "0");
	pair_check(pair, pair->own, "taken back from the member's group");
	pair_run(pair, false, true);
	resctrl_cpus("mon_groups/t", "2");
	pair_check(pair, pair->t, "given to the member's group while it runs");
}

/* A CPU that comes online is in no group. */
static void cpu_goes(struct pair *pair)
{
	cpu_online(1, false);
	cpu_online(1, true);
	worker_pin(pair->inside, 1);
	worker_pin(pair->member, 1);
	pair_check(pair, pair->own, "the CPU comes online");
	resctrl_cpus("mon_groups/t", "2");
	pair_check(pair, pair->t, "given after that");
}

static void in_any_order(const char *mode, bool reads)
{
	struct pair pair;

	pair_begin(&pair, mode, reads);
	cpus_in_any_order(&pair);
	cpu_of_the_member(&pair);
	cpu_goes(&pair);
	resctrl_umount();
	check_under(pair.inside, "unmounted, the container's", pair.own);
	check_under(pair.member, "unmounted, the member", 0);
	WAIT_FOR(!dev_stats(&pair.dev).rmids_foreign, 10000, "RMIDs stay foreign");
	CHECK(!dev_stats(&pair.dev).cpus_foreign, "a CPU stays foreign");
	pair_end(&pair);
}

static void test_any_order(void)
{
	in_any_order("respect", true);
}

static void test_any_order_unread(void)
{
	in_any_order("respect", false);
}

static void test_any_order_taken(void)
{
	in_any_order("take", true);
}

/* The module is loaded while a member of one group runs on the CPU of another one. */
static void test_load(void)
{
	struct worker *inside, *member;
	uint32_t group, t;
	struct dev dev;

	resctrl_mount();
	resctrl_make("mon_groups/g");
	resctrl_make("mon_groups/t");
	resctrl_cpus("mon_groups/g", "2");
	inside = worker_start(64 << 10);
	member = worker_start(64 << 10);
	worker_pin(inside, 1);
	worker_pin(member, 1);
	run_on(0, 0);
	worker_go(inside, true);
	group = group_rmid(inside, 0);
	worker_halt(inside);
	resctrl_add("mon_groups/t", member->pid);
	worker_go(member, true);
	t = group_rmid(member, group);
	group_make(container(0));
	group_enter(container(0), inside->pid);
	CHECK(!module_load("scope=container"), "the module does not load");
	dev_open(&dev, O_RDONLY);
	WAIT_FOR(resctrl_owner(&dev, t), 10000, "the mount is not noticed");
	kill(inside->pid, SIGCONT);
	check_under(inside, "the container's", group);
	check_under(member, "the member", t);
	CHECK(dev_stats(&dev).cpus_foreign == 1, "%u CPUs are foreign",
	      dev_stats(&dev).cpus_foreign);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	check_under(inside, "unloaded, the container's", group);
	check_under(member, "unloaded, the member", t);
	worker_stop(inside);
	worker_stop(member);
	group_remove(container(0));
	resctrl_umount();
}

const struct test cpu_groups_tests[] = {
	{ "cpu_groups_are_counted", test_cpus, NULL, 120 },
	{ "cpu_groups_change_under_an_owner", test_cpus_under_an_owner, NULL,
	  120 },
	{ "cpu_groups_of_a_member", test_cpus_under_a_member, NULL, 120 },
	{ "cpu_groups_end_at_the_unmount", test_cpus_at_unmount, NULL, 120 },
	{ "cpu_groups_count_a_container", test_container, NULL, 120 },
	{ "cpu_groups_in_any_order", test_any_order, NULL, 240 },
	{ "cpu_groups_in_any_order_unread", test_any_order_unread, NULL, 240 },
	{ "cpu_groups_in_any_order_taken", test_any_order_taken, NULL, 240 },
	{ "cpu_groups_at_load", test_load, NULL, 120 },
	{ 0 }
};
