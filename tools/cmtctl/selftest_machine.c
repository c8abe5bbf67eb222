// SPDX-License-Identifier: GPL-2.0-or-later
/* What the self-test reads of the machine, beside the module. */
#include "selftest.h"

#include <stdio.h>
#include <string.h>

/* A line "NAME   NUMBER kB" of /proc/meminfo */
uint64_t selftest_memory(void)
{
	FILE *in = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (in && !kib && fgets(line, sizeof(line), in))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
			kib = 0;
	if (in)
		fclose(in);
	return (uint64_t)kib << 10;
}

/* "2048K", of the first CPU */
uint64_t selftest_l2_bytes(void)
{
	FILE *in = fopen("/sys/devices/system/cpu/cpu0/cache/index2/size", "re");
	unsigned long long kib = 0;

	if (in && fscanf(in, "%lluK", &kib) != 1)
		kib = 0;
	if (in)
		fclose(in);
	return (uint64_t)kib << 10;
}

bool selftest_in_group(void)
{
	FILE *in = fopen("/proc/self/cpu_resctrl_groups", "re");
	char res[256] = "", mon[256] = "";
	bool has;

	if (!in)
		return false;
	has = fgets(res, sizeof(res), in) && fgets(mon, sizeof(mon), in) &&
	      (strcmp(res, "res:/\n") || strcmp(mon, "mon:\n")) &&
	      (strcmp(res, "res:\n") || strcmp(mon, "mon:\n"));
	fclose(in);
	return has;
}
