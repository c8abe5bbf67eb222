// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cache of containers by cgroup id.
 *
 * The kernel gives the path of an id (CMT_IOC_PATH_OF_CGROUP).  In a cgroup namespace
 * it gives only paths inside of the namespace, and without a device there are no
 * answers.  Then the mounted tree is walked, only for the ids that are wanted.
 *
 * A lookup may be in the loop that reads the rings, and users choose what files their
 * containers' names are in.  So walks and names have a share of a CPU, and users' names
 * one apart, which does not delay others.  Over that share, lookups come later.
 *
 * Only lookups wait.  A name that was not found is looked up again after a time,
 * independently of the number of lookups: a container that has just been made may have
 * no state file yet.
 */
#include <cmt/containers.h>
#include <cmt/resctrl.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "containers_cache.h"
#include "internal.h"
#include "names_file.h"
#include "runtime.h"

#define MAX_DEFAULT	4096
#define MAX_LEAST	16
#define MAX_MOST	(1U << 20)
#define RETRY_NS	1000000000ULL
#define RETRY_MAX_NS	(1ULL << 62)
#define BACKOFF_MAX	64	/* times retry_ns, between lookups in state files */
/* Walks and names take 1/SHARE of a CPU, and in advance less than rings hold. */
#define SHARE		20
#define AHEAD_NS	(SHARE * 150000000ULL)
#define USERS_AHEAD_NS	(SHARE * 50000000ULL)

/* The kernel's number of the first cgroup namespace (PROC_CGROUP_INIT_INO). */
#define FIRST_CGROUP_NS	0xeffffffbU

struct share {
	uint64_t ahead_ns;
	uint64_t paid;		/* by this time lookups have taken their share */
};

struct cmt_containers {
	const struct cmt_device *device;
	bool given;
	int root_fd;		/* of the cgroup tree, or -1: it is not walked */
	int host_fd;		/* the root of the runtimes' state, or -1 */
	uint64_t retry_ns;
	struct share share;	/* of walks and names */
	struct share users;	/* of names of users' containers */
	bool runtimes_only;	/* the file of cmt-names(8) is not read */
	struct cmt_names names;
	struct cmt_lists lists;
	struct cmt_cache cache;
	uint64_t paths;		/* that items got, ever */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static bool is_due(uint64_t due, uint64_t now)
{
	return !due || !cmt_ts_before(now, due);
}

/* @now, or when the next lookup may be. */
static uint64_t share_opens(const struct share *share, uint64_t now)
{
	return cmt_ts_before(now + share->ahead_ns, share->paid) ?
	       share->paid - share->ahead_ns : now;
}

/*
 * For what was done since @began of the thread's CPU time: time in which other programs
 * had the CPU does not count.
 */
static void share_pay(struct share *share, uint64_t now, uint64_t began)
{
	if (cmt_ts_before(share->paid, now))
		share->paid = now;
	share->paid += SHARE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began);
}

/* In place, because callers keep pointers to the container. */
static int item_path(struct cmt_containers *containers, struct cmt_item *item,
		     const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	free(item->path);
	item->path = copy;
	item->serial++;
	containers->paths++;
	item->container.path = copy;
	if (item->container.cgroup_id & CMT_RESCTRL_GROUP)
		cmt_name_group(copy, &item->container);
	else
		cmt_container_name(copy, &item->container);
	return 0;
}

static const char *told(const char *text)
{
	return *text ? text : NULL;
}

/* A pod's name is cut before its container's is. */
static void item_take(struct cmt_item *item, struct cmt_state *state)
{
	struct cmt_container *c = &item->container;

	free(item->state);
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
	if (c->pod_name || c->container_name)
		cmt_name_overhead(c);
}

/*
 * The runtimes' own files come first, because they are newer.  A user's cgroup gets its
 * name from the user's files, never from a container of root.  Returns 0, -ENOENT or a
 * temporary error.
 */
static int ask_files(struct cmt_containers *containers,
		     struct cmt_container *container, struct cmt_state *state)
{
	int err = cmt_runtime_ask(containers->host_fd, &containers->lists, container,
				  state);

	if (err != -ENOENT || containers->runtimes_only || container->uid)
		return err;
	return cmt_names_find(&containers->names, containers->host_fd,
			      container, state);
}

/* Returns 0, -ENOENT or an error that passes. */
static int ask_runtime(struct cmt_containers *containers,
		       struct cmt_item *item)
{
	struct cmt_state *state;
	int err;

	if (containers->host_fd < 0 || !item->container.id[0]) {
		item->named = true;
		return -ENOENT;
	}
	state = malloc(sizeof(*state));
	if (!state)
		return -ENOMEM;
	err = ask_files(containers, &item->container, state);
	if (err) {
		free(state);
		return err;
	}
	item_take(item, state);
	item->named = true;
	return 0;
}

/* True: the item has a name now. */
static bool name_item(struct cmt_containers *containers,
		      struct cmt_item *item, uint64_t now)
{
	struct share *share = item->container.uid ? &containers->users :
						    &containers->share;
	uint64_t opens = share_opens(share, now), began;
	int err;

	if (item->named || !is_due(item->name_due, now))
		return false;
	if (opens != now) {
		item->name_due = opens;
		return false;
	}
	began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	err = ask_runtime(containers, item);
	share_pay(share, now, began);
	if (err != -ENOENT || !item->name_wait)
		item->name_wait = containers->retry_ns;
	else if (item->name_wait < BACKOFF_MAX * containers->retry_ns)
		item->name_wait *= 2;
	item->name_due = now + item->name_wait;
	return !err;
}

/* Ids without an item are not wanted. */
static int walk_fn(void *ctx, uint64_t id, const char *path)
{
	struct cmt_containers *containers = ctx;
	struct cmt_item *item = cmt_cache_find(&containers->cache, id);

	return item && !item->path && !item->given ?
	       item_path(containers, item, path) : 0;
}

/* Returns the time of the next useful call. */
static uint64_t walk(struct cmt_containers *containers, uint64_t now)
{
	uint64_t opens = share_opens(&containers->share, now), began;

	if (opens != now)
		return opens;
	began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	/* a failed walk is repeated for the rest of the tree */
	cmt_cgroup_walk(containers->root_fd, walk_fn, containers);
	share_pay(&containers->share, now, began);
	return now + containers->retry_ns;
}

static int ask_kernel(struct cmt_containers *containers,
		      struct cmt_item *item)
{
	char path[PATH_MAX];
	int err = cmt_device_cgroup_path(containers->device,
					 item->container.cgroup_id, path,
					 sizeof(path));

	return err ? err : item_path(containers, item, path);
}

static bool find_path(struct cmt_containers *containers, struct cmt_item *item,
		      uint64_t now)
{
	int err = -ENOENT;

	if (!is_due(item->path_due, now))
		return false;
	item->path_due = now + containers->retry_ns;
	if (containers->device)
		err = ask_kernel(containers, item);
	if (err == -ENOENT && containers->root_fd >= 0 &&
	    !(item->container.cgroup_id & CMT_RESCTRL_GROUP))
		item->path_due = walk(containers, now);
	return item->path;
}

bool cmt_containers_refresh(struct cmt_containers *containers,
			    struct cmt_item *item)
{
	bool found = false;
	uint64_t now;

	if (containers->given || item->given || (item->path && item->named))
		return false;
	now = clock_ns(CLOCK_MONOTONIC);
	if (!item->path)
		found = find_path(containers, item, now);
	if (item->path)
		found |= name_item(containers, item, now);
	return found;
}

const struct cmt_container *
cmt_containers_lookup(struct cmt_containers *containers, uint64_t cgroup_id)
{
	struct cmt_item *item = cmt_cache_get(&containers->cache, cgroup_id);

	if (!item)
		return NULL;
	cmt_containers_refresh(containers, item);
	return &item->container;
}

const struct cmt_container *
cmt_containers_lookup_at(struct cmt_containers *containers, uint64_t cgroup_id,
			 const char *path)
{
	struct cmt_item *item = cmt_cache_get(&containers->cache, cgroup_id);

	if (!item || (!item->path && item_path(containers, item, path)))
		return NULL;
	containers->runtimes_only = true;
	cmt_containers_refresh(containers, item);
	return &item->container;
}

const struct cmt_container *
cmt_containers_find(struct cmt_containers *containers, uint64_t cgroup_id)
{
	struct cmt_item *item = cmt_cache_find(&containers->cache, cgroup_id);

	if (!item)
		return NULL;
	cmt_cache_use(&containers->cache, item);
	return &item->container;
}

struct cmt_item *cmt_containers_pin(struct cmt_containers *containers,
				    uint64_t id)
{
	struct cmt_item *item = cmt_cache_get(&containers->cache, id);

	if (item)
		item->pins++;
	return item;
}

void cmt_containers_unpin(struct cmt_containers *containers,
			  struct cmt_item *item)
{
	item->pins--;
	if (containers->cache.nr_items > containers->cache.max && !item->pins)
		cmt_cache_drop(&containers->cache, item);
}

uint64_t cmt_containers_paths(const struct cmt_containers *containers)
{
	return containers->paths;
}

static void put_text(char *to, size_t size, const char *from)
{
	if (from && *from)
		cmt_printable(to, size, from, strlen(from));
}

/* The texts of @from as a state file would give them */
static struct cmt_state *given_state(const struct cmt_container *from)
{
	struct cmt_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	put_text(state->name, sizeof(state->name), from->container_name);
	put_text(state->pod_container, sizeof(state->pod_container),
		 from->container_name);
	put_text(state->pod_name, sizeof(state->pod_name), from->pod_name);
	put_text(state->pod_namespace, sizeof(state->pod_namespace),
		 from->pod_namespace);
	put_text(state->image, sizeof(state->image), from->image);
	return state;
}

static void put_own(struct cmt_container *to, const struct cmt_container *from)
{
	if (from->name[0])
		cmt_printable(to->name, sizeof(to->name), from->name,
			      strnlen(from->name, sizeof(from->name)));
	if (!from->id[0])
		return;
	to->runtime = from->runtime;
	cmt_printable(to->id, sizeof(to->id), from->id,
		      strnlen(from->id, sizeof(from->id)));
	if (from->pod[0])
		cmt_printable(to->pod, sizeof(to->pod), from->pod,
			      strnlen(from->pod, sizeof(from->pod)));
}

int cmt_containers_put(struct cmt_containers *containers,
		       const struct cmt_container *container)
{
	struct cmt_state *state;
	struct cmt_item *item;
	int err;

	if (container->sz < sizeof(*container) || !container->path)
		return -EINVAL;
	state = given_state(container);
	item = state ? cmt_cache_get(&containers->cache,
				     container->cgroup_id) : NULL;
	err = item ? item_path(containers, item, container->path) : -ENOMEM;
	if (err) {
		free(state);
		return err;
	}
	item->given = true;
	item_take(item, state);
	put_own(&item->container, container);
	return 0;
}

static int open_host(const char *root)
{
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* In a cgroup namespace the kernel answers only for cgroups below it. */
static bool in_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/cgroup", &st) || st.st_ino != FIRST_CGROUP_NS;
}

static int containers_opts(struct cmt_containers_opts *opts,
			   const struct cmt_containers_opts *from)
{
	int err = cmt_opts_copy(opts, sizeof(*opts), from);

	if (err)
		return err;
	if (!opts->max)
		opts->max = MAX_DEFAULT;
	if (!opts->retry_ns)
		opts->retry_ns = RETRY_NS;
	if (opts->max < MAX_LEAST || opts->max > MAX_MOST ||
	    opts->retry_ns > RETRY_MAX_NS / BACKOFF_MAX ||
	    (opts->flags & ~CMT_CONTAINERS_GIVEN))
		return -EINVAL;
	return 0;
}

static int open_roots(struct cmt_containers *c,
		      const struct cmt_containers_opts *opts)
{
	if (c->given)
		return 0;
	if (!c->device || opts->cgroup_root || in_namespace())
		c->root_fd = cmt_cgroup_open(opts->cgroup_root);
	if (c->root_fd < 0 && opts->cgroup_root)
		return c->root_fd;
	c->host_fd = open_host(opts->state_root ? opts->state_root : "/");
	return c->host_fd < 0 && opts->state_root ? c->host_fd : 0;
}

int cmt_containers_new(struct cmt_containers **containers,
		       const struct cmt_containers_opts *opts)
{
	struct cmt_containers_opts o;
	struct cmt_containers *c;
	int err = containers_opts(&o, opts);

	if (err)
		return err;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->device = o.device;
	c->given = o.flags & CMT_CONTAINERS_GIVEN;
	c->retry_ns = o.retry_ns;
	c->root_fd = -1;
	c->host_fd = -1;
	c->share.ahead_ns = AHEAD_NS;
	c->users.ahead_ns = USERS_AHEAD_NS;
	err = cmt_cache_init(&c->cache, o.max);
	if (!err)
		err = open_roots(c, &o);
	if (err) {
		cmt_containers_free(c);
		return err;
	}
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
	cmt_names_destroy(&containers->names);
	cmt_lists_destroy(&containers->lists);
	return 0;
}

void cmt_containers_free(struct cmt_containers *containers)
{
	if (!containers)
		return;
	cmt_cache_destroy(&containers->cache);
	cmt_containers_set_root(containers, NULL);
	if (containers->root_fd >= 0)
		close(containers->root_fd);
	free(containers);
}

void cmt_containers_forget(struct cmt_containers *containers,
			   uint64_t cgroup_id)
{
	struct cmt_item *item = cmt_cache_find(&containers->cache, cgroup_id);

	if (item && !item->pins)
		cmt_cache_drop(&containers->cache, item);
}
