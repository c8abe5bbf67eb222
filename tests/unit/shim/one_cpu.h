/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As fake.h, with per-CPU data of one CPU, of which members can be read. */
#ifndef SHIM_ONE_CPU_H
#define SHIM_ONE_CPU_H

#include "fake.h"

#undef DECLARE_PER_CPU
#define DECLARE_PER_CPU(type, name)	extern __typeof__(type) name
#define this_cpu_read(member)		(member)

#endif
