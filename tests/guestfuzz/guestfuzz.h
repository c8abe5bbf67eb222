/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzzer of what user space can ask of the module: calls of /dev/cmt, perf events,
 * module parameters and /proc/cmt.  Built with the guest suite and with the storm,
 * whose checks of the pool, of PQR_ASSOC and of the kernel's log follow each round.
 *
 * A round loads the module.  Two processes, of which one has no rights, run threads
 * that share descriptors.  A thread draws a valid call from a list of words, changes
 * some of it, and makes it.  With KCOV, a list that reached new code is kept, and
 * later lists are made of it.  The environment has
 *
 *	FUZZ_SEED	what the first lists are drawn from
 *	FUZZ_CALLS	how many calls are made
 *	FUZZ_SITES	how many places KCOV knows in the module, for the summary
 */
#ifndef CMT_GUESTFUZZ_H
#define CMT_GUESTFUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../storm/storm.h"

#define FUZZ_OPS(X)							\
	X(open) X(close) X(ioctl) X(mmap) X(munmap) X(mremap) X(mprotect)	\
	X(touch) X(poll) X(read) X(write) X(fcntl) X(perf_open)		\
	X(perf_ioctl) X(perf_read) X(perf_mmap) X(perf_close) X(params) X(proc)
#define FUZZ_OP(name) OP_##name,
enum op { FUZZ_OPS(FUZZ_OP) NR_OPS };
#undef FUZZ_OP

#define WORDS		48	/* that one call is drawn from, at most */
#define CORPUS		1024
#define CODE_BYTES	(1 << 20)
#define NR_PARKED	4
#define NR_GROUPS	3

struct fuzz_corpus {
	uint32_t used;		/* 0: not complete yet */
	uint32_t words[WORDS];
};

/* Shared by all processes of the fuzzer */
struct fuzz_shared {
	uint64_t calls, limit;
	uint64_t done[NR_OPS], passed[NR_OPS];	/* calls, and those that succeeded */
	uint64_t code;			/* where the module's code begins */
	uint64_t sites;			/* places of it that were reached */
	uint32_t nr_corpus;
	struct fuzz_corpus corpus[CORPUS];
	uint8_t seen[CODE_BYTES];
	pid_t parked[NR_PARKED];
	uint64_t groups[NR_GROUPS];
	uint32_t perf_types[2];		/* of cmt and intel_cqm; 0: there is none */
	struct cmt_info info;
};

extern struct fuzz_shared *fuzz;

/* A descriptor that threads of a process share: one may close what another one uses. */
#define NR_SLOTS	12
enum slots { SLOTS_DEV, SLOTS_PERF, NR_SLOT_KINDS };

/* fd + 1 in the lower half, another number at each open in the upper one; 0: none */
uint64_t slot_look(enum slots kind, uint32_t i);
int slot_fd(uint64_t slot);		/* -1: none */
void slot_set(enum slots kind, uint32_t i, int fd);	/* closes what is there; -1: only that */

#define NR_MAPS		6

/*
 * The memory of a thread's arguments, below 4 GiB: what read() fills, texts,
 * arguments, buffers, a page that is not there, one that is only read, and another one
 * that is not there
 */
#define ARENA_TEXT	0x2000
#define ARENA_ARGS	0x3000
#define ARENA_BUFFERS	0x6000
#define ARENA_NONE	0x10000
#define ARENA_READ_ONLY	0x11000
#define ARENA_END	0x12000
#define ARENA_BYTES	0x13000

struct fuzz_map {
	char *at;
	size_t bytes;
	bool judged;		/* all of it is a ring, for sure */
};

struct fuzzer {
	struct rng rng;
	uint32_t words[WORDS], used;
	bool may_control;		/* the process has its rights */
	char *arena;
	struct fuzz_map maps[NR_MAPS];
	uint64_t *kcov;			/* NULL: the kernel has none */
	int kcov_fd;
};

/* The next word of the call's list, below n; 0: any */
uint32_t draw(struct fuzzer *f, uint32_t n);
bool draw_one_in(struct fuzzer *f, uint32_t n);
/* A number of which something may depend: 0, 1, powers of two, and those beside them */
uint64_t draw_odd(struct fuzzer *f);
/* An address that is not good for anything, or only in part */
uint64_t draw_address(struct fuzzer *f);
/* Only a call that failed with one of the documented errors may fail. */
void check_result(const char *what, long result);

/* The calls.  They return what the system call returned, or -errno. */
long fuzz_ioctl(struct fuzzer *f);
long fuzz_mmap(struct fuzzer *f);
long fuzz_munmap(struct fuzzer *f);
long fuzz_mremap(struct fuzzer *f);
long fuzz_mprotect(struct fuzzer *f);
long fuzz_touch(struct fuzzer *f);
long fuzz_perf_open(struct fuzzer *f);
long fuzz_perf_ioctl(struct fuzzer *f);
long fuzz_perf_read(struct fuzzer *f);
long fuzz_perf_mmap(struct fuzzer *f);
long fuzz_perf_close(struct fuzzer *f);
long fuzz_open(struct fuzzer *f);
long fuzz_close(struct fuzzer *f);
long fuzz_poll(struct fuzzer *f);
long fuzz_read(struct fuzzer *f);
long fuzz_write(struct fuzzer *f);
long fuzz_fcntl(struct fuzzer *f);
long fuzz_params(struct fuzzer *f);
long fuzz_proc(struct fuzzer *f);

void kcov_start(struct fuzzer *f);
void kcov_begin(struct fuzzer *f);
/* Returns whether the call reached code that none reached before. */
bool kcov_end(struct fuzzer *f);

/* A process with threads that make calls until the limit; does not return. */
void worker_run(uint64_t seed, bool may_control) __attribute__((noreturn));

extern const struct test guestfuzz_tests[];

#endif
