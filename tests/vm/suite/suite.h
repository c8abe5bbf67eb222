/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tests that run inside a guest, against the kernel's contract (uapi/cmt.h) and
 * nothing else.
 *
 * Every test runs in a separate process and process group.  The module is loaded for
 * each test and unloaded afterwards.  So leftovers of a test, or a refused unload, are
 * failures of this test.
 */
#ifndef CMT_SUITE_H
#define CMT_SUITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct test {
	const char *name;
	void (*fn)(void);
	const char *params;	/* of the module; NULL: the test loads it */
	unsigned int timeout_s;	/* 0: 20 */
};

extern const struct test load_tests[];
extern const struct test lifecycle_tests[];
extern const struct test pool_tests[];
extern const struct test ring_tests[];
extern const struct test map_tests[];
extern const struct test ioctl_tests[];
extern const struct test poll_tests[];
extern const struct test sample_tests[];
extern const struct test values_tests[];
extern const struct test hotplug_tests[];
extern const struct test perf_tests[];
/* Of a kernel with CONFIG_SCHED_INFO, and of one without. */
extern const struct test wait_tests[];
extern const struct test no_wait_tests[];
extern const struct test cqm_tests[];
/* The lab's. */
extern const struct test cqm_tools_tests[];
extern const struct test debug_tests[];
extern const struct test scope_tests[];
extern const struct test attach_tests[];
extern const struct test demand_tests[];
extern const struct test measure_tests[];
extern const struct test software_tests[];
extern const struct test secure_tests[];
extern const struct test flood_tests[];
extern const struct test bounds_tests[];
/* These tests have the same result on every kernel. */
extern const struct test full_tests[];
extern const struct test limits_tests[];
extern const struct test version_tests[];
#ifdef CMT_SUITE_LIB
extern const struct test lib_tests[];
#endif

/*
 * Options of the suite:
 *
 *	--slow N  this kernel is N times slower than a stock one: tests that count
 *		  thousands do 1/N of that, and every time limit is N times as long
 *	--hw      the processor has L3 monitoring, and the module must find it
 *	--emulated
 *		  the processor has none: a test that names no backend asks for the
 *		  model
 *	--module-next
 *		  the module is the next version of tests/abi/next
 *	--again   the tests ran on another kernel: tests that do not depend on the
 *		  kernel are left out, and the longest test does less
 *	--debug   the kernel is tests/vm/debug-kernel: its findings are checked after
 *		  the other tests
 */
extern unsigned int slowness;	/* 1: it is not */
extern bool again;
extern bool has_hw;
extern bool wants_model;

/* The module is the next version of tests/abi/next. */
extern bool module_is_next;

/* The test fails here, for this reason, and ends. */
void fail_at(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
#define FAIL(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(cond, ...) do { if (!(cond)) FAIL(__VA_ARGS__); } while (0)

/* A line of explanation in the test's output. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* CLOCK_MONOTONIC, ns */
uint64_t now_ns(void);
void sleep_ms(unsigned int ms);

/*
 * Wait until cond holds, and check it every millisecond.  Fails if cond does not hold
 * within ms milliseconds.  The limit ends a hang, and does not judge speed: time in
 * which the guest was not scheduled does not count.
 */
#define WAIT_FOR(cond, ms, ...) do {					\
	struct patience patience_ = patience_of(ms);			\
	while (!(cond)) {						\
		CHECK(patience_left(&patience_), __VA_ARGS__);		\
		sleep_ms(1);						\
	}								\
} while (0)

struct patience { uint64_t left_ns, asked_ns; };
struct patience patience_of(unsigned int ms);	/* multiplied by slowness */
bool patience_left(struct patience *patience);

/* The module, and the parameters of tests that are about one backend */
#define EMULATED "backend=emulated "
#define SOFTWARE "backend=software "
/*
 * 0 or -errno; with scope=process if @params name no scope, because fork() makes owners
 */
int module_load(const char *params);
int module_load_exact(const char *params);	/* with exactly these parameters */
int module_unload(void);		/* 0 or -errno; does not wait */
bool module_present(void);		/* is the module in /proc/modules? */

/* Files: the complete text, at most size - 1 bytes; "" if the file cannot be read. */
char *read_file(const char *path, char *text, size_t size);
/* The type of a PMU of perf, for perf_event_attr; 0: there is none of this name. */
uint32_t pmu_type(const char *pmu);
/* The number of the line "NAME NUMBER" of @text */
uint64_t proc_value(const char *text, const char *name);
int write_file(const char *path, const char *text);	/* 0 or -errno */
void cpu_online(int cpu, bool online);

/* Processes.  All are children of the test, killed at its end. */
#define MAX_PARKED 64
pid_t fork_with_pipe(int ends[2]);	/* as fork(), after pipe() */
pid_t fork_on(int cpu);	/* as fork(); the child is on that CPU, and ends with its parent */
pid_t park(unsigned int threads, const char *comm);	/* waits for a signal */
pid_t park_as(pid_t pid);	/* the same, with this id, which no process has */
pid_t walk_memory(size_t bytes);	/* touches them again and again, until it is killed */
void run_on(pid_t pid, int cpu);	/* on one CPU only; 0: this process */
void reap(pid_t pid, int signal);	/* 0: the process ends by itself */
void expect_exit_0(pid_t pid, const char *who);

/*
 * Run the tests of another such program by their prefix; they must pass.  @option: of
 * suite.h, or NULL
 */
void run_suite(const char *program, const char *option, const char *prefix);
void capabilities_keep(uint64_t set);	/* of this process, no others: 1 << CAP_... */
bool process_is(pid_t pid, char state);	/* as in /proc/PID/stat */
bool process_is_kernel(pid_t pid);

/* The path of this program, for programs that exec it: /bin/suite --true */
extern const char *suite_path;

#endif
