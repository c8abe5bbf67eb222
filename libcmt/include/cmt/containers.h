/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Containers: from a cgroup id to a path and a name people know.
 *
 * cmt_container_name() is pure text.  struct cmt_containers is the cache that
 * looks paths up below a cgroup v2 mount; it reads nothing else.
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

#define CMT_CONTAINER_NAME_LEN 64

struct cmt_container {
	uint64_t cgroup_id;		/**< as asked */
	enum cmt_runtime runtime;
	char name[CMT_CONTAINER_NAME_LEN];	/**< short, printable ASCII: any
						 *   other byte became '?'
						 */
	char id[CMT_CONTAINER_NAME_LEN + 1];	/**< container id, "" if none */
	char pod[40];			/**< pod uid, "" if none */
	const char *path;		/**< cgroup path from the cgroup root,
					 *   "/" for the root, raw bytes; NULL:
					 *   the cgroup is not known
					 */
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
 * Look a cgroup up.  The answer is cached and kept after the cgroup is gone.
 * An id that cannot be found is named "cgroup:<id>", path NULL; a later lookup
 * may find it, and then changes the answer in place.  How often the cgroup
 * tree is walked for ids that are not found is limited.
 * Never NULL but for -ENOMEM; it stays the cache's, until cmt_containers_free()
 * or a cmt_containers_forget() of the same id.
 */
CMT_API const struct cmt_container *
cmt_containers_lookup(struct cmt_containers *containers, uint64_t cgroup_id);

/** Drop one id from the cache. */
CMT_API void cmt_containers_forget(struct cmt_containers *containers,
				   uint64_t cgroup_id);

#ifdef __cplusplus
}
#endif

#endif
