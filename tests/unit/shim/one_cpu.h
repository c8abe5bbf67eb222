/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As fake.h, with per-CPU data of one CPU, of which members can be read. */
#ifndef SHIM_ONE_CPU_H
#define SHIM_ONE_CPU_H

#include "fake.h"

#undef DECLARE_PER_CPU
#undef DEFINE_PER_CPU
#undef per_cpu
#undef this_cpu_ptr
#define DECLARE_PER_CPU(type, name)	extern __typeof__(type) name
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define per_cpu(name, cpu)		(*((void)(cpu), &(name)))
#define this_cpu_ptr(pointer)		(pointer)
#define this_cpu_read(member)		(member)
#define this_cpu_write(member, value)	((member) = (value))

#endif
