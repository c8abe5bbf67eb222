// SPDX-License-Identifier: GPL-2.0-or-later
/* What cgroups' files say of CPU time: the text, and a tree of them. */
#include <check.h>
#include <cmt/cmt.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cgroup/cpu_files.h"
#include "culprit/state.h"
#include "unit.h"

#define MS	1000000ULL

START_TEST(test_stat)
{
	static const struct { const char *text; bool ok; uint64_t ns; } rows[] = {
		{ "usage_usec 7\nthrottled_usec 12\n", true, 12000 },
		{ "throttled_usec 0\n", true, 0 },
		{ "throttled_usec 18446744073709551\n", true, 18446744073709551000ULL },
		{ "throttled_usec 18446744073709552\n", false, 0 },
		{ "throttled_usec 99999999999999999999999\n", false, 0 },
		{ "throttled_usec 12", false, 0 },
		{ "throttled_usec  12\n", false, 0 },
		{ "throttled_usec -12\n", false, 0 },
		{ "throttled_usec 12 \n", false, 0 },
		{ "throttled_usec 0x12\n", false, 0 },
		{ "throttled_usec \n", false, 0 },
		{ "throttled_usec\n", false, 0 },
		{ "throttled_usec2 12\n", false, 0 },
		{ " throttled_usec 12\n", false, 0 },
		{ "not_throttled_usec 12\n", false, 0 },
		{ "", false, 0 },
	};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_msg(cmt_cgroup_parse_stat(rows[i].text, "throttled_usec",
						 &ns) == rows[i].ok,
			      "%s", rows[i].text);
		if (rows[i].ok)
			ck_assert_uint_eq(ns, rows[i].ns);
	}
}
END_TEST

START_TEST(test_pressure)
{
	static const char some[] = "some avg10=1.00 avg60=0.00 avg300=0.00 total=99\n";
	char text[256];
	uint64_t ns;

	snprintf(text, sizeof(text), "%sfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n",
		 some);
	ck_assert(cmt_cgroup_parse_pressure(text, &ns));
	ck_assert_uint_eq(ns, 5000);
	ck_assert(!cmt_cgroup_parse_pressure(some, &ns));
	ck_assert(!cmt_cgroup_parse_pressure("full avg10=0.00 total=5", &ns));
	ck_assert(!cmt_cgroup_parse_pressure("full avg10=0.00\nx total=5\n", &ns));
	ck_assert(!cmt_cgroup_parse_pressure("full avg10=0.00 total=-5\n", &ns));
	ck_assert(!cmt_cgroup_parse_pressure("full avg10=0.00 total=\n", &ns));
	ck_assert(!cmt_cgroup_parse_pressure("", &ns));
}
END_TEST

START_TEST(test_steal)
{
	struct cmt_cpu_ticks steal;

	ck_assert(cmt_cpu_ticks_parse("cpu  1 2 4 1000 1000 8 16 32 0 0\ncpu0 1\n",
				      &steal));
	ck_assert_uint_eq(steal.busy, 31);
	ck_assert_uint_eq(steal.stolen, 32);
	ck_assert(!cmt_cpu_ticks_parse("cpu  1 2 4 5 6 8 16\n", &steal));
	ck_assert(!cmt_cpu_ticks_parse("cpu0 1 2 4 5 6 8 16 32 0 0\n", &steal));
	ck_assert(!cmt_cpu_ticks_parse("intr 1\ncpu  1 2 4 5 6 8 16 32 0 0\n",
				       &steal));
	ck_assert(!cmt_cpu_ticks_parse("cpu  1 2 x 5 6 8 16 32 0 0\n", &steal));
	ck_assert(!cmt_cpu_ticks_parse("", &steal));
}
END_TEST

static struct cmt_cpu_ticks *fake_steal;

bool __real_cmt_cpu_ticks_read(struct cmt_cpu_ticks *steal);
bool __wrap_cmt_cpu_ticks_read(struct cmt_cpu_ticks *steal);

bool __wrap_cmt_cpu_ticks_read(struct cmt_cpu_ticks *steal)
{
	if (!fake_steal)
		return __real_cmt_cpu_ticks_read(steal);
	*steal = *fake_steal;
	return true;
}

/* The first look says nothing, later ones what was since; nothing where it went back. */
START_TEST(test_machine)
{
	static const struct cmt_cpu_ticks reads[] = {
		{ 100, 10 }, { 150, 17 }, { 150, 16 }, { 140, 20 }, { 141, 20 },
	};
	static const struct cmt_cpu_ticks expected[] = {
		{ 0, 0 }, { 50, 7 }, { 0, 0 }, { 0, 0 }, { 1, 0 },
	};
	struct cmt_cpu_ticks kept = { 0 }, ticks, now;

	fake_steal = &now;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		now = reads[i];
		cmt_cpu_ticks_since(&kept, &ticks);
		ck_assert_uint_eq(ticks.busy, expected[i].busy);
		ck_assert_uint_eq(ticks.stolen, expected[i].stolen);
	}
	fake_steal = NULL;
}
END_TEST

static char root[64];

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	file = fopen(full, "w");
	ck_assert_msg(file, "%s: %m", full);
	fputs(text, file);
	ck_assert(!fclose(file));
}

static void put_cpu(const char *dir, unsigned long throttled,
		    unsigned long full, unsigned long used)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "%s/cpu.stat", dir);
	snprintf(text, sizeof(text), "usage_usec %lu\nthrottled_usec %lu\n",
		 used, throttled);
	put(path, text);
	snprintf(path, sizeof(path), "%s/cpu.pressure", dir);
	snprintf(text, sizeof(text), "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
		 "full avg10=0.00 avg60=0.00 avg300=0.00 total=%lu\n", full);
	put(path, text);
}

static uint64_t make(const char *path)
{
	char full[256];
	struct stat st;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	ck_assert_msg(!mkdir(full, 0700) && !stat(full, &st), "%s: %m", full);
	return st.st_ino;
}

static uint64_t tree(void)
{
	uint64_t id;

	snprintf(root, sizeof(root), "culprit-tree-%d", (int)getpid());
	ck_assert_msg(!mkdir(root, 0700), "%s: %m", root);
	make("pod");
	id = make("pod/c");
	put_cpu("pod", 0, 0, 0);
	put_cpu("pod/c", 0, 0, 0);
	return id;
}

static void tree_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	unit_shell(command);
}

static struct cmt_container container = {
	.sz = sizeof(container), .path = "/pod/c", .own_len = 6,
};
static struct cmt_usage_row row = {
	.kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_CGROUP,
	.container = &container,
};
static struct cmt_usage_frame frame = {
	.by = CMT_USAGE_BY_CONTAINER, .nr_rows = 1, .rows = &row,
	.row_size = sizeof(row), .nr_cpus = 1,
};

static struct cmt_culprit *begin(uint64_t id)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };
	struct cmt_culprit *culprit;

	container.cgroup_id = id;
	row.cgroup_id = id;
	frame.start_ns = MS;
	frame.end_ns = 2 * MS;
	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	ck_assert_int_eq(cmt_culprit_add_frame(culprit, &frame), 0);
	ck_assert_int_eq(cmt_culprit_refresh(culprit, &frame, root), 0);
	return culprit;
}

/* Look again: something was counted, in 2 ms at least. */
static const struct cmt_culprit_verdict *look(struct cmt_culprit *culprit)
{
	static const struct timespec some = { .tv_nsec = 2000000 };
	const struct cmt_culprit_verdict *verdict = NULL;

	nanosleep(&some, NULL);
	ck_assert_int_ge(cmt_culprit_refresh(culprit, &frame, root), 0);
	cmt_culprit_next(culprit, &verdict);
	return verdict;
}

static void expect(enum cmt_culprit_kind kind, const char *dir,
		   unsigned long throttled, unsigned long full)
{
	uint64_t id = tree();
	struct cmt_culprit *culprit = begin(id);
	const struct cmt_culprit_verdict *verdict;

	put_cpu(dir, throttled, full, 0);
	if (strcmp(dir, "pod/c"))
		put_cpu("pod/c", 0, full, 0);
	verdict = look(culprit);
	ck_assert_int_eq(verdict ? (int)verdict->kind : 0, kind);
	if (verdict) {
		ck_assert_uint_eq(verdict->id, id);
		ck_assert_double_le(verdict->cpu_share, 1);
		ck_assert(verdict->confidence == 1);
	}
	cmt_culprit_free(culprit);
	tree_remove();
}

START_TEST(test_tree)
{
	expect(CMT_CULPRIT_NONE, "pod/c", 0, 0);
	expect(CMT_CULPRIT_NONE, "pod/c", 0, 9000000);
	expect(CMT_CULPRIT_THROTTLED, "pod/c", 9000000, 9000000);
	/* the quota of the pod */
	expect(CMT_CULPRIT_THROTTLED, "pod", 9000000, 9000000);
	/* on some CPU, while others of it ran */
	expect(CMT_CULPRIT_NONE, "pod/c", 9000000, 0);
}
END_TEST

/* The verdict about a time in which the container used, and lost, so many seconds of CPUs. */
static void expect_share(enum cmt_culprit_kind kind, unsigned long throttled_s,
			 unsigned long used_s, double share)
{
	uint64_t id = tree();
	struct cmt_culprit *culprit;
	const struct cmt_culprit_verdict *verdict;

	put("pod/cpu.pressure", "");
	put("pod/c/cpu.pressure", "");
	culprit = begin(id);
	put_cpu("pod/c", throttled_s * 1000000, 0, used_s * 1000000);
	put("pod/c/cpu.pressure", "");
	if (fake_steal)
		*fake_steal = (struct cmt_cpu_ticks){ 194, 16 };
	verdict = look(culprit);
	ck_assert_ptr_nonnull(verdict);
	ck_assert_int_eq(verdict->kind, kind);
	ck_assert_double_eq_tol(verdict->cpu_share, share, 1e-4);
	cmt_culprit_free(culprit);
	tree_remove();
}

/* What is a sum over CPUs is no larger part of the time where a container has more of them. */
START_TEST(test_many_cpus)
{
	struct cmt_cpu_ticks ticks = { 100, 10 };

	expect_share(CMT_CULPRIT_THROTTLED, 1000, 9000, 0.1);
	fake_steal = &ticks;
	expect_share(CMT_CULPRIT_STOLEN, 0, 16000, 0.06);
	fake_steal = NULL;
}
END_TEST

/* Counters that go back, files of another cgroup, and files that are gone. */
START_TEST(test_tree_unknown)
{
	uint64_t id = tree();
	struct cmt_culprit *culprit;

	put_cpu("pod/c", 5000, 5000, 0);
	culprit = begin(id);
	put_cpu("pod/c", 100, 100, 0);
	ck_assert_ptr_null(look(culprit));
	cmt_culprit_free(culprit);

	culprit = begin(id + 1000000);
	put_cpu("pod/c", 9000000, 9000000, 0);
	ck_assert_ptr_null(look(culprit));
	cmt_culprit_free(culprit);

	culprit = begin(id);
	put("pod/c/cpu.pressure", "full total=99999999999\0junk");
	put("pod/c/cpu.stat", "throttled_usec nonsense\n");
	ck_assert_ptr_null(look(culprit));
	tree_remove();
	ck_assert_ptr_null(look(culprit));
	cmt_culprit_free(culprit);
}
END_TEST

/* In a turn of its own */
static bool read_once(int fd, const char *path, size_t own, uint64_t id,
		      struct cmt_cgroup_cpu *cpu)
{
	struct cmt_cpu_turn turn = { .root = fd };

	return cmt_cgroup_cpu_read(&turn, path, own, id, cpu);
}

static unsigned int opened;
static const char *counted = "";

int __real_cmt_file_open(int root_fd, const char *root, const char *path);
int __wrap_cmt_file_open(int root_fd, const char *root, const char *path);

int __wrap_cmt_file_open(int root_fd, const char *root, const char *path)
{
	opened += !strcmp(path, counted);
	return __real_cmt_file_open(root_fd, root, path);
}

/* What is above many containers is read once for all of them, and again in the next turn. */
START_TEST(test_common_ancestor)
{
	static char paths[40][32];
	struct cmt_cpu_turn turn;
	struct cmt_cpu_ticks kept = { 0 };
	struct cmt_cgroup_cpu cpu;
	uint64_t ids[40];
	int fd;

	tree();
	fd = cmt_cgroup_open(root);
	for (int i = 0; i < 40; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/pod/c%d", i);
		ids[i] = make(paths[i] + 1);
		put_cpu(paths[i] + 1, (unsigned long)i, 0, 7);
	}
	counted = "./pod/cpu.stat";
	for (unsigned int round = 1; round <= 2; round++) {
		put_cpu("pod", 100 * round, 0, 0);
		cmt_cpu_turn_begin(&turn, fd, &kept);
		for (unsigned int i = 0; i < 40; i++) {
			ck_assert(cmt_cgroup_cpu_read(&turn, paths[i], strlen(paths[i]), ids[i],
						      &cpu));
			ck_assert_uint_eq(cpu.throttled_ns, (100 * round + i) * 1000);
			ck_assert_uint_eq(cpu.used_ns, 7000);
		}
		ck_assert_uint_eq(opened, round);
	}
	counted = "";
	close(fd);
	tree_remove();
}
END_TEST

START_TEST(test_hostile_path)
{
	uint64_t id = tree();
	struct cmt_culprit *culprit;
	struct cmt_cgroup_cpu cpu;
	char path[8192];
	int fd;

	culprit = begin(id);
	fd = culprit->root;
	ck_assert(read_once(fd, "/pod/c", 6, id, &cpu));
	ck_assert(!read_once(fd, "/pod/../pod/c/../../../x", 20, id, &cpu));
	ck_assert(!read_once(fd, "/", 1, id, &cpu));
	ck_assert(!read_once(fd, "", 0, id, &cpu));
	ck_assert(!read_once(fd, "pod/c", 5, id, &cpu));
	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert(!read_once(fd, path, strlen(path), id, &cpu));
	cmt_culprit_free(culprit);
	tree_remove();
}
END_TEST

/* A user makes cgroups as deep as a path is long, and each level has a quota to be read. */
START_TEST(test_deep_path)
{
	char path[64] = "/pod/c";
	struct cmt_cgroup_cpu cpu;
	uint64_t id = tree();
	int fd = cmt_cgroup_open(root);

	ck_assert_int_ge(fd, 0);
	put_cpu("pod", 5, 0, 7);
	for (int level = 3; level <= 17; level++) {
		strcat(path, "/d");
		id = make(path + 1);
		put_cpu(path + 1, 1, 0, 7);
		ck_assert(read_once(fd, path, strlen(path), id, &cpu));
		ck_assert_uint_eq(cpu.used_ns, 7000);
		if (level == 17)
			break;
		ck_assert(cpu.known & CMT_CGROUP_THROTTLED);
		ck_assert_uint_eq(cpu.throttled_ns, 1000U * (5 + (unsigned int)level - 2));
	}
	ck_assert_uint_eq(cpu.known, CMT_CGROUP_FULL | CMT_CGROUP_USED);
	close(fd);
	tree_remove();
}
END_TEST

START_TEST(test_no_root)
{
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };
	struct cmt_culprit *culprit;
	struct cmt_usage_frame other = frame;
	int fds = unit_open_fds();

	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	ck_assert_int_eq(cmt_culprit_refresh(culprit, &frame, "not-there"), -ENOENT);
	other.by = CMT_USAGE_BY_PROCESS;
	ck_assert_int_eq(cmt_culprit_refresh(culprit, &other, "."), -EINVAL);
	ck_assert_int_eq(cmt_culprit_refresh(culprit, &frame, "."), 0);
	cmt_culprit_free(culprit);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpu_files");

	UNIT_CASE(suite, test_stat);
	UNIT_CASE(suite, test_pressure);
	UNIT_CASE(suite, test_steal);
	UNIT_CASE(suite, test_machine);
	UNIT_CASE(suite, test_tree);
	UNIT_CASE(suite, test_many_cpus);
	UNIT_CASE(suite, test_tree_unknown);
	UNIT_CASE(suite, test_common_ancestor);
	UNIT_CASE(suite, test_hostile_path);
	UNIT_CASE(suite, test_deep_path);
	UNIT_CASE(suite, test_no_root);
	return unit_run(suite);
}
