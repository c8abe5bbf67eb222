// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks over processes and threads, module/cpu/walk.c: each one once, with pauses. */
#include <check.h>
#include <string.h>

#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "cpu/walk.h"
#include "unit.h"

#define IDS	1000

struct pid_namespace init_pid_ns;

static struct pid pids[IDS];		/* by id; nr 0: there is none */
static struct task_struct tasks[IDS];
static unsigned int seen[IDS];
static unsigned int in_section, longest;	/* ids looked at without a pause */
static unsigned int pauses;
static bool locked;
static void (*in_pause)(void);		/* what other tasks do in a pause */

struct pid *find_ge_pid(int nr, struct pid_namespace *ns)
{
	ck_assert(locked && ns == &init_pid_ns);
	in_section++;
	for (; nr < IDS; nr++)
		if (pids[nr].nr)
			return &pids[nr];
	return NULL;
}

struct task_struct *pid_task(struct pid *pid, enum pid_type type)
{
	ck_assert(locked);
	return pid->tasks[type];
}

int pid_nr(struct pid *pid)
{
	return pid->nr;
}

void rcu_read_lock(void)
{
	ck_assert(!locked);
	locked = true;
	in_section = 0;
}

void rcu_read_unlock(void)
{
	ck_assert(locked);
	locked = false;
	longest = in_section > longest ? in_section : longest;
}

void cond_resched(void)
{
	ck_assert(!locked);
	pauses++;
	if (in_pause)
		in_pause();
}

static void thread_make(int id, bool leads)
{
	pids[id].nr = id;
	pids[id].tasks[PIDTYPE_PID] = &tasks[id];
	pids[id].tasks[PIDTYPE_TGID] = leads ? &tasks[id] : NULL;
}

static void setup(void)
{
	memset(pids, 0, sizeof(pids));
	memset(seen, 0, sizeof(seen));
	longest = pauses = 0;
	in_pause = NULL;
}

static void see(struct task_struct *task)
{
	ck_assert(locked);
	seen[task - tasks]++;
}

START_TEST(test_none)
{
	setup();
	cmt_walk_tasks(PIDTYPE_PID, see);
	ck_assert_uint_eq(longest, 1);
	ck_assert_uint_eq(pauses, 0);
}
END_TEST

START_TEST(test_each_thread_once)
{
	int id;

	setup();
	for (id = 1; id < IDS; id += 3)
		thread_make(id, id % 2);
	cmt_walk_tasks(PIDTYPE_PID, see);
	for (id = 0; id < IDS; id++)
		ck_assert_uint_eq(seen[id], id % 3 == 1);
}
END_TEST

START_TEST(test_processes_alone)
{
	int id;

	setup();
	for (id = 1; id < IDS; id++)
		thread_make(id, id % 2);
	cmt_walk_tasks(PIDTYPE_TGID, see);
	for (id = 0; id < IDS; id++)
		ck_assert_uint_eq(seen[id], id % 2);
}
END_TEST

START_TEST(test_pauses)
{
	int id;

	setup();
	for (id = 1; id < IDS; id++)
		thread_make(id, false);
	cmt_walk_tasks(PIDTYPE_TGID, see);
	ck_assert_uint_eq(longest, CMT_WALK_CHUNK);
	ck_assert_uint_eq(pauses, (IDS - 1) / CMT_WALK_CHUNK);
}
END_TEST

static void all_change(void)
{
	int id;

	in_pause = NULL;
	for (id = 1; id < IDS; id += 2)
		pids[id].nr = 0;
}

/* Where the walk stands, and behind it, tasks end in a pause. */
START_TEST(test_tasks_end)
{
	int id;

	setup();
	for (id = 1; id < IDS; id++)
		thread_make(id, true);
	in_pause = all_change;
	cmt_walk_tasks(PIDTYPE_TGID, see);
	for (id = 1; id < IDS; id++)
		ck_assert_uint_eq(seen[id], id <= CMT_WALK_CHUNK || !(id % 2));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("walk");

	UNIT_CASE(suite, test_none);
	UNIT_CASE(suite, test_each_thread_once);
	UNIT_CASE(suite, test_processes_alone);
	UNIT_CASE(suite, test_pauses);
	UNIT_CASE(suite, test_tasks_end);
	return unit_run(suite);
}
