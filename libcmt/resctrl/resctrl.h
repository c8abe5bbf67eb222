/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of resctrl's groups a thread or a CPU is in. */
#ifndef LIBCMT_RESCTRL_H
#define LIBCMT_RESCTRL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The name of the group of a thread, of a CPU, as in <cmt/resctrl.h>.  The thread's number
 * is that of /proc below @root, the root directory of the host; @same_numbers: and that of
 * this process's PID namespace, in which the lists of threads are written.  These are read
 * where the thread's file in /proc cannot be.  Takes some milliseconds.  @path: the caller
 * frees it.  Returns 0, -ENOENT (the default group, or not found) or another error.
 */
int cmt_resctrl_find_thread(int root, uint32_t tid, bool same_numbers, char **path);
int cmt_resctrl_find_cpu(int root, uint32_t cpu, char **path);

#endif
