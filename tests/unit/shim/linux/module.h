/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_MODULE_H
#define SHIM_LINUX_MODULE_H

#include <linux/init.h>

#define KBUILD_MODNAME	"cmt"

/* A test sets a parameter through shim_param_<name>(). */
#define module_param(name, type, mode)		\
	type *shim_param_##name(void);		\
	type *shim_param_##name(void)		\
	{					\
		return &name;			\
	}					\
	struct shim_semicolon
#define MODULE_PARM_DESC(name, text)	struct shim_semicolon

#endif
