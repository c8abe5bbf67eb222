/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

#include "lockdep.h"

#define local_irq_save(flags) do {		\
	(flags) = shim_irqs_off;		\
	shim_irqs_off = true;			\
} while (0)
#define local_irq_restore(flags)	(shim_irqs_off = (flags))

#endif
