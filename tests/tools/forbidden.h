/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that no program with a seccomp filter makes. */
#ifndef TESTS_FORBIDDEN_H
#define TESTS_FORBIDDEN_H

#include <stdio.h>

/*
 * Make each of them, and print how it ends, as "forbidden execve: Operation not
 * permitted", a line each.  Without a filter they do no harm.  Who records opens files
 * to write.
 */
void forbidden_calls(FILE *out);

#endif
