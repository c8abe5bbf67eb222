/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOOLS_CLOCK_H
#define TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* @clock: CLOCK_*.  Returns ns. */
uint64_t clock_ns(clockid_t clock);

#endif
