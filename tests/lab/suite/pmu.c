// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the lab itself: the counts of perf_event_open(2) with the lab's PMU,
 * compared with known code, the cache model, and the true counts per address space.
 */
#include <cpuid.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "event.h"
#include "tests.h"

#define LINE		64
#define PAGE		4096
#define CACHE_BYTES	lab_get(LAB_CONFIG, LAB_C_SIZE)
#define NMI_WATCHDOG	"/proc/sys/kernel/nmi_watchdog"
#define FIXED_COUNTERS	3
#define LEAF1_ECX_PDCM	(1U << 15)

/* Two instructions per iteration. */
static __attribute__((noinline)) void loop(uint64_t rounds)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r" (rounds) : : "cc");
}

/* The instructions of the process during a piece of work; done again if a context
 * switch came into a reading. */
#define MEASURE(page, prepare, what) ({					\
	uint64_t from_, to_;						\
	bool whole_;							\
	do {								\
		prepare;						\
		whole_ = event_rdpmc(page, &from_);			\
		what;							\
		whole_ &= event_rdpmc(page, &to_);			\
	} while (!whole_);						\
	to_ - from_;							\
})

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void check_lab(void)
{
	CHECK(lab_present(), "this is not the lab processor");
	CHECK(lab_get(LAB_CONFIG, LAB_C_PMU), "the processor has no PMU");
}

static pid_t spin_on(int cpu)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(0, cpu);
	for (;;)
		loop(1000000);
}

/* Linux has written to every register, and read back what it wrote. */
static void test_found(void)
{
	static char log[1 << 20];
	int n = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1);

	check_lab();
	CHECK(n > 0, "no kernel log: %m");
	CHECK(strstr(log, "generic architected perfmon") &&
	      strstr(log, "full-width counters") &&
	      strstr(log, "Intel PMU driver"), "Linux has found no PMU");
	CHECK(!strstr(log, "Broken PMU"), "Linux has found a broken PMU");
}

/* The count of a loop of N iterations is 2 * N and a constant. */
static void check_loops(const struct perf_event_mmap_page *page,
			const char *who)
{
	static const uint64_t rounds[] = { 1, 2, 1000, 12345, 20000000 };
	uint64_t constant = 0, n;
	size_t i;

	for (i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		n = MEASURE(page,, loop(rounds[i])) - 2 * rounds[i];
		if (!i)
			constant = n;
		CHECK(n == constant, "%s: %llu rounds: %lld off", who,
		      (unsigned long long)rounds[i],
		      (long long)(n - constant));
	}
	CHECK(constant < 50, "%s: %llu instructions too many", who,
	      (unsigned long long)constant);
	note("%s: loops of 2 to 40,000,000 instructions are counted exactly; %llu are the call's and the reading's",
	     who, (unsigned long long)constant);
}

static void test_loop(void)
{
	struct perf_event_mmap_page *page;
	pid_t pid;

	check_lab();
	run_on(0, 0);
	page = event_map(event_open(INSNS, USER | PINNED, -1));
	check_loops(page, "alone");
	pid = spin_on(0);
	check_loops(page, "beside a process on the same CPU");
	reap(pid, SIGKILL);
}

static void test_loop_on_two_cpus(void)
{
	int cpu, status;
	pid_t pids[2];

	check_lab();
	for (cpu = 0; cpu < 2; cpu++) {
		pids[cpu] = fork();
		CHECK(pids[cpu] >= 0, "fork: %m");
		if (pids[cpu])
			continue;
		run_on(0, cpu);
		check_loops(event_map(event_open(INSNS, USER | PINNED, -1)),
			    cpu ? "CPU 1" : "CPU 0");
		_exit(0);
	}
	for (cpu = 0; cpu < 2; cpu++)
		CHECK(waitpid(pids[cpu], &status, 0) == pids[cpu] && !status,
		      "CPU %d: status %#x", cpu, status);
}

#define FAULTS 1000

/* Five instructions a page; the second one faults, in the middle of a block. */
static __attribute__((noinline)) void
touch_pages(char *at, uint64_t pages)
{
	__asm__ volatile("1: nop\n\tmovb $1, (%0)\n\tadd $4096, %0\n\tdec %1\n\tjnz 1b"
			 : "+r" (at), "+r" (pages) : : "cc", "memory");
}

static void test_faults(void)
{
	struct perf_event_mmap_page *page;
	uint64_t first, second;
	char *memory;

	check_lab();
	run_on(0, 0);
	memory = mmap(NULL, FAULTS * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED, "mmap: %m");
	page = event_map(event_open(INSNS, USER | PINNED, -1));
	first = MEASURE(page, CHECK(!madvise(memory, FAULTS * PAGE, MADV_DONTNEED),
				    "madvise: %m"),
			touch_pages(memory, FAULTS));
	second = MEASURE(page,, touch_pages(memory, FAULTS));
	note("%d pages: %llu instructions with a fault each, %llu without",
	     FAULTS, (unsigned long long)first, (unsigned long long)second);
	CHECK(first == second, "faults change the count");
	CHECK(first - 5 * FAULTS < 50, "5 instructions a page are %llu",
	      (unsigned long long)first);
}

static __attribute__((noinline)) void
store_string(char *at, uint64_t bytes)
{
	__asm__ volatile("rep stosb" : "+D" (at), "+c" (bytes)
			 : "a" (1) : "memory");
}

static __attribute__((noinline)) void
scan_string(const char *at, uint64_t bytes)
{
	__asm__ volatile("repne scasb" : "+D" (at), "+c" (bytes)
			 : "a" (7) : "cc", "memory");
}

static void test_rep(void)
{
	static const uint64_t lengths[] = { 0, 1, 2, 100, 16 * PAGE };
	uint64_t store, scan, none = 0, none_scanned = 0;
	struct perf_event_mmap_page *page;
	char *memory;
	size_t i;

	check_lab();
	run_on(0, 0);
	page = event_map(event_open(INSNS, USER | PINNED, -1));
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(memory != MAP_FAILED, "mmap: %m");
		store = MEASURE(page,, store_string(memory, lengths[i]));
		memory[50] = 7;
		scan = MEASURE(page,, scan_string(memory, lengths[i]));
		if (!i) {
			none = store;
			none_scanned = scan;
		}
		CHECK(store == none && scan == none_scanned,
		      "REP of %llu bytes: %llu and %llu instructions, of 0 bytes %llu and %llu",
		      (unsigned long long)lengths[i], (unsigned long long)store,
		      (unsigned long long)scan, (unsigned long long)none,
		      (unsigned long long)none_scanned);
	}
	note("REP STOSB and REPNE SCASB of 0 to %d bytes, faults included: one instruction each; %llu with the call and the reading",
	     16 * PAGE, (unsigned long long)none);
}

static void walk_lines(volatile char *memory, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += LINE)
		memory[i]++;
}

static char *memory_new(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	CHECK(memory != MAP_FAILED, "mmap: %m");
	return memory;
}

#define WALKS 4

/* Reads each line of an area larger than the cache, which misses, and writes it. */
static void test_misses(void)
{
	size_t bytes = 4 * CACHE_BYTES, lines = bytes / LINE * WALKS;
	uint32_t penalty = lab_get(LAB_CONFIG, LAB_C_PENALTY);
	uint64_t truth_refs, truth_misses;
	struct counts counts;
	char *memory;
	uint32_t space;
	int group, i;

	check_lab();
	run_on(0, 0);
	memory = memory_new(bytes);
	group = event_open(MISSES, USER, -1);
	event_open(REFS, USER, group);
	event_open(INSNS, USER, group);
	event_open(CYCLES, USER, group);
	model_begin();
	space = lab_get(LAB_SPACE_NEW, 0);
	event_enable(group);
	for (i = 0; i < WALKS; i++)
		walk_lines(memory, bytes);
	event_disable(group);
	truth_misses = lab_get(LAB_SPACE_MISSES, space);
	truth_refs = lab_get(LAB_SPACE_REFS, space);
	lab_switch(false);
	event_read_all(group, &counts);
	note("%zu lines: %llu misses, truth %llu; %llu references, truth %llu; %llu instructions, %llu cycles",
	     lines, (unsigned long long)counts.values[0],
	     (unsigned long long)truth_misses,
	     (unsigned long long)counts.values[1],
	     (unsigned long long)truth_refs,
	     (unsigned long long)counts.values[2],
	     (unsigned long long)counts.values[3]);
	CHECK(difference(counts.values[0], lines) <= lines / 1000,
	      "not a miss for each line");
	CHECK(difference(counts.values[0], truth_misses) <= 20,
	      "the misses are not the model's");
	CHECK(difference(counts.values[1], truth_refs) <= 100,
	      "the references are not the model's");
	CHECK(counts.values[3] == counts.values[2] +
	      penalty * counts.values[0], "the cycles do not follow the rule");
}

/* The sum over all spaces equals the fills of the caches. */
static void test_misses_are_fills(void)
{
	uint32_t spaces = lab_get(LAB_CONFIG, LAB_C_SPACES), space;
	uint64_t misses = 0, fills;
	struct lab_answer answer;
	char *memory;

	check_lab();
	memory = memory_new(2 * CACHE_BYTES);
	model_begin();
	walk_lines(memory, 2 * CACHE_BYTES);
	lab_switch(false);
	fills = lab_get(LAB_STAT, LAB_S_FILLS);
	for (space = 0; space < spaces; space++) {
		answer = lab_ask(LAB_SPACE_MISSES, space);
		misses += answer.first + answer.second;
	}
	note("%llu fills, %llu misses of all spaces", (unsigned long long)fills,
	     (unsigned long long)misses);
	CHECK(fills >= 2 * CACHE_BYTES / LINE, "too few fills");
	CHECK(fills == misses, "the misses are not the model's");
}

/* The counts of perf for a process, and what the model executed for it. */
struct compared {
	uint64_t user, all;		/* of perf */
	struct lab_answer truth;	/* user, kernel */
};

static struct lab_answer truth_since(uint32_t space, struct lab_answer from)
{
	struct lab_answer now = lab_ask(LAB_SPACE_INSNS, space);

	now.first -= from.first;
	now.second -= from.second;
	return now;
}

/* In hundredths of a percent. */
static uint64_t compared_off(const struct compared *c)
{
	uint64_t truth = c->truth.first + c->truth.second;

	return difference(c->all, truth) * 10000 / truth;
}

static void compared_note(const char *who, const struct compared *c)
{
	note("%s: user %llu, truth %llu; with the kernel %llu, truth %llu: off by %llu.%02llu %%",
	     who, (unsigned long long)c->user,
	     (unsigned long long)c->truth.first, (unsigned long long)c->all,
	     (unsigned long long)(c->truth.first + c->truth.second),
	     (unsigned long long)compared_off(c) / 100,
	     (unsigned long long)compared_off(c) % 100);
}

/*
 * Run @fn in an address space with a name.  Kernel threads borrow the page tables of
 * the last process, so the model's counts include their work.  The priority keeps them
 * from running in between.
 */
static void compare(struct compared *c, void (*fn)(void *arg), void *arg)
{
	const struct sched_param priority = { .sched_priority = 1 };
	int all = event_open(INSNS, 0, -1), user = event_open(INSNS, USER, -1);
	uint32_t space = lab_get(LAB_SPACE_NEW, 0);
	struct lab_answer from;
	struct counts counts;

	CHECK(!sched_setscheduler(0, SCHED_FIFO, &priority), "priority: %m");
	event_enable(all);
	from = lab_ask(LAB_SPACE_INSNS, space);
	event_enable(user);
	fn(arg);
	event_disable(user);
	c->truth = truth_since(space, from);
	event_disable(all);
	event_read_all(all, &counts);
	c->all = counts.values[0];
	event_read_all(user, &counts);
	c->user = counts.values[0];
}

#define ROUNDS		1000
#define ENDS		200	/* user instructions of two system calls */

/* User code, system calls, and page faults. */
static void mixed_work(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		char *memory = memory_new(PAGE);

		loop(10000);
		syscall(SYS_getppid);
		munmap(memory, PAGE);
	}
}

static void test_values_match_lab(void)
{
	struct compared c;

	check_lab();
	run_on(0, 0);
	compare(&c, mixed_work, NULL);
	compared_note("user code, system calls and faults", &c);
	CHECK(difference(c.user, c.truth.first) <= ENDS,
	      "user instructions are not the truth");
	CHECK(compared_off(&c) <= 50, "more than 0.5 %% off");
}

/*
 * With icount, or on a processor that executes 10^9 instructions a second, there
 * are 1000 switches a second.
 */
#define SLICES		200
#define SLICE_LONG	1200000
#define SLICE_SHORT	800000

struct partner {
	int from, to;
	bool first;
	uint64_t slice;
};

/* Work for a slice, then let the other process run. */
static void take_turns(void *arg)
{
	const struct partner *partner = arg;
	char token = 0;
	int i;

	for (i = 0; i < SLICES; i++) {
		if (i || !partner->first)
			CHECK(read(partner->from, &token, 1) == 1, "read: %m");
		loop(partner->slice / 2);
		CHECK(write(partner->to, &token, 1) == 1, "write: %m");
	}
}

static void test_switching(void)
{
	struct compared *c = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int there[2], back[2], status, i;
	uint64_t begin;
	pid_t pids[2];

	check_lab();
	CHECK(c != MAP_FAILED && !pipe(there) && !pipe(back), "pipe: %m");
	begin = now_ns();
	for (i = 0; i < 2; i++) {
		struct partner partner = {
			.from = i ? there[0] : back[0],
			.to = i ? back[1] : there[1],
			.first = !i,
			.slice = i ? SLICE_LONG : SLICE_SHORT,
		};

		pids[i] = fork();
		CHECK(pids[i] >= 0, "fork: %m");
		if (pids[i])
			continue;
		run_on(0, 0);
		compare(&c[i], take_turns, &partner);
		_exit(0);
	}
	for (i = 0; i < 2; i++)
		CHECK(waitpid(pids[i], &status, 0) == pids[i] && !status,
		      "process %d: status %#x", i, status);
	note("%d switches in %llu ms", 2 * SLICES,
	     (unsigned long long)((now_ns() - begin) / 1000000));
	for (i = 0; i < 2; i++) {
		compared_note(i ? "long slices" : "short slices", &c[i]);
		CHECK(difference(c[i].user, c[i].truth.first) <= ENDS,
		      "user instructions are not the truth");
		CHECK(compared_off(&c[i]) <= 100, "more than 1 %% off");
	}
}

#define VICTIM_BYTES	(CACHE_BYTES / 4 * 3)
#define VICTIM_WALKS	10

/* Cycles per 1000 instructions while the process walks through its memory. */
static uint64_t victim_cpi(int group, char *memory)
{
	uint32_t penalty = lab_get(LAB_CONFIG, LAB_C_PENALTY);
	struct counts counts;
	int i;

	CHECK(!ioctl(group, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP),
	      "reset: %m");
	event_enable(group);
	for (i = 0; i < VICTIM_WALKS; i++)
		walk_lines(memory, VICTIM_BYTES);
	event_disable(group);
	event_read_all(group, &counts);
	CHECK(counts.values[1] == counts.values[0] +
	      penalty * counts.values[2], "the cycles do not follow the rule");
	return counts.values[1] * 1000 / counts.values[0];
}

static void test_victim(void)
{
	uint64_t alone, beside, after;
	struct worker *neighbour;
	char *memory;
	int group;

	check_lab();
	run_on(0, 0);
	neighbour = worker_start(4 * CACHE_BYTES);
	worker_pin(neighbour, 1);
	memory = memory_new(VICTIM_BYTES);
	group = event_open(INSNS, USER, -1);
	event_open(CYCLES, USER, group);
	event_open(MISSES, USER, group);
	model_begin();
	walk_lines(memory, VICTIM_BYTES);
	alone = victim_cpi(group, memory);
	worker_go(neighbour, true);
	worker_wait(neighbour, 1);
	beside = victim_cpi(group, memory);
	worker_go(neighbour, false);
	walk_lines(memory, VICTIM_BYTES);
	after = victim_cpi(group, memory);
	lab_switch(false);
	note("cycles of 1000 instructions: %llu alone, %llu beside a neighbour that evicts, %llu after it",
	     (unsigned long long)alone, (unsigned long long)beside,
	     (unsigned long long)after);
	CHECK(alone < 1500, "the victim misses alone");
	CHECK(beside > 2 * alone, "evictions do not cost cycles");
	CHECK(after < 1500, "the victim still misses");
	worker_stop(neighbour);
}

/* Use all counters: one event for each fixed counter; the other events count misses. */
static unsigned int pinned_events(int *fds)
{
	static const unsigned int fixed[FIXED_COUNTERS] = {
		INSNS, CYCLES, REF_CYCLES,
	};
	unsigned int n = lab_get(LAB_CONFIG, LAB_C_COUNTERS) + FIXED_COUNTERS;
	unsigned int i;

	for (i = 0; i < n; i++)
		fds[i] = event_open(i < FIXED_COUNTERS ? fixed[i] : MISSES,
				    PINNED, -1);
	for (i = 0; i < n; i++)
		event_enable(fds[i]);
	return n;
}

/* The number of pinned events with a counter. */
static unsigned int count_scheduled(const int *fds, unsigned int n)
{
	unsigned int i, scheduled = 0;
	struct counts counts;

	for (i = 0; i < n; i++) {
		if (!event_read(fds[i], &counts))
			continue;
		scheduled++;
		CHECK(counts.running_ns == counts.enabled_ns,
		      "a pinned event shares a counter");
	}
	return scheduled;
}

static void close_all(const int *fds, unsigned int n)
{
	while (n--)
		close(fds[n]);
}

static void test_too_many(void)
{
	unsigned int n, scheduled;
	int fds[COUNTERS_MAX];

	check_lab();
	run_on(0, 0);
	n = pinned_events(fds);
	scheduled = count_scheduled(fds, n);
	CHECK(scheduled == n, "%u events of %u have a counter", scheduled, n);
	fds[n] = event_open(REFS, PINNED, -1);
	event_enable(fds[n]);
	scheduled = count_scheduled(fds, n + 1);
	CHECK(scheduled == n, "%u counters, %u events have one", n, scheduled);
	close_all(fds, n + 1);

	CHECK(!write_file(NMI_WATCHDOG, "1"), "no NMI watchdog: %m");
	n = pinned_events(fds);
	scheduled = count_scheduled(fds, n);
	close_all(fds, n);
	CHECK(!write_file(NMI_WATCHDOG, "0"), "the NMI watchdog stays: %m");
	note("%u counters; with the NMI watchdog %u of %u pinned events have one",
	     n, scheduled, n);
	CHECK(scheduled == n - 1, "the NMI watchdog takes %u counters",
	      n - scheduled);
}

/* Events that share counters report the time for which they had one. */
static void test_multiplexed(void)
{
	unsigned int n = lab_get(LAB_CONFIG, LAB_C_COUNTERS) + 2, i, shared = 0;
	int fds[COUNTERS_MAX];
	struct counts counts;
	uint64_t begin;

	check_lab();
	run_on(0, 0);
	for (i = 0; i < n; i++)
		fds[i] = event_open(MISSES, 0, -1);
	for (i = 0; i < n; i++)
		event_enable(fds[i]);
	begin = now_ns();
	while (now_ns() - begin < 300000000)
		loop(100000);
	for (i = 0; i < n; i++) {
		CHECK(event_read(fds[i], &counts), "in error state");
		CHECK(counts.running_ns, "event %u never had a counter", i);
		shared += counts.running_ns < counts.enabled_ns;
	}
	note("%u of %u events shared counters", shared, n);
	CHECK(shared >= 3, "only %u events shared counters", shared);
	close_all(fds, n);
}

#define RING_PAGES	16
#define PERIOD		1000000
#define PERIODS		200

/* PERF_RECORD_SAMPLE in a ring that has not wrapped. */
static unsigned int count_samples(const struct perf_event_mmap_page *page)
{
	const char *data = (const char *)page + PAGE;
	uint64_t head = page->data_head, at = 0;
	unsigned int n = 0;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	CHECK(head <= RING_PAGES * PAGE, "the ring has wrapped");
	while (at < head) {
		const struct perf_event_header *header =
			(const void *)(data + at);

		n += header->type == PERF_RECORD_SAMPLE;
		at += header->size;
	}
	return n;
}

/* Each overflow raises an interrupt, late but never early. */
static void test_interrupts(void)
{
	const struct perf_event_mmap_page *page;
	unsigned int samples;
	struct counts counts;
	int fd;

	check_lab();
	run_on(0, 0);
	fd = event_sample(INSNS, PERIOD);
	page = mmap(NULL, (1 + RING_PAGES) * PAGE, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED, "mmap: %m");
	event_enable(fd);
	loop((uint64_t)PERIODS * PERIOD / 2);
	event_disable(fd);
	event_read_all(fd, &counts);
	samples = count_samples(page);
	note("%llu instructions, %u samples of %u",
	     (unsigned long long)counts.values[0], samples, PERIOD);
	CHECK(difference(counts.values[0], (uint64_t)PERIODS * PERIOD) <= ENDS,
	      "sampling changes the count");
	CHECK(samples <= PERIODS, "an interrupt without an overflow");
	CHECK(samples >= PERIODS / 4, "interrupts are missing");
}

/* The clock advances one nanosecond for each instruction. */
static void test_icount(void)
{
	int fd = event_open(INSNS, 0, -1);
	uint64_t begin, ns, off;
	struct counts counts;

	check_lab();
	event_enable(fd);
	begin = now_ns();
	loop(20000000);
	ns = now_ns() - begin;
	event_disable(fd);
	event_read_all(fd, &counts);
	off = difference(ns, counts.values[0]);
	note("%llu ns of one instruction each, %llu instructions counted",
	     (unsigned long long)ns, (unsigned long long)counts.values[0]);
	CHECK(off <= ns / 200, "more than 0.5 %% off");
}

/* A fault that is handled, so that it is not in the kernel's log. */
static void on_fault(int signal)
{
	_exit(signal);
}

static void test_off(void)
{
	uint32_t eax, ebx, ecx, edx;
	pid_t pid;
	int status;

	CHECK(lab_present(), "this is not the lab processor");
	__cpuid_count(0xa, 0, eax, ebx, ecx, edx);
	CHECK(!eax && !ebx && !ecx && !edx, "CPUID says that there is a PMU");
	__cpuid_count(1, 0, eax, ebx, ecx, edx);
	CHECK(!(ecx & LEAF1_ECX_PDCM), "CPUID says PDCM");
	CHECK(event_try(INSNS, 0, -1) < 0 && errno == ENOENT,
	      "an event without a PMU: %m");
	CHECK(!lab_get(LAB_SPACE_INSNS, lab_get(LAB_SPACE_NEW, 0)),
	      "instructions are counted");
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		signal(SIGSEGV, on_fault);
		signal(SIGILL, on_fault);
		__asm__ volatile("rdpmc" : "=a" (eax), "=d" (edx) : "c" (0));
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status),
	      "RDPMC is executed");
}

const struct test pmu_tests[] = {
	{ "pmu_is_found", test_found, NULL, 20 },
	{ "pmu_counts_a_loop", test_loop, NULL, 60 },
	{ "pmu_counts_on_two_cpus", test_loop_on_two_cpus, NULL, 60 },
	{ "pmu_counts_no_fault", test_faults, NULL, 20 },
	{ "pmu_counts_rep_once", test_rep, NULL, 20 },
	{ "pmu_misses_are_the_models", test_misses, NULL, 120 },
	{ "pmu_misses_are_fills", test_misses_are_fills, NULL, 120 },
	{ "pmu_values_match_lab", test_values_match_lab, NULL, 60 },
	{ "pmu_cpi_rises_with_evictions", test_victim, NULL, 180 },
	{ "pmu_counters_run_out", test_too_many, NULL, 60 },
	{ "pmu_events_share_counters", test_multiplexed, NULL, 60 },
	{ "pmu_interrupts_on_overflow", test_interrupts, NULL, 60 },
	{ 0 }
};

const struct test pmu_icount_tests[] = {
	{ "pmu_counts_a_loop", test_loop, NULL, 60 },
	{ "pmu_counts_no_fault", test_faults, NULL, 20 },
	{ "pmu_counts_rep_once", test_rep, NULL, 20 },
	{ "pmu_values_match_lab", test_values_match_lab, NULL, 60 },
	{ "pmu_values_match_lab_at_1_khz", test_switching, NULL, 120 },
	{ "pmu_interrupts_on_overflow", test_interrupts, NULL, 60 },
	{ "pmu_instructions_equal_icount", test_icount, NULL, 60 },
	{ 0 }
};

const struct test pmu_off_tests[] = {
	{ "pmu_is_off_by_default", test_off, NULL, 20 },
	{ 0 }
};
