// SPDX-License-Identifier: GPL-2.0-or-later
/* The same readings by resctrl, if the kernel has it. */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "bench.h"

#define RESCTRL	"/sys/fs/resctrl"
#define DOMAIN	RESCTRL "/mon_data/mon_L3_00/"
#define ROUNDS	15
#define READS	50

static const char *const events[] = {
	DOMAIN "llc_occupancy",
	DOMAIN "mbm_total_bytes",
	DOMAIN "mbm_local_bytes",
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

/* The kernel lists the feature only if it has found the monitoring itself. */
static bool cpu_has_monitoring(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	bool found = false;
	char *line = NULL;
	size_t size = 0;

	if (!file)
		die_errno("/proc/cpuinfo");
	while (!found && getline(&line, &size, file) > 0)
		found = strstr(line, " cqm_llc") || strstr(line, " cqm_occup");
	free(line);
	fclose(file);
	return found;
}

static int event_open(size_t event)
{
	int fd = open(events[event], O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die_errno(events[event]);
	return fd;
}

static void event_read(int fd)
{
	char buf[64];
	ssize_t n = pread(fd, buf, sizeof(buf), 0);

	if (n <= 0)
		die_errno("reading a resctrl file");
	if (buf[0] < '0' || buf[0] > '9')
		die("a resctrl file says %.*s", (int)n, buf);
}

static void by_open(void)
{
	int i, fd;

	for (i = 0; i < READS; i++) {
		fd = event_open(0);
		event_read(fd);
		close(fd);
	}
}

static int kept[EVENTS];

static void by_pread(void)
{
	int i;

	for (i = 0; i < READS; i++)
		event_read(kept[0]);
}

static void by_pread_all(void)
{
	size_t event;
	int i;

	for (i = 0; i < READS; i++)
		for (event = 0; event < EVENTS; event++)
			event_read(kept[event]);
}

static void measure(const char *key, void (*reads)(void))
{
	double v[ROUNDS];
	uint64_t start;
	int i;

	reads();
	for (i = 0; i < ROUNDS; i++) {
		start = instructions();
		reads();
		v[i] = (double)(instructions() - start) / READS;
	}
	figure(key, median(v, ROUNDS));
}

void bench_resctrl(void)
{
	size_t event;

	if (!cpu_has_monitoring()) {
		text("resctrl", "not in this guest (no RDT processor)");
		return;
	}
	if (mount("resctrl", RESCTRL, "resctrl", 0, NULL))
		die_errno("mounting resctrl");
	for (event = 0; event < EVENTS; event++)
		kept[event] = event_open(event);
	measure("resctrl_open", by_open);
	measure("resctrl_pread", by_pread);
	measure("resctrl_pread_all", by_pread_all);
	for (event = 0; event < EVENTS; event++)
		close(kept[event]);
	if (umount(RESCTRL))
		die_errno("unmounting resctrl");
	text("resctrl", "measured");
}
