// SPDX-License-Identifier: GPL-2.0-or-later
/* cmtctl save at a recorder that takes no connection, or gives no answer */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmtctl/cmtctl.h"
#include "unit.h"

int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);

/* The same limit, and less patience */
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	const struct timeval little = { .tv_usec = 50000 };

	if (name == SO_RCVTIMEO || name == SO_SNDTIMEO)
		value = &little;
	return __real_setsockopt(fd, level, name, value, len);
}

static struct sockaddr_un address = { .sun_family = AF_UNIX };

static int open_socket(int flags)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static int listen_here(void)
{
	int fd = open_socket(0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/cmt-save-%d", (int)getpid());
	unlink(address.sun_path);
	ck_assert(!bind(fd, (const struct sockaddr *)&address, sizeof(address)));
	ck_assert(!listen(fd, 0));
	return fd;
}

static bool connect_another(void)
{
	int fd = open_socket(SOCK_NONBLOCK);

	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return true;
	ck_assert_int_eq(errno, EAGAIN);
	close(fd);
	return false;
}

START_TEST(test_no_answer)
{
	const struct ctl ctl = { .socket = address.sun_path };
	const char *what = NULL;
	int fd = listen_here();

	ck_assert_int_eq(ctl_save(&ctl, &what), -EAGAIN);
	ck_assert_str_eq(what, "the recorder does not answer");
	close(fd);
	unlink(address.sun_path);
}
END_TEST

/* A recorder that is stopped: all places of those who wait for it are taken. */
START_TEST(test_no_connection)
{
	const struct ctl ctl = { .socket = address.sun_path };
	const char *what = NULL;
	int fd = listen_here();

	while (connect_another())
		;
	ck_assert_int_eq(ctl_save(&ctl, &what), -EAGAIN);
	ck_assert_str_eq(what, "the recorder does not answer");
	close(fd);
	unlink(address.sun_path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("save");
	TCase *tcase = tcase_create("save");

	tcase_set_timeout(tcase, 10);
	tcase_add_test(tcase, test_no_answer);
	tcase_add_test(tcase, test_no_connection);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
