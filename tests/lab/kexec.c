// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kexec PROGRAM [ARG]...: run the program in a second kernel.  In the first one cmt has
 * a reader, which asks for memory channels, when the second one is started, as by kexec -e.
 * The second kernel has the files of the first, and so comes here again.  Standard output is
 * the program's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/cmt.h"

#define IS_SECOND	" cmt_lab.second"
#define INITRD		"/tmp/initrd"

static void die(const char *what)
{
	fprintf(stderr, "kexec: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

static void get_cmdline(char *line, size_t room)
{
	int fd = open_file("/proc/cmdline", O_RDONLY);
	ssize_t n = read(fd, line, room - 1);

	if (n < 0)
		die("/proc/cmdline");
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	close(fd);
}

/* Returns when cmt has counters or channels. */
static void begin_reading(void)
{
	struct cmt_counters counters = { .size = sizeof(counters), .counters = CMT_F_CHANNEL };
	struct cmt_info info = { .size = sizeof(info) };
	struct cmt_uncore uncore;
	int module = open_file("/lib/cmt.ko", O_RDONLY), fd;

	if (syscall(SYS_finit_module, module, "scope=process interval_us=20000", 0))
		die("finit_module");
	fd = open_file("/dev/cmt", O_RDONLY);
	if (ioctl(fd, CMT_IOC_GET_INFO, &info) || ioctl(fd, CMT_IOC_SET_COUNTERS, &counters) ||
	    mmap(NULL, info.ring_bytes, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		die("/dev/cmt");
	do {
		usleep(10000);
		uncore = (struct cmt_uncore){ .size = sizeof(uncore) };
		if (ioctl(fd, CMT_IOC_GET_INFO, &info) ||
		    (ioctl(fd, CMT_IOC_GET_UNCORE, &uncore) && errno != ENOSPC))
			die("/dev/cmt");
	} while (!CMT_ASSIGNABLE_OURS(info.assignable) && !uncore.channels);
	fprintf(stderr, "kexec: %u assigned counters, %u channels\n",
		CMT_ASSIGNABLE_OURS(info.assignable), uncore.channels);
}

static void start_second(char *line)
{
	int kernel = open_file("/vmlinuz", O_RDONLY), initrd;

	if (system("cd / && find . -xdev ! -name vmlinuz | cpio -o -H newc >" INITRD))
		die("cpio");
	initrd = open_file(INITRD, O_RDONLY);
	strcat(line, IS_SECOND);
	if (syscall(SYS_kexec_file_load, kernel, initrd, strlen(line) + 1, line, 0))
		die("kexec_file_load");
	begin_reading();
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
		LINUX_REBOOT_CMD_KEXEC, NULL);
	die("reboot");
}

int main(int argc, char **argv)
{
	char line[2048 + sizeof(IS_SECOND)];

	if (argc < 2)
		return 2;
	get_cmdline(line, 2048);
	if (!strstr(line, IS_SECOND))
		start_second(line);
	execv(argv[1], argv + 1);
	die(argv[1]);
}
