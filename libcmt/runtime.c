// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The state directories of container runtimes.
 *
 * The directories are the runtimes' built-in ones.  Where an administrator moved them,
 * the container keeps the name that its cgroup gives it.  A user can make cgroups of
 * any name below the user's own slice.  Names of these are searched only in the user's
 * home, so a user cannot take the name of another user's container.
 */
#include "runtime.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

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
	{ CMT_RUNTIME_CONTAINERD, CMT_STATE_OCI, "/run/containerd",
	  TASKS "k8s.io/", "config.json" },
	{ CMT_RUNTIME_CONTAINERD, CMT_STATE_OCI, "/run/k3s/containerd",
	  TASKS "k8s.io/", "config.json" },
	{ CMT_RUNTIME_CONTAINERD, CMT_STATE_OCI, "/run/containerd",
	  TASKS "default/", "config.json" },
	{ CMT_RUNTIME_CRIO, CMT_STATE_OCI, "/run/containers/storage",
	  "overlay-containers/", "userdata/config.json" },
	{ CMT_RUNTIME_CRIO, CMT_STATE_OCI, "/var/lib/containers/storage",
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
			break;
		if (home_in_line(line, (size_t)(end - line), uid, home, size))
			err = 0;
	}
	free(bytes);
	return err;
}

/* A pod's container may be of any runtime that Kubernetes can use. */
static bool fits(const struct place *place, enum cmt_runtime runtime, uid_t uid)
{
	if (!place->dir != (uid != 0))
		return false;
	return place->runtime == runtime ||
	       (runtime == CMT_RUNTIME_KUBEPODS &&
		place->kind != CMT_STATE_STORAGE);
}

static int ask_place(int root_fd, const struct place *place, const char *home,
		     uid_t uid, const char *id, struct cmt_state *state)
{
	bool list = place->kind == CMT_STATE_STORAGE;
	char path[PATH_MAX], *bytes;
	size_t size;
	int err;

	/* a home may be on a server, which may be gone */
	if (!place->dir && !cmt_dir_is_local(root_fd, home))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s%s%s%s", place->before, list ? "" : id,
		 list ? "" : "/", place->after);
	err = cmt_file_read(root_fd, place->dir ? place->dir : home, path,
			    place->dir ? CMT_ANY_OWNER : uid, &bytes, &size);
	if (err)
		return err;
	err = cmt_state_parse(state, place->kind, bytes, size, id);
	free(bytes);
	return err;
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

static int ask_places(int root_fd, struct cmt_container *container,
		      const char *home, uid_t uid, struct cmt_state *state)
{
	int err, result = -ENOENT;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!fits(&places[i], container->runtime, uid))
			continue;
		err = ask_place(root_fd, &places[i], home, uid, container->id,
				state);
		if (cmt_error_passes(err))
			result = err;
		if (err)
			continue;
		container->runtime = places[i].runtime;
		return 0;
	}
	return result;
}

/* But for errors that pass, a container without a name is no error. */
int cmt_runtime_ask(int root_fd, struct cmt_container *container,
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
	}
	return ask_places(root_fd, container, home, uid, state);
}
