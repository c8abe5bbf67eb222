// SPDX-License-Identifier: GPL-2.0-or-later
#include "filter.h"

#include <cmt/cmt.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "errors.h"

#define CALL(name) SCMP_SYS(name)
#define END __NR_SCMP_ERROR

/* The C library's own, too: memory, standard streams, qsort(3), abort(3). */
static const int calls_of_all[] = {
	CALL(brk), CALL(clock_gettime), CALL(close), CALL(exit),
	CALL(exit_group), CALL(fcntl), CALL(fstat), CALL(futex),
	CALL(getpid), CALL(getrandom), CALL(gettid), CALL(gettimeofday),
	CALL(lseek), CALL(madvise), CALL(mremap), CALL(munmap),
	CALL(newfstatat), CALL(poll), CALL(ppoll), CALL(read),
	CALL(restart_syscall), CALL(rt_sigaction), CALL(rt_sigprocmask),
	CALL(rt_sigreturn), CALL(sched_getaffinity), CALL(sched_yield),
	CALL(sysinfo), CALL(write),
#ifdef __SANITIZE_ADDRESS__
	/* AddressSanitizer's reports, and its search for leaks at exit */
	CALL(clone), CALL(getppid), CALL(open), CALL(prctl), CALL(ptrace),
	CALL(process_vm_readv), CALL(readlink), CALL(sigaltstack),
	CALL(stat), CALL(wait4), CALL(getdents), CALL(getdents64),
#endif
	END
};

static const int calls_of_readers[] = {
	CALL(access), CALL(alarm), CALL(faccessat), CALL(faccessat2),
	CALL(fstatfs), CALL(getdents64), CALL(openat2), CALL(pread64),
	CALL(readlink), CALL(readlinkat), CALL(statfs), CALL(statx),
	CALL(timerfd_create), CALL(timerfd_settime), CALL(uname), END
};

static const int calls_of_servers[] = {
	CALL(accept), CALL(accept4), CALL(epoll_ctl), CALL(epoll_pwait),
	CALL(epoll_wait), CALL(getpeername), CALL(getsockname),
	CALL(getsockopt), CALL(recvfrom), CALL(recvmsg), CALL(sendmsg),
	CALL(sendto), CALL(setsockopt), CALL(shutdown), CALL(unlink),
	CALL(writev), END
};

static const int calls_of_writers[] = {
	CALL(fdatasync), CALL(flock), CALL(ftruncate), CALL(openat),
	CALL(pwrite64), CALL(recvfrom), CALL(rename), CALL(renameat),
	CALL(renameat2), CALL(sendmsg), CALL(shutdown), CALL(unlink),
	CALL(unlinkat), CALL(wait4), END
};

static const int calls_of_launchers[] = {
	CALL(kill), CALL(rt_sigtimedwait), CALL(wait4), END
};

static const int calls_of_sync[] = {
	CALL(fdatasync), CALL(recvmsg), CALL(sendto), END
};

static const int calls_of_forks[] = {
	CALL(close_range), CALL(getppid), CALL(memfd_create), CALL(pidfd_open),
	CALL(pidfd_send_signal), CALL(sendfile), CALL(set_robust_list),
	CALL(wait4), END
};

static const struct part {
	unsigned int part;	/* enum filter_part; 0: of all programs */
	const int *calls;
} parts_table[] = {
	{ 0, calls_of_all },
	{ FILTER_READER, calls_of_readers },
	{ FILTER_SERVER, calls_of_servers },
	{ FILTER_WRITER, calls_of_writers },
	{ FILTER_LAUNCHER, calls_of_launchers },
	{ FILTER_SYNC, calls_of_sync },
	{ FILTER_FORK, calls_of_forks },
};

static int allow(scmp_filter_ctx filter, const int *calls)
{
	int ret = 0;

	for (; *calls != END && !ret; calls++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, *calls, 0);
	return ret;
}

/* @call, where the bits @mask of argument @arg are @value. */
static int allow_bits(scmp_filter_ctx filter, int call, unsigned int arg,
		      uint64_t mask, uint64_t value)
{
	const struct scmp_arg_cmp bits =
		SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, mask, value);

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &bits);
}

static int allow_equal(scmp_filter_ctx filter, int call, unsigned int arg,
		       uint64_t value)
{
	const struct scmp_arg_cmp equal = SCMP_CMP(arg, SCMP_CMP_EQ, value);

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &equal);
}

/* The limits of this process are read: pid 0, and no new limit. */
static int allow_limits(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp reading[] = {
		SCMP_CMP(0, SCMP_CMP_EQ, 0), SCMP_CMP(2, SCMP_CMP_EQ, 0),
	};

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, CALL(prlimit64), 2,
				      reading);
}

/* Memory that is never code; signals to this process only, as of abort(3). */
static int allow_own(scmp_filter_ctx filter)
{
	int ret = allow_bits(filter, CALL(mmap), 2, PROT_EXEC, 0);

	if (!ret)
		ret = allow_bits(filter, CALL(mprotect), 2, PROT_EXEC, 0);
	if (!ret)
		ret = allow_equal(filter, CALL(tgkill), 0, (uint64_t)getpid());
	return ret;
}

/*
 * Files are opened for reading; the flags of openat2(2) are in memory, which no filter
 * sees.  Of ioctl(2) the module's calls, and the one of isatty(3).
 */
static int allow_reading(scmp_filter_ctx filter)
{
	int ret = allow_bits(filter, CALL(openat), 2,
			     O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND, O_RDONLY);

	if (!ret)
		ret = allow_bits(filter, CALL(ioctl), 1,
				 _IOC_TYPEMASK << _IOC_TYPESHIFT,
				 (uint64_t)CMT_IOC_TYPE << _IOC_TYPESHIFT);
	if (!ret)
		ret = allow_equal(filter, CALL(ioctl), 1, TCGETS);
	if (!ret)
		ret = allow_limits(filter);
	return ret;
}

/* fork(3), and no thread or namespace; a lower priority, and an end with the parent. */
static int allow_forks(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp self[] = {
		SCMP_CMP(0, SCMP_CMP_EQ, PRIO_PROCESS), SCMP_CMP(1, SCMP_CMP_EQ, 0),
	};
	int ret = allow_equal(filter, CALL(clone), 0,
			      CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD);

	if (!ret)
		ret = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, CALL(setpriority), 2,
					     self);
	if (!ret)
		ret = allow_equal(filter, CALL(prctl), 0, PR_SET_PDEATHSIG);
	return ret;
}

static int add_rules(scmp_filter_ctx filter, unsigned int parts)
{
	int ret = allow_own(filter);
	size_t i;

	for (i = 0; !ret && i < sizeof(parts_table) / sizeof(parts_table[0]); i++)
		if (!parts_table[i].part || parts & parts_table[i].part)
			ret = allow(filter, parts_table[i].calls);
	if (!ret && parts & FILTER_READER)
		ret = allow_reading(filter);
	if (!ret && parts & FILTER_FORK)
		ret = allow_forks(filter);
	return ret;
}

static bool has_filters(void)
{
	/* a kernel with filters reads the filter at NULL, and fails with EFAULT */
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) &&
	       errno == EFAULT;
}

int filter_load(unsigned int parts)
{
	scmp_filter_ctx filter;
	int ret;

	if (!has_filters())
		return -EOPNOTSUPP;
	filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!filter)
		return -ENOMEM;
	ret = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH,
			       SCMP_ACT_KILL_PROCESS);
	/* the kernel logs refused calls, where it can */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, 1);
	if (!ret)
		ret = add_rules(filter, parts);
	if (!ret)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	return ret;
}

int filter_begin(const char *program, unsigned int parts, bool wanted,
		 bool *loaded)
{
	int ret = wanted ? filter_load(parts) : 0;

	*loaded = wanted && !ret;
	if (ret == -EOPNOTSUPP) {
		fprintf(stderr, "%s: no seccomp filter: the kernel has none\n",
			program);
		return 0;
	}
	if (ret) {
		error_plain(stderr, program, "cannot load a seccomp filter", ret);
		fprintf(stderr, "--no-seccomp runs without it\n");
	}
	return ret;
}
