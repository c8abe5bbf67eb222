/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_MINMAX_H
#define SHIM_LINUX_MINMAX_H

#define min_t(type, x, y) ({		\
	type shim_x = (x);		\
	type shim_y = (y);		\
					\
	shim_x < shim_y ? shim_x : shim_y; \
})
#define max_t(type, x, y) ({		\
	type shim_x = (x);		\
	type shim_y = (y);		\
					\
	shim_x > shim_y ? shim_x : shim_y; \
})
#define min(x, y)	min_t(__typeof__(x), x, y)
#define max(x, y)	max_t(__typeof__(x), x, y)
#define clamp_t(type, x, low, high)	min_t(type, max_t(type, x, low), high)

#endif
