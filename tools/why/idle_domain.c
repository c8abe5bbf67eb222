// SPDX-License-Identifier: GPL-2.0-or-later
#include "idle_domain.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE "%s/sys/devices/system/cpu/cpu%u/cache/index3/"

/* The first line of a file, without its end.  False also where it does not fit. */
static bool read_line(const char *path, char *buf, int size)
{
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(buf, size, file) && strchr(buf, '\n');

	if (file)
		fclose(file);
	if (ok)
		buf[strcspn(buf, "\n")] = '\0';
	return ok && buf[0];
}

/* "0-3,8": false if it is no such list */
static bool parse_list(const char *list, cpu_set_t *cpus)
{
	char *end = (char *)list;

	CPU_ZERO(cpus);
	do {
		unsigned long from = strtoul(list, &end, 10), to = from;

		if (end == list)
			return false;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (to < from || to >= CPU_SETSIZE)
			return false;
		for (unsigned long cpu = from; cpu <= to; cpu++)
			CPU_SET(cpu, cpus);
		list = end + 1;
	} while (*end == ',');
	return !*end;
}

static bool is_known(const struct idle_domains *all, uint32_t cpu)
{
	for (uint32_t i = 0; i < all->nr; i++)
		if (CPU_ISSET(cpu, &all->domains[i].cpus))
			return true;
	return false;
}

static void add_domain_of(struct idle_domains *all, uint32_t cpu)
{
	struct idle_domain *domain = &all->domains[all->nr];
	char path[PATH_MAX], id[16];

	snprintf(path, sizeof(path), CACHE "id", all->root, cpu);
	if (!read_line(path, id, sizeof(id)))
		return;
	snprintf(path, sizeof(path), CACHE "shared_cpu_list", all->root, cpu);
	if (!read_line(path, domain->list, sizeof(domain->list)) ||
	    !parse_list(domain->list, &domain->cpus))
		return;
	domain->id = (uint32_t)strtoul(id, NULL, 10);
	domain->nr_cpus = (uint32_t)CPU_COUNT(&domain->cpus);
	all->nr++;
}

/* "cpu12 USER NICE SYSTEM IDLE IOWAIT ...": one line for each CPU that is online */
static void add_idle(struct idle_domains *all, const char *line)
{
	unsigned long long idle, waiting;
	unsigned int cpu;

	if (sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &waiting) != 3 ||
	    cpu >= CPU_SETSIZE)
		return;
	for (uint32_t i = 0; i < all->nr; i++)
		if (CPU_ISSET(cpu, &all->domains[i].cpus))
			all->domains[i].idle += idle + waiting;
}

static void read_idle(struct idle_domains *all)
{
	char path[PATH_MAX], line[1024];
	FILE *file;

	for (uint32_t i = 0; i < all->nr; i++)
		all->domains[i].idle = 0;
	snprintf(path, sizeof(path), "%s/proc/stat", all->root);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) && !strncmp(line, "cpu", 3))
		add_idle(all, line);
	if (file)
		fclose(file);
}

void idle_domains_begin(struct idle_domains *all, const char *root)
{
	memset(all, 0, sizeof(*all));
	all->root = root;
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE && all->nr < IDLE_DOMAINS; cpu++)
		if (!is_known(all, cpu))
			add_domain_of(all, cpu);
	read_idle(all);
	for (uint32_t i = 0; i < all->nr; i++)
		all->domains[i].before = all->domains[i].idle;
}

/* A CPU that went away takes its idle time along. */
static double idle_of(const struct idle_domain *domain)
{
	if (domain->idle < domain->before)
		return 0;
	return (double)(domain->idle - domain->before) / domain->nr_cpus;
}

const struct idle_domain *idle_domain_find(struct idle_domains *all, uint32_t domain)
{
	const struct idle_domain *most = NULL, *self = NULL;

	if (all->nr < 2)
		return NULL;
	read_idle(all);
	for (uint32_t i = 0; i < all->nr; i++) {
		const struct idle_domain *at = &all->domains[i];

		if (at->id == domain)
			self = at;
		if (!most || idle_of(at) > idle_of(most))
			most = at;
	}
	return self && idle_of(most) > idle_of(self) ? most : NULL;
}

bool idle_domain_may_have(const char *cgroup, const struct idle_domain *to)
{
	char path[PATH_MAX], list[IDLE_LIST_LEN];
	const char *slash = strrchr(cgroup, '/');
	cpu_set_t cpus;
	FILE *file;
	int len;

	len = snprintf(path, sizeof(path), "%s/cpuset.cpus", cgroup);
	file = slash && len < (int)sizeof(path) ? fopen(path, "re") : NULL;
	if (!file)
		return false;
	fclose(file);
	snprintf(path, sizeof(path), "%.*s/cpuset.cpus.effective", (int)(slash - cgroup),
		 cgroup);
	if (!read_line(path, list, sizeof(list)) || !parse_list(list, &cpus))
		return false;
	CPU_AND(&cpus, &cpus, &to->cpus);
	return CPU_EQUAL(&cpus, &to->cpus);
}
