/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_RBTREE_H
#define SHIM_LINUX_RBTREE_H

struct rb_node {
	struct rb_node *left, *right;
};

#endif
