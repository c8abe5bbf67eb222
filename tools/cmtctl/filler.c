// SPDX-License-Identifier: GPL-2.0-or-later
#include "filler.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/signals.h"

#define LINE	64	/* bytes; of all processors that have L3 monitoring */
#define SETTLED	3	/* walks */

enum order_kind { ORDER_WRITE, ORDER_READ, ORDER_REST };

struct order {
	enum order_kind kind;
	uint64_t bytes;
};

static void walk_write(volatile char *memory, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += LINE)
		memory[i]++;
}

static void walk_read(const volatile char *memory, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += LINE)
		(void)memory[i];
}

static bool has_order(int orders)
{
	struct pollfd fd = { .fd = orders, .events = POLLIN };

	return poll(&fd, 1, 0) != 0;
}

static void answer(int answers)
{
	if (write(answers, "", 1) != 1)
		_exit(1);
}

static void obey(const struct order *order, char *memory, int orders, int answers)
{
	unsigned int walks = 0;

	if (order->kind == ORDER_READ)
		walk_read(memory, order->bytes);
	if (order->kind != ORDER_WRITE) {
		answer(answers);
		return;
	}
	do {
		walk_write(memory, order->bytes);
		if (++walks == SETTLED)
			answer(answers);
	} while (walks < SETTLED || !has_order(orders));
}

/*
 * Small pages of this process: memory that khugepaged or compaction copies for a
 * process is in the cache under RMID 0.
 */
static char *map(uint64_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

/* Signals of a terminal or of the group are for the parent, which ends this process. */
static void ignore_signals(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP, SIGPIPE };

	for (unsigned int i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

static void __attribute__((noreturn))
fill(pid_t parent, int cpu, uint64_t bytes, int orders, int answers)
{
	struct order order;
	cpu_set_t cpus;
	char *memory;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	ignore_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memory = map(bytes);
	if (getppid() != parent || sched_setaffinity(0, sizeof(cpus), &cpus) || !memory)
		_exit(1);
	while (read(orders, &order, sizeof(order)) == sizeof(order))
		obey(&order, memory, orders, answers);
	_exit(0);
}

static void close_pipe(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

int filler_start(struct filler *filler, int cpu, uint64_t bytes)
{
	int orders[2], answers[2], ret;
	pid_t parent = getpid();

	if (pipe2(orders, O_CLOEXEC))
		return -errno;
	if (pipe2(answers, O_CLOEXEC)) {
		ret = -errno;
		close_pipe(orders);
		return ret;
	}
	filler->pid = fork();
	if (!filler->pid) {
		close(orders[1]);
		close(answers[0]);
		fill(parent, cpu, bytes, orders[0], answers[1]);
	}
	ret = filler->pid < 0 ? -errno : 0;
	close(orders[0]);
	close(answers[1]);
	filler->orders = orders[1];
	filler->answers = answers[0];
	if (ret) {
		filler->pid = 0;
		close(filler->orders);
		close(filler->answers);
	}
	return ret;
}

static int give_order(struct filler *filler, enum order_kind kind, uint64_t bytes)
{
	const struct order order = { kind, bytes };

	if (write(filler->orders, &order, sizeof(order)) == sizeof(order))
		return 0;
	return errno == EPIPE ? -ECHILD : -errno;
}

int filler_write(struct filler *filler, uint64_t bytes)
{
	return give_order(filler, ORDER_WRITE, bytes);
}

int filler_read(struct filler *filler, uint64_t bytes)
{
	return give_order(filler, ORDER_READ, bytes);
}

int filler_rest(struct filler *filler)
{
	return give_order(filler, ORDER_REST, 0);
}

int filler_answer(struct filler *filler, uint64_t timeout_ns)
{
	struct pollfd fd = { .fd = filler->answers, .events = POLLIN };
	int ret = signals_poll(&fd, 1, timeout_ns);
	char byte;

	if (ret <= 0)
		return ret;
	ret = (int)read(filler->answers, &byte, 1);
	return ret < 0 ? -errno : ret ? 1 : -ECHILD;
}

void filler_stop(struct filler *filler)
{
	if (!filler->pid)
		return;
	kill(filler->pid, SIGKILL);
	while (waitpid(filler->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(filler->orders);
	close(filler->answers);
	filler->pid = 0;
}
