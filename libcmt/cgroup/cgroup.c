// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define DEPTH_MAX 64

struct walk {
	cmt_cgroup_fn fn;
	void *ctx;
	dev_t dev;
	size_t len;		/* of path, which is "" at the root */
	char path[PATH_MAX];
};

static int open_dir(int at, const char *name, int flags)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

static int open_cgroup2(const char *path)
{
	struct statfs fs;
	int fd = open_dir(AT_FDCWD, path, 0);

	if (fd < 0)
		return fd;
	if (!fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	close(fd);
	return -ENOENT;
}

/* On hybrid systems it is somewhere else. */
static int open_mounted(void)
{
	char line[PATH_MAX];
	struct mntent ent;
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	int fd = -ENOENT;

	if (!mounts)
		return -ENOENT;
	while (fd < 0 && getmntent_r(mounts, &ent, line, sizeof(line))) {
		if (!strcmp(ent.mnt_type, "cgroup2"))
			fd = open_cgroup2(ent.mnt_dir);
	}
	endmntent(mounts);
	return fd;
}

int cmt_cgroup_open(const char *root)
{
	int fd;

	if (root) {
		fd = open_dir(AT_FDCWD, root, 0);
		return fd == -ENOTDIR ? -ENOENT : fd;
	}
	fd = open_cgroup2("/sys/fs/cgroup");
	return fd < 0 ? open_mounted() : fd;
}

static int walk_dir(struct walk *walk, int fd, int depth);

/* A child that is gone, unreadable or elsewhere is no error. */
static int walk_child(struct walk *walk, int dir_fd, const char *name,
		      int depth)
{
	size_t len = walk->len, add = strlen(name);
	int fd, err;

	if (depth > DEPTH_MAX || len + 1 + add >= sizeof(walk->path))
		return 0;
	fd = open_dir(dir_fd, name, O_NOFOLLOW);
	if (fd < 0)
		return 0;
	walk->path[len] = '/';
	memcpy(walk->path + len + 1, name, add + 1);
	walk->len = len + 1 + add;
	err = walk_dir(walk, fd, depth);
	walk->len = len;
	walk->path[len] = '\0';
	return err;
}

static bool maybe_dir(const struct dirent *ent)
{
	return (ent->d_type == DT_DIR || ent->d_type == DT_UNKNOWN) &&
	       strcmp(ent->d_name, ".") && strcmp(ent->d_name, "..");
}

static int walk_children(struct walk *walk, DIR *dir, int depth)
{
	const struct dirent *ent;
	int err = 0;

	while (!err && (ent = readdir(dir))) {
		if (maybe_dir(ent))
			err = walk_child(walk, dirfd(dir), ent->d_name,
					 depth + 1);
	}
	return err;
}

/* Takes @fd. */
static int walk_dir(struct walk *walk, int fd, int depth)
{
	struct stat st;
	DIR *dir;
	int err;

	if (fstat(fd, &st) || st.st_dev != walk->dev) {
		close(fd);
		return 0;
	}
	err = walk->fn(walk->ctx, st.st_ino, walk->len ? walk->path : "/");
	dir = err ? NULL : fdopendir(fd);
	if (!dir) {
		close(fd);
		return err;
	}
	err = walk_children(walk, dir, depth);
	closedir(dir);
	return err;
}

int cmt_cgroup_walk(int root_fd, cmt_cgroup_fn fn, void *ctx)
{
	struct walk walk = { .fn = fn, .ctx = ctx };
	struct stat st;
	int fd = open_dir(root_fd, ".", 0), err;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		err = -errno;
		close(fd);
		return err;
	}
	walk.dev = st.st_dev;
	return walk_dir(&walk, fd, 0);
}
