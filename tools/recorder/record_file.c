// SPDX-License-Identifier: GPL-2.0-or-later
#include "record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE 0640		/* as /dev/cmt: names of containers are in it */
#define TRIES 16
#define INDEX_BYTES 128		/* for each chunk, when the file ends */

const char *record_file_why(int err)
{
	switch (err) {
	case -EEXIST:
		return "is there already; --force replaces it";
	case -ELOOP:
		return "is a symbolic link, which is not followed";
	case -EISDIR:
		return "is a directory";
	case -ESPIPE:
		return "is no regular file";
	case -EWOULDBLOCK:
		return "another recorder writes to it";
	case -EXDEV:
		return "is replaced by another program again and again";
	case -EIDRM:
		return "was replaced by another program's file, which stays";
	case -ENOENT:
		return "the directory is not there";
	case -ENAMETOOLONG:
		return "the name is too long";
	default:
		return NULL;
	}
}

static int check_type(const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return 0;
	return S_ISLNK(st->st_mode) ? -ELOOP :
	       S_ISDIR(st->st_mode) ? -EISDIR : -ESPIPE;
}

/* Does the path still name the locked file? */
static bool is_same(const char *path, const struct stat *locked)
{
	struct stat now;

	return !lstat(path, &now) && now.st_dev == locked->st_dev &&
	       now.st_ino == locked->st_ino;
}

/* Returns a descriptor, -EXDEV: it was replaced just now, or another -errno. */
static int open_locked(const char *path, int flags, struct stat *st)
{
	int fd, ret;

	/* opening one that is no file may do something */
	if (!lstat(path, st) && check_type(st))
		return check_type(st);
	fd = open(path, flags | O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
		  O_NOCTTY | O_CLOEXEC, MODE);
	if (fd < 0)
		return -errno;
	ret = fstat(fd, st) ? -errno : check_type(st);
	if (!ret && flock(fd, LOCK_EX | LOCK_NB))
		ret = -errno;
	/* the last owner of the lock may have written since */
	if (!ret && fstat(fd, st))
		ret = -errno;
	if (!ret && !is_same(path, st))
		ret = -EXDEV;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int older_path(char path[PATH_MAX], const struct record_file *file,
		      uint64_t number)
{
	int n = snprintf(path, PATH_MAX, "%s.%llu", file->path,
			 (unsigned long long)number);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static bool is_recording(const char *path)
{
	struct cmt_recording *recording;
	int ret = cmt_recording_open(&recording, path);

	if (!ret)
		cmt_recording_close(recording);
	return !ret || ret == -EPROTONOSUPPORT;
}

/*
 * Names that rotation uses must not belong to other files.  An earlier recording may have
 * had more of them: up to the first number without a recording.
 */
static int check_older(struct record_file *file)
{
	char path[PATH_MAX];
	struct stat st;
	int ret;

	for (uint64_t i = 1; file->max_bytes; i++) {
		ret = older_path(path, file, i);
		if (ret)
			return ret;
		if (i >= file->max_files && !is_recording(path))
			break;
		file->nr_older = i;
		if (lstat(path, &st))
			continue;
		if (!S_ISREG(st.st_mode))
			return -ESPIPE;
		if (st.st_size && !file->force)
			return -EEXIST;
	}
	return 0;
}

int record_file_open(struct record_file *file)
{
	struct stat st;
	int ret = check_older(file);

	file->fd = -1;
	if (ret)
		return ret;
	for (int i = 0; i < TRIES; i++) {
		ret = open_locked(file->path, O_EXCL, &st);
		file->made = ret >= 0;
		if (ret == -EEXIST)
			ret = open_locked(file->path, 0, &st);
		if (ret != -EXDEV)
			break;
	}
	if (ret < 0)
		return ret;
	file->fd = ret;
	file->nr_files = 1;
	return st.st_size && !file->force ? -EEXIST : 0;
}

/* Returns 0 or -errno; a part may have been written then. */
static int write_all(int fd, const char *bytes, size_t len, uint64_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, bytes, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		bytes += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

static int truncate_all(const struct record_file *file)
{
	char path[PATH_MAX];

	/* files of an earlier recording are no part of this one */
	for (uint64_t i = 1; i <= file->nr_older; i++)
		if (!older_path(path, file, i) && unlink(path) && errno != ENOENT)
			return -errno;
	return ftruncate(file->fd, 0) ? -errno : 0;
}

int record_file_clear(struct record_file *file)
{
	int ret = truncate_all(file);

	if (!ret)
		ret = write_all(file->fd, file->held, file->size, 0);
	free(file->held);
	file->held = NULL;
	file->cleared = true;
	file->err = ret;
	return ret;
}

/* Without capabilities it may have to stay: it is empty. */
static void discard(const struct record_file *file)
{
	struct stat st;

	if (file->made && !fstat(file->fd, &st) && is_same(file->path, &st))
		unlink(file->path);
}

static int hold(struct record_file *file, const struct cmt_chunk *chunk)
{
	char *held = realloc(file->held, file->size + chunk->nr_bytes);

	if (!held)
		return -ENOMEM;
	memcpy(held + file->size, chunk->bytes, chunk->nr_bytes);
	file->held = held;
	return 0;
}

int record_file_write(void *ctx, const struct cmt_chunk *chunk)
{
	struct record_file *file = ctx;
	int ret = file->err;

	if (!ret && !file->cleared)
		ret = hold(file, chunk);
	else if (!ret)
		ret = write_all(file->fd, chunk->bytes, chunk->nr_bytes, file->size);
	if (!ret) {
		file->size += chunk->nr_bytes;
		file->nr_chunks++;
		if (file->largest < chunk->nr_bytes)
			file->largest = chunk->nr_bytes;
		return 0;
	}
	/* where this fails, too, a reader finds a chunk that is cut */
	if (file->cleared && !file->err && ftruncate(file->fd, (off_t)file->size))
		ret = -errno;
	file->err = ret;
	return ret;
}

/* Leave room for the end of a file, and for the chunks until the next check. */
bool record_file_full(const struct record_file *file)
{
	uint64_t last = 2 * file->largest + file->nr_chunks * INDEX_BYTES;

	return file->max_bytes && file->nr_chunks > 2 &&
	       file->size + last >= file->max_bytes;
}

static int move_older(struct record_file *file)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct stat st;

	if (file->max_files == 1) {
		if (unlink(file->path))
			return -errno;
		file->removed++;
		return 0;
	}
	for (uint64_t i = file->max_files - 1; i; i--) {
		if (older_path(to, file, i))
			return -ENAMETOOLONG;
		if (i > 1 && older_path(from, file, i - 1))
			return -ENAMETOOLONG;
		if (i == 1)
			snprintf(from, sizeof(from), "%s", file->path);
		if (i == file->max_files - 1 && !lstat(to, &st) && st.st_size &&
		    file->nr_files > i)
			file->removed++;
		if (rename(from, to) && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/* What the path names now may be another program's, and is not moved. */
static int make_room(struct record_file *file)
{
	struct stat st, now;

	if (fstat(file->fd, &st))
		return -errno;
	if (is_same(file->path, &st))
		return move_older(file);
	if (!lstat(file->path, &now))
		return -EIDRM;
	return errno == ENOENT ? 0 : -errno;
}

int record_file_rotate(struct record_file *file)
{
	struct stat st;
	int fd, ret = make_room(file);

	if (!ret) {
		fd = open_locked(file->path, O_EXCL, &st);
		ret = fd < 0 ? fd : 0;
	}
	if (ret) {
		file->err = ret;
		return ret;
	}
	close(file->fd);
	file->fd = fd;
	file->before += file->size;
	file->size = 0;
	file->nr_chunks = 0;
	file->nr_files++;
	return 0;
}

bool record_file_removed(const struct record_file *file)
{
	struct stat st;

	return !fstat(file->fd, &st) && !st.st_nlink;
}

int record_file_close(struct record_file *file)
{
	int ret = 0;

	free(file->held);
	file->held = NULL;
	if (file->fd < 0)
		return 0;
	if (!file->cleared)
		discard(file);
	if (file->size && fdatasync(file->fd))
		ret = -errno;
	close(file->fd);
	file->fd = -1;
	return ret;
}
