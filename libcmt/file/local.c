// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Is a directory on a file system of this machine? A server that is gone, or a program
 * behind FUSE, blocks every access to its mount for ever.  So the list of mounts is
 * checked first, and only mounts that are known to be local are entered.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 16

/* Decode \040 and similar, in place. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (char)((text[1] - '0') << 6 |
				       (text[2] - '0') << 3 | (text[3] - '0'));
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* Is @path that of @mount, or below it? */
static bool is_below(const char *path, const char *mount)
{
	size_t len = strlen(mount);

	if (!strcmp(mount, "/"))
		return true;
	return !strncmp(path, mount, len) && (!path[len] || path[len] == '/');
}

/* Types of file systems that have neither a block device nor a server, and statfs(2)'s. */
static const struct {
	const char *name;
	uint32_t magic;
} local_types[] = {
	{ "bcachefs", 0xca451a4e }, { "btrfs", 0x9123683e },
	{ "overlay", 0x794c7630 }, { "ramfs", 0x858458f6 },
	{ "rootfs", 0x858458f6 }, { "squashfs", 0x73717368 },
	{ "tmpfs", 0x01021994 }, { "ubifs", 0x24051905 },
	{ "zfs", 0x2fc12fc1 },
};

#define FUSE_MAGIC 0x65735546U

static bool is_local_type(unsigned int major, const char *type)
{
	if (major)
		return strncmp(type, "fuse", 4) != 0;
	for (size_t i = 0; i < sizeof(local_types) / sizeof(local_types[0]); i++) {
		if (!strcmp(type, local_types[i].name))
			return true;
	}
	return false;
}

static bool is_local_magic(unsigned int major, uint32_t magic)
{
	if (major)
		return magic != FUSE_MAGIC;
	for (size_t i = 0; i < sizeof(local_types) / sizeof(local_types[0]); i++) {
		if (magic == local_types[i].magic)
			return true;
	}
	return false;
}

/*
 * The mount that the root directory is in.  The list of mounts does not have it if the
 * root is a directory below its mount, after chroot(2).  The process has its root
 * directory already, and waits for no other file system here.
 */
static bool root_is_local(void)
{
	struct statfs fs;
	struct stat st;

	return !stat("/", &st) && !statfs("/", &fs) &&
	       is_local_magic(major(st.st_dev), (uint32_t)fs.f_type);
}

/* "36 35 8:1 / /home rw,noatime shared:1 - ext4 /dev/sda1 rw" */
static bool parse_mount(char *line, unsigned int *major, char **mount,
			char **type)
{
	char *save, *field;

	if (!strtok_r(line, " ", &save) || !strtok_r(NULL, " ", &save))
		return false;
	field = strtok_r(NULL, " ", &save);
	if (!field || sscanf(field, "%u:", major) != 1 ||
	    !strtok_r(NULL, " ", &save))
		return false;
	*mount = strtok_r(NULL, " ", &save);
	do {
		field = strtok_r(NULL, " ", &save);
	} while (field && strcmp(field, "-"));
	*type = strtok_r(NULL, " \n", &save);
	return *mount && *type;
}

int cmt_mount_is_local(FILE *mounts, const char *path)
{
	size_t size = 0, longest = 0;
	int local = -ENOENT;
	char *line = NULL;

	rewind(mounts);
	while (getline(&line, &size, mounts) > 0) {
		char *mount, *type;
		unsigned int major;

		if (!parse_mount(line, &major, &mount, &type))
			continue;
		unescape(mount);
		if (!is_below(path, mount) || strlen(mount) < longest)
			continue;
		/* of two at one place the later one is on top */
		longest = strlen(mount);
		local = is_local_type(major, type);
	}
	free(line);
	return local;
}

/* A path below @root_fd, as the list of mounts has it. */
static int full_path(char full[PATH_MAX], int root_fd, const char *path)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", root_fd);
	n = readlink(link, full, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	if (n == 1 && *full == '/')
		n = 0;
	if ((size_t)n + strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(full + n, path);
	return 0;
}

/* Take the last component off. */
static void go_up(char *path)
{
	char *last = strrchr(path, '/');

	if (last)
		*last = '\0';
}

/* The rest of the walk, after the target of a link was put before it */
static int follow(char done[PATH_MAX], char rest[PATH_MAX], const char *target)
{
	char copy[PATH_MAX];

	if (snprintf(copy, sizeof(copy), "%s/%s", target, rest) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(rest, copy);
	if (*target == '/')
		*done = '\0';
	else
		go_up(done);
	return 0;
}

/* @path: full, which begins with "/" unless the root directory is not above it. */
static bool path_is_local(FILE *mounts, const char *path)
{
	int local = cmt_mount_is_local(mounts, path);

	return local == -ENOENT ? *path == '/' && root_is_local() : local;
}

/*
 * Move one component from @rest to @done, which has no links.  Nothing is accessed
 * before its mount is known to be local.
 */
static int walk(int root_fd, FILE *mounts, char done[PATH_MAX],
		char rest[PATH_MAX], unsigned int *links)
{
	char full[PATH_MAX], target[PATH_MAX];
	size_t len = strcspn(rest, "/");
	size_t used = strlen(done);
	ssize_t n;
	int err;

	if (len == 2 && !strncmp(rest, "..", 2)) {
		go_up(done);
	} else if (len && !(len == 1 && *rest == '.')) {
		if (used + len + 2 > PATH_MAX)
			return -ENAMETOOLONG;
		snprintf(done + used, PATH_MAX - used, "/%.*s", (int)len, rest);
	}
	memmove(rest, rest + len, strlen(rest + len) + 1);
	memmove(rest, rest + strspn(rest, "/"),
		strlen(rest + strspn(rest, "/")) + 1);
	err = full_path(full, root_fd, *done ? done : "/");
	if (err)
		return err;
	if (!path_is_local(mounts, full))
		return -EXDEV;
	n = *done ? readlinkat(root_fd, done + 1, target, sizeof(target) - 1) :
		    -1;
	if (n < 0)
		return 0;
	target[n] = '\0';
	return ++*links > LINKS_MAX ? -ELOOP : follow(done, rest, target);
}

/* The list as it is now, in memory: the kernel makes it anew for each reading. */
static FILE *open_mounts(char **text)
{
	FILE *file = fopen("/proc/self/mountinfo", "re"), *mounts = NULL;
	size_t room = 0;
	ssize_t size;

	if (!file)
		return NULL;
	size = getdelim(text, &room, '\0', file);
	if (size > 0)
		mounts = fmemopen(*text, (size_t)size, "r");
	fclose(file);
	return mounts;
}

bool cmt_dir_is_local(int root_fd, const char *dir)
{
	char *text = NULL;
	FILE *mounts = open_mounts(&text);
	char done[PATH_MAX] = "", rest[PATH_MAX];
	unsigned int links = 0;
	int err = -ENAMETOOLONG;

	if (mounts && (size_t)snprintf(rest, sizeof(rest), "%s", dir) < sizeof(rest)) {
		do {
			err = walk(root_fd, mounts, done, rest, &links);
		} while (!err && *rest);
	}
	if (mounts)
		fclose(mounts);
	free(text);
	return !err;
}
