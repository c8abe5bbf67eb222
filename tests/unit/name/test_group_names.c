// SPDX-License-Identifier: GPL-2.0-or-later
/* The names of resctrl's groups beside the module, below a made-up root directory. */
#include <check.h>
#include <cmt/cmt.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "name/cache.h"
#include "unit.h"

#define SECOND 1000000000ULL
#define TID 4711
#define RMID 3

static char root[32];
static struct cmt_containers *containers;
static uint64_t skew_ns;	/* of the clock */
static uint64_t pid_ns;		/* the number of this PID namespace */
static unsigned int asked;	/* how often a thread was asked about */

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __real_stat64(const char *path, struct stat64 *st);
int __wrap_stat64(const char *path, struct stat64 *st);

int __real_cmt_resctrl_find_thread(int at, uint32_t tid, bool same, char **path);
int __wrap_cmt_resctrl_find_thread(int at, uint32_t tid, bool same, char **path);

int __wrap_cmt_resctrl_find_thread(int at, uint32_t tid, bool same, char **path)
{
	asked++;
	return __real_cmt_resctrl_find_thread(at, tid, same, path);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int ret = __real_clock_gettime(clock, ts);

	if (clock == CLOCK_MONOTONIC)
		ts->tv_sec += (time_t)(skew_ns / SECOND);
	return ret;
}

int __wrap_stat64(const char *path, struct stat64 *st)
{
	int ret = __real_stat64(path, st);

	if (!ret && !strcmp(path, "/proc/self/ns/pid"))
		st->st_ino = pid_ns;
	return ret;
}

static void make(const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p '%s%s'", root, path);
	unit_shell(command);
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(unit_path(root, path), "w");

	ck_assert_msg(file, "%s: %m", path);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static void begin(const char *state_root)
{
	const struct cmt_containers_opts opts = {
		.sz = sizeof(opts), .cgroup_root = root, .state_root = state_root,
	};

	ck_assert_int_eq(cmt_containers_new(&containers, &opts), 0);
}

static void setup(void)
{
	strcpy(root, "cmt-groups-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	make("/proc/4711");
	make("/sys/fs/resctrl");
	skew_ns = 0;
	pid_ns = 0xeffffffc;
	asked = 0;
	begin(root);
}

static void teardown(void)
{
	char command[64];

	cmt_containers_free(containers);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	unit_shell(command);
}

/* The owner of the RMID, by the record of the module. */
static struct cmt_owner group(uint32_t flags, uint32_t number)
{
	const struct cmt_record record = {
		.type = CMT_REC_EXISTING, .rmid = RMID, .generation = 9,
		.flags = CMT_F_OWNER_RESCTRL | flags, .tgid = number,
		.owner.comm = "walk",
	};
	struct cmt_owner owner = { .sz = sizeof(owner) };

	ck_assert_int_eq(cmt_record_owner(&record, &owner), 0);
	ck_assert_uint_eq(owner.kind, CMT_OWNER_RESCTRL);
	return owner;
}

static const struct cmt_container *look(uint32_t flags, uint32_t number)
{
	struct cmt_owner owner = group(flags, number);
	const struct cmt_container *c = cmt_containers_lookup_owner(containers, &owner);

	ck_assert_ptr_nonnull(c);
	ck_assert(c->cgroup_id == (CMT_RESCTRL_GROUP | CMT_RESCTRL_RMID | 9 << 16 | RMID));
	return c;
}

static void forget(void)
{
	cmt_containers_forget(containers, group(0, 0).cgroup_id);
}

static const struct {
	const char *text, *path;	/* NULL: none */
} texts[] = {
	{ "res:/\nmon:x\n", "/mon_groups/x" },
	{ "res:web\nmon:a\n", "/web/a" },
	{ "res:web\nmon:\n", "/web" },
	/* the default group; resctrl is not mounted */
	{ "res:/\nmon:\n", NULL },
	{ "res:\nmon:\n", NULL },
	/* no kernel has these */
	{ "", NULL },
	{ "res:web\nmon:a", NULL },
	{ "res:web\n", NULL },
	{ "mon:a\nres:web\n", NULL },
	{ "res:web/..\nmon:a\n", NULL },
	{ "res:/\nmon:../../etc\n", NULL },
	{ "res:a\xff\x1b[2J\nmon:\n", "/a\xff\x1b[2J" },
};

START_TEST(test_name_by_thread)
{
	const struct cmt_container *c;

	put("/proc/4711/cpu_resctrl_groups", texts[_i].text);
	c = look(0, TID);
	if (!texts[_i].path) {
		ck_assert_ptr_null(c->path);
		return;
	}
	ck_assert_str_eq(c->path, texts[_i].path);
	ck_assert_int_eq(c->runtime, CMT_RUNTIME_NONE);
	ck_assert_str_eq(c->id, "");
	for (const char *p = c->name; *p; p++)
		ck_assert(*p >= 0x20 && *p < 0x7f);
}
END_TEST

START_TEST(test_long_name)
{
	char text[1024];

	memset(text, 'a', sizeof(text));
	memcpy(text, "res:", 4);
	memcpy(text + 4 + 255, "\nmon:\n", 7);
	put("/proc/4711/cpu_resctrl_groups", text);
	ck_assert_uint_eq(strlen(look(0, TID)->path), 256);
	forget();
	memset(text, 'a', sizeof(text));
	memcpy(text, "res:", 4);
	memcpy(text + 4 + 256, "\nmon:\n", 7);
	put("/proc/4711/cpu_resctrl_groups", text);
	ck_assert_ptr_null(look(0, TID)->path);
}
END_TEST

/* A group with its files. */
static void make_group(const char *path, const char *cpus, const char *tasks)
{
	char name[256];

	snprintf(name, sizeof(name), "/sys/fs/resctrl/%s/mon_data", path);
	make(name);
	snprintf(name, sizeof(name), "/sys/fs/resctrl/%s/cpus_list", path);
	put(name, cpus);
	snprintf(name, sizeof(name), "/sys/fs/resctrl/%s/tasks", path);
	put(name, tasks);
}

static void make_groups(void)
{
	make_group(".", "0-1,5\n", "1\n2\n");
	make_group("mon_groups/x", "1\n", "47\n4711\n");
	make_group("mon_groups/y", "\n", "");
	make_group("web", "2-4,16-17\n", "3\n4712\n4713\n");
	make_group("web/mon_groups/a", "4\n", "4712\n");
	make_group("info", "0-17\n", "471\n");
}

START_TEST(test_name_by_cpu)
{
	static const struct {
		uint32_t cpu;
		const char *path;
	} cpus[] = {
		{ 0, NULL }, { 1, "/mon_groups/x" }, { 2, "/web" }, { 3, "/web" },
		{ 4, "/web/a" }, { 5, NULL }, { 6, NULL }, { 16, "/web" }, { 17, "/web" },
		{ 18, NULL },
	};
	const struct cmt_container *c;

	make_groups();
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		c = look(CMT_F_OWNER_CPU, cpus[i].cpu);
		if (cpus[i].path)
			ck_assert_str_eq(c->path, cpus[i].path);
		else
			ck_assert_ptr_null(c->path);
		forget();
	}
}
END_TEST

/* /proc hides the thread, or the kernel has no such file there. */
START_TEST(test_name_by_tasks)
{
	make_groups();
	ck_assert_str_eq(look(0, 4711)->path, "/mon_groups/x");
	ck_assert_str_eq(look(0, 4712)->path, "/web/a");
	ck_assert_str_eq(look(0, 4713)->path, "/web");
	forget();
	ck_assert_ptr_null(look(0, 471)->path);
	forget();
	ck_assert_ptr_null(look(0, 1)->path);
	forget();
	/* the file of the thread knows better */
	put("/proc/4711/cpu_resctrl_groups", "res:/\nmon:\n");
	ck_assert_ptr_null(look(0, 4711)->path);
	forget();
	/* the lists have the numbers of this namespace */
	pid_ns = 4026532000;
	cmt_containers_free(containers);
	begin(root);
	ck_assert_ptr_null(look(0, 4712)->path);
}
END_TEST

/* Neither in a container without the host's files, nor where nothing is known. */
START_TEST(test_no_name)
{
	ck_assert_ptr_null(look(CMT_F_OWNER_CPU, 1)->path);
	ck_assert_ptr_null(look(0, TID)->path);
	forget();
	ck_assert_ptr_null(look(0, 0)->path);
	cmt_containers_set_root(containers, NULL);
	forget();
	ck_assert_ptr_null(look(0, TID)->path);
}
END_TEST

/* Another group may have the RMID, which another thread then stands for. */
START_TEST(test_name_follows_thread)
{
	const struct cmt_container *c;

	make("/proc/4712");
	put("/proc/4711/cpu_resctrl_groups", "res:/\nmon:x\n");
	put("/proc/4712/cpu_resctrl_groups", "res:/\nmon:y\n");
	c = look(0, TID);
	ck_assert_str_eq(c->path, "/mon_groups/x");
	/* what is known is not asked again */
	put("/proc/4711/cpu_resctrl_groups", "res:/\nmon:z\n");
	skew_ns = 60 * SECOND;
	ck_assert_ptr_eq(look(0, TID), c);
	ck_assert_str_eq(c->path, "/mon_groups/x");
	/* nothing is known at this time */
	ck_assert_str_eq(look(0, 0)->path, "/mon_groups/x");
	ck_assert_str_eq(look(0, 4712)->path, "/mon_groups/y");
	/* a thread that has ended; it is asked about once a second */
	ck_assert_str_eq(look(0, 4713)->path, "/mon_groups/y");
	make("/proc/4713");
	put("/proc/4713/cpu_resctrl_groups", "res:web\nmon:\n");
	ck_assert_str_eq(look(0, 4713)->path, "/mon_groups/y");
	skew_ns += 2 * SECOND;
	ck_assert_str_eq(look(0, 4713)->path, "/web");
	ck_assert_ptr_eq(look(0, 4713), c);
}
END_TEST

/* In a PID namespace the number is that of another thread. */
START_TEST(test_thread_of_namespace)
{
	cmt_containers_free(containers);
	begin(NULL);
	look(0, (uint32_t)getpid());
	ck_assert_uint_eq(asked, 1);
	pid_ns = 4026532000;
	cmt_containers_free(containers);
	begin(NULL);
	ck_assert_ptr_null(look(0, (uint32_t)getpid())->path);
	ck_assert_uint_eq(asked, 1);
	/* the host's files are the host's by the caller's word */
	put("/proc/4711/cpu_resctrl_groups", "res:/\nmon:x\n");
	ck_assert_int_eq(cmt_containers_set_root(containers, root), 0);
	forget();
	ck_assert_str_eq(look(0, TID)->path, "/mon_groups/x");
}
END_TEST

/* A process or a cgroup has the name that cmt_containers_lookup() gives. */
START_TEST(test_name_of_other_owners)
{
	struct cmt_owner owner = { .sz = sizeof(owner), .group_cpu = CMT_GROUP_NO_CPU };
	struct stat st;

	ck_assert_ptr_null(cmt_containers_lookup_owner(containers, &owner));
	make("/docker");
	ck_assert_int_eq(stat(unit_path(root, "/docker"), &st), 0);
	owner.kind = CMT_OWNER_CGROUP;
	owner.cgroup_id = st.st_ino;
	ck_assert_str_eq(cmt_containers_lookup_owner(containers, &owner)->path, "/docker");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("group_names");
	TCase *tcase = tcase_create("group_names");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_name_by_thread, 0,
			    sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tcase, test_long_name);
	tcase_add_test(tcase, test_name_by_cpu);
	tcase_add_test(tcase, test_name_by_tasks);
	tcase_add_test(tcase, test_no_name);
	tcase_add_test(tcase, test_name_follows_thread);
	tcase_add_test(tcase, test_thread_of_namespace);
	tcase_add_test(tcase, test_name_of_other_owners);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
