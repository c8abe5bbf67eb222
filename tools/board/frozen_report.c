// SPDX-License-Identifier: GPL-2.0-or-later
#include "frozen_report.h"

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

static void copy_caches(struct frozen_report *frozen, uint32_t nr_rows)
{
	struct caches *caches = &frozen->report.caches;

	for (uint32_t i = 0; i < caches->nr; i++)
		caches->list[i].trail = copy_trail(&frozen->trails[nr_rows + i],
						   caches->list[i].trail);
}

static void copy_slower(struct frozen_report *frozen, uint32_t i)
{
	struct row *row = &frozen->rows[i];

	if (!row->slower)
		return;
	frozen->slower[i] = *row->slower;
	row->slower = &frozen->slower[i];
}

static int copy_rows(struct frozen_report *frozen, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		struct row *row = &frozen->rows[i];

		row->trail = copy_trail(&frozen->trails[i], row->trail);
		copy_slower(frozen, i);
		if (!row->container)
			continue;
		frozen->nr_containers = i + 1;
		if (copy_container(&frozen->containers[i], row->container))
			return -ENOMEM;
		row->container = &frozen->containers[i];
	}
	return 0;
}

int frozen_report_copy(struct frozen_report *frozen, const struct report *from)
{
	const struct frame *frame = &from->frame;
	uint32_t nr = frame->nr_rows + frame->nr_children;

	*frozen = (struct frozen_report){
		.report = *from,
		.rows = calloc(2 * (size_t)nr + 1, sizeof(struct row)),
		.containers = calloc((size_t)nr + 1,
				     sizeof(struct cmt_container)),
		.trails = calloc((size_t)nr + CACHES_MOST, sizeof(struct trail)),
		.parts = calloc((size_t)frame->nr_parts + 1, sizeof(struct row_part)),
		.slower = calloc((size_t)nr + 1, sizeof(struct slower)),
	};
	if (!frozen->rows || !frozen->containers || !frozen->trails || !frozen->slower ||
	    !frozen->parts) {
		frozen_report_drop(frozen);
		return -ENOMEM;
	}
	memcpy(frozen->rows, frame->rows, frame->nr_rows * sizeof(struct row));
	if (frame->nr_children)
		memcpy(frozen->rows + frame->nr_rows, frame->children,
		       frame->nr_children * sizeof(struct row));
	frozen->report.frame.rows = frozen->rows;
	frozen->report.frame.children = frozen->rows + frame->nr_rows;
	frozen->report.frame.flat = frozen->rows + nr;
	if (frame->nr_parts)
		memcpy(frozen->parts, frame->parts, frame->nr_parts * sizeof(struct row_part));
	frozen->report.frame.parts = frozen->parts;
	copy_caches(frozen, nr);
	if (copy_rows(frozen, nr)) {
		frozen_report_drop(frozen);
		return -ENOMEM;
	}
	return 0;
}

void frozen_report_drop(struct frozen_report *frozen)
{
	uint32_t i;

	for (i = 0; frozen->containers && i < frozen->nr_containers; i++) {
		struct cmt_container *c = &frozen->containers[i];

		free((char *)c->path);
		free((char *)c->container_name);
		free((char *)c->pod_name);
		free((char *)c->pod_namespace);
		free((char *)c->image);
	}
	free(frozen->rows);
	free(frozen->containers);
	free(frozen->trails);
	free(frozen->slower);
	free(frozen->parts);
	*frozen = (struct frozen_report){ 0 };
}
