// SPDX-License-Identifier: GPL-2.0-or-later
#include "cgroups.h"

#include <dirent.h>
#include <cmt/containers.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <math.h>
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

/* The first line of a cgroup's file.  Returns 0 or -errno. */
static int read_line(const char *mount, const char *path, const char *name,
		     char *line, size_t size)
{
	int at = open_beneath(mount, below_mount("", path)), fd;
	ssize_t n;

	if (at < 0)
		return at;
	fd = openat(at, name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -errno : read(fd, line, size - 1);
	if (fd >= 0)
		close(fd);
	close(at);
	if (n < 0)
		return -EIO;
	line[n] = '\0';
	return 0;
}

/* "max 100000" and "50000 100000": of a quota, how many periods of CPU time. */
static double parse_cpu_max(const char *line)
{
	uint64_t quota, period;

	if (!strncmp(line, "max ", 4))
		return INFINITY;
	if (sscanf(line, "%" SCNu64 " %" SCNu64, &quota, &period) != 2 || !period)
		return NAN;
	return (double)quota / (double)period;
}

static double parse_memory_max(const char *line)
{
	uint64_t bytes;

	if (!strncmp(line, "max", 3))
		return INFINITY;
	return sscanf(line, "%" SCNu64, &bytes) == 1 ? (double)bytes : NAN;
}

/* A cgroup whose controller is off has no file, and so no limit. */
static void add_limit(const char *mount, const char *path, const char *name,
		      double (*parse)(const char *line), double *least)
{
	char line[64];
	double limit;

	if (read_line(mount, path, name, line, sizeof(line)))
		return;
	limit = parse(line);
	if (isnan(*least) || limit < *least)
		*least = limit;
}

void cgroup_limits(const char *mount, const char *path,
		   struct cgroup_limits *limits)
{
	char at[PATH_MAX], *slash;

	*limits = (struct cgroup_limits){ NAN, NAN };
	if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at))
		return;
	while ((slash = strrchr(at, '/')) && slash[1]) {
		add_limit(mount, at, "cpu.max", parse_cpu_max, &limits->cpus);
		add_limit(mount, at, "memory.max", parse_memory_max,
			  &limits->memory_bytes);
		*slash = '\0';
	}
}
