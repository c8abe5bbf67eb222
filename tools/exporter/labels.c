// SPDX-License-Identifier: GPL-2.0-or-later
#include "labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/format.h"
#include "common/rows.h"

static void put(struct labels *labels, const char *text, size_t len)
{
	if (labels->len + len >= sizeof(labels->text))
		return;
	memcpy(labels->text + labels->len, text, len);
	labels->len += len;
	labels->text[labels->len] = '\0';
}

/* Bytes of the character at @text, 0: it is not UTF-8, or acts on a terminal. */
static size_t shown_length(const char *text, size_t left)
{
	uint32_t code;
	size_t n = utf8_decode(text, &code);

	return n > left || acts_on_terminal(code) ? 0 : n;
}

/* One character.  Returns how many bytes of @text it took. */
static size_t put_character(struct labels *labels, const char *text,
			    size_t left)
{
	size_t n = shown_length(text, left);
	char code[8];

	if (*text == '\n') {
		put(labels, "\\n", 2);
	} else if (!n) {
		snprintf(code, sizeof(code), "\\\\x%02x", (unsigned char)*text);
		put(labels, code, 5);
	} else {
		if (*text == '"' || *text == '\\')
			put(labels, "\\", 1);
		put(labels, text, n);
	}
	return n ? n : 1;
}

/* FNV-1a */
uint64_t labels_hash(const char *text, size_t len)
{
	uint64_t hash = 14695981039346656037ULL;

	while (len--)
		hash = (hash ^ (unsigned char)*text++) * 1099511628211ULL;
	return hash;
}

/* The end of a cut value distinguishes values with the same begin. */
static void put_cut(struct labels *labels, const char *value, size_t len)
{
	char end[24];

	snprintf(end, sizeof(end), "~%016" PRIx64, labels_hash(value, len));
	put(labels, end, strlen(end));
}

/* Bytes that are written as they are; most values have no others. */
static size_t plain_length(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] >= ' ' && text[n] < 0x7f && text[n] != '"' &&
	       text[n] != '\\')
		n++;
	return n;
}

void labels_add(struct labels *labels, const char *name, const char *value,
		size_t len)
{
	size_t i, n, end;

	if (!len)
		return;
	if (labels->len)
		put(labels, ",", 1);
	put(labels, name, strlen(name));
	put(labels, "=\"", 2);
	end = labels->len + LABEL_VALUE_MAX;
	for (i = 0; i < len && labels->len < end; i += n) {
		size_t left = len - i, room = end - labels->len;

		n = plain_length(value + i, left < room ? left : room);
		if (n)
			put(labels, value + i, n);
		else
			n = put_character(labels, value + i, left);
	}
	if (i < len)
		put_cut(labels, value, len);
	put(labels, "\"", 1);
}

static void add_text(struct labels *labels, const char *name, const char *value)
{
	if (value)
		labels_add(labels, name, value, strlen(value));
}

static void add_path(struct labels *labels, const char *name,
		     const struct cmt_container *c)
{
	if (c->path)
		labels_add(labels, name, c->path, strnlen(c->path, c->own_len));
}

static const char *name_of(const struct cmt_container *c)
{
	return c->container_name && *c->container_name ? c->container_name :
							 c->name;
}

/* A group of resctrl has a name, and is in none. */
static bool is_in_cgroup(const struct cmt_usage_row *row)
{
	return row->kind == CMT_USAGE_OWNER && row->container &&
	       row->owner != CMT_OWNER_RESCTRL;
}

/* Labels of owners outside of cgroups */
static void add_kind(struct labels *labels, const struct cmt_usage_row *row)
{
	char name[CONTAINER_LABEL_LEN];

	add_text(labels, "container", usage_row_label(name, row));
}

void labels_emulated(struct labels *labels, bool emulated)
{
	if (emulated)
		add_text(labels, "emulated", "true");
}

void labels_of_row(struct labels *labels, const struct cmt_usage_row *row,
		   bool emulated)
{
	const struct cmt_container *c = row->container;

	labels->len = 0;
	labels->text[0] = '\0';
	if (!is_in_cgroup(row)) {
		add_kind(labels, row);
		labels_emulated(labels, emulated);
		return;
	}
	add_path(labels, "id", c);
	add_text(labels, "container", name_of(c));
	add_text(labels, "pod", c->pod_name);
	add_text(labels, "namespace", c->pod_namespace);
	add_text(labels, "runtime", cmt_runtime_name(c->runtime));
	labels_emulated(labels, emulated);
}

void labels_of_party(struct labels *labels, const char *prefix,
		     const struct cmt_usage_row *row)
{
	const struct cmt_container *c = row->container;
	char name[32], text[CONTAINER_LABEL_LEN];

	if (!is_in_cgroup(row)) {
		add_text(labels, prefix, usage_row_label(text, row));
		return;
	}
	snprintf(name, sizeof(name), "%s_id", prefix);
	add_path(labels, name, c);
	add_text(labels, prefix, name_of(c));
	snprintf(name, sizeof(name), "%s_pod", prefix);
	add_text(labels, name, c->pod_name);
	snprintf(name, sizeof(name), "%s_namespace", prefix);
	add_text(labels, name, c->pod_namespace);
}

bool labels_of_info(struct labels *labels, const struct cmt_usage_row *row,
		    bool emulated)
{
	const struct cmt_container *c = row->container;
	size_t before;

	labels_of_row(labels, row, emulated);
	if (!is_in_cgroup(row))
		return false;
	before = labels->len;
	add_text(labels, "container_id", c->id);
	add_text(labels, "pod_uid", c->pod);
	add_text(labels, "image", c->image);
	return labels->len > before;
}
