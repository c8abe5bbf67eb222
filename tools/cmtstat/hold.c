// SPDX-License-Identifier: GPL-2.0-or-later
#include "hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "why/slower.h"

/* Returns -ENOMEM where there was a text. */
static int copy_text(const char **text)
{
	if (*text) {
		*text = strdup(*text);
		return *text ? 0 : -ENOMEM;
	}
	return 0;
}

/* All texts are copied or NULL, also where it fails. */
static int copy_container(struct cmt_container *to,
			  const struct cmt_container *from)
{
	int ret = 0;

	memcpy(to, from, from->sz && from->sz < sizeof(*to) ? from->sz :
							      sizeof(*to));
	ret |= copy_text(&to->path);
	ret |= copy_text(&to->container_name);
	ret |= copy_text(&to->pod_name);
	ret |= copy_text(&to->pod_namespace);
	ret |= copy_text(&to->image);
	return ret;
}

/* A trail's key is only of use where trails are kept. */
static const struct trail *copy_trail(struct trail *to, const struct trail *from)
{
	if (!from)
		return NULL;
	*to = *from;
	to->key = (struct row_key){ 0 };
	return to;
}

static void copy_caches(struct hold *hold, uint32_t nr_rows)
{
	struct caches *caches = &hold->report.caches;

	for (uint32_t i = 0; i < caches->nr; i++)
		caches->list[i].trail = copy_trail(&hold->trails[nr_rows + i],
						   caches->list[i].trail);
}

static void copy_slower(struct hold *hold, uint32_t i)
{
	struct row *row = &hold->rows[i];

	if (!row->slower)
		return;
	hold->slower[i] = *row->slower;
	row->slower = &hold->slower[i];
}

static int copy_rows(struct hold *hold, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		struct row *row = &hold->rows[i];

		row->trail = copy_trail(&hold->trails[i], row->trail);
		copy_slower(hold, i);
		if (!row->container)
			continue;
		hold->nr_containers = i + 1;
		if (copy_container(&hold->containers[i], row->container))
			return -ENOMEM;
		row->container = &hold->containers[i];
	}
	return 0;
}

int hold_copy(struct hold *hold, const struct report *from)
{
	const struct frame *frame = &from->frame;
	uint32_t nr = frame->nr_rows + frame->nr_children;

	*hold = (struct hold){
		.report = *from,
		.rows = calloc(2 * (size_t)nr + 1, sizeof(struct row)),
		.containers = calloc((size_t)nr + 1,
				     sizeof(struct cmt_container)),
		.trails = calloc((size_t)nr + CACHES_MOST, sizeof(struct trail)),
		.parts = calloc((size_t)frame->nr_parts + 1, sizeof(struct row_part)),
		.slower = calloc((size_t)nr + 1, sizeof(struct slower)),
	};
	if (!hold->rows || !hold->containers || !hold->trails || !hold->slower ||
	    !hold->parts) {
		hold_drop(hold);
		return -ENOMEM;
	}
	memcpy(hold->rows, frame->rows, frame->nr_rows * sizeof(struct row));
	if (frame->nr_children)
		memcpy(hold->rows + frame->nr_rows, frame->children,
		       frame->nr_children * sizeof(struct row));
	hold->report.frame.rows = hold->rows;
	hold->report.frame.children = hold->rows + frame->nr_rows;
	hold->report.frame.flat = hold->rows + nr;
	if (frame->nr_parts)
		memcpy(hold->parts, frame->parts, frame->nr_parts * sizeof(struct row_part));
	hold->report.frame.parts = hold->parts;
	copy_caches(hold, nr);
	if (copy_rows(hold, nr)) {
		hold_drop(hold);
		return -ENOMEM;
	}
	return 0;
}

void hold_drop(struct hold *hold)
{
	uint32_t i;

	for (i = 0; hold->containers && i < hold->nr_containers; i++) {
		struct cmt_container *c = &hold->containers[i];

		free((char *)c->path);
		free((char *)c->container_name);
		free((char *)c->pod_name);
		free((char *)c->pod_namespace);
		free((char *)c->image);
	}
	free(hold->rows);
	free(hold->containers);
	free(hold->trails);
	free(hold->slower);
	free(hold->parts);
	*hold = (struct hold){ 0 };
}
