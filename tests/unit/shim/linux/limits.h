/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No guard of its own: the C library's <limits.h> includes this one, too. */
#include_next <linux/limits.h>

#ifndef U32_MAX
#define U16_MAX	0xffff
#define U32_MAX	0xffffffffU
#define U64_MAX	0xffffffffffffffffULL
#endif
