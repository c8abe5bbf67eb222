/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Containers: from a cgroup id to a path and a name.
 *
 * cmt_container_name() only parses text.  struct cmt_containers is a bounded cache: paths
 * come from the kernel (cmt_device_cgroup_path()), names from the state files of the
 * runtimes, or both from the caller.  The cache asks no daemon.
 *
 * Without root: a member of the device's group gets the path of every cgroup, and with it
 * runtime, id and pod.  Only root can read the names in the runtimes' state files.  Where
 * the administrator enables cmt-names(8), it writes the names of root's containers to
 * /run/cmt/names for the group.  Otherwise a reader without root has short ids as names.
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
struct cmt_owner;

enum cmt_runtime {
	CMT_RUNTIME_NONE,	/**< a plain cgroup, such as a user session */
	CMT_RUNTIME_DOCKER,
	CMT_RUNTIME_CONTAINERD,	/**< CRI: cri-containerd-<id>.scope */
	CMT_RUNTIME_CRIO,
	CMT_RUNTIME_PODMAN,
	CMT_RUNTIME_LXC,
	CMT_RUNTIME_NSPAWN,
	CMT_RUNTIME_LIBVIRT,
	CMT_RUNTIME_KUBEPODS,	/**< a pod's container, of an unknown runtime */
	CMT_RUNTIME_SYSTEMD,	/**< a systemd service */
	CMT_RUNTIME_SLURM,	/**< a job, with all its steps */
	CMT_RUNTIME_NOMAD,	/**< a task of an allocation */
	CMT_RUNTIME_PROXMOX,	/**< a virtual machine; its containers are LXC's */
	CMT_RUNTIME_ECS,
	CMT_RUNTIME_GARDEN,	/**< Cloud Foundry */
	CMT_RUNTIME_BUILDKIT,
	CMT_RUNTIME_OCI,	/**< 64 digits, of an unknown runtime */
};

/** "docker", "containerd", ...; "" for CMT_RUNTIME_NONE, and for a runtime of a later
 *  version.  Never NULL.
 */
CMT_API const char *cmt_runtime_name(enum cmt_runtime runtime);

#define CMT_CONTAINER_NAME_LEN 256
#define CMT_CONTAINER_ID_LEN 65

/** cmt_container.flags: the cgroup is below a user's slice, user.slice/user-UID.slice.
 *  The user can make cgroups of any name there: the user chose runtime, id and name, and
 *  the id may be that of another container.
 */
#define CMT_CONTAINER_OF_USER (1U << 0)
/** cmt_container.flags: the cgroup is not that of the container.  It has threads that run
 *  the container's VM: /kata_overhead/ID of Kata Containers.  The name ends in
 *  " (overhead)".
 */
#define CMT_CONTAINER_OVERHEAD (1U << 1)

/**
 * All texts except path are printable ASCII; any other byte is replaced by '?'.  A text
 * that is too long is cut.
 */
struct cmt_container {
	size_t sz;		/**< sizeof(struct cmt_container), by the library, or
				 *   by the caller of cmt_container_name(),
				 *   cmt_containers_put() and cmt_recorder_name()
				 */
	uint64_t cgroup_id;		/**< as in the lookup */
	enum cmt_runtime runtime;
	char name[CMT_CONTAINER_NAME_LEN];	/**< for display, the first that is
						 *   known of:
						 *   "namespace/pod/container"
						 *   ("namespace/pod" for the
						 *   pod's sandbox), the
						 *   runtime's name, a short id.
						 *   Of a plain cgroup: the last
						 *   part of its path, with "/"
						 *   before it where it has a
						 *   colon or begins with "("
						 */
	char id[CMT_CONTAINER_ID_LEN];	/**< container id, "" if none */
	char pod[40];			/**< pod uid, "" if none */
	const char *path;		/**< cgroup path from the cgroup root,
					 *   "/" for the root, raw bytes; NULL:
					 *   the cgroup is not known
					 */
	/* From the runtime's state files; NULL: not known. */
	const char *container_name;	/**< in its pod, or in the runtime */
	const char *pod_name;
	const char *pod_namespace;
	const char *image;		/**< "docker.io/library/nginx:1.25" */
	uint32_t own_len;	/**< length of the part of path that is the cgroup of
				 *   the container or service; the cgroups after it
				 *   are nested in that one.  The complete length if
				 *   the path has neither
				 */
	uint32_t flags;		/**< CMT_CONTAINER_* */
	uint32_t uid;		/**< the user, with CMT_CONTAINER_OF_USER */
};

/**
 * Fill runtime, name, id, pod, own_len, flags and uid from a cgroup path.  A cgroup that
 * is nested in that of a container belongs to the container.  @path "" or "/" is the root
 * cgroup.  The caller sets @container->sz; other members, and what is beyond sz, stay.  Never
 * fails.  Pure; thread-safe.
 */
CMT_API void cmt_container_name(const char *path,
				struct cmt_container *container);

struct cmt_containers_opts {
	size_t sz;		/**< sizeof(struct cmt_containers_opts) */
	const struct cmt_device *device;	/**< source of paths; must outlive
						 *   the cache.  NULL: paths come
						 *   from the tree at cgroup_root
						 */
	const char *cgroup_root;	/**< where cgroup v2 is mounted; NULL:
					 *   found by the library.  Paths are read
					 *   there without a device, and in a
					 *   cgroup namespace, in which the device
					 *   returns no path outside of it.  Only
					 *   where root owns the directory above it
					 *   has a container a name of root's files
					 */
	const char *state_root;	/**< as cmt_containers_set_root(); NULL: "/" */
	uint64_t retry_ns;	/**< after this time a failed lookup is tried again;
				 *   0: 1 s
				 */
	uint32_t max;		/**< cgroups kept, beside those that a struct cmt_usage
				 *   has; 0: 4096; 16 .. 2^20
				 */
	uint32_t flags;		/**< CMT_CONTAINERS_* */
};

/** Only cmt_containers_put() brings names and paths: no device, tree or file is read. */
#define CMT_CONTAINERS_GIVEN (1U << 0)
/** Lookups do not pause: for a program that reads no rings, and may wait. */
#define CMT_CONTAINERS_NO_PAUSE (1U << 1)

/**
 * Make a cache; free it with cmt_containers_free().
 * @opts: NULL for defaults, without a device
 * A missing or unreadable cgroup tree is no error: without a device names are then
 * "cgroup:<id>", and with one a container of root has its id as a name.
 * Returns 0, -EINVAL, -ENOMEM, or -errno of opening a cgroup_root or a state_root
 * that was given.
 */
CMT_API int cmt_containers_new(struct cmt_containers **containers,
			       const struct cmt_containers_opts *opts);
CMT_API void cmt_containers_free(struct cmt_containers *containers);

/**
 * Look up a cgroup.  The result is cached, and stays after the end of the cgroup and its
 * container.  May ask the kernel and read state files, which may wait for a disk: not for
 * hot paths, see cmt_containers_find().  A file that cannot be read, is no state file, is
 * larger than 1 MiB or has more than 32,768 JSON values (256 KiB and 8,192 if it is not
 * root's) is ignored; the name then comes from the cgroup path.
 *
 * After 50 ms of CPU time or wall time lookups pause, for 20 times the CPU time and at
 * least 50 ms; a path or name then comes with a later lookup.  Walks of the tree, names of
 * root's containers and names of users' containers pause separately.  Users take turns.
 * With CMT_CONTAINERS_NO_PAUSE there are no pauses.
 *
 * An id that is not found has the name "cgroup:<id>" and path NULL.  Later lookups try
 * again after opts.retry_ns; state files are tried less and less often, at last once in 64
 * of these times.  A temporary error (EMFILE, ENOMEM, EIO and the like) is not cached.  A
 * later success changes the container in place.
 *
 * NULL only for lack of memory.  The cache owns the result.  It is valid while a struct
 * cmt_usage has the cgroup, and then until it is forgotten, or until opts.max - 1 other
 * cgroups have been looked up or have left a struct cmt_usage.
 */
CMT_API const struct cmt_container *
cmt_containers_lookup(struct cmt_containers *containers, uint64_t cgroup_id);

/**
 * Look up what an owner is called: the cgroup of a process or of a cgroup, or the resctrl
 * group of CMT_OWNER_RESCTRL, whose path is as in <cmt/resctrl.h>.  A group has no name of
 * the kernel's: its path is found by a thread of it (/proc/TID/cpu_resctrl_groups) or a CPU
 * of it (the files cpus_list below /sys/fs/resctrl), both below the root directory of
 * cmt_containers_set_root(), and again when the owner has another thread or CPU.  Without
 * such a root, nothing is asked about a thread in a PID namespace.
 *
 * @owner: of cmt_record_owner() or cmt_tracker_lookup()
 *
 * Otherwise as cmt_containers_lookup().  NULL also of an owner without a cgroup_id.
 */
CMT_API const struct cmt_container *
cmt_containers_lookup_owner(struct cmt_containers *containers,
			    const struct cmt_owner *owner);

/**
 * The container in the cache; NULL: not looked up yet, or no longer in the cache.  Reads
 * no file and makes no system call.  Valid as the result of cmt_containers_lookup().
 */
CMT_API const struct cmt_container *
cmt_containers_find(struct cmt_containers *containers, uint64_t cgroup_id);

/**
 * Put a cgroup into the cache, for instance from a recording.  Used are cgroup_id, path,
 * and the texts that are neither NULL nor ""; a missing name or id comes from the path.
 * The values are copied, and replace those of the cache in place.
 * Returns 0, -EINVAL (no path, sz, or a member that the library does not know) or -ENOMEM.
 */
CMT_API int cmt_containers_put(struct cmt_containers *containers,
			       const struct cmt_container *container);

/**
 * Read the state files of runtimes, and the names of cmt-names(8), below the directory
 * @root instead of "/", for instance where the host's root is mounted in a container.
 * NULL: read no state files; names come from cgroup paths.  Holds for cgroups that are not
 * in the cache yet.
 * Returns 0 or -errno of opening @root; then nothing has changed.
 */
CMT_API int cmt_containers_set_root(struct cmt_containers *containers,
				    const char *root);

/** Remove one id from the cache, unless a row of a struct cmt_usage has it. */
CMT_API void cmt_containers_forget(struct cmt_containers *containers,
				   uint64_t cgroup_id);

#ifdef __cplusplus
}
#endif

#endif
