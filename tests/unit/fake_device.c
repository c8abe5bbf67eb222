// SPDX-License-Identifier: GPL-2.0-or-later
#include "fake_device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "image.h"

struct fake fake;
static char *rings;

int __real_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long command, ...);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset);
int __real_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap___open64_2(const char *path, int flags);
int __wrap_ioctl(int fd, unsigned long command, ...);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd,
		    off_t offset);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

static int fail(int err)
{
	errno = err;
	return -1;
}

void fake_setup(uint32_t nr_cpus, uint32_t records)
{
	size_t bytes;

	memset(&fake, 0, sizeof(fake));
	image_info(&fake.info, nr_cpus, records);
	fake.interval_ns = fake.info.interval_ns;
	fake.fd = memfd_create("rings", MFD_CLOEXEC);
	bytes = nr_cpus * fake.info.ring_bytes;
	if (fake.fd < 0 || ftruncate(fake.fd, (off_t)bytes))
		abort();
	rings = __real_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    fake.fd, 0);
	if (rings == MAP_FAILED)
		abort();
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		image_init(fake_ring(cpu), &fake.info, cpu);
}

void fake_teardown(void)
{
	munmap(rings, fake.info.nr_cpus * fake.info.ring_bytes);
	close(fake.fd);
}

void *fake_ring(uint32_t cpu)
{
	return rings + cpu * fake.info.ring_bytes;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	if (!strcmp(path, FAKE_PATH)) {
		fake.open_flags = flags;
		return fake.open_errno ? fail(fake.open_errno) :
					 dup(fake.fd);
	}
	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return __real_open(path, flags, mode);
}

/* The size rule of the ABI, for what the library may send. */
static int copy_out(void *arg, const void *from, size_t size)
{
	uint32_t asked, flags;

	memcpy(&asked, arg, sizeof(asked));
	memcpy(&flags, (char *)arg + 4, sizeof(flags));
	if (asked != size || flags)
		return fail(EINVAL);
	memcpy(arg, from, size);
	return 0;
}

static int get_rmids(struct cmt_rmids *rmids)
{
	uint32_t room = rmids->count;

	if (rmids->size != sizeof(*rmids) || rmids->flags || rmids->reserved)
		return fail(EINVAL);
	rmids->count = fake.nr_existing;
	if (room < fake.nr_existing)
		return fail(ENOSPC);
	memcpy((void *)(uintptr_t)rmids->records, fake.existing,
	       sizeof(fake.existing));
	rmids->as_of = fake.as_of;
	return 0;
}

static int get_waiting(struct cmt_rmids *rmids)
{
	uint32_t room = rmids->count;

	if (rmids->size != sizeof(*rmids) || rmids->flags || rmids->reserved)
		return fail(EINVAL);
	rmids->count = fake.nr_waiting;
	fake.nr_waiting += fake.nr_waiting * fake.more_waiting / 100;
	if (room < rmids->count)
		return fail(ENOSPC);
	memcpy((void *)(uintptr_t)rmids->records, fake.waiting,
	       rmids->count * sizeof(fake.waiting[0]));
	rmids->as_of = fake.as_of;
	return 0;
}

static int set_scope(struct cmt_scope *scope)
{
	if (scope->size != sizeof(*scope) || scope->flags || scope->reserved)
		return fail(EINVAL);
	if ((fake.open_flags & O_ACCMODE) != O_RDWR)
		return fail(EBADF);
	scope->bad_at = fake.bad_at ? fake.bad_at : UINT32_MAX;
	if (fake.bad_at || scope->scope > CMT_SCOPE_MANUAL)
		return fail(EINVAL);
	if (scope->patterns_bytes) {
		memcpy(fake.patterns, (void *)(uintptr_t)scope->patterns,
		       scope->patterns_bytes);
		fake.patterns[scope->patterns_bytes] = '\0';
	}
	fake.info.scope = scope->scope;
	return 0;
}

static int get_patterns(struct cmt_patterns *patterns)
{
	uint32_t room = patterns->bytes;

	if (patterns->size != sizeof(*patterns) || patterns->flags ||
	    patterns->reserved)
		return fail(EINVAL);
	patterns->bytes = (uint32_t)strlen(fake.patterns);
	if (room < patterns->bytes)
		return fail(ENOSPC);
	memcpy((void *)(uintptr_t)patterns->text, fake.patterns,
	       patterns->bytes);
	return 0;
}

static int attach(struct cmt_attach *attach, unsigned long command)
{
	if (attach->size != sizeof(*attach) || attach->flags)
		return fail(EINVAL);
	if ((fake.open_flags & O_ACCMODE) != O_RDWR)
		return fail(EBADF);
	fake.attach = *attach;
	fake.attach_command = command;
	attach->rmid = 7;
	attach->generation = 70;
	return 0;
}

static int set_interval(const struct cmt_interval *interval)
{
	if (interval->size != sizeof(*interval) || interval->flags ||
	    interval->interval_ns < fake.info.interval_min_ns ||
	    interval->interval_ns > fake.info.interval_max_ns)
		return fail(EINVAL);
	if ((fake.open_flags & O_ACCMODE) != O_RDWR)
		return fail(EBADF);
	fake.interval_ns = interval->interval_ns;
	return 0;
}

static int set_watermark(const struct cmt_watermark *watermark)
{
	if (watermark->size != sizeof(*watermark) || watermark->flags ||
	    !watermark->records ||
	    watermark->records > fake.info.ring_records / 2)
		return fail(EINVAL);
	fake.watermark = watermark->records;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *arg;

	(void)fd;
	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	if (fake.ioctl_errno)
		return fail(fake.ioctl_errno);
	switch (command) {
	case CMT_IOC_GET_INFO:
		fake.info.interval_ns = fake.interval_ns;
		return copy_out(arg, &fake.info, sizeof(fake.info));
	case CMT_IOC_GET_STATS:
		fake.stats.size = sizeof(fake.stats);
		return copy_out(arg, &fake.stats, sizeof(fake.stats));
	case CMT_IOC_GET_RMIDS:
		return get_rmids(arg);
	case CMT_IOC_SET_INTERVAL:
		return set_interval(arg);
	case CMT_IOC_SET_WATERMARK:
		return set_watermark(arg);
	case CMT_IOC_GET_WAITING:
		return get_waiting(arg);
	case CMT_IOC_SET_SCOPE:
		return set_scope(arg);
	case CMT_IOC_GET_PATTERNS:
		return get_patterns(arg);
	case CMT_IOC_ATTACH:
	case CMT_IOC_DETACH:
		return attach(arg, command);
	default:
		return fail(ENOTTY);
	}
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	(void)timeout;
	if (fake.on_poll)
		fake.on_poll();
	if (fake.poll_errno)
		return fail(fake.poll_errno);
	fds->revents = fake.poll_revents;
	return n == 1 && fds->revents ? 1 : 0;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset)
{
	if (!(flags & MAP_ANONYMOUS) && ++fake.nr_maps == fake.mmap_fails_at) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap(addr, len, prot, flags, fd, offset);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!fake.now || clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, ts);
	ts->tv_sec = (time_t)(fake.now / 1000000000);
	ts->tv_nsec = (long)(fake.now % 1000000000);
	return 0;
}

/* What they are called with large files. */
int __wrap_open64(const char *path, int flags, ...)
{
	return __wrap_open(path, flags, 0);
}

/* With _FORTIFY_SOURCE, where the flags are not constant. */
int __wrap___open64_2(const char *path, int flags)
{
	return __wrap_open(path, flags, 0);
}

void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd,
		    off_t offset)
{
	return __wrap_mmap(addr, len, prot, flags, fd, offset);
}
