/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tree of files as resctrl shows them, in a directory of its own. */
#ifndef TEST_GROUPS_H
#define TEST_GROUPS_H

extern char groups_root[];

/* The default group alone, with @nr_domains L3 domains, 0 and so on, and all values 0. */
void groups_setup(unsigned int nr_domains);
void groups_teardown(void);

/* A group, at a path from the root such as "web/mon_groups/a"; its values are 0. */
void groups_add(const char *path);
void groups_remove(const char *path);
/* A domain that a group does not have yet; its values are 0. */
void groups_add_domain(const char *path, unsigned int domain);

/* The value of a file: "web", 0, "llc_occupancy", "4096\n".  NULL: remove it. */
void groups_set(const char *path, unsigned int domain, const char *file,
		const char *text);
void groups_set_number(const char *path, unsigned int domain, const char *file,
		       unsigned long long value);
void groups_set_all(const char *path, unsigned int domain, unsigned long long occupancy,
		    unsigned long long total, unsigned long long local);

#endif
