/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_PRINTK_H
#define SHIM_LINUX_PRINTK_H

#ifndef pr_fmt
#define pr_fmt(fmt)	"cmt: " fmt
#endif

#include <stdbool.h>
#include <stdio.h>

/* What was printed last, and how many lines in all. */
__attribute__((weak)) char shim_printed[256];
__attribute__((weak)) unsigned int shim_lines;

#define pr_err(format, ...) do {					\
	snprintf(shim_printed, sizeof(shim_printed), pr_fmt(format),	\
		 ##__VA_ARGS__);					\
	shim_lines++;							\
} while (0)

#define pr_err_ratelimited	pr_err
#define pr_warn	pr_err

#define pr_warn_once(format, ...) do {		\
	static bool shim_said;			\
						\
	if (!shim_said)				\
		pr_warn(format, ##__VA_ARGS__);	\
	shim_said = true;			\
} while (0)

#endif
