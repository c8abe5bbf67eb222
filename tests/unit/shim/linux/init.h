/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_INIT_H
#define SHIM_LINUX_INIT_H

#define __init
#define __exit

#endif
