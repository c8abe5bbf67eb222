// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The group that a thread or a CPU is in.  The texts are the kernel's, but names in them are
 * the choice of whoever made the group.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resctrl.h"
#include "state.h"

#define LIST_MAX	16384	/* bytes of a list of CPUs */
#define TASKS_MAX	65536	/* threads of a group that are looked at */

/*
 * The rest of the line of @text that begins with @prefix, up to the newline.  False: there
 * is no such line.
 */
static bool take_line(const char **text, const char *prefix, char name[NAME_MAX + 1])
{
	size_t skip = strlen(prefix), n;

	if (strncmp(*text, prefix, skip))
		return false;
	*text += skip;
	n = strcspn(*text, "\n");
	if (n > NAME_MAX || (*text)[n] != '\n')
		return false;
	memcpy(name, *text, n);
	name[n] = '\0';
	*text += n + 1;
	return true;
}

/* "res:web" or, of the default group, "res:/", and "mon:a" or "mon:" */
static int parse_groups(const char *text, char **path)
{
	char control[NAME_MAX + 1], group[NAME_MAX + 1];
	char below[2 * NAME_MAX + 16];
	bool top;

	if (!take_line(&text, "res:", control) || !take_line(&text, "mon:", group))
		return -EPROTO;
	top = !strcmp(control, "/");
	if (!control[0] || (top && !group[0]))
		return -ENOENT;
	if ((!top && strchr(control, '/')) || strchr(group, '/'))
		return -EPROTO;
	snprintf(below, sizeof(below), "%s%smon_groups/%s", top ? "" : control,
		 top ? "" : "/", group);
	*path = group[0] ? cmt_resctrl_name(top ? "." : control, below) :
			   cmt_resctrl_name(NULL, control);
	return *path ? 0 : -ENOMEM;
}

static int ask_proc(int root, uint32_t tid, char **path)
{
	char file[48], text[2 * NAME_MAX + 16];
	int err;

	snprintf(file, sizeof(file), "proc/%u/cpu_resctrl_groups", tid);
	err = cmt_resctrl_text(root, file, text, sizeof(text));
	return err ? -ENODATA : parse_groups(text, path);
}

/* A search for the group of a thread, or of a CPU */
struct search {
	int root;		/* of resctrl */
	const char *file;	/* of each group */
	bool (*has)(int root, const char *file, uint32_t number);
	uint32_t number;
	char *path;		/* of the most specific group so far, or NULL */
};

/* "0-3,7" */
static bool list_has(int root, const char *file, uint32_t cpu)
{
	char text[LIST_MAX], *list = text;

	if (cmt_resctrl_text(root, file, text, sizeof(text)))
		return false;
	while (*list >= '0' && *list <= '9') {
		unsigned long first = strtoul(list, &list, 10), last = first;

		if (*list == '-')
			last = strtoul(list + 1, &list, 10);
		if (cpu >= first && cpu <= last)
			return true;
		list += *list == ',';
	}
	return false;
}

/* A number a line */
static bool tasks_have(int root, const char *file, uint32_t tid)
{
	int fd = openat(root, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *tasks = fd < 0 ? NULL : fdopen(fd, "r");
	uint32_t found = 0, n;

	if (!tasks && fd >= 0)
		close(fd);
	if (!tasks)
		return false;
	for (n = 0; n < TASKS_MAX && found != tid; n++)
		if (fscanf(tasks, "%" SCNu32, &found) != 1)
			break;
	fclose(tasks);
	return found == tid;
}

/*
 * A control group's files have what is in its monitoring groups, too, and the default
 * group's have all else.
 */
static int find_file(void *ctx, const char *control, const char *path, const struct stat *st)
{
	struct search *search = ctx;
	char file[PATH_MAX];

	(void)st;
	if (!strcmp(path, "."))
		return 0;
	if (snprintf(file, sizeof(file), "%s/%s", path, search->file) >= PATH_MAX ||
	    !search->has(search->root, file, search->number))
		return !control;
	free(search->path);
	search->path = cmt_resctrl_name(control, path);
	return search->path ? 0 : -ENOMEM;
}

static int search_groups(int root, struct search *search, char **path)
{
	int err;

	search->root = openat(root, "sys/fs/resctrl", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (search->root < 0)
		return -errno;
	err = cmt_resctrl_walk(search->root, find_file, search);
	close(search->root);
	if (err) {
		free(search->path);
		return err;
	}
	*path = search->path;
	return *path ? 0 : -ENOENT;
}

int cmt_resctrl_find_thread(int root, uint32_t tid, bool same_numbers, char **path)
{
	struct search search = { .file = "tasks", .has = tasks_have, .number = tid };
	int err = ask_proc(root, tid, path);

	return err == -ENODATA && same_numbers ? search_groups(root, &search, path) : err;
}

int cmt_resctrl_find_cpu(int root, uint32_t cpu, char **path)
{
	struct search search = { .file = "cpus_list", .has = list_has, .number = cpu };

	return search_groups(root, &search, path);
}
