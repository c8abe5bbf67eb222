// SPDX-License-Identifier: GPL-2.0-or-later
/* The cache of containers, over trees of plain directories and a made-up kernel. */
#include <cmt/containers.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cgroup/cgroup.h"
#include "name/cache.h"
#include "unit.h"

#define ID "4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a"
#define DOCKER_ID "0c7f30f462d66b3d044efa41d0601ff09af0bbaef30bbff31453821e908bdd5a"
#define CRI_ID "5d0a7b6c4f3e2d1c0b9a8f7e6d5c4b3a29181706f5e4d3c2b1a0f9e8d7c6b5a4"
#define PAUSE_ID "be11c0ffee0123456789abcdef0123456789abcdef0123456789abcdef012345"
#define POD "6f1c6b5e-33c1-4d2e-9d7a-0a1b2c3d4e5f"
#define SECOND		1000000000ULL
#define MS		(SECOND / 1000)

static char root[32];
static struct cmt_containers *containers;
static uint64_t skew_ns;	/* of the clock */
static uint64_t stall_ns;	/* goes by at every look at the clock */
static uint64_t frozen_ns;	/* the clock without skew_ns */
static uint64_t cpu_ns;		/* CPU time of the thread */
static uint64_t parse_ns;	/* CPU time of one parsed file */
static uint64_t read_ns;	/* goes by at every read(), without CPU time */
static uint64_t walk_ns;	/* CPU time of a walk */
static uid_t owner;		/* of every file, as fstat() has it; 0: the real owner */
static const char *delegated;	/* this directory is another account's */
static unsigned int parses;	/* of JSON files */
static unsigned int mountinfos;	/* how often the list of mounts was opened */

/* What the kernel says of ids: its path below /k, but for these. */
static struct {
	int err;
	const char *path;
	uint64_t unknown;	/* an id without a path */
	unsigned int calls;
} kernel;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_cmt_device_cgroup_path(const struct cmt_device *dev,
				  uint64_t cgroup_id, char *path, size_t size);

struct json_object *__real_json_tokener_parse_ex(void *tok, const char *text, int len);
struct json_object *__wrap_json_tokener_parse_ex(void *tok, const char *text, int len);
int __real_cmt_cgroup_walk(int root_fd, cmt_cgroup_fn fn, void *ctx);
int __wrap_cmt_cgroup_walk(int root_fd, cmt_cgroup_fn fn, void *ctx);
int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __real_fstat64(int fd, struct stat64 *st);
int __wrap_fstat64(int fd, struct stat64 *st);
int __real_fstatat(int fd, const char *path, struct stat *st, int flags);
int __wrap_fstatat(int fd, const char *path, struct stat *st, int flags);
int __real_fstatat64(int fd, const char *path, struct stat64 *st, int flags);
int __wrap_fstatat64(int fd, const char *path, struct stat64 *st, int flags);
ssize_t __real_read(int fd, void *buf, size_t n);
ssize_t __wrap_read(int fd, void *buf, size_t n);
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);

struct json_object *__wrap_json_tokener_parse_ex(void *tok, const char *text, int len)
{
	parses++;
	cpu_ns += parse_ns;
	return __real_json_tokener_parse_ex(tok, text, len);
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	mountinfos += !strcmp(path, "/proc/self/mountinfo");
	return __real_fopen64(path, mode);
}

int __wrap_cmt_cgroup_walk(int root_fd, cmt_cgroup_fn fn, void *ctx)
{
	cpu_ns += walk_ns;
	return __real_cmt_cgroup_walk(root_fd, fn, ctx);
}

int __wrap_fstat(int fd, struct stat *st)
{
	int ret = __real_fstat(fd, st);

	if (owner)
		st->st_uid = owner;
	return ret;
}

int __wrap_fstat64(int fd, struct stat64 *st)
{
	int ret = __real_fstat64(fd, st);

	if (owner)
		st->st_uid = owner;
	return ret;
}

int __wrap_fstatat(int fd, const char *path, struct stat *st, int flags)
{
	int ret = __real_fstatat(fd, path, st, flags);

	st->st_uid += delegated && !strcmp(path, delegated);
	return ret;
}

int __wrap_fstatat64(int fd, const char *path, struct stat64 *st, int flags)
{
	int ret = __real_fstatat64(fd, path, st, flags);

	st->st_uid += delegated && !strcmp(path, delegated);
	return ret;
}

ssize_t __wrap_read(int fd, void *buf, size_t n)
{
	skew_ns += read_ns;
	return __real_read(fd, buf, n);
}

static uint64_t ns_of(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * SECOND + (uint64_t)ts->tv_nsec;
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND) };
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int ret = __real_clock_gettime(clock, ts);

	if (clock == CLOCK_THREAD_CPUTIME_ID)
		*ts = time_of(cpu_ns);
	if (clock != CLOCK_MONOTONIC)
		return ret;
	skew_ns += stall_ns;
	*ts = time_of(frozen_ns + skew_ns);
	return ret;
}

int __wrap_cmt_device_cgroup_path(const struct cmt_device *dev,
				  uint64_t cgroup_id, char *path, size_t size)
{
	ck_assert_ptr_eq(dev, (const struct cmt_device *)&kernel);
	kernel.calls++;
	if (kernel.err)
		return kernel.err;
	if (cgroup_id == kernel.unknown)
		return -ENOENT;
	if (kernel.path)
		snprintf(path, size, "%s", kernel.path);
	else
		snprintf(path, size, "/system.slice/docker-%s.scope/%" PRIu64,
			 DOCKER_ID, cgroup_id);
	return 0;
}

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

static void begin(struct cmt_containers_opts opts)
{
	opts.sz = sizeof(opts);
	ck_assert_int_eq(cmt_containers_new(&containers, &opts), 0);
}

/* Only the tests move the clocks: a busy host takes no turn of a lookup. */
static void freeze_clocks(void)
{
	struct timespec now;

	__real_clock_gettime(CLOCK_MONOTONIC, &now);
	frozen_ns = ns_of(&now);
	cpu_ns = 1;
}

static void setup(void)
{
	strcpy(root, "cmt-cgroups-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	make("/docker");
	make("/docker/" ID);
	make("/system.slice");
	make("/system.slice/ssh.service");
	skew_ns = 0;
	stall_ns = 0;
	freeze_clocks();
	parse_ns = 0;
	read_ns = 0;
	walk_ns = 0;
	owner = 0;
	delegated = NULL;
	memset(&kernel, 0, sizeof(kernel));
	begin((struct cmt_containers_opts){ .cgroup_root = root,
					    .state_root = FIXTURES });
}

/* As above, but for those who ask the kernel. */
static void begin_kernel(uint32_t max)
{
	cmt_containers_free(containers);
	begin((struct cmt_containers_opts){
		.device = (const struct cmt_device *)&kernel,
		.cgroup_root = root, .state_root = FIXTURES, .max = max,
	});
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

/* However many ids were not found, a new container is, at once and in place. */
START_TEST(test_lookup_new_after_misses)
{
	for (uint64_t k = 0; k < 10000; k++)
		look((1ULL << 63) + k);
	skew_ns += 60 * SECOND;
	ck_assert_str_eq(look(make("/lxc.payload.new"))->name, "new");
	ck_assert_str_eq(look(make("/lxc.payload.newer"))->name, "newer");
}
END_TEST

/* Not after how many looks, but after what time. */
START_TEST(test_found_after_time)
{
	static const int errors[] = { -ENOENT, -ENOMEM };
	const struct cmt_container *c;

	begin_kernel(0);
	kernel.err = errors[_i];
	c = look(1 << 30);
	for (int i = 0; i < 1000; i++)
		look(1 << 30);
	ck_assert_uint_eq(kernel.calls, 1);
	ck_assert_ptr_null(c->path);
	kernel.err = 0;
	skew_ns += SECOND;
	ck_assert_ptr_eq(look(1 << 30), c);
	ck_assert_str_eq(c->name, "shop-web");
	ck_assert_uint_eq(kernel.calls, 2);
	/* a path that is known is not asked for again */
	skew_ns += 600 * SECOND;
	look(1 << 30);
	ck_assert_uint_eq(kernel.calls, 2);
}
END_TEST

/* What the kernel tells is the path; the tree is not read. */
START_TEST(test_path_comes_from_kernel)
{
	uint64_t id = make("/docker/" ID);
	const struct cmt_container *c;

	begin_kernel(0);
	c = look(id);
	ck_assert(!strncmp(c->path, "/system.slice/docker-" DOCKER_ID ".scope/",
			   c->own_len + 1));
	ck_assert_int_eq(c->path[c->own_len], '/');
	ck_assert_str_eq(c->name, "shop-web");
	kernel.err = -ENOMEM;
	ck_assert_ptr_null(look(make("/docker"))->path);
	/* but where it does not know (a cgroup namespace) */
	kernel.err = -ENOENT;
	ck_assert_str_eq(look(make("/system.slice"))->path, "/system.slice");
}
END_TEST

/* A walk keeps what was asked for, and not what it meets. */
START_TEST(test_walk_keeps_only_wanted_ids)
{
	uint64_t ids[300];
	char path[32];

	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "/c%d", i);
		ids[i] = make(path);
	}
	ck_assert_str_eq(look(ids[7])->path, "/c7");
	for (int i = 0; i < 300; i++)
		ck_assert((cmt_containers_find(containers, ids[i]) != NULL) ==
			  (i == 7));
}
END_TEST

/* Walks take 1/20 of the time: seen by whether new directories are found. */
START_TEST(test_walks_limited)
{
	int found = 0;
	char path[32];

	walk_ns = 5 * MS;
	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/late%d", i);
		found += !!look(make(path))->path;
		skew_ns += MS;
	}
	/* a turn is of 50 ms, and the pause after it 20 times as long */
	ck_assert_int_eq(found, 10);
}
END_TEST

/* Time in which a busy host does not run the walk is not the walk's. */
START_TEST(test_walks_on_busy_host)
{
	stall_ns = SECOND;
	ck_assert_ptr_nonnull(look(make("/first"))->path);
	ck_assert_ptr_nonnull(look(make("/second"))->path);
	ck_assert_ptr_nonnull(look(make("/third"))->path);
}
END_TEST

/* What is not used is evicted, oldest first, but for what a row has. */
START_TEST(test_bounded)
{
	struct cmt_item *pinned;
	int kept = 0;

	begin_kernel(16);
	pinned = cmt_containers_pin(containers, 1000);
	ck_assert_ptr_nonnull(pinned);
	for (uint64_t id = 1; id <= 100; id++) {
		look(id);
		ck_assert_ptr_nonnull(cmt_containers_find(containers, 1));
	}
	for (uint64_t id = 1; id <= 100; id++)
		kept += !!cmt_containers_find(containers, id);
	ck_assert_int_eq(kept, 16);
	ck_assert_ptr_nonnull(cmt_containers_find(containers, 100));
	ck_assert_ptr_eq(cmt_containers_find(containers, 1000),
			 &pinned->container);
	cmt_containers_forget(containers, 1000);
	ck_assert_ptr_nonnull(cmt_containers_find(containers, 1000));
	cmt_containers_unpin(containers, pinned);
	cmt_containers_forget(containers, 1000);
	ck_assert_ptr_null(cmt_containers_find(containers, 1000));
}
END_TEST

/* What is pinned is beside the bound, and within it when it is unpinned. */
START_TEST(test_bounded_without_pins)
{
	struct cmt_item *pinned[40];
	int kept = 0;

	begin_kernel(16);
	for (uint64_t id = 0; id < 40; id++)
		pinned[id] = cmt_containers_pin(containers, id + 1);
	for (uint64_t id = 0; id < 40; id++)
		ck_assert_uint_eq(pinned[id]->container.cgroup_id, id + 1);
	for (uint64_t id = 0; id < 40; id++)
		cmt_containers_unpin(containers, pinned[id]);
	for (uint64_t id = 0; id < 40; id++)
		kept += !!cmt_containers_find(containers, id + 1);
	ck_assert_int_eq(kept, 16);
}
END_TEST

/* However many are pinned, a result lives until max - 1 others have been looked up. */
START_TEST(test_result_lives_beside_pins)
{
	const struct cmt_container *first;

	begin_kernel(16);
	for (uint64_t id = 1001; id <= 1040; id++)
		ck_assert_ptr_nonnull(cmt_containers_pin(containers, id));
	first = look(1);
	for (uint64_t id = 2; id <= 16; id++)
		look(id);
	ck_assert_ptr_eq(cmt_containers_find(containers, 1), first);
}
END_TEST

/* An owner that ends does not take with it what was looked up. */
START_TEST(test_result_lives_after_pin)
{
	struct cmt_item *pinned[40];
	const struct cmt_container *last;

	begin_kernel(16);
	for (uint64_t id = 0; id < 40; id++)
		pinned[id] = cmt_containers_pin(containers, id + 1);
	last = look(40);
	cmt_containers_unpin(containers, pinned[39]);
	ck_assert_ptr_eq(cmt_containers_find(containers, 40), last);
}
END_TEST

/* The CPU time to pin @nr cgroups in a cache with this bound. */
static clock_t time_to_pin(uint32_t max, uint64_t nr)
{
	clock_t began;

	begin_kernel(max);
	began = clock();
	for (uint64_t id = 1; id <= nr; id++)
		ck_assert_ptr_nonnull(cmt_containers_pin(containers, id));
	return clock() - began;
}

/* Above the bound a pin takes no longer than below it. */
START_TEST(test_pins_do_not_add_up)
{
	time_to_pin(1 << 20, 16384);	/* the memory is the process's now */
	ck_assert_int_lt(time_to_pin(16, 16384), 5 * time_to_pin(1 << 20, 16384) + 5000);
}
END_TEST

/* Too many open files are no answer. */
START_TEST(test_temporary_error_is_retried)
{
	struct rlimit limit, none;
	const struct cmt_container *c;

	begin_kernel(0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	c = look(5);
	/* as often as that happens, it is asked again soon */
	for (int i = 0; i < 10; i++) {
		skew_ns += SECOND;
		look(5);
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_str_eq(c->name, "0c7f30f462d6");
	skew_ns += SECOND;
	look(5);
	ck_assert_str_eq(c->name, "shop-web");
}
END_TEST

/* Nothing of the kernel's, of the tree and of state files. */
START_TEST(test_names_given_by_caller)
{
	struct cmt_container given = {
		.sz = sizeof(given), .cgroup_id = 7,
		.path = "/user.slice/user-1000.slice/docker-" DOCKER_ID ".scope",
		.pod_name = "a\033", .image = "",
	};
	const struct cmt_container *c;

	cmt_containers_free(containers);
	begin((struct cmt_containers_opts){ .flags = CMT_CONTAINERS_GIVEN,
		.device = (const struct cmt_device *)&kernel });
	c = look(7);
	ck_assert_ptr_null(c->path);
	ck_assert_int_eq(cmt_containers_put(containers, &given), 0);
	ck_assert_str_eq(c->path, given.path);
	ck_assert_str_eq(c->pod_name, "a?");
	ck_assert_str_eq(c->name, "a?");
	ck_assert_str_eq(c->id, DOCKER_ID);
	ck_assert_ptr_null(c->image);
	ck_assert_uint_eq(c->flags, CMT_CONTAINER_OF_USER);
	ck_assert_uint_eq(c->uid, 1000);
	strcpy(given.name, "web\n");
	strcpy(given.id, "abc");
	given.path = "/x";
	ck_assert_int_eq(cmt_containers_put(containers, &given), 0);
	ck_assert_ptr_eq(look(7), c);
	ck_assert_str_eq(c->name, "web?");
	ck_assert_str_eq(c->id, "abc");
	ck_assert_str_eq(c->path, "/x");
	ck_assert_uint_eq(c->flags, 0);
	ck_assert_uint_eq(kernel.calls, 0);
	given.path = NULL;
	ck_assert_int_eq(cmt_containers_put(containers, &given), -EINVAL);
	given.sz--;
	given.path = "/";
	ck_assert_int_eq(cmt_containers_put(containers, &given), -EINVAL);
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

/*
 * A service to which systemd gave its cgroup makes some there with the names of a container of
 * root's.  _i: the kernel gives their paths.
 */
START_TEST(test_state_of_delegated)
{
	static const char *const made[] = {
		"/system.slice/ci.service/docker-" DOCKER_ID ".scope",
		"/system.slice/ci.service/docker-" DOCKER_ID ".scope/nested",
		"/system.slice/ci.service/docker/" DOCKER_ID,
	};
	const struct cmt_container *c;

	make("/system.slice/ci.service");
	make("/system.slice/ci.service/docker");
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		uint64_t id = make(made[i]);

		if (_i)
			begin_kernel(0);
		kernel.path = made[i];
		delegated = i < 2 ? "./system.slice/ci.service" :
				    "./system.slice/ci.service/docker";
		c = look(id);
		ck_assert_str_eq(c->name, "0c7f30f462d6");
		ck_assert_str_eq(c->id, DOCKER_ID);
		ck_assert_ptr_null(c->container_name);
		ck_assert_ptr_null(c->image);
		/* the same below what root made */
		delegated = NULL;
		cmt_containers_forget(containers, id);
		ck_assert_str_eq(look(id)->name, "shop-web");
	}
}
END_TEST

/* Who made a cgroup that is not in the tree is not known. */
START_TEST(test_state_of_unseen)
{
	begin_kernel(0);
	kernel.path = "/gone.slice/docker-" DOCKER_ID ".scope";
	ck_assert_str_eq(look(1)->name, "0c7f30f462d6");
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

/* A state file that comes later is found, ever less often looked for. */
START_TEST(test_state_comes_later)
{
	const struct cmt_container *c;
	unsigned int seconds = 0;
	char host[64];

	snprintf(host, sizeof(host), "%s/docker", root);
	ck_assert_int_eq(cmt_containers_set_root(containers, host), 0);
	c = look(make("/nerdctl-" ID ".scope"));
	for (int i = 0; i < 40; i++) {
		skew_ns += SECOND;
		look(c->cgroup_id);
	}
	ck_assert_str_eq(c->name, "4a5f0e6f9c3d");
	host_says(host, "\"nerdctl/name\":\"late\"");
	while (strcmp(c->name, "late") && seconds++ < 64) {
		skew_ns += SECOND;
		look(c->cgroup_id);
	}
	ck_assert_str_eq(c->name, "late");
	ck_assert_uint_gt(seconds, 1);
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

#define USERS_IDS 50
#define USERS_LISTS 6
#define STORAGE "/.local/share/containers/storage"
#define USER 4711

static const char *const drivers[] = { "overlay", "vfs", "btrfs" };

/* A list of a user's rootless podman; @names: with all ids, else empty. */
static void write_list(const char *host, const char *driver, const char *file, unsigned int uid,
		       bool names)
{
	char path[256];
	FILE *list;

	snprintf(path, sizeof(path), "%s/home/%u" STORAGE "/%s-containers/%s", host, uid, driver,
		 file);
	unlink(path);
	list = fopen(path, "w");
	ck_assert_ptr_nonnull(list);
	fprintf(list, "[");
	for (int i = 0; names && i < USERS_IDS; i++)
		fprintf(list, "%s{\"id\":\"%064x\",\"names\":[\"mine%d\"]}", i ? "," : "", i, i);
	fprintf(list, "]");
	ck_assert_int_eq(fclose(list), 0);
}

/* The last list that is read has the names. */
static void write_lists(const char *host, unsigned int uid)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		write_list(host, drivers[i], "containers.json", uid, false);
		write_list(host, drivers[i], "volatile-containers.json", uid, i == 2);
	}
}

static void add_user(const char *host, unsigned int uid)
{
	char text[512];

	snprintf(text, sizeof(text), "cd %s && echo u:x:%u:%u::/home/%u:/bin/sh >>etc/passwd && "
		 "for driver in overlay vfs btrfs; do "
		 "mkdir -p home/%u" STORAGE "/$driver-containers || exit 1; done",
		 host, uid, uid, uid, uid);
	ck_assert_int_eq(system(text), 0);
	write_lists(host, uid);
}

/* A host with users who have six lists each, beside docker. */
static void users_host(char host[64])
{
	char text[512];

	snprintf(host, 64, "%s/docker", root);
	snprintf(text, sizeof(text), "cp -r %s/. %s && mkdir %s/etc", FIXTURES, host, host);
	ck_assert_int_eq(system(text), 0);
	add_user(host, USER);
	begin_kernel(0);
	ck_assert_int_eq(cmt_containers_set_root(containers, host), 0);
	parse_ns = 5000000;
	parses = 0;
	mountinfos = 0;
}

/* Look up the cgroup @id, which a user has made for the container @number. */
static bool is_named(unsigned int uid, uint64_t id, uint64_t number)
{
	char path[256], name[16];
	bool named;

	snprintf(path, sizeof(path), "/user.slice/user-%u.slice/libpod-%064x.scope", uid,
		 (unsigned int)number);
	snprintf(name, sizeof(name), "mine%u", (unsigned int)number);
	kernel.path = path;
	owner = uid;
	named = !strcmp(look(id)->name, name);
	kernel.path = NULL;
	owner = 0;
	return named;
}

static unsigned int count_named(unsigned int uid)
{
	unsigned int named = 0;

	for (uint64_t i = 0; i < USERS_IDS; i++)
		named += is_named(uid, 1000 + i, i);
	return named;
}

/* Files that are the same are read once. */
START_TEST(test_user_lists_read_once)
{
	char host[64];

	users_host(host);
	ck_assert_uint_eq(count_named(USER), USERS_IDS);
	ck_assert_uint_eq(parses, USERS_LISTS);
	ck_assert_uint_eq(mountinfos, USERS_IDS);
}
END_TEST

/*
 * A user who changes the files all the time gets names late: the reader of the rings has
 * 19/20 of the time, and names of root's containers do not wait.
 */
START_TEST(test_user_names_limited)
{
	unsigned int named = 0;
	char host[64];

	users_host(host);
	for (uint64_t i = 0; i < USERS_IDS; i++) {
		write_lists(host, USER);
		is_named(USER, 1000 + i, i);
	}
	/* more than 50 ms with the second one */
	ck_assert_uint_eq(parses, 2 * USERS_LISTS);
	ck_assert_str_eq(look(1)->name, "shop-web");
	while (named < USERS_IDS && skew_ns < 300 * SECOND) {
		skew_ns += SECOND / 5;
		write_lists(host, USER);
		named = count_named(USER);
	}
	ck_assert_uint_eq(named, USERS_IDS);
	ck_assert_uint_le(20 * cpu_ns, skew_ns + SECOND + 20 * USERS_LISTS * parse_ns);
}
END_TEST

/* A user who makes cgroups and changes the files all the time delays other users' names. */
START_TEST(test_user_names_in_turns)
{
	/* the second one has the same bit as USER in the first round */
	static const unsigned int others[] = { 4712, 4944 };
	uint64_t id = 1000;
	bool named = false;
	char host[64];

	users_host(host);
	add_user(host, others[_i]);
	/* one lookup of USER ends the turn */
	parse_ns = 10000000;
	while (!named && skew_ns < 60 * SECOND) {
		skew_ns += SECOND / 5;
		write_lists(host, USER);
		for (uint64_t i = 0; i < USERS_IDS; i++)
			is_named(USER, id++, i);
		/* not in the first rounds, in which all users are served */
		if (skew_ns >= 5 * SECOND)
			named = is_named(others[_i], 500, 0);
	}
	ck_assert(named);
	/* the first user's turn comes again */
	parses = 0;
	for (int i = 0; i < 50; i++) {
		skew_ns += SECOND / 5;
		write_lists(host, USER);
		is_named(USER, id++, 0);
	}
	ck_assert_uint_ge(parses, USERS_LISTS);
}
END_TEST

#define SLOW_IDS 50

/* A host with many containers of docker. */
static void docker_host(char host[64], uint32_t flags)
{
	char text[512];

	snprintf(host, 64, "%s/docker", root);
	snprintf(text, sizeof(text), "cd %s && mkdir -p var/lib/docker/containers && "
		 "cd var/lib/docker/containers && for i in $(seq 0 %d); do "
		 "id=$(printf %%064x $i) && mkdir $id && "
		 "echo \"{\\\"Name\\\":\\\"/slow$i\\\"}\" >$id/config.v2.json || exit 1; done",
		 host, SLOW_IDS - 1);
	ck_assert_int_eq(system(text), 0);
	cmt_containers_free(containers);
	begin((struct cmt_containers_opts){
		.device = (const struct cmt_device *)&kernel, .cgroup_root = root,
		.state_root = host, .flags = flags,
	});
}

static unsigned int count_slow(void)
{
	unsigned int named = 0;
	char path[128], name[16];

	for (unsigned int i = 0; i < SLOW_IDS; i++) {
		snprintf(path, sizeof(path), "/system.slice/docker-%064x.scope", i);
		snprintf(name, sizeof(name), "slow%u", i);
		kernel.path = path;
		named += !strcmp(look(1000 + i)->name, name);
	}
	kernel.path = NULL;
	return named;
}

/* Lookups that wait for a disk end before the rings are full, and go on later. */
START_TEST(test_names_of_slow_disk)
{
	uint64_t began, most = 0, least = UINT64_MAX, ns;
	unsigned int named = 0;
	char host[64];

	docker_host(host, 0);
	read_ns = 10000000;
	for (int i = 0; i < 60 && named < SLOW_IDS; i++) {
		skew_ns += SECOND;
		began = skew_ns;
		named = count_slow();
		ns = skew_ns - began;
		most = ns > most ? ns : most;
		least = ns < least ? ns : least;
	}
	ck_assert_uint_eq(named, SLOW_IDS);
	ck_assert_uint_lt(most, 100000000);
	/* a disk that is slow does not cost CPU time */
	ck_assert_uint_ge(least, 50000000);
}
END_TEST

/* A program that looks once gets all names at once. */
START_TEST(test_names_without_pauses)
{
	char host[64];

	docker_host(host, CMT_CONTAINERS_NO_PAUSE);
	read_ns = 10000000;
	ck_assert_uint_eq(count_slow(), SLOW_IDS);
}
END_TEST

/* A walk that never finds an id leaves root's containers their time. */
START_TEST(test_names_beside_walks)
{
	bool named = false;

	begin_kernel(0);
	walk_ns = 100000000;
	kernel.unknown = 7;
	for (int i = 0; i < 50; i++) {
		look(7);
		skew_ns += SECOND / 5;
	}
	for (int i = 0; i < 50 && !named; i++) {
		look(7);
		named = !strcmp(look(1)->name, "shop-web");
		skew_ns += SECOND / 5;
	}
	ck_assert(named);
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
	begin_kernel(0);
	ck_assert_int_eq(cmt_containers_set_root(containers, host), 0);
	kernel.path = "/nerdctl-" ID ".scope";
	id = 5;
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
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
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
	struct cmt_containers_opts opts = { .sz = sizeof(opts), .cgroup_root = root };
	struct cmt_containers *c;
	int fds = unit_open_fds();

	opts.state_root = FIXTURES;
	ck_assert_int_eq(cmt_containers_new(&c, &opts), 0);
	ck_assert_str_eq(cmt_containers_lookup(c, make("/docker/" DOCKER_ID))
			 ->name, "shop-web");
	cmt_containers_free(c);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* A daemon without standard input: a directory has descriptor 0. */
START_TEST(test_descriptor_0)
{
	uint64_t id = make("/docker/" DOCKER_ID);
	int input = dup(0);

	cmt_containers_free(containers);
	containers = NULL;
	close(0);
	begin((struct cmt_containers_opts){ .cgroup_root = root, .state_root = FIXTURES });
	ck_assert_str_eq(look(id)->name, "shop-web");
	cmt_containers_free(containers);
	containers = NULL;
	ck_assert_int_lt(fcntl(0, F_GETFD), 0);
	dup2(input, 0);
	close(input);
}
END_TEST

START_TEST(test_new_refuses)
{
	struct cmt_containers_opts opts = { .sz = sizeof(opts) };
	struct cmt_containers *c = NULL;

	opts.cgroup_root = "/nonexistent/cgroup";
	ck_assert_int_eq(cmt_containers_new(&c, &opts), -ENOENT);
	opts.cgroup_root = "/proc/self/status";
	ck_assert_int_eq(cmt_containers_new(&c, &opts), -ENOENT);
	opts.cgroup_root = root;
	opts.state_root = "/nonexistent";
	ck_assert_int_eq(cmt_containers_new(&c, &opts), -ENOENT);
	opts.state_root = NULL;
	opts.max = 15;
	ck_assert_int_eq(cmt_containers_new(&c, &opts), -EINVAL);
	opts.max = 0;
	opts.flags = 1U << 31;
	ck_assert_int_eq(cmt_containers_new(&c, &opts), -EINVAL);
	ck_assert_ptr_null(c);
	cmt_containers_free(NULL);
}
END_TEST

/* A tree that may not be read costs names, and no more. */
START_TEST(test_new_without_tree)
{
	struct cmt_containers *c;

	/* the only cgroup2 in /proc/self/mounts may be unreadable, or none */
	ck_assert_int_eq(cmt_containers_new(&c, NULL), 0);
	ck_assert_str_eq(cmt_containers_lookup(c, UINT64_MAX)->name,
			 "cgroup:18446744073709551615");
	cmt_containers_free(c);
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
	tcase_add_loop_test(tcase, test_found_after_time, 0, 2);
	tcase_add_test(tcase, test_path_comes_from_kernel);
	tcase_add_test(tcase, test_walk_keeps_only_wanted_ids);
	tcase_add_test(tcase, test_walks_limited);
	tcase_add_test(tcase, test_walks_on_busy_host);
	tcase_add_test(tcase, test_bounded);
	tcase_add_test(tcase, test_bounded_without_pins);
	tcase_add_test(tcase, test_result_lives_beside_pins);
	tcase_add_test(tcase, test_result_lives_after_pin);
	tcase_add_test(tcase, test_pins_do_not_add_up);
	tcase_add_test(tcase, test_temporary_error_is_retried);
	tcase_add_test(tcase, test_names_given_by_caller);
	tcase_add_test(tcase, test_state_comes_later);
	tcase_add_test(tcase, test_new_without_tree);
	tcase_add_test(tcase, test_symlinks_not_followed);
	tcase_add_test(tcase, test_state_docker);
	tcase_add_loop_test(tcase, test_state_of_delegated, 0, 2);
	tcase_add_test(tcase, test_state_of_unseen);
	tcase_add_test(tcase, test_state_pod);
	tcase_add_test(tcase, test_state_long_names);
	tcase_add_test(tcase, test_state_kept_until_forgotten);
	tcase_add_test(tcase, test_user_lists_read_once);
	tcase_add_test(tcase, test_user_names_limited);
	tcase_add_loop_test(tcase, test_user_names_in_turns, 0, 2);
	tcase_add_test(tcase, test_names_of_slow_disk);
	tcase_add_test(tcase, test_names_without_pauses);
	tcase_add_test(tcase, test_names_beside_walks);
	tcase_add_test(tcase, test_state_not_permitted);
	tcase_add_test(tcase, test_state_other_roots);
	tcase_add_test(tcase, test_walk_counts_and_stops);
	tcase_add_test(tcase, test_walk_depth_limited);
	tcase_add_test(tcase, test_free_closes);
	tcase_add_test(tcase, test_descriptor_0);
	tcase_add_test(tcase, test_new_refuses);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
