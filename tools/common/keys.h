/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table from a text to an entry.  Entries keep their address. */
#ifndef TOOLS_KEYS_H
#define TOOLS_KEYS_H

#include <stddef.h>
#include <stdint.h>

struct keys {
	size_t size;		/* of an entry */
	uint32_t nr;
	uint32_t nr_slots;	/* a power of two, or 0 */
	struct key **slots;	/* by hash, at most half of them taken */
	struct key **list;	/* nr, in the order in which they came */
};

struct key {
	uint64_t hash;
	uint32_t nr;		/* its number in the list */
	char *text;
	_Alignas(max_align_t) char entry[];
};

/* @size: of an entry, which begins as 0 */
void keys_init(struct keys *keys, size_t size);
void keys_free(struct keys *keys);

/* The entry of @text, which is made if there is none; NULL: out of memory. */
void *keys_get(struct keys *keys, const char *text);

/* Entry @nr of the list, and its text. */
void *keys_at(const struct keys *keys, uint32_t nr);
const char *keys_text(const struct keys *keys, uint32_t nr);

/* The entry of @text, or NULL. */
void *keys_find(const struct keys *keys, const char *text);

#endif
