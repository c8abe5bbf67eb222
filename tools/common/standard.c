// SPDX-License-Identifier: GPL-2.0-or-later
#include "standard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* open() returns the least number that is free: those below are open by then. */
int standard_occupy(const char *program)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
		int err;

		if (fcntl(fd, F_GETFD) >= 0 || open("/dev/null", mode | O_CLOEXEC) >= 0)
			continue;
		err = errno;
		fprintf(stderr, "%s: /dev/null: %s\n", program, strerror(err));
		return -err;
	}
	return 0;
}
