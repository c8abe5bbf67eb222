// SPDX-License-Identifier: GPL-2.0-or-later
#include "labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put(struct labels *labels, const char *text, size_t len)
{
	if (labels->len + len >= sizeof(labels->text))
		return;
	memcpy(labels->text + labels->len, text, len);
	labels->len += len;
	labels->text[labels->len] = '\0';
}

/* Bytes of the character at @text, 0: it is not UTF-8 (RFC 3629), or a control. */
static size_t utf8_length(const unsigned char *text, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t i, n = *text < 0xc0 ? 1 : *text < 0xe0 ? 2 : *text < 0xf0 ? 3 : 4;
	uint32_t code;

	if (n == 1)
		return *text >= ' ' && *text < 0x7f;
	if (n > left || *text > 0xf4)
		return 0;
	code = *text & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[n] || code < 0xa0 || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return n;
}

/* One character.  Returns how many bytes of @text it took. */
static size_t put_character(struct labels *labels, const char *text,
			    size_t left)
{
	size_t n = utf8_length((const unsigned char *)text, left);
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

/* FNV-1a: tells long values apart that begin alike. */
static uint64_t hash_of(const char *text, size_t len)
{
	uint64_t hash = 14695981039346656037ULL;

	while (len--)
		hash = (hash ^ (unsigned char)*text++) * 1099511628211ULL;
	return hash;
}

/* The end of a value that is cut. */
static void put_cut(struct labels *labels, const char *value, size_t len)
{
	char end[24];

	snprintf(end, sizeof(end), "~%016" PRIx64, hash_of(value, len));
	put(labels, end, strlen(end));
}

void labels_add(struct labels *labels, const char *name, const char *value,
		size_t len)
{
	size_t i, shown = len > LABEL_VALUE_MAX ? LABEL_VALUE_MAX : len;

	if (!len)
		return;
	if (labels->len)
		put(labels, ",", 1);
	put(labels, name, strlen(name));
	put(labels, "=\"", 2);
	for (i = 0; i < shown;)
		i += put_character(labels, value + i, len - i);
	if (shown < len)
		put_cut(labels, value, len);
	put(labels, "\"", 1);
}

static void add_text(struct labels *labels, const char *name, const char *value)
{
	if (value)
		labels_add(labels, name, value, strlen(value));
}

/* Of what is in no cgroup. */
static void add_kind(struct labels *labels, const struct cmt_usage_row *row)
{
	char name[32];

	if (row->kind == CMT_USAGE_UNATTRIBUTED)
		strcpy(name, "(unattributed)");
	else if (row->kind == CMT_USAGE_OVERFLOW)
		strcpy(name, "(overflow)");
	else if (row->kind == CMT_USAGE_UNKNOWN)
		strcpy(name, "(unknown)");
	else if (row->owner == CMT_OWNER_CPU)
		snprintf(name, sizeof(name), "cpu:%" PRIu32, row->cpu);
	else if (row->owner == CMT_OWNER_RESCTRL)
		snprintf(name, sizeof(name), "resctrl:%" PRIu32, row->rmid);
	else
		snprintf(name, sizeof(name), "cgroup:%" PRIu64, row->cgroup_id);
	add_text(labels, "container", name);
}

void labels_of_row(struct labels *labels, const struct cmt_usage_row *row)
{
	const struct cmt_container *c = row->container;

	labels->len = 0;
	labels->text[0] = '\0';
	if (row->kind != CMT_USAGE_OWNER || !c) {
		add_kind(labels, row);
		return;
	}
	if (c->path)
		labels_add(labels, "id", c->path,
			   strnlen(c->path, c->own_len));
	add_text(labels, "container",
		 c->container_name && *c->container_name ? c->container_name :
							   c->name);
	add_text(labels, "pod", c->pod_name);
	add_text(labels, "namespace", c->pod_namespace);
	add_text(labels, "runtime", cmt_runtime_name(c->runtime));
}

bool labels_of_info(struct labels *labels, const struct cmt_usage_row *row)
{
	const struct cmt_container *c = row->container;
	size_t before;

	labels_of_row(labels, row);
	if (row->kind != CMT_USAGE_OWNER || !c)
		return false;
	before = labels->len;
	add_text(labels, "container_id", c->id);
	add_text(labels, "pod_uid", c->pod);
	add_text(labels, "image", c->image);
	return labels->len > before;
}
