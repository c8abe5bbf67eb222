// SPDX-License-Identifier: GPL-2.0-or-later
/* The device as a file; parameters and /proc/cmt */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guestfuzz.h"

static int draw_fd(struct fuzzer *f)
{
	return slot_fd(slot_look(SLOTS_DEV, draw(f, NR_SLOTS)));
}

long fuzz_open(struct fuzzer *f)
{
	static const int flags[] = { O_RDONLY, O_RDWR, O_RDWR, O_WRONLY };
	int fd, more = draw_one_in(f, 4) ? 0 : O_NONBLOCK;

	if (draw_one_in(f, 8))
		more |= O_APPEND | O_TRUNC | O_DSYNC;
	fd = open(DEV_PATH, flags[draw(f, 4)] | more | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	slot_set(SLOTS_DEV, draw(f, NR_SLOTS), fd);
	return 0;
}

long fuzz_close(struct fuzzer *f)
{
	slot_set(SLOTS_DEV, draw(f, NR_SLOTS), -1);
	return 0;
}

static long poll_epoll(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	long ret;

	if (epoll < 0)
		return -errno;
	ret = epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ||
		epoll_wait(epoll, &event, 1, 1) < 0 ? -errno : 0;
	close(epoll);
	return ret;
}

static long poll_select(int fd)
{
	struct timeval timeout = { .tv_usec = 500 };
	fd_set in, except;

	if (fd < 0 || fd >= FD_SETSIZE)
		return -EBADF;
	FD_ZERO(&in);
	FD_SET(fd, &in);
	except = in;
	return select(fd + 1, &in, NULL, &except, &timeout) < 0 ? -errno : 0;
}

long fuzz_poll(struct fuzzer *f)
{
	struct pollfd fds[3];
	uint32_t i;

	switch (draw(f, 3)) {
	case 0:
		return poll_epoll(draw_fd(f), draw_one_in(f, 2) ? EPOLLIN | EPOLLET :
				  draw(f, 0) & ~EPOLLWAKEUP);
	case 1:
		return poll_select(draw_fd(f));
	}
	for (i = 0; i < 3; i++)
		fds[i] = (struct pollfd){ .fd = draw_fd(f), .events = draw(f, 0) };
	return poll(fds, 1 + draw(f, 3), draw(f, 3)) < 0 ? -errno : 0;
}

/* A signal ends one that waits: see worker_run(). */
long fuzz_read(struct fuzzer *f)
{
	static const uint32_t sizes[] = { 8, 8, 8, 0, 1, 7, 9, 4096, 1U << 31, ~0U };
	uint32_t bytes = sizes[draw(f, 10)];
	uint64_t at = draw_one_in(f, 4) ? draw_address(f) : (uintptr_t)f->arena;
	struct iovec iov[2] = { { (void *)(uintptr_t)at, bytes },
				{ f->arena + 64, 8 } };
	int fd = draw_fd(f);
	ssize_t n;

	if (draw_one_in(f, 8))
		n = readv(fd, iov, 1 + draw(f, 2));
	else if (draw_one_in(f, 8))
		n = pread(fd, (void *)(uintptr_t)at, bytes, draw(f, 64));
	else
		n = read(fd, (void *)(uintptr_t)at, bytes);
	return n < 0 ? -errno : n;
}

long fuzz_write(struct fuzzer *f)
{
	int fd = draw_fd(f);

	if (draw_one_in(f, 2))
		return write(fd, f->arena, draw(f, 64)) < 0 ? -errno : 0;
	return lseek(fd, draw_odd(f), draw(f, 5)) < 0 ? -errno : 0;
}

long fuzz_fcntl(struct fuzzer *f)
{
	struct stat st;
	int fd = draw_fd(f);

	switch (draw(f, 4)) {
	case 0:	return fcntl(fd, F_SETFL, draw_one_in(f, 2) ? O_NONBLOCK : 0) < 0 ?
			-errno : 0;
	case 1:	return fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) < 0 ? -errno : 0;
	case 2:	return fstat(fd, &st) ? -errno : 0;
	}
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	slot_set(SLOTS_DEV, draw(f, NR_SLOTS), fd);
	return 0;
}

/*
 * All are only read; root can make the mode another one, and write.  What was loaded
 * stays as it is.
 */
long fuzz_params(struct fuzzer *f)
{
	static const char *const names[] = {
		"backend", "interval_us", "ring_records", "scope", "containers",
		"resctrl", "intel_cqm", "uncore", "budget_us", "exclude_cpus", "erdt",
	};
	static const char *const values[] = {
		"0", "1", "N", "-1", "4294967295", "4294967296", "", "\n", "manual",
		"emulated", "a//b", "*.service", "0-1", "256", "hw",
	};
	char path[96], text[32];
	int fd, text_len;
	long n;

	snprintf(path, sizeof(path), "/sys/module/cmt/parameters/%s",
		 names[draw(f, sizeof(names) / sizeof(names[0]))]);
	if (draw_one_in(f, 2)) {
		chmod(path, 0666);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		text_len = snprintf(text, sizeof(text), "%s",
				    values[draw(f, sizeof(values) / sizeof(values[0]))]);
		n = write(fd, text, text_len) < 0 ? -errno : 0;
		close(fd);
		return n;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pread(fd, f->arena, draw(f, 5000), draw_one_in(f, 2) ? draw(f, 64) : 0);
	n = n < 0 ? -errno : n;
	close(fd);
	return n;
}

long fuzz_proc(struct fuzzer *f)
{
	int fd = open(draw_one_in(f, 2) ? "/proc/cmt/rmids" : "/proc/cmt/stats",
		      (draw_one_in(f, 8) ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	uint32_t times = 1 + draw(f, 4);
	long n = 0;

	if (fd < 0)
		return -errno;
	while (times-- && n >= 0) {
		if (draw_one_in(f, 3))
			lseek(fd, draw_odd(f) & 0xffffff, SEEK_SET);
		n = read(fd, (void *)(uintptr_t)(draw_one_in(f, 4) ? draw_address(f) :
						 (uintptr_t)f->arena), draw(f, 5000));
		n = n < 0 ? -errno : n;
	}
	close(fd);
	return n;
}
