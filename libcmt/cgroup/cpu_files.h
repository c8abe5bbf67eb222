/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's files about the CPU time of cgroups, and of the machine. */
#ifndef LIBCMT_CPU_FILES_H
#define LIBCMT_CPU_FILES_H

#include <stddef.h>

#include "cgroup.h"

/*
 * Parse the line "@key NUMBER" of cpu.stat, in microseconds; the line of cpu.pressure
 * that begins with "full"; and the line "cpu" of /proc/stat.  False: the line is
 * missing, or not in the kernel's format.
 */
bool cmt_cgroup_parse_stat(const char *text, const char *key, uint64_t *ns);
bool cmt_cgroup_parse_pressure(const char *text, uint64_t *ns);
bool cmt_cpu_ticks_parse(const char *text, struct cmt_cpu_ticks *steal);

/*
 * Read the files of the cgroup @id at @path, of which the first @own bytes are used, and
 * those of its ancestors that this turn has not read yet.
 */
bool cmt_cgroup_cpu_read(struct cmt_cpu_turn *turn, const char *path, size_t own, uint64_t id,
			 struct cmt_cgroup_cpu *cpu);
bool cmt_cpu_ticks_read(struct cmt_cpu_ticks *steal);

#endif
