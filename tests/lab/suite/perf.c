// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of owners by PERF records, compared with what the processor executed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "event.h"
#include "tests.h"

#define LINE		64
#define NR_VALUES	4
#define COUNTERS	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | \
			 CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)

static const char *const names[NR_VALUES] = {
	"cycles", "instructions", "LLC misses", "LLC references",
};

struct values {
	uint64_t of[NR_VALUES];
	uint32_t flags;		/* sum of all records */
	size_t records;
};

static void want(const struct dev *dev, uint32_t counters)
{
	struct cmt_counters arg = { .size = sizeof(arg), .counters = counters };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_COUNTERS, &arg), "SET_COUNTERS: %m");
}

static struct cmt_info info_of(const struct dev *dev)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &info), "GET_INFO: %m");
	return info;
}

/* The counts of an RMID and its generation. */
static struct values counted(const struct log *log, uint32_t rmid,
			     uint32_t generation)
{
	struct values v = { .flags = COUNTERS };

	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_PERF || r->rmid != rmid ||
		    r->generation != generation)
			continue;
		v.flags &= r->flags;
		v.records++;
		v.of[0] += r->perf.cycles;
		v.of[1] += r->perf.instructions;
		v.of[2] += r->perf.llc_misses;
		v.of[3] += r->perf.llc_references;
	}
	return v;
}

/* The counts of an address space, since the model gave the space its name. */
static struct values executed(uint32_t space)
{
	static const uint32_t asks[NR_VALUES] = {
		LAB_SPACE_CYCLES, LAB_SPACE_INSNS, LAB_SPACE_MISSES,
		LAB_SPACE_REFS,
	};
	struct values v = { .flags = COUNTERS };

	for (int i = 0; i < NR_VALUES; i++) {
		struct lab_answer answer = lab_ask(asks[i], space);

		v.of[i] = answer.first + answer.second;
	}
	return v;
}

/* Two ticks, so that all that ran until now has its records. */
static void ticks_pass(const struct dev *dev)
{
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		const struct ring *ring = &dev->rings[cpu];
		uint64_t before = ring_head(ring);

		/* records of an idle CPU: TICK, PERF and SAMPLE of RMID 0 */
		WAIT_FOR(ring_head(ring) > before + 12, 30000, "no ticks");
	}
}

static int cpu_event_open(unsigned int config, int cpu, unsigned int flags)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.pinned = !!(flags & PINNED),
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	CHECK(fd >= 0, "perf_event_open(%u): %m", config);
	return fd;
}

/*
 * As many events as there are counters, of a CPU, or with @cpu -1 of this process; @flags:
 * PINNED or 0
 */
static unsigned int take_all(int *fds, int cpu, unsigned int flags)
{
	static const unsigned int fixed[] = { INSNS, CYCLES, REF_CYCLES };
	unsigned int n = lab_get(LAB_CONFIG, LAB_C_COUNTERS) + 3, i;

	for (i = 0; i < n; i++) {
		unsigned int config = i < 3 ? fixed[i] : MISSES;

		fds[i] = cpu < 0 ? event_open(config, flags, -1) :
				   cpu_event_open(config, cpu, flags);
	}
	for (i = 0; i < n; i++)
		event_enable(fds[i]);
	return n;
}

#define SLICES		300
#define SLICE_BYTES	(64 << 10)
#define SLICE_LOOPS	100000

struct partner {
	int from, to, done;
	size_t bytes;		/* size of its memory */
	uint32_t space;
	bool ready;
};

static __attribute__((noinline)) void loop(uint64_t rounds)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r" (rounds) : : "cc");
}

/* Work for a slice, then let the other process run. */
static void partner_main(struct partner *p)
{
	volatile char *memory = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
				     -1, 0);
	size_t at = 0;
	char token;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(0, 0);
	CHECK(memory != MAP_FAILED, "mmap: %m");
	p->space = lab_get(LAB_SPACE_NEW, 0);
	__atomic_store_n(&p->ready, true, __ATOMIC_RELEASE);
	for (int i = 0; i < SLICES; i++) {
		CHECK(read(p->from, &token, 1) == 1, "read: %m");
		loop(SLICE_LOOPS);
		for (size_t n = 0; n < SLICE_BYTES; n += LINE)
			memory[(at += LINE) % p->bytes]++;
		CHECK(write(p->to, &token, 1) == 1, "write: %m");
	}
	CHECK(write(p->done, "", 1) == 1, "write: %m");
	for (;;)
		pause();
}

/*
 * Counts of idle and kernel threads in a slice, with the page tables of a process.
 * Most of them are references.
 */
static const uint64_t slack[NR_VALUES] = { 0, 0, 1, 1000 };
/* The same in an interrupt, of which a slow guest has more in a slice */
static const uint64_t interrupt_slack[NR_VALUES] = { 0, 0, 1, 0 };

/* Interrupts of CPU 0's timer since the boot */
static uint64_t timer_interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned long long n = 0;
	char line[1024];

	CHECK(file, "/proc/interrupts: %m");
	while (!n && fgets(line, sizeof(line), file))
		sscanf(line, " LOC: %llu", &n);
	fclose(file);
	CHECK(n, "/proc/interrupts has no timer");
	return n;
}

/* @interrupts: in the time of the counts */
static void values_check(const char *who, const struct values *said,
			 const struct values *truth, uint64_t interrupts)
{
	CHECK(said->records && said->flags == COUNTERS,
	      "%s: %zu records, flags %#x", who, said->records, said->flags);
	for (int i = 0; i < NR_VALUES; i++) {
		uint64_t a = said->of[i], b = truth->of[i];
		uint64_t off = a > b ? a - b : b - a;

		note("%s: %s %llu, truth %llu: off by %.2f %%", who, names[i],
		     (unsigned long long)a, (unsigned long long)b,
		     100.0 * off / b);
		CHECK(off <= b / 100 + slack[i] * SLICES + interrupt_slack[i] * interrupts,
		      "%s: %s more than 1 %% off", who, names[i]);
	}
}

static struct values minus(struct values a, const struct values *b)
{
	for (int i = 0; i < NR_VALUES; i++)
		a.of[i] -= b->of[i];
	return a;
}

/* Another agent needs all counters of CPU 0, and needs them no more. */
static void give_way_once(const struct dev *dev)
{
	int fds[COUNTERS_MAX];
	unsigned int n = take_all(fds, 0, PINNED);

	WAIT_FOR(!info_of(dev).counters, 10000, "counters %#x",
		 info_of(dev).counters);
	while (n--)
		close(fds[n]);
	WAIT_FOR(info_of(dev).counters == COUNTERS, 10000, "counters %#x: %s",
		 info_of(dev).counters, info_of(dev).perf_reason);
}

/*
 * Two owners take turns on one CPU, a thousand times a second and more.  One of them
 * finds its lines in the cache, the other one does not.  The work of a tick has RMID 0,
 * but in the model belongs to the interrupted process: so ticks are 10 ms apart.
 */
static void check_counts(void (*before_all)(const struct dev *dev))
{
	struct partner *p = mmap(NULL, 2 * sizeof(*p), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int there[2], back[2], done[2];
	struct values before[2], truth[2], said;
	static struct snapshot snapshot;
	uint64_t begin, interrupts;
	struct log log = { };
	struct dev dev;
	pid_t pids[2];
	char c;

	CHECK(p != MAP_FAILED && !pipe(there) && !pipe(back) && !pipe(done),
	      "pipe: %m");
	dev_open(&dev, O_RDONLY);
	for (int i = 0; i < 2; i++) {
		p[i] = (struct partner) {
			.from = i ? there[0] : back[0],
			.to = i ? back[1] : there[1],
			.done = done[1],
			.bytes = i ? 4 * lab_get(LAB_CONFIG, LAB_C_SIZE) :
				     2 * SLICE_BYTES,
		};
		pids[i] = fork();
		CHECK(pids[i] >= 0, "fork: %m");
		if (!pids[i])
			partner_main(&p[i]);
		WAIT_FOR(__atomic_load_n(&p[i].ready, __ATOMIC_ACQUIRE), 10000,
			 "a partner does not start");
	}
	run_on(0, 1);
	dev_map(&dev, FROM_NOW);
	want(&dev, COUNTERS);
	CHECK(info_of(&dev).counters == COUNTERS, "counters %#x: %s",
	      info_of(&dev).counters, info_of(&dev).perf_reason);
	if (before_all)
		before_all(&dev);
	dev_snapshot(&dev, &snapshot);
	model_begin();
	ticks_pass(&dev);
	dev_drain(&dev, &log);
	log.count = 0;
	for (int i = 0; i < 2; i++)
		before[i] = executed(p[i].space);
	interrupts = timer_interrupts();
	begin = now_ns();
	CHECK(write(back[1], "", 1) == 1, "write: %m");
	for (int i = 0; i < 2; i++)
		CHECK(read(done[0], &c, 1) == 1, "read: %m");
	for (int i = 0; i < 2; i++)
		truth[i] = executed(p[i].space);
	interrupts = timer_interrupts() - interrupts;
	note("%d switches in %llu ms, %llu interrupts", 2 * SLICES,
	     (unsigned long long)(now_ns() - begin) / 1000000,
	     (unsigned long long)interrupts);
	ticks_pass(&dev);
	dev_drain(&dev, &log);
	lab_switch(false);
	for (int i = 0; i < 2; i++) {
		const struct cmt_record *r = snapshot_find(&snapshot,
							   (uint32_t)pids[i]);

		CHECK(r, "a partner has no RMID");
		said = counted(&log, r->rmid, r->generation);
		truth[i] = minus(truth[i], &before[i]);
		values_check(i ? "misses" : "finds its lines", &said, &truth[i], interrupts);
	}
	for (int i = 0; i < 2; i++)
		reap(pids[i], SIGKILL);
	log_free(&log);
	dev_close(&dev);
}

static void perf_counts_match_lab(void)
{
	check_counts(NULL);
}

/* The counts are right again when cmt has its counters back. */
static void perf_counts_match_again(void)
{
	check_counts(give_way_once);
}

#define SPIN_NS		6000000000ULL

static void spinner_main(struct partner *p)
{
	uint64_t end;
	char token;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(0, 0);
	p->space = lab_get(LAB_SPACE_NEW, 0);
	__atomic_store_n(&p->ready, true, __ATOMIC_RELEASE);
	CHECK(read(p->from, &token, 1) == 1, "read: %m");
	end = now_ns() + SPIN_NS;
	while (now_ns() < end)
		loop(SLICE_LOOPS);
	CHECK(write(p->done, "", 1) == 1, "write: %m");
	for (;;)
		pause();
}

/*
 * Asks for instructions some of the time, for longer than two ticks.  They are dropped 1
 * to 2 s later, before the next time.
 */
static pid_t toggler_start(void)
{
	struct dev dev;
	pid_t pid = fork_on(1);

	if (pid)
		return pid;
	dev_open(&dev, O_RDONLY);
	for (;;) {
		sleep_ms(2500);
		want(&dev, CMT_F_INSTRUCTIONS);
		sleep_ms(200);
		want(&dev, 0);
	}
}

/* The values of each record have the instructions for their cycles, or none. */
static void check_added(const struct log *log, const struct cmt_record *owner,
			const struct values *truth)
{
	size_t complete = 0, missing = 0;
	uint64_t cycles = 0;

	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_PERF || r->rmid != owner->rmid ||
		    r->generation != owner->generation)
			continue;
		CHECK(r->flags & CMT_F_CYCLES, "cycles are missing: flags %#x",
		      r->flags);
		cycles += r->perf.cycles;
		if (!(r->flags & CMT_F_INSTRUCTIONS)) {
			missing++;
			continue;
		}
		/* the spinner's end: misses of the kernel's code, 200 cycles each */
		if (r->perf.cycles < 5 * SLICE_LOOPS)
			continue;
		complete++;
		CHECK(r->perf.instructions * 1.05 >=
		      1.0 * r->perf.cycles * truth->of[1] / truth->of[0],
		      "%llu instructions in %llu cycles",
		      (unsigned long long)r->perf.instructions,
		      (unsigned long long)r->perf.cycles);
	}
	note("%zu records with instructions, %zu without; %llu of %llu cycles",
	     complete, missing, (unsigned long long)cycles,
	     (unsigned long long)truth->of[0]);
	CHECK(complete > 10 && missing > 10, "instructions were not toggled");
	CHECK(cycles >= truth->of[0] / 100 * 97, "cycles are lost");
}

/*
 * Another descriptor asks for one more value, and ceases to, again and again.  Cycles are
 * counted all the time.  Instructions that were counted only some of the time of a record
 * are missing.
 */
static void perf_added_value(void)
{
	struct partner *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static struct snapshot snapshot;
	const struct cmt_record *owner;
	struct values before, truth;
	pid_t spinner, toggler;
	struct log log = { };
	int go[2], done[2];
	struct dev dev;
	char c;

	CHECK(p != MAP_FAILED && !pipe(go) && !pipe(done), "pipe: %m");
	dev_open(&dev, O_RDONLY);
	*p = (struct partner) { .from = go[0], .done = done[1] };
	spinner = fork();
	CHECK(spinner >= 0, "fork: %m");
	if (!spinner)
		spinner_main(p);
	WAIT_FOR(__atomic_load_n(&p->ready, __ATOMIC_ACQUIRE), 10000,
		 "the spinner does not start");
	run_on(0, 1);
	dev_map(&dev, FROM_NOW);
	want(&dev, CMT_F_CYCLES | CMT_F_LLC_MISSES);
	dev_snapshot(&dev, &snapshot);
	owner = snapshot_find(&snapshot, (uint32_t)spinner);
	CHECK(owner, "the spinner has no RMID");
	model_begin();
	ticks_pass(&dev);
	dev_drain(&dev, &log);
	log.count = 0;
	before = executed(p->space);
	toggler = toggler_start();
	CHECK(write(go[1], "", 1) == 1, "write: %m");
	CHECK(read(done[0], &c, 1) == 1, "read: %m");
	truth = executed(p->space);
	truth = minus(truth, &before);
	ticks_pass(&dev);
	dev_drain(&dev, &log);
	lab_switch(false);
	reap(toggler, SIGKILL);
	check_added(&log, owner, &truth);
	reap(spinner, SIGKILL);
	log_free(&log);
	dev_close(&dev);
}

/* Cycles per 1000 instructions while the worker walks. */
static uint64_t cpi_of(struct dev *dev, struct worker *worker)
{
	struct log log = { };
	struct values v;

	worker_wait(worker, 2);
	dev_drain(dev, &log);
	log.count = 0;
	worker_wait(worker, 10);
	dev_drain(dev, &log);
	v = counted(&log, worker->rmid, worker->generation);
	log_free(&log);
	CHECK(v.records && v.flags == COUNTERS, "%zu records, flags %#x",
	      v.records, v.flags);
	return v.of[0] * 1000 / v.of[1];
}

/* The victim's cycles rise with its evictions; those of other processes do not. */
static void perf_victim(void)
{
	size_t cache = lab_get(LAB_CONFIG, LAB_C_SIZE);
	struct worker *victim = worker_start(cache / 4 * 3);
	struct worker *neighbour = worker_start(4 * cache);
	uint64_t alone, beside = 0, after = 0;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	worker_identify(victim, &dev);
	worker_pin(victim, 0);
	worker_pin(neighbour, 1);
	dev_map(&dev, FROM_NOW);
	want(&dev, COUNTERS);
	model_begin();
	worker_go(victim, true);
	alone = cpi_of(&dev, victim);
	worker_go(neighbour, true);
	worker_wait(neighbour, 1);
	/* the host may not run the neighbour's CPU in the time of a measurement */
	WAIT_FOR((beside = cpi_of(&dev, victim)) > alone + alone / 2, 30000,
		 "the victim does not suffer: %llu cycles of 1000 instructions, %llu alone",
		 (unsigned long long)beside, (unsigned long long)alone);
	worker_go(neighbour, false);
	/* its lines come back as fast as the host runs it */
	WAIT_FOR((after = cpi_of(&dev, victim)) < alone + alone / 4, 30000,
		 "the victim suffers on: %llu cycles of 1000 instructions, %llu alone",
		 (unsigned long long)after, (unsigned long long)alone);
	lab_switch(false);
	note("cycles of 1000 instructions: %llu alone, %llu beside a neighbour, %llu after",
	     (unsigned long long)alone, (unsigned long long)beside,
	     (unsigned long long)after);
	worker_stop(victim);
	worker_stop(neighbour);
	dev_close(&dev);
}

static uint32_t flags_on(struct dev *dev, uint32_t cpu)
{
	struct log log = { };
	uint32_t flags = 0;

	dev_drain(dev, &log);
	log.count = 0;
	ticks_pass(dev);
	dev_drain(dev, &log);
	for (size_t i = 0; i < log.count; i++) {
		const struct cmt_record *r = &log.records[i];

		if (r->type != CMT_REC_PERF || r->cpu != cpu)
			continue;
		flags |= r->flags;
		CHECK(r->flags & CMT_F_CYCLES || !r->perf.cycles,
		      "cycles without their flag");
		CHECK(r->flags & CMT_F_LLC_MISSES || !r->perf.llc_misses,
		      "misses without their flag");
	}
	log_free(&log);
	return flags;
}

/* Counts as cmtstat does, which has no capability at that time. */
static void perf_unprivileged(void)
{
	char text[16];
	struct dev dev;

	CHECK(strtol(read_file("/proc/sys/kernel/perf_event_paranoid", text,
			       sizeof(text)), NULL, 10) > 0,
	      "any process may count on a CPU: %s", text);
	dev_open(&dev, O_RDONLY);
	CHECK(!setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534),
	      "setuid: %m");
	dev_map(&dev, FROM_NOW);
	want(&dev, COUNTERS);
	CHECK(info_of(&dev).counters == COUNTERS, "counters %#x: %s",
	      info_of(&dev).counters, info_of(&dev).perf_reason);
	CHECK(flags_on(&dev, 0) == COUNTERS, "not all are counted");
	dev_close(&dev);
}

/* With counters=first, cmt's events have their counters before those of other agents. */
static void perf_first(void)
{
	int fds[COUNTERS_MAX];
	struct dev dev;
	unsigned int n;

	run_on(0, 0);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	want(&dev, COUNTERS);
	CHECK(flags_on(&dev, 0) == COUNTERS, "not all are counted");
	n = take_all(fds, -1, PINNED);
	CHECK(flags_on(&dev, 0) == COUNTERS, "ours went to another agent");
	while (n--)
		close(fds[n]);
	dev_close(&dev);
}

/* The same as long as a descriptor asks for it */
static void perf_first_by_request(void)
{
	struct dev dev, other;
	int fds[COUNTERS_MAX];
	unsigned int n;

	run_on(0, 0);
	dev_open(&dev, O_RDONLY);
	dev_open(&other, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	want(&dev, COUNTERS);
	want(&other, CMT_F_CYCLES | CMT_F_COUNTERS_FIRST);
	n = take_all(fds, 0, 0);
	CHECK(flags_on(&dev, 0) == COUNTERS, "ours went to another agent");
	dev_close(&other);
	WAIT_FOR(!info_of(&dev).counters, 10000, "counters %#x: %s",
		 info_of(&dev).counters, info_of(&dev).perf_reason);
	CHECK(!flags_on(&dev, 0), "counted without counters");
	while (n--)
		close(fds[n]);
	dev_close(&dev);
}

/* An agent needs the counters of a CPU.  The other CPU keeps its counters. */
static void perf_gives_way(void)
{
	int fds[COUNTERS_MAX];
	struct dev dev;
	unsigned int n;

	run_on(0, 1);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	want(&dev, COUNTERS);
	CHECK(flags_on(&dev, 0) == COUNTERS, "not all are counted");
	n = take_all(fds, 0, PINNED);
	WAIT_FOR(!info_of(&dev).counters, 10000, "counters %#x",
		 info_of(&dev).counters);
	CHECK(strstr(info_of(&dev).perf_reason, "CPU 0: cmt gives way"),
	      "reason: %s", info_of(&dev).perf_reason);
	CHECK(!flags_on(&dev, 0), "counted without counters");
	CHECK(flags_on(&dev, 1) == COUNTERS, "CPU 1 lost its counters");
	while (n--)
		close(fds[n]);
	WAIT_FOR(info_of(&dev).counters == COUNTERS, 10000, "counters %#x: %s",
		 info_of(&dev).counters, info_of(&dev).perf_reason);
	flags_on(&dev, 0);
	CHECK(flags_on(&dev, 0) == COUNTERS, "not all are counted");
	dev_close(&dev);
}

/* An agent had the counters first.  When it releases them, the values come back. */
static void perf_gets_counters(void)
{
	int fds[COUNTERS_MAX];
	struct dev dev;
	unsigned int n;

	run_on(0, 0);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	n = take_all(fds, 0, PINNED);
	want(&dev, COUNTERS);
	CHECK(!flags_on(&dev, 0), "counted without counters");
	CHECK(!info_of(&dev).counters &&
	      strstr(info_of(&dev).perf_reason, "the counters of CPU 0"),
	      "counters %#x, reason: %s", info_of(&dev).counters,
	      info_of(&dev).perf_reason);
	/* a change of what is wanted does not change this */
	want(&dev, COUNTERS & ~CMT_F_CYCLES);
	want(&dev, COUNTERS);
	CHECK(!flags_on(&dev, 0), "counted without counters");
	while (n--)
		close(fds[n]);
	WAIT_FOR(info_of(&dev).counters == COUNTERS, 10000, "counters %#x: %s",
		 info_of(&dev).counters, info_of(&dev).perf_reason);
	flags_on(&dev, 0);
	CHECK(flags_on(&dev, 0) == COUNTERS, "not all are counted");
	dev_close(&dev);
}

const struct test perf_counts_tests[] = {
	{ "perf_counts_match_lab", perf_counts_match_lab, PROCESS " interval_us=10000", 180 },
	{ "perf_added_value", perf_added_value, PROCESS " interval_us=10000", 120 },
	{ "perf_cpi_of_victim_rises", perf_victim, PROCESS, 180 },
	{ "perf_without_privilege", perf_unprivileged, PROCESS, 60 },
	{ "perf_counts_match_again", perf_counts_match_again, PROCESS " interval_us=10000", 180 },
	{ "perf_first", perf_first, PROCESS " counters=first", 60 },
	{ "perf_first_by_request", perf_first_by_request, PROCESS, 60 },
	{ "perf_gives_way", perf_gives_way, PROCESS, 60 },
	{ "perf_gets_counters_back", perf_gets_counters, PROCESS, 60 },
	{ "perf_first_gets_counters_back", perf_gets_counters, PROCESS " counters=first", 60 },
	{ 0 }
};
