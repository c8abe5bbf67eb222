// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cache of containers by cgroup id.
 *
 * The kernel gives the path of an id (CMT_IOC_PATH_OF_CGROUP).  In a cgroup namespace
 * it gives only paths inside of the namespace, and without a device there are no
 * answers.  Then the mounted tree is walked, only for the ids that are wanted.
 *
 * An account to which systemd delegates a cgroup makes cgroups of any name in it.  The owner
 * of the directory above says who made a container's cgroup: without a tree in which this
 * is seen, containers of root have their ids as names.
 *
 * A lookup may be in the loop that reads the rings, which hold 250 ms, and users choose
 * what files the names of their containers are in.  There are three kinds of lookups:
 * walks, names of root's containers, and names of users' containers.  When lookups of one
 * kind have taken 50 ms, lookups of that kind pause, and come later.  So a kind does not
 * delay another one.
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

#include "base/base.h"
#include "cache.h"
#include "cgroup/cgroup.h"
#include "names_file.h"
#include "resctrl/resctrl.h"
#include "runtime.h"
#include "share.h"

#define MAX_DEFAULT	4096
#define MAX_LEAST	16
#define MAX_MOST	(1U << 20)
#define RETRY_NS	1000000000ULL
#define RETRY_MAX_NS	(1ULL << 62)
#define BACKOFF_MAX	64	/* times retry_ns, between lookups in state files */

/* The kernel's numbers of the first namespaces (PROC_CGROUP_INIT_INO, PROC_PID_INIT_INO). */
#define FIRST_CGROUP_NS	0xeffffffbU
#define FIRST_PID_NS	0xeffffffcU

/* cmt_item.hint: a thread's number, or with this bit a CPU's; 0: none */
#define HINT_CPU	(1ULL << 32)

struct cmt_containers {
	const struct cmt_device *device;
	bool given;
	int root_fd;		/* of the cgroup tree, or -1 */
	bool walked;		/* paths that the kernel does not give are searched there */
	int host_fd;		/* the root of the runtimes' state, or -1 */
	uint64_t retry_ns;
	struct cmt_share walks;
	struct cmt_share roots;	/* names of root's containers */
	struct cmt_share users;	/* names of users' containers */
	bool no_pause;
	bool runtimes_only;	/* the file of cmt-names(8) is not read */
	bool first_pids;	/* this is the first PID namespace, the module's */
	bool other_root;	/* host_fd is not "/" */
	struct cmt_names names;
	struct cmt_lists lists;
	struct cmt_cache cache;
	uint64_t paths;		/* that items got, ever */
};

static bool is_due(uint64_t due, uint64_t now)
{
	return !due || !cmt_ts_before(now, due);
}

/* In place, because callers keep pointers to the container. */
static int item_path(struct cmt_containers *containers, struct cmt_item *item,
		     const char *path)
{
	char *copy;

	if (item->path && !strcmp(item->path, path))
		return 0;
	copy = strdup(path);
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

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

/* A pod's name is cut before its container's is. */
static void item_take(struct cmt_item *item, struct cmt_state *state)
{
	struct cmt_container *c = &item->container;

	free(item->state);
	item->state = state;
	c->image = text_or_null(state->image);
	c->pod_name = text_or_null(state->pod_name);
	c->pod_namespace = text_or_null(state->pod_namespace);
	c->container_name = text_or_null(c->pod_name ? state->pod_container :
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
 * The runtimes' own files come first, because they are newer.  A cgroup below a user's slice
 * gets its name from the user's files, and one that another account made gets none: only what
 * root made has the name of a container of root.  Returns 0, -ENOENT or a temporary error.
 */
static int ask_files(struct cmt_containers *containers,
		     struct cmt_container *container, struct cmt_state *state)
{
	int err;

	if (!container->uid &&
	    !cmt_cgroup_made_by_root(containers->root_fd, container->path, container->own_len))
		return -ENOENT;
	err = cmt_runtime_ask(containers->host_fd, &containers->lists, container, state);
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
	uint32_t uid = item->container.uid;
	struct cmt_share *share = uid ? &containers->users : &containers->roots;
	struct cmt_spent began;
	int err;

	if (containers->host_fd < 0 || !item->container.id[0])
		item->named = true;
	if (item->named || !is_due(item->name_due, now) ||
	    (!containers->no_pause && !cmt_share_admits(share, uid, now)))
		return false;
	began = cmt_share_begin();
	err = ask_runtime(containers, item);
	cmt_share_charge(share, uid, &began);
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
	struct cmt_share *share = &containers->walks;
	struct cmt_spent began;

	if (!containers->no_pause && !cmt_share_admits(share, 0, now))
		return share->pause_ends;
	began = cmt_share_begin();
	/* a failed walk is repeated for the rest of the tree */
	cmt_cgroup_walk(containers->root_fd, walk_fn, containers);
	cmt_share_charge(share, 0, &began);
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

/*
 * The path of a resctrl group.  In another PID namespace than the module's, the number is
 * another thread's; another root directory is the host's, by the caller's word.
 */
static int ask_resctrl(const struct cmt_containers *containers, uint64_t hint, char **path)
{
	if (hint & HINT_CPU)
		return cmt_resctrl_find_cpu(containers->host_fd, (uint32_t)hint, path);
	if (!containers->first_pids && !containers->other_root)
		return -ENOENT;
	return cmt_resctrl_find_thread(containers->host_fd, (uint32_t)hint,
				       containers->first_pids, path);
}

static void find_group(struct cmt_containers *containers, struct cmt_item *item,
		       uint64_t now)
{
	struct cmt_share *share = &containers->walks;
	struct cmt_spent began;
	char *path;
	int err;

	if (containers->host_fd < 0)
		return;
	if (!containers->no_pause && !cmt_share_admits(share, 0, now)) {
		item->path_due = share->pause_ends;
		return;
	}
	began = cmt_share_begin();
	err = ask_resctrl(containers, item->hint, &path);
	cmt_share_charge(share, 0, &began);
	if (err)
		return;
	err = item_path(containers, item, path);
	free(path);
	item->stale = err;
}

static void find_path(struct cmt_containers *containers, struct cmt_item *item,
		      uint64_t now)
{
	int err = -ENOENT;

	if (!is_due(item->path_due, now))
		return;
	item->path_due = now + containers->retry_ns;
	if (item->hint) {
		find_group(containers, item, now);
		return;
	}
	if (containers->device)
		err = ask_kernel(containers, item);
	if (err == -ENOENT && containers->walked &&
	    !(item->container.cgroup_id & CMT_RESCTRL_GROUP))
		item->path_due = walk(containers, now);
}

/* A group of resctrl keeps its id where its directory is renamed. */
static bool may_be_renamed(const struct cmt_containers *containers,
			   const struct cmt_item *item)
{
	return item->container.cgroup_id & CMT_RESCTRL_GROUP && containers->device &&
	       cmt_device_info(containers->device)->backend == CMT_BACKEND_RESCTRL;
}

bool cmt_containers_refresh(struct cmt_containers *containers,
			    struct cmt_item *item)
{
	bool path_wanted = !item->path || item->stale || may_be_renamed(containers, item);
	uint32_t serial = item->serial;
	bool found = false;
	uint64_t now;

	if (containers->given || item->given || (!path_wanted && item->named))
		return false;
	now = cmt_now_ns();
	if (path_wanted)
		find_path(containers, item, now);
	if (item->path)
		found = name_item(containers, item, now);
	return found || item->serial != serial;
}

/* A group that nothing is known of now keeps the path that it had. */
void cmt_containers_hint(struct cmt_item *item, const struct cmt_owner *owner)
{
	uint64_t hint = owner->group_tid;

	if (!hint && owner->group_cpu != CMT_GROUP_NO_CPU)
		hint = HINT_CPU | owner->group_cpu;
	if (!hint || hint == item->hint)
		return;
	item->hint = hint;
	item->stale = item->path;
	item->path_due = 0;
}

const struct cmt_container *
cmt_containers_lookup_owner(struct cmt_containers *containers, const struct cmt_owner *owner)
{
	struct cmt_item *item = owner->cgroup_id ?
		cmt_cache_get(&containers->cache, owner->cgroup_id) : NULL;

	if (!item)
		return NULL;
	if (owner->kind == CMT_OWNER_RESCTRL)
		cmt_containers_hint(item, owner);
	cmt_containers_refresh(containers, item);
	return &item->container;
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
		cmt_cache_pin(&containers->cache, item);
	return item;
}

void cmt_containers_unpin(struct cmt_containers *containers,
			  struct cmt_item *item)
{
	cmt_cache_unpin(&containers->cache, item);
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
	struct cmt_container from;
	struct cmt_state *state;
	struct cmt_item *item;
	int err;

	if (cmt_container_copy(&from, container) || !from.path)
		return -EINVAL;
	state = given_state(&from);
	item = state ? cmt_cache_get(&containers->cache, from.cgroup_id) : NULL;
	err = item ? item_path(containers, item, from.path) : -ENOMEM;
	if (err) {
		free(state);
		return err;
	}
	item->given = true;
	item_take(item, state);
	put_own(&item->container, &from);
	return 0;
}

static int open_host(const char *root)
{
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool is_namespace(const char *path, ino_t number)
{
	struct stat st;

	return !stat(path, &st) && st.st_ino == number;
}

/* In a cgroup namespace the kernel answers only for cgroups below it. */
static bool in_namespace(void)
{
	return !is_namespace("/proc/self/ns/cgroup", FIRST_CGROUP_NS);
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
	    (opts->flags & ~(CMT_CONTAINERS_GIVEN | CMT_CONTAINERS_NO_PAUSE)))
		return -EINVAL;
	return 0;
}

static int open_roots(struct cmt_containers *c,
		      const struct cmt_containers_opts *opts)
{
	if (c->given)
		return 0;
	c->root_fd = cmt_cgroup_open(opts->cgroup_root);
	if (c->root_fd < 0 && opts->cgroup_root)
		return c->root_fd;
	c->walked = c->root_fd >= 0 && (!c->device || opts->cgroup_root || in_namespace());
	c->host_fd = open_host(opts->state_root ? opts->state_root : "/");
	c->first_pids = is_namespace("/proc/self/ns/pid", FIRST_PID_NS);
	c->other_root = opts->state_root && strcmp(opts->state_root, "/");
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
	c->no_pause = o.flags & CMT_CONTAINERS_NO_PAUSE;
	c->retry_ns = o.retry_ns;
	c->root_fd = -1;
	c->host_fd = -1;
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
	containers->other_root = root && strcmp(root, "/");
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
