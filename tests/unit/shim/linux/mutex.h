/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_MUTEX_H
#define SHIM_LINUX_MUTEX_H

struct mutex {
	int unused;
};

#endif
