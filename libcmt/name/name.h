/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of cgroups: by their paths, and from a struct cmt_containers. */
#ifndef LIBCMT_NAME_H
#define LIBCMT_NAME_H

#include <cmt/containers.h>
#include <cmt/tracker.h>
#include <stdbool.h>
#include <stdint.h>

struct cmt_state;

/* What a struct cmt_containers has of a cgroup. */
struct cmt_item {
	struct cmt_item *next;		/* next in the hash bucket */
	struct cmt_item *newer, *older;	/* in the order of use, while there are no pins */
	uint32_t pins;			/* number of users */
	struct cmt_container container;
	char *path;
	uint32_t serial;		/* changes with the path */
	uint64_t hint;			/* of a resctrl group: cmt_containers_hint() */
	bool stale;			/* the path is that of another hint */
	struct cmt_state *state;	/* NULL: the runtime has no name */
	bool given;			/* set by the caller: no file is read */
	/* the runtime's files were read, and had the container or not */
	bool named;
	/* times of the next lookup, in CLOCK_MONOTONIC; 0: now */
	uint64_t path_due, name_due;
	uint64_t name_wait;		/* grows with each lookup without a result */
};

/* The item of @id, pinned until it is unpinned; NULL: no memory. */
struct cmt_item *cmt_containers_pin(struct cmt_containers *containers,
				    uint64_t id);
void cmt_containers_unpin(struct cmt_containers *containers,
			  struct cmt_item *item);
/*
 * Where the name of a resctrl group can be found: by a thread or a CPU of it.  @owner: its
 * present owner, of CMT_OWNER_RESCTRL.  Reads no file.
 */
void cmt_containers_hint(struct cmt_item *item, const struct cmt_owner *owner);
/* Changes whenever the path of an item changes. */
uint64_t cmt_containers_paths(const struct cmt_containers *containers);

/*
 * For cmt-names(8): look up a cgroup, whose path was just read, only in the
 * runtimes' own files.  From then on @containers reads no other files.  NULL: no
 * memory.
 */
const struct cmt_container *
cmt_containers_lookup_at(struct cmt_containers *containers, uint64_t cgroup_id,
			 const char *path);

/* Look up the missing names that are due; may block.  True: a name is new. */
bool cmt_containers_refresh(struct cmt_containers *containers,
			    struct cmt_item *item);

/*
 * Copy the container @from, of which a program set sz, to @to; see cmt_opts_copy().  It
 * has all members of the first version.  Returns 0 or -EINVAL.
 */
int cmt_container_copy(struct cmt_container *to, const struct cmt_container *from);

/* Set the name, and all else, of a resctrl group: its id has CMT_RESCTRL_GROUP. */
void cmt_name_group(const char *path, struct cmt_container *container);

/* Mark the name of a container whose flags have CMT_CONTAINER_OVERHEAD. */
void cmt_name_overhead(struct cmt_container *container);

/* Are the @n bytes of @id a container id, as runtimes make them? */
bool cmt_is_id(const char *id, size_t n);

#endif
