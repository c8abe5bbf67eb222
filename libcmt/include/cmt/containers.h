/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Containers: from a cgroup id to a path and a name people know.
 *
 * cmt_container_name() is pure text.  struct cmt_containers is the cache that
 * looks paths up below a cgroup v2 mount, and names in the files in which
 * runtimes keep their state.  It asks no daemon.
 */
#ifndef CMT_CONTAINERS_H
#define CMT_CONTAINERS_H

#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>

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

/**
 * All text but the path is printable ASCII: any other byte became '?'.  What
 * is too long is cut.
 */
struct cmt_container {
	uint64_t cgroup_id;		/**< as asked */
	enum cmt_runtime runtime;
	char name[CMT_CONTAINER_NAME_LEN];	/**< to be shown, the best there
						 *   is: "namespace/pod/container",
						 *   "namespace/pod" for a pod's
						 *   own container, the runtime's
						 *   name, or a short id
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
};

/**
 * Fill runtime, name, id and pod from a cgroup path.  A process in a cgroup
 * nested inside a container's belongs to that container.  @path "" or "/" is
 * the root cgroup.  Touches nothing else of @container; never fails.
 */
CMT_API void cmt_container_name(const char *path,
				struct cmt_container *container);

/**
 * @cgroup_root: where cgroup v2 is mounted; NULL finds it
 *               (/sys/fs/cgroup, or what /proc/self/mounts says)
 * Returns 0, -ENOENT (no cgroup v2 mount) or -ENOMEM.
 */
CMT_API int cmt_containers_new(struct cmt_containers **containers,
			       const char *cgroup_root);
CMT_API void cmt_containers_free(struct cmt_containers *containers);

/**
 * Look a cgroup up.  The answer is cached and kept after the cgroup and its
 * container are gone.  The first lookup of a container reads a state file or
 * a few, which may wait for a disk.  What may not be read, is no state file
 * or is larger than 1 MiB is as if it were not there, and the name is the one
 * that the cgroup tells.
 * An id that cannot be found is named "cgroup:<id>", path NULL; a later lookup
 * may find it, and then changes the answer in place.  How often the cgroup
 * tree is walked for ids that are not found is limited.
 * Never NULL but for -ENOMEM; it stays the cache's, until cmt_containers_free()
 * or a cmt_containers_forget() of the same id.
 */
CMT_API const struct cmt_container *
cmt_containers_lookup(struct cmt_containers *containers, uint64_t cgroup_id);

/**
 * Look for the state of runtimes below the directory @root instead of "/":
 * where a container has mounted the host's root, say.  NULL: read no state,
 * names are those that cgroups tell.  Holds for what is looked up from now on
 * and is not in the cache.
 * Returns 0 or -errno of opening @root; then nothing has changed.
 */
CMT_API int cmt_containers_set_root(struct cmt_containers *containers,
				    const char *root);

/** Drop one id from the cache. */
CMT_API void cmt_containers_forget(struct cmt_containers *containers,
				   uint64_t cgroup_id);

#ifdef __cplusplus
}
#endif

#endif
