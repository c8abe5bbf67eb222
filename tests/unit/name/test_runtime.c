// SPDX-License-Identifier: GPL-2.0-or-later
/* State files of container runtimes: what they say, and what is not read. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file/file.h"
#include "name/runtime.h"
#include "unit.h"

#define DOCKER_ID "0c7f30f462d66b3d044efa41d0601ff09af0bbaef30bbff31453821e908bdd5a"
#define KUBE_ID "a17ce978e43c244ed0cb07f3d90780f74a77ff06df067d673b2c102fef6afaf7"
#define CRI_ID "5d0a7b6c4f3e2d1c0b9a8f7e6d5c4b3a29181706f5e4d3c2b1a0f9e8d7c6b5a4"
#define PAUSE_ID "be11c0ffee0123456789abcdef0123456789abcdef0123456789abcdef012345"
#define NERDCTL_ID "c0ffee1234567890abcdef1234567890abcdef1234567890abcdef1234567890"
#define CRIO_ID "e72fce5766ead840d848faae8843678ff84e77a1b2c3d4e5f60718293a4b5c6d"
#define CRIO_POD_ID "1f04600dc6949359da68eee5fe7c4069706a567c07d1ef89fe3bbfdeac7a6dca"
#define PODMAN_ID "d77f04982e75aa5a5e7fa73cf68c7ee4b342671929218e32c9a4e51a536449ab"
#define ALICE_ID "868562cbfb82bda0e0c83b627520e7ab56cff5f4c0c4c30f4b876b41b65f306f"
#define POD "6f1c6b5e-33c1-4d2e-9d7a-0a1b2c3d4e5f"
#define IMAGE "localhost/web:1.0"

#define TASKS "/run/containerd/io.containerd.runtime.v2.task/"
#define DOCKER_FILE "/var/lib/docker/containers/" DOCKER_ID "/config.v2.json"
#define KUBE_FILE "/var/lib/docker/containers/" KUBE_ID "/config.v2.json"
#define CRI_FILE TASKS "k8s.io/" CRI_ID "/config.json"
#define STORAGE "/var/lib/containers/storage/overlay-containers/"
#define CRIO_FILE \
	"/run/containers/storage/overlay-containers/" CRIO_ID "/userdata/config.json"
#define CRIO_POD_FILE STORAGE CRIO_POD_ID "/userdata/config.json"
#define PODMAN_FILE STORAGE "containers.json"
#define ALICE_FILE "/home/alice/.local/share/containers/storage/" \
	"overlay-containers/containers.json"

static char root[] = "cmt-host-XXXXXX";
static int root_fd;
static struct cmt_lists lists;
static unsigned int alice;
static bool deny_openat2;

/* Not to be had, as under a seccomp filter that does not know it. */
long __real_syscall(long nr, ...);
long __wrap_syscall(long nr, ...);

long __wrap_syscall(long nr, ...)
{
	long arg[6];
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (nr == SYS_openat2 && deny_openat2) {
		errno = ENOSYS;
		return -1;
	}
	return __real_syscall(nr, arg[0], arg[1], arg[2], arg[3], arg[4],
			      arg[5]);
}

static const char *in_root(const char *path)
{
	return unit_path(root, path);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(in_root(path), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
	ck_assert_int_eq(fclose(file), 0);
}

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

/* A host of our own.  Alice is who runs the test, but is never root. */
static void setup(void)
{
	char text[256];

	strcpy(root + strlen(root) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(text, sizeof(text), "cp -r %s/. %s && mkdir %s/etc", FIXTURES,
		 root, root);
	unit_shell(text);
	alice = getuid() ? getuid() : 4711;
	if (!getuid())
		ck_assert_int_eq(chown(in_root(ALICE_FILE), alice, alice), 0);
	snprintf(text, sizeof(text), "root:x:0:0::/root:/bin/sh\nbroken:x\n"
		 "alice:x:%u:%u:Alice,,,:/home/alice:/bin/sh\n", alice, alice);
	write_text("/etc/passwd", text);
	root_fd = open(root, O_PATH | O_DIRECTORY);
	ck_assert_int_ge(root_fd, 0);
	deny_openat2 = false;
}

static void teardown(void)
{
	char command[64];

	close(root_fd);
	cmt_lists_destroy(&lists);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	unit_shell(command);
}

/* A whole file of the fixtures. */
static char *slurp(const char *path, size_t *size)
{
	char *bytes = NULL;
	char dir[512];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	*slash = '\0';
	ck_assert_int_eq(cmt_file_read(root_fd, dir, slash + 1, CMT_ANY_OWNER,
				       &bytes, size), 0);
	return bytes;
}

static const struct {
	const char *cgroup;
	enum cmt_runtime runtime;
	const char *name, *image, *pod, *pod_name, *pod_namespace;
	const char *pod_container;
} hosts[] = {
	{ "/system.slice/docker-" DOCKER_ID ".scope", CMT_RUNTIME_DOCKER,
	  "shop-web", IMAGE, "", "", "", "" },
	{ "/docker/" DOCKER_ID "/init.scope", CMT_RUNTIME_DOCKER, "shop-web",
	  IMAGE, "", "", "", "" },
	{ "/kubepods/burstable/pod" POD "/" KUBE_ID, CMT_RUNTIME_DOCKER,
	  "k8s_nginx_web-0_shop_" POD "_0", IMAGE, POD, "web-0", "shop",
	  "nginx" },
	{ "/kubepods/pod" POD "/" CRI_ID, CMT_RUNTIME_CONTAINERD, "", IMAGE,
	  POD, "web-0", "shop", "nginx" },
	{ "/system.slice/cri-containerd-" CRI_ID ".scope",
	  CMT_RUNTIME_CONTAINERD, "", IMAGE, POD, "web-0", "shop", "nginx" },
	{ "/system.slice/cri-containerd-" PAUSE_ID ".scope",
	  CMT_RUNTIME_CONTAINERD, "", "", POD, "web-0", "shop", "" },
	{ "/system.slice/nerdctl-" NERDCTL_ID ".scope", CMT_RUNTIME_CONTAINERD,
	  "shop-cache", "", "", "", "", "" },
	{ "/kubepods.slice/crio-" CRIO_ID ".scope", CMT_RUNTIME_CRIO, "",
	  "docker.io/library/nginx:1.25", POD, "web-1", "shop", "nginx" },
	{ "/kubepods.slice/crio-" CRIO_POD_ID ".scope", CMT_RUNTIME_CRIO, "",
	  "", POD, "web-1", "shop", "" },
	{ "/machine.slice/libpod-" PODMAN_ID ".scope/container",
	  CMT_RUNTIME_PODMAN, "shop-db", IMAGE, "", "", "", "" },
	{ "/user.slice/user-0.slice/libpod-" PODMAN_ID ".scope",
	  CMT_RUNTIME_PODMAN, "shop-db", IMAGE, "", "", "", "" },
};

static int ask(const char *cgroup, struct cmt_container *c,
	       struct cmt_state *state)
{
	*c = (struct cmt_container){ .sz = sizeof(*c) };
	memset(state, 0x5a, sizeof(*state));
	cmt_container_name(cgroup, c);
	c->path = cgroup;
	return cmt_runtime_ask(root_fd, &lists, c, state);
}

/* Does the container of this cgroup have a name?  Then it is @name. */
static bool named(const char *cgroup, const char *name)
{
	struct cmt_container c;
	struct cmt_state s;
	int err = ask(cgroup, &c, &s);

	ck_assert(!err || err == -ENOENT);
	if (!err)
		ck_assert_str_eq(s.name, name);
	return !err;
}

/* Alice's cgroup, or another user's */
static bool user_named(unsigned int uid, const char *scope, const char *name)
{
	char cgroup[512];

	snprintf(cgroup, sizeof(cgroup), "/user.slice/user-%u.slice/"
		 "user@%u.service/user.slice/%s.scope", uid, uid, scope);
	return named(cgroup, name);
}

static void check_hosts(void)
{
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		struct cmt_container c;
		struct cmt_state s;

		ck_assert_msg(!ask(hosts[i].cgroup, &c, &s), "%s",
			      hosts[i].cgroup);
		ck_assert_int_eq(c.runtime, hosts[i].runtime);
		ck_assert_str_eq(s.name, hosts[i].name);
		ck_assert_str_eq(s.image, hosts[i].image);
		ck_assert_str_eq(s.pod, hosts[i].pod);
		ck_assert_str_eq(s.pod_name, hosts[i].pod_name);
		ck_assert_str_eq(s.pod_namespace, hosts[i].pod_namespace);
		ck_assert_str_eq(s.pod_container, hosts[i].pod_container);
	}
}

/* Of each runtime.  _i, here and below: without openat2(). */
START_TEST(test_ask_hosts)
{
	deny_openat2 = _i;
	check_hosts();
}
END_TEST

#define OF_CRI \
	"\"io.kubernetes.cri.container-name\":\"db\"," \
	"\"io.kubernetes.cri.image-name\":\"pay/db:1\"," \
	"\"io.kubernetes.cri.sandbox-name\":\"db-0\"," \
	"\"io.kubernetes.cri.sandbox-namespace\":\"payments\"," \
	"\"io.kubernetes.cri.sandbox-uid\":\"00000000-1111\""
#define OF_CRIO \
	"\"io.kubernetes.cri-o.ImageName\":\"pay/db:1\"," \
	"\"io.kubernetes.cri-o.KubeName\":\"db-0\"," \
	"\"io.kubernetes.cri-o.Namespace\":\"payments\""
#define OF_KUBELET \
	"\"io.kubernetes.container.name\":\"db\"," \
	"\"io.kubernetes.pod.name\":\"db-0\"," \
	"\"io.kubernetes.pod.namespace\":\"payments\"," \
	"\"io.kubernetes.pod.uid\":\"00000000-1111\""
#define OF_NERDCTL "\"nerdctl/name\":\"payments-db\""

/* Put @members in front of the others of @object, which then count. */
static void forge(const char *path, const char *object, const char *members)
{
	size_t size, len = strlen(object);
	char *bytes = slurp(path, &size), *at = memmem(bytes, size, object, len);
	char text[16384];
	int n;

	ck_assert_ptr_nonnull(at);
	at += len;
	n = snprintf(text, sizeof(text), "%.*s%s%s%.*s", (int)(at - bytes), bytes, members,
		     *at == '}' ? "" : ",", (int)(bytes + size - at), at);
	ck_assert_int_lt(n, (int)sizeof(text));
	write_text(path, text);
	free(bytes);
}

/*
 * Annotations of a pod and labels of an image, which their authors choose, with the keys of
 * other runtimes.  Those that the runtime writes itself are in the fixtures.
 */
START_TEST(test_ask_forged)
{
	static const struct {
		const char *path, *object, *members;
	} files[] = {
		{ CRIO_FILE, "\"annotations\":{", OF_CRI "," OF_CRIO "," OF_NERDCTL },
		{ CRIO_POD_FILE, "\"annotations\":{", OF_CRI "," OF_CRIO "," OF_NERDCTL },
		{ CRI_FILE, "\"annotations\":{", OF_KUBELET "," OF_CRIO },
		{ DOCKER_FILE, "\"Labels\":{",
		  OF_CRI "," OF_CRIO "," OF_KUBELET "," OF_NERDCTL },
		{ KUBE_FILE, "\"Labels\":{",
		  OF_CRI "," OF_CRIO "," OF_KUBELET "," OF_NERDCTL },
	};

	forge(files[_i].path, files[_i].object, files[_i].members);
	check_hosts();
}
END_TEST

/* No more than a name and an image. */
static void check_no_pod(const char *cgroup, enum cmt_runtime runtime, const char *name)
{
	struct cmt_container c;
	struct cmt_state s;

	ck_assert_int_eq(ask(cgroup, &c, &s), 0);
	ck_assert_int_eq(c.runtime, runtime);
	ck_assert_str_eq(s.name, name);
	ck_assert_str_eq(s.pod, "");
	ck_assert_str_eq(s.pod_name, "");
	ck_assert_str_eq(s.pod_namespace, "");
	ck_assert_str_eq(s.pod_container, "");
}

/* docker's --name counts, whatever the labels of the image are. */
START_TEST(test_ask_docker_forged)
{
	write_text(DOCKER_FILE, "{\"Name\":\"/ci-job\",\"Config\":{\"Image\":\"ci:1\","
		   "\"Labels\":{" OF_KUBELET "," OF_NERDCTL "}}}");
	check_no_pod("/docker/" DOCKER_ID, CMT_RUNTIME_DOCKER, "ci-job");
	write_text(DOCKER_FILE, "{\"Name\":\"/k8sci\",\"Config\":{\"Image\":\"ci:1\","
		   "\"Labels\":{" OF_KUBELET "}}}");
	check_no_pod("/docker/" DOCKER_ID, CMT_RUNTIME_DOCKER, "k8sci");
}
END_TEST

/* podman keeps its containers beside CRI-O's, with the annotations of their images. */
START_TEST(test_ask_podman_forged)
{
	char command[256];

	snprintf(command, sizeof(command), "mkdir -p %s" STORAGE PODMAN_ID "/userdata", root);
	unit_shell(command);
	write_text(STORAGE PODMAN_ID "/userdata/config.json", "{\"annotations\":{"
		   "\"io.container.manager\":\"cri-o\"," OF_KUBELET "," OF_CRI "}}");
	check_no_pod("/actions_job/" PODMAN_ID, CMT_RUNTIME_PODMAN, "shop-db");
}
END_TEST

START_TEST(test_ask_user)
{
	int fds = unit_open_fds();
	char cgroup[256];

	deny_openat2 = _i;
	ck_assert(user_named(alice, "libpod-" ALICE_ID, "my-web"));
	/* Nobody in /etc/passwd, and what is no user's slice. */
	ck_assert(!user_named(alice + 1, "libpod-" ALICE_ID, ""));
	ck_assert(!named("/user.slice/user-.slice/libpod-" ALICE_ID ".scope",
			 ""));
	snprintf(cgroup, sizeof(cgroup), "/user.slice/user-%u-x.slice/libpod-"
		 ALICE_ID ".scope", alice);
	ck_assert(!named(cgroup, ""));
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* Cgroups that a user has named like a container of another user. */
START_TEST(test_ask_user_not_hosts)
{
	ck_assert(named("/docker-" DOCKER_ID ".scope", "shop-web"));
	ck_assert(!user_named(alice, "docker-" DOCKER_ID, ""));
	ck_assert(!user_named(alice, "crio-" CRIO_ID, ""));
	ck_assert(!user_named(alice, "cri-containerd-" CRI_ID, ""));
	ck_assert(!user_named(alice, "libpod-" PODMAN_ID, ""));
	ck_assert(!named("/machine.slice/libpod-" ALICE_ID ".scope", ""));
}
END_TEST

/* A hard link in the home to another user's file. */
START_TEST(test_ask_user_owner)
{
	char line[128];

	snprintf(line, sizeof(line), "bob:x:%u:%u::/home/alice:/bin/sh\n",
		 alice + 1, alice + 1);
	write_text("/etc/passwd", line);
	ck_assert(!user_named(alice + 1, "libpod-" ALICE_ID, ""));
}
END_TEST

/* As getpwent(3): the last line may have no newline. */
START_TEST(test_ask_user_last_line)
{
	char line[128];

	snprintf(line, sizeof(line), "root:x:0:0::/root:/bin/sh\nalice:x:%u:%u:"
		 ":/home/alice:/bin/sh", alice, alice);
	write_text("/etc/passwd", line);
	ck_assert(user_named(alice, "libpod-" ALICE_ID, "my-web"));
	*strrchr(line, ':') = '\0';
	write_text("/etc/passwd", line);
	ck_assert(!user_named(alice, "libpod-" ALICE_ID, ""));
}
END_TEST

/* A number is digits alone, of any user. */
START_TEST(test_ask_user_number)
{
	static const struct {
		const char *number;
		unsigned int uid;
		bool found;
	} users[] = {
		{ "10", 10, true }, { "010", 10, true }, { "987654321", 987654321, true },
		{ " 10", 10, false }, { "+10", 10, false }, { "/10", 10, false },
		{ ":10", 0, false }, { "", 0, false }, { "-4294967286", 10, false },
	};

	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		char line[128];

		if (!getuid())
			ck_assert_int_eq(chown(in_root(ALICE_FILE), users[i].uid, 0), 0);
		else if (users[i].found)
			continue;
		snprintf(line, sizeof(line), "u:x:%s:5::/home/alice:/bin/sh\n",
			 users[i].number);
		write_text("/etc/passwd", line);
		ck_assert_msg(user_named(users[i].uid, "libpod-" ALICE_ID, "my-web") ==
			      users[i].found, "'%s'", users[i].number);
	}
}
END_TEST

START_TEST(test_ask_user_docker)
{
	const char *file = "/home/alice/.local/share/docker/containers/"
			   DOCKER_ID "/config.v2.json";
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p %s/home/alice/.local/share"
		 "/docker/containers/" DOCKER_ID, root);
	unit_shell(command);
	write_text(file, "{\"Name\":\"/mine\"}");
	if (!getuid())
		ck_assert_int_eq(chown(in_root(file), alice, alice), 0);
	ck_assert(user_named(alice, "docker-" DOCKER_ID, "mine"));
	/* The file is the user's to write, pods are not. */
	write_text(file, "{\"Name\":\"/k8s_mine\",\"Config\":{\"Labels\":{" OF_KUBELET "}}}");
	snprintf(command, sizeof(command), "/user.slice/user-%u.slice/docker-" DOCKER_ID
		 ".scope", alice);
	check_no_pod(command, CMT_RUNTIME_DOCKER, "k8s_mine");
}
END_TEST

/* An id goes into a path: it has to be one, even if there is such a path. */
START_TEST(test_ask_bad_ids)
{
	static const char *const ids[] = {
		"", ".", "..", "../containers", "0C7F30F462D6", "0c7f30f462d",
		"0c7f30f462d6/../0c7f30f462d6", "0c7f30f462d6/",
		"0c7f30f462d6",
	};
	const size_t n = sizeof(ids) / sizeof(ids[0]);

	for (size_t i = 0; i < n; i++) {
		struct cmt_container c = { .runtime = CMT_RUNTIME_DOCKER,
					   .path = "/" };
		struct cmt_state s;
		char path[512];

		snprintf(path, sizeof(path), "mkdir -p "
			 "'%s/var/lib/docker/containers/%s'", root, ids[i]);
		unit_shell(path);
		snprintf(path, sizeof(path), "/var/lib/docker/containers/"
			 "%s/config.v2.json", ids[i]);
		write_text(path, "{\"Name\":\"/bad\"}");
		strcpy(c.id, ids[i]);
		ck_assert_int_eq(cmt_runtime_ask(root_fd, &lists, &c, &s),
				 i == n - 1 ? 0 : -ENOENT);
	}
}
END_TEST

START_TEST(test_ask_volatile_list)
{
	char from[128];

	strcpy(from, in_root(PODMAN_FILE));
	ck_assert_int_eq(rename(from, in_root("/var/lib/containers/storage/"
		"overlay-containers/volatile-containers.json")), 0);
	ck_assert(named("/libpod-" PODMAN_ID, "shop-db"));
}
END_TEST

/* What is in the place of docker's file. */
static bool docker_named(void)
{
	return named("/docker/" DOCKER_ID, "shop-web");
}

START_TEST(test_file_symlink)
{
	int fds = unit_open_fds();
	char from[512];

	deny_openat2 = _i;
	ck_assert(docker_named());
	/* The good file, but by a link, relative or absolute. */
	snprintf(from, sizeof(from), "%s", in_root(DOCKER_FILE));
	ck_assert_int_eq(rename(from, in_root("/var/lib/docker/containers/"
		DOCKER_ID "/other")), 0);
	ck_assert_int_eq(symlink("other", from), 0);
	ck_assert(!docker_named());
	ck_assert_int_eq(unlink(from), 0);
	ck_assert_int_eq(symlink("/var/lib/docker/containers/" DOCKER_ID
				 "/other", from), 0);
	ck_assert(!docker_named());
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

START_TEST(test_file_symlinked_directory)
{
	char from[512];

	deny_openat2 = _i;
	strcpy(from, in_root("/var/lib/docker/containers"));
	ck_assert_int_eq(rename(from, in_root("/var/lib/docker/other")), 0);
	ck_assert_int_eq(symlink("other", from), 0);
	ck_assert(!docker_named());
}
END_TEST

/* The administrator may move a state directory, but not out of the root. */
START_TEST(test_file_state_directory_moved)
{
	char from[512];

	strcpy(from, in_root("/var/lib/docker"));
	ck_assert_int_eq(rename(from, in_root("/data")), 0);
	ck_assert_int_eq(symlink("/data", from), 0);
	ck_assert(docker_named());
	deny_openat2 = true;
	ck_assert(!docker_named());
	deny_openat2 = false;
	ck_assert_int_eq(unlink(from), 0);
	ck_assert_int_eq(symlink("../../../../../../data", from), 0);
	ck_assert(docker_named());
	ck_assert_int_eq(unlink(from), 0);
	/* The real root's, which has no such thing below this one. */
	ck_assert_int_eq(symlink("/proc/self/cwd", from), 0);
	ck_assert(!docker_named());
}
END_TEST

START_TEST(test_file_dots)
{
	char *bytes;
	size_t size;

	deny_openat2 = _i;
	ck_assert_int_eq(cmt_file_read(root_fd, "/var/lib", "../../etc/passwd",
				       CMT_ANY_OWNER, &bytes, &size), -EXDEV);
	ck_assert_int_eq(cmt_file_read(root_fd, "/etc", "passwd",
				       CMT_ANY_OWNER, &bytes, &size), 0);
	free(bytes);
	ck_assert_int_lt(cmt_file_read(root_fd, "/etc", "", CMT_ANY_OWNER,
				       &bytes, &size), 0);
}
END_TEST

START_TEST(test_file_other_filesystem)
{
	int fd = open("/", O_PATH | O_DIRECTORY), fds;
	char *bytes;
	size_t size;

	fds = unit_open_fds();
	deny_openat2 = _i;
	ck_assert_int_eq(cmt_file_read(fd, "/", "proc/version", CMT_ANY_OWNER,
				       &bytes, &size), -EXDEV);
	/* There, it is but of no size. */
	ck_assert_int_eq(cmt_file_read(fd, "/proc", "version", CMT_ANY_OWNER,
				       &bytes, &size), -EFBIG);
	ck_assert_int_eq(unit_open_fds(), fds);
	close(fd);
}
END_TEST

/* Opened without O_NONBLOCK it would wait for a writer until the test ends. */
START_TEST(test_file_fifo)
{
	deny_openat2 = _i;
	ck_assert_int_eq(unlink(in_root(DOCKER_FILE)), 0);
	ck_assert_int_eq(mkfifo(in_root(DOCKER_FILE), 0600), 0);
	ck_assert(!docker_named());
}
END_TEST

START_TEST(test_file_directory)
{
	ck_assert_int_eq(unlink(in_root(DOCKER_FILE)), 0);
	ck_assert_int_eq(mkdir(in_root(DOCKER_FILE), 0700), 0);
	ck_assert(!docker_named());
}
END_TEST

/* Spaces are good JSON: only its size speaks against the larger file. */
START_TEST(test_file_size)
{
	static char bytes[CMT_STATE_MAX + 1] = "{\"Name\":\"/shop-web\"}";
	size_t max = getuid() ? CMT_STATE_MAX_USER : CMT_STATE_MAX;
	struct cmt_state s;

	memset(bytes + strlen(bytes), ' ', sizeof(bytes) - strlen(bytes));
	write_file(DOCKER_FILE, bytes, max);
	ck_assert(docker_named());
	write_file(DOCKER_FILE, bytes, max + 1);
	ck_assert(!docker_named());
	ck_assert_int_eq(cmt_state_parse(&s, CMT_STATE_DOCKER, bytes,
					 sizeof(bytes), CMT_VALUES_MAX, "x"), -EINVAL);
	/* Nothing of a gigabyte is read or allocated. */
	ck_assert_int_eq(truncate(in_root(DOCKER_FILE), 1LL << 40), 0);
	ck_assert(!docker_named());
	ck_assert_int_eq(truncate(in_root(DOCKER_FILE), 0), 0);
	ck_assert(!docker_named());
}
END_TEST

/* A user's file costs less time than one of root. */
START_TEST(test_file_size_of_user)
{
	size_t size;
	char *bytes = slurp(ALICE_FILE, &size);

	bytes = realloc(bytes, CMT_STATE_MAX_USER + 1);
	ck_assert_ptr_nonnull(bytes);
	memset(bytes + size, ' ', CMT_STATE_MAX_USER + 1 - size);
	write_file(ALICE_FILE, bytes, CMT_STATE_MAX_USER);
	ck_assert(user_named(alice, "libpod-" ALICE_ID, "my-web"));
	write_file(ALICE_FILE, bytes, CMT_STATE_MAX_USER + 1);
	ck_assert(!user_named(alice, "libpod-" ALICE_ID, ""));
	free(bytes);
}
END_TEST

/* A list that has changed is read again; a broken one has no containers. */
START_TEST(test_list_changes)
{
	size_t size;
	char *bytes = slurp(PODMAN_FILE, &size);

	ck_assert(named("/libpod-" PODMAN_ID, "shop-db"));
	write_file(PODMAN_FILE, bytes, size - 1);
	ck_assert(!named("/libpod-" PODMAN_ID, ""));
	write_file(PODMAN_FILE, bytes, size);
	ck_assert(named("/libpod-" PODMAN_ID, "shop-db"));
	ck_assert_int_eq(unlink(in_root(PODMAN_FILE)), 0);
	ck_assert(!named("/libpod-" PODMAN_ID, ""));
	free(bytes);
}
END_TEST

START_TEST(test_file_not_json)
{
	static const char *const texts[] = {
		"\n", "shop-web", "Name: /shop-web\n", "\177ELF\002\001\001",
		"{\"Name\":\"/shop-web\"", "{\"Name\":\"/shop-web\"} {",
		"{'Name':'/shop-web'}", "{\"Name\":\"/shop-web\",}",
		"[\"Name\",\"/shop-web\"]", "{}", "null", "1", "\"/shop-web\"",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_text(DOCKER_FILE, texts[i]);
		ck_assert_msg(!docker_named(), "%s", texts[i]);
	}
}
END_TEST

/* Every file of the fixtures, cut at every place. */
START_TEST(test_parse_truncated)
{
	static const struct {
		const char *path, *id;
		enum cmt_state_kind kind;
	} files[] = {
		{ DOCKER_FILE, DOCKER_ID, CMT_STATE_DOCKER },
		{ CRI_FILE, CRI_ID,
		  CMT_STATE_CONTAINERD },
		{ PODMAN_FILE, PODMAN_ID, CMT_STATE_STORAGE },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct cmt_state s;
		size_t size;
		char *bytes = slurp(files[i].path, &size);

		ck_assert_int_eq(cmt_state_parse(&s, files[i].kind, bytes,
						 size, CMT_VALUES_MAX, files[i].id), 0);
		while (bytes[size - 1] == '\n')
			size--;
		while (size--)
			ck_assert_int_eq(cmt_state_parse(&s, files[i].kind,
							 bytes, size, CMT_VALUES_MAX,
							 files[i].id), -EINVAL);
		free(bytes);
	}
}
END_TEST

static int parse(struct cmt_state *state, enum cmt_state_kind kind,
		 const char *text)
{
	return cmt_state_parse(state, kind, text, strlen(text), CMT_VALUES_MAX, "x");
}

START_TEST(test_parse_deep)
{
	static char text[CMT_STATE_MAX];
	struct cmt_state s;
	int depth;

	for (depth = 1; depth < 100; depth++) {
		snprintf(text, sizeof(text), "{\"Name\":\"a\",\"x\":%.*s%.*s}",
			 depth, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
			 depth, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
		if (parse(&s, CMT_STATE_DOCKER, text))
			break;
	}
	ck_assert_int_ge(depth, 16);
	ck_assert_int_le(depth, 32);
	memset(text, '[', sizeof(text));
	ck_assert_int_eq(cmt_state_parse(&s, CMT_STATE_DOCKER, text,
					 sizeof(text), CMT_VALUES_MAX, "x"), -EINVAL);
}
END_TEST

/* A small file that would become a large tree. */
START_TEST(test_parse_many_values)
{
	const size_t head = strlen("{\"Name\":\"a\",\"x\":[");
	static char text[CMT_STATE_MAX] = "{\"Name\":\"a\",\"x\":[";
	struct cmt_state s;
	size_t size;

	for (int n = 10000; n <= 100000; n *= 10) {
		for (int i = 0; i < n; i++)
			memcpy(text + head + 3 * i, "{},", 3);
		strcpy(text + head + 3 * n - 1, "]}");
		ck_assert_int_eq(parse(&s, CMT_STATE_DOCKER, text),
				 n == 10000 ? 0 : -EINVAL);
	}
	/* In a string they are no values, whatever quotes are in it. */
	strcpy(text, "{\"Name\":\"a\",\"x\":\"\\\"\\\\");
	size = strlen(text);
	memset(text + size, ',', 100000);
	strcpy(text + size + 100000, "\"}");
	ck_assert_int_eq(parse(&s, CMT_STATE_DOCKER, text), 0);
}
END_TEST

/* The metadata of all containers of a list have a limit, too. */
START_TEST(test_parse_many_values_in_strings)
{
	static const char *const ids[] = { "a", "b", "c", "d" };
	static char text[CMT_STATE_MAX] = "[";
	char *at = text + 1;
	struct cmt_state s;

	for (int i = 0; i < 4; i++) {
		at += sprintf(at, "%s{\"id\":\"%s\",\"metadata\":\"{\\\"image-name\\\":"
			      "\\\"i\\\",\\\"x\\\":[1", i ? "," : "", ids[i]);
		for (int k = 0; k < 10000; k++)
			at += sprintf(at, ",1");
		at += sprintf(at, "]}\"}");
	}
	strcpy(at, "]");
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(cmt_state_parse(&s, CMT_STATE_STORAGE, text, strlen(text),
						 CMT_VALUES_MAX, ids[i]), i < 3 ? 0 : -ENOENT);
}
END_TEST

/* A list has one limit for its values and for those in its strings. */
START_TEST(test_parse_many_values_in_both)
{
	static char text[CMT_STATE_MAX];
	struct cmt_state s;

	for (int outside = 20000; outside <= 30000; outside += 10000) {
		char *at = text + sprintf(text, "[{\"id\":\"x\",\"names\":[\"a\"],\"metadata\":"
					  "\"{\\\"image-name\\\":\\\"i\\\",\\\"x\\\":[1");

		for (int i = 0; i < 10000; i++)
			at += sprintf(at, ",1");
		at += sprintf(at, "]}\"},[1");
		for (int i = 0; i < outside; i++)
			at += sprintf(at, ",1");
		strcpy(at, "]]");
		ck_assert_int_eq(parse(&s, CMT_STATE_STORAGE, text), 0);
		ck_assert_str_eq(s.name, "a");
		ck_assert_str_eq(s.image, outside == 20000 ? "i" : "");
	}
}
END_TEST

/* A list of @nr containers, each with some 12 values outside and as many in a string. */
static size_t usual_list(char *text, int nr)
{
	char *at = text + sprintf(text, "[");

	for (int i = 0; i < nr; i++)
		at += sprintf(at, "%s{\"id\":\"%064x\",\"names\":[\"a%d\"],\"image\":\"\","
			      "\"layer\":\"\",\"metadata\":\"{\\\"image-name\\\":\\\"i\\\","
			      "\\\"x\\\":[1,2,3,4,5,6,7,8,9]}\",\"created\":1,"
			      "\"flags\":{\"a\":1,\"b\":[2]}}", i ? "," : "", i, i);
	strcpy(at, "]");
	return strlen(text);
}

/* Small objects, outside and in a string: the largest trees that 256 KiB give. */
static size_t hostile_list(char *text)
{
	char *at = text + sprintf(text, "[{\"id\":\"abcabcabcabc\",\"names\":[\"a\"],"
				  "\"metadata\":\"[0");

	for (int i = 0; i < 16000; i++)
		at += sprintf(at, ",{\\\"\\\":1}");
	at += sprintf(at, "]\"}");
	for (int i = 0; i < 16000; i++)
		at += sprintf(at, ",{\"\":1}");
	strcpy(at, "]");
	return strlen(text);
}

/* A list of a user has values for 250 containers, not for a large tree. */
START_TEST(test_list_of_user_values)
{
	static char text[CMT_STATE_MAX];
	size_t size = hostile_list(text);
	char last[80];

	ck_assert_uint_le(size, CMT_STATE_MAX_USER);
	write_file(ALICE_FILE, text, size);
	ck_assert(!user_named(alice, "libpod-abcabcabcabc", ""));
	size = usual_list(text, 250);
	write_file(ALICE_FILE, text, size);
	snprintf(last, sizeof(last), "libpod-%064x", 249);
	ck_assert(user_named(alice, last, "a249"));
}
END_TEST

START_TEST(test_parse_wrong_types)
{
	static const struct {
		enum cmt_state_kind kind;
		const char *text;
	} cases[] = {
		{ CMT_STATE_DOCKER, "{\"Name\":1,\"Image\":[\"i\"],"
		  "\"Config\":[]}" },
		{ CMT_STATE_DOCKER, "{\"Name\":null,\"Image\":{},\"Config\":"
		  "{\"Image\":true,\"Labels\":\"io.kubernetes.pod.name\"}}" },
		{ CMT_STATE_DOCKER, "[]" },
		{ CMT_STATE_CONTAINERD, "{\"annotations\":[]}" },
		{ CMT_STATE_CONTAINERD, "{\"annotations\":null}" },
		{ CMT_STATE_CONTAINERD, "{\"annotations\":"
		  "{\"io.kubernetes.cri.sandbox-name\":{\"a\":1}}}" },
		{ CMT_STATE_CRIO, "{\"annotations\":{"
		  "\"io.kubernetes.cri-o.ContainerID\":[\"x\"]," OF_KUBELET "}}" },
		{ CMT_STATE_CONTAINERD, "7 " },
		{ CMT_STATE_STORAGE, "{\"id\":\"x\",\"names\":[\"a\"]}" },
		{ CMT_STATE_STORAGE, "[1,null,\"x\",[\"x\"],{\"id\":1}]" },
		{ CMT_STATE_STORAGE, "[{\"id\":\"x\",\"names\":\"a\","
		  "\"metadata\":{\"image-name\":\"i\"},\"image\":[]}]" },
		{ CMT_STATE_STORAGE, "[{\"id\":\"x\",\"names\":[],"
		  "\"metadata\":\"{\"}]" },
		{ CMT_STATE_STORAGE, "[{\"id\":\"x\",\"names\":[7],"
		  "\"metadata\":\"[]\"}]" },
		{ CMT_STATE_STORAGE, "[{\"id\":\"y\",\"names\":[\"a\"]}]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cmt_state s;

		ck_assert_msg(parse(&s, cases[i].kind, cases[i].text) ==
			      -ENOENT, "%s", cases[i].text);
	}
}
END_TEST

/* As in the programs that write the files, the last one counts. */
START_TEST(test_parse_duplicate_keys)
{
	struct cmt_state s;

	ck_assert_int_eq(parse(&s, CMT_STATE_DOCKER, "{\"Name\":\"/a\","
			       "\"Name\":\"/b\"}"), 0);
	ck_assert_str_eq(s.name, "b");
	ck_assert_int_eq(parse(&s, CMT_STATE_DOCKER, "{\"Name\":\"/a\","
			       "\"Name\":1}"), -ENOENT);
	ck_assert_int_eq(parse(&s, CMT_STATE_STORAGE,
			       "[{\"id\":\"x\",\"names\":[\"a\"]},"
			       "{\"id\":\"x\",\"names\":[\"b\"]}]"), 0);
	ck_assert_str_eq(s.name, "a");
}
END_TEST

START_TEST(test_parse_escapes)
{
	struct cmt_state s;

	ck_assert_int_eq(parse(&s, CMT_STATE_DOCKER, "{\"Name\":\"/"
		"a\\u001b[2J\\u0000b\\u009b\\n\303\251\033]0;x\\u0007\\ud83d"
		"\",\"Config\":{\"Image\":\"\\u001b[31mred\"}}"), 0);
	ck_assert_str_eq(s.name, "a?[2J?b????" "??]0;x????");
	ck_assert_str_eq(s.image, "?[31mred");
}
END_TEST

/* The image as its user wrote it; else what docker made of that. */
START_TEST(test_parse_docker_image)
{
	struct cmt_state s;

	ck_assert_int_eq(parse(&s, CMT_STATE_DOCKER, "{\"Name\":\"/a\","
		"\"Image\":\"sha256:1\",\"Config\":{\"Image\":\"redis:7\"}}"), 0);
	ck_assert_str_eq(s.image, "redis:7");
	ck_assert_int_eq(parse(&s, CMT_STATE_DOCKER, "{\"Name\":\"/a\","
		"\"Image\":\"sha256:1\",\"Config\":{}}"), 0);
	ck_assert_str_eq(s.image, "sha256:1");
}
END_TEST

START_TEST(test_parse_cut)
{
	struct cmt_state s;
	char text[4096];

	snprintf(text, sizeof(text), "{\"annotations\":{"
		 "\"io.kubernetes.cri.sandbox-name\":\"%01000d\","
		 "\"io.kubernetes.cri.sandbox-uid\":\"%01000d\","
		 "\"io.kubernetes.cri.container-name\":\"%01000d\"}}", 0, 0, 0);
	ck_assert_int_eq(parse(&s, CMT_STATE_CONTAINERD, text), 0);
	ck_assert_uint_eq(strlen(s.pod_name), sizeof(s.pod_name) - 1);
	ck_assert_uint_eq(strlen(s.pod), sizeof(s.pod) - 1);
	ck_assert_uint_eq(strlen(s.pod_container), sizeof(s.pod_container) - 1);
}
END_TEST

static void check_printable(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	ck_assert_uint_lt(n, size);
	while (n--)
		ck_assert(text[n] >= 0x20 && text[n] < 0x7f);
}

/* Good files with a few bytes changed: the sanitizers look on. */
START_TEST(test_parse_random_bytes)
{
	static const char *const paths[] = {
		DOCKER_FILE, CRI_FILE,
		PODMAN_FILE,
	};
	unsigned int seed = 7;

	for (int i = 0; i < 6000; i++) {
		enum cmt_state_kind kind = (enum cmt_state_kind)(i % 3);
		struct cmt_state s;
		size_t size;
		char *bytes = slurp(paths[i % 3], &size);

		for (int k = rand_r(&seed) % 8; k >= 0; k--)
			bytes[(size_t)rand_r(&seed) % size] =
				k & 1 ? "{}[]\",:\\"[rand_r(&seed) % 8] :
				(char)rand_r(&seed);
		cmt_state_parse(&s, kind, bytes, size, CMT_VALUES_MAX, PODMAN_ID);
		check_printable(s.name, sizeof(s.name));
		check_printable(s.image, sizeof(s.image));
		check_printable(s.pod, sizeof(s.pod));
		check_printable(s.pod_name, sizeof(s.pod_name));
		check_printable(s.pod_namespace, sizeof(s.pod_namespace));
		check_printable(s.pod_container, sizeof(s.pod_container));
		free(bytes);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("runtime");
	TCase *tcase = tcase_create("runtime");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_ask_hosts, 0, 2);
	tcase_add_loop_test(tcase, test_ask_forged, 0, 5);
	tcase_add_test(tcase, test_ask_docker_forged);
	tcase_add_test(tcase, test_ask_podman_forged);
	tcase_add_loop_test(tcase, test_ask_user, 0, 2);
	tcase_add_test(tcase, test_ask_user_not_hosts);
	tcase_add_test(tcase, test_ask_user_owner);
	tcase_add_test(tcase, test_ask_user_last_line);
	tcase_add_test(tcase, test_ask_user_number);
	tcase_add_test(tcase, test_ask_user_docker);
	tcase_add_test(tcase, test_ask_bad_ids);
	tcase_add_test(tcase, test_ask_volatile_list);
	tcase_add_loop_test(tcase, test_file_symlink, 0, 2);
	tcase_add_loop_test(tcase, test_file_symlinked_directory, 0, 2);
	tcase_add_test(tcase, test_file_state_directory_moved);
	tcase_add_loop_test(tcase, test_file_dots, 0, 2);
	tcase_add_loop_test(tcase, test_file_other_filesystem, 0, 2);
	tcase_add_loop_test(tcase, test_file_fifo, 0, 2);
	tcase_add_test(tcase, test_file_directory);
	tcase_add_test(tcase, test_file_size);
	tcase_add_test(tcase, test_file_size_of_user);
	tcase_add_test(tcase, test_list_changes);
	tcase_add_test(tcase, test_file_not_json);
	tcase_add_test(tcase, test_parse_truncated);
	tcase_add_test(tcase, test_parse_deep);
	tcase_add_test(tcase, test_parse_many_values);
	tcase_add_test(tcase, test_parse_many_values_in_strings);
	tcase_add_test(tcase, test_parse_many_values_in_both);
	tcase_add_test(tcase, test_list_of_user_values);
	tcase_add_test(tcase, test_parse_wrong_types);
	tcase_add_test(tcase, test_parse_duplicate_keys);
	tcase_add_test(tcase, test_parse_escapes);
	tcase_add_test(tcase, test_parse_docker_image);
	tcase_add_test(tcase, test_parse_cut);
	tcase_add_test(tcase, test_parse_random_bytes);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
