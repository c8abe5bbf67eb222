// SPDX-License-Identifier: GPL-2.0-or-later
/* The life of one process, by its records. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

#define QUIET "interval_us=10000 ring_records=16384"

static bool has_comm(const struct cmt_record *r, const char *comm)
{
	return !strncmp(r->owner.comm, comm, CMT_COMM_LEN);
}

static bool same_owner(const struct cmt_record *a, const struct cmt_record *b)
{
	return a->rmid == b->rmid && a->generation == b->generation;
}

/* The n-th record (from 0) of this type and process. */
static const struct cmt_record *nth(const struct log *log, uint16_t type,
				    pid_t pid, unsigned int n)
{
	size_t i;

	for (i = 0; i < log->count; i++)
		if (log->records[i].type == type &&
		    log->records[i].tgid == (uint32_t)pid && !n--)
			return &log->records[i];
	return NULL;
}

static void lifecycle_names(void)
{
	const struct cmt_record *alloc, *own, *exec, *gone;
	struct recorder rec;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, false);
	prctl(PR_SET_NAME, "the-parent");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, "own-name");
		execl(suite_path, "suite", "--true", NULL);
		_exit(1);
	}
	expect_exit_0(pid, "child");
	recorder_stop(&rec);

	alloc = nth(&rec.log, CMT_REC_ALLOC, pid, 0);
	own = nth(&rec.log, CMT_REC_UPDATE, pid, 0);
	exec = nth(&rec.log, CMT_REC_UPDATE, pid, 1);
	gone = nth(&rec.log, CMT_REC_FREE, pid, 0);
	CHECK(alloc && own && exec && gone, "a record is missing: %d%d%d%d",
	      !!alloc, !!own, !!exec, !!gone);
	CHECK(alloc < own && own < exec && exec < gone, "out of order");
	CHECK(same_owner(alloc, own) && same_owner(own, exec) &&
	      same_owner(exec, gone), "not one RMID");
	CHECK(has_comm(alloc, "the-parent"), "ALLOC: %.16s", alloc->owner.comm);
	CHECK(has_comm(own, "own-name"), "prctl: %.16s", own->owner.comm);
	CHECK(has_comm(exec, "suite"), "exec: %.16s", exec->owner.comm);
	CHECK(!nth(&rec.log, CMT_REC_UPDATE, pid, 2), "one UPDATE too many");
	CHECK(!nth(&rec.log, CMT_REC_FREE, pid, 1), "freed twice");
	dev_close(&dev);
}

static void *exec_thread(void *arg)
{
	(void)arg;
	execl(suite_path, "by-thread", "--pause", NULL);
	_exit(1);
}

/* A thread that is not the leader calls exec: it becomes the leader. */
static void lifecycle_thread_exec(void)
{
	static struct snapshot snapshot;
	const struct cmt_record *before, *after, *update;
	struct recorder rec;
	pthread_t t;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, false);
	prctl(PR_SET_NAME, "the-parent");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, "many");
		pthread_create(&t, NULL, exec_thread, NULL);
		for (;;)
			pause();
	}
	do {
		dev_snapshot(&dev, &snapshot);
		after = snapshot_find(&snapshot, pid);
		CHECK(after, "the process lost its RMID");
		sleep_ms(1);
	} while (!has_comm(after, "suite"));
	reap(pid, SIGKILL);
	recorder_stop(&rec);

	before = nth(&rec.log, CMT_REC_ALLOC, pid, 0);
	update = nth(&rec.log, CMT_REC_UPDATE, pid, 1);
	CHECK(before && same_owner(before, after), "another RMID after exec");
	CHECK(update && has_comm(update, "suite"), "no UPDATE at exec");
	CHECK(nth(&rec.log, CMT_REC_FREE, pid, 0) &&
	      !nth(&rec.log, CMT_REC_FREE, pid, 1), "not freed once");
	dev_close(&dev);
}

static int last_thread_may_go[2];

static void *last_thread(void *arg)
{
	char byte;

	(void)arg;
	if (read(last_thread_may_go[0], &byte, 1) != 1)
		_exit(1);
	return NULL;
}

static void lifecycle_leader_first(void)
{
	static struct snapshot snapshot;
	struct recorder rec;
	struct dev dev;
	pthread_t t;
	pid_t pid;
	int i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, false);
	CHECK(!pipe(last_thread_may_go), "pipe: %m");
	pid = fork();
	if (pid == 0) {
		for (i = 0; i < 3; i++)
			pthread_create(&t, NULL, last_thread, NULL);
		syscall(SYS_exit, 0);
	}
	WAIT_FOR(process_is(pid, 'Z'), 5000, "the leader does not exit");
	dev_snapshot(&dev, &snapshot);
	CHECK(snapshot_find(&snapshot, pid), "freed while threads are left");
	CHECK(write(last_thread_may_go[1], "xx", 2) == 2, "write: %m");
	sleep_ms(20);
	dev_snapshot(&dev, &snapshot);
	CHECK(snapshot_find(&snapshot, pid), "freed while a thread is left");
	CHECK(write(last_thread_may_go[1], "x", 1) == 1, "write: %m");
	reap(pid, 0);
	dev_snapshot(&dev, &snapshot);
	CHECK(!snapshot_find(&snapshot, pid), "not freed with the last thread");
	recorder_stop(&rec);
	CHECK(nth(&rec.log, CMT_REC_ALLOC, pid, 0) &&
	      !nth(&rec.log, CMT_REC_ALLOC, pid, 1), "not allocated once");
	CHECK(nth(&rec.log, CMT_REC_FREE, pid, 0) &&
	      !nth(&rec.log, CMT_REC_FREE, pid, 1), "not freed once");
	dev_close(&dev);
}

static uint64_t cgroup_make(const char *path)
{
	struct stat st;

	CHECK(!mkdir(path, 0755) || errno == EEXIST, "mkdir %s: %m", path);
	CHECK(!stat(path, &st), "stat %s: %m", path);
	return st.st_ino;
}

static void cgroup_move(const char *path, pid_t pid)
{
	char file[128], text[16];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	snprintf(text, sizeof(text), "%d", pid);
	CHECK(!write_file(file, text), "%s: cannot move", path);
}

#define CG "/sys/fs/cgroup/cmt-test"

static void lifecycle_cgroup(void)
{
	static struct snapshot snapshot;
	const struct cmt_record *alloc, *moved, *child;
	uint64_t root, id;
	struct recorder rec;
	struct dev dev;
	char byte;
	int pipes[2];
	pid_t pid, grandchild;

	root = cgroup_make("/sys/fs/cgroup");
	id = cgroup_make(CG);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, false);
	CHECK(!pipe(pipes), "pipe: %m");
	pid = fork();
	if (pid == 0) {
		if (read(pipes[0], &byte, 1) != 1)
			_exit(1);
		grandchild = fork();
		if (grandchild == 0)
			_exit(0);
		waitpid(grandchild, NULL, 0);
		_exit(0);
	}
	cgroup_move(CG, pid);
	dev_snapshot(&dev, &snapshot);
	moved = snapshot_find(&snapshot, pid);
	CHECK(moved && moved->owner.cgroup_id == id, "snapshot: cgroup %llu",
	      moved ? (unsigned long long)moved->owner.cgroup_id : 0);
	CHECK(write(pipes[1], "x", 1) == 1, "write: %m");
	expect_exit_0(pid, "child");
	recorder_stop(&rec);
	CHECK(!rmdir(CG), "rmdir: %m");

	alloc = nth(&rec.log, CMT_REC_ALLOC, pid, 0);
	moved = nth(&rec.log, CMT_REC_UPDATE, pid, 0);
	CHECK(alloc && alloc->owner.cgroup_id == root, "ALLOC: not the root");
	CHECK(moved && moved->owner.cgroup_id == id && same_owner(alloc, moved),
	      "no UPDATE for the move");
	for (child = moved; child->type != CMT_REC_ALLOC; child++)
		CHECK(child + 1 < rec.log.records + rec.log.count,
		      "no ALLOC of the grandchild");
	CHECK(child->owner.cgroup_id == id, "grandchild in cgroup %llu",
	      (unsigned long long)child->owner.cgroup_id);
	dev_close(&dev);
}

/* At any time, the snapshot is the result of the records up to as_of. */
static void lifecycle_late_reader(void)
{
	static struct snapshot early, late;
	struct dev writer, reader;
	struct history history;
	struct log log = { };
	pid_t pids[20];
	int i;

	dev_open(&writer, O_RDONLY);
	dev_map(&writer, FROM_OLDEST);
	for (i = 0; i < 20; i++)
		pids[i] = park(0, NULL);
	for (i = 0; i < 10; i++)
		reap(pids[i], SIGKILL);

	/* late: this reader's rings have none of these records */
	dev_open(&reader, O_RDONLY);
	dev_map(&reader, FROM_NOW);
	dev_snapshot(&reader, &early);
	for (i = 10; i < 20; i++)
		CHECK(snapshot_find(&early, pids[i]), "%d is missing", pids[i]);
	for (i = 0; i < 10; i++)
		CHECK(!snapshot_find(&early, pids[i]), "%d is dead", pids[i]);
	for (i = 10; i < 15; i++)
		reap(pids[i], SIGKILL);
	dev_snapshot(&reader, &late);
	CHECK(late.as_of > early.as_of, "as_of does not move");

	dev_drain_events(&writer, &log);
	log_sort(&log);
	history_replay(&history, &log, &writer.info);
	history_matches(&history, &late);
	for (i = 0; i < (int)log.count; i++)
		if (is_lifecycle(&log.records[i]) &&
		    log.records[i].ts > early.as_of)
			break;
	log.count = i;
	history_replay(&history, &log, &writer.info);
	history_matches(&history, &early);
	log_free(&log);
	dev_close(&reader);
	dev_close(&writer);
}

const struct test lifecycle_tests[] = {
	{ "lifecycle_names", lifecycle_names, QUIET, 0 },
	{ "lifecycle_thread_exec", lifecycle_thread_exec, QUIET, 0 },
	{ "lifecycle_leader_first", lifecycle_leader_first, QUIET, 0 },
	{ "lifecycle_cgroup", lifecycle_cgroup, QUIET, 0 },
	{ "lifecycle_late_reader", lifecycle_late_reader, QUIET, 0 },
	{ "software_lifecycle_names", lifecycle_names, SOFTWARE QUIET, 0 },
	{ "software_lifecycle_late_reader", lifecycle_late_reader,
	  SOFTWARE QUIET, 0 },
	{ }
};
