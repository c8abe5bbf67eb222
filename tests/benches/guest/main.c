// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench PART [MODULE-PARAMETERS]; see bench.h and tests/bench.  costs is of any number of
 * RMIDs, scale wants more than a thousand, counted a PMU, channels memory controllers whose
 * counters can be read, second and second_scale a second CPU.
 */
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

#define ROUNDS	15
#define CALLS	1000

/* The yardstick: the cheapest way into the kernel and back. */
static void bench_getppid(void)
{
	double v[ROUNDS];
	uint64_t start;
	int i, j;

	for (i = 0; i < ROUNDS; i++) {
		start = instructions();
		for (j = 0; j < CALLS; j++)
			syscall(SYS_getppid);
		v[i] = (double)(instructions() - start) / CALLS;
	}
	figure("getppid", median(v, ROUNDS));
}

static void report_guest(const char *rmids_key)
{
	struct utsname name;
	struct cmt_info info;
	int fd = device_open();

	uname(&name);
	text("kernel", name.release);
	device_info(fd, &info);
	close(fd);
	text("backend", info.backend == CMT_BACKEND_HARDWARE ? "hardware" :
							       "emulated");
	text("vendor", info.vendor == CMT_VENDOR_INTEL ? "Intel" : "other");
	figure(rmids_key, info.nr_rmids);
}

static void costs(const char *params)
{
	bench_getppid();
	bench_ring();
	bench_sched(params);
	module_load(params);
	report_guest("rmids");
	bench_sample("");
	bench_sample_of("_occupancy", CMT_F_OCCUPANCY);
	bench_sample_of("_occupancy_total", CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL);
	module_unload();
	bench_resctrl();
	text("msr", msrs_counted() ? "counted" : "not counted");
}

static void scale(const char *params)
{
	struct costs measured;

	module_load(params);
	report_guest("rmids_scale");
	measured = bench_sample("_scale");
	module_unload();
	bench_longest(params);
	bench_hot(params, &measured);
}

int main(int argc, char **argv)
{
	const char *params = argc > 2 ? argv[2] : "";

	check_clock();
	if (argc > 1 && !strcmp(argv[1], "costs"))
		costs(params);
	else if (argc > 1 && !strcmp(argv[1], "scale"))
		scale(params);
	else if (argc > 1 && !strcmp(argv[1], "counted"))
		bench_counted(params);
	else if (argc > 1 && !strcmp(argv[1], "channels"))
		bench_channels(params);
	else if (argc > 1 && !strcmp(argv[1], "second"))
		bench_second(params, "");
	else if (argc > 1 && !strcmp(argv[1], "second_scale"))
		bench_second(params, "_scale");
	else
		die("which part?");
	return 0;
}
