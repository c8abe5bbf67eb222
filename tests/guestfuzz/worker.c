// SPDX-License-Identifier: GPL-2.0-or-later
/* A process of the fuzzer: threads that make calls, and one that wakes them */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guestfuzz.h"

#define THREADS		2
#define WAKE_MS		20

static const struct {
	const char *name;
	long (*call)(struct fuzzer *f);
	uint32_t weight;
} ops[NR_OPS] = {
#define FUZZ_OP(op, w) [OP_##op] = { #op, fuzz_##op, w }
	FUZZ_OP(open, 5), FUZZ_OP(close, 1), FUZZ_OP(ioctl, 40), FUZZ_OP(mmap, 8),
	FUZZ_OP(munmap, 1), FUZZ_OP(mremap, 3), FUZZ_OP(mprotect, 3),
	FUZZ_OP(touch, 5), FUZZ_OP(poll, 2), FUZZ_OP(read, 4), FUZZ_OP(write, 2),
	FUZZ_OP(fcntl, 3), FUZZ_OP(perf_open, 8), FUZZ_OP(perf_ioctl, 4),
	FUZZ_OP(perf_read, 3), FUZZ_OP(perf_mmap, 1), FUZZ_OP(perf_close, 1),
	FUZZ_OP(params, 2), FUZZ_OP(proc, 1),
#undef FUZZ_OP
};

static enum op draw_op(struct fuzzer *f)
{
	uint32_t sum = 0, at, op;

	for (op = 0; op < NR_OPS; op++)
		sum += ops[op].weight;
	at = draw(f, sum);
	for (op = 0; at >= ops[op].weight; op++)
		at -= ops[op].weight;
	return op;
}

/* A new list of words, or one of the corpus with some other words in it */
static void words_make(struct fuzzer *f)
{
	uint32_t n = __atomic_load_n(&fuzz->nr_corpus, __ATOMIC_ACQUIRE), used = 0, i;
	const struct fuzz_corpus *from = NULL;

	if (n && !rng_one_in(&f->rng, 3))
		from = &fuzz->corpus[rng_below(&f->rng, n < CORPUS ? n : CORPUS)];
	if (from)
		used = __atomic_load_n(&from->used, __ATOMIC_ACQUIRE);
	for (i = 0; i < WORDS; i++)
		f->words[i] = i < used ? from->words[i] : rng_next(&f->rng);
	for (i = used ? 1 + rng_below(&f->rng, 4) : 0; i; i--)
		f->words[rng_below(&f->rng, used)] = rng_next(&f->rng);
	f->used = 0;
}

static void corpus_add(const struct fuzzer *f)
{
	uint32_t n = __atomic_fetch_add(&fuzz->nr_corpus, 1, __ATOMIC_ACQ_REL);
	struct fuzz_corpus *entry;

	if (n >= CORPUS)
		return;
	entry = &fuzz->corpus[n];
	memcpy(entry->words, f->words, sizeof(entry->words));
	__atomic_store_n(&entry->used, f->used, __ATOMIC_RELEASE);
}

static void call(struct fuzzer *f)
{
	enum op op;
	long ret;

	words_make(f);
	op = draw_op(f);
	kcov_begin(f);
	ret = ops[op].call(f);
	if (kcov_end(f))
		corpus_add(f);
	check_result(ops[op].name, ret);
	__atomic_add_fetch(&fuzz->done[op], 1, __ATOMIC_RELAXED);
	if (ret >= 0)
		__atomic_add_fetch(&fuzz->passed[op], 1, __ATOMIC_RELAXED);
}

static bool call_allowed(void)
{
	return __atomic_fetch_add(&fuzz->calls, 1, __ATOMIC_RELAXED) < fuzz->limit;
}

static char *arena_new(void)
{
	char *arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	CHECK(arena != MAP_FAILED, "arena: %m");
	CHECK(!mprotect(arena + ARENA_NONE, 4096, PROT_NONE) &&
	      !mprotect(arena + ARENA_READ_ONLY, 4096, PROT_READ) &&
	      !mprotect(arena + ARENA_END, 4096, PROT_NONE), "arena: %m");
	return arena;
}

static void *thread_main(void *arg)
{
	struct fuzzer *f = arg;

	f->arena = arena_new();
	kcov_start(f);
	while (call_allowed())
		call(f);
	return NULL;
}

/* So that few calls meet no descriptor */
static void slots_fill(void)
{
	uint32_t i;
	int fd;

	for (i = 0; i < NR_SLOTS; i++) {
		fd = open(DEV_PATH, (i % 3 ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
		CHECK(fd >= 0, "open: %m");
		slot_set(SLOTS_DEV, i, fd);
	}
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void drop_rights(void)
{
	CHECK(!setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534),
	      "rights: %m");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Wakes threads that wait in read() until they have ended. */
static void wake_threads(pthread_t *threads)
{
	unsigned int i, left = THREADS;
	bool ended[THREADS] = { false };

	while (left) {
		sleep_ms(WAKE_MS);
		for (i = 0; i < THREADS; i++) {
			if (ended[i])
				continue;
			if (pthread_tryjoin_np(threads[i], NULL)) {
				pthread_kill(threads[i], SIGALRM);
				continue;
			}
			ended[i] = true;
			left--;
		}
	}
}

void worker_run(uint64_t seed, bool may_control)
{
	static struct fuzzer fuzzers[THREADS];
	struct sigaction action = { .sa_handler = on_alarm };
	pthread_t threads[THREADS];
	unsigned int i;

	sigaction(SIGALRM, &action, NULL);
	/* what perf and O_ASYNC send */
	signal(SIGIO, SIG_IGN);
	for (i = 0; i < THREADS; i++) {
		fuzzers[i].rng.state = (seed + i) * 0x9e3779b97f4a7c15ULL;
		fuzzers[i].may_control = may_control;
		fuzzers[i].kcov_fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	}
	if (!may_control)
		drop_rights();
	slots_fill();
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, thread_main, &fuzzers[i]),
		      "a thread");
	wake_threads(threads);
	_exit(0);
}
