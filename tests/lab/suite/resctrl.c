// SPDX-License-Identifier: GPL-2.0-or-later
/* resctrl, the kernel's user of the registers, beside cmt. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define GROUP_CLOSID	1

/* A total that is right at two times has grown by the model's count. */
static void check_growth(const char *group, uint32_t rmid)
{
	struct lab_answer from = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, rmid, 0)), to;
	uint64_t first = resctrl_read(group, "mbm_total_bytes"), said, truth;

	sleep_ms(500);
	said = resctrl_read(group, "mbm_total_bytes") - first;
	to = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, rmid, 0));
	truth = to.first - from.first;
	note("RMID %u, mbm_total_bytes: grew by %llu, the model's by %llu", rmid,
	     (unsigned long long)said, (unsigned long long)truth);
	CHECK(said <= truth + lab_unit(), "resctrl says more than there was");
	CHECK(said * 100 + 200 * lab_unit() + (10 << 20) >= truth * 90,
	      "resctrl says less than there was");
}

static void with_us(bool mounted_first, const char *group)
{
	struct worker *worker;
	unsigned int wrong;
	struct dev dev;

	if (mounted_first)
		resctrl_mount();
	CHECK(!module_load(PROCESS), "the module does not load");
	if (!mounted_first)
		resctrl_mount();
	worker = worker_start(1 << 20);
	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(worker, true);
	wrong = wrong_reads(group, 0);
	note("%s first: %u of %u readings of resctrl are not the model's; the worker ran %llu of %llu walks under another RMID",
	     mounted_first ? "resctrl" : "cmt", wrong, RESCTRL_LOOKS,
	     (unsigned long long)worker->elsewhere,
	     (unsigned long long)worker->walks);
	CHECK(!wrong, "resctrl reads wrong numbers");
	check_growth(group, 0);
	CHECK(worker->walks && worker->elsewhere * 100 <= worker->walks,
	      "the worker lost its RMID");
	lab_switch(false);
	worker_stop(worker);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

static void test_mounted_first(void)
{
	with_us(true, "");
}

static void test_mounted_later(void)
{
	with_us(false, "");
}

static size_t count_flagged(const struct log *log, uint16_t type)
{
	size_t i, n = 0;

	for (i = 0; i < log->count; i++)
		n += log->records[i].type == type &&
			log->records[i].flags & CMT_F_PQR_OVERWRITTEN;
	return n;
}


/*
 * The bytes reported for a worker are the bytes of its space, within 2 %.  Excepted are
 * lines that ticks, idle and kernel threads fill with its page tables and with RMID 0.
 */
static void check_truth(const struct worker *worker, const char *who,
			uint64_t said)
{
	uint64_t truth = lab_get(LAB_OF_SPACE, LAB_ARG(L3, 0, worker->space)) -
			 lab_get(LAB_OF_PAIR, LAB_ARG(L3, 0, worker->space));
	uint64_t off = said > truth ? said - truth : truth - said;

	note("%s says %llu bytes, truth %llu, off by %.2f %%", who,
	     (unsigned long long)said, (unsigned long long)truth,
	     100.0 * off / truth);
	/* the worker and interrupts on its CPU run on during the check */
	CHECK(off * 50 <= truth + 50 * (96 << 10), "%s is off", who);
}

#define GROUP_BYTES	(1 << 20)
#define FLAGGED		50	/* ticks, and samples, of 8 times as many ticks */

/* Put a sleeping process into the group too, or the group is the worker's (sole.c). */
static pid_t share_group(const char *group)
{
	pid_t pid = park(0, NULL);

	resctrl_add(group, pid);
	return pid;
}

/*
 * A process in a monitoring group of resctrl has an RMID of cmt.  resctrl measures the
 * process, and the samples of cmt's RMID are flagged, because the group has another member.
 * The group's RMID is resctrl's until resctrl is unmounted.
 */
static void test_mon_group(void)
{
	unsigned int wrong, percent;
	struct recorder recorder;
	struct worker *worker;
	struct cmt_stats stats;
	uint32_t own, group;
	uint64_t ours;
	struct dev dev;
	pid_t beside;

	resctrl_mount();
	CHECK(!module_load(PROCESS), "the module does not load");
	resctrl_make("mon_groups/g");
	beside = share_group("mon_groups/g");
	worker = worker_start(GROUP_BYTES);
	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	own = worker->rmid;
	dev_map(&dev, FROM_NOW);
	resctrl_add("mon_groups/g", worker->pid);
	model_begin();
	recorder_start(&recorder, &dev, true);
	worker_go(worker, true);
	group = group_rmid(worker, own);
	percent = percent_under(worker, group, 50);
	wrong = wrong_reads("mon_groups/g", group);
	check_truth(worker, "resctrl",
		    resctrl_read("mon_groups/g", "llc_occupancy"));
	ours = lab_get(LAB_OF_PAIR, LAB_ARG(L3, own, worker->space));
	WAIT_FOR((stats = dev_stats(&dev)).ticks >= 8 * FLAGGED, 30000,
		 "there are no ticks");
	recorder_stop(&recorder);
	note("%u of %u readings of the group are not the model's; under the group's RMID %u %% of walks; %llu bytes under ours; %llu overwritten, %zu ticks and %zu samples say so, %u foreign",
	     wrong, RESCTRL_LOOKS, percent, (unsigned long long)ours,
	     (unsigned long long)stats.pqr_overwritten,
	     count_flagged(&recorder.log, CMT_REC_TICK),
	     count_flagged(&recorder.log, CMT_REC_SAMPLE), stats.rmids_foreign);
	CHECK(!wrong, "resctrl reads wrong numbers");
	CHECK(percent == 100, "the worker ran under something else");
	CHECK(ours <= 64 << 10, "lines of the worker are ours");
	CHECK(stats.pqr_overwritten && stats.rmids_foreign == 1,
	      "it is not counted");
	CHECK(count_flagged(&recorder.log, CMT_REC_TICK) >= FLAGGED &&
	      count_flagged(&recorder.log, CMT_REC_SAMPLE) >= FLAGGED,
	      "it is not flagged");

	resctrl_remove("mon_groups/g");
	percent = percent_under(worker, own, 50);
	CHECK(percent >= 99, "without the group, under its own for %u %%",
	      percent);
	CHECK(dev_stats(&dev).rmids_foreign == 1,
	      "the group's RMID is not resctrl's any more");
	resctrl_umount();
	WAIT_FOR(!dev_stats(&dev).rmids_foreign, 10000,
		 "the group's RMID does not come back");
	log_free(&recorder.log);
	worker_stop(worker);
	reap(beside, SIGKILL);
	dev_close(&dev);
	lab_switch(false);
	CHECK(!module_unload(), "the module does not unload");
}

/* A process that has this RMID; other processes begin and end before. */
static pid_t process_with(const struct dev *dev, uint32_t rmid)
{
	static struct snapshot snapshot;
	const struct cmt_record *r;
	unsigned int i;
	pid_t pid;

	for (i = 0; i < 4 * dev->info.nr_rmids; i++) {
		pid = park(0, NULL);
		dev_snapshot(dev, &snapshot);
		r = snapshot_find(&snapshot, (uint32_t)pid);
		if (r && r->rmid == rmid)
			return pid;
		reap(pid, SIGKILL);
	}
	FAIL("no process gets RMID %u", rmid);
}

/*
 * Mount resctrl and load the module.  Returns the RMID of a process that has ended:
 * resctrl overwrote some of its work, and no tick has said so.
 */
static uint32_t overwritten_rmid(struct dev *dev)
{
	struct worker *worker;
	uint32_t rmid;
	pid_t beside;

	resctrl_mount();
	CHECK(!module_load(PROCESS), "the module does not load");
	resctrl_make("mon_groups/g");
	beside = share_group("mon_groups/g");
	worker = worker_start(64 << 10);
	dev_open(dev, O_RDONLY);
	worker_identify(worker, dev);
	rmid = worker->rmid;
	resctrl_add("mon_groups/g", worker->pid);
	worker_go(worker, true);
	/* each wait is a switch */
	worker_pin(worker, 1);
	run_on(getpid(), 1);
	WAIT_FOR(dev_stats(dev).pqr_overwritten > 20, 30000, "not overwritten");
	worker_stop(worker);
	reap(beside, SIGKILL);
	resctrl_remove("mon_groups/g");
	return rmid;
}

/* The RMID has samples, and none is flagged.  Ticks begin here. */
static void check_unflagged(struct dev *dev, uint32_t rmid)
{
	struct recorder recorder;
	size_t samples = 0;

	/* the first tick may be over before both rings are mapped */
	dev_map(dev, FROM_OLDEST);
	recorder_start(&recorder, dev, true);
	sleep_ms(500);
	recorder_stop(&recorder);
	for (size_t i = 0; i < recorder.log.count; i++) {
		const struct cmt_record *r = &recorder.log.records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != rmid)
			continue;
		samples++;
		CHECK(!(r->flags & CMT_F_PQR_OVERWRITTEN),
		      "sample %zu of the next owner is flagged", samples);
	}
	CHECK(samples, "no sample of RMID %u", rmid);
	log_free(&recorder.log);
}

/* What resctrl overwrote of an owner's is not said of the next owner of the RMID. */
static void test_next_owner_unflagged(void)
{
	struct dev dev;
	uint32_t rmid;
	pid_t next;

	rmid = overwritten_rmid(&dev);
	resctrl_umount();
	next = process_with(&dev, rmid);
	check_unflagged(&dev, rmid);
	reap(next, SIGKILL);
	dev_close(&dev);
	lab_switch(false);
	CHECK(!module_unload(), "the module does not unload");
}

static const char *nth_group(unsigned int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "mon_groups/g%u", i);
	return name;
}

/*
 * Make @n groups, and move the process through them, from the last one on, until resctrl
 * owns this RMID.
 */
static void groups_until(const struct dev *dev, unsigned int n, pid_t pid,
			 uint32_t rmid)
{
	uint32_t foreign;
	unsigned int i;

	for (i = 0; i < n; i++)
		resctrl_make(nth_group(i));
	while (i && !resctrl_owner(dev, rmid)) {
		foreign = dev_stats(dev).rmids_foreign;
		resctrl_add(nth_group(--i), pid);
		WAIT_FOR(dev_stats(dev).rmids_foreign > foreign, 10000,
			 "the RMID of group %u is not noticed", i);
	}
	CHECK(resctrl_owner(dev, rmid), "no group has RMID %u", rmid);
}

/* The same if the next owner is a group of resctrl, which gives RMIDs in their order. */
static void test_next_group_unflagged(void)
{
	unsigned int i, n;
	struct dev dev;
	uint32_t rmid;
	pid_t next;

	rmid = overwritten_rmid(&dev);
	n = rmid - 1;
	next = park(0, NULL);
	groups_until(&dev, n, next, rmid);
	check_unflagged(&dev, rmid);
	reap(next, SIGKILL);
	for (i = 0; i < n; i++)
		resctrl_remove(nth_group(i));
	dev_close(&dev);
	lab_switch(false);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

/*
 * A process in an allocation group of resctrl always keeps its CLOSID.  A process
 * beside it, in no group, keeps its RMID.  The values of both are true.
 */
static void test_cat_group(void)
{
	uint32_t before, loaded, running, after, own, group;
	const struct cmt_record *sample;
	struct worker *worker, *other;
	struct recorder recorder;
	unsigned int percent;
	struct dev dev;

	resctrl_mount();
	resctrl_make("c");
	CHECK(!write_file(RESCTRL "/c/schemata", "L3:0=f\n"), "schemata");
	worker = worker_start(64 << 10);
	other = worker_start(GROUP_BYTES);
	/* on one CPU, so that resctrl changes its registers at every switch */
	worker_pin(worker, 1);
	worker_pin(other, 1);
	resctrl_add("c", worker->pid);
	worker_go(worker, true);
	worker_go(other, true);
	worker_wait(worker, 2);
	before = closids_of(worker);
	group = group_rmid(worker, 0);
	CHECK(!module_load(PROCESS), "the module does not load");
	loaded = closids_of(worker);
	dev_open(&dev, O_RDONLY);
	worker_identify(other, &dev);
	own = other->rmid;
	dev_map(&dev, FROM_NOW);
	model_begin();
	recorder_start(&recorder, &dev, true);
	running = closids_of(worker);
	percent = percent_under(worker, group, 100);
	CHECK(percent == 100, "in the group, under its RMID for %u %%", percent);
	percent = percent_under(other, own, 50);
	wait_read(L3, own);
	recorder_stop(&recorder);
	sample = last_sample(&recorder.log, own);
	CHECK(sample, "no sample");
	check_truth(other, "cmt", sample->sample.occupancy_bytes);
	note("beside the group, under its own RMID for %u %% of walks; %llu overwritten",
	     percent, (unsigned long long)dev_stats(&dev).pqr_overwritten);
	CHECK(percent == 100, "the one beside the group lost its RMID");
	CHECK(closids_of(other) == 1, "a CLOSID that was not given");
	lab_switch(false);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	after = closids_of(worker);
	note("CLOSIDs seen: before %#x, loaded %#x, running %#x, after %#x",
	     before, loaded, running, after);
	CHECK(before == 1U << GROUP_CLOSID, "resctrl did not set its CLOSID");
	CHECK(loaded == before && running == before && after == before,
	      "the CLOSID did not survive");
	CHECK(percent_under(other, 0, 50) == 100, "an RMID of ours was left");
	CHECK(percent_under(worker, group, 50) == 100,
	      "resctrl's RMID was not left");
	worker_stop(worker);
	worker_stop(other);
	log_free(&recorder.log);
	resctrl_remove("c");
	resctrl_umount();
}

#define CROWD	80		/* more than there are RMIDs */

static void start_crowd(pid_t *pids)
{
	size_t i;

	for (i = 0; i < CROWD; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0, "fork: %m");
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
}

static void stop_crowd(const pid_t *pids)
{
	size_t i;

	for (i = 0; i < CROWD; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/* Has an owner of cmt lost its RMID, and has resctrl become the owner of the RMID? */
static bool was_taken(const struct log *log, uint32_t rmid)
{
	bool freed = false;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->rmid != rmid)
			continue;
		freed |= r->type == CMT_REC_FREE &&
			 !(r->flags & CMT_F_OWNER_RESCTRL);
		if (freed && r->type == CMT_REC_ALLOC)
			return r->flags & CMT_F_OWNER_RESCTRL;
	}
	return false;
}

/*
 * The process whose RMID was taken is pending, with this reason.  The highest RMID is the
 * overflow owner's, which is in no list.
 */
static void check_reclaimed(const struct dev *dev, uint32_t rmid)
{
	static struct cmt_record records[2 * CROWD];
	uint32_t i, n = waiting_get(dev, records, 2 * CROWD), reclaimed = 0;

	for (i = 0; i < n; i++)
		reclaimed += records[i].owner.why == CMT_WHY_RECLAIMED;
	CHECK(reclaimed == 1, "%u of %u pending owners lost their RMID, %u is taken",
	      reclaimed, n, rmid);
}

/* All RMIDs have an owner when resctrl gives one of them to a group. */
static void test_taken_rmid(void)
{
	static struct snapshot snapshot;
	struct recorder recorder;
	struct worker *worker;
	struct cmt_stats stats;
	pid_t crowd[CROWD];
	uint32_t i, group;
	struct dev dev;

	resctrl_mount();
	CHECK(!module_load(PROCESS), "the module does not load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	start_crowd(crowd);
	stats = dev_stats(&dev);
	CHECK(!stats.rmids_free && stats.pending, "RMIDs are left");
	worker = worker_start(GROUP_BYTES);
	resctrl_make("mon_groups/g");
	recorder_start(&recorder, &dev, true);
	resctrl_add("mon_groups/g", worker->pid);
	worker_go(worker, true);
	WAIT_FOR(dev_stats(&dev).rmids_foreign == 1, 10000,
		 "the group's RMID is not noticed");
	group = group_rmid(worker, 0);
	CHECK(percent_under(worker, group, 50) == 100,
	      "the worker does not have the group's RMID");
	dev_snapshot(&dev, &snapshot);
	for (i = 0; i < snapshot.count; i++)
		CHECK(snapshot.records[i].rmid != group ||
		      snapshot.records[i].flags & CMT_F_OWNER_RESCTRL,
		      "%u has resctrl's RMID", snapshot.records[i].tgid);
	check_reclaimed(&dev, group);
	stop_crowd(crowd);
	dev_snapshot(&dev, &snapshot);
	stats = dev_stats(&dev);
	recorder_stop(&recorder);
	note("RMID %u is the group's; %u active, %u in limbo, %u free, %u foreign",
	     group, stats.rmids_active, stats.rmids_limbo, stats.rmids_free,
	     stats.rmids_foreign);
	CHECK(was_taken(&recorder.log, group),
	      "FREE of the owner and ALLOC of resctrl are not told");
	CHECK(stats.rmids_active + stats.rmids_limbo + stats.rmids_free +
	      stats.rmids_foreign == dev.info.rmids_usable, "RMIDs are lost");
	CHECK(stats.rmids_foreign == 1, "RMIDs of the dead are called foreign");
	log_free(&recorder.log);
	worker_stop(worker);
	resctrl_remove("mon_groups/g");
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

/* With a group, so that resctrl writes PQR_ASSOC, a forked process has its own RMID. */
static void test_fork_has_its_own(void)
{
	struct worker *parent, *child;
	unsigned int percent;
	struct dev dev;

	resctrl_mount();
	resctrl_make("mon_groups/g");
	CHECK(!module_load(PROCESS), "the module does not load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	/* this process has run since, so its task has its RMID */
	parent = worker_start(64 << 10);
	child = worker_start(64 << 10);
	worker_identify(parent, &dev);
	worker_identify(child, &dev);
	CHECK(parent->rmid != child->rmid, "two of one RMID");
	resctrl_add("mon_groups/g", parent->pid);
	worker_go(parent, true);
	worker_go(child, true);
	percent = percent_under(child, child->rmid, 200);
	CHECK(percent == 100, "under its own for %u %%", percent);
	percent = percent_under(parent, group_rmid(parent, parent->rmid), 200);
	CHECK(percent == 100, "under the group's for %u %%", percent);
	CHECK(dev_stats(&dev).rmids_foreign == 1, "%u RMIDs are foreign",
	      dev_stats(&dev).rmids_foreign);
	worker_stop(parent);
	worker_stop(child);
	resctrl_remove("mon_groups/g");
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

#define MOVES	20

/* The last move is into container 1, whose values are checked then. */
static void check_moves(struct worker *mover, struct worker *grouped,
			const uint32_t *rmids, uint32_t theirs)
{
	unsigned int i;

	for (i = 0; i < MOVES; i++) {
		unsigned int to = (i + 1) % 2;

		if (i == MOVES - 1)
			to = 1;
		group_enter(container(to), mover->pid);
		check_under(mover, "the one that moves", rmids[to]);
		check_under(grouped, "the one in the group", theirs);
	}
}

/* The values of a container with only this process, from now on. */
static void check_container_truth(struct dev *dev, struct worker *worker,
				  uint32_t rmid)
{
	const struct cmt_record *sample;
	struct recorder recorder;

	lab_ask(LAB_FLUSH, 0);
	worker_wait(worker, 3);
	recorder_start(&recorder, dev, true);
	wait_read(L3, rmid);
	recorder_stop(&recorder);
	sample = last_sample(&recorder.log, rmid);
	CHECK(sample, "no sample");
	check_truth(worker, "cmt", sample->sample.occupancy_bytes);
	log_free(&recorder.log);
}

/*
 * In container scope, one process of a container is in a group of resctrl, too, and
 * resctrl measures it.  Another process on the same CPU moves between containers.  Its
 * lines in the container that it left belong to no other process.
 */
static void containers_beside(const char *group, uint32_t closids)
{
	struct worker *grouped, *mover;
	uint32_t rmids[2], theirs;
	struct dev dev;
	unsigned int i;

	CHECK(!module_load("scope=container"), "the module does not load");
	/* they must not keep the device open */
	grouped = worker_start(64 << 10);
	mover = worker_start(GROUP_BYTES);
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < 2; i++)
		rmids[i] = owner_find(&dev, CMT_OWNER_CGROUP,
				      group_make(container(i)))->rmid;
	worker_pin(grouped, 1);
	worker_pin(mover, 1);
	group_enter(container(0), grouped->pid);
	group_enter(container(0), mover->pid);
	resctrl_add(group, grouped->pid);
	model_begin();
	worker_go(grouped, true);
	worker_go(mover, true);
	theirs = group_rmid(grouped, rmids[0]);
	CHECK(theirs != rmids[1], "the group has container 1's RMID");
	check_moves(mover, grouped, rmids, theirs);
	check_container_truth(&dev, mover, rmids[1]);
	CHECK(dev_stats(&dev).rmids_foreign == 1, "%u RMIDs are foreign",
	      dev_stats(&dev).rmids_foreign);
	CHECK(closids_of(grouped) == closids && closids_of(mover) == 1,
	      "the CLOSID did not survive");
	scope_set(&dev, CMT_SCOPE_PROCESS);
	worker_identify(mover, &dev);
	check_under(mover, "the one that moved", mover->rmid);
	check_under(grouped, "the one in the group", theirs);
	CHECK(dev_stats(&dev).rmids_foreign == 1, "%u RMIDs are foreign",
	      dev_stats(&dev).rmids_foreign);
	check_pool(&dev);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	check_under(mover, "the one that moved", 0);
	check_under(grouped, "the one in the group", theirs);
	lab_switch(false);
	worker_stop(grouped);
	worker_stop(mover);
	for (i = 0; i < 2; i++)
		group_remove(container(i));
}

static void test_containers_beside_cat(void)
{
	resctrl_mount();
	resctrl_make("c");
	CHECK(!write_file(RESCTRL "/c/schemata", "L3:0=f\n"), "schemata");
	containers_beside("c", 1U << GROUP_CLOSID);
	resctrl_remove("c");
	resctrl_umount();
}

static void test_containers_beside_mon(void)
{
	resctrl_mount();
	resctrl_make("mon_groups/g");
	containers_beside("mon_groups/g", 1);
	resctrl_remove("mon_groups/g");
	resctrl_umount();
}

const struct test resctrl_tests[] = {
	{ "resctrl_mounted_before_load", test_mounted_first, NULL, 120 },
	{ "resctrl_mounted_after_load", test_mounted_later, NULL, 120 },
	{ "resctrl_monitoring_group", test_mon_group, NULL, 120 },
	{ "resctrl_next_owner_unflagged", test_next_owner_unflagged, NULL, 120 },
	{ "resctrl_next_group_unflagged", test_next_group_unflagged, NULL, 120 },
	{ "resctrl_allocation_group", test_cat_group, NULL, 120 },
	{ "resctrl_takes_an_rmid_in_use", test_taken_rmid, NULL, 120 },
	{ "resctrl_fork_has_its_own", test_fork_has_its_own, NULL, 120 },
	{ "resctrl_group_beside_containers", test_containers_beside_cat, NULL,
	  120 },
	{ "resctrl_monitoring_beside_containers", test_containers_beside_mon,
	  NULL, 120 },
	{ 0 }
};
