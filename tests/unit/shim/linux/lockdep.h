/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_LOCKDEP_H
#define SHIM_LINUX_LOCKDEP_H

#include <assert.h>
#include <stdbool.h>

/* Whether the code under test may believe that interrupts are off. */
__attribute__((weak)) bool shim_irqs_off;

#define lockdep_assert_irqs_disabled()	assert(shim_irqs_off)
#define lockdep_assert_held(lock)	assert((lock)->held)

#endif
