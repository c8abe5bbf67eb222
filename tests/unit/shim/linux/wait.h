/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_WAIT_H
#define SHIM_LINUX_WAIT_H

typedef struct {
	int unused;
} wait_queue_head_t;

#endif
