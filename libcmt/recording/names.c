// SPDX-License-Identifier: LGPL-2.1-or-later
#include "names.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "name/name.h"

#define CHUNK_BYTES	(256U << 10)	/* enough for a chunk */
#define NAME_MAX_BYTES	65536	/* of one, in a chunk */
#define TEXTS		8

void rec_names_free(struct rec_names *names)
{
	for (uint32_t i = 0; i < names->nr; i++)
		free(names->all[i].bytes);
	free(names->all);
	free(names->index);
	*names = (struct rec_names){ .max = names->max };
}

static uint32_t *place_of(const struct rec_names *names, uint64_t id)
{
	uint32_t mask = names->index_size - 1;
	uint32_t i = (uint32_t)((id * 0x9e3779b97f4a7c15ULL) >> 32) & mask;

	while (names->index[i] && names->all[names->index[i] - 1].id != id)
		i = (i + 1) & mask;
	return &names->index[i];
}

static void index_fill(struct rec_names *names)
{
	memset(names->index, 0, names->index_size * sizeof(*names->index));
	for (uint32_t i = 0; i < names->nr; i++)
		*place_of(names, names->all[i].id) = i + 1;
}

static int grow(struct rec_names *names)
{
	uint32_t room = names->room ? names->room * 2 : 64;
	struct rec_name *all = realloc(names->all, room * sizeof(*all));
	uint32_t *index;

	if (!all)
		return -ENOMEM;
	names->all = all;
	index = malloc(2ULL * room * sizeof(*index));
	if (!index)
		return -ENOMEM;
	free(names->index);
	names->index = index;
	names->index_size = 2 * room;
	names->room = room;
	index_fill(names);
	return 0;
}

/* Drop all names except those of present owners and those that are not written yet. */
static void drop_unowned(struct rec_names *names)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < names->nr; i++) {
		struct rec_name *name = &names->all[i];

		if (name->owns || name->fresh)
			names->all[kept++] = *name;
		else
			free(name->bytes);
	}
	names->full = kept == names->nr;
	names->nr = kept;
	if (!names->full)
		index_fill(names);
}

/* A name that is there stays at its place: cmt_recorder_names() goes through all of them. */
static int name_of(struct rec_names *names, uint64_t id, struct rec_name **name)
{
	uint32_t *place = names->index_size ? place_of(names, id) : NULL;

	if (!place || !*place) {
		if (names->nr == names->max && !names->full)
			drop_unowned(names);
		if (names->nr == names->max)
			return -ENOSPC;
		if (names->nr == names->room && grow(names))
			return -ENOMEM;
		names->all[names->nr] = (struct rec_name){ .id = id };
		place = place_of(names, id);
		*place = ++names->nr;
	}
	*name = &names->all[*place - 1];
	return 0;
}

int rec_names_own(struct rec_names *names, uint64_t id)
{
	struct rec_name *name;
	int err = name_of(names, id, &name);

	if (!err)
		name->owns = true;
	return err;
}

void rec_names_forget(struct rec_names *names)
{
	names->full = false;
	for (uint32_t i = 0; i < names->nr; i++)
		names->all[i].owns = false;
}

static void put_name(struct rec_buffer *out, const struct cmt_container *c)
{
	rec_put_varint(out, c->cgroup_id);
	rec_put_varint(out, c->runtime);
	rec_put_varint(out, c->own_len);
	rec_put_varint(out, c->flags);
	rec_put_varint(out, c->uid);
	rec_put_text(out, c->path);
	rec_put_text(out, c->name);
	rec_put_text(out, c->id);
	rec_put_text(out, c->pod);
	rec_put_text(out, c->container_name);
	rec_put_text(out, c->pod_name);
	rec_put_text(out, c->pod_namespace);
	rec_put_text(out, c->image);
}

/* The bytes are the name's from then on, unless it has the same. */
static void name_take(struct rec_names *names, struct rec_name *name,
		      struct rec_buffer *bytes)
{
	if (name->bytes && name->nr_bytes == bytes->nr &&
	    !memcmp(name->bytes, bytes->bytes, bytes->nr)) {
		rec_buffer_free(bytes);
		return;
	}
	free(name->bytes);
	name->bytes = bytes->bytes;
	name->nr_bytes = (uint32_t)bytes->nr;
	names->nr_fresh += !name->fresh;
	name->fresh = true;
}

int rec_names_set(struct rec_names *names, const struct cmt_container *container)
{
	struct rec_buffer bytes = { 0 };
	struct cmt_container known;
	struct rec_name *name;
	int err = cmt_container_copy(&known, container);

	if (err || !known.path)
		return err;
	put_name(&bytes, &known);
	err = bytes.failed ? -ENOMEM : bytes.nr > NAME_MAX_BYTES ? -EINVAL :
	      name_of(names, known.cgroup_id, &name);
	if (err)
		rec_buffer_free(&bytes);
	else
		name_take(names, name, &bytes);
	return err;
}

uint32_t rec_names_put(struct rec_names *names, bool all, uint32_t at,
		       struct rec_buffer *out)
{
	for (; at < names->nr && out->nr < CHUNK_BYTES; at++) {
		struct rec_name *name = &names->all[at];

		if (!name->bytes || !(all || name->fresh))
			continue;
		rec_put(out, name->bytes, name->nr_bytes);
	}
	return at;
}

void rec_names_written(struct rec_names *names, uint32_t first, uint32_t end)
{
	names->full = false;
	for (uint32_t i = first; i < end; i++) {
		names->nr_fresh -= names->all[i].fresh;
		names->all[i].fresh = false;
	}
}

/* The buffer moves while it grows: pointers are set when all texts are there. */
static bool get_texts(struct rec_cursor *in, const char *texts[TEXTS],
		      struct rec_buffer *room)
{
	bool there[TEXTS];
	size_t at[TEXTS];

	room->nr = 0;
	room->failed = false;
	for (int i = 0; i < TEXTS; i++)
		there[i] = rec_get_text(in, room, &at[i]);
	for (int i = 0; i < TEXTS; i++)
		texts[i] = there[i] && !room->failed ? (char *)room->bytes + at[i] : NULL;
	if (in->bad || room->failed)
		return false;
	/* untrusted, and shown on terminals: all but the path, which is the kernel's */
	for (int i = 1; i < TEXTS; i++)
		if (there[i])
			cmt_text((char *)room->bytes + at[i], strlen(texts[i]) + 1, texts[i]);
	return true;
}

bool rec_name_get(struct rec_cursor *in, struct cmt_container *c,
		  struct rec_buffer *room)
{
	const uint8_t *begin = in->at;
	const char *texts[TEXTS];
	uint64_t runtime, own, flags, uid;

	memset(c, 0, sizeof(*c));
	c->sz = sizeof(*c);
	c->cgroup_id = rec_get_varint(in);
	runtime = rec_get_varint(in);
	own = rec_get_varint(in);
	flags = rec_get_varint(in);
	uid = rec_get_varint(in);
	if (!get_texts(in, texts, room) || !texts[0] || in->at - begin > NAME_MAX_BYTES)
		return false;
	/* a runtime of a later version is none of this one's */
	if (runtime < INT_MAX && *cmt_runtime_name((enum cmt_runtime)runtime))
		c->runtime = (enum cmt_runtime)runtime;
	c->own_len = (uint32_t)strnlen(texts[0], own);
	c->flags = (uint32_t)flags;
	c->uid = (uint32_t)uid;
	c->path = texts[0];
	cmt_text(c->name, sizeof(c->name), texts[1]);
	cmt_text(c->id, sizeof(c->id), texts[2]);
	cmt_text(c->pod, sizeof(c->pod), texts[3]);
	c->container_name = texts[4];
	c->pod_name = texts[5];
	c->pod_namespace = texts[6];
	c->image = texts[7];
	return true;
}
