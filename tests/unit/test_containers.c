// SPDX-License-Identifier: GPL-2.0-or-later
/* The cache of containers, over a tree of plain directories. */
#include <cmt/containers.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "unit.h"

#define ID "4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a"
/* More looks than it takes to get to the next walk. */
#define LOOKS 200

static char root[32];
static struct cmt_containers *containers;

/* Make a directory below the root; returns its id. */
static uint64_t make(const char *path)
{
	char full[512];
	struct stat st;

	snprintf(full, sizeof(full), "%s%s", root, path);
	if (mkdir(full, 0700))
		ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(stat(full, &st), 0);
	return st.st_ino;
}

static void setup(void)
{
	strcpy(root, "cmt-cgroups-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	make("/docker");
	make("/docker/" ID);
	make("/system.slice");
	make("/system.slice/ssh.service");
	ck_assert_int_eq(cmt_containers_new(&containers, root), 0);
}

static void teardown(void)
{
	char command[64];

	cmt_containers_free(containers);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

static const struct cmt_container *look(uint64_t id)
{
	const struct cmt_container *c = cmt_containers_lookup(containers, id);

	ck_assert_ptr_nonnull(c);
	ck_assert_uint_eq(c->cgroup_id, id);
	return c;
}

START_TEST(test_lookup_found)
{
	const struct cmt_container *c = look(make("/docker/" ID));

	ck_assert_str_eq(c->path, "/docker/" ID);
	ck_assert_int_eq(c->runtime, CMT_RUNTIME_DOCKER);
	ck_assert_str_eq(c->id, ID);
	ck_assert_str_eq(look(make(""))->path, "/");
	ck_assert_str_eq(look(make("/system.slice/ssh.service"))->name, "ssh");
	/* The same answer, at the same place. */
	ck_assert_ptr_eq(look(c->cgroup_id), c);
}
END_TEST

START_TEST(test_lookup_kept_after_removal)
{
	uint64_t id = make("/gone");
	char full[64];

	ck_assert_str_eq(look(id)->path, "/gone");
	snprintf(full, sizeof(full), "%s/gone", root);
	ck_assert_int_eq(rmdir(full), 0);
	ck_assert_str_eq(look(id)->path, "/gone");
	cmt_containers_forget(containers, id);
	ck_assert_ptr_null(look(id)->path);
	cmt_containers_forget(containers, id);
	cmt_containers_forget(containers, 123456789);
}
END_TEST

START_TEST(test_lookup_unknown)
{
	const struct cmt_container *c = look(UINT64_MAX);

	ck_assert_ptr_null(c->path);
	ck_assert_str_eq(c->name, "cgroup:18446744073709551615");
	ck_assert_int_eq(c->runtime, CMT_RUNTIME_NONE);
	ck_assert_str_eq(c->id, "");
	ck_assert_ptr_eq(look(UINT64_MAX), c);
}
END_TEST

/* However many ids were not found, a new container is, and in place. */
START_TEST(test_lookup_new_after_misses)
{
	const struct cmt_container *c = NULL;
	uint64_t id;
	int i;

	for (uint64_t k = 0; k < 10000; k++)
		look((1ULL << 63) + k);
	id = make("/lxc.payload.new");
	for (i = 0; i < LOOKS && !(c && c->path); i++) {
		if (c)
			ck_assert_ptr_eq(look(id), c);
		c = look(id);
	}
	ck_assert_int_lt(i, LOOKS);
	ck_assert_str_eq(c->name, "new");
	/* It is quick again now. */
	id = make("/lxc.payload.newer");
	ck_assert_str_eq(look(id)->name, "newer");
}
END_TEST

/* Seen by whether new directories are found: only a walk can find them. */
START_TEST(test_walks_limited)
{
	int found = 0;

	for (int i = 0; i < 20; i++)
		look(UINT64_MAX - (uint64_t)i);
	for (int i = 0; i < 5; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/late%d", i);
		found += !!look(make(path))->path;
	}
	ck_assert_int_lt(found, 5);
}
END_TEST

/* Tried three times it is believed gone, until it is forgotten. */
START_TEST(test_dead_id_until_forgotten)
{
	uint64_t id = make("/dead");
	char from[64], to[64];
	int i;

	snprintf(from, sizeof(from), "%s/dead", root);
	snprintf(to, sizeof(to), "%s-away", root);
	ck_assert_int_eq(rename(from, to), 0);
	for (i = 0; i < LOOKS; i++)
		look(id);
	ck_assert_int_eq(rename(to, from), 0);
	for (i = 0; i < LOOKS; i++)
		ck_assert_ptr_null(look(id)->path);
	cmt_containers_forget(containers, id);
	for (i = 0; i < LOOKS && !look(id)->path; i++)
		;
	ck_assert_str_eq(look(id)->path, "/dead");
}
END_TEST

START_TEST(test_symlinks_not_followed)
{
	char link[128], target[128];
	uint64_t id = make("/docker");

	snprintf(link, sizeof(link), "%s/aaa", root);
	snprintf(target, sizeof(target), "docker");
	ck_assert_int_eq(symlink(target, link), 0);
	snprintf(link, sizeof(link), "%s/loop", root);
	ck_assert_int_eq(symlink(".", link), 0);
	ck_assert_str_eq(look(id)->path, "/docker");
}
END_TEST

static int count(void *ctx, uint64_t id, const char *path)
{
	(void)id;
	(void)path;
	++*(int *)ctx;
	return 0;
}

static int stop(void *ctx, uint64_t id, const char *path)
{
	(void)id;
	(void)path;
	return ++*(int *)ctx == 2 ? -ECANCELED : 0;
}

START_TEST(test_walk_counts_and_stops)
{
	int fd = cmt_cgroup_open(root), n = 0;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(cmt_cgroup_walk(fd, count, &n), 0);
	ck_assert_int_eq(n, 5);
	n = 0;
	ck_assert_int_eq(cmt_cgroup_walk(fd, stop, &n), -ECANCELED);
	ck_assert_int_eq(n, 2);
	close(fd);
}
END_TEST

START_TEST(test_walk_depth_limited)
{
	int fd = cmt_cgroup_open(root), at = dup(fd), n = 0;

	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(mkdirat(at, "d", 0700), 0);
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY);

		close(at);
		at = next;
	}
	close(at);
	ck_assert_int_eq(cmt_cgroup_walk(fd, count, &n), 0);
	ck_assert_int_eq(n, 5 + 64);
	close(fd);
}
END_TEST

START_TEST(test_new_no_such_root)
{
	struct cmt_containers *c = NULL;

	ck_assert_int_eq(cmt_containers_new(&c, "/nonexistent/cgroup"),
			 -ENOENT);
	ck_assert_int_eq(cmt_containers_new(&c, "/proc/self/status"), -ENOENT);
	ck_assert_ptr_null(c);
	cmt_containers_free(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("containers");
	TCase *tcase = tcase_create("containers");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_lookup_found);
	tcase_add_test(tcase, test_lookup_kept_after_removal);
	tcase_add_test(tcase, test_lookup_unknown);
	tcase_add_test(tcase, test_lookup_new_after_misses);
	tcase_add_test(tcase, test_walks_limited);
	tcase_add_test(tcase, test_dead_id_until_forgotten);
	tcase_add_test(tcase, test_symlinks_not_followed);
	tcase_add_test(tcase, test_walk_counts_and_stops);
	tcase_add_test(tcase, test_walk_depth_limited);
	tcase_add_test(tcase, test_new_no_such_root);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
