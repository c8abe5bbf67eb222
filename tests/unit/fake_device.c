// SPDX-License-Identifier: GPL-2.0-or-later
#include "fake_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_calls.h"
#include "image.h"

struct fake fake;
static char *rings;

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
	fake.nr_rings = nr_cpus;
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

/* Arguments, as this module knows them. */
static const struct known {
	unsigned long command;
	uint32_t least, size;
} commands[] = {
	{ CMT_IOC_GET_INFO, CMT_INFO_SIZE, sizeof(struct cmt_info) },
	{ CMT_IOC_GET_STATS, CMT_STATS_SIZE, sizeof(struct cmt_stats) },
	{ CMT_IOC_GET_RMIDS, CMT_RMIDS_SIZE, sizeof(struct cmt_rmids) },
	{ CMT_IOC_GET_PENDING, CMT_RMIDS_SIZE, sizeof(struct cmt_rmids) },
	{ CMT_IOC_SET_INTERVAL, CMT_INTERVAL_SIZE,
	  sizeof(struct cmt_interval) },
	{ CMT_IOC_SET_WATERMARK, CMT_WATERMARK_SIZE,
	  sizeof(struct cmt_watermark) },
	{ CMT_IOC_SET_SCOPE, CMT_SCOPE_SIZE, sizeof(struct cmt_scope) },
	{ CMT_IOC_GET_PATTERNS, CMT_PATTERNS_SIZE,
	  sizeof(struct cmt_patterns) },
	{ CMT_IOC_ATTACH, CMT_ATTACH_SIZE, sizeof(struct cmt_attach) },
	{ CMT_IOC_DETACH, CMT_ATTACH_SIZE, sizeof(struct cmt_attach) },
	{ CMT_IOC_SET_RESCTRL, CMT_RESCTRL_SIZE, sizeof(struct cmt_resctrl) },
	{ CMT_IOC_PATH_OF_CGROUP, CMT_CGROUP_PATH_SIZE,
	  sizeof(struct cmt_cgroup_path) },
	{ CMT_IOC_SET_COUNTERS, CMT_COUNTERS_SIZE, sizeof(struct cmt_counters) },
	{ CMT_IOC_REGISTER, CMT_ATTACH_SIZE, sizeof(struct cmt_attach) },
	{ CMT_IOC_UNREGISTER, CMT_ATTACH_SIZE, sizeof(struct cmt_attach) },
	{ CMT_IOC_READ, CMT_READ_SIZE, sizeof(struct cmt_read) },
	{ CMT_IOC_GET_UNCORE, CMT_UNCORE_SIZE, sizeof(struct cmt_uncore) },
	{ CMT_IOC_SET_VALUES, CMT_VALUES_SIZE, sizeof(struct cmt_values) },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* The beginning of every argument. */
struct arg_head {
	uint32_t size, flags;
};

/* The size rules of the ABI; with fake.more this module is a newer one. */
static int arg_get(void *arg, const struct known *known, const void *from)
{
	const struct arg_head *head = from;
	uint32_t size = known->size + fake.more;

	if (head->size < known->least || head->size > 4096 || head->flags)
		return EINVAL;
	for (uint32_t i = size; i < head->size; i++)
		if (((const char *)from)[i])
			return EINVAL;
	memset(arg, 0, size);
	memcpy(arg, from, head->size < size ? head->size : size);
	return 0;
}

/* The module may say that it wrote less. */
static void arg_put(void *to, struct arg_head *arg, const struct known *known)
{
	uint32_t size = known->size + fake.more, asked;

	memcpy(&asked, to, sizeof(asked));
	if (size > asked)
		size = asked;
	if (arg->size > size)
		arg->size = size;
	memcpy(to, arg, size);
}

/* What only a newer module knows is 0xee. */
static int answer(struct arg_head *arg, const void *from, uint32_t size)
{
	memset((char *)arg + size, 0xee, fake.more);
	memcpy(arg, from, size);
	return 0;
}

static uint64_t as_of(void)
{
	struct timespec ts;

	if (fake.as_of)
		return fake.as_of;
	__wrap_clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int get_rmids(struct cmt_rmids *rmids)
{
	uint32_t room = rmids->count;

	fake.nr_snapshots++;
	if (rmids->reserved)
		return fail(EINVAL);
	rmids->count = fake.nr_existing;
	if (room < fake.nr_existing)
		return fail(ENOSPC);
	memcpy((void *)(uintptr_t)rmids->records, fake.existing,
	       fake.nr_existing * sizeof(fake.existing[0]));
	rmids->as_of = as_of();
	return 0;
}

static int get_pending(struct cmt_rmids *rmids)
{
	uint32_t room = rmids->count;

	if (rmids->reserved)
		return fail(EINVAL);
	rmids->count = fake.nr_pending;
	fake.nr_pending += fake.nr_pending * fake.more_pending / 100;
	if (room < rmids->count)
		return fail(ENOSPC);
	memcpy((void *)(uintptr_t)rmids->records, fake.pending,
	       rmids->count * sizeof(fake.pending[0]));
	rmids->as_of = as_of();
	return 0;
}

static int set_scope(struct cmt_scope *scope)
{
	if (scope->reserved)
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

	if (patterns->reserved)
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
	if ((fake.open_flags & O_ACCMODE) != O_RDWR)
		return fail(EBADF);
	fake.attach = *attach;
	fake.attach_command = command;
	attach->rmid = 7;
	attach->generation = 70;
	return 0;
}

static int set_resctrl(const struct cmt_resctrl *resctrl)
{
	if (resctrl->reserved || resctrl->mode < CMT_RESCTRL_RESPECT ||
	    resctrl->mode > CMT_RESCTRL_TAKE)
		return fail(EINVAL);
	if ((fake.open_flags & O_ACCMODE) != O_RDWR)
		return fail(EBADF);
	fake.info.resctrl = resctrl->mode;
	return 0;
}

static int path_of_cgroup(struct cmt_cgroup_path *path)
{
	char text[FAKE_PATH_MAX] = "/a/b";
	uint32_t room = path->bytes;

	if (path->reserved)
		return fail(EINVAL);
	if (fake.path_of ? !fake.path_of(path->cgroup_id, text) :
			   path->cgroup_id != 7001)
		return fail(ENOENT);
	path->bytes = (uint32_t)strlen(text) + 1;
	if (room < path->bytes)
		return fail(ENOSPC);
	memcpy((void *)(uintptr_t)path->path, text, path->bytes);
	path->bytes += fake.path_lies;
	return 0;
}

static int set_interval(const struct cmt_interval *interval)
{
	if (interval->interval_ns < fake.info.interval_min_ns ||
	    interval->interval_ns > fake.info.interval_max_ns)
		return fail(EINVAL);
	if ((fake.open_flags & O_ACCMODE) != O_RDWR)
		return fail(EBADF);
	fake.interval_ns = interval->interval_ns;
	return 0;
}

static int set_counters(const struct cmt_counters *counters)
{
	if (counters->reserved ||
	    (counters->counters & ~(CMT_F_CYCLES | CMT_F_INSTRUCTIONS |
				    CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES |
				    CMT_F_WAITED | CMT_F_COUNTERS_FIRST |
				    CMT_F_CHANNEL)))
		return fail(EINVAL);
	fake.counters = counters->counters;
	fake.info.counters = fake.counters & ~fake.uncounted &
			     ~(CMT_F_COUNTERS_FIRST | CMT_F_CHANNEL);
	memset(fake.info.perf_reason, 0, sizeof(fake.info.perf_reason));
	if (fake.counters & fake.uncounted)
		strcpy(fake.info.perf_reason, "no such counter");
	return 0;
}

static int set_values(const struct cmt_values *values)
{
	const uint32_t all = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;

	if (values->reserved || !values->values || (values->values & ~all))
		return fail(EINVAL);
	fake.values = values->values;
	return 0;
}

static int set_watermark(const struct cmt_watermark *watermark)
{
	if (!watermark->records ||
	    watermark->records > fake.info.ring_records / 2)
		return fail(EINVAL);
	fake.watermark = watermark->records;
	return 0;
}

static int read_now(struct cmt_read *arg)
{
	uint32_t room = arg->count;

	fake.read = *arg;
	arg->as_of = 5;
	arg->count = fake.nr_readings;
	if (room < arg->count)
		return fail(ENOSPC);
	memcpy((void *)(uintptr_t)arg->records, fake.readings,
	       arg->count * sizeof(fake.readings[0]));
	return 0;
}

/* No box is listed, whatever fake.uncore says of channels. */
static int get_uncore(void *arg)
{
	fake.uncore.size = (uint32_t)sizeof(fake.uncore) + fake.more;
	fake.uncore.boxes = ((struct cmt_uncore *)arg)->boxes;
	return answer(arg, &fake.uncore, sizeof(fake.uncore));
}

static int dispatch(unsigned long command, void *arg)
{
	switch (command) {
	case CMT_IOC_GET_INFO:
		fake.info.interval_ns = fake.interval_ns;
		return answer(arg, &fake.info, sizeof(fake.info));
	case CMT_IOC_GET_STATS:
		fake.stats.size = fake.stats_size ? fake.stats_size :
				  (uint32_t)sizeof(fake.stats) + fake.more;
		return answer(arg, &fake.stats, sizeof(fake.stats));
	case CMT_IOC_GET_RMIDS:
		return get_rmids(arg);
	case CMT_IOC_SET_INTERVAL:
		return set_interval(arg);
	case CMT_IOC_SET_WATERMARK:
		return set_watermark(arg);
	case CMT_IOC_GET_PENDING:
		return get_pending(arg);
	case CMT_IOC_SET_SCOPE:
		return set_scope(arg);
	case CMT_IOC_GET_PATTERNS:
		return get_patterns(arg);
	case CMT_IOC_ATTACH:
	case CMT_IOC_DETACH:
	case CMT_IOC_REGISTER:
	case CMT_IOC_UNREGISTER:
		return attach(arg, command);
	case CMT_IOC_SET_RESCTRL:
		return set_resctrl(arg);
	case CMT_IOC_SET_COUNTERS:
		return set_counters(arg);
	case CMT_IOC_READ:
		return read_now(arg);
	case CMT_IOC_GET_UNCORE:
		return get_uncore(arg);
	case CMT_IOC_SET_VALUES:
		return set_values(arg);
	default:
		return path_of_cgroup(arg);
	}
}

/* NULL: this module does not know it. */
static const struct known *known_command(unsigned long command)
{
	if (fake.old && command >= CMT_IOC_SET_COUNTERS)
		return NULL;
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i].command == command)
			return &commands[i];
	return NULL;
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	const struct known *known = known_command(command);
	uint64_t arg[1024] = { 0 };
	va_list args;
	void *user;
	int ret;

	(void)fd;
	va_start(args, command);
	user = va_arg(args, void *);
	va_end(args);
	if (fake.ioctl_errno)
		return fail(fake.ioctl_errno);
	if (!known)
		return fail(ENOTTY);
	ret = arg_get(arg, known, user);
	if (ret)
		return fail(ret);
	ret = dispatch(command, arg);
	arg_put(user, (struct arg_head *)arg, known);
	return ret;
}

/* What the library has open are dups of the memfd: their file is the same. */
static int is_fake(int fd)
{
	struct stat st, rings_st;

	return fake.nr_rings && !fstat(fd, &st) && !fstat(fake.fd, &rings_st) &&
	       st.st_ino == rings_st.st_ino && st.st_dev == rings_st.st_dev;
}

/* Has a ring the watermark's number of records more than at the last read()? */
static int is_ready(void)
{
	for (uint32_t cpu = 0; cpu < fake.nr_rings; cpu++) {
		if (image_header(fake_ring(cpu))->head - fake.read_at[cpu] >=
		    fake.watermark)
			return 1;
	}
	return 0;
}

ssize_t __wrap_read(int fd, void *buf, size_t n)
{
	uint64_t records = 0;

	if (!is_fake(fd))
		return __real_read(fd, buf, n);
	fake.nr_reads++;
	if (fake.read_errno)
		return fail(fake.read_errno);
	if (n < sizeof(records))
		return fail(EINVAL);
	if (!is_ready())
		return fail(EAGAIN);
	for (uint32_t cpu = 0; cpu < fake.nr_rings; cpu++) {
		uint64_t head = image_header(fake_ring(cpu))->head;

		records += head - fake.read_at[cpu];
		fake.read_at[cpu] = head;
	}
	memcpy(buf, &records, sizeof(records));
	return sizeof(records);
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	(void)timeout;
	if (fake.on_poll)
		fake.on_poll();
	if (fake.poll_errno)
		return fail(fake.poll_errno);
	fds->revents = fake.poll_revents;
	if (fake.level && is_ready())
		fds->revents |= POLLIN;
	return n == 1 && fds->revents ? 1 : 0;
}

/* Read, because a hypervisor may fill its own tables only then. */
static void touch(const volatile char *pages, size_t len)
{
	for (size_t i = 0; i < len; i += 4096)
		(void)pages[i];
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t offset)
{
	void *pages;

	if (!(flags & MAP_ANONYMOUS) && ++fake.nr_maps == fake.mmap_fails_at) {
		errno = fake.mmap_errno ? fake.mmap_errno : ENOMEM;
		return MAP_FAILED;
	}
	if (fake.populate)
		flags |= MAP_POPULATE;
	pages = __real_mmap(addr, len, prot, flags, fd, offset);
	if (fake.populate && pages != MAP_FAILED && (prot & PROT_READ))
		touch(pages, len);
	return pages;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!fake.now || clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, ts);
	if (fake.on_clock)
		fake.on_clock();
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
