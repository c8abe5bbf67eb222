// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Untrusted files: the owner of a state directory can put anything there, such as a
 * link to another place, a FIFO without a writer, or a gigabyte.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIR_FLAGS	(O_PATH | O_DIRECTORY | O_CLOEXEC)
#define FILE_FLAGS	(O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static int open_resolved(int at, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (uint64_t)flags, .resolve = resolve };
	long fd = syscall(SYS_openat2, at, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* The next component of @path into @name. */
static int next_name(const char **path, char name[NAME_MAX + 1])
{
	size_t n = strcspn(*path, "/");

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, *path, n);
	name[n] = '\0';
	*path += n;
	return strcmp(name, ".") && strcmp(name, "..") ? 0 : -EXDEV;
}

static bool get_mount(int fd, uint64_t *id)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) ||
	    !(st.stx_mask & STATX_MNT_ID))
		return false;
	*id = st.stx_mnt_id;
	return true;
}

/* Not the device: an overlay's directories have another than its files. */
static bool same_mount(int a, int b)
{
	uint64_t x, y;

	return get_mount(a, &x) && get_mount(b, &y) && x == y;
}

/* One step from @from, which is closed. */
static int step(int from, const char *name, int flags, bool one_mount)
{
	int fd = openat(from, name, flags | O_NOFOLLOW), err = 0;

	if (fd < 0)
		err = -errno;
	else if (one_mount && !same_mount(from, fd))
		err = -EXDEV;
	close(from);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/*
 * Where openat2() is not to be had (a seccomp filter): one component at a
 * time, and no link anywhere.
 */
static int open_steps(int at, const char *path, int flags, bool one_mount)
{
	int fd = openat(at, ".", DIR_FLAGS);
	char name[NAME_MAX + 1];

	if (fd < 0)
		return -errno;
	while (fd >= 0 && *(path += strspn(path, "/"))) {
		int err = next_name(&path, name);

		if (err) {
			close(fd);
			return err;
		}
		fd = step(fd, name, *path ? DIR_FLAGS : flags, one_mount);
	}
	return fd;
}

static bool no_openat2(int err)
{
	return err == -ENOSYS || err == -EPERM;
}

static int open_dir(int root_fd, const char *dir)
{
	int fd = open_resolved(root_fd, dir, DIR_FLAGS,
			       RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

	return no_openat2(fd) ? open_steps(root_fd, dir, DIR_FLAGS, false) : fd;
}

static int open_file(int dir_fd, const char *path)
{
	int fd = open_resolved(dir_fd, path, FILE_FLAGS,
			       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			       RESOLVE_NO_XDEV);

	return no_openat2(fd) ? open_steps(dir_fd, path, FILE_FLAGS, true) : fd;
}

/* Up to @size bytes; fewer if the file has become shorter. */
static int read_bytes(int fd, char *bytes, size_t *size)
{
	size_t got = 0;

	while (got < *size) {
		ssize_t n = read(fd, bytes + got, *size - got);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			break;
		got += n > 0 ? (size_t)n : 0;
	}
	*size = got;
	return 0;
}

int cmt_file_bytes(int fd, const struct stat *st, char **bytes, size_t *size)
{
	off_t max = st->st_uid ? CMT_STATE_MAX_USER : CMT_STATE_MAX;
	int err;

	if (st->st_size <= 0 || st->st_size > max)
		return -EFBIG;
	*size = (size_t)st->st_size;
	*bytes = malloc(*size);
	if (!*bytes)
		return -ENOMEM;
	err = read_bytes(fd, *bytes, size);
	if (err)
		free(*bytes);
	return err;
}

int cmt_file_check(int fd, uid_t owner, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	return S_ISREG(st->st_mode) &&
	       (owner == CMT_ANY_OWNER || st->st_uid == owner) ? 0 : -EACCES;
}

bool cmt_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size && a->st_mode == b->st_mode &&
	       a->st_uid == b->st_uid &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

int cmt_file_open(int root_fd, const char *dir, const char *path)
{
	int dir_fd = open_dir(root_fd, dir), fd;

	if (dir_fd < 0)
		return dir_fd;
	fd = open_file(dir_fd, path);
	close(dir_fd);
	return fd;
}

int cmt_file_read(int root_fd, const char *dir, const char *path, uid_t owner,
		  char **bytes, size_t *size)
{
	int fd = cmt_file_open(root_fd, dir, path), err;
	struct stat st;

	if (fd < 0)
		return fd;
	err = cmt_file_check(fd, owner, &st);
	if (!err)
		err = cmt_file_bytes(fd, &st, bytes, size);
	close(fd);
	return err;
}
