/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_COMPILER_H
#define SHIM_LINUX_COMPILER_H

#define READ_ONCE(x) \
	__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) \
	__atomic_store_n(&(x), (value), __ATOMIC_RELAXED)

#undef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))

#define OPTIMIZER_HIDE_VAR(var)	__asm__("" : "=r" (var) : "0" (var))

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define noinline	__attribute__((__noinline__))

#endif
