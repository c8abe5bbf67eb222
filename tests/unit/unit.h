/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main() of a test program with one suite. */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define UNIT_CASE(suite, test) do {			\
	TCase *tcase_ = tcase_create(#test);		\
							\
	tcase_add_test(tcase_, test);			\
	suite_add_tcase(suite, tcase_);			\
} while (0)

/* How often a test repeats what is slow: CMT_UNIT_ROUNDS=N makes that fewer. */
static inline unsigned int unit_rounds(unsigned int rounds)
{
	const char *text = getenv("CMT_UNIT_ROUNDS");
	unsigned int fewer = text ? (unsigned int)strtoul(text, NULL, 10) : rounds;

	return fewer < rounds ? fewer : rounds;
}

/* How many descriptors are open, for tests of leaks. */
static inline int unit_open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static inline void unit_shell(const char *command)
{
	ck_assert_msg(!system(command), "%s", command);
}

/* @path below the directory @root; valid until the next call. */
static inline const char *unit_path(const char *root, const char *path)
{
	static char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return full;
}

static inline int unit_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed, run;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	run = srunner_ntests_run(runner);
	srunner_free(runner);
	return failed || !run ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
