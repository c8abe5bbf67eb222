// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PERF records: what the tasks of an owner waited for a CPU.  tests/lab/suite/wait.c has
 * situations whose answer is known.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crowd.h"
#include "waits.h"

#define MS 1000000ULL
#define NR_CPUS 2
/* A tick on each CPU */
#define BOUND_NS ((int64_t)(NR_CPUS * MS))

struct scene {
	struct dev dev;
	struct recorder rec;
	unsigned int nr;
	struct cmt_record owners[CROWD_GROUPS];
};

/* The crowd has real-time threads, too.  What is forked later is no real-time process. */
static void go_before_crowd(pthread_t recorder)
{
	struct sched_param param = { 50 };

	CHECK(!sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) &&
	      !pthread_setschedparam(recorder, SCHED_FIFO, &param), "SCHED_FIFO: %m");
}

static void scene_open(struct scene *scene, unsigned int nr)
{
	dev_open(&scene->dev, O_RDONLY);
	dev_map(&scene->dev, FROM_NOW);
	waits_ask(&scene->dev, CMT_F_WAITED);
	scene->nr = nr;
	for (unsigned int i = 0; i < nr; i++)
		scene->owners[i] = waits_container(&scene->dev, i);
	recorder_start(&scene->rec, &scene->dev, true);
	go_before_crowd(scene->rec.thread);
}

static void scene_close(struct scene *scene)
{
	log_free(&scene->rec.log);
	for (unsigned int i = 0; i < scene->nr; i++)
		group_remove(container(i));
	dev_close(&scene->dev);
}

static struct cmt_info info_of(const struct dev *dev)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &info), "GET_INFO: %m");
	return info;
}

/* Each CPU has written a record of after now. */
static void wait_records(const struct dev *dev)
{
	uint64_t now = now_ns();

	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		WAIT_FOR(__atomic_load_n(&dev->rings[cpu].last_ts, __ATOMIC_RELAXED) > now,
			 10000, "no tick on CPU %u", cpu);
}

/*
 * All ticks of the time until now are in the log.  A busy host may stop a processor between two
 * records of a tick, so it has to have begun the next one.
 */
static void wait_ticks(const struct dev *dev)
{
	wait_records(dev);
	wait_records(dev);
}

static int64_t difference(const char *what, uint64_t records, uint64_t kernel)
{
	int64_t more = (int64_t)(records - kernel);

	note("%s: records %llu us, kernel %llu us, %+lld us", what,
	     (unsigned long long)records / 1000, (unsigned long long)kernel / 1000,
	     (long long)more / 1000);
	return more;
}

static void compare(const char *what, uint64_t records, uint64_t kernel, int64_t bound)
{
	int64_t more = difference(what, records, kernel);

	CHECK(llabs(more) <= bound, "%s: off by %lld us", what, (long long)more / 1000);
}

/* A time of rest, and what had been waited by then */
struct rest {
	uint64_t ts;
	uint64_t ns[CROWD_GROUPS];
};

static void rest_note(struct rest *rest, const struct crowd *crowd, const struct dev *dev)
{
	wait_ticks(dev);
	rest->ts = now_ns();
	for (unsigned int i = 0; i < CROWD_GROUPS - 1; i++)
		rest->ns[i] = crowd_waited(crowd, i);
}

/*
 * What a task waits when it has exited has RMID 0, or that of the CPU at that time, as what it
 * runs then.
 */
static void compare_killed(const struct scene *scene, const struct rest *from,
			   const struct rest *to)
{
	static const struct cmt_record none;
	uint64_t kernel = to->ns[CROWD_KILLED] - from->ns[CROWD_KILLED];
	struct perfs of = perfs_of(&scene->rec.log, &scene->owners[CROWD_KILLED], -1,
				   from->ts, to->ts);
	struct perfs rest = perfs_of(&scene->rec.log, &none, -1, from->ts, to->ts);

	note("killed: records %llu us, kernel %llu us; RMID 0 %llu us",
	     (unsigned long long)of.waited_ns / 1000, (unsigned long long)kernel / 1000,
	     (unsigned long long)rest.waited_ns / 1000);
	CHECK(of.waited_ns < kernel + (uint64_t)BOUND_NS &&
	      of.waited_ns + rest.waited_ns + (uint64_t)BOUND_NS > kernel, "killed: off");
}

static uint64_t waited_by(const struct scene *scene, unsigned int i,
			  const struct rest *from, const struct rest *to)
{
	struct perfs sum = perfs_of(&scene->rec.log, &scene->owners[i], -1, from->ts, to->ts);

	CHECK(!sum.without && !sum.quotas, "%u without CMT_F_WAITED, %u with _WAIT_QUOTA",
	      sum.without, sum.quotas);
	return sum.waited_ns;
}

static void compare_round(const struct scene *scene, const struct rest *from,
			  const struct rest *to, int64_t bound)
{
	static const char *const names[] = { "plain", "plain too", "killed", "moved" };

	for (unsigned int i = 0; i < CROWD_GROUPS - 1; i++) {
		uint64_t ns = waited_by(scene, i, from, to);

		if (i == CROWD_MOVED)
			ns += waited_by(scene, i + 1, from, to);
		if (i == CROWD_KILLED)
			compare_killed(scene, from, to);
		else
			compare(names[i], ns, to->ns[i] - from->ns[i], bound);
	}
}

static void disturb(struct crowd *crowd, unsigned int ms)
{
	uint64_t until = now_ns() + ms * MS;

	while (now_ns() < until) {
		crowd_disturb(crowd);
		sleep_ms(2);
	}
}

#define ROUNDS	8
#define SEED	1

/* Process ids come again soon. */
static void wait_is_conserved(void)
{
	struct rest rests[ROUNDS + 1];
	struct crowd *crowd;
	struct scene scene;

	write_file("/proc/sys/kernel/pid_max", "400");
	scene_open(&scene, CROWD_GROUPS);
	crowd = crowd_start(SEED);
	rest_note(&rests[0], crowd, &scene.dev);
	for (int i = 1; i <= ROUNDS; i++) {
		crowd_go(crowd);
		disturb(crowd, 1000);
		crowd_rest(crowd);
		rest_note(&rests[i], crowd, &scene.dev);
	}
	crowd_stop(crowd);
	recorder_stop(&scene.rec);
	write_file("/proc/sys/kernel/pid_max", "32768");
	for (int i = 0; i < ROUNDS; i++)
		compare_round(&scene, &rests[i], &rests[i + 1], BOUND_NS);
	scene_close(&scene);
}

#define TIMES	4

/* What was on the CPU goes elsewhere, waits there, and comes back. */
static void wait_cpu_goes_offline(void)
{
	struct rest from, to;
	struct crowd *crowd;
	struct scene scene;

	scene_open(&scene, CROWD_GROUPS);
	crowd = crowd_start(SEED);
	rest_note(&from, crowd, &scene.dev);
	crowd_go(crowd);
	for (int i = 0; i < TIMES; i++) {
		disturb(crowd, 200);
		cpu_online(1, false);
		disturb(crowd, 200);
		cpu_online(1, true);
	}
	crowd_rest(crowd);
	rest_note(&to, crowd, &scene.dev);
	crowd_stop(crowd);
	recorder_stop(&scene.rec);
	/* while a CPU goes, it has no ticks for some time */
	compare_round(&scene, &from, &to, BOUND_NS + TIMES * 10 * (int64_t)MS);
	scene_close(&scene);
}

/* Waiting is asked for, and no more, while many wait; records say when they know. */
static void wait_asked_in_turn(void)
{
	struct crowd *crowd;
	struct scene scene;

	scene_open(&scene, CROWD_GROUPS);
	crowd = crowd_start(SEED);
	crowd_go(crowd);
	for (int i = 0; i < 3; i++) {
		CHECK(info_of(&scene.dev).counters == CMT_F_WAITED, "counters %#x",
		      info_of(&scene.dev).counters);
		CHECK(!info_of(&scene.dev).wait_reason[0], "reason '%s'",
		      info_of(&scene.dev).wait_reason);
		waits_ask(&scene.dev, 0);
		WAIT_FOR(!info_of(&scene.dev).counters, 10000, "still asked for");
		/* it is accounted for 2 s longer */
		disturb(crowd, i == 2 ? 100 : 2500);
		waits_ask(&scene.dev, CMT_F_WAITED);
		disturb(crowd, 100);
	}
	crowd_rest(crowd);
	crowd_stop(crowd);
	recorder_stop(&scene.rec);
	scene_close(&scene);
}

/* Processes that compute all the time, and what they waited by the kernel's account */
struct spinners {
	unsigned int nr;
	pid_t pids[4];
	uint64_t from, to;
	uint64_t ns[4];
};

static void spinners_fork(struct spinners *s, unsigned int nr)
{
	s->nr = nr;
	for (unsigned int i = 0; i < nr; i++)
		s->pids[i] = waits_fork(i, waits_spin);
}

/* A stopped process does not wait: the kernel has added up what it waited before. */
static void spinners_stop(const struct spinners *s, const struct dev *dev)
{
	for (unsigned int i = 0; i < s->nr; i++)
		kill(s->pids[i], SIGSTOP);
	for (unsigned int i = 0; i < s->nr; i++)
		WAIT_FOR(process_is(s->pids[i], 'T'), 10000, "process %u runs", i);
	wait_ticks(dev);
}

static void spinners_begin(struct spinners *s, const struct dev *dev)
{
	spinners_stop(s, dev);
	s->from = now_ns();
	for (unsigned int i = 0; i < s->nr; i++)
		s->ns[i] = process_waited(s->pids[i]);
	for (unsigned int i = 0; i < s->nr; i++)
		kill(s->pids[i], SIGCONT);
}

static void spinners_end(struct spinners *s, struct scene *scene)
{
	spinners_stop(s, &scene->dev);
	s->to = now_ns();
	for (unsigned int i = 0; i < s->nr; i++)
		s->ns[i] = process_waited(s->pids[i]) - s->ns[i];
	recorder_stop(&scene->rec);
}

static struct perfs spinner_perfs(const struct spinners *s, const struct scene *scene,
				  unsigned int i, int cpu)
{
	return perfs_of(&scene->rec.log, &scene->owners[i], cpu, s->from, s->to);
}

/* Returns what all of them waited. */
static uint64_t spinners_compare(const struct spinners *s, const struct scene *scene)
{
	int64_t more[4];
	uint64_t all = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		struct perfs sum = spinner_perfs(s, scene, i, -1);
		char name[16];

		snprintf(name, sizeof(name), "spinner %u", i);
		more[i] = difference(name, sum.waited_ns, s->ns[i]);
		CHECK(!sum.without && !sum.quotas, "%u without CMT_F_WAITED, %u with _WAIT_QUOTA",
		      sum.without, sum.quotas);
		all += sum.waited_ns;
	}
	for (unsigned int i = 0; i < s->nr; i++)
		CHECK(llabs(more[i]) <= BOUND_NS, "spinner %u is off", i);
	return all;
}

static void spinners_kill(const struct spinners *s)
{
	for (unsigned int i = 0; i < s->nr; i++)
		reap(s->pids[i], SIGKILL);
}

static void wait_three_on_two(void)
{
	struct spinners s;
	struct scene scene;
	uint64_t all;

	scene_open(&scene, 3);
	spinners_fork(&s, 3);
	spinners_begin(&s, &scene.dev);
	sleep_ms(2000);
	spinners_end(&s, &scene);
	all = spinners_compare(&s, &scene);
	note("of 100 %% of a CPU, they waited %llu %%",
	     (unsigned long long)(100 * all / (s.to - s.from)));
	/* 100, if the kernel never leaves a CPU to idle, and 200 on one CPU */
	CHECK(all > (s.to - s.from) / 10 * 8 && all < 2 * (s.to - s.from),
	      "waited %llu of %llu us", (unsigned long long)all / 1000,
	      (unsigned long long)(s.to - s.from) / 1000);
	spinners_kill(&s);
	scene_close(&scene);
}

/* One goes back and forth, mostly while it waits, between two CPUs with one each. */
static void wait_moved(void)
{
	struct spinners s;
	struct scene scene;

	scene_open(&scene, 3);
	spinners_fork(&s, 3);
	for (unsigned int i = 0; i < 3; i++)
		run_on(s.pids[i], i % NR_CPUS);
	spinners_begin(&s, &scene.dev);
	for (int i = 0; i < 400; i++) {
		run_on(s.pids[0], i % NR_CPUS);
		sleep_ms(3);
	}
	spinners_end(&s, &scene);
	spinners_compare(&s, &scene);
	for (int cpu = 0; cpu < NR_CPUS; cpu++) {
		uint64_t ns = spinner_perfs(&s, &scene, 0, cpu).waited_ns;

		note("CPU %d: waited %llu us", cpu, (unsigned long long)ns / 1000);
		CHECK(ns > (s.to - s.from) / 20, "no wait for CPU %d", cpu);
	}
	spinners_kill(&s);
	scene_close(&scene);
}

/*
 * Another CPU takes one off the run queue and puts it back, mostly while it waits, and so
 * fast that ticks see it half on the queue.  That is no quota.
 */
static void wait_changed(void)
{
	struct spinners s;
	struct scene scene;
	unsigned int n = 0;

	groups_limit_cpu();
	scene_open(&scene, 2);
	spinners_fork(&s, 2);
	for (unsigned int i = 0; i < 2; i++)
		run_on(s.pids[i], 0);
	run_on(0, 1);
	spinners_begin(&s, &scene.dev);
	while (now_ns() < s.from + 2000 * MS)
		CHECK(!setpriority(PRIO_PROCESS, (id_t)s.pids[0], n++ % 2), "setpriority: %m");
	spinners_end(&s, &scene);
	note("%u changes", n);
	CHECK(spinners_compare(&s, &scene) > 1000 * MS, "they did not wait");
	spinners_kill(&s);
	scene_close(&scene);
}

/* What the leader waited before exec(), which ends it: shared by the test and its process */
static uint64_t *leader_ns;

static void *spin_and_exec(void *unused)
{
	uint64_t until = now_ns() + 500 * MS;

	(void)unused;
	while (now_ns() < until)
		;
	*leader_ns = task_waited("/proc/self/schedstat");
	execl(suite_path, suite_path, "--pause", NULL);
	return NULL;
}

static void exec_by_thread(void)
{
	pthread_t thread;

	run_on(0, 1);
	pthread_create(&thread, NULL, spin_and_exec, NULL);
	for (;;)
		pause();
}

static bool has_executed(pid_t pid)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	read_file(path, text, sizeof(text));
	return !strcmp(text + strlen(text) + 1, "--pause") && process_is(pid, 'S');
}

/* A thread that calls exec() gets the process id of its leader, which waited for less. */
static void wait_exec_by_thread(void)
{
	uint64_t kernel;
	struct scene scene;
	struct perfs sum;
	pid_t beside, pid;

	leader_ns = mmap(NULL, sizeof(*leader_ns), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(leader_ns != MAP_FAILED, "mmap: %m");
	scene_open(&scene, 2);
	beside = waits_fork(1, waits_spin);
	run_on(beside, 1);
	pid = waits_fork(0, exec_by_thread);
	WAIT_FOR(has_executed(pid), 20000, "no exec");
	wait_ticks(&scene.dev);
	kernel = process_waited(pid) + *leader_ns;
	recorder_stop(&scene.rec);
	sum = perfs_of(&scene.rec.log, &scene.owners[0], -1, 0, now_ns());
	CHECK(kernel > 100 * MS, "waited %llu us", (unsigned long long)kernel / 1000);
	compare("thread", sum.waited_ns, kernel, (int64_t)kernel / 5);
	reap(pid, SIGKILL);
	reap(beside, SIGKILL);
	scene_close(&scene);
}

/* No tick tells who waits for an excluded CPU. */
static void wait_excluded(void)
{
	struct spinners s;
	struct scene scene;
	struct perfs sum;

	scene_open(&scene, 4);
	spinners_fork(&s, 4);
	for (unsigned int i = 0; i < 4; i++)
		run_on(s.pids[i], i / 2);
	sleep_ms(300);
	s.from = now_ns();
	sleep_ms(1000);
	s.to = now_ns();
	WAIT_FOR(scene.dev.rings[0].last_ts > s.to, 10000, "no tick");
	recorder_stop(&scene.rec);
	for (unsigned int i = 0; i < 4; i++) {
		sum = spinner_perfs(&s, &scene, i, -1);
		if (i < 2)
			CHECK(sum.waited_ns > (s.to - s.from) / 4, "on CPU 0: waited %llu us",
			      (unsigned long long)sum.waited_ns / 1000);
		else
			CHECK(!sum.records, "on CPU 1: %u records", sum.records);
	}
	spinners_kill(&s);
	scene_close(&scene);
}

/* Where all owners are CPUs, no switch changes an RMID: there is a probe for waiting alone. */
static void wait_scope_cpu(void)
{
	struct cmt_record owner;
	struct perfs sum;
	uint64_t from, to;
	struct scene scene;
	pid_t pids[2];

	scene_open(&scene, 0);
	owner = *owner_find(&scene.dev, CMT_OWNER_CPU, 1);
	for (int i = 0; i < 2; i++)
		pids[i] = spin_on(1);
	sleep_ms(300);
	from = now_ns();
	sleep_ms(1000);
	to = now_ns();
	wait_ticks(&scene.dev);
	recorder_stop(&scene.rec);
	sum = perfs_of(&scene.rec.log, &owner, -1, from, to);
	note("waited %llu us, ran %llu", (unsigned long long)sum.waited_ns / 1000,
	     (unsigned long long)sum.ran_ns / 1000);
	CHECK(sum.waited_ns > (to - from) / 10 * 9, "waited %llu of %llu us",
	      (unsigned long long)sum.waited_ns / 1000, (unsigned long long)(to - from) / 1000);
	for (int i = 0; i < 2; i++)
		reap(pids[i], SIGKILL);
	scene_close(&scene);
}

/* A kernel without CONFIG_SCHED_INFO, as tests/vm/debug-kernel makes one of 6.12 */
static void wait_unavailable(void)
{
	struct cmt_info info;
	struct perfs sum;
	struct scene scene;
	pid_t pid;

	scene_open(&scene, 1);
	info = info_of(&scene.dev);
	CHECK(!info.counters && !strcmp(info.perf_reason, "the kernel has no CONFIG_SCHED_INFO"),
	      "counters %#x, reason '%s'", info.counters, info.perf_reason);
	CHECK(!strcmp(info.wait_reason, info.perf_reason), "reason '%s'", info.wait_reason);
	pid = waits_fork(0, waits_spin);
	sleep_ms(100);
	wait_ticks(&scene.dev);
	recorder_stop(&scene.rec);
	sum = perfs_of(&scene.rec.log, &scene.owners[0], -1, 0, now_ns());
	CHECK(sum.records && sum.without == sum.records && sum.ran_ns && !sum.waited_ns,
	      "%u records, %u without CMT_F_WAITED", sum.records, sum.without);
	reap(pid, SIGKILL);
	scene_close(&scene);
}

#define PARAMS SOFTWARE "ring_records=65536 "
#define CONTAINERS PARAMS "scope=container"

const struct test wait_tests[] = {
	{ "wait_is_conserved", wait_is_conserved, CONTAINERS, 60 },
	{ "wait_three_on_two", wait_three_on_two, CONTAINERS, 40 },
	{ "wait_moved", wait_moved, CONTAINERS, 40 },
	{ "wait_changed", wait_changed, CONTAINERS, 40 },
	{ "wait_exec_by_thread", wait_exec_by_thread, CONTAINERS, 40 },
	{ "wait_excluded", wait_excluded, CONTAINERS " exclude_cpus=1", 40 },
	{ "wait_scope_cpu", wait_scope_cpu, PARAMS "scope=cpu", 40 },
	{ "wait_cpu_goes_offline", wait_cpu_goes_offline, CONTAINERS, 60 },
	{ "wait_asked_in_turn", wait_asked_in_turn, CONTAINERS, 60 },
	{ }
};

const struct test no_wait_tests[] = {
	{ "wait_unavailable", wait_unavailable, CONTAINERS, 40 },
	{ }
};
