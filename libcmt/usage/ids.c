// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rows that have the container id of another row, or the name of a container without one. */
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int cmp_id(const void *pa, const void *pb)
{
	const struct cmt_usage_row *row_a = *(struct cmt_usage_row *const *)pa;
	const struct cmt_usage_row *row_b = *(struct cmt_usage_row *const *)pb;
	const struct cmt_container *a = row_a->container, *b = row_b->container;
	int ret = strcmp(a->id, b->id);

	if (ret || a->id[0])
		return ret;
	return a->runtime != b->runtime ? (a->runtime < b->runtime ? -1 : 1) :
					  strcmp(a->name, b->name);
}

/* Services are no containers, and several cgroups of one pod have the pod's name. */
const char *usage_identity(const struct cmt_container *container)
{
	if (container->id[0])
		return container->id;
	switch (container->runtime) {
	case CMT_RUNTIME_NONE:
	case CMT_RUNTIME_SYSTEMD:
	case CMT_RUNTIME_KUBEPODS:
		return NULL;
	default:
		return container->name;
	}
}

static bool of_user(const struct cmt_usage_row *row)
{
	return row->container->flags & CMT_CONTAINER_OF_USER;
}

static bool of_overhead(const struct cmt_usage_row *row)
{
	return row->container->flags & CMT_CONTAINER_OVERHEAD;
}

/*
 * Rows of one id.  Where one of them is outside of users' slices, it is the
 * container, and the users' have borrowed its id; otherwise there is no telling.
 * A container's overhead has the id by right.  Of rows of one name, which a container
 * keeps in another cgroup, only the users' are marked.
 */
static void mark_same_id(struct cmt_usage_row *const *rows, uint32_t n)
{
	bool by_id = rows[0]->container->id[0];
	uint32_t i, system = 0;

	for (i = 0; i < n; i++)
		system += !of_user(rows[i]) && !of_overhead(rows[i]);
	for (i = 0; n > 1 && i < n; i++)
		if ((of_user(rows[i]) || (by_id && system != 1)) && !of_overhead(rows[i]))
			rows[i]->flags |= CMT_USAGE_ROW_BORROWED_ID;
}

/* Paths that came since groups were made may have brought other ids. */
static bool may_be_same(const struct cmt_usage *usage)
{
	return usage->same_ids ||
	       cmt_containers_paths(usage->containers) != usage->swept_paths;
}

int usage_mark_borrowed(struct cmt_usage *usage, struct usage_frame *to)
{
	struct cmt_usage_row **rows;
	uint32_t i, n, nr = 0;

	if (usage->by != CMT_USAGE_BY_CONTAINER || !may_be_same(usage))
		return 0;
	rows = reallocarray(usage->by_id, to->rows.nr + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	usage->by_id = rows;
	for (i = 0; i < to->rows.nr; i++)
		if (to->rows.rows[i].container &&
		    usage_identity(to->rows.rows[i].container))
			rows[nr++] = &to->rows.rows[i];
	qsort(rows, nr, sizeof(*rows), cmp_id);
	for (i = 0; i < nr; i += n) {
		for (n = 1; i + n < nr && !cmp_id(&rows[i], &rows[i + n]);)
			n++;
		mark_same_id(rows + i, n);
	}
	return 0;
}
