/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Containers: from a cgroup id to a path and a name people know.
 *
 * cmt_container_name() is pure text.  struct cmt_containers is a bounded cache:
 * paths come from the kernel (cmt_device_cgroup_path()), names from the files in
 * which runtimes keep their state, or both from the caller.  No daemon is asked.
 *
 * Without root: a member of the device's group gets the path of every cgroup,
 * and so runtime, id and pod.  The names that runtimes keep on disk are readable
 * by root only.  Where an administrator allows it, cmt-names(8) writes those of
 * root's containers to /run/cmt/names for the group; else such a reader has the
 * short id in their place.
 */
#ifndef CMT_CONTAINERS_H
#define CMT_CONTAINERS_H

#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include <cmt/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cmt_containers;

enum cmt_runtime {
	CMT_RUNTIME_NONE,	/**< a plain cgroup, such as a user session */
	CMT_RUNTIME_DOCKER,
	CMT_RUNTIME_CONTAINERD,	/**< CRI: cri-containerd-<id>.scope */
	CMT_RUNTIME_CRIO,
	CMT_RUNTIME_PODMAN,
	CMT_RUNTIME_LXC,
	CMT_RUNTIME_NSPAWN,
	CMT_RUNTIME_LIBVIRT,
	CMT_RUNTIME_KUBEPODS,	/**< a pod's container, runtime not told */
	CMT_RUNTIME_SYSTEMD,	/**< a systemd service */
};

/** "docker", "containerd", ...; "" for CMT_RUNTIME_NONE.  Never NULL. */
CMT_API const char *cmt_runtime_name(enum cmt_runtime runtime);

#define CMT_CONTAINER_NAME_LEN 256
#define CMT_CONTAINER_ID_LEN 65

/** cmt_container.flags: the cgroup is below a user's slice, user.slice/user-UID.slice.
 *  The user makes cgroups of any name there: runtime, id and name are that user's
 *  word, and the id may be another container's.
 */
#define CMT_CONTAINER_OF_USER (1U << 0)
/** cmt_container.flags: the cgroup is not the container's own, but has threads that run
 *  the container's VM, apart from it: /kata_overhead/ID of Kata Containers.  The name
 *  ends in " (overhead)".
 */
#define CMT_CONTAINER_OVERHEAD (1U << 1)

/**
 * All text but the path is printable ASCII: any other byte became '?'.  What
 * is too long is cut.
 */
struct cmt_container {
	size_t sz;		/**< bytes that the library, or the caller of
				 *   cmt_container_name() and
				 *   cmt_containers_put(), knows
				 */
	uint64_t cgroup_id;		/**< as asked */
	enum cmt_runtime runtime;
	char name[CMT_CONTAINER_NAME_LEN];	/**< to be shown, the best there
						 *   is: "namespace/pod/container",
						 *   "namespace/pod" for a pod's
						 *   own container, the runtime's
						 *   name, or a short id.  Of a
						 *   plain cgroup the last part of
						 *   its path, with "/" before it
						 *   where it has a colon or begins
						 *   with "("
						 */
	char id[CMT_CONTAINER_ID_LEN];	/**< container id, "" if none */
	char pod[40];			/**< pod uid, "" if none */
	const char *path;		/**< cgroup path from the cgroup root,
					 *   "/" for the root, raw bytes; NULL:
					 *   the cgroup is not known
					 */
	/* What the runtime's state says; NULL: nothing. */
	const char *container_name;	/**< in its pod, or the runtime's own */
	const char *pod_name;
	const char *pod_namespace;
	const char *image;		/**< "docker.io/library/nginx:1.25" */
	uint32_t own_len;	/**< bytes of the path that lead to the cgroup
				 *   of the container or service; the rest is
				 *   nested in it.  All, where there is none.
				 */
	uint32_t flags;		/**< CMT_CONTAINER_* */
	uint32_t uid;		/**< the user, of CMT_CONTAINER_OF_USER */
};

/**
 * Fill runtime, name, id, pod, own_len, flags and uid from a cgroup path.  A
 * process in a cgroup nested inside a container's belongs to that container.
 * @path "" or "/" is the root cgroup.  Touches nothing else of @container, whose
 * sz is sizeof(struct cmt_container); never fails.  Pure; any thread.
 */
CMT_API void cmt_container_name(const char *path,
				struct cmt_container *container);

struct cmt_containers_opts {
	size_t sz;		/**< sizeof(struct cmt_containers_opts) */
	const struct cmt_device *device;	/**< asked for paths; it must
						 *   outlive the cache.  NULL:
						 *   the tree at cgroup_root
						 */
	const char *cgroup_root;	/**< where cgroup v2 is mounted; NULL
					 *   finds it.  The tree is read only
					 *   without a device, and in a cgroup
					 *   namespace, to which the kernel
					 *   tells no other container's path
					 */
	const char *state_root;	/**< as cmt_containers_set_root(); NULL: "/" */
	uint64_t retry_ns;	/**< what was not found is looked for again
				 *   after this time; 0: 1 s
				 */
	uint32_t max;		/**< cgroups kept; 0: 4096; 16 .. 2^20 */
	uint32_t flags;		/**< CMT_CONTAINERS_* */
};

/** Only what cmt_containers_put() gives: no device, tree or file is read. */
#define CMT_CONTAINERS_GIVEN (1U << 0)

/**
 * @opts: NULL for defaults, without a device
 * Where no cgroup tree is found or may be read, that is no error: cgroups are
 * called by their ids then.
 * Returns 0, -EINVAL, -ENOMEM, or -errno of opening a cgroup_root or a state_root
 * that was given.
 */
CMT_API int cmt_containers_new(struct cmt_containers **containers,
			       const struct cmt_containers_opts *opts);
CMT_API void cmt_containers_free(struct cmt_containers *containers);

/**
 * Look a cgroup up.  The answer is cached and kept after the cgroup and its
 * container are gone.  May ask the kernel and read state files, which may wait
 * for a disk: keep it out of a hot path, see cmt_containers_find().  What may
 * not be read, is no state file or is larger than 1 MiB is as if it were not
 * there, and the name is the one that the cgroup tells.
 *
 * An id that is not found is named "cgroup:<id>", path NULL.  What was not found
 * is looked for again by later lookups, no sooner than opts.retry_ns, state
 * files ever less often, down to once in 64 of these times; an error that passes
 * (EMFILE, ENOMEM, EIO and the like) is no answer.  A later answer changes the
 * container in place.
 *
 * Never NULL but for -ENOMEM.  It stays the cache's, and is valid until it is
 * forgotten, or opts.max - 1 other cgroups have been looked up since.
 */
CMT_API const struct cmt_container *
cmt_containers_lookup(struct cmt_containers *containers, uint64_t cgroup_id);

/**
 * What the cache has of a cgroup; NULL: it was not looked up yet, or no longer
 * is there.  Reads no file, makes no system call.  Valid as cmt_containers_lookup().
 */
CMT_API const struct cmt_container *
cmt_containers_find(struct cmt_containers *containers, uint64_t cgroup_id);

/**
 * Tell the cache what a cgroup is, such as from a recording.  Of @container,
 * cgroup_id and path count, and the texts where they are not NULL and not "";
 * without a name or an id, they are those that the path tells.  All is copied,
 * and replaces what the cache had, in place.
 * Returns 0, -EINVAL (no path, or a size that is too small) or -ENOMEM.
 */
CMT_API int cmt_containers_put(struct cmt_containers *containers,
			       const struct cmt_container *container);

/**
 * Look for the state of runtimes, and for the names that cmt-names(8) wrote, below
 * the directory @root instead of "/": where a container has mounted the host's root,
 * say.  NULL: read no state,
 * names are those that cgroups tell.  Holds for what is looked up from now on
 * and is not in the cache.
 * Returns 0 or -errno of opening @root; then nothing has changed.
 */
CMT_API int cmt_containers_set_root(struct cmt_containers *containers,
				    const char *root);

/** Drop one id from the cache, unless a struct cmt_usage has it in a row. */
CMT_API void cmt_containers_forget(struct cmt_containers *containers,
				   uint64_t cgroup_id);

#ifdef __cplusplus
}
#endif

#endif
