// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file of names: what cmt-names writes of containers, what the library believes
 * of it, and what somebody else may have made of it.
 */
#include <cmt/containers.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmtnames/list.h"
#include "file/file.h"
#include "name/names_file.h"
#include "unit.h"

#define DOCKER_ID "0c7f30f462d66b3d044efa41d0601ff09af0bbaef30bbff31453821e908bdd5a"
#define CRI_ID "5d0a7b6c4f3e2d1c0b9a8f7e6d5c4b3a29181706f5e4d3c2b1a0f9e8d7c6b5a4"
#define PAUSE_ID "be11c0ffee0123456789abcdef0123456789abcdef0123456789abcdef012345"
#define PODMAN_ID "d77f04982e75aa5a5e7fa73cf68c7ee4b342671929218e32c9a4e51a536449ab"
#define ALICE_CGROUP "/user.slice/user-4711.slice/libpod-" \
	"868562cbfb82bda0e0c83b627520e7ab56cff5f4c0c4c30f4b876b41b65f306f.scope"
#define POD "6f1c6b5e-33c1-4d2e-9d7a-0a1b2c3d4e5f"
#define IMAGE "localhost/web:1.0"
#define DOCKER_FILE "/var/lib/docker/containers/" DOCKER_ID "/config.v2.json"

#define DOCKER_LINE DOCKER_ID "\tdocker\tshop-web\t\t\t\t" IMAGE "\n"
#define CRI_LINE CRI_ID "\tcontainerd\tnginx\tweb-0\tshop\t" POD "\t" IMAGE "\n"
#define PAUSE_LINE PAUSE_ID "\tcontainerd\t\tweb-0\tshop\t" POD "\t\n"
#define PODMAN_LINE PODMAN_ID "\tpodman\tshop-db\t\t\t\t" IMAGE "\n"
#define ALL CMT_NAMES_BEGIN DOCKER_LINE CRI_LINE PAUSE_LINE PODMAN_LINE CMT_NAMES_END

#define AAAA "aaaaaaaaaaaaaaaaaaaaaaaa"
#define BBBB "bbbbbbbbbbbbbbbbbbbbbbbb"

static char root[32];
static int root_fd;
static uid_t owner;		/* of every file, as fstat() has it */
static int read_error;
static unsigned int reads;
static size_t disk_room;	/* bytes that can still be written */
static bool slow;		/* 5 ms of CPU time go by at every look at the clock */

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __real_fstat64(int fd, struct stat64 *st);
int __wrap_fstat64(int fd, struct stat64 *st);
bool __wrap_cmt_cgroup_made_by_root(int fd, const char *path, size_t len);
ssize_t __real_read(int fd, void *buf, size_t n);
ssize_t __wrap_read(int fd, void *buf, size_t n);
ssize_t __real_write(int fd, const void *buf, size_t n);
ssize_t __wrap_write(int fd, const void *buf, size_t n);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	static long looks;

	if (!slow || clock != CLOCK_THREAD_CPUTIME_ID)
		return __real_clock_gettime(clock, ts);
	looks++;
	*ts = (struct timespec){ .tv_sec = looks / 200, .tv_nsec = looks % 200 * 5000000 };
	return 0;
}

int __wrap_fstat(int fd, struct stat *st)
{
	int ret = __real_fstat(fd, st);

	st->st_uid = owner;
	return ret;
}

int __wrap_fstat64(int fd, struct stat64 *st)
{
	int ret = __real_fstat64(fd, st);

	st->st_uid = owner;
	return ret;
}

ssize_t __wrap_read(int fd, void *buf, size_t n)
{
	reads++;
	if (!read_error)
		return __real_read(fd, buf, n);
	errno = read_error;
	return -1;
}

/* Most paths are in no tree. */
bool __wrap_cmt_cgroup_made_by_root(int fd, const char *path, size_t len)
{
	(void)fd;
	(void)path;
	(void)len;
	return true;
}

/* In pieces, and until the disk is full. */
ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
	struct stat st;
	ssize_t done;

	/* Check reports through a pipe */
	if (__real_fstat(fd, &st) || !S_ISREG(st.st_mode))
		return __real_write(fd, buf, n);
	if (n > 100)
		n = 100;
	if (n > disk_room)
		n = disk_room;
	if (!n) {
		errno = ENOSPC;
		return -1;
	}
	done = __real_write(fd, buf, n);
	disk_room -= done > 0 ? (size_t)done : 0;
	return done;
}

static const char *in_root(const char *path)
{
	return unit_path(root, path);
}

static void setup(void)
{
	char text[256];

	strcpy(root, "cmt-names-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(text, sizeof(text), "cp -r %s/. %s && mkdir %s/run/cmt",
		 FIXTURES, root, root);
	unit_shell(text);
	root_fd = open(root, O_PATH | O_DIRECTORY);
	ck_assert_int_ge(root_fd, 0);
	owner = 0;
	read_error = 0;
	reads = 0;
	disk_room = SIZE_MAX;
	slow = false;
}

static void teardown(void)
{
	char command[64];

	close(root_fd);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	unit_shell(command);
}

static struct cmt_containers *containers_new(void)
{
	struct cmt_containers_opts opts = {
		.sz = sizeof(opts), .state_root = root, .cgroup_root = root,
		.flags = CMT_CONTAINERS_NO_PAUSE,
	};
	struct cmt_containers *containers;

	ck_assert_int_eq(cmt_containers_new(&containers, &opts), 0);
	return containers;
}

static void list_add(struct names_list *list, struct cmt_containers *containers,
		     const char *path)
{
	static uint64_t id = 1000;

	ck_assert_int_eq(names_list_add(list, containers, ++id, path), 0);
}

static void list_is(struct names_list *list, const char *expected)
{
	char *text;
	size_t size;

	ck_assert_int_eq(names_list_text(list, &text, &size), 0);
	ck_assert_uint_eq(size, strlen(text));
	ck_assert_str_eq(text, expected);
	ck_assert(cmt_names_possible(text, size));
	free(text);
}

/* Of a cgroup that is a directory below the root. */
static const char *name_of(const char *path)
{
	static char name[CMT_CONTAINER_NAME_LEN];
	struct cmt_containers *containers = containers_new();
	char command[512];
	struct stat st;

	snprintf(command, sizeof(command), "mkdir -p %s%s", root, path);
	unit_shell(command);
	ck_assert_int_eq(stat(in_root(path), &st), 0);
	strcpy(name, cmt_containers_lookup(containers, st.st_ino)->name);
	cmt_containers_free(containers);
	return name;
}

/* Root's containers, in the order of their ids, one line each. */
START_TEST(test_list_containers)
{
	struct cmt_containers *containers = containers_new();
	struct names_list list = { 0 };

	list_is(&list, CMT_NAMES_BEGIN CMT_NAMES_END);
	list_add(&list, containers, "/machine.slice/libpod-" PODMAN_ID ".scope");
	list_add(&list, containers,
		 "/machine.slice/libpod-" PODMAN_ID ".scope/container");
	list_add(&list, containers, "/kubepods/pod" POD "/" CRI_ID);
	list_add(&list, containers, "/kubepods/pod" POD);
	list_add(&list, containers,
		 "/system.slice/cri-containerd-" PAUSE_ID ".scope");
	list_add(&list, containers, "/docker/" DOCKER_ID);
	list_add(&list, containers, "/system.slice/docker-" DOCKER_ID ".scope");
	/* without a name, or without an id */
	list_add(&list, containers, "/docker/" AAAA);
	list_add(&list, containers, "/system.slice/ssh.service");
	list_add(&list, containers, "/lxc.payload.web");
	list_add(&list, containers, "/");
	list_is(&list, ALL);
	names_list_free(&list);
	cmt_containers_free(containers);
}
END_TEST

/* cmt-names has its own limit of CPU time: the file is complete after the first pass. */
START_TEST(test_list_complete)
{
	struct cmt_containers *containers = containers_new();
	struct names_list list = { 0 };
	char text[512];

	snprintf(text, sizeof(text), "cd %s/var/lib/docker/containers && "
		 "for i in $(seq 0 49); do id=$(printf %%064x $i) && mkdir $id && "
		 "cp " DOCKER_ID "/config.v2.json $id || exit 1; done", root);
	unit_shell(text);
	slow = true;
	for (int i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "/docker/%064x", i);
		list_add(&list, containers, text);
	}
	ck_assert_uint_eq(list.nr, 50);
	names_list_free(&list);
	cmt_containers_free(containers);
}
END_TEST

/* A user's container, which the user's files do name. */
START_TEST(test_list_without_users)
{
	struct cmt_containers *containers = containers_new();
	struct names_list list = { 0 };
	char command[256];

	snprintf(command, sizeof(command), "mkdir %s/etc && "
		 "echo 'alice:x:4711:4711::/home/alice:/bin/sh' >%s/etc/passwd",
		 root, root);
	unit_shell(command);
	owner = 4711;
	ck_assert_str_eq(name_of(ALICE_CGROUP), "my-web");
	list_add(&list, containers, ALICE_CGROUP);
	list_is(&list, CMT_NAMES_BEGIN CMT_NAMES_END);
	names_list_free(&list);
	cmt_containers_free(containers);
}
END_TEST

/* The writer does not read its own file. */
START_TEST(test_list_reads_state_only)
{
	struct cmt_containers *containers = containers_new();
	struct names_list list = { 0 };

	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), 0);
	ck_assert_int_eq(unlink(in_root(DOCKER_FILE)), 0);
	list_add(&list, containers, "/docker/" DOCKER_ID);
	list_is(&list, CMT_NAMES_BEGIN CMT_NAMES_END);
	names_list_free(&list);
	cmt_containers_free(containers);
}
END_TEST

static void docker_state(const char *name)
{
	FILE *file = fopen(in_root(DOCKER_FILE), "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "{\"Name\":\"%s\"}", name);
	ck_assert_int_eq(fclose(file), 0);
}

/* What somebody called a container makes no line, and no terminal, do anything. */
START_TEST(test_list_hostile)
{
	static const char *const names[][2] = {
		{ "/a\\n" AAAA "\\tdocker\\tb\\t\\t\\t\\t", "a?" AAAA "?docker?b????" },
		{ "/a\\tb\\u001b[2Jc\\u007f\\u0000d", "a?b?[2Jc??d" },
		{ "/a\\u00e9\\u202eb", "a?????b" },
	};
	struct cmt_containers *containers = containers_new();
	struct names_list list = { 0 };
	char line[512];

	docker_state(names[_i][0]);
	list_add(&list, containers, "/docker/" DOCKER_ID);
	snprintf(line, sizeof(line), "%s" DOCKER_ID "\tdocker\t%s\t\t\t\t\n%s",
		 CMT_NAMES_BEGIN, names[_i][1], CMT_NAMES_END);
	list_is(&list, line);
	names_list_free(&list);
	cmt_containers_free(containers);
}
END_TEST

/* A name of 1 MiB is in no file that is read; one of 300,000 bytes is cut. */
START_TEST(test_list_long_names)
{
	static const size_t sizes[] = { 300000, 1 << 20 };
	struct cmt_containers *containers = containers_new();
	struct names_list list = { 0 };
	char *name = malloc(sizes[_i] + 1);

	ck_assert_ptr_nonnull(name);
	memset(name, 'x', sizes[_i]);
	name[sizes[_i]] = '\0';
	docker_state(name);
	list_add(&list, containers, "/docker/" DOCKER_ID);
	ck_assert_uint_eq(list.nr, _i ? 0 : 1);
	if (!_i)
		ck_assert_uint_eq(list.bytes, strlen(DOCKER_ID "\tdocker\t") +
				  CMT_CONTAINER_NAME_LEN - 1 + 5);
	names_list_free(&list);
	free(name);
	cmt_containers_free(containers);
}
END_TEST

/* The longest line that there can be is a line, and is read again. */
START_TEST(test_line_longest)
{
	char name[CMT_CONTAINER_NAME_LEN], namespace[64], line[CMT_NAMES_LINE];
	struct cmt_container c = {
		.sz = sizeof(c), .runtime = CMT_RUNTIME_CONTAINERD,
		.container_name = name, .pod_name = name,
		.pod_namespace = namespace, .image = name,
	};

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(namespace, 'x', sizeof(namespace) - 1);
	namespace[sizeof(namespace) - 1] = '\0';
	memset(c.id, 'a', sizeof(c.id) - 1);
	memset(c.pod, 'x', sizeof(c.pod) - 1);
	ck_assert_uint_gt(cmt_names_line(line, &c), 3 * sizeof(name));
	ck_assert_int_eq(line[strlen(line) - 1], '\n');
}
END_TEST

/* The file is no larger than what is read, and what is left out is counted. */
START_TEST(test_list_full)
{
	struct names_list list = { 0 };
	struct cmt_containers *containers = containers_new();
	char *text;
	size_t size;

	docker_state("/x");
	for (int i = 0; i < 30000; i++)
		ck_assert_int_eq(names_list_add(&list, containers, 7,
						"/docker/" DOCKER_ID), 0);
	ck_assert_uint_gt(list.left_out, 0);
	ck_assert_uint_eq(list.nr + list.left_out, 30000);
	ck_assert_uint_le(list.bytes, CMT_STATE_MAX);
	ck_assert_int_eq(names_list_text(&list, &text, &size), 0);
	ck_assert_str_eq(text, CMT_NAMES_BEGIN DOCKER_ID
			 "\tdocker\tx\t\t\t\t\n" CMT_NAMES_END);
	free(text);
	names_list_free(&list);
	cmt_containers_free(containers);
}
END_TEST

static void file_is(const char *expected)
{
	char text[4096] = "";
	FILE *file = fopen(in_root("/run/cmt/names"), "r");

	if (!expected) {
		ck_assert_ptr_null(file);
		return;
	}
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(text, 1, sizeof(text), file), strlen(expected));
	fclose(file);
	ck_assert_str_eq(text, expected);
}

/* Mode, whatever the umask; a link at either name is replaced, not followed. */
START_TEST(test_write)
{
	struct stat st;

	umask(0);
	ck_assert_int_eq(symlink("../../victim", in_root("/run/cmt/names")), 0);
	ck_assert_int_eq(symlink("../../victim", in_root("/run/cmt/names.new")), 0);
	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), 0);
	file_is(ALL);
	ck_assert_int_eq(lstat(in_root("/run/cmt/names"), &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert_int_ne(access(in_root("/victim"), F_OK), 0);
	ck_assert_int_ne(access(in_root("/run/cmt/names.new"), F_OK), 0);
	umask(0777);
	ck_assert_int_eq(names_write(root_fd, "x", 1), 0);
	file_is("x");
}
END_TEST

/* A disk that is full half-way leaves the old file, and no new one. */
START_TEST(test_write_fails)
{
	int fds = unit_open_fds();

	disk_room = 150;
	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), -ENOSPC);
	file_is(NULL);
	disk_room = SIZE_MAX;
	ck_assert_int_eq(names_write(root_fd, "old", 3), 0);
	disk_room = 150;
	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), -ENOSPC);
	file_is("old");
	ck_assert_int_ne(access(in_root("/run/cmt/names.new"), F_OK), 0);
	disk_room = SIZE_MAX;
	ck_assert_int_eq(mkdir(in_root("/run/cmt/names.new"), 0700), 0);
	ck_assert_int_lt(names_write(root_fd, ALL, strlen(ALL)), 0);
	file_is("old");
	ck_assert_int_eq(rename(in_root("/run/cmt"), "cmt-names-moved"), 0);
	ck_assert_int_eq(rename("cmt-names-moved", in_root("/moved")), 0);
	ck_assert_int_eq(symlink("../moved", in_root("/run/cmt")), 0);
	ck_assert_int_lt(names_write(root_fd, ALL, strlen(ALL)), 0);
	ck_assert_int_eq(unlink(in_root("/run/cmt")), 0);
	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), -ENOENT);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

#define ROW(id) id "\tdocker\tn\t\t\t\t\n"
#define IN_FILE(lines) CMT_NAMES_BEGIN lines CMT_NAMES_END

/* Everything that is not exactly a file of names is none. */
START_TEST(test_possible)
{
	static const char *const bad[] = {
		"", "end\n", "cmt-names 1\n", "cmt-names 2\nend\n",
		"cmt-names 1\nend", "cmt-names 1\nend\n\n", "\ncmt-names 1\nend\n",
		CMT_NAMES_BEGIN ROW(AAAA),		/* cut at a line */
		IN_FILE(AAAA "\tdocker\tn\t\t\t"),	/* in a line */
		IN_FILE(AAAA "\tdocker\tn\t\t\t\n"),	/* a field less */
		IN_FILE(AAAA "\tdocker\tn\t\t\t\t\t\n"),/* one more */
		IN_FILE("\n"), IN_FILE("\t\t\t\t\t\t\n"),
		IN_FILE(ROW(AAAA) ROW(AAAA)), IN_FILE(ROW(BBBB) ROW(AAAA)),
		IN_FILE(ROW(AAAA "b") ROW(AAAA)), IN_FILE(ROW("aaaa")),
		IN_FILE(ROW("../../../../../etc/x")), IN_FILE(ROW("AAAAAAAAAAAA")),
		IN_FILE(AAAA "\tdocker\ta\033[2J\t\t\t\t\n"),
		IN_FILE(AAAA "\tdocker\ta\r\t\t\t\t\n"),
		IN_FILE(AAAA "\tdocker\ta\177\t\t\t\t\n"),
		IN_FILE(AAAA "\tdocker\ta\303\251\t\t\t\t\n"),
	};
	/* what is shown on a terminal as it is */
	static const char space[] = IN_FILE(AAAA "\tdocker\t a~\t\t\t\t\n");
	static const char nul[] = IN_FILE(AAAA "\tdocker\ta\0b\t\t\t\t\n");

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!cmt_names_possible(bad[i], strlen(bad[i])),
			      "%zu", i);
	ck_assert(!cmt_names_possible(nul, sizeof(nul) - 1));
	ck_assert(cmt_names_possible(ALL, strlen(ALL)));
	ck_assert(cmt_names_possible(space, strlen(space)));
	ck_assert(cmt_names_possible(IN_FILE(ROW(AAAA) ROW(AAAA "b") ROW(BBBB)),
		strlen(IN_FILE(ROW(AAAA) ROW(AAAA "b") ROW(BBBB)))));
	/* wherever it is cut */
	for (size_t n = 0; n < strlen(ALL); n++)
		ck_assert_msg(!cmt_names_possible(ALL, n), "%zu", n);
}
END_TEST

static int find(struct cmt_names *names, const char *path,
		struct cmt_state *state)
{
	struct cmt_container c = { .sz = sizeof(c) };

	cmt_container_name(path, &c);
	return cmt_names_find(names, root_fd, &c, state);
}

static void put_file(const char *text)
{
	FILE *file = fopen(in_root("/run/cmt/names"), "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(in_root("/run/cmt/names"), 0640), 0);
}

/* Each of the lines, and no other; read once. */
START_TEST(test_find)
{
	struct cmt_names names = { 0 };
	struct cmt_state s;

	ck_assert_int_eq(find(&names, "/docker/" DOCKER_ID, &s), -ENOENT);
	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), 0);
	ck_assert_int_eq(find(&names, "/docker/" DOCKER_ID, &s), 0);
	ck_assert_str_eq(s.name, "shop-web");
	ck_assert_str_eq(s.image, IMAGE);
	ck_assert_str_eq(s.pod_name, "");
	ck_assert_int_eq(find(&names, "/kubepods/pod" POD "/" CRI_ID, &s), 0);
	ck_assert_str_eq(s.pod_container, "nginx");
	ck_assert_str_eq(s.pod_name, "web-0");
	ck_assert_str_eq(s.pod_namespace, "shop");
	ck_assert_str_eq(s.pod, POD);
	ck_assert_int_eq(find(&names, "/cri-containerd-" PAUSE_ID, &s), 0);
	ck_assert_str_eq(s.pod_container, "");
	ck_assert_int_eq(find(&names, "/libpod-" PODMAN_ID, &s), 0);
	ck_assert_int_eq(find(&names, "/docker/" AAAA, &s), -ENOENT);
	ck_assert_int_eq(find(&names, "/docker/000000000000", &s), -ENOENT);
	ck_assert_int_eq(find(&names, "/docker/ffffffffffff", &s), -ENOENT);
	/* an id of a container, and of another runtime */
	ck_assert_int_eq(find(&names, "/libpod-" DOCKER_ID, &s), -ENOENT);
	ck_assert_uint_eq(reads, 1);
	cmt_names_destroy(&names);
}
END_TEST

/* Another file at the name is read; none is none, for every container. */
START_TEST(test_find_changes)
{
	struct cmt_names names = { 0 };
	int fds = unit_open_fds();
	struct cmt_state s;

	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), 0);
	ck_assert_int_eq(find(&names, "/docker/" DOCKER_ID, &s), 0);
	ck_assert_int_eq(names_write(root_fd, IN_FILE(ROW(AAAA)),
				     strlen(IN_FILE(ROW(AAAA)))), 0);
	ck_assert_int_eq(find(&names, "/docker/" DOCKER_ID, &s), -ENOENT);
	ck_assert_int_eq(find(&names, "/docker/" AAAA, &s), 0);
	put_file("broken");
	ck_assert_int_eq(find(&names, "/docker/" AAAA, &s), -ENOENT);
	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), 0);
	ck_assert_int_eq(find(&names, "/docker/" DOCKER_ID, &s), 0);
	ck_assert_int_eq(unlink(in_root("/run/cmt/names")), 0);
	ck_assert_int_eq(find(&names, "/docker/" DOCKER_ID, &s), -ENOENT);
	ck_assert_int_eq(unit_open_fds(), fds);
	cmt_names_destroy(&names);
}
END_TEST

/* An error that passes is told, and what was read before stays. */
START_TEST(test_find_error)
{
	struct cmt_names names = { 0 };
	struct cmt_state s;

	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), 0);
	read_error = EIO;
	ck_assert_int_eq(find(&names, "/docker/" DOCKER_ID, &s), -EIO);
	read_error = 0;
	ck_assert_int_eq(find(&names, "/docker/" DOCKER_ID, &s), 0);
	cmt_names_destroy(&names);
}
END_TEST

static bool found(void)
{
	struct cmt_names names = { 0 };
	struct cmt_state s;
	int err = find(&names, "/docker/" DOCKER_ID, &s);

	cmt_names_destroy(&names);
	ck_assert(!err || err == -ENOENT);
	return !err;
}

/* Only a file that root wrote, and that others cannot write. */
START_TEST(test_find_not_trusted)
{
	char *large;

	ck_assert_int_eq(names_write(root_fd, ALL, strlen(ALL)), 0);
	ck_assert(found());
	owner = 1000;
	ck_assert(!found());
	owner = 0;
	ck_assert_int_eq(chmod(in_root("/run/cmt/names"), 0660), 0);
	ck_assert(!found());
	ck_assert_int_eq(chmod(in_root("/run/cmt/names"), 0642), 0);
	ck_assert(!found());
	ck_assert_int_eq(chmod(in_root("/run/cmt/names"), 0644), 0);
	ck_assert(found());
	/* a link, even to a file of root's */
	ck_assert_int_eq(rename(in_root("/run/cmt/names"), "cmt-names-moved"), 0);
	ck_assert_int_eq(rename("cmt-names-moved", in_root("/run/cmt/real")), 0);
	ck_assert_int_eq(symlink("real", in_root("/run/cmt/names")), 0);
	ck_assert(!found());
	/* nothing that could be waited for */
	ck_assert_int_eq(unlink(in_root("/run/cmt/names")), 0);
	ck_assert_int_eq(mkfifo(in_root("/run/cmt/names"), 0640), 0);
	ck_assert(!found());
	ck_assert_int_eq(unlink(in_root("/run/cmt/names")), 0);
	ck_assert_int_eq(mkdir(in_root("/run/cmt/names"), 0750), 0);
	ck_assert(!found());
	ck_assert_int_eq(rmdir(in_root("/run/cmt/names")), 0);
	/* more than is ever written */
	large = malloc(CMT_STATE_MAX + 2);
	ck_assert_ptr_nonnull(large);
	memset(large, ' ', CMT_STATE_MAX + 1);
	large[CMT_STATE_MAX + 1] = '\0';
	put_file(large);
	free(large);
	reads = 0;
	ck_assert(!found());
	ck_assert_uint_eq(reads, 0);
}
END_TEST

/* What a lookup says: the runtime's files first, then the file of names. */
START_TEST(test_lookup)
{
	ck_assert_int_eq(names_write(root_fd, IN_FILE(ROW(DOCKER_ID) ROW(AAAA)),
				     strlen(IN_FILE(ROW(DOCKER_ID) ROW(AAAA)))), 0);
	ck_assert_str_eq(name_of("/docker/" DOCKER_ID), "shop-web");
	ck_assert_int_eq(unlink(in_root(DOCKER_FILE)), 0);
	ck_assert_str_eq(name_of("/docker/" DOCKER_ID), "n");
	ck_assert_str_eq(name_of("/docker/" BBBB), "bbbbbbbbbbbb");
	/* a runtime that the path does not tell */
	ck_assert_str_eq(name_of("/kubepods/pod" POD "/" AAAA), "n");
	/* a sandbox of Kata's, and what runs its VM elsewhere */
	ck_assert_str_eq(name_of("/kubepods/pod" POD "/kata_" PAUSE_ID),
			 "shop/web-0");
	ck_assert_str_eq(name_of("/kata_overhead/" PAUSE_ID),
			 "shop/web-0 (overhead)");
	ck_assert_str_eq(name_of("/kata_overhead/" BBBB),
			 "bbbbbbbbbbbb (overhead)");
	/* root's login is root; a user's cgroup is not root's container */
	ck_assert_str_eq(name_of("/user.slice/user-0.slice/docker-" AAAA ".scope"),
			 "n");
	ck_assert_str_eq(name_of("/user.slice/user-1000.slice/docker-" AAAA ".scope"),
			 "aaaaaaaaaaaa");
	put_file(IN_FILE(ROW(AAAA) ROW(AAAA)));
	ck_assert_str_eq(name_of("/docker/" AAAA), "aaaaaaaaaaaa");
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_list_containers);
	tcase_add_test(tcase, test_list_complete);
	tcase_add_test(tcase, test_list_without_users);
	tcase_add_test(tcase, test_list_reads_state_only);
	tcase_add_loop_test(tcase, test_list_hostile, 0, 3);
	tcase_add_loop_test(tcase, test_list_long_names, 0, 2);
	tcase_add_test(tcase, test_line_longest);
	tcase_add_test(tcase, test_list_full);
	tcase_add_test(tcase, test_write);
	tcase_add_test(tcase, test_write_fails);
	tcase_add_test(tcase, test_possible);
	tcase_add_test(tcase, test_find);
	tcase_add_test(tcase, test_find_changes);
	tcase_add_test(tcase, test_find_error);
	tcase_add_test(tcase, test_find_not_trusted);
	tcase_add_test(tcase, test_lookup);
}

int main(void)
{
	Suite *suite = suite_create("names");
	TCase *tcase = tcase_create("names");

	add_tests(tcase);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
