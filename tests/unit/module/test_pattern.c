// SPDX-License-Identifier: GPL-2.0-or-later
/* What is a container: module/scope/pattern.c, beside libcmt/name/name.c. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmt/containers.h>

#include "scope/pattern.h"
#include "unit.h"

#define ID12	"0123456789ab"
#define ID64	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID32	"0123456789abcdef0123456789abcdef"
#define ID25	"x1yz2kq0l3m4n5o6p7r8s9t0u"
#define UUID	"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
#define MAX_DEPTH 64

static struct cmt_pattern_set set;

static int parse(const char *text, u32 *bad_at)
{
	return cmt_pattern_parse(&set, text, (u32)strlen(text), bad_at);
}

static void parse_good(const char *text)
{
	u32 bad_at = 77;

	ck_assert_msg(!parse(text, &bad_at), "'%s': byte %u", text, bad_at);
}

static enum cmt_class found_class;

/* The component that is the owner of a process with this path, "" for none. */
static const char *owner(const char *path)
{
	static char copy[4096];
	const char *names[MAX_DEPTH];
	u32 n, depth = 0;
	char *save, *p;

	ck_assert_uint_lt(strlen(path), sizeof(copy));
	strcpy(copy, path);
	for (p = strtok_r(copy, "/", &save); p && depth < MAX_DEPTH;
	     p = strtok_r(NULL, "/", &save))
		names[depth++] = p;
	found_class = CMT_CLASS_NONE;
	for (n = depth; n && found_class == CMT_CLASS_NONE; n--)
		found_class = cmt_pattern_class(&set, names, n);
	return found_class == CMT_CLASS_NONE ? "" : names[n];
}

START_TEST(test_parse_errors)
{
	static const struct {
		const char *text;
		u32 bad_at;
	} t[] = {
		{ "", 0 }, { " \n\t ", 0 }, { "!", 0 }, { "a !", 2 },
		{ "//a", 1 }, { "a/", 1 }, { "a//b", 2 }, { "!//a", 2 },
		{ "/a/", 2 }, { "!/", 1 }, { "a /", 2 }, { "/!/", 2 },
		{ "<id6", 0 }, { "<id64", 0 }, { "<id32>", 0 }, { "a/<id64>>", 8 },
		{ "a <id", 2 }, { "a<ID>", 1 }, { "a>", 1 }, { "<>", 0 },
		{ "a b\001c", 3 }, { "a\177", 1 }, { "ok fine a<id>/<i>", 14 },
		{ "/", 0 }, { "!!/", 2 }, { "~", 0 }, { "a ~", 2 }, { "~//a", 2 },
		{ "~a//b", 3 },
	};
	u32 bad_at;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ck_assert_msg(parse(t[i].text, &bad_at) == -EINVAL, "case %zu",
			      i);
		ck_assert_msg(bad_at == t[i].bad_at, "case %zu: byte %u", i,
			      bad_at);
	}
	/* a NUL in the middle is a byte like others, and no good one */
	ck_assert_int_eq(cmt_pattern_parse(&set, "a\0b", 3, &bad_at), -EINVAL);
	ck_assert_uint_eq(bad_at, 1);
}
END_TEST

START_TEST(test_parse_length)
{
	static char text[CMT_PATTERNS_MAX + 1];
	u32 bad_at;

	memset(text, 'a', sizeof(text));
	ck_assert_int_eq(cmt_pattern_parse(&set, text, CMT_PATTERNS_MAX,
					   &bad_at), 0);
	ck_assert_uint_eq(set.bytes, CMT_PATTERNS_MAX);
	ck_assert_int_eq(cmt_pattern_parse(&set, text, CMT_PATTERNS_MAX + 1,
					   &bad_at), -E2BIG);
	for (size_t i = 1; i < sizeof(text); i += 2)
		text[i] = ' ';
	ck_assert_int_eq(cmt_pattern_parse(&set, text, CMT_PATTERNS_MAX,
					   &bad_at), 0);
	ck_assert_uint_eq(set.bytes, CMT_PATTERNS_MAX - 1);
}
END_TEST

START_TEST(test_text_is_kept)
{
	static const char want[] = "a\n!b/c\n*<id>\n~d";
	u32 bad_at;

	parse_good("  a\t!b/c \n\n*<id>  ~d");
	ck_assert_uint_eq(set.bytes, sizeof(want) - 1);
	ck_assert_mem_eq(set.text, want, set.bytes);
	/* and says the same when it is read again */
	ck_assert_int_eq(cmt_pattern_parse(&set, want, sizeof(want) - 1,
					   &bad_at), 0);
	ck_assert_mem_eq(set.text, want, set.bytes);
}
END_TEST

START_TEST(test_match_table)
{
	static const struct {
		const char *patterns, *path, *container;
	} t[] = {
		{ "a", "/a", "a" }, { "a", "/b", "" }, { "a", "/", "" },
		{ "a", "/aa", "" }, { "aa", "/a", "" },
		{ "a", "/x/a/b", "a" }, { "b", "/x/a/b", "b" },
		{ "*", "/x/y", "x" }, { "y*", "/x/y", "y" },
		{ "*y*", "/x/ayb", "ayb" }, { "a*b*c", "/aXbYbZc", "aXbYbZc" },
		{ "a*b*c", "/aXbYbZ", "" }, { "***", "/q", "q" },
		{ "a*", "/a", "a" }, { "*a*a", "/aa", "aa" },
		{ "*a*a", "/a", "" }, { "*ab", "/aab", "aab" },
		{ "x/*", "/x", "" }, { "x/*", "/x/y/z", "y" },
		{ "x/*/z", "/x/y/z", "z" }, { "x/*/z", "/y/z", "" },
		{ "a/b", "/a/x/b", "" }, { "a/b", "/b", "" },
		{ "<id>", "/" ID12, ID12 }, { "<id>", "/0123456789a", "" },
		{ "<id>", "/" ID64, ID64 }, { "<id>", "/" ID64 "0", "" },
		{ "<id>", "/0123456789AB", "" }, { "<id>", "/g" ID12, "" },
		{ "c<id>.s", "/c" ID12 ".s", "c" ID12 ".s" },
		{ "c<id>.s", "/c" ID12, "" }, { "c<id>d", "/c" ID12 "d", "" },
		{ "*-<id>*", "/a-b-" ID12 "-x", "a-b-" ID12 "-x" },
		{ "*-<id>", "/a-b-" ID12 "-x", "" },
		{ "<id>:<id>", "/" ID12 ":" ID64, ID12 ":" ID64 },
		{ "<id64>", "/" ID64, ID64 }, { "<id64>", "/" ID12, "" },
		{ "<id64>", "/x/" ID64, ID64 }, { "<id64>", "/" ID64 "0", "" },
		{ "*<id64>", "/" ID64 "0", ID64 "0" }, { "<id64>", "/g" ID64, "" },
		{ "<id64>", "/0" ID12, "" }, { "c-<id64>", "/c-" ID64, "c-" ID64 },
		{ "/a", "/a", "a" }, { "/a", "/x/a", "" }, { "/a", "/a/b", "a" },
		{ "/x/*", "/x", "" }, { "/x/*", "/x/y/z", "y" }, { "/x/*", "/w/x/y", "" },
		{ "!/x/a */a", "/x/a", "" }, { "!/x/a */a", "/w/x/a", "a" },
		{ "/x/<id64>", "/x/" ID64, ID64 },
		{ "!a *", "/a/b", "b" }, { "* !a", "/a/b", "a" },
		{ "!a a", "/a", "" }, { "!x/a a", "/x/a", "" },
		{ "!x/a a", "/y/a", "a" }, { "!*.slice *", "/u.slice/s", "s" },
		{ "a\\x2db", "/a\\x2db", "a\\x2db" },
		{ "\303\244", "/\303\244", "\303\244" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		parse_good(t[i].patterns);
		ck_assert_msg(!strcmp(owner(t[i].path), t[i].container),
			      "'%s' finds '%s' in %s", t[i].patterns,
			      owner(t[i].path), t[i].path);
	}
}
END_TEST

START_TEST(test_classes)
{
	static const struct {
		const char *patterns, *path, *owner;
		enum cmt_class class;
	} t[] = {
		{ "~s", "/s", "s", CMT_CLASS_SERVICE },
		{ "~s", "/s/x", "s", CMT_CLASS_SERVICE },
		{ "~s", "/~s", "", CMT_CLASS_NONE },
		/* the first service owns services below it */
		{ "~s ~t", "/s/t", "s", CMT_CLASS_SERVICE },
		/* a container below a service is an owner, and the service is one, too */
		{ "c ~s", "/s/c/x", "c", CMT_CLASS_CONTAINER },
		{ "c ~s", "/s/x", "s", CMT_CLASS_SERVICE },
		/* a service below a container belongs to the container */
		{ "c ~s", "/c/s", "c", CMT_CLASS_CONTAINER },
		{ "c d ~s", "/s/c/s/d", "c", CMT_CLASS_CONTAINER },
		/* the first pattern that matches decides */
		{ "a* ~ab", "/ab", "ab", CMT_CLASS_CONTAINER },
		{ "~ab a*", "/ab", "ab", CMT_CLASS_SERVICE },
		{ "!ab ~a*", "/ab", "", CMT_CLASS_NONE },
		{ "!ab ~a*", "/ab/ac", "ac", CMT_CLASS_SERVICE },
		/* one mark in front of a pattern, and no more */
		{ "~!a", "/!a", "!a", CMT_CLASS_SERVICE },
		{ "~~a", "/~a", "~a", CMT_CLASS_SERVICE },
		{ "!~a *", "/~a", "", CMT_CLASS_NONE },
		{ "~x/<id>", "/x/" ID12, ID12, CMT_CLASS_SERVICE },
		{ "~/s/*", "/s/t", "t", CMT_CLASS_SERVICE },
		{ "~/s/*", "/r/s/t", "", CMT_CLASS_NONE },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		parse_good(t[i].patterns);
		ck_assert_msg(!strcmp(owner(t[i].path), t[i].owner) &&
			      found_class == t[i].class, "'%s': %s is owned by '%s', class %d",
			      t[i].patterns, t[i].path, owner(t[i].path), found_class);
	}
}
END_TEST

/* Paths as runtimes make them, and some that only look so. */
static const char *const paths[] = {
	"/", "/init.scope", "/system.slice/ssh.service", "/user.slice",
	"/user.slice/user-0.slice/session-1.scope", "/podman/" ID64,
	"/system.slice/docker-" ID64 ".scope", "/docker/" ID64,
	"/docker/" ID12, "/docker/0123456789a", "/docker/" ID12 "g",
	"/docker-" ID12, "/system.slice/docker-0123456789a.scope",
	"/kubepods/pod1-2/" ID12, "/kubepods.slice/kubepods-pod1_2.slice/" ID12,
	"/docker/buildkit/x", "/docker/" ID64 "/nested/docker-" ID64 ".scope",
	"/system.slice/docker.service", "/system.slice/docker-abc.scope",
	"/system.slice/docker-" ID64 "0.scope",
	"/system.slice/nerdctl-" ID64 ".scope", "/nerdctl-" ID64,
	"/machine.slice/libpod-" ID64 ".scope/container",
	"/machine.slice/libpod-conmon-" ID64 ".scope",
	"/libpod_parent/libpod-" ID64, "/libpod_parent/conmon",
	"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-"
		ID64 ".scope",
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice",
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
		"cri-containerd-" ID64 ".scope",
	"/kubepods.slice/kubepods-pod1_2.slice/crio-" ID64 ".scope",
	"/kubepods.slice/kubepods-pod1_2.slice/crio-conmon-" ID64 ".scope",
	"/kubepods.slice/kubepods-pod1_2.slice/" ID64,
	"/kubepods/burstable/pod1-2", "/kubepods/burstable/pod1-2/" ID64,
	"/kubepods/pod1-2/" ID64 "/sub", "/kubepods/besteffort/pod1-2/crio-" ID64,
	"/kubelet/kubepods/pod1-2/" ID64, "/pod1-2/" ID64, "/" ID64,
	"/system.slice/containerd.service/"
		"kubepods-burstable-pod1_2.slice:cri-containerd:" ID64,
	"/system.slice/x:cri-containerd:" ID64, "/x:cri-containerd:zz",
	"/kubepods/pod1-2/kata_" ID64, "/kubepods/pod1-2/kata_crio-" ID64,
	"/kubepods/pod1-2/kata_abc", "/docker/kata_" ID64, "/default/kata_" ID64,
	"/kata_overhead", "/kata_overhead/" ID64, "/kata_overhead/abc",
	"/x/kata_overhead/" ID64, "/kata_sandboxed_pod/" ID64 "/sandbox",
	"/kubepods/pod1-2/" ID64 "/overhead", "/kata_crio-abc",
	"/lxc/box", "/lxc", "/lxc.payload/box", "/lxc.payload.box/init",
	"/lxc.monitor.box", "/lxc.monitor/box",
	"/machine.slice/machine-box.scope/payload",
	"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator",
	"/machine.slice/systemd-nspawn@box.service/payload",
	"/machine/qemu-1-vm.libvirt-qemu/emulator", "/machine/box.libvirt-lxc",
	"/machine.slice", "/system.slice/system-getty.slice/getty@1.service",
	"/system.slice/web.service/libpod-payload-" ID64,
	"/system.slice/web.service/runtime", "/system.slice/web.service",
	"/system.slice/libpod-payload-abc", "/runtime.slice/kubelet.service/x",
	"/user.slice/user-1000.slice/user@1000.service/init.scope",
	"/user.slice/user-1000.slice/user@1000.service/app.slice/x.service",
	"/user.slice/user-1000.slice/user@1000.service/app.slice/x.service/"
		"libpod-payload-" ID64,
	"/actions_job/" ID64, "/actions_job/" ID12, "/a/b/" ID64 "/c", "/a/" ID64 "0",
	"/libpod_parent/" ID64, "/libpod_parent/" ID64 "/libpod-" ID64,
	"/system.slice/slurmstepd.scope", "/system.slice/slurmstepd.scope/system",
	"/system.slice/slurmstepd.scope/job_1234/step_0/user/task_0",
	"/system.slice/node7_slurmstepd.scope/job_1234/step_batch/slurm",
	"/slurm/uid_1000/job_1234/step_0", "/slurm_node7/uid_0/job_5", "/slurm/uid_1000",
	"/slurm/job_1234", "/uid_1000/job_1234", "/slurm/uid_1000/step_0",
	"/nomad.slice", "/nomad.slice/share.slice",
	"/nomad.slice/share.slice/" UUID ".redis.scope",
	"/nomad.slice/reserve.slice/" UUID ".a.b.scope/x",
	"/nomad.slice/share.slice/docker-" ID64 ".scope", "/nomad.slice/" UUID ".x.scope",
	"/nomad.slice/share.slice/" UUID ".scope", "/share.slice/" UUID ".redis.scope",
	"/qemu.slice", "/qemu.slice/101.scope", "/qemu.slice/101.scope/x", "/qemu/101.scope",
	"/lxc/101/ns", "/qemu.slice/101",
	"/ecs", "/ecs/" ID32, "/ecs/" ID32 "/" ID32 "-265927825",
	"/ecs/" ID32 "/" ID64, "/ecs/" UUID "/" ID64, "/ecs/" ID32 "/x-1",
	"/ecs/x/" ID32 "-1", "/x/" ID32 "/" ID32 "-1",
	"/ecstasks.slice/ecstasks-" ID32 ".slice/docker-" ID64 ".scope",
	"/default", "/default/nginx", "/default/nginx/x", "/default/" ID64, "/x/default/nginx",
	"/k8s.io/" ID64, "/k8s.io/" ID12, "/k8s.io/name", "/x/k8s.io/" ID12,
	"/garden", "/garden/good", "/garden/bad", "/garden/init", "/garden/init/x",
	"/garden/" UUID, "/garden/good/" UUID "/x", "/garden/bad/" UUID, "/x/garden/" UUID,
	"/x/garden/good/" UUID, "/garden/" UUID "/good/x",
	"/buildkit", "/buildkit/" ID25, "/docker/buildkit", "/docker/buildkit/" ID25 "/x",
	"/x/buildkit/" ID25, "/x/docker/buildkit/" ID25,
};

START_TEST(test_defaults_agree_with_names)
{
	struct cmt_container c = { .sz = sizeof(c) };
	unsigned int containers = 0, services = 0;

	parse_good(cmt_pattern_defaults);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *found = owner(paths[i]);
		bool is;

		cmt_container_name(paths[i], &c);
		if (c.runtime == CMT_RUNTIME_SYSTEMD) {
			ck_assert_msg(found_class == CMT_CLASS_SERVICE &&
				      !strncmp(found, c.name, strlen(c.name)),
				      "%s: '%s', service %s", paths[i], found, c.name);
			services++;
			continue;
		}
		/* a pod is none yet */
		is = c.runtime != CMT_RUNTIME_NONE &&
		     (c.runtime != CMT_RUNTIME_KUBEPODS || c.id[0]);
		ck_assert_msg(is == (found_class == CMT_CLASS_CONTAINER), "%s: '%s', name %s",
			      paths[i], found, c.name);
		if (!is)
			ck_assert_msg(!found[0] || strstr(paths[i], "/user@"), "%s: '%s'",
				      paths[i], found);
		ck_assert_msg(!c.id[0] || strstr(found, c.id), "%s: '%s', id %s",
			      paths[i], found, c.id);
		containers += is;
	}
	ck_assert_uint_gt(containers, 60);
	ck_assert_uint_gt(services, 3);
}
END_TEST

/* A parameter of a module has at most 1024 bytes: a user adds to those built in. */
START_TEST(test_defaults_leave_room)
{
	ck_assert_uint_lt(strlen(cmt_pattern_defaults), 1024 - 128);
}
END_TEST

/* The obvious matcher, by trying all there is. */
static bool slow(const char *p, const char *name)
{
	if (!*p)
		return !*name;
	if (*p == '*')
		return slow(p + 1, name) || (p[1] != '*' && *name && slow(p, name + 1));
	if (!strncmp(p, "<id>", 4)) {
		size_t n = strspn(name, "0123456789abcdef");

		return n >= 12 && n <= 64 && slow(p + 4, name + n);
	}
	if (!strncmp(p, "<id64>", 6))
		return strspn(name, "0123456789abcdef") == 64 && slow(p + 6, name + 64);
	return *name == *p && slow(p + 1, name + 1);
}

START_TEST(test_random_patterns)
{
	static const char *const pieces[] = {
		"*", "<id>", "<id64>", "a", "b", "-", "g", ID12, ID64, "*", "ga",
	};
	const size_t n = sizeof(pieces) / sizeof(pieces[0]);
	unsigned int seed = 5, matches = 0;

	for (int i = 0; i < 200000; i++) {
		char pattern[512] = "", name[512] = "";
		const char *names[] = { name };

		for (int k = 1 + rand_r(&seed) % 5; k > 0; k--)
			strcat(pattern, pieces[(size_t)rand_r(&seed) % n]);
		for (int k = 1 + rand_r(&seed) % 5; k > 0; k--)
			strcat(name, pieces[3 + (size_t)rand_r(&seed) % (n - 5)]);
		parse_good(pattern);
		ck_assert_msg((cmt_pattern_class(&set, names, 1) ==
			       CMT_CLASS_CONTAINER) == slow(pattern, name),
			      "'%s' on '%s'", pattern, name);
		matches += slow(pattern, name);
	}
	ck_assert_uint_gt(matches, 1000);
}
END_TEST

/* Random bytes: errors, without memory errors. */
START_TEST(test_random_bytes)
{
	static const char alphabet[] = "<id64>/!* \nab\0\200\n";
	unsigned int seed = 9, good = 0;

	for (int i = 0; i < 100000; i++) {
		size_t n = (size_t)rand_r(&seed) % 24;
		char *text = malloc(n ? n : 1);
		u32 bad_at = 0;

		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[(size_t)rand_r(&seed) %
					   (sizeof(alphabet) - 1)];
		if (!cmt_pattern_parse(&set, text, (u32)n, &bad_at)) {
			good++;
			owner("/a/b/" ID12 "/aab");
		} else {
			ck_assert_uint_lt(bad_at, n ? n : 1);
		}
		free(text);
	}
	ck_assert_uint_gt(good, 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pattern");

	UNIT_CASE(suite, test_parse_errors);
	UNIT_CASE(suite, test_parse_length);
	UNIT_CASE(suite, test_text_is_kept);
	UNIT_CASE(suite, test_match_table);
	UNIT_CASE(suite, test_classes);
	UNIT_CASE(suite, test_defaults_agree_with_names);
	UNIT_CASE(suite, test_defaults_leave_room);
	UNIT_CASE(suite, test_random_patterns);
	UNIT_CASE(suite, test_random_bytes);
	return unit_run(suite);
}
