// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's files about the CPU time of cgroups.  A text that is not exactly in the
 * kernel's format is unknown.
 */
#include "cpu_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file.h"

#define TEXT_MAX	4096	/* both files have some hundred bytes */
#define PATH_LONGEST	4096
#define NS_PER_US	1000U
#define STEAL_FIELDS	8	/* of the line "cpu": up to steal */
/* A user may make a cgroup 2,000 levels deep; what runs containers makes some 8. */
#define LEVELS_MAX	16

/* Parse digits, then @after.  Returns the text after them, or NULL. */
static const char *number(const char *text, char after, uint64_t *value)
{
	const char *p = text;

	*value = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (*value > (UINT64_MAX - digit) / 10)
			return NULL;
		*value = *value * 10 + digit;
	}
	return p != text && *p == after ? p + 1 : NULL;
}

/* The text after @begin at the begin of a line, or NULL */
static const char *line_of(const char *text, const char *begin)
{
	size_t n = strlen(begin);

	while (text && strncmp(text, begin, n)) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + n : NULL;
}

static bool microseconds(const char *text, uint64_t *ns)
{
	if (!number(text, '\n', ns) || *ns > UINT64_MAX / NS_PER_US)
		return false;
	*ns *= NS_PER_US;
	return true;
}

bool cmt_cgroup_parse_stat(const char *text, const char *key, uint64_t *ns)
{
	const char *at = line_of(text, key);

	return at && *at == ' ' && microseconds(at + 1, ns);
}

bool cmt_cgroup_parse_pressure(const char *text, uint64_t *ns)
{
	const char *at = line_of(text, "full "), *total, *end;

	total = at ? strstr(at, " total=") : NULL;
	end = at ? strchr(at, '\n') : NULL;
	return total && end && total < end &&
	       microseconds(total + strlen(" total="), ns);
}

bool cmt_cpu_ticks_parse(const char *text, struct cmt_cpu_ticks *steal)
{
	const char *at = line_of(text, "cpu ");
	uint64_t ticks;

	*steal = (struct cmt_cpu_ticks){ 0 };
	if (!at || at != text + strlen("cpu "))
		return false;
	at += *at == ' ';
	for (int i = 0; i < STEAL_FIELDS; i++) {
		at = number(at, ' ', &ticks);
		if (!at)
			return false;
		if (i == STEAL_FIELDS - 1)
			steal->stolen = ticks;
		else if (i != 3 && i != 4)	/* idle, and waiting for a disk */
			steal->busy += ticks;
	}
	return true;
}

static bool read_text(int fd, char text[TEXT_MAX])
{
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len < TEXT_MAX - 1) {
		n = read(fd, text + len, TEXT_MAX - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	text[len] = '\0';
	return !n && strlen(text) == len;
}

/* Read @name in the cgroup whose path is the first @len bytes of @path. */
static bool read_file(int root, const char *path, size_t len, const char *name,
		      char text[TEXT_MAX])
{
	char full[PATH_LONGEST];
	bool ok;
	int fd, n;

	n = snprintf(full, sizeof(full), ".%.*s/%s", (int)len, path, name);
	if (n < 0 || (size_t)n >= sizeof(full))
		return false;
	fd = cmt_file_open(root, ".", full);
	if (fd < 0)
		return false;
	ok = read_text(fd, text);
	close(fd);
	return ok;
}

/* A mount may show another part of the tree than the path is of. */
static bool is_cgroup(int root, const char *path, uint64_t id)
{
	char full[PATH_LONGEST];
	struct stat st;
	int n = snprintf(full, sizeof(full), ".%s", path);

	return n > 0 && (size_t)n < sizeof(full) &&
	       !fstatat(root, full, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_ino == id;
}

static bool is_deep(const char *path, size_t len)
{
	unsigned int levels = 0;

	for (size_t i = 0; i < len; i++)
		levels += path[i] == '/';
	return levels > LEVELS_MAX;
}

/* Where a level is, or may be: another one gives way. */
static struct cmt_cpu_level *level_at(struct cmt_cpu_turn *turn, const char *path, size_t len)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)path[i]) * 16777619U;
	return &turn->levels[(hash ^ hash >> 16) % CMT_CPU_LEVELS];
}

static void level_set(struct cmt_cpu_level *level, const char *path, size_t len,
		      const char *text)
{
	*level = (struct cmt_cpu_level){ .path = path, .len = len };
	level->known = cmt_cgroup_parse_stat(text, "throttled_usec", &level->throttled_ns);
}

/* An ancestor, of which the turn may know already. */
static const struct cmt_cpu_level *level_read(struct cmt_cpu_turn *turn, const char *path,
					      size_t len)
{
	struct cmt_cpu_level *level = level_at(turn, path, len);
	char text[TEXT_MAX];

	if (level->path && level->len == len && !memcmp(level->path, path, len))
		return level;
	if (!read_file(turn->root, path, len, "cpu.stat", text))
		text[0] = '\0';
	level_set(level, path, len, text);
	return level;
}

/*
 * A quota holds for all that is below it.  Where the controller is off, there is none;
 * it is on in all that is above a cgroup where it is on.
 */
static bool read_throttled(struct cmt_cpu_turn *turn, const char *path, size_t len,
			   uint64_t *ns)
{
	const struct cmt_cpu_level *level;
	bool found = false;

	*ns = 0;
	if (is_deep(path, len))
		return false;
	for (; len; len--) {
		if (path[len] && path[len] != '/')
			continue;
		level = level_read(turn, path, len);
		if (!level->known && found)
			return false;
		*ns += level->known ? level->throttled_ns : 0;
		found |= level->known;
	}
	return found;
}

bool cmt_cgroup_cpu_read(struct cmt_cpu_turn *turn, const char *path, size_t own, uint64_t id,
			 struct cmt_cgroup_cpu *cpu)
{
	char text[TEXT_MAX];

	*cpu = (struct cmt_cgroup_cpu){ 0 };
	if (path[0] != '/' || !path[1] || own < 2 || !is_cgroup(turn->root, path, id))
		return false;
	if (read_file(turn->root, path, own, "cpu.stat", text)) {
		level_set(level_at(turn, path, own), path, own, text);
		if (cmt_cgroup_parse_stat(text, "usage_usec", &cpu->used_ns))
			cpu->known |= CMT_CGROUP_USED;
	}
	if (read_throttled(turn, path, own, &cpu->throttled_ns))
		cpu->known |= CMT_CGROUP_THROTTLED;
	if (read_file(turn->root, path, own, "cpu.pressure", text) &&
	    cmt_cgroup_parse_pressure(text, &cpu->full_ns))
		cpu->known |= CMT_CGROUP_FULL;
	return cpu->known;
}

bool cmt_cpu_ticks_read(struct cmt_cpu_ticks *steal)
{
	char text[TEXT_MAX];
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	/* its first line is enough: the file is long */
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return cmt_cpu_ticks_parse(text, steal);
}
