// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cache of containers by cgroup id.  An id leads to no path but by looking
 * at all of them (open_by_handle_at() needs CAP_DAC_READ_SEARCH), so one walk
 * fills the cache with all cgroups there are.
 *
 * A stream of ids that are gone already must not walk each time, and a new
 * container must be found soon all the same.  So misses are counted: a walk
 * that does not find what it was made for doubles the number of misses up to
 * the next one, one that does sets it back; and an id that walks did not find
 * TRIES_MAX times is believed gone and is no miss any more.
 *
 * The walk reads no more than the tree.  What a runtime says of a container is
 * read when the container is looked up, once: it was on disk before there was
 * a cgroup.
 */
#include <cmt/containers.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cgroup.h"
#include "internal.h"
#include "runtime.h"

#define TABLE_MIN	64	/* a power of two */
#define BACKOFF_MAX	64	/* misses per walk, at most */
#define TRIES_MAX	3

struct item {
	struct item *next;	/* in its bucket */
	struct cmt_container container;
	uint32_t tries;		/* walks that did not find it */
	char *path;
	bool asked;		/* the runtime's state was looked for */
	struct cmt_state *state;	/* NULL: it said nothing */
};

struct cmt_containers {
	int root_fd;		/* of the cgroup tree */
	int host_fd;		/* what the runtimes' state is below, or -1 */
	uint32_t misses;	/* since the last walk */
	uint32_t backoff;
	size_t nr_items, nr_buckets;
	struct item **buckets;
};

static size_t hash(const struct cmt_containers *containers, uint64_t id)
{
	return (size_t)((id * 0x9e3779b97f4a7c15ULL) >> 32) &
	       (containers->nr_buckets - 1);
}

/* The link that points to the item of @id, or to NULL. */
static struct item **find(const struct cmt_containers *containers, uint64_t id)
{
	struct item **link = &containers->buckets[hash(containers, id)];

	while (*link && (*link)->container.cgroup_id != id)
		link = &(*link)->next;
	return link;
}

/* A table that cannot grow gets slower, that is all. */
static void grow(struct cmt_containers *containers)
{
	struct cmt_containers bigger = *containers;

	bigger.nr_buckets = containers->nr_buckets * 2;
	bigger.buckets = calloc(bigger.nr_buckets, sizeof(*bigger.buckets));
	if (!bigger.buckets)
		return;
	for (size_t i = 0; i < containers->nr_buckets; i++) {
		struct item *item, *next;

		for (item = containers->buckets[i]; item; item = next) {
			size_t to = hash(&bigger, item->container.cgroup_id);

			next = item->next;
			item->next = bigger.buckets[to];
			bigger.buckets[to] = item;
		}
	}
	free(containers->buckets);
	*containers = bigger;
}

/* In place: who asked before keeps a pointer to the container. */
static int item_name(struct item *item, const char *path)
{
	item->path = strdup(path);
	if (!item->path)
		return -ENOMEM;
	item->container.path = item->path;
	cmt_container_name(item->path, &item->container);
	return 0;
}

static struct item *item_new(struct cmt_containers *containers, uint64_t id)
{
	struct item *item = calloc(1, sizeof(*item));
	struct item **link;

	if (!item)
		return NULL;
	item->container.cgroup_id = id;
	snprintf(item->container.name, sizeof(item->container.name),
		 "cgroup:%" PRIu64, id);
	if (containers->nr_items >= containers->nr_buckets)
		grow(containers);
	link = &containers->buckets[hash(containers, id)];
	item->next = *link;
	*link = item;
	containers->nr_items++;
	return item;
}

static void item_drop(struct cmt_containers *containers, struct item **link)
{
	struct item *item = *link;

	*link = item->next;
	containers->nr_items--;
	free(item->path);
	free(item->state);
	free(item);
}

static const char *told(const char *text)
{
	return *text ? text : NULL;
}

/* A pod's name is cut before its container's is. */
static void item_take(struct item *item, struct cmt_state *state)
{
	struct cmt_container *c = &item->container;

	item->state = state;
	c->image = told(state->image);
	c->pod_name = told(state->pod_name);
	c->pod_namespace = told(state->pod_namespace);
	c->container_name = told(c->pod_name ? state->pod_container :
					       state->name);
	if (!c->pod[0])
		memcpy(c->pod, state->pod, sizeof(c->pod));
	if (c->pod_name)
		snprintf(c->name, sizeof(c->name), "%s%s%.127s%s%s",
			 state->pod_namespace, c->pod_namespace ? "/" : "",
			 c->pod_name, c->container_name ? "/" : "",
			 state->pod_container);
	else if (c->container_name)
		memcpy(c->name, state->name, sizeof(c->name));
}

static void item_ask(const struct cmt_containers *containers,
		     struct item *item)
{
	struct cmt_state *state;

	item->asked = true;
	if (containers->host_fd < 0 || !item->container.id[0])
		return;
	state = malloc(sizeof(*state));
	if (!state)
		return;
	if (cmt_runtime_ask(containers->host_fd, &item->container, state))
		free(state);
	else
		item_take(item, state);
}

static int open_host(const char *root)
{
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int cmt_containers_new(struct cmt_containers **containers,
		       const char *cgroup_root)
{
	struct cmt_containers *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->backoff = 1;
	c->nr_buckets = TABLE_MIN;
	c->buckets = calloc(c->nr_buckets, sizeof(*c->buckets));
	c->root_fd = c->buckets ? cmt_cgroup_open(cgroup_root) : -ENOMEM;
	if (c->root_fd < 0) {
		int err = c->root_fd;

		free(c->buckets);
		free(c);
		return err;
	}
	c->host_fd = open_host("/");
	*containers = c;
	return 0;
}

int cmt_containers_set_root(struct cmt_containers *containers, const char *root)
{
	int fd = -1;

	if (root) {
		fd = open_host(root);
		if (fd < 0)
			return fd;
	}
	if (containers->host_fd >= 0)
		close(containers->host_fd);
	containers->host_fd = fd;
	return 0;
}

void cmt_containers_free(struct cmt_containers *containers)
{
	if (!containers)
		return;
	for (size_t i = 0; i < containers->nr_buckets; i++) {
		while (containers->buckets[i])
			item_drop(containers, &containers->buckets[i]);
	}
	cmt_containers_set_root(containers, NULL);
	close(containers->root_fd);
	free(containers->buckets);
	free(containers);
}

static int walk_fn(void *ctx, uint64_t id, const char *path)
{
	struct cmt_containers *containers = ctx;
	struct item *item = *find(containers, id);

	if (!item)
		item = item_new(containers, id);
	if (!item)
		return -ENOMEM;
	return item->path ? 0 : item_name(item, path);
}

/* Is it time for a walk?  Called once for every miss. */
static bool may_walk(struct cmt_containers *containers)
{
	if (++containers->misses < containers->backoff)
		return false;
	containers->misses = 0;
	return true;
}

static struct item *walk_for(struct cmt_containers *containers, uint64_t id)
{
	struct item *item;

	/* What a walk that fails half-way has not seen is tried again. */
	cmt_cgroup_walk(containers->root_fd, walk_fn, containers);
	item = *find(containers, id);
	if (item && item->path) {
		containers->backoff = 1;
		return item;
	}
	if (containers->backoff < BACKOFF_MAX)
		containers->backoff *= 2;
	if (!item)
		item = item_new(containers, id);
	if (item)
		item->tries++;
	return item;
}

const struct cmt_container *
cmt_containers_lookup(struct cmt_containers *containers, uint64_t cgroup_id)
{
	struct item *item = *find(containers, cgroup_id);

	if (!item || (!item->path && item->tries < TRIES_MAX)) {
		if (may_walk(containers))
			item = walk_for(containers, cgroup_id);
		else if (!item)
			item = item_new(containers, cgroup_id);
	}
	if (!item)
		return NULL;
	if (item->path && !item->asked)
		item_ask(containers, item);
	return &item->container;
}

void cmt_containers_forget(struct cmt_containers *containers,
			   uint64_t cgroup_id)
{
	struct item **link = find(containers, cgroup_id);

	if (*link)
		item_drop(containers, link);
}
