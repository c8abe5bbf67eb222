// SPDX-License-Identifier: GPL-2.0-or-later
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

#define LOWEST	19	/* priority */

/* Close @first to @last, if there are any. */
static int close_from(unsigned int first, unsigned int last)
{
	return first <= last && close_range(first, last, 0) ? -errno : 0;
}

/* All descriptors but standard error and @fd, which is a later one. */
static int close_others(unsigned int fd)
{
	int ret = close_from(STDIN_FILENO, STDOUT_FILENO);

	if (!ret)
		ret = close_from(STDERR_FILENO + 1, fd - 1);
	return ret ? ret : close_from(fd + 1, ~0U);
}

/* What it does to memory is its own; the exporter's end is its end. */
__attribute__((noreturn)) static void run(const struct child *child, pid_t parent)
{
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* it may have ended before */
	if (getppid() != parent)
		_exit(ECHILD);
	setpriority(PRIO_PROCESS, 0, LOWEST);
	ret = close_others((unsigned int)child->fd);
	if (!ret)
		ret = child->make(child->ctx, child->fd);
	_exit(ret < 0 && ret >= -255 ? -ret : ret ? EIO : 0);
}

static int open_pidfd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

/* A child without a pidfd could not be killed: see whether there can be one. */
static int start(struct child *child)
{
	pid_t parent = getpid();
	int ret = open_pidfd(parent);

	if (ret < 0)
		return ret;
	close(ret);
	child->pid = fork();
	if (child->pid < 0)
		return -errno;
	if (!child->pid)
		run(child, parent);
	ret = open_pidfd(child->pid);
	child->pidfd = ret < 0 ? -1 : ret;
	return ret < 0 ? ret : 0;
}

/* Wait for it.  Returns wait(2)'s status. */
static int reap(struct child *child)
{
	int status = -1;

	if (child->pid > 0)
		while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
			;
	if (child->pidfd >= 0)
		close(child->pidfd);
	child->pid = 0;
	child->pidfd = -1;
	return status;
}

static void kill_child(const struct child *child)
{
	if (child->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
}

static void drop_bytes(struct child *child)
{
	close(child->fd);
	child->fd = -1;
}

int child_begin(struct child *child)
{
	int ret;

	child->pid = 0;
	child->pidfd = -1;
	child->fd = memfd_create("cmt-page", MFD_CLOEXEC);
	if (child->fd < 0)
		return -errno;
	child->end_ns = clock_ns(CLOCK_MONOTONIC) + child->limit_ns;
	ret = start(child);
	if (!ret)
		return 0;
	reap(child);
	drop_bytes(child);
	return ret;
}

void child_end(struct child *child)
{
	if (!child->pid)
		return;
	kill_child(child);
	reap(child);
	drop_bytes(child);
}

int child_fd(const struct child *child)
{
	return child->pid ? child->pidfd : -1;
}

uint64_t child_wait_ns(const struct child *child)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!child->pid)
		return UINT64_MAX;
	return child->end_ns > now ? child->end_ns - now : 0;
}

/* Returns 0 or -errno. */
static int result(int status)
{
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

int child_step(struct child *child)
{
	struct pollfd ended = { .fd = child->pidfd, .events = POLLIN };
	bool late;
	int ret;

	if (!child->pid)
		return -EAGAIN;
	late = !child_wait_ns(child);
	if (!poll(&ended, 1, 0) && !late)
		return -EAGAIN;
	if (late)
		kill_child(child);
	ret = result(reap(child));
	if (!ret)
		return child->fd;
	drop_bytes(child);
	return late && ret == -ECHILD ? -ETIMEDOUT : ret;
}
