// SPDX-License-Identifier: GPL-2.0-or-later
/* The cache of containers, over trees of plain directories. */
#include <cmt/containers.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "unit.h"

#define ID "4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a"
#define DOCKER_ID "0c7f30f462d66b3d044efa41d0601ff09af0bbaef30bbff31453821e908bdd5a"
#define CRI_ID "5d0a7b6c4f3e2d1c0b9a8f7e6d5c4b3a29181706f5e4d3c2b1a0f9e8d7c6b5a4"
#define PAUSE_ID "be11c0ffee0123456789abcdef0123456789abcdef0123456789abcdef012345"
#define POD "6f1c6b5e-33c1-4d2e-9d7a-0a1b2c3d4e5f"
/* More looks than it takes to get to the next walk. */
#define LOOKS 200

static char root[32];
static struct cmt_containers *containers;

/* Make a directory below the root; returns its id. */
static uint64_t make(const char *path)
{
	char full[512];
	struct stat st;

	snprintf(full, sizeof(full), "%s%s", root, path);
	if (mkdir(full, 0700))
		ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(stat(full, &st), 0);
	return st.st_ino;
}

static void setup(void)
{
	strcpy(root, "cmt-cgroups-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	make("/docker");
	make("/docker/" ID);
	make("/system.slice");
	make("/system.slice/ssh.service");
	ck_assert_int_eq(cmt_containers_new(&containers, root), 0);
	ck_assert_int_eq(cmt_containers_set_root(containers, FIXTURES), 0);
}

static void teardown(void)
{
	char command[64];

	cmt_containers_free(containers);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

static const struct cmt_container *look(uint64_t id)
{
	const struct cmt_container *c = cmt_containers_lookup(containers, id);

	ck_assert_ptr_nonnull(c);
	ck_assert_uint_eq(c->cgroup_id, id);
	return c;
}

START_TEST(test_lookup_found)
{
	const struct cmt_container *c = look(make("/docker/" ID));

	ck_assert_str_eq(c->path, "/docker/" ID);
	ck_assert_int_eq(c->runtime, CMT_RUNTIME_DOCKER);
	ck_assert_str_eq(c->id, ID);
	ck_assert_str_eq(look(make(""))->path, "/");
	ck_assert_str_eq(look(make("/system.slice/ssh.service"))->name, "ssh");
	/* The same answer, at the same place. */
	ck_assert_ptr_eq(look(c->cgroup_id), c);
}
END_TEST

START_TEST(test_lookup_kept_after_removal)
{
	uint64_t id = make("/gone");
	char full[64];

	ck_assert_str_eq(look(id)->path, "/gone");
	snprintf(full, sizeof(full), "%s/gone", root);
	ck_assert_int_eq(rmdir(full), 0);
	ck_assert_str_eq(look(id)->path, "/gone");
	cmt_containers_forget(containers, id);
	ck_assert_ptr_null(look(id)->path);
	cmt_containers_forget(containers, id);
	cmt_containers_forget(containers, 123456789);
}
END_TEST

START_TEST(test_lookup_unknown)
{
	const struct cmt_container *c = look(UINT64_MAX);

	ck_assert_ptr_null(c->path);
	ck_assert_str_eq(c->name, "cgroup:18446744073709551615");
	ck_assert_int_eq(c->runtime, CMT_RUNTIME_NONE);
	ck_assert_str_eq(c->id, "");
	ck_assert_ptr_eq(look(UINT64_MAX), c);
}
END_TEST

/* However many ids were not found, a new container is, and in place. */
START_TEST(test_lookup_new_after_misses)
{
	const struct cmt_container *c = NULL;
	uint64_t id;
	int i;

	for (uint64_t k = 0; k < 10000; k++)
		look((1ULL << 63) + k);
	id = make("/lxc.payload.new");
	for (i = 0; i < LOOKS && !(c && c->path); i++) {
		if (c)
			ck_assert_ptr_eq(look(id), c);
		c = look(id);
	}
	ck_assert_int_lt(i, LOOKS);
	ck_assert_str_eq(c->name, "new");
	/* It is quick again now. */
	id = make("/lxc.payload.newer");
	ck_assert_str_eq(look(id)->name, "newer");
}
END_TEST

/* Seen by whether new directories are found: only a walk can find them. */
START_TEST(test_walks_limited)
{
	int found = 0;

	for (int i = 0; i < 20; i++)
		look(UINT64_MAX - (uint64_t)i);
	for (int i = 0; i < 5; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/late%d", i);
		found += !!look(make(path))->path;
	}
	ck_assert_int_lt(found, 5);
}
END_TEST

/* Tried three times it is believed gone, until it is forgotten. */
START_TEST(test_dead_id_until_forgotten)
{
	uint64_t id = make("/dead");
	char from[64], to[64];
	int i;

	snprintf(from, sizeof(from), "%s/dead", root);
	snprintf(to, sizeof(to), "%s-away", root);
	ck_assert_int_eq(rename(from, to), 0);
	for (i = 0; i < LOOKS; i++)
		look(id);
	ck_assert_int_eq(rename(to, from), 0);
	for (i = 0; i < LOOKS; i++)
		ck_assert_ptr_null(look(id)->path);
	cmt_containers_forget(containers, id);
	for (i = 0; i < LOOKS && !look(id)->path; i++)
		;
	ck_assert_str_eq(look(id)->path, "/dead");
}
END_TEST

START_TEST(test_symlinks_not_followed)
{
	char link[128], target[128];
	uint64_t id = make("/docker");

	snprintf(link, sizeof(link), "%s/aaa", root);
	snprintf(target, sizeof(target), "docker");
	ck_assert_int_eq(symlink(target, link), 0);
	snprintf(link, sizeof(link), "%s/loop", root);
	ck_assert_int_eq(symlink(".", link), 0);
	ck_assert_str_eq(look(id)->path, "/docker");
}
END_TEST

START_TEST(test_state_docker)
{
	const struct cmt_container *c = look(make("/docker/" DOCKER_ID));

	ck_assert_str_eq(c->name, "shop-web");
	ck_assert_str_eq(c->container_name, "shop-web");
	ck_assert_str_eq(c->image, "localhost/web:1.0");
	ck_assert_str_eq(c->id, DOCKER_ID);
	ck_assert_ptr_null(c->pod_name);
	ck_assert_ptr_null(c->pod_namespace);
	ck_assert_str_eq(c->pod, "");
	/* No such state: the short id */
	c = look(make("/docker/" ID));
	ck_assert_str_eq(c->name, "4a5f0e6f9c3d");
	ck_assert_ptr_null(c->container_name);
	ck_assert_ptr_null(c->image);
}
END_TEST

START_TEST(test_state_pod)
{
	const struct cmt_container *c;

	make("/kubepods");
	make("/kubepods/pod" POD);
	c = look(make("/kubepods/pod" POD "/" CRI_ID));
	ck_assert_int_eq(c->runtime, CMT_RUNTIME_CONTAINERD);
	ck_assert_str_eq(c->name, "shop/web-0/nginx");
	ck_assert_str_eq(c->pod_namespace, "shop");
	ck_assert_str_eq(c->pod_name, "web-0");
	ck_assert_str_eq(c->container_name, "nginx");
	ck_assert_str_eq(c->pod, POD);
	c = look(make("/kubepods/pod" POD "/" PAUSE_ID));
	ck_assert_str_eq(c->name, "shop/web-0");
	ck_assert_ptr_null(c->container_name);
	/* Outside of the pod's cgroup the state tells which pod it is. */
	c = look(make("/cri-containerd-" CRI_ID ".scope"));
	ck_assert_str_eq(c->pod, POD);
}
END_TEST

/* A host whose only container has the annotations @text. */
static void host_says(const char *host, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "mkdir -p %s/run/containerd/"
		 "io.containerd.runtime.v2.task/default/" ID, host);
	ck_assert_int_eq(system(path), 0);
	snprintf(path, sizeof(path), "%s/run/containerd/"
		 "io.containerd.runtime.v2.task/default/" ID "/config.json",
		 host);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "{\"annotations\":{%s}}", text);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(cmt_containers_set_root(containers, host), 0);
}

/* The longest names that Kubernetes has: the container's is not lost. */
START_TEST(test_state_long_names)
{
	const struct cmt_container *c;
	char host[64], text[1024];

	snprintf(host, sizeof(host), "%s/docker", root);
	snprintf(text, sizeof(text),
		 "\"io.kubernetes.cri.sandbox-namespace\":\"%063d\","
		 "\"io.kubernetes.cri.sandbox-name\":\"%0253d\","
		 "\"io.kubernetes.cri.container-name\":\"%063d\"", 1, 2, 3);
	host_says(host, text);
	c = look(make("/nerdctl-" ID ".scope"));
	ck_assert_uint_eq(strlen(c->name), CMT_CONTAINER_NAME_LEN - 1);
	ck_assert_str_eq(c->name + CMT_CONTAINER_NAME_LEN - 3, "03");
	ck_assert_uint_eq(strlen(c->pod_name), 253);
	host_says(host, "\"io.kubernetes.cri.sandbox-name\":\"web\"");
	cmt_containers_forget(containers, c->cgroup_id);
	ck_assert_str_eq(look(make("/nerdctl-" ID ".scope"))->name, "web");
}
END_TEST

/* What was read once stays, whatever becomes of cgroup and state. */
START_TEST(test_state_kept_until_forgotten)
{
	const struct cmt_container *c;
	char host[64], command[128];
	uint64_t id;

	snprintf(host, sizeof(host), "%s/docker", root);
	host_says(host, "\"nerdctl/name\":\"first\"");
	id = make("/nerdctl-" ID ".scope");
	c = look(id);
	ck_assert_str_eq(c->name, "first");
	host_says(host, "\"nerdctl/name\":\"second\"");
	ck_assert_str_eq(look(id)->name, "first");
	cmt_containers_forget(containers, id);
	c = look(id);
	ck_assert_str_eq(c->name, "second");
	snprintf(command, sizeof(command), "rm -r %s/run %s/nerdctl*", host,
		 root);
	ck_assert_int_eq(system(command), 0);
	ck_assert_ptr_eq(look(id), c);
	ck_assert_str_eq(c->name, "second");
	ck_assert_str_eq(c->container_name, "second");
}
END_TEST

/* Readers that may not see the state do without, and say nothing. */
START_TEST(test_state_not_permitted)
{
	char host[64], path[128];
	uint64_t id;

	snprintf(host, sizeof(host), "%s/docker", root);
	host_says(host, "\"nerdctl/name\":\"secret\"");
	snprintf(path, sizeof(path), "%s/run/containerd", host);
	ck_assert_int_eq(chmod(path, 0), 0);
	id = make("/nerdctl-" ID ".scope");
	/* Found by a walk as root, but not asked for yet */
	look(make("/docker"));
	if (!getuid())
		ck_assert_int_eq(seteuid(4711), 0);
	ck_assert_str_eq(look(id)->path, "/nerdctl-" ID ".scope");
	ck_assert_str_eq(look(id)->name, "4a5f0e6f9c3d");
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert_int_eq(chmod(path, 0700), 0);
}
END_TEST

START_TEST(test_state_other_roots)
{
	uint64_t id = make("/docker/" DOCKER_ID);

	ck_assert_int_eq(cmt_containers_set_root(containers, "/nonexistent"),
			 -ENOENT);
	ck_assert_str_eq(look(id)->name, "shop-web");
	cmt_containers_forget(containers, id);
	ck_assert_int_eq(cmt_containers_set_root(containers, NULL), 0);
	ck_assert_str_eq(look(id)->name, "0c7f30f462d6");
	ck_assert_ptr_null(look(id)->container_name);
}
END_TEST

static int count(void *ctx, uint64_t id, const char *path)
{
	(void)id;
	(void)path;
	++*(int *)ctx;
	return 0;
}

static int stop(void *ctx, uint64_t id, const char *path)
{
	(void)id;
	(void)path;
	return ++*(int *)ctx == 2 ? -ECANCELED : 0;
}

START_TEST(test_walk_counts_and_stops)
{
	int fd = cmt_cgroup_open(root), n = 0;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(cmt_cgroup_walk(fd, count, &n), 0);
	ck_assert_int_eq(n, 5);
	n = 0;
	ck_assert_int_eq(cmt_cgroup_walk(fd, stop, &n), -ECANCELED);
	ck_assert_int_eq(n, 2);
	close(fd);
}
END_TEST

START_TEST(test_walk_depth_limited)
{
	int fd = cmt_cgroup_open(root), at = dup(fd), n = 0;

	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(mkdirat(at, "d", 0700), 0);
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY);

		close(at);
		at = next;
	}
	close(at);
	ck_assert_int_eq(cmt_cgroup_walk(fd, count, &n), 0);
	ck_assert_int_eq(n, 5 + 64);
	close(fd);
}
END_TEST

START_TEST(test_free_closes)
{
	struct cmt_containers *c;
	int fds = unit_open_fds();

	ck_assert_int_eq(cmt_containers_new(&c, root), 0);
	ck_assert_int_eq(cmt_containers_set_root(c, FIXTURES), 0);
	ck_assert_str_eq(cmt_containers_lookup(c, make("/docker/" DOCKER_ID))
			 ->name, "shop-web");
	cmt_containers_free(c);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

START_TEST(test_new_no_such_root)
{
	struct cmt_containers *c = NULL;

	ck_assert_int_eq(cmt_containers_new(&c, "/nonexistent/cgroup"),
			 -ENOENT);
	ck_assert_int_eq(cmt_containers_new(&c, "/proc/self/status"), -ENOENT);
	ck_assert_ptr_null(c);
	cmt_containers_free(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("containers");
	TCase *tcase = tcase_create("containers");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_lookup_found);
	tcase_add_test(tcase, test_lookup_kept_after_removal);
	tcase_add_test(tcase, test_lookup_unknown);
	tcase_add_test(tcase, test_lookup_new_after_misses);
	tcase_add_test(tcase, test_walks_limited);
	tcase_add_test(tcase, test_dead_id_until_forgotten);
	tcase_add_test(tcase, test_symlinks_not_followed);
	tcase_add_test(tcase, test_state_docker);
	tcase_add_test(tcase, test_state_pod);
	tcase_add_test(tcase, test_state_long_names);
	tcase_add_test(tcase, test_state_kept_until_forgotten);
	tcase_add_test(tcase, test_state_not_permitted);
	tcase_add_test(tcase, test_state_other_roots);
	tcase_add_test(tcase, test_walk_counts_and_stops);
	tcase_add_test(tcase, test_walk_depth_limited);
	tcase_add_test(tcase, test_free_closes);
	tcase_add_test(tcase, test_new_no_such_root);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
