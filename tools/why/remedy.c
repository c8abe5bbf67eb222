// SPDX-License-Identifier: GPL-2.0-or-later
#include "remedy.h"

#include <cpuid.h>
#include <ctype.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

#define RESCTRL		"/sys/fs/resctrl"
#define GROUP_LEN	64
#define HASH_LEN	10	/* with the '-' before and the end */
#define PATH_LEN	1024

/* The number in a file, in base 0 or 16; 0: there is none */
static uint32_t number_in(const char *path, const char *format)
{
	FILE *file = fopen(path, "re");
	uint32_t value = 0;

	if (!file)
		return 0;
	if (fscanf(file, format, &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

/* Is resctrl mounted, with bandwidth in percent? */
static bool find_mount(bool *percent)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	bool found = false;

	while (!found && mounts && (mount = getmntent(mounts))) {
		found = !strcmp(mount->mnt_type, "resctrl") && !strcmp(mount->mnt_dir, RESCTRL);
		*percent = found && !hasmntopt(mount, "mba_MBps");
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

static bool has_file_system(void)
{
	FILE *file = fopen("/proc/filesystems", "re");
	char line[128];
	bool found = false;

	while (!found && file && fgets(line, sizeof(line), file))
		found = !strcmp(line, "nodev\tresctrl\n");
	if (file)
		fclose(file);
	return found;
}

static bool is_intel(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0, &a, &b, &c, &d) && b == signature_INTEL_ebx;
}

/* CPUID leaf 10H, as SDM 19.19.4.4 says: what can be had before resctrl is mounted. */
static void read_cpuid(struct remedy_machine *machine)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid_count(0x10, 0, &a, &b, &c, &d) || !(b & 1U << 1) ||
	    !__get_cpuid_count(0x10, 1, &a, &b, &c, &d))
		return;
	machine->ways = (a & 0x1f) + 1;
	machine->ways_least = is_intel() ? 1 : 2;
}

static void read_mounted(struct remedy_machine *machine, bool percent)
{
	uint32_t mask = number_in(RESCTRL "/info/L3/cbm_mask", "%x");

	machine->mounted = true;
	machine->ways = (uint32_t)__builtin_popcount(mask);
	machine->ways_least = number_in(RESCTRL "/info/L3/min_cbm_bits", "%u");
	/* AMD's values are no percentages */
	if (percent && is_intel())
		machine->percent_least = number_in(RESCTRL "/info/MB/min_bandwidth", "%u");
}

void remedy_machine_read(struct remedy_machine *machine)
{
	struct cgroup_mount mount;
	bool percent = false;

	memset(machine, 0, sizeof(*machine));
	cgroup_find(&mount);
	memcpy(machine->cgroups, mount.path, sizeof(machine->cgroups));
	if (find_mount(&percent))
		read_mounted(machine, percent);
	else if (has_file_system())
		read_cpuid(machine);
}

uint32_t remedy_weight(const struct remedy_machine *machine, const char *path)
{
	char file[PATH_MAX + PATH_LEN];
	int len;

	if (!machine->cgroups[0] || !path)
		return 0;
	len = snprintf(file, sizeof(file), "%s%s/cpu.weight", machine->cgroups, path);
	return len > 0 && (size_t)len < sizeof(file) ? number_in(file, "%u") : 0;
}

/* A path for a shell.  False: it has bytes that a terminal does not show as they are. */
static bool quote(char buf[PATH_LEN], const char *mount, const char *path)
{
	size_t len = 0;

	if (!mount[0] || !path)
		return false;
	buf[len++] = '\'';
	for (int i = 0; i < 2; i++) {
		for (const char *c = i ? path : mount; *c; c++) {
			/* what ends the quotes is outside of all */
			if (!isascii((unsigned char)*c) || !isprint((unsigned char)*c) ||
			    *c == '\'' || len > PATH_LEN - 3)
				return false;
			buf[len++] = *c;
		}
	}
	buf[len++] = '\'';
	buf[len] = '\0';
	return true;
}

/* FNV-1a */
static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261U;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619U;
	return hash;
}

/*
 * A name for a resctrl group, made of that of the container, and none of resctrl's own.  The
 * hash of the path tells containers of one name from each other.
 */
static const char *group_of(char buf[GROUP_LEN], const struct remedy_case *of)
{
	const char *name = strchr(of->label, ':');
	size_t len = (size_t)snprintf(buf, GROUP_LEN, "limited-");

	for (const char *c = name ? name + 1 : of->label; *c && len < GROUP_LEN - HASH_LEN; c++)
		buf[len++] = isascii((unsigned char)*c) && isalnum((unsigned char)*c) ? *c : '-';
	snprintf(buf + len, GROUP_LEN - len, "-%08x", hash_of(of->path));
	return buf;
}

/* Half of what it holds, in ways */
static uint32_t ways_for(const struct remedy_machine *machine, const struct remedy_case *of)
{
	double held = of->l3_bytes && of->held_bytes ?
		      (double)of->held_bytes / (double)of->l3_bytes : 0.5;
	uint32_t ways = (uint32_t)(machine->ways * held / 2 + 0.5);

	if (ways >= machine->ways)
		ways = machine->ways - 1;
	return ways < machine->ways_least ? machine->ways_least : ways;
}

/* A resctrl group of the container's processes, with this line in its schemata */
static bool group_commands(const struct remedy_machine *machine, const struct remedy_case *of,
			   const char *schemata, struct remedy *remedy)
{
	char path[PATH_LEN], group[GROUP_LEN];
	int len;

	if (!quote(path, machine->cgroups, of->path))
		return false;
	group_of(group, of);
	len = snprintf(remedy->commands, sizeof(remedy->commands),
		       "%smkdir -p " RESCTRL "/%s; echo %s > " RESCTRL "/%s/schemata; for t in $(find %s -name cgroup.threads -exec cat {} +); do echo $t > " RESCTRL "/%s/tasks; done",
		       machine->mounted ? "" : "mount -t resctrl resctrl " RESCTRL "; ",
		       group, schemata, group, path, group);
	return len > 0 && (size_t)len < sizeof(remedy->commands);
}

static bool less_cache(const struct remedy_machine *machine, const struct remedy_case *of,
		       struct remedy *remedy)
{
	uint32_t ways = ways_for(machine, of);
	char schemata[64];

	if (machine->ways < 2 || machine->ways > 31 || ways >= machine->ways)
		return false;
	snprintf(schemata, sizeof(schemata), "L3:%u=%x", of->domain, (1U << ways) - 1);
	snprintf(remedy->what, sizeof(remedy->what), "give it %u of %u ways of the cache (mask 0x%x)",
		 ways, machine->ways, (1U << ways) - 1);
	return group_commands(machine, of, schemata, remedy);
}

static bool less_bandwidth(const struct remedy_machine *machine, const struct remedy_case *of,
			   struct remedy *remedy)
{
	uint32_t percent = machine->percent_least > 50 ? machine->percent_least : 50;
	char schemata[64];

	if (!machine->percent_least)
		return false;
	snprintf(schemata, sizeof(schemata), "MB:%u=%u", of->domain, percent);
	snprintf(remedy->what, sizeof(remedy->what),
		 "limit its memory bandwidth to %u %%", percent);
	return group_commands(machine, of, schemata, remedy);
}

static bool less_cpu(const struct remedy_machine *machine, const struct remedy_case *of,
		     struct remedy *remedy)
{
	uint32_t half = of->weight / 2;
	char path[PATH_LEN];
	int len;

	if (!half || !quote(path, machine->cgroups, of->path))
		return false;
	snprintf(remedy->what, sizeof(remedy->what),
		 "halve its weight for CPUs that others want, too (%u)", of->weight);
	len = snprintf(remedy->commands, sizeof(remedy->commands), "echo %u > %s/cpu.weight",
		       half, path);
	return len > 0 && (size_t)len < sizeof(remedy->commands);
}

bool remedy_for(const struct remedy_machine *machine, const struct remedy_case *of,
		struct remedy *remedy)
{
	switch (of->resource) {
	case CMT_SLOWDOWN_CPU:
		return less_cpu(machine, of, remedy);
	case CMT_SLOWDOWN_CACHE:
		return less_cache(machine, of, remedy);
	case CMT_SLOWDOWN_MEMORY:
		return less_bandwidth(machine, of, remedy);
	default:
		return false;
	}
}

bool remedy_move(const struct remedy_machine *machine, const struct remedy_case *of,
		 struct remedy *remedy)
{
	const struct idle_domain *to = of->idle;
	char path[PATH_LEN], cgroup[PATH_MAX + PATH_LEN];
	int len;

	if (!to || of->resource == CMT_SLOWDOWN_CPU ||
	    !quote(path, machine->cgroups, of->path))
		return false;
	len = snprintf(cgroup, sizeof(cgroup), "%s%s", machine->cgroups, of->path);
	if (len >= (int)sizeof(cgroup) || !idle_domain_may_have(cgroup, to))
		return false;
	snprintf(remedy->what, sizeof(remedy->what),
		 "move it to L3 domain %u, the least loaded", to->id);
	len = snprintf(remedy->commands, sizeof(remedy->commands), "echo %s > %s/cpuset.cpus",
		       to->list, path);
	return len > 0 && (size_t)len < sizeof(remedy->commands);
}
