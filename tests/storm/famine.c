// SPDX-License-Identifier: GPL-2.0-or-later
/* Failing allocations: one in five of an actor's */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "storm.h"

#define FAULTS		"/sys/kernel/debug/"

static const char *const injectors[] = { "failslab", "fail_page_alloc" };

static void inject(const char *injector, const char *name, const char *value)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), FAULTS "%s/%s", injector, name);
	if (access(path, F_OK))
		return;
	err = write_file(path, value);
	CHECK(!err, "%s: %s", path, strerror(-err));
}

bool famine_possible(void)
{
	return !access(FAULTS "failslab", F_OK);
}

#define SLAB	"/sys/kernel/slab/"

/*
 * Allocations by the checks of the debug kernel, which are half of all, do not fail.
 * Only caches fail that tests/storm/check and tests/guestfuzz/check have marked by
 * slub_debug=.
 */
static void filter_caches(void)
{
	char text[16];

	CHECK(!strcmp(read_file(SLAB "kmalloc-64/failslab", text, sizeof(text)), "1\n") &&
	      !strcmp(read_file(SLAB "kmemleak_object/failslab", text, sizeof(text)), "0\n"),
	      "caches are not marked: slub_debug=");
	inject("failslab", "cache-filter", "Y");
}

/* Also allocations that may sleep; without a report for each */
void famine_prepare(void)
{
	unsigned int i;

	if (famine_possible())
		filter_caches();
	for (i = 0; i < 2; i++) {
		inject(injectors[i], "verbose", "0");
		inject(injectors[i], "ignore-gfp-wait", "N");
		inject(injectors[i], "ignore-gfp-highmem", "N");
		inject(injectors[i], "min-order", "0");
		inject(injectors[i], "task-filter", "Y");
		inject(injectors[i], "interval", "1");
		inject(injectors[i], "times", "-1");
		inject(injectors[i], "probability", "0");
	}
}

/* From now on, the kernel's log has a stack trace of each failure. */
void famine_report(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		inject(injectors[i], "verbose_ratelimit_interval_ms", "0");
		inject(injectors[i], "verbose", "2");
	}
}

void famine_everywhere(bool on)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		inject(injectors[i], "probability", on ? "20" : "0");
}

static int make_it_fail = -1;

void famine_suspend(bool suspend)
{
	if (make_it_fail >= 0)
		CHECK(pwrite(make_it_fail, suspend ? "0" : "1", 1, 0) == 1,
		      "make-it-fail: %m");
}

void famine_join(void)
{
	if (!famine_possible())
		return;
	if (make_it_fail < 0)
		make_it_fail = open("/proc/self/make-it-fail",
				    O_WRONLY | O_CLOEXEC);
	CHECK(make_it_fail >= 0, "make-it-fail: %m");
	famine_suspend(false);
}
