// SPDX-License-Identifier: GPL-2.0-or-later
#include "list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "name/name.h"
#include "name/names_file.h"

#define FRAME_BYTES (strlen(CMT_NAMES_BEGIN) + strlen(CMT_NAMES_END))

void names_list_free(struct names_list *list)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		free(list->lines[i]);
	free(list->lines);
	memset(list, 0, sizeof(*list));
}

static int grow(struct names_list *list)
{
	size_t room = list->room ? 2 * list->room : 64;
	char **lines = reallocarray(list->lines, room, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	list->lines = lines;
	list->room = room;
	return 0;
}

static int add_line(struct names_list *list, const char *line, size_t len)
{
	if (FRAME_BYTES + list->bytes + len > CMT_STATE_MAX) {
		list->left_out++;
		return 0;
	}
	if (list->nr == list->room && grow(list))
		return -ENOMEM;
	list->lines[list->nr] = strdup(line);
	if (!list->lines[list->nr])
		return -ENOMEM;
	list->nr++;
	list->bytes += len;
	return 0;
}

/* Names of a user's containers are only in that user's files. */
static bool is_roots(const struct cmt_container *container, const char *path)
{
	return container->id[0] && !container->uid &&
	       container->own_len == strlen(path);
}

int names_list_add(struct names_list *list, struct cmt_containers *containers,
		   uint64_t cgroup_id, const char *path)
{
	struct cmt_container by_path = { .sz = sizeof(by_path) };
	const struct cmt_container *container;
	char line[CMT_NAMES_LINE];
	size_t len;

	cmt_container_name(path, &by_path);
	if (!is_roots(&by_path, path))
		return 0;
	container = cmt_containers_lookup_at(containers, cgroup_id, path);
	if (!container)
		return -ENOMEM;
	len = cmt_names_line(line, container);
	return len ? add_line(list, line, len) : 0;
}

static size_t id_len(const char *line)
{
	return strcspn(line, "\t");
}

/* A tab is before every digit: the order is that of the ids. */
static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of two cgroups with one id, one line. */
static bool same_id(const char *a, const char *b)
{
	return id_len(a) == id_len(b) && !memcmp(a, b, id_len(a));
}

int names_list_text(struct names_list *list, char **text, size_t *size)
{
	char *at = malloc(FRAME_BYTES + list->bytes + 1);
	size_t i;

	if (!at)
		return -ENOMEM;
	*text = at;
	if (list->nr)
		qsort(list->lines, list->nr, sizeof(*list->lines),
		      compare_lines);
	at = stpcpy(at, CMT_NAMES_BEGIN);
	for (i = 0; i < list->nr; i++)
		if (!i || !same_id(list->lines[i - 1], list->lines[i]))
			at = stpcpy(at, list->lines[i]);
	at = stpcpy(at, CMT_NAMES_END);
	*size = (size_t)(at - *text);
	return 0;
}
