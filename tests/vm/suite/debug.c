// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks the debug kernel for its findings at the end.  The kernel's log has the details. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

#define KMEMLEAK "/sys/kernel/debug/kmemleak"

/* An object younger than this is not called lost (mm/kmemleak.c). */
#define KMEMLEAK_AGE_MS 5000

/*
 * A scan lists objects that are lost and have not changed since the scan before.  If the
 * scan is refused, kmemleak has switched itself off.
 */
static void debug_kmemleak(void)
{
	static char found[16384];
	char *line, *save;
	int i;

	CHECK(!module_present(), "the module is still there");
	sleep_ms(KMEMLEAK_AGE_MS + 1000);
	for (i = 0; i < 2; i++)
		CHECK(!write_file(KMEMLEAK, "scan"), "no scan");
	read_file(KMEMLEAK, found, sizeof(found));
	for (line = strtok_r(found, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		note("%s", line);
	CHECK(!*found, "the memory above is lost");
}

/* Lockdep stops after its first report. */
static void debug_lockdep(void)
{
	static char text[16384];
	const char *p;
	int on = 0;

	read_file("/proc/lockdep_stats", text, sizeof(text));
	p = strstr(text, "debug_locks:");
	CHECK(p && sscanf(p, "debug_locks: %d", &on) == 1,
	      "/proc/lockdep_stats does not say");
	CHECK(on, "lockdep has switched itself off");
}

const struct test debug_tests[] = {
	{ "debug_kmemleak", debug_kmemleak, NULL, 300 },
	{ "debug_lockdep", debug_lockdep, NULL, 0 },
	{ }
};
