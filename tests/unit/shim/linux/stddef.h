/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_STDDEF_H
#define SHIM_LINUX_STDDEF_H

#include <stddef.h>
#include_next <linux/stddef.h>

#define typeof_member(type, member)	__typeof__(((type *)0)->member)

#endif
