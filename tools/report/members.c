// SPDX-License-Identifier: GPL-2.0-or-later
#include "members.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t slot_of(const struct model *model, uint64_t id)
{
	return (uint32_t)((id * 0x9e3779b97f4a7c15ULL) >> 32) & (model->table_size - 1);
}

/* Its place in the table, or the free one where it would be. */
static uint32_t *find(const struct model *model, uint64_t id)
{
	uint32_t i = slot_of(model, id);

	while (model->table[i] && model->members[model->table[i] - 1].id != id)
		i = (i + 1) & (model->table_size - 1);
	return &model->table[i];
}

/* At least half of the table is free. */
static int grow(struct model *model)
{
	uint32_t room = model->room ? model->room * 2 : 64;
	struct member *members;
	uint32_t *table;

	if (model->nr < model->room)
		return 0;
	members = reallocarray(model->members, room, sizeof(*members));
	if (!members)
		return -ENOMEM;
	model->members = members;
	table = calloc(room * 2, sizeof(*table));
	if (!table)
		return -ENOMEM;
	free(model->table);
	model->table = table;
	model->table_size = room * 2;
	model->room = room;
	for (uint32_t i = 0; i < model->nr; i++)
		*find(model, members[i].id) = i + 1;
	return 0;
}

static int copy_text(char **to, const char *from)
{
	if (!from || *to)
		return 0;
	*to = strdup(from);
	return *to ? 0 : -ENOMEM;
}

/* Until its path is known, a later row may have more of the name. */
static int name(struct member *member, const struct cmt_usage_row *row)
{
	const struct cmt_container *c = row->container;
	char buf[CONTAINER_LABEL_LEN];

	if (member->path || (member->label[0] && (!c || !c->path)))
		return 0;
	snprintf(member->label, sizeof(member->label), "%s", usage_row_label(buf, row));
	if (!c || row->kind != CMT_USAGE_OWNER)
		return 0;
	member->user = c->flags & CMT_CONTAINER_OF_USER;
	return copy_text(&member->path, c->path) || copy_text(&member->image, c->image) ?
		       -ENOMEM : 0;
}

/* Returns the number of the member of @id, or -ENOMEM. */
static int64_t find_or_add(struct model *model, uint64_t id, uint32_t kind)
{
	uint32_t *at;

	if (grow(model))
		return -ENOMEM;
	at = find(model, id);
	if (!*at) {
		if (pyramid_add(&model->pyramid))
			return -ENOMEM;
		model->members[model->nr] = (struct member){ .id = id, .kind = kind };
		*at = ++model->nr;
	}
	return *at - 1;
}

int64_t members_of(struct model *model, const struct cmt_usage_frame *frame,
		   const struct cmt_usage_row *row)
{
	int64_t number = find_or_add(model, cmt_culprit_id(frame, row), row->kind);

	if (number >= 0 && name(&model->members[number], row))
		return -ENOMEM;
	return number;
}

int64_t members_make(struct model *model, uint64_t id, uint32_t kind, const char *label)
{
	int64_t number = find_or_add(model, id, kind);

	if (number >= 0)
		snprintf(model->members[number].label, CONTAINER_LABEL_LEN, "%s", label);
	return number;
}

const struct member *model_find(const struct model *model, uint64_t id)
{
	uint32_t *at = model->table ? find(model, id) : NULL;

	return at && *at ? &model->members[*at - 1] : NULL;
}

void members_free(struct model *model)
{
	for (uint32_t i = 0; i < model->nr; i++) {
		free(model->members[i].path);
		free(model->members[i].image);
		free(model->members[i].processes);
	}
	free(model->members);
	free(model->table);
}
