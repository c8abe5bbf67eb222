// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tests/unit/fake_device.c for a shared libcmt: what libcmt calls, it finds in the
 * program before the C library.
 */
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_calls.h"

int __real_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return (int)syscall(SYS_open, path, flags, mode);
}

int __real_ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	return (int)syscall(SYS_ioctl, fd, command, arg);
}

ssize_t __real_read(int fd, void *buf, size_t n)
{
	return syscall(SYS_read, fd, buf, n);
}

int __real_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	return (int)syscall(SYS_poll, fds, n, timeout);
}

void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset)
{
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

int __real_clock_gettime(clockid_t clock, struct timespec *ts)
{
	return (int)syscall(SYS_clock_gettime, clock, ts);
}

/* What a libcmt that is built with large files calls. */
int open64(const char *path, int flags, ...);
int ioctl(int fd, unsigned long command, ...);
void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset);

int open64(const char *path, int flags, ...)
{
	return __wrap_open64(path, flags);
}

int ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	return __wrap_ioctl(fd, command, arg);
}

ssize_t read(int fd, void *buf, size_t n)
{
	return __wrap_read(fd, buf, n);
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	return __wrap_poll(fds, n, timeout);
}

void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return __wrap_mmap64(addr, len, prot, flags, fd, offset);
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	return __wrap_clock_gettime(clock, ts);
}
