/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_CACHE_H
#define SHIM_LINUX_CACHE_H

#define ____cacheline_aligned_in_smp	__attribute__((aligned(64)))
#define __read_mostly

#endif
