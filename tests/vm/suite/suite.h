/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tests that run inside a guest, against the kernel's contract
 * (uapi/cmt.h) and nothing else.
 *
 * Every test runs in a process of its own, in a process group of its own, with
 * the module loaded afresh for it and unloaded after it: what a test leaves
 * behind, or an unload that is refused, is that test's failure.
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
extern const struct test hotplug_tests[];
extern const struct test perf_tests[];
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
/* These say the same on every kernel. */
extern const struct test full_tests[];
extern const struct test limits_tests[];
extern const struct test version_tests[];
#ifdef CMT_SUITE_LIB
extern const struct test lib_tests[];
#endif

/*
 * What the one who starts the suite knows:
 *
 *	--slow N  this kernel is N times slower than a stock one: what counts
 *		  thousands does 1/N of it, and every limit of time is N times
 *		  as long
 *	--hw      the processor has L3 monitoring, and the module must find it
 *	--emulated
 *		  the processor has none: a test that names no backend asks for
 *		  the model
 *	--module-next
 *		  the module is the next version of tests/abi/next
 *	--again   the tests ran on another kernel: those that say the same on
 *		  every one are left out, and the longest does less
 *	--debug   the kernel is tests/vm/debug-kernel: after the other tests it
 *		  is asked what it found
 */
extern unsigned int slowness;	/* 1: it is not */
extern bool again;
extern bool has_hw;
extern bool wants_model;

/* The module is the next version of tests/abi/next. */
extern bool module_is_next;

/* The end of the test: it failed, here, and this is why. */
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
 * Wait until cond holds, look every millisecond; a failure when it does not
 * within ms milliseconds.  The limit is there to end a hang, not to judge
 * speed: a guest that was not run for a while has not waited meanwhile.
 */
#define WAIT_FOR(cond, ms, ...) do {					\
	struct patience patience_ = patience_of(ms);			\
	while (!(cond)) {						\
		CHECK(patience_left(&patience_), __VA_ARGS__);		\
		sleep_ms(1);						\
	}								\
} while (0)

struct patience { uint64_t left_ns, asked_ns; };
struct patience patience_of(unsigned int ms);	/* times slowness */
bool patience_left(struct patience *patience);

/* The module, and what comes first where a test is about one backend */
#define EMULATED "backend=emulated "
#define SOFTWARE "backend=software "
/* 0 or -errno; with scope=process where @params name no scope: owners are made by fork() */
int module_load(const char *params);
int module_load_exact(const char *params);	/* with these parameters alone */
int module_unload(void);		/* 0 or -errno, does not wait */
bool module_present(void);		/* in /proc/modules */

/* Files: the whole text, at most size - 1 bytes; "" if it cannot be read. */
char *read_file(const char *path, char *text, size_t size);
int write_file(const char *path, const char *text);	/* 0 or -errno */
void cpu_online(int cpu, bool online);

/* Processes.  All are children of the test, killed at its end. */
#define MAX_PARKED 64
pid_t park(unsigned int threads, const char *comm);	/* waits for a signal */
void reap(pid_t pid, int signal);	/* 0: it ends by itself */
void expect_exit_0(pid_t pid, const char *who);

/*
 * Run the tests of another program of these, which must pass, by their prefix;
 * @option: of suite.h, or NULL
 */
void run_suite(const char *program, const char *option, const char *prefix);
bool process_is(pid_t pid, char state);	/* as in /proc/PID/stat */
bool process_is_kernel(pid_t pid);

/* The path of this program, for programs that exec it: /bin/suite --true */
extern const char *suite_path;

#endif
