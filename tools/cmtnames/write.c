// SPDX-License-Identifier: GPL-2.0-or-later
#include "list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "name/names_file.h"

#define NEW_FILE CMT_NAMES_FILE ".new"
#define FILE_MODE 0640

static int write_bytes(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

/* The mode is set at the end: the umask has no say. */
static int write_new(int dir_fd, const char *text, size_t size)
{
	int fd, ret;

	/* of a process that was killed here */
	if (unlinkat(dir_fd, NEW_FILE, 0) && errno != ENOENT)
		return -errno;
	fd = openat(dir_fd, NEW_FILE,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = write_bytes(fd, text, size);
	if (!ret && fchmod(fd, FILE_MODE))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int replace(int dir_fd, const char *text, size_t size)
{
	int ret = write_new(dir_fd, text, size);

	if (!ret && renameat(dir_fd, NEW_FILE, dir_fd, CMT_NAMES_FILE))
		ret = -errno;
	if (ret)
		unlinkat(dir_fd, NEW_FILE, 0);
	return ret;
}

int names_write(int root_fd, const char *text, size_t size)
{
	/* relative to @root_fd */
	int dir_fd = openat(root_fd, CMT_NAMES_DIR + 1,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int ret;

	if (dir_fd < 0)
		return -errno;
	ret = replace(dir_fd, text, size);
	close(dir_fd);
	return ret;
}
