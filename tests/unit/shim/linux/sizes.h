/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_SIZES_H
#define SHIM_LINUX_SIZES_H

#define SZ_32M	0x02000000

#endif
