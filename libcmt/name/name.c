// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The runtimes' names of cgroups.  A path is parsed from the root down, and the first
 * component that is a container decides: cgroups nested in a container belong to it.
 */
#include "name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/*
 * Hex digits of an id, as in the module's patterns, so that both find the same
 * containers.  docker, CRI, CRI-O, podman and nerdctl all use 64, but clients of
 * containerd and crun may use any id.  People know 12 digits of an id, and no word has
 * 12 hex digits.
 */
#define ID_MIN		12
#define ID_MAX		64
#define SHORT_ID	12	/* the digits that runtimes print */
#define SHORT_UUID	8	/* those that Nomad prints */

/* A piece of a path: bytes, not terminated. */
struct span {
	const char *s;
	size_t n;
};

/* Where a component is in its path. */
struct place {
	struct span parent, grand;	/* the components above; "": none */
	uint32_t depth;			/* 1: at the top */
	bool kubepods;			/* a component above has "kubepods" in it */
};

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool span_is(struct span span, const char *text)
{
	return strlen(text) == span.n && !memcmp(span.s, text, span.n);
}

static bool take_prefix(struct span *span, const char *prefix)
{
	size_t n = strlen(prefix);

	if (span->n < n || memcmp(span->s, prefix, n))
		return false;
	span->s += n;
	span->n -= n;
	return true;
}

static bool take_suffix(struct span *span, const char *suffix)
{
	size_t n = strlen(suffix);

	if (span->n < n || memcmp(span->s + span->n - n, suffix, n))
		return false;
	span->n -= n;
	return true;
}

bool cmt_is_id(const char *id, size_t n)
{
	if (n < ID_MIN || n > ID_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_hex(id[i]))
			return false;
	}
	return true;
}

static void put(char *to, size_t size, struct span span)
{
	cmt_printable(to, size, span.s, span.n);
}

static void set_name(struct cmt_container *c, enum cmt_runtime runtime,
		     struct span name)
{
	c->runtime = runtime;
	put(c->name, sizeof(c->name), name);
}

static struct span cut(struct span span, size_t most)
{
	return (struct span){ span.s, span.n < most ? span.n : most };
}

static void set_id(struct cmt_container *c, enum cmt_runtime runtime,
		   struct span id)
{
	put(c->id, sizeof(c->id), id);
	set_name(c, runtime, cut(id, SHORT_ID));
}

static void set_pair(struct cmt_container *c, enum cmt_runtime runtime, struct span a,
		     const char *between, struct span b)
{
	char name[CMT_CONTAINER_NAME_LEN];
	int n = snprintf(name, sizeof(name), "%.*s%s%.*s", (int)a.n, a.s, between,
			 (int)b.n, b.s);

	set_name(c, runtime, cut((struct span){ name, (size_t)n }, sizeof(name) - 1));
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undo systemd's \xNN, systemd.unit(5) "String escaping". */
static struct span unescape(struct span span, char *to, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < span.n && n < size; i++) {
		if (span.n - i >= 4 && span.s[i] == '\\' &&
		    span.s[i + 1] == 'x' && hex_digit(span.s[i + 2]) >= 0 &&
		    hex_digit(span.s[i + 3]) >= 0) {
			to[n++] = (char)(hex_digit(span.s[i + 2]) << 4 |
					 hex_digit(span.s[i + 3]));
			i += 3;
		} else {
			to[n++] = span.s[i];
		}
	}
	return (struct span){ to, n };
}

/* pod<uid>, or kubepods-burstable-pod<uid>.slice with '_' for '-' */
static bool parse_pod(struct cmt_container *c, struct span span, bool kubepods)
{
	struct span uid = span;

	if (!kubepods || !take_prefix(&uid, "pod")) {
		const char *pod;

		if (!take_suffix(&uid, ".slice"))
			return false;
		pod = memmem(uid.s, uid.n, "kubepods", 8);
		if (pod)
			pod = memmem(pod, (size_t)(uid.s + uid.n - pod),
				     "-pod", 4);
		if (!pod)
			return false;
		pod += 4;
		uid = (struct span){ pod, (size_t)(uid.s + uid.n - pod) };
	}
	if (!uid.n)
		return false;
	put(c->pod, sizeof(c->pod), uid);
	for (char *p = c->pod; *p; p++) {
		if (*p == '_')
			*p = '-';
	}
	return true;
}

static const struct {
	const char *prefix;
	enum cmt_runtime runtime;
} id_prefixes[] = {
	{ "docker-", CMT_RUNTIME_DOCKER },
	{ "cri-containerd-", CMT_RUNTIME_CONTAINERD },
	{ "nerdctl-", CMT_RUNTIME_CONTAINERD },
	{ "crio-", CMT_RUNTIME_CRIO },
	{ "libpod-", CMT_RUNTIME_PODMAN },
	{ "libpod-payload-", CMT_RUNTIME_PODMAN },	/* --cgroups=split */
};

/*
 * <prefix><id>.scope, or without .scope where cgroups are not made by systemd.
 * crio-conmon-<id> and libpod-conmon-<id> are monitors: no id, no container.
 */
static bool parse_prefixed(struct cmt_container *c, struct span span)
{
	take_suffix(&span, ".scope");
	for (size_t i = 0; i < sizeof(id_prefixes) / sizeof(id_prefixes[0]);
	     i++) {
		struct span id = span;

		if (take_prefix(&id, id_prefixes[i].prefix) &&
		    cmt_is_id(id.s, id.n)) {
			set_id(c, id_prefixes[i].runtime, id);
			return true;
		}
	}
	return false;
}

/*
 * containerd makes <slice>:cri-containerd:<id> of a systemd cgroup path when it is not
 * configured to use systemd.
 */
static bool parse_colons(struct cmt_container *c, struct span span)
{
	static const char infix[] = ":cri-containerd:";
	const char *at = memmem(span.s, span.n, infix, sizeof(infix) - 1);
	struct span id;

	if (!at)
		return false;
	id.s = at + sizeof(infix) - 1;
	id.n = (size_t)(span.s + span.n - id.s);
	if (!cmt_is_id(id.s, id.n))
		return false;
	parse_pod(c, (struct span){ span.s, (size_t)(at - span.s) }, false);
	set_id(c, CMT_RUNTIME_CONTAINERD, id);
	return true;
}

static bool parse_lxc(struct cmt_container *c, struct span span,
		      struct span parent)
{
	bool payload = take_prefix(&span, "lxc.payload.");

	if ((payload || span_is(parent, "lxc") ||
	     span_is(parent, "lxc.payload")) && span.n) {
		set_name(c, CMT_RUNTIME_LXC, span);
		return true;
	}
	return false;
}

/* qemu-<number>-<name>, of libvirt: only the name is for people */
static bool take_vm(struct span *name)
{
	struct span rest = *name;

	if (!take_prefix(&rest, "qemu-") && !take_prefix(&rest, "lxc-"))
		return false;
	while (rest.n && *rest.s >= '0' && *rest.s <= '9') {
		rest.s++;
		rest.n--;
	}
	if (rest.n < 2 || *rest.s != '-' || rest.s[-1] == '-')
		return false;
	rest.s++;
	rest.n--;
	*name = rest;
	return true;
}

/* Containers registered with systemd-machined, and libvirt without systemd */
static bool parse_machine(struct cmt_container *c, struct span span)
{
	enum cmt_runtime runtime = CMT_RUNTIME_NSPAWN;
	char plain[256];

	if (take_prefix(&span, "systemd-nspawn@")) {
		if (!take_suffix(&span, ".service"))
			return false;
		span = unescape(span, plain, sizeof(plain));
	} else if (take_prefix(&span, "machine-")) {
		if (!take_suffix(&span, ".scope"))
			return false;
		span = unescape(span, plain, sizeof(plain));
		if (take_vm(&span))
			runtime = CMT_RUNTIME_LIBVIRT;
	} else if (take_suffix(&span, ".libvirt-qemu") ||
		   take_suffix(&span, ".libvirt-lxc")) {
		take_vm(&span);
		runtime = CMT_RUNTIME_LIBVIRT;
	} else {
		return false;
	}
	if (!span.n)
		return false;
	set_name(c, runtime, span);
	return true;
}

static bool next_component(const char **path, struct span *span)
{
	*path += strspn(*path, "/");
	span->s = *path;
	span->n = strcspn(*path, "/");
	*path += span->n;
	return span->n > 0;
}

/*
 * Kata Containers, by its sources.  A sandbox's cgroup has the name that the engine
 * requests, with kata_ before it where systemd does not manage cgroups.  The processes
 * of the VM other than its vCPUs can be in /kata_overhead/<id>.  No name says which
 * engine it is.
 */
static bool parse_kata(struct cmt_container *c, struct span span,
		       struct span parent)
{
	bool prefixed = take_prefix(&span, "kata_");

	if (prefixed && take_prefix(&span, "crio-") &&
	    cmt_is_id(span.s, span.n)) {
		set_id(c, CMT_RUNTIME_CRIO, span);
		return true;
	}
	if ((!prefixed && !span_is(parent, "kata_overhead") &&
	     !span_is(parent, "kata_sandboxed_pod")) ||
	    !cmt_is_id(span.s, span.n))
		return false;
	set_id(c, span_is(parent, "docker") ? CMT_RUNTIME_DOCKER :
					      CMT_RUNTIME_KUBEPODS, span);
	return true;
}

/* Slurm's jobs, with all their steps: of a slurmd below systemd, or alone */
static bool parse_slurm(struct cmt_container *c, struct span span, const struct place *at)
{
	struct span parent = at->parent, grand = at->grand;

	if (!take_prefix(&span, "job_") ||
	    (!take_suffix(&parent, "slurmstepd.scope") &&
	     (!take_prefix(&parent, "uid_") || !take_prefix(&grand, "slurm"))))
		return false;
	set_pair(c, CMT_RUNTIME_SLURM, (struct span){ "job", 3 }, " ", span);
	return true;
}

/* <uuid of the allocation>.<task>.scope, with the name that Nomad's commands print */
static bool parse_nomad(struct cmt_container *c, struct span span, const struct place *at)
{
	struct span parent = at->parent, alloc = span;
	const char *dot, *dash;

	if (!span_is(at->grand, "nomad.slice") || !take_suffix(&parent, ".slice") ||
	    !take_suffix(&span, ".scope"))
		return false;
	dot = memchr(span.s, '.', span.n);
	dash = dot ? memrchr(span.s, '-', (size_t)(dot - span.s)) : NULL;
	if (!dash || !cmt_is_id(dash + 1, (size_t)(dot - dash) - 1))
		return false;
	alloc.n = (size_t)(dot - span.s);
	span = (struct span){ dot + 1, span.n - alloc.n - 1 };
	set_pair(c, CMT_RUNTIME_NOMAD, cut(alloc, SHORT_UUID), "/", span);
	return true;
}

/* Amazon ECS: <task>/<task>-<number>; elsewhere its containers are docker's. */
static bool parse_ecs(struct cmt_container *c, struct span span, const struct place *at)
{
	const char *dash = memchr(span.s, '-', span.n);
	struct span id = span;

	if (!dash || !span_is(at->grand, "ecs") || !cmt_is_id(at->parent.s, at->parent.n))
		return false;
	id.n = (size_t)(dash - span.s);
	if (!cmt_is_id(id.s, id.n))
		return false;
	span = (struct span){ dash + 1, span.n - id.n - 1 };
	set_pair(c, CMT_RUNTIME_ECS, cut(id, SHORT_ID), "-", span);
	return true;
}

/* Cloud Foundry's containers, which Garden moves between two cgroups. */
static bool in_garden(struct span span, const struct place *at)
{
	bool half = span_is(at->parent, "good") || span_is(at->parent, "bad");

	if (at->depth == 3)
		return half && span_is(at->grand, "garden");
	return at->depth == 2 && span_is(at->parent, "garden") && !span_is(span, "good") &&
	       !span_is(span, "bad") && !span_is(span, "init");
}

static bool in_buildkit(const struct place *at)
{
	return span_is(at->parent, "buildkit") &&
	       (at->depth == 2 || (at->depth == 3 && span_is(at->grand, "docker")));
}

/* Directories of a runtime, whose containers may have any name. */
static bool parse_below(struct cmt_container *c, struct span span, const struct place *at)
{
	bool id = cmt_is_id(span.s, span.n);

	if (in_garden(span, at))
		set_name(c, CMT_RUNTIME_GARDEN, span);
	else if (in_buildkit(at))
		set_name(c, CMT_RUNTIME_BUILDKIT, span);
	else if (at->depth == 2 && (span_is(at->parent, "default") ||
				    (id && span_is(at->parent, "k8s.io"))))
		(id ? set_id : set_name)(c, CMT_RUNTIME_CONTAINERD, span);
	else if (span_is(at->parent, "qemu.slice") && take_suffix(&span, ".scope") && span.n)
		set_name(c, CMT_RUNTIME_PROXMOX, span);
	else
		return false;
	return true;
}

/*
 * An id alone.  One of 64 digits is a container wherever it is, as below a cgroup that
 * was given to a runtime; podman's pods, which have containers in them, are not.
 */
static bool parse_id(struct cmt_container *c, struct span span, const struct place *at)
{
	if (!cmt_is_id(span.s, span.n))
		return false;
	if (span_is(at->parent, "docker"))
		set_id(c, CMT_RUNTIME_DOCKER, span);
	else if (at->kubepods && c->pod[0])
		set_id(c, CMT_RUNTIME_KUBEPODS, span);
	else if (span.n == ID_MAX && span_is(at->grand, "ecs"))
		set_id(c, CMT_RUNTIME_DOCKER, span);
	else if (span.n == ID_MAX && !span_is(at->parent, "libpod_parent"))
		set_id(c, CMT_RUNTIME_OCI, span);
	else
		return false;
	return true;
}

/* Is this component, in its place, a container? */
static bool parse_container(struct cmt_container *c, struct span span, const struct place *at)
{
	return parse_prefixed(c, span) || parse_colons(c, span) ||
	       parse_kata(c, span, at->parent) || parse_lxc(c, span, at->parent) ||
	       parse_machine(c, span) || parse_slurm(c, span, at) ||
	       parse_nomad(c, span, at) || parse_ecs(c, span, at) ||
	       parse_below(c, span, at) || parse_id(c, span, at);
}

/* The container's own path ends at @rest, where nested cgroups begin. */
static void set_own(struct cmt_container *c, const char *path, const char *rest)
{
	c->own_len = (uint32_t)(rest - path);
}

static bool find_container(struct cmt_container *c, const char *whole)
{
	struct place at = { .parent = { "", 0 }, .grand = { "", 0 }, .depth = 1 };
	const char *path = whole;
	struct span span;

	for (; next_component(&path, &span); at.depth++) {
		if (parse_container(c, span, &at)) {
			set_own(c, whole, path);
			return true;
		}
		if (memmem(span.s, span.n, "kubepods", 8))
			at.kubepods = true;
		if (!c->pod[0])
			parse_pod(c, span, at.kubepods);
		at.grand = at.parent;
		at.parent = span;
	}
	return false;
}

/*
 * The first service below slices only.  A user's manager is not a service to users: its
 * processes are the user's session.
 */
static bool find_service(struct cmt_container *c, const char *whole)
{
	const char *path = whole;
	struct span span;

	while (next_component(&path, &span)) {
		struct span name = span;

		if (take_suffix(&name, ".slice"))
			continue;
		if (!take_suffix(&name, ".service") || !name.n ||
		    (take_prefix(&span, "user@")))
			return false;
		set_name(c, CMT_RUNTIME_SYSTEMD, name);
		set_own(c, whole, path);
		return true;
	}
	return false;
}

/*
 * The last component's name.  A user may call a cgroup "(overflow)" or "docker:web": that
 * keeps its slash, which no row of cmt's own and no runtime's name begins with.
 */
static void name_cgroup(struct cmt_container *c, struct span last)
{
	bool mistakable = *last.s == '(' || memchr(last.s, ':', last.n);

	c->runtime = CMT_RUNTIME_NONE;
	c->name[0] = '/';
	put(c->name + mistakable, sizeof(c->name) - mistakable, last);
}

/* The fallback: a pod without a container, or the name of the last component */
static void name_plain(struct cmt_container *c, const char *path)
{
	struct span span, last = { "/", 1 };

	set_own(c, path, path + strlen(path));
	if (c->pod[0]) {
		c->runtime = CMT_RUNTIME_KUBEPODS;
		snprintf(c->name, sizeof(c->name), "pod-%.8s", c->pod);
		return;
	}
	while (next_component(&path, &span))
		last = span;
	name_cgroup(c, last);
}

/* Only root makes cgroups at the top, so that no user can claim to be overhead. */
static void find_overhead(struct cmt_container *c, const char *path)
{
	static const char prefix[] = "/kata_overhead/";

	if (!c->id[0] || strncmp(path, prefix, sizeof(prefix) - 1))
		return;
	c->flags |= CMT_CONTAINER_OVERHEAD;
	cmt_name_overhead(c);
}

void cmt_name_overhead(struct cmt_container *c)
{
	static const char suffix[] = " (overhead)";
	size_t n = strlen(c->name), most = sizeof(c->name) - sizeof(suffix);

	if (c->flags & CMT_CONTAINER_OVERHEAD)
		memcpy(c->name + (n < most ? n : most), suffix, sizeof(suffix));
}

/* A user's slice is the user's to fill. */
static void find_user(struct cmt_container *c, const char *path)
{
	static const char prefix[] = "/user.slice/user-";
	unsigned long uid;
	char *end;

	c->flags = 0;
	c->uid = 0;
	if (strncmp(path, prefix, sizeof(prefix) - 1))
		return;
	path += sizeof(prefix) - 1;
	if (*path < '0' || *path > '9')
		return;
	uid = strtoul(path, &end, 10);
	if (strncmp(end, ".slice", 6) || (end[6] && end[6] != '/') ||
	    uid >= UINT32_MAX)
		return;
	c->flags = CMT_CONTAINER_OF_USER;
	c->uid = (uint32_t)uid;
}

static void name_by_path(struct cmt_container *container, const char *path)
{
	container->id[0] = '\0';
	container->pod[0] = '\0';
	find_user(container, path);
	if (!find_container(container, path) &&
	    (container->pod[0] || !find_service(container, path)))
		name_plain(container, path);
	find_overhead(container, path);
}

/* A program that knows fewer members has no room for the others. */
void cmt_container_name(const char *path, struct cmt_container *container)
{
	struct cmt_container known = { 0 };
	size_t sz = container->sz < sizeof(known) ? container->sz : sizeof(known);

	memcpy(&known, container, sz);
	name_by_path(&known, path);
	memcpy(container, &known, sz);
}

/* The end of the structure's first version */
#define FIRST_SZ	(offsetof(struct cmt_container, uid) + sizeof(uint32_t))

int cmt_container_copy(struct cmt_container *to, const struct cmt_container *from)
{
	return from->sz < FIRST_SZ ? -EINVAL : cmt_opts_copy(to, sizeof(*to), from);
}

void cmt_name_group(const char *path, struct cmt_container *container)
{
	struct span name = { path + (*path == '/'), strlen(path) - (*path == '/') };

	container->id[0] = '\0';
	container->pod[0] = '\0';
	set_own(container, path, path + strlen(path));
	set_name(container, CMT_RUNTIME_NONE, name);
}
