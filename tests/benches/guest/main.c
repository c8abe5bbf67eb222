// SPDX-License-Identifier: GPL-2.0-or-later
/* bench [MODULE-PARAMETERS]; see bench.h and tests/bench */
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

int main(int argc, char **argv)
{
	const char *params = argc > 1 ? argv[1] : "";
	struct utsname name;

	uname(&name);
	text("kernel", name.release);
	check_clock();
	bench_getppid();
	bench_ring();
	bench_sched(params);
	module_load(params);
	bench_sample();
	module_unload();
	bench_resctrl();
	return 0;
}
