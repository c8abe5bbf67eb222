// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups.h"

#include <dirent.h>
#include <cmt/containers.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH_MAX 64
#define USUAL_MOUNT "/sys/fs/cgroup"

const char *cgroup_mode_name(enum cgroup_mode mode)
{
	static const char *const names[] = { "none", "v1", "hybrid", "v2" };

	return names[mode];
}

/* The usual place before any other, and otherwise the first. */
void cgroup_find_in(struct cgroup_mount *mount, const char *mounts)
{
	FILE *file = setmntent(mounts, "re");
	char line[PATH_MAX];
	bool v1 = false;
	struct mntent ent;

	*mount = (struct cgroup_mount){ .mode = CGROUPS_NONE };
	while (file && getmntent_r(file, &ent, line, sizeof(line))) {
		v1 |= !strcmp(ent.mnt_type, "cgroup");
		if (strcmp(ent.mnt_type, "cgroup2"))
			continue;
		if (!mount->path[0] || !strcmp(ent.mnt_dir, USUAL_MOUNT))
			snprintf(mount->path, sizeof(mount->path), "%s",
				 ent.mnt_dir);
	}
	if (file)
		endmntent(file);
	if (!mount->path[0])
		mount->mode = v1 ? CGROUPS_V1 : CGROUPS_NONE;
	else if (v1 && strcmp(mount->path, USUAL_MOUNT))
		mount->mode = CGROUPS_HYBRID;
	else
		mount->mode = CGROUPS_V2;
}

void cgroup_find(struct cgroup_mount *mount)
{
	cgroup_find_in(mount, "/proc/self/mounts");
}

/* @path without @mount before it and without leading slashes; "." if none. */
static const char *below_mount(const char *mount, const char *path)
{
	size_t len = strlen(mount);

	if (!strncmp(path, mount, len) && (!path[len] || path[len] == '/'))
		path += len;
	path += strspn(path, "/");
	return *path ? path : ".";
}

/* No link and no other mount is followed, and nothing leads out. */
static int open_beneath(const char *mount, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_XDEV,
	};
	int at = open(mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
	long fd;

	if (at < 0)
		return -errno;
	fd = syscall(SYS_openat2, at, path, &how, sizeof(how));
	if (fd < 0)
		fd = errno == ENOTDIR ? -ENOENT :
		     errno == ELOOP ? -EXDEV : -errno;
	close(at);
	return (int)fd;
}

int cgroup_id(const char *mount, const char *path, uint64_t *id)
{
	int fd = open_beneath(mount, below_mount(mount, path)), ret = 0;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		ret = -errno;
	else
		*id = st.st_ino;
	close(fd);
	return ret;
}

bool cgroup_is_container(const char *path)
{
	struct cmt_container container = { .sz = sizeof(container) };

	cmt_container_name(path, &container);
	if (container.own_len != strlen(path))
		return false;
	switch (container.runtime) {
	case CMT_RUNTIME_NONE:
	case CMT_RUNTIME_SYSTEMD:
		return false;
	case CMT_RUNTIME_KUBEPODS:
		return container.id[0];
	default:
		return true;
	}
}

/* A line each.  A cgroup of threads has no list: its processes are above. */
static uint32_t count_lines(int dir)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char text[4096];
	uint32_t lines = 0;
	ssize_t i, n;

	if (fd < 0)
		return 0;
	while ((n = read(fd, text, sizeof(text))) > 0)
		for (i = 0; i < n; i++)
			lines += text[i] == '\n';
	close(fd);
	return lines;
}

static uint32_t count_below(DIR *dir, int depth);

/* Takes @fd. */
static uint32_t count_tree(int fd, bool below, int depth)
{
	uint32_t processes = count_lines(fd);
	DIR *dir = below && depth < DEPTH_MAX ? fdopendir(fd) : NULL;

	if (!dir) {
		close(fd);
		return processes;
	}
	processes += count_below(dir, depth);
	closedir(dir);
	return processes;
}

static uint32_t count_below(DIR *dir, int depth)
{
	const struct dirent *ent;
	uint32_t processes = 0;
	int fd;

	while ((ent = readdir(dir))) {
		if (ent->d_type != DT_DIR || !strcmp(ent->d_name, ".") ||
		    !strcmp(ent->d_name, ".."))
			continue;
		fd = openat(dirfd(dir), ent->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			processes += count_tree(fd, true, depth + 1);
	}
	return processes;
}

int cgroup_processes(const char *mount, const char *path, bool below,
		     uint32_t *processes)
{
	int at = open_beneath(mount, below_mount("", path)), fd, err;

	if (at < 0)
		return at;
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = -errno;
	close(at);
	if (fd < 0)
		return err;
	*processes = count_tree(fd, below, 0);
	return 0;
}
