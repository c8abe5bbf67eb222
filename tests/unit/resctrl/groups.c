// SPDX-License-Identifier: GPL-2.0-or-later
#include "groups.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#define ROOT "/tmp/cmt-groups.XXXXXX"

static const char *const files[] = {
	"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes",
};

char groups_root[sizeof(ROOT)];
static unsigned int domains;

__attribute__((format(printf, 2, 3)))
static void full(char path[4096], const char *format, ...)
{
	int n = snprintf(path, 4096, "%s/", groups_root);
	va_list args;

	va_start(args, format);
	ck_assert_int_lt(vsnprintf(path + n, 4096 - (size_t)n, format, args), 4096 - n);
	va_end(args);
}

static void make(const char *format, const char *name)
{
	char path[4096];

	full(path, format, name);
	ck_assert_msg(!mkdir(path, 0755), "%s: %m", path);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_msg(file, "%s: %m", path);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

void groups_set(const char *group, unsigned int domain, const char *name,
		const char *text)
{
	char path[4096];

	full(path, "%s/mon_data/mon_L3_%02u/%s", group, domain, name);
	if (text)
		write_file(path, text);
	else
		ck_assert_msg(!unlink(path), "%s: %m", path);
}

void groups_set_number(const char *path, unsigned int domain, const char *file,
		       unsigned long long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", value);
	groups_set(path, domain, file, text);
}

void groups_set_all(const char *path, unsigned int domain, unsigned long long occupancy,
		    unsigned long long total, unsigned long long local)
{
	groups_set_number(path, domain, files[0], occupancy);
	groups_set_number(path, domain, files[1], total);
	groups_set_number(path, domain, files[2], local);
}

/* mon_data comes last: without it a directory is no group yet. */
void groups_add(const char *path)
{
	char from[4096], to[4096];
	unsigned int d;

	if (strcmp(path, "."))
		make("%s", path);
	if (!strstr(path, "mon_groups/"))
		make("%s/mon_groups", path);
	make("%s/filling", path);
	for (d = 0; d < domains; d++) {
		full(from, "%s/filling/mon_L3_%02u", path, d);
		ck_assert_msg(!mkdir(from, 0755), "%s: %m", from);
	}
	full(from, "%s/filling", path);
	full(to, "%s/mon_data", path);
	ck_assert_int_eq(rename(from, to), 0);
	for (d = 0; d < domains; d++)
		groups_set_all(path, d, 0, 0, 0);
}

void groups_add_domain(const char *path, unsigned int domain)
{
	char whole[4096];

	full(whole, "%s/mon_data/mon_L3_%02u", path, domain);
	ck_assert_msg(!mkdir(whole, 0755), "%s: %m", whole);
	groups_set_all(path, domain, 0, 0, 0);
}

void groups_remove(const char *path)
{
	char whole[4096], command[8300];

	full(whole, "%s", path);
	snprintf(command, sizeof(command), "rm -r '%s'", whole);
	unit_shell(command);
}

void groups_setup(unsigned int nr_domains)
{
	char path[4096];

	memcpy(groups_root, ROOT, sizeof(ROOT));
	ck_assert(mkdtemp(groups_root));
	domains = nr_domains;
	make("%s", "info");
	make("%s", "info/L3_MON");
	full(path, "info/L3_MON/mon_features");
	write_file(path, "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n");
	full(path, "info/L3_MON/num_rmids");
	write_file(path, "128\n");
	groups_add(".");
}

void groups_teardown(void)
{
	char command[64 + sizeof(groups_root)];

	snprintf(command, sizeof(command), "rm -rf '%s'", groups_root);
	unit_shell(command);
}
