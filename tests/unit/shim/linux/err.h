/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_ERR_H
#define SHIM_LINUX_ERR_H

#include <errno.h>
#include <stdbool.h>

#define ERR_PTR(error)	((void *)(long)(error))
#define PTR_ERR(ptr)	((long)(ptr))

static inline bool IS_ERR(const void *ptr)
{
	return (unsigned long)ptr >= (unsigned long)-4095;
}

#endif
