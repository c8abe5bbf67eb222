// SPDX-License-Identifier: GPL-2.0-or-later
/* One failing allocation of a task, and the place of the allocation */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject.h"
#include "storm.h"

static int kmsg = -1;

void inject_begin(void)
{
	struct stat st;

	if (!storm)
		storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	famine_prepare();
	famine_report();
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(kmsg >= 0 && !stat("/lib/cmt.ko", &st), "/dev/kmsg, /lib/cmt.ko: %m");
}

int inject_open(const char *task)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/fail-nth", task);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0, "%s: %m", path);
	return fd;
}

static void put_nth(int fd, unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	CHECK(pwrite(fd, text, n, 0) == n, "fail-nth: %m");
}

void inject_nth(int fd, unsigned int nth)
{
	CHECK(lseek(kmsg, 0, SEEK_END) >= 0, "/dev/kmsg: %m");
	put_nth(fd, nth);
}

unsigned int inject_end(int fd)
{
	char text[16] = "";

	CHECK(pread(fd, text, sizeof(text) - 1, 0) > 0, "fail-nth: %m");
	put_nth(fd, 0);
	return strtoul(text, NULL, 10);
}

/* The function of a line "...; cmt_ring_prepare+0x1a/0x80 [cmt]" */
static void function_of(char name[48], const char *line)
{
	line = strchr(line, ';') + 1;
	line += strspn(line, " ");
	snprintf(name, 48, "%.*s", (int)strcspn(line, "+\n"), line);
}

static void add_site(struct sites *sites, const char *name)
{
	unsigned int i;

	for (i = 0; i < sites->nr; i++)
		if (!strcmp(sites->names[i], name))
			return;
	if (sites->nr < INJECT_SITES)
		strcpy(sites->names[sites->nr++], name);
}

/* The functions through which every system call enters */
static bool is_entry(const char *name)
{
	static const char *const entries[] = {
		"do_init_module", "load_module", "__do_sys_", "__x64_sys_", "__se_sys_",
		"do_syscall_64", "vfs_write", "ksys_write", "do_one_initcall",
		"ret_from_fork", "kthread",
	};
	unsigned int i;

	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (!strncmp(name, entries[i], strlen(entries[i])))
			return true;
	return false;
}

/* One line of the log at each read().  Entries with a '?' are unreliable. */
void inject_look(struct injected *injected, int err)
{
	bool reported = false, inside = false, entered = false;
	char line[1024], name[48], below[48] = "";
	ssize_t n;

	injected->failed++;
	injected->refused += !!err;
	while ((n = read(kmsg, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		if (n <= 0)
			continue;
		line[n] = '\0';
		reported |= !!strstr(line, "FAULT_INJECTION");
		if (!reported || inside || entered || strstr(line, "? ") ||
		    !strstr(line, "+0x"))
			continue;
		function_of(name, line);
		inside = strstr(line, "[cmt]");
		entered = !inside && is_entry(name);
		if (inside)
			add_site(&injected->module, name);
		else if (entered)
			add_site(&injected->kernel, below);
		strcpy(below, name);
	}
	injected->inside += inside;
	injected->silent += !reported;
}

static struct injected sum;

static void note_sites(const char *whose, const struct sites *sites)
{
	char text[INJECT_SITES * 50] = "";
	unsigned int i;

	for (i = 0; i < sites->nr; i++) {
		strcat(text, " ");
		strcat(text, sites->names[i]);
	}
	if (sites->nr)
		note("  %s:%s", whose, text);
}

void inject_note(const char *what, const struct injected *injected)
{
	note("%s: %u allocations failed, %u refused with a clean error, %u done all the same; "
	     "%u of the module, in %u functions, %u of the kernel, %u without a report",
	     what, injected->failed, injected->refused,
	     injected->failed - injected->refused, injected->inside, injected->module.nr,
	     injected->failed - injected->inside - injected->silent, injected->silent);
	note_sites("module", &injected->module);
	note_sites("kernel", &injected->kernel);
	sum.failed += injected->failed;
	sum.refused += injected->refused;
	sum.inside += injected->inside;
}

void inject_sum(const char *what)
{
	note("%s in all: %u allocations failed, %u refused, %u of the module", what,
	     sum.failed, sum.refused, sum.inside);
}
