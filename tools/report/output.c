// SPDX-License-Identifier: GPL-2.0-or-later
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/signals.h"

/* A part that was left behind by a kill makes room. */
static int open_part(struct output *output)
{
	int fd;

	if (asprintf(&output->part, "%s.part", output->path) < 0) {
		output->part = NULL;
		return -ENOMEM;
	}
	unlink(output->part);
	fd = open(output->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

static ssize_t write_some(void *cookie, const char *bytes, size_t n)
{
	const struct output *output = cookie;
	int ret = signals_write(output->fd, bytes, n);

	errno = -ret;
	return ret ? 0 : (ssize_t)n;
}

static int close_fd(void *cookie)
{
	return close(((struct output *)cookie)->fd);
}

/* A signal ends a write to a pipe that is not read. */
static FILE *stream_of(struct output *output)
{
	const cookie_io_functions_t functions = { .write = write_some, .close = close_fd };

	return fopencookie(output, "w", functions);
}

int output_open(struct output *output, const char *path)
{
	struct stat st;
	int fd;

	*output = (struct output){ .path = path };
	if (!strcmp(path, "-"))
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	else if (!stat(path, &st) && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else
		fd = open_part(output);
	if (fd == -1)
		fd = -errno;
	output->fd = fd;
	output->file = fd < 0 ? NULL : stream_of(output);
	if (output->file)
		return 0;
	if (fd >= 0)
		close(fd);
	free(output->part);
	return fd < 0 ? fd : -ENOMEM;
}

int output_close(struct output *output, int ret)
{
	if (!ret && ferror(output->file))
		ret = -EIO;
	if (fclose(output->file) && !ret)
		ret = -errno;
	if (output->part && !ret && rename(output->part, output->path))
		ret = -errno;
	if (output->part && ret)
		unlink(output->part);
	free(output->part);
	return ret;
}
