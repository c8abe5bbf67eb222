/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fake_device.c stands in for, by the names that the linker's --wrap gives. */
#ifndef TEST_FAKE_CALLS_H
#define TEST_FAKE_CALLS_H

#include <poll.h>
#include <sys/types.h>
#include <time.h>

int __real_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long command, ...);
ssize_t __real_read(int fd, void *buf, size_t n);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset);
int __real_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap___open64_2(const char *path, int flags);
int __wrap_ioctl(int fd, unsigned long command, ...);
ssize_t __wrap_read(int fd, void *buf, size_t n);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd,
		    off_t offset);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

#endif
