/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_LIST_H
#define SHIM_LINUX_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

static inline void list_add(struct list_head *entry, struct list_head *after)
{
	entry->next = after->next;
	entry->prev = after;
	after->next->prev = entry;
	after->next = entry;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *list)
{
	list_add(entry, list->prev);
}

/* A second one faults, as the kernel's poison does. */
static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_move_tail(struct list_head *entry,
				  struct list_head *list)
{
	list_del(entry);
	list_add_tail(entry, list);
}

#define list_first_entry(list, type, member)	\
	((type *)((char *)(list)->next - offsetof(type, member)))
#define list_last_entry(list, type, member)	\
	((type *)((char *)(list)->prev - offsetof(type, member)))
#define list_first_entry_or_null(list, type, member)	\
	(list_empty(list) ? NULL : list_first_entry(list, type, member))

#endif
