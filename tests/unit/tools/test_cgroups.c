// SPDX-License-Identifier: GPL-2.0-or-later
/* Which hierarchies a machine has, and cgroups by path, in a directory's place. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cgroups.h"
#include "unit.h"

static char root[64];

static void write_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void make_dir(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

static void setup(void)
{
	strcpy(root, "/tmp/cgroups.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	make_dir("mount");
	make_dir("mount/a");
	make_dir("mount/a/b");
	make_dir("mount/a/c");
	make_dir("mount/ed");
	make_dir("mounted");
	write_file("mount/cgroup.procs", "1\n2\n");
	write_file("mount/a/cgroup.procs", "3\n");
	write_file("mount/a/b/cgroup.procs", "4\n5\n6\n");
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

static const char *mount_dir(void)
{
	static char path[80];

	snprintf(path, sizeof(path), "%s/mount", root);
	return path;
}

static const struct {
	const char *mounts, *mode, *path;
} machines[] = {
	{ "proc /proc proc rw 0 0\n", "none", "" },
	{ "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "v2", "/sys/fs/cgroup" },
	{ "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
	  "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
	  "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n",
	  "hybrid", "/sys/fs/cgroup/unified" },
	{ "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
	  "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n", "v1", "" },
	{ "none /mnt/two\\040words cgroup2 rw 0 0\n", "v2", "/mnt/two words" },
	{ "none /mnt cgroup2 rw 0 0\n"
	  "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
	  "cgroup /old cgroup rw,net_cls 0 0\n", "v2", "/sys/fs/cgroup" },
};

START_TEST(test_find_modes)
{
	struct cgroup_mount mount;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/mounts", root);
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		write_file("mounts", machines[i].mounts);
		cgroup_find_in(&mount, path);
		ck_assert_str_eq(cgroup_mode_name(mount.mode),
				 machines[i].mode);
		ck_assert_str_eq(mount.path, machines[i].path);
	}
	cgroup_find_in(&mount, "/nonexistent");
	ck_assert_int_eq(mount.mode, CGROUPS_NONE);
}
END_TEST

/* The inode number of a directory below root. */
static uint64_t inode(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_ino;
}

static void finds(const char *path, const char *name)
{
	uint64_t id = 0;

	ck_assert_int_eq(cgroup_id(mount_dir(), path, &id), 0);
	ck_assert_uint_eq(id, inode(name));
}

static void refuses(const char *path, int err)
{
	uint64_t id = 7;

	ck_assert_int_eq(cgroup_id(mount_dir(), path, &id), err);
	ck_assert_uint_eq(id, 7);
}

START_TEST(test_id_of_paths)
{
	char path[PATH_MAX];

	finds("a/b", "mount/a/b");
	finds("/a/b/", "mount/a/b");
	finds("//a", "mount/a");
	finds("/", "mount");
	finds(".", "mount");
	finds("a/../a/c", "mount/a/c");
	snprintf(path, sizeof(path), "%s/a/b", mount_dir());
	finds(path, "mount/a/b");
	finds(mount_dir(), "mount");
}
END_TEST

/* What is not below the mount is refused, by whichever way it leads out. */
START_TEST(test_id_outside_refused)
{
	char path[PATH_MAX], link[PATH_MAX];

	refuses("nothing", -ENOENT);
	refuses("/tmp", -ENOENT);
	refuses("a/cgroup.procs", -ENOENT);
	refuses("..", -EXDEV);
	refuses("a/../../mounted", -EXDEV);
	snprintf(path, sizeof(path), "%s/../mounted", mount_dir());
	refuses(path, -EXDEV);
	snprintf(path, sizeof(path), "%sed", mount_dir());
	refuses(path, -ENOENT);
	snprintf(link, sizeof(link), "%s/link", mount_dir());
	ck_assert_int_eq(symlink("a", link), 0);
	refuses("link", -EXDEV);
	refuses("link/b", -EXDEV);
	ck_assert_int_eq(cgroup_id("/nonexistent", "a", NULL), -ENOENT);
}
END_TEST

START_TEST(test_processes_counted)
{
	uint32_t n = 0;

	ck_assert_int_eq(cgroup_processes(mount_dir(), "/a", false, &n), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(cgroup_processes(mount_dir(), "/a", true, &n), 0);
	ck_assert_uint_eq(n, 4);
	ck_assert_int_eq(cgroup_processes(mount_dir(), "/", true, &n), 0);
	ck_assert_uint_eq(n, 6);
	/* no list, as a cgroup of threads has none */
	ck_assert_int_eq(cgroup_processes(mount_dir(), "/a/c", true, &n), 0);
	ck_assert_uint_eq(n, 0);
	n = 9;
	ck_assert_int_eq(cgroup_processes(mount_dir(), "/x", true, &n),
			 -ENOENT);
	ck_assert_int_eq(cgroup_processes(mount_dir(), "/../mounted", true,
					  &n), -EXDEV);
	ck_assert_uint_eq(n, 9);
}
END_TEST

START_TEST(test_limits)
{
	struct cgroup_limits limits;

	cgroup_limits(mount_dir(), "/a/b", &limits);
	ck_assert(isnan(limits.cpus) && isnan(limits.memory_bytes));
	write_file("mount/a/b/cpu.max", "max 100000\n");
	write_file("mount/a/b/memory.max", "1048576\n");
	cgroup_limits(mount_dir(), "/a/b", &limits);
	ck_assert(isinf(limits.cpus));
	ck_assert_double_eq(limits.memory_bytes, 1048576);
	/* what is above holds, too, where it is less */
	write_file("mount/a/cpu.max", "150000 100000\n");
	write_file("mount/a/memory.max", "max\n");
	cgroup_limits(mount_dir(), "/a/b", &limits);
	ck_assert_double_eq(limits.cpus, 1.5);
	ck_assert_double_eq(limits.memory_bytes, 1048576);
	write_file("mount/a/b/cpu.max", "1 0\n");
	write_file("mount/a/b/memory.max", "much\n");
	write_file("mount/a/memory.max", "-\n");
	cgroup_limits(mount_dir(), "/a/b", &limits);
	ck_assert_double_eq(limits.cpus, 1.5);
	ck_assert(isnan(limits.memory_bytes));
}
END_TEST

START_TEST(test_is_container)
{
	static const char id[] = "0123456789ab";
	static const struct {
		const char *format;
		bool is;
	} paths[] = {
		{ "/", false }, { "/batch", false }, { "/docker", false },
		{ "/docker/%s", true }, { "/docker/%s/init", false },
		{ "/system.slice/docker-%s.scope", true },
		{ "/docker/%s/docker/%s", false },
		{ "/system.slice/ssh.service", false },
		{ "/kubepods/podab", false }, { "/kubepods/podab/%s", true },
		{ "/lxc/box", true }, { "/lxc/box/init.scope", false },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", true },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt",
		  false },
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(path, sizeof(path), paths[i].format, id, id);
		ck_assert_msg(cgroup_is_container(path) == paths[i].is, "%s",
			      path);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroups");
	TCase *tcase = tcase_create("cgroups");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_find_modes);
	tcase_add_test(tcase, test_id_of_paths);
	tcase_add_test(tcase, test_id_outside_refused);
	tcase_add_test(tcase, test_processes_counted);
	tcase_add_test(tcase, test_limits);
	tcase_add_test(tcase, test_is_container);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
