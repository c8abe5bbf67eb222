// SPDX-License-Identifier: GPL-2.0-or-later
/* Owners that a descriptor registers, and readings without a tick. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"

#define MANUAL "scope=manual ring_records=16384"
#define MIB (1024 * 1024)
#define VALUES (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

/* The guest has one domain. */
static struct cmt_record read_one(const struct dev *dev, uint32_t kind,
				  uint64_t id, const struct cmt_attach *owner)
{
	uint64_t before = now_ns();
	struct cmt_record r;
	int n = owner_read(dev, kind, id, &r, 1);

	CHECK(n == 1, "READ: %d", n);
	CHECK(r.type == CMT_REC_SAMPLE && r.rmid == owner->rmid &&
	      r.generation == owner->generation,
	      "type %u, RMID %u of %u, generation %u of %u", r.type, r.rmid,
	      owner->rmid, r.generation, owner->generation);
	CHECK(r.ts + CMT_READ_FRESH_NS >= before && r.ts <= now_ns(),
	      "it is of another time");
	if (dev->info.backend != CMT_BACKEND_SOFTWARE)
		CHECK((r.flags & VALUES) == dev->info.events, "flags %#x",
		      r.flags);
	return r;
}

/* One reading is returned for this time. */
static void wait_stale(void)
{
	uint64_t from = now_ns();

	while (now_ns() - from <= CMT_READ_FRESH_NS)
		;
}

/* Touches this number of bytes repeatedly, on CPU 1. */
static pid_t walk(size_t bytes)
{
	pid_t pid = fork();
	volatile char *p;
	cpu_set_t set;
	size_t i;

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
	for (;;)
		for (i = 0; i < bytes; i += 64)
			p[i]++;
}

static void demand_process(void)
{
	struct cmt_attach out;
	struct cmt_record a, b;
	uint64_t ticks;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	ticks = dev_stats(&dev).ticks;
	pid = walk(MIB);
	CHECK(owner_read(&dev, CMT_OWNER_PROCESS, pid, &a, 1) == -ENOENT,
	      "a reading of no owner");
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	a = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	CHECK(owner_register(&dev, CMT_OWNER_PROCESS, pid, NULL) == -EEXIST,
	      "twice");
	WAIT_FOR(read_one(&dev, CMT_OWNER_PROCESS, pid, &out)
		 .sample.occupancy_bytes >= MIB / 2, 10000,
		 "half of its MiB is not in the cache");
	b = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	CHECK(b.ts > a.ts && b.sample.mbm_total_bytes >= a.sample.mbm_total_bytes,
	      "time or traffic goes back");
	CHECK(dev_stats(&dev).ticks == ticks, "there were ticks");
	CHECK(!owner_unregister(&dev, CMT_OWNER_PROCESS, pid), "UNREGISTER: %m");
	CHECK(owner_unregister(&dev, CMT_OWNER_PROCESS, pid) == -ENOENT, "twice");
	CHECK(!owner_find(&dev, CMT_OWNER_PROCESS, pid), "it keeps its RMID");
	CHECK(owner_read(&dev, CMT_OWNER_PROCESS, pid, &a, 1) == -ENOENT,
	      "a reading of no owner any more");
	reap(pid, SIGKILL);
	CHECK(owner_read(&dev, CMT_OWNER_PROCESS, pid, &a, 1) == -ESRCH,
	      "a reading of the dead");
	check_pool(&dev);
	dev_close(&dev);
}

static void demand_cgroup(void)
{
	struct cmt_attach out;
	struct cmt_record r;
	struct dev dev;
	uint64_t id;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	id = group_make("plain");
	pid = walk(MIB);
	group_enter("plain", pid);
	CHECK(!owner_register(&dev, CMT_OWNER_CGROUP, id, &out), "REGISTER: %m");
	WAIT_FOR(read_one(&dev, CMT_OWNER_CGROUP, id, &out)
		 .sample.occupancy_bytes >= MIB / 2, 10000, "no occupancy");
	CHECK(owner_read(&dev, CMT_OWNER_PROCESS, pid, &r, 1) == -ENOENT,
	      "its member is no owner");
	reap(pid, SIGKILL);
	read_one(&dev, CMT_OWNER_CGROUP, id, &out);
	group_remove("plain");
	CHECK(owner_read(&dev, CMT_OWNER_CGROUP, id, &r, 1) == -ENOENT, "removed");
	CHECK(!owner_unregister(&dev, CMT_OWNER_CGROUP, id), "what has ended: %m");
	CHECK(owner_unregister(&dev, CMT_OWNER_CGROUP, id) == -ENOENT,
	      "twice");
	check_pool(&dev);
	dev_close(&dev);
}

static void demand_cpu(void)
{
	struct cmt_attach out;
	struct cmt_record r;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = walk(MIB);
	CHECK(!owner_register(&dev, CMT_OWNER_CPU, 1, &out), "REGISTER: %m");
	WAIT_FOR(read_one(&dev, CMT_OWNER_CPU, 1, &out)
		 .sample.occupancy_bytes >= MIB / 2, 10000, "no occupancy");
	cpu_online(1, false);
	CHECK(owner_read(&dev, CMT_OWNER_CPU, 1, &r, 1) == -ENOENT, "offline");
	CHECK(owner_register(&dev, CMT_OWNER_CPU, 1, NULL) == -ENXIO, "offline");
	cpu_online(1, true);
	CHECK(owner_read(&dev, CMT_OWNER_CPU, 1, &r, 1) == -ENOENT,
	      "an owner again, without a registration");
	CHECK(!owner_register(&dev, CMT_OWNER_CPU, 1, &out),
	      "instead of what has ended");
	read_one(&dev, CMT_OWNER_CPU, 1, &out);
	CHECK(!owner_unregister(&dev, CMT_OWNER_CPU, 1), "UNREGISTER: %m");
	CHECK(!owner_find(&dev, CMT_OWNER_CPU, 1), "it keeps its RMID");
	reap(pid, SIGKILL);
	check_pool(&dev);
	dev_close(&dev);
}

/* A program that registers and then waits for its death. */
static pid_t program_start(pid_t of)
{
	struct dev dev;
	int done[2];
	char byte;
	pid_t pid;

	CHECK(!pipe(done), "pipe: %m");
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		close(done[0]);
		dev_open(&dev, O_RDWR);
		if (!owner_register(&dev, CMT_OWNER_PROCESS, of, NULL) &&
		    write(done[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(done[1]);
	CHECK(read(done[0], &byte, 1) == 1, "it could not register");
	close(done[0]);
	return pid;
}

static bool is_gone(const struct dev *dev, const struct cmt_attach *owner)
{
	const struct cmt_record *r = owner_find(dev, CMT_OWNER_PROCESS,
						owner->id);

	if (r)
		CHECK(r->rmid == owner->rmid &&
		      r->generation == owner->generation, "another RMID");
	return !r;
}

/* Two programs hold one owner, and one after the other is killed. */
static void demand_two_programs(void)
{
	pid_t pid, first, second, third;
	struct cmt_attach out;
	struct dev dev, own;

	dev_open(&dev, O_RDONLY);
	pid = walk(MIB);
	first = program_start(pid);
	second = program_start(pid);
	dev_open(&own, O_RDWR);		/* the children have no copy of the descriptor */
	CHECK(!owner_register(&own, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	CHECK(!is_gone(&dev, &out), "no owner");
	reap(first, SIGKILL);
	CHECK(!is_gone(&dev, &out), "freed with two left");
	read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	/* another descriptor of the same program has not registered */
	CHECK(owner_unregister(&own, CMT_OWNER_PROCESS, 1) == -ENOENT,
	      "not registered");
	CHECK(!owner_unregister(&own, CMT_OWNER_PROCESS, pid), "UNREGISTER: %m");
	read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	CHECK(!is_gone(&dev, &out), "freed with one left");
	reap(second, SIGKILL);
	WAIT_FOR(is_gone(&dev, &out), 5000, "not freed after the last");

	/* a descriptor that two processes share ends with the second process */
	CHECK(!owner_register(&own, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	third = park(0, NULL);
	close(own.fd);
	CHECK(!is_gone(&dev, &out), "its child has the descriptor, too");
	read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	reap(third, SIGKILL);
	WAIT_FOR(is_gone(&dev, &out), 5000, "not freed after the last copy");
	reap(pid, SIGKILL);
	check_pool(&dev);
	dev_close(&dev);
}

/* Registered and attached and of the scope, in all orders. */
static void demand_shared(void)
{
	struct cmt_attach out, got;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = park(0, NULL);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	CHECK(detach(&dev, CMT_OWNER_PROCESS, pid) == -ENOENT, "not attached");
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, 0, &got) &&
	      got.rmid == out.rmid && got.generation == out.generation,
	      "attached under another RMID");
	CHECK(!detach(&dev, CMT_OWNER_PROCESS, pid), "DETACH: %m");
	CHECK(!is_gone(&dev, &out), "detached, and gone");
	/* a scope with the owner, one without, and one with the owner again */
	scope_set(&dev, CMT_SCOPE_PROCESS);
	CHECK(!is_gone(&dev, &out), "gone with the scope");
	scope_set(&dev, CMT_SCOPE_CONTAINER);
	CHECK(!is_gone(&dev, &out), "gone with the scope");
	scope_set(&dev, CMT_SCOPE_PROCESS);
	CHECK(!owner_unregister(&dev, CMT_OWNER_PROCESS, pid), "UNREGISTER: %m");
	CHECK(!is_gone(&dev, &out), "the scope wants it");
	check_scope(&dev, CMT_SCOPE_PROCESS, NULL);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &got) &&
	      got.rmid == out.rmid,
	      "registered under another RMID");
	CHECK(!attach(&dev, CMT_OWNER_PROCESS, pid, 0, NULL), "ATTACH: %m");
	CHECK(!owner_unregister(&dev, CMT_OWNER_PROCESS, pid), "UNREGISTER: %m");
	CHECK(!is_gone(&dev, &out), "it is attached");
	scope_set(&dev, CMT_SCOPE_MANUAL);
	CHECK(is_gone(&dev, &out), "the scope forgets what is attached");

	CHECK(!owner_register(&dev, CMT_OWNER_CPU, 1, &out), "REGISTER: %m");
	scope_set(&dev, CMT_SCOPE_CPU);
	CHECK(owner_find(&dev, CMT_OWNER_CPU, 1)->rmid == out.rmid, "CPU 1");
	CHECK(!owner_unregister(&dev, CMT_OWNER_CPU, 1) &&
	      owner_find(&dev, CMT_OWNER_CPU, 1), "the scope wants it");
	reap(pid, SIGKILL);
	check_pool(&dev);
	dev_close(&dev);
}

/* A held owner ends, and another owner gets its id. */
static void demand_recycled(void)
{
	struct cmt_attach out, again;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = park(0, NULL);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	reap(pid, SIGKILL);
	CHECK(is_gone(&dev, &out), "the dead has an RMID");
	CHECK(park_as(pid) == pid, "another id");
	CHECK(!owner_find(&dev, CMT_OWNER_PROCESS, pid), "it is an owner");
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &again), "again: %m");
	read_one(&dev, CMT_OWNER_PROCESS, pid, &again);
	CHECK(!owner_unregister(&dev, CMT_OWNER_PROCESS, pid), "UNREGISTER: %m");
	CHECK(owner_unregister(&dev, CMT_OWNER_PROCESS, pid) == -ENOENT,
	      "two holds");
	reap(pid, SIGKILL);
	check_pool(&dev);
	dev_close(&dev);
}

/* A process whose child lives on has ended, and another process gets its id. */
static void demand_recycled_parent(void)
{
	struct cmt_attach out, again;
	struct dev dev;
	int go[2];
	char byte;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = fork_with_pipe(go);
	if (!pid) {
		if (read(go[0], &byte, 1) == 1 && !fork())
			for (;;)
				pause();
		_exit(0);
	}
	CHECK(!owner_order(&dev, CMT_IOC_REGISTER, CMT_OWNER_PROCESS, pid,
			   CMT_ATTACH_CHILDREN, &out), "REGISTER: %m");
	CHECK(write(go[1], "x", 1) == 1, "write: %m");
	reap(pid, 0);
	CHECK(!is_gone(&dev, &out), "the child has no owner");
	CHECK(owner_register(&dev, CMT_OWNER_PROCESS, pid, NULL) == -ESRCH,
	      "what has ended is registered");
	CHECK(park_as(pid) == pid, "another id");
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &again),
	      "another process with the id: %m");
	CHECK(again.rmid != out.rmid, "the RMID of the child");
	read_one(&dev, CMT_OWNER_PROCESS, pid, &again);
	CHECK(owner_register(&dev, CMT_OWNER_PROCESS, pid, NULL) == -EEXIST, "twice");

	/* first the process that has the id */
	CHECK(!owner_unregister(&dev, CMT_OWNER_PROCESS, pid), "UNREGISTER: %m");
	CHECK(!is_gone(&dev, &out), "the child has no owner any more");
	CHECK(!owner_unregister(&dev, CMT_OWNER_PROCESS, pid), "UNREGISTER of the child: %m");
	CHECK(is_gone(&dev, &out), "the child keeps its owner");
	CHECK(owner_unregister(&dev, CMT_OWNER_PROCESS, pid) == -ENOENT, "a third time");
	reap(pid, SIGKILL);
	check_pool(&dev);
	dev_close(&dev);
}

/* In another PID namespace: its process 1, not that of the suite's */
static void namespace_run(const struct dev *dev)
{
	CHECK(getpid() == 1, "it has the id %d", getpid());
	CHECK(!owner_register(dev, CMT_OWNER_PROCESS, 1, NULL), "REGISTER: %m");
	CHECK(owner_register(dev, CMT_OWNER_PROCESS, 1, NULL) == -EEXIST, "twice");
	CHECK(!owner_unregister(dev, CMT_OWNER_PROCESS, 1), "UNREGISTER: %m");
	CHECK(owner_unregister(dev, CMT_OWNER_PROCESS, 1) == -ENOENT &&
	      owner_unregister(dev, CMT_OWNER_PROCESS, 0) == -ENOENT,
	      "a process of another namespace");
	_exit(0);
}

/* A descriptor that processes of two PID namespaces share */
static void demand_namespaces(void)
{
	struct cmt_attach out;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, 1, &out), "REGISTER: %m");
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	CHECK(pid >= 0, "clone: %m");
	if (!pid)
		namespace_run(&dev);
	expect_exit_0(pid, "the process in the other namespace");
	CHECK(!is_gone(&dev, &out), "process 1 has no owner any more");
	CHECK(!owner_unregister(&dev, CMT_OWNER_PROCESS, 1), "UNREGISTER: %m");
	check_pool(&dev);
	dev_close(&dev);
}

/* The last sample of an RMID that is now in a ring. */
static uint64_t ring_occupancy(struct dev *dev, uint32_t rmid)
{
	uint64_t ts = 0, bytes = 0;
	struct log log = { 0 };
	size_t i;

	dev_drain(dev, &log);
	for (i = 0; i < log.count; i++) {
		const struct cmt_record *r = &log.records[i];

		if (r->type == CMT_REC_SAMPLE && r->rmid == rmid && r->ts > ts) {
			ts = r->ts;
			bytes = r->sample.occupancy_bytes;
		}
	}
	log_free(&log);
	return bytes;
}

static bool is_near(uint64_t value, uint64_t a, uint64_t b)
{
	uint64_t slack = MIB / 8;

	return value + slack >= (a < b ? a : b) && value <= (a < b ? b : a) + slack;
}

/* A working set of known size: the rings and a reading have the same value. */
static void demand_value(void)
{
	uint64_t before = 0, after = 0, now = 0;
	struct patience patience = patience_of(20000);
	struct cmt_attach out;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	pid = walk(MIB);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	WAIT_FOR(ring_occupancy(&dev, out.rmid) >= MIB / 2, 10000,
		 "no occupancy in the rings");
	do {
		CHECK(patience_left(&patience), "%llu, %llu now, %llu",
		      (unsigned long long)before, (unsigned long long)now,
		      (unsigned long long)after);
		WAIT_FOR((before = ring_occupancy(&dev, out.rmid)), 5000,
			 "no samples");
		wait_stale();
		now = read_one(&dev, CMT_OWNER_PROCESS, pid, &out)
			.sample.occupancy_bytes;
		WAIT_FOR((after = ring_occupancy(&dev, out.rmid)), 5000,
			 "no samples");
	} while (now < MIB / 2 || !is_near(now, before, after));
	note("%llu in a ring, %llu now, %llu in a ring",
	     (unsigned long long)before, (unsigned long long)now,
	     (unsigned long long)after);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/* Reads all owners again and again. */
struct hammer {
	pthread_t thread;
	struct dev dev;
	struct log log;		/* readings of one RMID, each once */
	uint32_t rmid;
	uint64_t reads;
	bool stop;
};

static void *hammer_run(void *arg)
{
	struct cmt_record records[64];
	struct hammer *h = arg;
	uint64_t last = 0;
	int i, n;

	while (!__atomic_load_n(&h->stop, __ATOMIC_RELAXED)) {
		n = owner_read(&h->dev, 0, 0, records, 64);
		CHECK(n > 0, "READ: %d", n);
		h->reads++;
		for (i = 0; i < n; i++) {
			if (records[i].rmid != h->rmid || records[i].ts == last)
				continue;
			last = records[i].ts;
			log_add(&h->log, &records[i], h->log.count);
		}
	}
	return NULL;
}

static void hammer_start(struct hammer *h, uint32_t rmid)
{
	*h = (struct hammer){ .rmid = rmid };
	dev_open(&h->dev, O_RDONLY);
	CHECK(!pthread_create(&h->thread, NULL, hammer_run, h), "thread");
}

static void hammer_stop(struct hammer *h)
{
	__atomic_store_n(&h->stop, true, __ATOMIC_RELAXED);
	pthread_join(h->thread, NULL);
	dev_close(&h->dev);
}

/* The model fetches 4 bytes in a nanosecond; a quarter stays in 2 of 8 MiB. */
#define FILL_BYTES_PER_NS 3

/*
 * Traffic of one RMID in the order of time never decreases, and is never above the
 * possible.
 */
static void check_traffic(struct log *log, bool model)
{
	const struct cmt_record *first = NULL, *last = NULL;
	uint64_t bytes, ns;
	size_t i;

	log_sort(log);
	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		CHECK(!last || !(r->flags & CMT_F_REBASED), "begins anew");
		CHECK(!last || r->sample.mbm_total_bytes >=
		      last->sample.mbm_total_bytes, "traffic goes back");
		first = first ?: r;
		last = r;
	}
	CHECK(last && last != first, "no samples");
	bytes = last->sample.mbm_total_bytes - first->sample.mbm_total_bytes;
	ns = last->ts - first->ts;
	if (model)
		CHECK(bytes, "no traffic");
	if (model)
		CHECK(bytes <= (ns + ns / 20) * FILL_BYTES_PER_NS,
		      "%llu bytes in %llu ns", (unsigned long long)bytes,
		      (unsigned long long)ns);
	note("%zu samples, %llu bytes in %llu ns", log->count,
	     (unsigned long long)bytes, (unsigned long long)ns);
}

/* All values of one RMID in rings and readings are one consistent history. */
static void demand_beside_ticks(void)
{
	struct log all = { 0 };
	size_t i, in_rings = 0, ticks = 0;
	uint64_t ran, took;
	struct hammer hammers[2];
	struct cmt_attach out;
	struct recorder rec;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	pid = walk(8 * MIB);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	recorder_start(&rec, &dev, true);
	took = now_ns();
	ran = ran_ns(pid);
	for (i = 0; i < 2; i++)
		hammer_start(&hammers[i], out.rmid);
	sleep_ms(2000);
	for (i = 0; i < 2; i++)
		hammer_stop(&hammers[i]);
	ran = ran_ns(pid) - ran;
	took = now_ns() - took;
	recorder_stop(&rec);
	for (i = 0; i < rec.log.count; i++) {
		const struct cmt_record *r = &rec.log.records[i];

		ticks += r->type == CMT_REC_TICK && r->cpu == 1;
		if (r->type != CMT_REC_SAMPLE || r->rmid != out.rmid ||
		    r->generation != out.generation)
			continue;
		log_add(&all, r, i);
		in_rings++;
	}
	note("%llu and %llu reads, %zu samples in rings, %zu ticks of CPU 1, ran %.2f",
	     (unsigned long long)hammers[0].reads,
	     (unsigned long long)hammers[1].reads, in_rings, ticks,
	     (double)ran / (double)took);
	CHECK(hammers[0].reads && hammers[1].reads, "no reads");
	/* the process is in each tick before which it ran: CPU 1 runs the two that read too */
	CHECK(ticks > 100 && 1.1 * (double)in_rings * (double)took >=
	      (double)ticks * (double)ran, "ticks seldom get at it");
	check_traffic(&all, dev.info.backend == CMT_BACKEND_EMULATED);
	for (i = 0; i < hammers[0].log.count; i++)
		log_add(&all, &hammers[0].log.records[i], all.count);
	check_traffic(&all, dev.info.backend == CMT_BACKEND_EMULATED);
	log_free(&all);
	log_free(&hammers[0].log);
	log_free(&hammers[1].log);
	log_free(&rec.log);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/* Without ticks: traffic is rebased after too long a time without a reading. */
static void demand_rebased(void)
{
	struct cmt_record first, second, third;
	struct cmt_attach out;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = park(0, NULL);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	first = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	CHECK(first.flags & CMT_F_REBASED, "the first continues none");
	wait_stale();
	second = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	if (second.ts - first.ts < 1000000000)
		CHECK(!(second.flags & CMT_F_REBASED) &&
		      second.base == first.base, "the second continues it");
	sleep_ms(1200);
	third = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	CHECK(third.flags & CMT_F_REBASED && third.base == second.base + 1,
	      "flags %#x, base %u after %u", third.flags, third.base,
	      second.base);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/* Works for 50 ms, every 2.3 s, on CPU 1. */
static pid_t work_seldom(void)
{
	uint64_t until;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	run_on(0, 1);
	for (;;) {
		sleep_ms(2300);
		until = now_ns() + 50000000;
		while (now_ns() < until)
			;
	}
}

/*
 * Ticks that are a second apart read an RMID if it has run.  A reading on demand continues
 * the last one, also where such a tick is between them.
 */
static void demand_long_interval(void)
{
	struct cmt_record last, next;
	struct cmt_attach out;
	int i, checked = 0;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_set_interval(&dev, 1000000000);
	dev_map(&dev, FROM_NOW);
	pid = work_seldom();
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	last = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	for (i = 0; i < 40; i++) {
		sleep_ms(200);
		next = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
		/* the host may stop the guest for longer */
		if (next.ts - last.ts < 900000000) {
			checked++;
			CHECK(!(next.flags & CMT_F_REBASED) &&
			      next.base == last.base,
			      "reading %d, %llu ms after the last: flags %#x, base %u after %u",
			      i, (unsigned long long)(next.ts - last.ts) / 1000000,
			      next.flags, next.base, last.base);
		}
		last = next;
	}
	CHECK(checked, "no reading is near to the last one");
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/* The first reader of a ring takes no base from readings on demand. */
static void demand_first_reader(void)
{
	struct cmt_record last, next;
	struct cmt_attach out;
	int i, checked = 0;
	struct dev dev;
	pid_t pid;

	pid = park(0, NULL);
	for (i = 0; i < 3; i++) {
		dev_open(&dev, O_RDWR);
		CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out),
		      "REGISTER: %m");
		sleep_ms(1200);
		last = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
		dev_map(&dev, FROM_NOW);
		wait_stale();
		next = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
		if (next.ts - last.ts < 900000000) {
			checked++;
			CHECK(!(next.flags & CMT_F_REBASED) &&
			      next.base == last.base,
			      "%llu us after the last reading: flags %#x, base %u after %u",
			      (unsigned long long)(next.ts - last.ts) / 1000,
			      next.flags, next.base, last.base);
		}
		dev_close(&dev);
	}
	CHECK(checked, "no reading is near to the last one");
	reap(pid, SIGKILL);
}

/* The first sample of an RMID after @ts, when the ring has it. */
static struct cmt_record wait_sample(struct dev *dev, uint32_t rmid, uint64_t ts)
{
	struct patience patience = patience_of(10000);
	struct cmt_record found = { 0 };

	while (!found.ts) {
		struct log log = { 0 };
		size_t i;

		CHECK(patience_left(&patience), "no sample of RMID %u", rmid);
		sleep_ms(5);
		dev_drain(dev, &log);
		log_sort(&log);
		for (i = 0; i < log.count && !found.ts; i++)
			if (log.records[i].type == CMT_REC_SAMPLE &&
			    log.records[i].rmid == rmid && log.records[i].ts > ts)
				found = log.records[i];
		log_free(&log);
	}
	return found;
}

/*
 * Ticks of 100 ms read an idle RMID every 3.2 s.  A reading on demand shortly before is
 * rebased.  The next sample in the ring continues that reading, and must be flagged.
 */
static void demand_owed(void)
{
	struct cmt_record before, now, after;
	struct cmt_attach out;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	dev_set_interval(&dev, 100000000);
	dev_map(&dev, FROM_NOW);
	pid = park(0, NULL);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	before = wait_sample(&dev, out.rmid, 0);
	before = wait_sample(&dev, out.rmid, before.ts);
	WAIT_FOR(now_ns() - before.ts > 2800000000ULL, 5000, "time");
	now = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	CHECK(now.flags & CMT_F_REBASED, "it continues what is old");
	after = wait_sample(&dev, out.rmid, now.ts);
	CHECK(after.flags & CMT_F_REBASED, "the ring does not say so");
	if (after.ts - now.ts < 900000000) {
		now = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
		CHECK(now.base <= before.base + 8, "base %u", now.base);
		CHECK(!(now.flags & CMT_F_REBASED), "the next one does again");
	}
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/* The CPU that reads goes offline and online meanwhile. */
static void demand_hotplug(void)
{
	struct cmt_attach out;
	struct hammer hammer;
	struct dev dev;
	pid_t pid;
	int i;

	dev_open(&dev, O_RDWR);
	pid = park(0, NULL);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	hammer_start(&hammer, out.rmid);
	for (i = 0; i < 10; i++) {
		cpu_online(1, false);
		read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
		cpu_online(1, true);
	}
	hammer_stop(&hammer);
	for (i = 0; i < (int)hammer.log.count; i++)
		CHECK((hammer.log.records[i].flags & VALUES) == dev.info.events,
		      "no values: flags %#x", hammer.log.records[i].flags);
	log_free(&hammer.log);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

static uint64_t demand_ns(void)
{
	char text[4096];

	return proc_value(read_file("/proc/cmt/stats", text, sizeof(text)),
			  "demand_ns");
}

#define LOOPS 4

/* Processes that read all RMIDs in a loop, and count in @reads. */
static void loops_start(pid_t *pids, int loops, volatile uint64_t *reads)
{
	int i, n;

	for (i = 0; i < loops; i++) {
		static struct cmt_record records[MAX_RMIDS];
		struct dev dev;

		pids[i] = fork();
		CHECK(pids[i] >= 0, "fork: %m");
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dev_open(&dev, O_RDONLY);
		for (;; reads[i]++) {
			n = owner_read(&dev, 0, 0, records, MAX_RMIDS);
			CHECK(n > 0, "READ: %d", n);
		}
	}
}

/*
 * Readings have interrupts off for at most half of the time of one CPU in a domain,
 * however many programs read.  Both CPUs of the guest can read.  Each program goes on.
 */
static void demand_loops(void)
{
	volatile uint64_t *reads = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t ns, wall, before[LOOPS];
	pid_t owners[32], pids[LOOPS];
	struct cmt_record r;
	struct dev dev;
	int i;

	CHECK(reads != MAP_FAILED, "mmap: %m");
	dev_open(&dev, O_RDWR);
	for (i = 0; i < 32; i++) {
		owners[i] = park(0, NULL);
		CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, owners[i], NULL),
		      "REGISTER: %m");
	}
	loops_start(pids, LOOPS, reads);
	for (i = 0; i < LOOPS; i++)
		WAIT_FOR(reads[i], 10000, "program %d does not read", i);
	for (i = 0; i < LOOPS; i++)
		before[i] = reads[i];
	wall = now_ns();
	ns = demand_ns();
	sleep_ms(2000);
	for (i = 0; i < LOOPS; i++)
		WAIT_FOR(reads[i] > before[i], 10000, "program %d waits", i);
	ns = demand_ns() - ns;
	wall = now_ns() - wall;
	for (i = 0; i < LOOPS; i++)
		note("%llu reads",
		     (unsigned long long)(reads[i] - before[i]));
	note("%llu of %llu us in readings", (unsigned long long)ns / 1000,
	     (unsigned long long)wall / 1000);
	CHECK(ns, "no readings");
	CHECK(ns <= wall / 2 + wall / 50, "%llu of %llu us in readings",
	      (unsigned long long)ns / 1000, (unsigned long long)wall / 1000);
	/* programs that are killed in a call leave nothing behind */
	for (i = 0; i < LOOPS; i++)
		reap(pids[i], SIGKILL);
	CHECK(owner_read(&dev, CMT_OWNER_PROCESS, owners[0], &r, 1) == 1,
	      "READ: %m");
	for (i = 0; i < 32; i++)
		reap(owners[i], SIGKILL);
	dev_close(&dev);
}

#define READS		40
#define TAKEN_MS	150
#define SLOW_MS		70

/* Takes CPU 1 from all other processes, again and again.  *taken: while it does. */
static pid_t cpu_taker(volatile uint64_t *taken)
{
	const struct sched_param param = { .sched_priority = 1 };
	uint64_t until;
	pid_t pid = fork_on(1);

	if (pid)
		return pid;
	CHECK(!sched_setscheduler(0, SCHED_FIFO, &param), "SCHED_FIFO: %m");
	for (;;) {
		*taken = 0;
		sleep_ms(50);
		*taken = 1;
		until = now_ns() + TAKEN_MS * 1000000;
		while (now_ns() < until)
			;
	}
}

/* One reading in each time in which CPU 1 is taken.  Returns how many were slow. */
static int slow_reads(const struct dev *dev, const struct cmt_attach *owner,
		      volatile uint64_t *taken)
{
	uint64_t from, took, sum = 0;
	int i, slow = 0;

	for (i = 0; i < READS; i++) {
		WAIT_FOR(!*taken, 5000, "CPU 1 stays taken");
		WAIT_FOR(*taken, 5000, "CPU 1 is not taken");
		from = now_ns();
		read_one(dev, CMT_OWNER_PROCESS, owner->id, owner);
		took = now_ns() - from;
		sum += took;
		slow += took > SLOW_MS * 1000000;
	}
	note("%d readings took %llu us, %d of them more than %u ms", READS,
	     (unsigned long long)sum / 1000, slow, SLOW_MS);
	return slow;
}

/* A reader that loses its CPU between two calls does not delay another reader. */
static void demand_stopped_reader(void)
{
	volatile uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t owners[32], reader, taker;
	struct cmt_attach out;
	struct dev dev;
	int i, slow;

	CHECK(shared != MAP_FAILED, "mmap: %m");
	dev_open(&dev, O_RDWR);
	for (i = 0; i < 32; i++) {
		owners[i] = park(0, NULL);
		CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, owners[i], &out),
		      "REGISTER: %m");
	}
	run_on(0, 0);
	loops_start(&reader, 1, shared);
	WAIT_FOR(shared[0], 10000, "the program does not read");
	run_on(reader, 1);
	taker = cpu_taker(&shared[1]);
	slow = slow_reads(&dev, &out, &shared[1]);
	CHECK(slow * 8 < READS, "%d of %d readings waited for another reader", slow,
	      READS);
	reap(taker, SIGKILL);
	reap(reader, SIGKILL);
	for (i = 0; i < 32; i++)
		reap(owners[i], SIGKILL);
	dev_close(&dev);
}

static void demand_pending(void)
{
	struct cmt_record r;
	struct cmt_attach out;
	pid_t pids[8];
	struct dev dev;
	int i;

	dev_open(&dev, O_RDWR);
	for (i = 0; i < 8; i++) {
		pids[i] = park(0, NULL);
		CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pids[i], &out),
		      "REGISTER");
	}
	CHECK(owner_read(&dev, CMT_OWNER_PROCESS, pids[7], &r, 1) == -EAGAIN,
	      "the value of all who wait");
	reap(pids[0], SIGKILL);
	reap(pids[1], SIGKILL);
	WAIT_FOR(owner_read(&dev, CMT_OWNER_PROCESS, pids[7], &r, 1) == 1, 5000,
		 "not served");
	for (i = 2; i < 8; i++)
		reap(pids[i], SIGKILL);
	dev_close(&dev);
}

static void demand_bad(void)
{
	struct cmt_record records[8] = { 0 };
	struct cmt_read arg = { .size = sizeof(arg) };
	struct dev dev, ro;

	dev_open(&dev, O_RDWR);
	dev_open(&ro, O_RDONLY);
	CHECK(owner_register(&dev, 0, 1, NULL) == -EINVAL &&
	      owner_register(&dev, 4, 1, NULL) == -EINVAL, "no such kind");
	CHECK(owner_order(&dev, CMT_IOC_REGISTER, CMT_OWNER_PROCESS, 1, 2,
			  NULL) ==
	      -EINVAL &&
	      owner_order(&dev, CMT_IOC_REGISTER, CMT_OWNER_CPU, 1,
		      CMT_ATTACH_CHILDREN, NULL) == -EINVAL &&
	      owner_order(&dev, CMT_IOC_UNREGISTER, CMT_OWNER_PROCESS, 1,
		      CMT_ATTACH_CHILDREN, NULL) == -EINVAL, "no such option");
	CHECK(owner_register(&dev, CMT_OWNER_PROCESS, 2, NULL) == -ESRCH,
	      "a kernel thread");
	CHECK(owner_register(&dev, CMT_OWNER_CGROUP, 1ULL << 60, NULL) == -ENOENT,
	      "cgroup");
	CHECK(owner_register(&dev, CMT_OWNER_CPU, dev.info.nr_cpus, NULL) == -ENXIO,
	      "CPU");
	CHECK(owner_register(&ro, CMT_OWNER_CPU, 1, NULL) == -EBADF &&
	      owner_unregister(&ro, CMT_OWNER_CPU, 1) == -EBADF, "read-only");
	CHECK(owner_read(&ro, 4, 1, records, 8) == -EINVAL &&
	      owner_read(&ro, 0, 1, records, 8) == -EINVAL, "kind");
	CHECK(owner_read(&ro, CMT_OWNER_CPU, 1, records, 8) == -ENOENT,
	      "no owner");
	CHECK(ioctl(ro.fd, CMT_IOC_READ, &arg) && errno == ENOSPC &&
	      arg.count == 1, "the overflow owner alone: %u, %m", arg.count);
	CHECK(owner_read(&ro, 0, 0, records, 8) == 1 && !records[1].type,
	      "the overflow owner");
	CHECK(owner_read(&ro, 0, 0, (void *)8, 8) == -EFAULT, "bad records");
	CHECK(dev_stats(&dev).rmids_active == 1, "an owner by mistake");
	dev_close(&ro);
	dev_close(&dev);
}

static void demand_rights(void)
{
	struct cmt_attach out;
	struct dev dev;

	dev_open(&dev, O_RDWR);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, getpid(), &out), "REGISTER: %m");
	capabilities_keep(1ULL << CAP_DAC_OVERRIDE);
	CHECK(owner_register(&dev, CMT_OWNER_CPU, 0, NULL) == -EPERM &&
	      owner_unregister(&dev, CMT_OWNER_PROCESS, getpid()) == -EPERM,
	      "without a capability");
	read_one(&dev, CMT_OWNER_PROCESS, getpid(), &out);
	dev_close(&dev);
}

/* A descriptor has a limit of holds, and its close releases all of them. */
static void demand_many(void)
{
	uint64_t ids[CMT_REGISTER_MAX + 1];
	char name[32];
	struct dev dev, watch;
	unsigned int i;

	if (slowness > 1) {
		note("a thousand owners take minutes here");
		return;
	}
	dev_open(&dev, O_RDWR);
	dev_open(&watch, O_RDONLY);
	for (i = 0; i <= CMT_REGISTER_MAX; i++) {
		snprintf(name, sizeof(name), "many%u", i);
		ids[i] = group_make(name);
	}
	for (i = 0; i < CMT_REGISTER_MAX; i++)
		CHECK(!owner_register(&dev, CMT_OWNER_CGROUP, ids[i], NULL),
		      "%u: %m", i);
	CHECK(owner_register(&dev, CMT_OWNER_CGROUP, ids[i], NULL) == -ENOSPC,
	      "one more");
	CHECK(!owner_unregister(&dev, CMT_OWNER_CGROUP, ids[0]) &&
	      !owner_register(&dev, CMT_OWNER_CGROUP, ids[i], NULL), "instead: %m");
	dev_close(&dev);
	WAIT_FOR(dev_stats(&watch).rmids_active == 1 &&
		 !dev_stats(&watch).pending, 10000, "%u owners, %u wait",
		 dev_stats(&watch).rmids_active, dev_stats(&watch).pending);
	for (i = 0; i <= CMT_REGISTER_MAX; i++) {
		snprintf(name, sizeof(name), "many%u", i);
		group_remove(name);
	}
	dev_close(&watch);
}

/* Owners as usual, and no values. */
static void demand_software(void)
{
	struct cmt_attach out;
	struct cmt_record r;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDWR);
	pid = park(0, NULL);
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, pid, &out), "REGISTER: %m");
	r = read_one(&dev, CMT_OWNER_PROCESS, pid, &out);
	CHECK(!r.flags && !r.sample.occupancy_bytes &&
	      !r.sample.mbm_total_bytes, "flags %#x", r.flags);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

const struct test demand_tests[] = {
	{ "demand_process", demand_process, EMULATED MANUAL, 0 },
	{ "demand_cgroup", demand_cgroup, EMULATED MANUAL, 0 },
	{ "demand_cpu", demand_cpu, EMULATED MANUAL, 0 },
	{ "demand_two_programs", demand_two_programs, MANUAL, 0 },
	{ "demand_shared", demand_shared, MANUAL, 0 },
	{ "demand_recycled", demand_recycled, MANUAL, 0 },
	{ "demand_recycled_parent", demand_recycled_parent, MANUAL, 0 },
	{ "demand_namespaces", demand_namespaces, MANUAL, 0 },
	{ "demand_value", demand_value, EMULATED MANUAL, 60 },
	{ "demand_beside_ticks", demand_beside_ticks,
	  "scope=manual ring_records=65536", 30 },
	{ "demand_beside_ticks_emulated", demand_beside_ticks,
	  EMULATED "scope=manual ring_records=65536 emulated_cache_kib=2048", 30 },
	{ "demand_rebased", demand_rebased, MANUAL, 0 },
	{ "demand_long_interval", demand_long_interval, MANUAL, 40 },
	{ "demand_first_reader", demand_first_reader, MANUAL, 0 },
	{ "demand_owed", demand_owed, MANUAL, 60 },
	{ "demand_hotplug", demand_hotplug, MANUAL, 60 },
	{ "demand_loops", demand_loops, MANUAL " budget_us=100", 60 },
	{ "demand_stopped_reader", demand_stopped_reader, MANUAL, 60 },
	{ "demand_pending", demand_pending, EMULATED MANUAL " emulated_rmids=8", 0 },
	{ "demand_bad", demand_bad, MANUAL, 0 },
	{ "demand_rights", demand_rights, MANUAL, 0 },
	{ "demand_many", demand_many, MANUAL, 120 },
	{ "demand_software", demand_software, SOFTWARE MANUAL, 0 },
	{ }
};
