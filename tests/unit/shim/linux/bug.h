/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_BUG_H
#define SHIM_LINUX_BUG_H

#include <stdbool.h>

/* How many warnings there were: a test which expects none checks it. */
__attribute__((weak)) unsigned int shim_warnings;

#define WARN_ON_ONCE(condition) ({			\
	bool shim_hit = !!(condition);			\
							\
	shim_warnings += shim_hit;			\
	shim_hit;					\
})
#define WARN_ON(condition)	WARN_ON_ONCE(condition)

#endif
