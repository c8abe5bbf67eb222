// SPDX-License-Identifier: GPL-2.0-or-later
/* Rounds of the fuzzer, and what must hold after each */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guestfuzz.h"

#define WORKERS		2
#define ROUND_CALLS	50000
#define STILL_MS	60000	/* without a call: it hangs */

struct fuzz_shared *fuzz;

static void round_prepare(const char *params)
{
	struct dev dev;
	char text[64];
	int err = storm_load(params);

	CHECK(!err, "the module does not load (%s): %s", params, strerror(-err));
	CHECK(!chmod(DEV_PATH, 0666), "chmod: %m");
	fuzz->perf_types[0] = pmu_type("cmt");
	fuzz->perf_types[1] = pmu_type("intel_cqm");
	fuzz->code = strtoull(read_file("/sys/module/cmt/sections/.text", text,
					sizeof(text)), NULL, 0);
	dev_open(&dev, O_RDONLY);
	fuzz->info = dev.info;
	dev_close(&dev);
}

static void others_start(void)
{
	char name[32];
	unsigned int i;

	/* without a controller, groups are none of perf's */
	write_file(CGROUPS "/cgroup.subtree_control", "+pids");
	for (i = 0; i < NR_GROUPS; i++) {
		snprintf(name, sizeof(name), "fuzz%u.service", i);
		fuzz->groups[i] = group_make(name);
	}
	for (i = 0; i < NR_PARKED; i++)
		fuzz->parked[i] = park(i, NULL);
}

static void others_end(void)
{
	char name[32];
	unsigned int i;

	for (i = 0; i < NR_PARKED; i++)
		reap(fuzz->parked[i], SIGKILL);
	for (i = 0; i < NR_GROUPS; i++) {
		snprintf(name, sizeof(name), "fuzz%u.service", i);
		group_remove(name);
	}
}

/* Until all workers have ended well; none may stand still. */
static void await_workers(unsigned int left)
{
	struct patience patience = patience_of(STILL_MS);
	uint64_t calls = 0, now;
	int status;
	pid_t pid;

	while (left) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid > 0) {
			CHECK(!status, "a worker ended with status %#x", status);
			left--;
		}
		now = __atomic_load_n(&fuzz->calls, __ATOMIC_RELAXED);
		if (now != calls)
			patience = patience_of(STILL_MS);
		calls = now;
		CHECK(patience_left(&patience), "no call returns any more");
		sleep_ms(5);
	}
}

static void fuzz_round(const char *params, uint64_t seed, uint64_t calls)
{
	struct rng rng = { seed * 0x9e3779b97f4a7c15ULL };
	uint64_t before = fuzz->sites, begin = now_ns();
	unsigned int i;
	pid_t pid;

	round_prepare(params);
	others_start();
	fuzz->calls = 0;
	fuzz->limit = calls;
	for (i = 0; i < WORKERS; i++) {
		pid = storm_fork();
		CHECK(pid >= 0, "fork: %m");
		if (!pid)
			worker_run(seed * 16 + i * 4, !i);
	}
	await_workers(WORKERS);
	others_end();
	note("%llu calls in %llu s (%s), %llu new places",
	     (unsigned long long)calls,
	     (unsigned long long)(now_ns() - begin) / 1000000000, params,
	     (unsigned long long)(fuzz->sites - before));
	check_loaded(&rng);
	CHECK(!module_unload(), "the module does not unload");
	check_unloaded();
	check_log();
}

static void note_sum(uint64_t seed)
{
#define FUZZ_OP(name) #name,
	static const char *const names[] = { FUZZ_OPS(FUZZ_OP) };
#undef FUZZ_OP
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < NR_OPS; i++) {
		all += fuzz->done[i];
		note("%s: %llu, of which %llu succeeded", names[i],
		     (unsigned long long)fuzz->done[i],
		     (unsigned long long)fuzz->passed[i]);
		/* what never succeeds tests no more than its refusal */
		CHECK(fuzz->passed[i] || i == OP_write || all < 20000,
		      "%s never succeeded", names[i]);
	}
	note("fuzzer: seed %llu, %llu calls, %llu of %s places of the module, corpus %u",
	     (unsigned long long)seed, (unsigned long long)all,
	     (unsigned long long)fuzz->sites, getenv("FUZZ_SITES") ?: "?",
	     fuzz->nr_corpus < CORPUS ? fuzz->nr_corpus : CORPUS);
}

static void guestfuzz_calls(void)
{
	static const char *const params[] = {
		"", "scope=container intel_cqm=1", "backend=emulated", "scope=manual",
		"ring_records=256 interval_us=2000", "backend=software", "scope=cpu",
		"backend=emulated emulated_rmids=16 intel_cqm=1", "resctrl=take",
	};
	const unsigned int nr = sizeof(params) / sizeof(params[0]);
	uint64_t seed = storm_number("FUZZ_SEED", 1), left = storm_number("FUZZ_CALLS", 20000);
	uint64_t n, round = 0;

	storm_prepare();
	fuzz = mmap(NULL, sizeof(*fuzz), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(fuzz != MAP_FAILED, "mmap: %m");
	n = left / 4 < ROUND_CALLS ? left / 4 : ROUND_CALLS;
	for (; left; left -= n, round++) {
		n = n < left ? n : left;
		fuzz_round(params[round % nr], seed + round, n);
	}
	note_sum(seed);
}

const struct test guestfuzz_tests[] = {
	{ "guestfuzz_calls", guestfuzz_calls, NULL, 100000 },
	{ }
};
