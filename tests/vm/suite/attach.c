// SPDX-License-Identifier: GPL-2.0-or-later
/* Attached owners: which owner a process has, and the arguments of the ioctls. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"

#define MANUAL "scope=manual ring_records=16384"

/* A process that forks a spinning child on CPU 1 on request. */
static pid_t start_parent(int go[2], bool leave)
{
	pid_t pid = fork_with_pipe(go);
	char byte;

	if (pid)
		return pid;
	if (read(go[0], &byte, 1) != 1)
		_exit(1);
	if (fork() == 0) {
		/* a grandchild */
		pid = spin_on(1);
		for (;;)
			pause();
	}
	if (leave)
		_exit(0);
	for (;;)
		pause();
}

static void attach_process(void)
{
	const struct cmt_record *r;
	struct cmt_attach out;
	struct dev dev;
	int go[2];
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	CHECK(dev_stats(&dev).rmids_active == 1, "owners without an attachment");
	pid = spin_on(1);
	wait_tick(&dev, 1, 0);
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, 0, &out), "attach: %m");
	r = owner_find(&dev, CMT_OWNER_PROCESS, pid);
	CHECK(r && r->flags & CMT_F_ATTACHED && r->rmid == out.rmid &&
	      r->generation == out.generation, "not an owner, or another RMID");
	wait_tick(&dev, 1, out.rmid);
	CHECK(attach(&dev, CMT_OWNER_PROCESS, pid, 0, NULL) == -EEXIST, "twice");
	CHECK(!detach(&dev, CMT_OWNER_PROCESS, pid), "detach");
	CHECK(!owner_find(&dev, CMT_OWNER_PROCESS, pid), "not freed");
	wait_tick(&dev, 1, 0);
	CHECK(detach(&dev, CMT_OWNER_PROCESS, pid) == -ENOENT, "detach, twice");
	reap(pid, SIGKILL);

	/* without its children, which have no owner */
	pid = start_parent(go, false);
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, 0, &out), "attach");
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	wait_spin();
	saw_tick(&dev, 1, 0);	/* what was before */
	wait_spin();
	CHECK(!saw_tick(&dev, 1, out.rmid), "its child runs under its RMID");
	CHECK(dev_stats(&dev).rmids_active == 2, "its children have RMIDs");
	kill(pid, SIGKILL);
	reap(pid, 0);
	CHECK(dev_stats(&dev).rmids_active == 1, "not freed at its exit");
	check_pool(&dev);
	dev_close(&dev);
}

static void attach_children(void)
{
	struct cmt_attach out;
	struct dev dev;
	int go[2];
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	pid = start_parent(go, true);
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, CMT_ATTACH_CHILDREN, &out),
	      "attach");
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	wait_tick(&dev, 1, out.rmid);
	/* the parent exits; its children go on, and share its RMID */
	reap(pid, 0);
	wait_tick(&dev, 1, out.rmid);
	CHECK(owner_find(&dev, CMT_OWNER_PROCESS, pid), "freed with children left");
	CHECK(dev_stats(&dev).rmids_active == 2, "%u owners",
	      dev_stats(&dev).rmids_active);
	CHECK(attach(&dev, CMT_OWNER_PROCESS, pid, 0, NULL) == -ESRCH,
	      "a process that has ended is attached");
	CHECK(!detach(&dev, CMT_OWNER_PROCESS, pid), "its children stay attached");
	CHECK(dev_stats(&dev).rmids_active == 1, "not freed");
	wait_tick(&dev, 1, 0);
	CHECK(detach(&dev, CMT_OWNER_PROCESS, pid) == -ENOENT, "detach, twice");
	/* a scope ends it, too */
	pid = start_parent(go, true);
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, CMT_ATTACH_CHILDREN, &out),
	      "attach");
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	reap(pid, 0);
	scope_set(&dev, CMT_SCOPE_MANUAL);
	CHECK(dev_stats(&dev).rmids_active == 1, "attached owners outlive a scope");
	check_pool(&dev);
	dev_close(&dev);
}

#define FORKS		150
#define FIRST_ID	20000

/* A process on CPU 1 that forks a child with each id that *@next becomes, and then says so. */
static pid_t start_forker(volatile pid_t *next, volatile pid_t *forked)
{
	pid_t id, pid = fork_on(1);

	while (!pid) {
		while ((id = *next) == *forked)
			;
		park_as(id);
		*forked = id;
	}
	return pid;
}

/* A child that is attached before the module sees its fork keeps its owner. */
static void attach_at_fork(void)
{
	volatile pid_t *shared = mmap(NULL, 2 * sizeof(*shared), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct cmt_attach out, own;
	pid_t pid, id;
	struct dev dev;
	int early = 0;

	CHECK(shared != MAP_FAILED, "mmap: %m");
	dev_open(&dev, O_RDWR);
	run_on(0, 0);
	pid = start_forker(&shared[0], &shared[1]);
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, CMT_ATTACH_CHILDREN, &out), "attach");
	for (id = FIRST_ID; id < FIRST_ID + FORKS; id++) {
		shared[0] = id;
		while (kill(id, 0))
			;
		CHECK(!attach(&dev, CMT_OWNER_PROCESS, id, 0, &own), "attach %d", id);
		early += shared[1] != id;
		WAIT_FOR(shared[1] == id, 5000, "no fork");
		CHECK(!detach(&dev, CMT_OWNER_PROCESS, id), "%d is not attached any more", id);
		kill(id, SIGKILL);
	}
	note("%d of %d children were attached before the fork returned", early, FORKS);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/*
 * In process scope a process keeps its RMID when it is attached and detached, and
 * its children share the RMID in between.
 */
static void attach_in_process_scope(void)
{
	uint32_t rmid, generation;
	const struct cmt_record *r;
	struct cmt_attach out;
	uint64_t frees;
	struct dev dev;
	int go[2];
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	pid = start_parent(go, false);
	r = owner_find(&dev, CMT_OWNER_PROCESS, pid);
	CHECK(r && !(r->flags & CMT_F_ATTACHED), "no RMID");
	rmid = r->rmid;
	generation = r->generation;
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, CMT_ATTACH_CHILDREN, &out),
	      "attach");
	CHECK(out.rmid == rmid && out.generation == generation, "another RMID");
	r = owner_find(&dev, CMT_OWNER_PROCESS, pid);
	CHECK(r && r->flags & CMT_F_ATTACHED, "not marked");
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	wait_tick(&dev, 1, rmid);
	frees = dev_stats(&dev).frees;
	CHECK(!detach(&dev, CMT_OWNER_PROCESS, pid), "detach");
	r = owner_find(&dev, CMT_OWNER_PROCESS, pid);
	CHECK(r && r->rmid == rmid && r->generation == generation &&
	      !(r->flags & CMT_F_ATTACHED), "no owner by the scope afterwards");
	CHECK(dev_stats(&dev).frees == frees, "an RMID was freed");
	check_pool(&dev);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

static void attach_cgroup(void)
{
	struct cmt_attach outer, inner;
	const struct cmt_record *r;
	uint64_t id, id2;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	id = group_make("plain");
	id2 = group_make("plain/below");
	pid = spin_on(1);
	group_enter("plain/below", pid);
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, id, 0, &outer), "attach");
	r = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(r && r->rmid == outer.rmid && r->flags & CMT_F_ATTACHED &&
	      !strncmp(r->owner.comm, "plain", CMT_COMM_LEN), "no owner");
	wait_tick(&dev, 1, outer.rmid);
	/* the nearest cgroup that is an owner decides */
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, id2, 0, &inner), "attach below");
	wait_tick(&dev, 1, inner.rmid);
	CHECK(attach(&dev, CMT_OWNER_CGROUP, id, 0, NULL) == -EEXIST, "twice");
	CHECK(!detach(&dev, CMT_OWNER_CGROUP, id2), "detach");
	wait_tick(&dev, 1, outer.rmid);
	CHECK(detach(&dev, CMT_OWNER_CGROUP, id2) == -ENOENT, "detach, twice");
	reap(pid, SIGKILL);
	group_remove("plain/below");
	CHECK(attach(&dev, CMT_OWNER_CGROUP, id2, 0, NULL) == -ENOENT, "removed");
	group_remove("plain");
	CHECK(!owner_find(&dev, CMT_OWNER_CGROUP, id), "not freed at rmdir");
	CHECK(detach(&dev, CMT_OWNER_CGROUP, id) == -ENOENT, "removed");
	CHECK(attach(&dev, CMT_OWNER_CGROUP, 1ULL << 60, 0, NULL) == -ENOENT,
	      "no such cgroup");

	/* a container that is attached, too, remains an owner of the scope */
	scope_set(&dev, CMT_SCOPE_CONTAINER);
	id = group_make(container(1));
	r = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(r && !(r->flags & CMT_F_ATTACHED), "no container");
	CHECK(detach(&dev, CMT_OWNER_CGROUP, id) == -ENOENT, "not attached");
	CHECK(!attach(&dev, CMT_OWNER_CGROUP, id, 0, &outer), "attach");
	r = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(r && r->rmid == outer.rmid && r->flags & CMT_F_ATTACHED, "no mark");
	CHECK(!detach(&dev, CMT_OWNER_CGROUP, id), "detach");
	r = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(r && r->rmid == outer.rmid && !(r->flags & CMT_F_ATTACHED),
	      "a container no more");
	group_remove(container(1));
	check_pool(&dev);
	dev_close(&dev);
}

#define DEEP		40

/* Owners below the levels of containers come and go: the nearest one that is left decides. */
static void attach_deep(void)
{
	static const int levels[] = { 2, 34, 36, DEEP };
	struct cmt_attach outs[4];
	char path[2 * DEEP] = "";
	uint64_t ids[DEEP + 1];
	struct dev dev;
	int level, i;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	for (level = 1; level <= DEEP; level++) {
		strcat(path, level == 1 ? "d" : "/d");
		ids[level] = group_make(path);
	}
	pid = spin_on(1);
	group_enter(path, pid);
	for (i = 0; i < 4; i++) {
		CHECK(!attach(&dev, CMT_OWNER_CGROUP, ids[levels[i]], 0, &outs[i]),
		      "attach level %d", levels[i]);
		wait_tick(&dev, 1, outs[i].rmid);
	}
	while (--i >= 0) {
		wait_tick(&dev, 1, outs[i].rmid);
		CHECK(!detach(&dev, CMT_OWNER_CGROUP, ids[levels[i]]), "detach");
	}
	wait_tick(&dev, 1, 0);
	reap(pid, SIGKILL);
	for (level = DEEP; level; level--) {
		group_remove(path);
		path[level == 1 ? 0 : 2 * level - 3] = '\0';
	}
	check_pool(&dev);
	dev_close(&dev);
}

static void attach_cpu(void)
{
	const struct cmt_record *r;
	struct cmt_attach out, own;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	CHECK(!attach(&dev, CMT_OWNER_CPU, 1, 0, &out), "attach");
	r = owner_find(&dev, CMT_OWNER_CPU, 1);
	CHECK(r && r->rmid == out.rmid && r->flags & CMT_F_ATTACHED, "no owner");
	wait_tick(&dev, 1, out.rmid);
	CHECK(attach(&dev, CMT_OWNER_CPU, 1, 0, NULL) == -EEXIST, "twice");
	pid = spin_on(1);
	wait_tick(&dev, 1, out.rmid);
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, 0, &own), "attach");
	wait_tick(&dev, 1, own.rmid);
	reap(pid, SIGKILL);
	CHECK(detach(&dev, CMT_OWNER_CPU, 0) == -ENOENT, "CPU 0 is not");
	CHECK(!detach(&dev, CMT_OWNER_CPU, 1), "detach");
	wait_tick(&dev, 1, 0);
	CHECK(!attach(&dev, CMT_OWNER_CPU, 1, 0, NULL), "attach again");
	cpu_online(1, false);
	CHECK(!owner_find(&dev, CMT_OWNER_CPU, 1), "an offline CPU has an RMID");
	CHECK(attach(&dev, CMT_OWNER_CPU, 1, 0, NULL) == -ENXIO, "offline");
	CHECK(detach(&dev, CMT_OWNER_CPU, 1) == -ENOENT, "it is forgotten");
	cpu_online(1, true);
	CHECK(attach(&dev, CMT_OWNER_CPU, dev.info.nr_cpus, 0, NULL) == -ENXIO &&
	      attach(&dev, CMT_OWNER_CPU, 1ULL << 32, 0, NULL) == -ENXIO,
	      "no such CPU");
	check_pool(&dev);
	dev_close(&dev);
}

/* No RMID is free: the owner is pending, with the overflow RMID, and ATTACH says so. */
static void attach_is_pending_without_rmid(void)
{
	struct cmt_record records[4];
	struct cmt_attach out, got;
	pid_t pids[8];
	struct dev dev;
	int i;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < 8; i++)
		pids[i] = i == 7 ? spin_on(1) : park(0, NULL);
	for (i = 0; i < 6; i++)
		CHECK(!attach(&dev, CMT_OWNER_PROCESS, pids[i], 0, NULL),
		      "attach %d", i);
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pids[6], 0, &out), "the seventh");
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pids[7], 0, &got), "the eighth");
	CHECK(out.rmid && out.rmid == got.rmid, "RMIDs %u and %u are the rest's",
	      out.rmid, got.rmid);
	CHECK(waiting_get(&dev, records, 4) == 2 &&
	      records[0].tgid == (uint32_t)pids[6] &&
	      records[1].tgid == (uint32_t)pids[7] &&
	      records[1].flags & CMT_F_ATTACHED, "they do not wait");
	wait_tick(&dev, 1, out.rmid);
	CHECK(!detach(&dev, CMT_OWNER_PROCESS, pids[6]), "detach who waits");
	CHECK(dev_stats(&dev).pending == 1, "%u wait", dev_stats(&dev).pending);
	reap(pids[0], SIGKILL);
	WAIT_FOR(owner_find(&dev, CMT_OWNER_PROCESS, pids[7]), 5000,
		 "not served");
	wait_tick(&dev, 1, owner_find(&dev, CMT_OWNER_PROCESS, pids[7])->rmid);
	for (i = 1; i < 8; i++)
		reap(pids[i], SIGKILL);
	CHECK(!dev_stats(&dev).pending && dev_stats(&dev).rmids_active == 1,
	      "%u wait", dev_stats(&dev).pending);
	check_pool(&dev);
	dev_close(&dev);
}

static void attach_bad(void)
{
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = park(0, NULL);
	reap(pid, SIGKILL);
	CHECK(attach(&dev, CMT_OWNER_PROCESS, pid, 0, NULL) == -ESRCH, "dead");
	CHECK(attach(&dev, CMT_OWNER_PROCESS, 0, 0, NULL) == -ESRCH, "0");
	CHECK(attach(&dev, CMT_OWNER_PROCESS, 1ULL << 32 | 1, 0, NULL) == -ESRCH,
	      "a number with more bits than an id");
	CHECK(attach(&dev, CMT_OWNER_PROCESS, 2, 0, NULL) == -ESRCH,
	      "a kernel thread");
	CHECK(detach(&dev, CMT_OWNER_PROCESS, pid) == -ENOENT, "detach dead");
	CHECK(attach(&dev, 0, 1, 0, NULL) == -EINVAL &&
	      attach(&dev, 4, 1, 0, NULL) == -EINVAL, "no such kind");
	CHECK(attach(&dev, CMT_OWNER_PROCESS, 1, 2, NULL) == -EINVAL,
	      "no such option");
	CHECK(attach(&dev, CMT_OWNER_CPU, 1, CMT_ATTACH_CHILDREN, NULL) ==
	      -EINVAL, "children of a CPU");
	CHECK(dev_stats(&dev).rmids_active == 1, "an owner by mistake");
	dev_close(&dev);
}

static void attach_rights(void)
{
	struct dev ro, rw;

	dev_open(&ro, O_RDONLY);
	dev_open(&rw, O_RDWR);
	CHECK(scope_try(&ro, CMT_SCOPE_CPU, NULL, NULL) == -EBADF &&
	      attach(&ro, CMT_OWNER_CPU, 0, 0, NULL) == -EBADF &&
	      detach(&ro, CMT_OWNER_CPU, 0) == -EBADF, "a read-only descriptor");
	capabilities_keep(1ULL << CAP_DAC_OVERRIDE);
	CHECK(scope_try(&rw, CMT_SCOPE_CPU, NULL, NULL) == -EPERM &&
	      attach(&rw, CMT_OWNER_CPU, 0, 0, NULL) == -EPERM &&
	      detach(&rw, CMT_OWNER_CPU, 0) == -EPERM, "without a capability");
	CHECK(scope_try(&ro, CMT_SCOPE_CPU, NULL, NULL) == -EBADF,
	      "EBADF comes first");
	dev_close(&rw);
	dev_open(&rw, O_RDONLY);
	CHECK(rw.info.scope == CMT_SCOPE_MANUAL &&
	      dev_stats(&rw).rmids_active == 1, "something has changed");
	dev_close(&rw);
	dev_close(&ro);
}

const struct test attach_tests[] = {
	{ "attach_process", attach_process, MANUAL, 0 },
	{ "attach_children", attach_children, MANUAL, 0 },
	{ "attach_at_fork", attach_at_fork, MANUAL, 60 },
	{ "attach_in_process_scope", attach_in_process_scope,
	  "ring_records=16384", 0 },
	{ "attach_cgroup", attach_cgroup, MANUAL, 0 },
	{ "attach_deep", attach_deep, MANUAL, 0 },
	{ "attach_cpu", attach_cpu, MANUAL, 0 },
	{ "attach_is_pending_without_rmid", attach_is_pending_without_rmid, EMULATED MANUAL " emulated_rmids=8", 0 },
	{ "attach_bad", attach_bad, MANUAL, 0 },
	{ "attach_rights", attach_rights, MANUAL, 0 },
	{ }
};
