// SPDX-License-Identifier: GPL-2.0-or-later
#include "save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

#define MODE 0640
#define PREFIX "cmt-"
#define DATE_LEN (sizeof("20261123T181500.123") - 1)
#define PART ".cmt-part"	/* the name of an incomplete file */

int saves_open(struct saves *saves, const char *path, uint64_t max_files)
{
	*saves = (struct saves){ .max_files = max_files };
	saves->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (saves->dir < 0)
		return -errno;
	saves->path = realpath(path, NULL);
	if (!saves->path)
		return -errno;
	if (flock(saves->dir, LOCK_EX | LOCK_NB))
		return -errno;
	/* the file of a killed recorder */
	unlinkat(saves->dir, PART, 0);
	return faccessat(saves->dir, ".", W_OK | X_OK, 0) ? -errno : 0;
}

void saves_close(struct saves *saves)
{
	if (saves->dir >= 0)
		close(saves->dir);
	free(saves->path);
	*saves = (struct saves){ .dir = -1 };
}

/* What follows the date.  Files of requests are apart, so that they remove none of a rule. */
static const char *ending(const struct save *save)
{
	return save->asked ? "Z-asked.cmt" : "Z.cmt";
}

/* Names are in order of time: "cmt-20261123T181500.123Z.cmt". */
static void make_name(struct save *save)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);
	time_t seconds = (time_t)(now / 1000000000);
	char date[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y%m%dT%H%M%S", &tm);
	snprintf(save->name, sizeof(save->name), PREFIX "%s.%03u%s", date,
		 (unsigned int)(now / 1000000 % 1000), ending(save));
}

int save_begin(struct save *save, const struct saves *saves,
	       const struct keep *keep, bool asked)
{
	*save = (struct save){ .file.fd = -1, .asked = asked };
	if (!keep->head || !keep_first(keep))
		return -ENODATA;
	make_name(save);
	save->file.fd = openat(saves->dir, PART, O_WRONLY | O_CREAT | O_EXCL |
			       O_NOFOLLOW | O_CLOEXEC, MODE);
	if (save->file.fd < 0)
		return -errno;
	return keep_file_write(&save->file, keep);
}

/* Has it a name as that of @save? */
static bool is_like(const char *name, const struct save *save)
{
	const char *date = name + sizeof(PREFIX) - 1;

	return !strncmp(name, PREFIX, sizeof(PREFIX) - 1) &&
	       strspn(date, "0123456789T.") == DATE_LEN &&
	       !strcmp(date + DATE_LEN, ending(save));
}

/*
 * Is file @a older than @b?  A name later than that of the new file is from before the
 * clock was set back.
 */
static bool is_older(const char *a, const char *b, const char *new)
{
	bool a_later = strcmp(a, new) > 0, b_later = strcmp(b, new) > 0;

	return a_later == b_later ? strcmp(a, b) < 0 : a_later;
}

static bool is_file(int dir, const char *name)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

/*
 * How many files like the new one there are with it, and the name of the oldest of the others
 * that are later than @stays; "": there is none.
 */
static uint64_t find_oldest(const struct saves *saves, const struct save *save,
			    const char *stays, char oldest[NAME_MAX + 1])
{
	const char *new = save->name;
	int fd = openat(saves->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint64_t nr = 1;

	*oldest = '\0';
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!is_like(name, save) || !strcmp(name, new) || !is_file(fd, name))
			continue;
		nr++;
		if (*stays && !is_older(stays, name, new))
			continue;
		if (!*oldest || is_older(name, oldest, new))
			snprintf(oldest, NAME_MAX + 1, "%s", name);
	}
	closedir(dir);
	return nr;
}

/* Where a file cannot be removed, the next oldest one is. */
static void remove_oldest(struct saves *saves, const struct save *save)
{
	char stays[NAME_MAX + 1] = "", oldest[NAME_MAX + 1];

	while (find_oldest(saves, save, stays, oldest) > saves->max_files && *oldest) {
		if (!unlinkat(saves->dir, oldest, 0)) {
			saves->removed++;
			continue;
		}
		if (!saves->stays_err && errno != ENOENT) {
			saves->stays_err = -errno;
			memcpy(saves->stays, oldest, sizeof(oldest));
		}
		memcpy(stays, oldest, sizeof(oldest));
	}
}

int save_finish(struct save *save, struct saves *saves, int err)
{
	if (!err && renameat(saves->dir, PART, saves->dir, save->name))
		err = -errno;
	if (!err)
		remove_oldest(saves, save);
	else if (save->file.fd >= 0)
		unlinkat(saves->dir, PART, 0);
	return err;
}

void save_close(struct save *save)
{
	if (save->file.fd >= 0)
		close(save->file.fd);
	keep_file_free(&save->file);
	*save = (struct save){ .file.fd = -1 };
}
