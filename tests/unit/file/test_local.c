// SPDX-License-Identifier: GPL-2.0-or-later
/* Homes on file systems of other machines, and one that never answers. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/file.h"
#include "name/runtime.h"
#include "unit.h"

#define DEADLINE_S 20

static const char mountinfo[] =
	"broken\n"
	"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	"22 21 0:5 / /run rw shared:2 master:3 - tmpfs tmpfs rw\n"
	"23 21 0:40 / /home rw - btrfs /dev/sdb rw\n"
	"24 23 0:41 / /home/ann rw - nfs4 server:/ann rw\n"
	"25 23 0:42 / /home/with\\040space rw - fuse.sshfs x rw\n"
	"26 21 0:43 / /auto rw - autofs systemd-1 rw\n"
	"27 21 8:2 / /ntfs rw - fuseblk /dev/sda2 rw\n"
	"28 21 0:44 / /new rw - no-such-type x rw\n"
	"29 21 0:45 / /twice rw - tmpfs x rw\n"
	"30 29 0:46 / /twice rw - cifs x rw\n"
	"broken\n"
	"31 21 8:3 / /half\n"
	"32 21 0:47 / /typeless rw -\n"
	"33 21 0:48 / /typeless rw - \n";

static const struct {
	const char *path;
	bool local;
} cases[] = {
	{ "/", true }, { "/root", true }, { "/run/user/0", true },
	{ "/home", true }, { "/home/bob", true }, { "/home/annabel", true },
	{ "/home/ann", false }, { "/home/ann/x", false },
	{ "/home/with space/x", false }, { "/home/with", true },
	{ "/auto", false }, { "/automatic", true }, { "/ntfs/x", false },
	{ "/new", false }, { "/twice/x", false }, { "/half", true },
	{ "/typeless/x", true },
};

START_TEST(test_mount_is_local)
{
	FILE *mounts = fmemopen((void *)mountinfo, sizeof(mountinfo) - 1, "r");

	ck_assert_msg(cmt_mount_is_local(mounts, cases[_i].path) ==
		      cases[_i].local, "%s", cases[_i].path);
	fclose(mounts);
}
END_TEST

START_TEST(test_mount_is_not_listed)
{
	static const char line[] = "23 21 0:40 / /home rw - btrfs /dev/sdb rw\n";
	FILE *mounts = fmemopen((void *)line, sizeof(line) - 1, "r");

	ck_assert_int_eq(cmt_mount_is_local(mounts, "/home/bob"), 1);
	ck_assert_int_eq(cmt_mount_is_local(mounts, "/homes"), -ENOENT);
	ck_assert_int_eq(cmt_mount_is_local(mounts, "/"), -ENOENT);
	fclose(mounts);
}
END_TEST

static char root[] = "/tmp/cmt-local-XXXXXX";
static int root_fd;

static bool shell(const char *command)
{
	char line[512];

	snprintf(line, sizeof(line), "cd %s && %s", root, command);
	return !system(line);
}

/* A FUSE mount with no program behind it at @path.  Returns 0 or an errno. */
static int mount_silent(const char *path)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128], at[256];

	if (fd < 0)
		return errno;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	snprintf(at, sizeof(at), "%s%s", root, path);
	return mount("silent", at, "fuse", 0, options) ? errno : 0;
}

#define CANNOT_MOUNT	77

/* In a mount namespace of its own: 0 or 1 of @dir, or CANNOT_MOUNT */
static int ask_silent(const char *dir)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount_silent("/home/ann"))
		return CANNOT_MOUNT;
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return cmt_dir_is_local(root_fd, dir);
}

static const struct {
	const char *dir;
	int local;
} silent[] = {
	{ "/home/bob", 1 }, { "/home/ann", 0 }, { "/home/ann/x", 0 },
	{ "/link/ann", 0 }, { "/relative/x", 0 }, { "/link/bob", 1 },
	{ "/absolute/../ann", 0 }, { "/home/./bob/../../home//ann", 0 },
	{ "/loop/x", 0 }, { "/home/none/x", 1 },
};

/* Walking into the mount would end only with SIGALRM. */
static void check_silent(int (*ask)(const char *dir), const char *dir, int local)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		alarm(DEADLINE_S);
		_exit(ask(dir));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "%s: killed by signal %d", dir,
		      WTERMSIG(status));
	ck_assert_msg(WEXITSTATUS(status) == local, "%s: %d", dir,
		      WEXITSTATUS(status));
}

START_TEST(test_dir_is_local_does_not_wait)
{
	check_silent(ask_silent, silent[_i].dir, silent[_i].local);
}
END_TEST

/*
 * In a chroot(2) whose root is no mount, as of a package builder, the list has only
 * mounts below the root: 0 or 1 of @dir, or CANNOT_MOUNT
 */
static int ask_chroot(const char *dir)
{
	char proc[256];

	snprintf(proc, sizeof(proc), "%s/proc", root);
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("/proc", proc, NULL, MS_BIND | MS_REC, NULL) ||
	    mount_silent("/home/ann") || chroot(root) || chdir("/"))
		return CANNOT_MOUNT;
	root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return cmt_dir_is_local(root_fd, dir);
}

START_TEST(test_dir_is_local_in_chroot)
{
	check_silent(ask_chroot, silent[_i].dir, silent[_i].local);
}
END_TEST

static int ask_name(void)
{
	struct cmt_container container = {
		.runtime = CMT_RUNTIME_PODMAN,
		.id = "868562cbfb82bda0e0c83b627520e7ab56cff5f4c0c4c30f4b876b41b65f306f",
		.path = "/user.slice/user-1234.slice/user@1234.service/x.scope",
	};
	struct cmt_lists lists = { 0 };
	struct cmt_state state;

	if (ask_silent("/") == CANNOT_MOUNT)
		return CANNOT_MOUNT;
	return cmt_runtime_ask(root_fd, &lists, &container, &state) == -ENOENT;
}

START_TEST(test_runtime_ask_does_not_wait)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		alarm(DEADLINE_S);
		_exit(ask_name());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "killed by signal %d",
		      WTERMSIG(status));
	ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

static bool can_mount_silent(void)
{
	int status, err;
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWNS) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			err = errno;
		else
			err = mount_silent("/home/ann");
		if (err)
			fprintf(stderr, "no mount of /dev/fuse in a mount namespace: %s\n",
				strerror(err));
		_exit(!!err);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

static int run(bool is_silent)
{
	Suite *suite = suite_create("local");
	TCase *tc = tcase_create("local");

	if (is_silent) {
		tcase_add_loop_test(tc, test_dir_is_local_does_not_wait, 0,
				    sizeof(silent) / sizeof(silent[0]));
		tcase_add_loop_test(tc, test_dir_is_local_in_chroot, 0,
				    sizeof(silent) / sizeof(silent[0]));
		tcase_add_test(tc, test_runtime_ask_does_not_wait);
	} else {
		tcase_add_loop_test(tc, test_mount_is_local, 0,
				    sizeof(cases) / sizeof(cases[0]));
		tcase_add_test(tc, test_mount_is_not_listed);
	}
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}

/* Usage: test_local [silent]: only those with a mount that never answers, which need root */
int main(int argc, char **argv)
{
	bool is_silent = argc == 2 && !strcmp(argv[1], "silent");
	int status;

	if (!mkdtemp(root) ||
	    !shell("mkdir -p etc proc home/ann home/bob && ln -s home link && "
		   "ln -s /home/bob absolute && "
		   "ln -s link/../home/ann relative && ln -s loop loop && "
		   "echo ann:x:1234:1234::/home/ann:/bin/sh >etc/passwd"))
		return EXIT_FAILURE;
	status = is_silent && !can_mount_silent() ? CANNOT_MOUNT : run(is_silent);
	if (!shell("rm -rf -- *") || rmdir(root))
		return EXIT_FAILURE;
	return status;
}
