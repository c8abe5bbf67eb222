// SPDX-License-Identifier: GPL-2.0-or-later
/* One allocation of a task that fails, and where it was */
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

static void add_site(struct injected *injected, const char *line)
{
	char name[48];
	unsigned int i;

	line = strchr(line, ';') + 1;
	while (*line == ' ')
		line++;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, "+"), line);
	for (i = 0; i < injected->nr_sites; i++)
		if (!strcmp(injected->sites[i], name))
			return;
	if (injected->nr_sites < INJECT_SITES)
		strcpy(injected->sites[injected->nr_sites++], name);
}

/* A line of the log at each read(); those with a '?' are guesses of the kernel. */
bool inject_look(struct injected *injected)
{
	bool in_report = false, inside = false;
	char line[1024];
	ssize_t n;

	injected->failed++;
	while ((n = read(kmsg, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		if (n <= 0)
			continue;
		line[n] = '\0';
		in_report |= !!strstr(line, "FAULT_INJECTION");
		if (!in_report || inside || !strstr(line, "[cmt]") || strstr(line, "? "))
			continue;
		inside = true;
		add_site(injected, line);
	}
	injected->inside += inside;
	return inside;
}

void inject_note(const char *what, const struct injected *injected)
{
	unsigned int i;

	note("%s: %u allocations failed, %u of the module, in %u functions", what,
	     injected->failed, injected->inside, injected->nr_sites);
	for (i = 0; i < injected->nr_sites; i++)
		note("  %s", injected->sites[i]);
}
