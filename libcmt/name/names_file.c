// SPDX-License-Identifier: LGPL-2.1-or-later
#include "names_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "file/file.h"
#include "name.h"

enum column {
	COLUMN_ID,
	COLUMN_RUNTIME,
	COLUMN_CONTAINER,
	COLUMN_POD,
	COLUMN_NAMESPACE,
	COLUMN_POD_UID,
	COLUMN_IMAGE,
	NR_COLUMNS,
};

/* A line, cut at its tabs; not terminated. */
struct line {
	const char *text[NR_COLUMNS];
	size_t len[NR_COLUMNS];
	const char *next;	/* the text after the newline */
};

void cmt_names_destroy(struct cmt_names *names)
{
	free(names->bytes);
	memset(names, 0, sizeof(*names));
}

/* False: it has no newline before @end, or not one field for each column. */
static bool cut_line(struct line *line, const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	if (!newline)
		return false;
	line->next = newline + 1;
	for (int i = 0; i < NR_COLUMNS; i++) {
		const char *tab = memchr(at, '\t', (size_t)(newline - at));
		const char *stop = tab ? tab : newline;

		if (!tab != (i == NR_COLUMNS - 1))
			return false;
		line->text[i] = at;
		line->len[i] = (size_t)(stop - at);
		at = stop + 1;
	}
	return true;
}

static bool printable_fields(const struct line *line)
{
	for (const char *p = line->text[0]; p < line->next - 1; p++) {
		if (*p != '\t' && (*p < 0x20 || *p >= 0x7f))
			return false;
	}
	return true;
}

static int compare_ids(const char *a, size_t len_a, const char *b, size_t len_b)
{
	int order = memcmp(a, b, len_a < len_b ? len_a : len_b);

	if (order)
		return order;
	return (len_a > len_b) - (len_a < len_b);
}

/* The lines between the first one and the last one; false: one of these lacks. */
static bool find_lines(const char *bytes, size_t size, const char **begin,
		       const char **end)
{
	size_t head = strlen(CMT_NAMES_BEGIN), tail = strlen(CMT_NAMES_END);

	if (size < head + tail || memcmp(bytes, CMT_NAMES_BEGIN, head) ||
	    memcmp(bytes + size - tail, CMT_NAMES_END, tail))
		return false;
	*begin = bytes + head;
	*end = bytes + size - tail;
	return true;
}

/* Ids that ascend are there once each, and can be bisected. */
bool cmt_names_possible(const char *bytes, size_t size)
{
	const char *at, *end, *last = "";
	size_t last_len = 0;
	struct line line;

	if (!find_lines(bytes, size, &at, &end))
		return false;
	for (; at < end; at = line.next) {
		if (!cut_line(&line, at, end) || !printable_fields(&line) ||
		    !cmt_is_id(line.text[COLUMN_ID], line.len[COLUMN_ID]) ||
		    compare_ids(last, last_len, line.text[COLUMN_ID],
				line.len[COLUMN_ID]) >= 0)
			return false;
		last = line.text[COLUMN_ID];
		last_len = line.len[COLUMN_ID];
	}
	return true;
}

/* Of text that is possible. */
static bool bisect(const char *bytes, size_t size, const char *id,
		   struct line *line)
{
	const char *low, *high;

	if (!find_lines(bytes, size, &low, &high))
		return false;
	while (low < high) {
		const char *at = low + (high - low) / 2;
		int order;

		while (at > low && at[-1] != '\n')
			at--;
		if (!cut_line(line, at, high))
			return false;
		order = compare_ids(id, strlen(id), line->text[COLUMN_ID],
				    line->len[COLUMN_ID]);
		if (!order)
			return true;
		if (order < 0)
			high = at;
		else
			low = line->next;
	}
	return false;
}

/*
 * Owned by root, and writable only for root.  A FIFO has no size, and a link is not
 * opened.
 */
static bool trusted(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == 0 &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* After an error the last content is kept, and the file is tried again. */
static int read_names(struct cmt_names *names, int fd)
{
	char *bytes = NULL;
	struct stat st;
	size_t size = 0;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (cmt_same_file(&st, &names->st))
		return 0;
	err = trusted(&st) ? cmt_file_bytes(fd, &st, &bytes, &size) : -EACCES;
	if (cmt_error_passes(err))
		return err;
	if (!err && !cmt_names_possible(bytes, size)) {
		free(bytes);
		bytes = NULL;
	}
	free(names->bytes);
	*names = (struct cmt_names){ .bytes = bytes, .size = size, .st = st };
	return 0;
}

static int read_again(struct cmt_names *names, int root_fd)
{
	int fd = cmt_file_open(root_fd, CMT_NAMES_DIR, CMT_NAMES_FILE), err;

	if (fd < 0) {
		if (cmt_error_passes(fd))
			return fd;
		/* the administrator does not allow it any longer */
		cmt_names_destroy(names);
		return -ENOENT;
	}
	err = read_names(names, fd);
	close(fd);
	return err;
}

static bool column_is(const struct line *line, enum column column,
		      const char *text)
{
	return line->len[column] == strlen(text) &&
	       !memcmp(line->text[column], text, line->len[column]);
}

/* False: @container has another runtime than the line. */
static bool take_runtime(const struct line *line,
			 struct cmt_container *container)
{
	for (enum cmt_runtime r = CMT_RUNTIME_DOCKER; *cmt_runtime_name(r);
	     r++) {
		if (!column_is(line, COLUMN_RUNTIME, cmt_runtime_name(r)))
			continue;
		if (container->runtime != r &&
		    container->runtime != CMT_RUNTIME_KUBEPODS &&
		    container->runtime != CMT_RUNTIME_OCI)
			return false;
		container->runtime = r;
		return true;
	}
	return false;
}

static void take(char *to, size_t size, const struct line *line,
		 enum column column)
{
	cmt_printable(to, size, line->text[column], line->len[column]);
}

static void take_line(const struct line *line, struct cmt_state *state)
{
	memset(state, 0, sizeof(*state));
	take(state->name, sizeof(state->name), line, COLUMN_CONTAINER);
	take(state->pod_container, sizeof(state->pod_container), line,
	     COLUMN_CONTAINER);
	take(state->pod_name, sizeof(state->pod_name), line, COLUMN_POD);
	take(state->pod_namespace, sizeof(state->pod_namespace), line,
	     COLUMN_NAMESPACE);
	take(state->pod, sizeof(state->pod), line, COLUMN_POD_UID);
	take(state->image, sizeof(state->image), line, COLUMN_IMAGE);
}

int cmt_names_find(struct cmt_names *names, int root_fd,
		   struct cmt_container *container, struct cmt_state *state)
{
	struct line line;
	int err = read_again(names, root_fd);

	if (err)
		return err;
	if (!names->bytes ||
	    !bisect(names->bytes, names->size, container->id, &line) ||
	    !take_runtime(&line, container))
		return -ENOENT;
	take_line(&line, state);
	return 0;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* The texts are printable: there is no tab or newline in them. */
size_t cmt_names_line(char *line, const struct cmt_container *c)
{
	int n;

	if (!c->container_name && !c->pod_name && !c->image)
		return 0;
	n = snprintf(line, CMT_NAMES_LINE, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
		     c->id, cmt_runtime_name(c->runtime),
		     or_empty(c->container_name), or_empty(c->pod_name),
		     or_empty(c->pod_namespace), c->pod, or_empty(c->image));
	return n > 0 && n < CMT_NAMES_LINE ? (size_t)n : 0;
}
