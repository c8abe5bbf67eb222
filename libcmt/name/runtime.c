// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The state directories of container runtimes.
 *
 * The directories are the runtimes' built-in ones.  Where an administrator moved them,
 * the container keeps the name that its cgroup gives it.  A user can make cgroups of
 * any name below the user's own slice.  Names of these are searched only in the user's
 * home, so a user cannot take the name of another user's container.  Other cgroups are
 * searched in root's directories: the caller asks only for those that root made.
 */
#include "runtime.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/file.h"
#include "name.h"

/* The file is below @dir, at @before[id/]@after. */
struct place {
	enum cmt_runtime runtime;
	enum cmt_state_kind kind;
	const char *dir;	/* NULL: the user's home */
	const char *before;
	const char *after;
};

#define STORAGE(dir, before) \
	{ CMT_RUNTIME_PODMAN, CMT_STATE_STORAGE, dir, before, \
	  "containers.json" }, \
	{ CMT_RUNTIME_PODMAN, CMT_STATE_STORAGE, dir, before, \
	  "volatile-containers.json" }
#define TASKS "io.containerd.runtime.v2.task/"
#define HOME_STORAGE ".local/share/containers/storage/"

static const struct place places[] = {
	{ CMT_RUNTIME_CONTAINERD, CMT_STATE_CONTAINERD, "/run/containerd",
	  TASKS "k8s.io/", "config.json" },
	{ CMT_RUNTIME_CONTAINERD, CMT_STATE_CONTAINERD, "/run/k3s/containerd",
	  TASKS "k8s.io/", "config.json" },
	{ CMT_RUNTIME_CONTAINERD, CMT_STATE_CONTAINERD, "/run/containerd",
	  TASKS "default/", "config.json" },
	{ CMT_RUNTIME_CRIO, CMT_STATE_CRIO, "/run/containers/storage",
	  "overlay-containers/", "userdata/config.json" },
	{ CMT_RUNTIME_CRIO, CMT_STATE_CRIO, "/var/lib/containers/storage",
	  "overlay-containers/", "userdata/config.json" },
	{ CMT_RUNTIME_DOCKER, CMT_STATE_DOCKER, "/var/lib/docker",
	  "containers/", "config.v2.json" },
	{ CMT_RUNTIME_DOCKER, CMT_STATE_DOCKER, NULL,
	  ".local/share/docker/containers/", "config.v2.json" },
	STORAGE("/var/lib/containers/storage", "overlay-containers/"),
	STORAGE("/var/lib/containers/storage", "vfs-containers/"),
	STORAGE("/var/lib/containers/storage", "btrfs-containers/"),
	STORAGE(NULL, HOME_STORAGE "overlay-containers/"),
	STORAGE(NULL, HOME_STORAGE "vfs-containers/"),
	STORAGE(NULL, HOME_STORAGE "btrfs-containers/"),
};
_Static_assert(sizeof(places) / sizeof(places[0]) == CMT_PLACES, "a list for each place");

/* name:password:uid:gid:gecos:home:shell */
static bool home_in_line(const char *line, size_t n, uid_t uid, char *home,
			 size_t size)
{
	const char *end = line + n, *field[7] = { line };
	size_t nr = 1, len;

	for (const char *p = line; p < end && nr < 7; p++) {
		if (*p == ':')
			field[nr++] = p + 1;
	}
	if (nr < 7 || field[2][0] < '0' || field[2][0] > '9' ||
	    strtoul(field[2], NULL, 10) != uid)
		return false;
	len = (size_t)(field[6] - field[5]) - 1;
	if (!len || len >= size)
		return false;
	memcpy(home, field[5], len);
	home[len] = '\0';
	return true;
}

/*
 * Not getpwuid(), which may ask a daemon, and does not know the users of another root.
 */
static int home_of(int root_fd, uid_t uid, char *home, size_t size)
{
	char *bytes, *line, *end;
	int err;
	size_t n;

	err = cmt_file_read(root_fd, "/etc", "passwd", CMT_ANY_OWNER, &bytes,
			    &n);
	if (err)
		return err;
	err = -ENOENT;
	for (line = bytes; err && line < bytes + n; line = end + 1) {
		end = memchr(line, '\n', (size_t)(bytes + n - line));
		if (!end)
			end = bytes + n;
		if (home_in_line(line, (size_t)(end - line), uid, home, size))
			err = 0;
	}
	free(bytes);
	return err;
}

/*
 * A pod's container may be of any runtime that Kubernetes can use, and one that has no
 * more than an id of any at all.
 */
static bool fits(const struct place *place, enum cmt_runtime runtime, uid_t uid)
{
	if (!place->dir != (uid != 0))
		return false;
	return place->runtime == runtime || runtime == CMT_RUNTIME_OCI ||
	       (runtime == CMT_RUNTIME_KUBEPODS &&
		place->kind != CMT_STATE_STORAGE);
}

bool cmt_error_passes(int err)
{
	switch (-err) {
	case EAGAIN:
	case EBUSY:
	case EINTR:
	case EIO:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ESTALE:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

void cmt_lists_destroy(struct cmt_lists *lists)
{
	for (size_t i = 0; i < CMT_PLACES; i++)
		free(lists->all[i].text);
	memset(lists, 0, sizeof(*lists));
}

static size_t values_max(const struct stat *st)
{
	return st->st_uid ? CMT_VALUES_MAX_USER : CMT_VALUES_MAX;
}

/* A file that is no list has no containers.  After an error the file is tried again. */
static int read_list(struct cmt_list *list, int fd, const struct stat *st)
{
	char *bytes, *text = NULL;
	size_t size, len = 0;
	int err = cmt_file_bytes(fd, st, &bytes, &size);

	if (!err) {
		err = cmt_list_parse(bytes, size, values_max(st), &text, &len);
		free(bytes);
	}
	if (cmt_error_passes(err))
		return err;
	free(list->text);
	*list = (struct cmt_list){ .text = text, .len = len, .st = *st };
	return 0;
}

static int ask_list(struct cmt_list *list, int fd, const struct stat *st, const char *id,
		    struct cmt_state *state)
{
	int err = cmt_same_file(st, &list->st) ? 0 : read_list(list, fd, st);

	return err ? err : cmt_list_find(list->text, list->len, id, state);
}

static int ask_file(enum cmt_state_kind kind, int fd, const struct stat *st, const char *id,
		    struct cmt_state *state)
{
	size_t size;
	char *bytes;
	int err = cmt_file_bytes(fd, st, &bytes, &size);

	if (err)
		return err;
	err = cmt_state_parse(state, kind, bytes, size, values_max(st), id);
	free(bytes);
	return err;
}

static int ask_place(int root_fd, struct cmt_list *list, const struct place *place,
		     const char *home, uid_t uid, const char *id, struct cmt_state *state)
{
	bool in_list = place->kind == CMT_STATE_STORAGE;
	char path[PATH_MAX];
	struct stat st;
	int fd, err;

	snprintf(path, sizeof(path), "%s%s%s%s", place->before, in_list ? "" : id,
		 in_list ? "" : "/", place->after);
	fd = cmt_file_open(root_fd, place->dir ? place->dir : home, path);
	if (fd < 0)
		return fd;
	err = cmt_file_check(fd, place->dir ? CMT_ANY_OWNER : uid, &st);
	if (!err)
		err = in_list ? ask_list(list, fd, &st, id, state) :
				ask_file(place->kind, fd, &st, id, state);
	close(fd);
	return err;
}

/* kubelet's containers are root's: a user's file may claim the pod of another one. */
static void forget_pod(struct cmt_state *state)
{
	state->pod[0] = '\0';
	state->pod_name[0] = '\0';
	state->pod_namespace[0] = '\0';
	state->pod_container[0] = '\0';
}

static int ask_places(int root_fd, struct cmt_lists *lists, struct cmt_container *container,
		      const char *home, uid_t uid, struct cmt_state *state)
{
	int err, result = -ENOENT;

	for (size_t i = 0; i < CMT_PLACES; i++) {
		if (!fits(&places[i], container->runtime, uid))
			continue;
		err = ask_place(root_fd, &lists->all[i], &places[i], home, uid, container->id,
				state);
		if (cmt_error_passes(err))
			result = err;
		if (err)
			continue;
		container->runtime = places[i].runtime;
		if (uid)
			forget_pod(state);
		return 0;
	}
	return result;
}

/* But for errors that pass, a container without a name is no error. */
int cmt_runtime_ask(int root_fd, struct cmt_lists *lists, struct cmt_container *container,
		    struct cmt_state *state)
{
	/* root needs no home */
	uid_t uid = container->uid;
	char home[PATH_MAX] = "";
	int err;

	if (!cmt_is_id(container->id, strlen(container->id)))
		return -ENOENT;
	if (uid) {
		err = home_of(root_fd, uid, home, sizeof(home));
		if (err)
			return cmt_error_passes(err) ? err : -ENOENT;
		/* a home may be on a server, which may be gone */
		if (!cmt_dir_is_local(root_fd, home))
			return -ENOENT;
	}
	return ask_places(root_fd, lists, container, home, uid, state);
}

const char *cmt_runtime_name(enum cmt_runtime runtime)
{
	static const char *const names[] = {
		[CMT_RUNTIME_NONE] = "",
		[CMT_RUNTIME_DOCKER] = "docker",
		[CMT_RUNTIME_CONTAINERD] = "containerd",
		[CMT_RUNTIME_CRIO] = "crio",
		[CMT_RUNTIME_PODMAN] = "podman",
		[CMT_RUNTIME_LXC] = "lxc",
		[CMT_RUNTIME_NSPAWN] = "nspawn",
		[CMT_RUNTIME_LIBVIRT] = "libvirt",
		[CMT_RUNTIME_KUBEPODS] = "kubepods",
		[CMT_RUNTIME_SYSTEMD] = "systemd",
		[CMT_RUNTIME_SLURM] = "slurm",
		[CMT_RUNTIME_NOMAD] = "nomad",
		[CMT_RUNTIME_PROXMOX] = "proxmox",
		[CMT_RUNTIME_ECS] = "ecs",
		[CMT_RUNTIME_GARDEN] = "garden",
		[CMT_RUNTIME_BUILDKIT] = "buildkit",
		[CMT_RUNTIME_OCI] = "oci",
	};

	if ((size_t)runtime >= sizeof(names) / sizeof(names[0]))
		return "";
	return names[runtime];
}
