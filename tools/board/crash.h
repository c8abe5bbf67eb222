/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that crashes leaves the terminal as it found it, and then crashes. */
#ifndef TOOLS_CRASH_H
#define TOOLS_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/* The bytes that leave the screen, which are copied; a longer sequence is ignored. */
void crash_setup(const char *leave, size_t len);

/* The modes to restore; NULL: none were changed. */
void crash_keep_keys(const struct termios *keys);

/* Is there something to restore? */
void crash_arm(bool armed);

#endif
