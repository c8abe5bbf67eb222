// SPDX-License-Identifier: GPL-2.0-or-later
#include "settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/format.h"
#include "common/text.h"

#define DIRECTORY "cmt"
#define FILE_NAME "cmtstat"
#define BYTES_MOST 65536U

/* Returns 0, or -ENOENT: the environment has no absolute path. */
static int find_home(char home[PATH_MAX])
{
	const char *config = secure_getenv("XDG_CONFIG_HOME");
	const char *user = secure_getenv("HOME");
	int n = 0;

	if (config && *config == '/')
		n = snprintf(home, PATH_MAX, "%s", config);
	else if (user && *user == '/')
		n = snprintf(home, PATH_MAX, "%s/.config", user);
	return n > 0 && n < PATH_MAX ? 0 : -ENOENT;
}

/* @fd is closed if it is not a directory, or a file, of this user. */
static int own(int fd, mode_t kind)
{
	struct stat st;
	int err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : st.st_uid != geteuid() ? -EPERM :
	      (st.st_mode & S_IFMT) != kind || st.st_mode & S_IWOTH ? -EINVAL : 0;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* The directory of the file, or -errno. */
static int open_directory(const char *home, bool make)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int parent, fd;

	if (make)
		mkdir(home, 0700);
	parent = own(open(home, flags), S_IFDIR);
	if (parent < 0)
		return parent;
	if (make)
		mkdirat(parent, DIRECTORY, 0700);
	fd = own(openat(parent, DIRECTORY, flags | O_NOFOLLOW), S_IFDIR);
	close(parent);
	return fd;
}

/* All of @fd, less than @size bytes.  Returns how many, or -errno. */
static ssize_t read_all(int fd, char *bytes, size_t size)
{
	size_t used = 0;
	ssize_t n;

	do {
		n = read(fd, bytes + used, size - used);
		used += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && used < size) || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : used == size ? -EFBIG : (ssize_t)used;
}

/* Returns its length, 0 if there is no file, or -errno. */
static ssize_t read_file(int dir, char bytes[BYTES_MOST + 1])
{
	int fd = own(openat(dir, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
			    O_NOCTTY | O_CLOEXEC), S_IFREG);
	ssize_t n;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	n = read_all(fd, bytes, BYTES_MOST + 1);
	close(fd);
	return n;
}

static const char *why(int err)
{
	switch (err) {
	case -EPERM:
		return "it, or its directory, is another user's";
	case -EINVAL:
		return "it is not a regular file, or anybody may write there";
	case -ELOOP:
		return "it is a symbolic link";
	case -EFBIG:
		return "it is larger than 64 KiB";
	default:
		return strerror(-err);
	}
}

static void print_path(FILE *out, const char *home)
{
	char path[PATH_MAX + 16], escaped[4 * sizeof(path)];

	snprintf(path, sizeof(path), "%s/" DIRECTORY "/" FILE_NAME, home);
	escape_text(escaped, sizeof(escaped), path, ESCAPE_ASCII);
	fputs(escaped, out);
}

static void print_mistakes(FILE *err, const char *home, const struct mistakes *mistakes)
{
	unsigned int i;

	for (i = 0; i < mistakes->nr && i < MISTAKES_TOLD; i++) {
		fputs("cmtstat: ", err);
		print_path(err, home);
		fprintf(err, ":%s: ignored\n", mistakes->told[i]);
	}
	if (mistakes->nr > i)
		fprintf(err, "cmtstat: and %u more\n", mistakes->nr - i);
}

/* A directory that is not there, or not the user's, has no file to be told of. */
static int open_to_read(char home[PATH_MAX])
{
	int err = find_home(home);

	return err ? err : open_directory(home, false);
}

void settings_load(struct settings *settings, FILE *err)
{
	char home[PATH_MAX], bytes[BYTES_MOST + 1];
	struct mistakes mistakes;
	int dir = open_to_read(home);
	ssize_t n;

	*settings = (struct settings){ 0 };
	if (dir < 0)
		return;
	n = read_file(dir, bytes);
	close(dir);
	if (n < 0) {
		fputs("cmtstat: ", err);
		print_path(err, home);
		fprintf(err, ": ignored: %s\n", why((int)n));
		return;
	}
	settings_parse(settings, bytes, (size_t)n, &mistakes);
	print_mistakes(err, home, &mistakes);
}

static int write_new(int fd, const char *old, size_t len, const struct settings *settings)
{
	struct text text;
	int ret = text_open(&text);

	if (ret)
		return ret;
	settings_print(text.out, old, len, settings);
	ret = text_write(&text, fd, 0);
	return ret ? ret : fsync(fd) ? -errno : 0;
}

/* Whoever opens the file has the old text, or the new one. */
static int replace(int dir, const char *old, size_t len, const struct settings *settings)
{
	char name[32];
	int fd, ret;

	snprintf(name, sizeof(name), "." FILE_NAME ".%d", getpid());
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = write_new(fd, old, len, settings);
	close(fd);
	if (!ret && renameat(dir, name, dir, FILE_NAME))
		ret = -errno;
	if (ret)
		unlinkat(dir, name, 0);
	return ret;
}

/* Another cmtstat may have changed it since it was read. */
static int change(int dir, const struct settings *settings)
{
	char old[BYTES_MOST + 1];
	ssize_t n = read_file(dir, old);

	return n < 0 ? (int)n : replace(dir, old, (size_t)n, settings);
}

static int save(const struct settings *settings, const char *home)
{
	int dir = open_directory(home, true), ret;

	if (dir < 0)
		return dir;
	ret = change(dir, settings);
	close(dir);
	return ret;
}

int settings_save(const struct settings *settings, char told[SETTINGS_TOLD])
{
	FILE *out = fmemopen(told, SETTINGS_TOLD, "w");
	char home[PATH_MAX];
	int ret = out ? find_home(home) : -ENOMEM;

	told[0] = '\0';
	if (!out)
		return ret;
	if (ret) {
		fputs("not kept: neither XDG_CONFIG_HOME nor HOME is an absolute path", out);
	} else {
		ret = save(settings, home);
		/* a narrow screen cuts the path */
		if (ret)
			fprintf(out, "not kept: %s: ", why(ret));
		else
			fputs("kept in ", out);
		print_path(out, home);
	}
	fclose(out);
	return ret;
}
