// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Schedules by chance: two to six tasks on two CPUs that compute, sleep and yield, with
 * priorities and classes, in containers with weights and quotas, and moved between CPUs.
 * After each, while all of them sleep, what each container waited is what the kernel says.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "../../vm/suite/waits.h"
#include "tests.h"

#define SCHEDULES	200	/* LAB_SCHEDULES=N of tests/lab/check asks for another number */
#define MS		1000000ULL
#define NR_CPUS		2
#define RUNNERS		6
#define GROUPS		4
struct runner {
	pid_t pid;
	uint32_t runs;		/* a futex */
	bool rests;
	uint32_t burst_us;
	uint32_t pause_us;	/* 0: it yields */
	unsigned int group;
};

/* A container in one schedule */
struct group {
	struct cmt_record owner;
	bool has_quota;
	unsigned int tasks;
	uint64_t kernel_ns;
	uint64_t throttled_ns;
};

struct table {
	struct dev dev;
	struct log log;
	uint64_t from, to;
	unsigned int tasks;
	struct group groups[GROUPS];
	uint64_t quotas;	/* number of containers that were out of their quota */
	uint64_t others, exact;	/* the others, and those that agree */
	uint64_t most_ns;	/* the others: the greatest difference */
};

static struct runner *runners;
static uint32_t chance;

static uint32_t any(uint32_t below)
{
	chance = chance * 1664525 + 1013904223;
	return (chance >> 8) % below;
}

static void rest_if_asked(struct runner *r)
{
	while (!__atomic_load_n(&r->runs, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&r->rests, true, __ATOMIC_RELEASE);
		syscall(SYS_futex, &r->runs, FUTEX_WAIT, 0, NULL, NULL, 0);
	}
	__atomic_store_n(&r->rests, false, __ATOMIC_RELEASE);
}

static void runner_main(struct runner *r)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct timespec pause = { .tv_nsec = r->pause_us * 1000L };
		uint64_t until;

		rest_if_asked(r);
		until = now_ns() + r->burst_us * 1000ULL;
		while (now_ns() < until)
			;
		if (r->pause_us)
			nanosleep(&pause, NULL);
		else
			sched_yield();
	}
}

static bool is_at_rest(const struct runner *r)
{
	return __atomic_load_n(&r->rests, __ATOMIC_ACQUIRE) && process_is(r->pid, 'S');
}

static void wait_rest(void)
{
	for (int i = 0; i < RUNNERS; i++)
		WAIT_FOR(is_at_rest(&runners[i]), 30000, "task %d does not rest", i);
}

static void runners_fork(void)
{
	runners = mmap(NULL, RUNNERS * sizeof(*runners), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(runners != MAP_FAILED, "mmap: %m");
	for (unsigned int i = 0; i < RUNNERS; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0, "fork: %m");
		if (!pid)
			runner_main(&runners[i]);
		runners[i].pid = pid;
		runners[i].group = i % GROUPS;
		group_enter(container(i % GROUPS), pid);
	}
	wait_rest();
}

static void pin(const struct runner *r, uint32_t cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		if (cpus & 1U << cpu)
			CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(r->pid, sizeof(set), &set), "sched_setaffinity: %m");
}

static void runner_choose(struct runner *r)
{
	static const int classes[] = { SCHED_OTHER, SCHED_OTHER, SCHED_BATCH, SCHED_IDLE,
				       SCHED_RR };
	int class = classes[any(5)];
	struct sched_param param = { class == SCHED_RR };

	r->burst_us = 10 + any(3000);
	r->pause_us = any(3) ? any(3000) : 0;
	CHECK(!sched_setscheduler(r->pid, class, &param), "sched_setscheduler: %m");
	setpriority(PRIO_PROCESS, (id_t)r->pid, (int)any(40) - 20);
	pin(r, 1 + any(3));
}

static void group_choose(struct group *g, unsigned int i)
{
	static const char *const weights[] = { "1", "100", "300", "10000" };
	char quota[32];

	g->has_quota = !any(4);
	snprintf(quota, sizeof(quota), "%u 20000", 2000 + any(16000));
	group_set(i, "cpu.weight", weights[any(4)]);
	group_set(i, "cpu.max", g->has_quota ? quota : "max 20000");
}

static void choose(struct table *t)
{
	struct runner *moved = &runners[any(RUNNERS)];

	t->tasks = 2 + any(RUNNERS - 1);
	for (unsigned int i = 0; i < GROUPS; i++)
		group_choose(&t->groups[i], i);
	moved->group = any(GROUPS);
	group_enter(container(moved->group), moved->pid);
	for (unsigned int i = 0; i < t->tasks; i++)
		runner_choose(&runners[i]);
}

/* By the kernel, until now; the first call of a schedule is subtracted by the second. */
static void groups_note(struct table *t)
{
	for (unsigned int i = 0; i < GROUPS; i++) {
		struct group *g = &t->groups[i];

		g->throttled_ns = group_throttled_us(i) * 1000 - g->throttled_ns;
		g->kernel_ns = -g->kernel_ns;
		g->tasks = 0;
	}
	for (unsigned int i = 0; i < RUNNERS; i++) {
		struct group *g = &t->groups[runners[i].group];

		g->kernel_ns += process_waited(runners[i].pid);
		g->tasks += i < t->tasks;
	}
}

static void wait_ticks(struct table *t)
{
	uint64_t now = now_ns();

	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		WAIT_FOR((dev_drain(&t->dev, &t->log), t->dev.rings[cpu].last_ts > now), 10000,
			 "no tick on CPU %u", cpu);
}

static void run(struct table *t)
{
	uint32_t moves = 2 + any(10);

	for (unsigned int i = 0; i < t->tasks; i++) {
		__atomic_store_n(&runners[i].runs, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &runners[i].runs, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	while (moves--) {
		sleep_ms(1 + any(6));
		pin(&runners[any(t->tasks)], 1 + any(3));
	}
	for (unsigned int i = 0; i < t->tasks; i++)
		__atomic_store_n(&runners[i].runs, 0, __ATOMIC_RELEASE);
	wait_rest();
}

/* The longest time between two ticks of a CPU */
static uint64_t longest_tick(const struct log *log)
{
	uint64_t last[NR_CPUS] = { }, longest = 0;

	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_TICK)
			continue;
		if (last[r->cpu] && r->ts - last[r->cpu] > longest)
			longest = r->ts - last[r->cpu];
		last[r->cpu] = r->ts;
	}
	return longest;
}

/* A tick on each CPU: on a busy host, whose virtual CPUs stand still, ticks are longer. */
static int64_t bound_ns(const struct table *t)
{
	uint64_t tick = longest_tick(&t->log);

	return (int64_t)(NR_CPUS * (tick > MS ? tick : MS));
}

/*
 * With a quota, the kernel's number has more: for each task at most the time that the group
 * was throttled, and up to a tick beside each end of it, of which a period of 20 ms has two
 * on each CPU.
 */
static int64_t most_less(const struct table *t, const struct group *g)
{
	uint64_t periods = (t->to - t->from) / (20 * MS) + 2;
	uint64_t edges = 2 * NR_CPUS * periods * longest_tick(&t->log);

	return g->throttled_ns ? (int64_t)(g->tasks * (g->throttled_ns + edges)) : 0;
}

static void note_difference(struct table *t, uint64_t ns)
{
	t->others++;
	t->exact += ns <= 2 * 1024;	/* records have multiples of 1,024 ns, for each CPU */
	t->most_ns = ns > t->most_ns ? ns : t->most_ns;
}

static void group_compare(struct table *t, unsigned int i)
{
	const struct group *g = &t->groups[i];
	struct perfs sum = perfs_of(&t->log, &g->owner, -1, t->from, t->to);
	int64_t less = (int64_t)(g->kernel_ns - sum.waited_ns);

	CHECK(!sum.without, "%u records without CMT_F_WAITED", sum.without);
	CHECK(!sum.quotas || g->has_quota, "container %u: CMT_F_WAIT_QUOTA without a quota", i);
	CHECK(less >= -bound_ns(t) && less <= bound_ns(t) + most_less(t, g),
	      "container %u, %u tasks: records %llu us, kernel %llu, throttled %llu", i,
	      g->tasks, (unsigned long long)sum.waited_ns / 1000,
	      (unsigned long long)g->kernel_ns / 1000,
	      (unsigned long long)g->throttled_ns / 1000);
	if (g->throttled_ns)
		t->quotas++;
	else
		note_difference(t, (uint64_t)llabs(less));
}

static void one_schedule(struct table *t)
{
	choose(t);
	for (unsigned int i = 0; i < GROUPS; i++)
		t->groups[i].kernel_ns = t->groups[i].throttled_ns = 0;
	groups_note(t);
	wait_ticks(t);
	t->log.count = 0;
	t->from = now_ns();
	run(t);
	/* the time of a group that is throttled, and has no task by now, is added up */
	for (unsigned int i = 0; i < GROUPS; i++)
		group_set(i, "cpu.max", "max 20000");
	wait_ticks(t);
	t->to = now_ns();
	groups_note(t);
	for (unsigned int i = 0; i < GROUPS; i++)
		group_compare(t, i);
}

static unsigned long schedules_wanted(void)
{
	unsigned long wanted = SCHEDULES;
	char text[2048], *word;

	read_file("/proc/cmdline", text, sizeof(text));
	word = strstr(text, "cmt_lab.schedules=");
	CHECK(!word || sscanf(word, "cmt_lab.schedules=%lu", &wanted) == 1, "%s", text);
	return wanted;
}

static void table_open(struct table *t)
{
	struct sched_param param = { 50 };

	memset(t, 0, sizeof(*t));
	dev_open(&t->dev, O_RDONLY);
	dev_map(&t->dev, FROM_NOW);
	waits_ask(&t->dev, CMT_F_WAITED);
	groups_limit_cpu();
	for (unsigned int i = 0; i < GROUPS; i++)
		t->groups[i].owner = waits_container(&t->dev, i);
	runners_fork();
	CHECK(!sched_setscheduler(0, SCHED_FIFO, &param), "SCHED_FIFO: %m");
}

static void note_so_far(const struct table *t, unsigned long n)
{
	note("%lu schedules: %llu containers, %llu of them to 2 us, the others to %llu us; and %llu that were out of their quota",
	     n, (unsigned long long)t->others, (unsigned long long)t->exact,
	     (unsigned long long)t->most_ns / 1000, (unsigned long long)t->quotas);
}

static void schedules(void)
{
	unsigned long wanted = schedules_wanted();
	struct table t;

	table_open(&t);
	for (unsigned long i = 0; i < wanted; i++) {
		chance = (uint32_t)i * 2654435761U;
		one_schedule(&t);
		if (i % 100 == 99 || i == wanted - 1)
			note_so_far(&t, i + 1);
	}
	CHECK(t.quotas, "no container was out of its quota");
	for (int i = 0; i < RUNNERS; i++)
		reap(runners[i].pid, SIGKILL);
	for (unsigned int i = 0; i < GROUPS; i++)
		group_remove(container(i));
	log_free(&t.log);
	dev_close(&t.dev);
}

const struct test wait_schedules_tests[] = {
	{ "wait_schedules", schedules, SOFTWARE "scope=container ring_records=65536", 80000 },
	{ }
};
