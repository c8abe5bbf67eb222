// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#include "pattern.h"

#define ID		"<id>"
#define ID64		"<id64>"
#define ID_MIN		12	/* digits; the reason is in libcmt/name/name.c */
#define ID_MAX		64

/*
 * The names of containers, as in libcmt/name/name.c.  With systemd, runtimes make scopes.
 * Without systemd, they make cgroups of the same name, or cgroups in a directory of the
 * runtime.  Services of systemd are the lower class.  The service manager of a user is
 * no owner.
 *
 * With cgroupfs podman has a cgroup for a pod, with the containers in it.  containerd's
 * namespaces, Cloud Foundry's and BuildKit's cgroups have names that others may use:
 * they count only at their place below the root.  docs/names.md has a path for each.
 */
const char cmt_pattern_defaults[] =
	"docker-<id>.scope docker-<id> docker/<id>\n"
	"cri-containerd-<id>.scope cri-containerd-<id> *:cri-containerd:<id>\n"
	"nerdctl-<id>.scope nerdctl-<id>\n"
	"crio-<id>.scope crio-<id>\n"
	"libpod-<id>.scope libpod-<id> libpod-payload-<id>\n"
	"*kubepods*/pod*/<id> *kubepods*/*/pod*/<id> *kubepods*-pod*.slice/<id>\n"
	"kata_<id> kata_crio-<id> kata_overhead/<id> kata_sandboxed_pod/<id>\n"
	"lxc.payload.* lxc.payload/* lxc/*\n"
	"machine-*.scope systemd-nspawn@*.service\n"
	"*.libvirt-qemu *.libvirt-lxc qemu.slice/*.scope\n"
	"*slurmstepd.scope/job_* slurm*/uid_*/job_*\n"
	"nomad.slice/*.slice/*-<id>.*.scope ecs/<id>/<id>-*\n"
	"/default/* /k8s.io/<id> /buildkit/* /docker/buildkit/*\n"
	"!/garden/good !/garden/bad !/garden/init /garden/* /garden/good/* /garden/bad/*\n"
	"!libpod_parent/<id64> <id64>\n"
	"!user@*.service ~*.service";

/* A piece of a pattern, or of a path: bytes, not terminated. */
struct span {
	const char *s;
	u32 n;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool begins(const struct span *p, const char *text)
{
	u32 n = strlen(text);

	return p->n >= n && !memcmp(p->s, text, n);
}

/* The length of the id that a pattern begins with; 0: none. */
static u32 id_len(const struct span *p)
{
	if (begins(p, ID))
		return sizeof(ID) - 1;
	return begins(p, ID64) ? sizeof(ID64) - 1 : 0;
}

static void skip(struct span *span, u32 n)
{
	span->s += n;
	span->n -= n;
}

/* A mark in front of a pattern gives the class of the matching cgroups. */
static bool has_mark(const struct span *word)
{
	return *word->s == '!' || *word->s == '~';
}

/* The length of the first element of a pattern; 0: the byte is not allowed. */
static u32 element_len(const struct span *p)
{
	u8 c = *p->s;

	if (c == '<')
		return id_len(p);
	return c >= ' ' && c != 0x7f && c != '>';
}

/* A pattern of complete paths. */
static bool has_root(const struct span *word)
{
	return word->n && *word->s == '/';
}

/* The offset of the first error in a word; the word's length: no error. */
static u32 word_check(struct span word)
{
	u32 bytes = word.n;
	bool empty = true;	/* the current component is empty so far */
	u32 n;

	skip(&word, has_mark(&word));
	skip(&word, has_root(&word));
	for (; word.n; skip(&word, n)) {
		n = element_len(&word);
		if (!n || (*word.s == '/' && empty))
			return bytes - word.n;
		empty = *word.s == '/';
	}
	return empty ? bytes - 1 : bytes;
}

static u32 word_len(const char *text, u32 bytes)
{
	u32 n = 0;

	while (n < bytes && !is_space(text[n]))
		n++;
	return n;
}

static void set_add(struct cmt_pattern_set *set, const struct span *word)
{
	if (set->bytes)
		set->text[set->bytes++] = '\n';
	memcpy(set->text + set->bytes, word->s, word->n);
	set->bytes += word->n;
}

int cmt_pattern_parse(struct cmt_pattern_set *set, const char *text, u32 bytes,
		      u32 *bad_at)
{
	u32 at, good;

	set->bytes = 0;
	if (bytes > CMT_PATTERNS_MAX)
		return -E2BIG;
	for (at = 0; at < bytes;) {
		struct span word = { text + at, word_len(text + at, bytes - at) };

		if (!word.n) {
			at++;
			continue;
		}
		good = word_check(word);
		if (good < word.n) {
			*bad_at = at + good;
			return -EINVAL;
		}
		set_add(set, &word);
		at += word.n;
	}
	*bad_at = 0;
	return set->bytes ? 0 : -EINVAL;
}

/*
 * Remove the first element of @p, which is not '*', and the matching bytes of @name.
 * An id matches all hexadecimal digits at this place.  So every element but '*' has one
 * possible match, and component_matches() needs to return to the last '*' only.
 */
static bool take_element(struct span *p, struct span *name)
{
	u32 id = id_len(p), n = 0;

	if (id) {
		while (n < name->n && is_hex(name->s[n]))
			n++;
		if (n < (begins(p, ID64) ? ID_MAX : ID_MIN) || n > ID_MAX)
			return false;
		skip(p, id);
		skip(name, n);
		return true;
	}
	if (!name->n || *name->s != *p->s)
		return false;
	skip(p, 1);
	skip(name, 1);
	return true;
}

static bool component_matches(struct span p, struct span name)
{
	struct span star = {}, from = {};	/* positions after the last '*' */

	while (p.n || name.n) {
		if (p.n && *p.s == '*') {
			skip(&p, 1);
			star = p;
			from = name;
			continue;
		}
		if (p.n && take_element(&p, &name))
			continue;
		if (!star.s || !from.n)
			return false;
		/* the '*' matches one byte more than at the last attempt */
		skip(&from, 1);
		p = star;
		name = from;
	}
	return true;
}

/* Remove the last component of a pattern, and return it. */
static struct span last_component(struct span *p)
{
	struct span last = { p->s + p->n, 0 };

	while (p->n && last.s[-1] != '/') {
		last.s--;
		last.n++;
		p->n--;
	}
	if (p->n)
		p->n--;
	return last;
}

static bool word_matches(struct span word, const char *const *names, u32 depth)
{
	bool rooted = has_root(&word);

	skip(&word, rooted);
	for (; word.n; depth--) {
		struct span p = last_component(&word), name;

		if (!depth)
			return false;
		name.s = names[depth - 1];
		name.n = strlen(name.s);
		if (!component_matches(p, name))
			return false;
	}
	return !rooted || !depth;
}

static enum cmt_class word_class(const struct span *word)
{
	if (*word->s == '!')
		return CMT_CLASS_NONE;
	return *word->s == '~' ? CMT_CLASS_SERVICE : CMT_CLASS_CONTAINER;
}

/*
 * The class of the last of @depth components, without regard to the components above.
 */
static enum cmt_class last_class(const struct cmt_pattern_set *set,
				 const char *const *names, u32 depth)
{
	u32 at = 0;

	while (at < set->bytes) {
		struct span word = {
			set->text + at, word_len(set->text + at, set->bytes - at)
		};
		enum cmt_class class = word_class(&word);

		at += word.n + 1;
		skip(&word, has_mark(&word));
		if (word_matches(word, names, depth))
			return class;
	}
	return CMT_CLASS_NONE;
}

/* The own name first: most cgroups are neither, and cost one comparison. */
enum cmt_class cmt_pattern_class(const struct cmt_pattern_set *set,
				 const char *const *names, u32 depth)
{
	enum cmt_class own, class, above = CMT_CLASS_NONE;
	u32 n;

	own = depth ? last_class(set, names, depth) : CMT_CLASS_NONE;
	if (own == CMT_CLASS_NONE)
		return own;
	for (n = 1; n < depth; n++) {
		class = last_class(set, names, n);
		if (class == CMT_CLASS_CONTAINER)
			return CMT_CLASS_NONE;
		if (class == CMT_CLASS_SERVICE)
			above = class;
	}
	return own == above ? CMT_CLASS_NONE : own;
}
